"""A place of its own for each test, and made-up contestants."""

import argparse
import pathlib
import sys
import tempfile
import unittest

import harness

PYTHON = sys.executable


class BenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, value in (("OUT", self.folder / "out"), ("ENVIRONMENT", self.folder / "environment")):
            before = getattr(harness, name)
            setattr(harness, name, value)
            self.addCleanup(setattr, harness, name, before)
        harness.OUT.mkdir()

    def script(self, text):
        """A command that runs this text."""
        path = self.folder / f"script{len(list(self.folder.iterdir()))}.py"
        path.write_text(text)
        return [PYTHON, path]


def arguments(**values):
    return argparse.Namespace(**{"photos": None, "no_peers": True, "peers": [], "only": [], "rounds": 2, "epochs": 1, "seconds": 0.1, "threads": [1],
                                 "batch_size": 4, "timeout": 20, "programs": pathlib.Path("build/bin"), **values})
