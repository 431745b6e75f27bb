"""Processes that end with the run, arguments, scratch files, tables, plots."""

import os
import pathlib
import signal
import struct
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import harness
import plot
import report
import run
from support import PYTHON, BenchTest, arguments

STARTS_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid))
time.sleep(600)
"""


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition):
    for _ in range(12000):
        if condition():
            return True
        time.sleep(0.01)
    return False


class Processes(BenchTest):
    def test_what_does_not_end_in_time_is_ended_with_its_children(self):
        pid_file = self.folder / "pid"
        start = harness.start

        def started(command):
            """Its time begins when it has a child, however long this machine takes to start it."""
            process = start(command)
            self.assertTrue(wait_until(lambda: pid_file.exists() and pid_file.read_text()))
            return process

        with mock.patch.object(harness, "start", started), self.assertRaisesRegex(harness.Failure, "did not end within 1 seconds"):
            harness.call([*self.script(STARTS_A_CHILD), pid_file], timeout=1)
        self.assertTrue(wait_until(lambda: not is_running(int(pid_file.read_text()))))

    def test_status_and_last_words_are_in_the_failure(self):
        with self.assertRaisesRegex(harness.Failure, "status 3:\nno photographs"):
            harness.call_json(self.script("import sys; print('no photographs', file=sys.stderr); sys.exit(3)"))

    def test_last_line_counts(self):
        self.assertEqual(harness.call_json(self.script("print('loading'); print('{\"samples\": 3}')")), {"samples": 3})

    def test_what_is_no_json_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "no JSON: done"):
            harness.call_json(self.script("print('done')"))

    def test_silence_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "it said nothing"):
            harness.call_json(self.script("pass"))

    def test_interrupting_a_run_leaves_nothing_behind(self):
        pid_file = self.folder / "pid"
        child = self.script(STARTS_A_CHILD)
        main = self.script(f"""
import sys
sys.path[:0] = {[str(pathlib.Path(harness.__file__).parent), str(pathlib.Path(__file__).parent)]!r}
import pathlib, signal, harness, run, support
harness.OUT = pathlib.Path({str(harness.OUT)!r})
signal.signal(signal.SIGTERM, signal.default_int_handler)
with harness.Context(support.arguments()) as context:
    (context.scratch / "large.raw").write_text("x")
    harness.call({[str(part) for part in child]!r} + [{str(pid_file)!r}])
""")
        for number in (signal.SIGINT, signal.SIGTERM):
            pid_file.unlink(missing_ok=True)
            process = subprocess.Popen(main, stderr=subprocess.DEVNULL)
            self.assertTrue(wait_until(lambda: pid_file.exists() and pid_file.read_text()))
            process.send_signal(number)
            self.assertNotEqual(process.wait(timeout=120), 0)
            self.assertTrue(wait_until(lambda: not is_running(int(pid_file.read_text()))))
            self.assertEqual(list(harness.OUT.iterdir()), [])


class Environment(BenchTest):
    def pip(self, text):
        """Stands in for the one that installs."""
        tools = harness.ENVIRONMENT / "bin"
        tools.mkdir(parents=True)
        (tools / "pip").write_text(f"#!/bin/sh\n{text}\n")
        (tools / "pip").chmod(0o755)
        return tools

    def test_scratch_goes_when_a_benchmark_fails(self):
        with self.assertRaises(harness.Failure):
            with harness.Context(arguments()) as context:
                (context.scratch / "boxes").write_text("x")
                raise harness.Failure("no")
        self.assertEqual(list(harness.OUT.iterdir()), [])

    def test_a_missing_folder_is_named(self):
        with harness.Context(arguments(photos=str(self.folder / "nowhere"))) as context:
            with self.assertRaisesRegex(harness.Failure, "there is no folder .*nowhere"):
                context.photos

    def test_a_flat_folder_is_the_only_class(self):
        photos = self.folder / "photos"
        photos.mkdir()
        (photos / "a.JPG").write_text("x")
        with harness.Context(arguments(photos=str(photos))) as context:
            self.assertEqual([path.relative_to(context.photos) for path in context.photos.glob("*/*")], [harness.Path("all/a.JPG")])
        self.assertTrue((photos / "a.JPG").exists())
        (photos / "class").mkdir()
        with harness.Context(arguments(photos=str(photos))) as context:
            self.assertEqual(context.photos, photos.resolve())

    def test_a_missing_program_says_who_builds_it(self):
        with harness.Context(arguments(programs=self.folder)) as context:
            with self.assertRaisesRegex(harness.Failure, "decode_limit is not built; ./dev bench builds it"):
                context.program("decode_limit")

    def test_where_peers_cannot_be_installed_the_reason_is_told(self):
        self.pip("echo 'no network' >&2; exit 1")
        self.assertIn("no network", harness.prepare_environment())
        self.assertFalse((harness.ENVIRONMENT / "installed").exists())

    def test_what_is_installed_is_not_installed_again(self):
        tools = self.pip('echo x >> "$0.calls"')
        self.assertEqual([harness.prepare_environment(), harness.prepare_environment()], ["", ""])
        self.assertEqual((tools / "pip.calls").read_text(), "x\n")

    def test_peers_and_cases_are_chosen_by_parts_of_their_names(self):
        self.pip("")
        with harness.Context(arguments(no_peers=False, peers=["opencv"], only=["hue"])) as context:
            self.assertTrue(context.wants_peer("Albumentations, OpenCV"))
            self.assertFalse(context.wants_peer("DALI"))
            self.assertTrue(context.wants_case("hue u8"))
            self.assertFalse(context.wants_case("flip u8"))
        with harness.Context(arguments(no_peers=True)) as context:
            self.assertFalse(context.wants_peer("DALI"))

    def test_size_of_a_jpeg(self):
        path = self.folder / "a.jpg"
        path.write_bytes(b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc2\x00\x0b\x08" + struct.pack(">HH", 375, 500) + b"\x03\x01\x11\x00")
        self.assertEqual(harness.jpeg_size(path), (375, 500))
        path.write_bytes(b"\x89PNG")
        self.assertIsNone(harness.jpeg_size(path))


class Arguments(unittest.TestCase):
    def refused(self, *words):
        bench = pathlib.Path(run.__file__)
        done = subprocess.run([PYTHON, bench, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_wrong_ones_are_refused_by_name(self):
        self.assertIn("no benchmark 'imagenet'; there are: asr, autoaugment, ", self.refused("imagenet"))
        self.assertIn("'1,x' is not a list of positive numbers", self.refused("--threads", "1,x"))
        self.assertIn("must be at least 1", self.refused("--rounds", "0"))
        self.assertIn("must be positive", self.refused("--timeout", "0"))

    def test_the_benchmarks_are_those_of_the_folder(self):
        known = run.benches()
        self.assertLessEqual({"color-chain", "detection", "geometry-chain", "imagenet-train", "imagenet-val", "per-op", "seed-conditional", "small-batch",
                              "start-up", "train-color-rotate"}, set(known))
        args = run.arguments(known, ["per-op", "--threads", "1,2", "--only", "hue,flip"])
        self.assertEqual((args.names, args.threads, args.only, args.rounds), (["per-op"], [1, 2], ["hue", "flip"], 5))


class Shown(unittest.TestCase):
    def test_columns_line_up(self):
        self.assertEqual(report.table([["", "a", "of"], ["galatea", "1", "0.92"], ["x", "100", ""]]), "           a    of\ngalatea    1  0.92\nx        100")

    def test_the_line_that_says_what_is_wrong(self):
        self.assertEqual(report.short_reason("frame\nError: no such operator\n  help: write another"), "Error: no such operator")
        self.assertEqual(report.short_reason("a\n\nb \n"), "b")
        self.assertEqual(report.short_reason(""), "")

    def test_a_plot_is_svg_with_a_bar_for_each(self):
        text = plot.bars("x<y", [("rates & more", [("galatea", 1179.4, "0.92 of the limit"), ("limit: decoding", 1336.0, "")]),
                                 ("second", [("DALI <cpu>", 0.5, "")])])
        root = ElementTree.fromstring(text)
        space = "{http://www.w3.org/2000/svg}"
        bars = root.findall(f"{space}rect")
        self.assertEqual([bar.get("class") for bar in bars], ["ours", "limit", "other"])
        # The largest of a chart has the whole width, the others their share of it.
        self.assertEqual([float(bar.get("width")) for bar in bars], [round(plot.WIDTH * 1179.4 / 1336, 1), plot.WIDTH, plot.WIDTH])
        words = ["".join(text.itertext()) for text in root.findall(f"{space}text")]
        self.assertEqual(words, ["rates & more", "galatea", "11790.92 of the limit", "limit: decoding", "1336", "second", "DALI <cpu>", "0.5"])
        self.assertIn("prefers-color-scheme: dark", text)


if __name__ == "__main__":
    unittest.main()
