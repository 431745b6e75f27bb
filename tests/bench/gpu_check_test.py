"""The check of a GPU (bench/gpu/run) over the fake driver: whenever it is cut off, the document is whole, and says how far it came.

A check waits most of its time, for a moment or for a limit: all tests run side by side.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["GALATEA_BUILD"])
# Seconds: what hangs fails, what is slow does not.
TIMEOUT = 300
# Of a check: no slow machine comes to its end.
LONG = 3600
STATES = {"running", "passed", "failed", "cut off", "refused", "not begun"}


def folder_of_the_check(folder):
    """What `./dev gpu-check` packs, by links."""
    (folder / "bin").mkdir()
    for program in ("galatea", "galatea-samples", "gpu_test", "gpu_bench"):
        (folder / "bin" / program).symlink_to(BUILD / "bin" / program)
    for file in ("run", "document"):
        shutil.copy(ROOT / "bench" / "gpu" / file, folder)
    shutil.copy(ROOT / "bench" / "benches" / "gpu.dali-dsl", folder)
    (folder / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "01_hello.dali-dsl", folder / "examples")


def end_session(session):
    """Ends all of it: parts have process groups of their own, and one may be starting another while it is looked for."""
    is_there = True
    while is_there:
        is_there = False
        for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = file.read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    is_there = True
                    os.kill(int(file.parent.name), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                continue


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        folder_of_the_check(self.folder)
        self.file = self.folder / "check.json"

    def start(self, seconds, **settings):
        environment = {
            **os.environ,
            "GALATEA_CUDA_LIBRARY_PATH": str(BUILD / "fake_cuda"),
            "TMPDIR": str(self.folder),
            "GALATEA_GPU_CHECK_SECONDS": str(seconds),
            "GALATEA_GPU_CHECK_PHOTOGRAPHS": "12",
            "GALATEA_GPU_CHECK_ARRAYS": "3",
            "GALATEA_GPU_CHECK_ARRAY_ROWS": "16",
            "GALATEA_GPU_CHECK_PICTURES": "1",
            "GALATEA_GPU_BENCH_SECONDS": "0.01",
            "GALATEA_GPU_BENCH_BATCH_SIZES": "8",
            **settings,
        }
        return subprocess.Popen(
            [self.folder / "run", self.file],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for_the_file(self, process):
        while not self.file.exists() and process.poll() is None:
            time.sleep(0.05)

    def document(self):
        document = json.loads(self.file.read_text())
        self.assertIn("GPU 0", document["version"])
        for part in document["parts"]:
            self.assertIn(part["state"], STATES)
        return document

    def test_whenever_it_is_cut_off_the_document_is_whole(self):
        for moment in (0.5, 1.5, 3):
            process = self.start(LONG)
            self.wait_for_the_file(process)
            time.sleep(moment)
            self.assertIsNone(process.poll(), "ended before it was cut off")
            end_session(process.pid)
            process.communicate()
            self.assertFalse(self.document()["complete"])
            self.file.unlink()

    def test_asked_to_stop_it_writes_what_it_has(self):
        process = self.start(LONG)
        self.addCleanup(end_session, process.pid)
        self.wait_for_the_file(process)
        time.sleep(1.2)
        process.terminate()
        process.communicate(timeout=TIMEOUT)
        self.assertFalse(self.document()["complete"])
        self.assertEqual([each for each in self.folder.glob("tmp.*")], [])

    def test_within_its_time_it_says_what_was_not_begun(self):
        process = self.start(6)
        self.addCleanup(end_session, process.pid)
        _, said = process.communicate(timeout=TIMEOUT)
        document = self.document()
        self.assertTrue(document["complete"], said)
        self.assertEqual(process.returncode, 4, said)
        self.assertIn("not begun", [part["state"] for part in document["parts"]])

    def replace(self, programs):
        for name, text in programs.items():
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def test_pictures_that_are_never_drawn_take_no_more_than_their_time(self):
        quick = "#!/bin/sh\nsleep 0.3\n"
        never = "#!/bin/sh\nexec sleep 1000\n"
        self.replace({"bin/gpu_test": quick, "bin/gpu_bench": quick, "bin/galatea-samples": never})
        process = self.start(LONG, GALATEA_GPU_CHECK_RANDOM="no")
        self.addCleanup(end_session, process.pid)
        _, said = process.communicate(timeout=TIMEOUT)
        document = self.document()
        states = {part["part"]: part["state"] for part in document["parts"]}
        self.assertTrue(document["complete"], said)
        self.assertEqual(states["examples"], "passed", said)
        self.assertEqual(states["drawing"], "cut off", said)
        self.assertEqual(states["photographs"], "passed", said)
        self.assertEqual(process.returncode, 4, said)

    def test_a_tool_that_the_machine_refuses_is_no_failure(self):
        quick = "#!/bin/sh\nsleep 0.3\n"
        refuses = "#!/bin/sh\necho '==ERROR== Failed to initialize the profiler: LibraryNotLoaded'\nexit 1\n"
        fails = "#!/bin/sh\necho 'ERROR SUMMARY: 3 errors'\nexit 9\n"
        (self.folder / "tools").mkdir()
        self.replace(
            {
                "bin/gpu_test": quick,
                "bin/gpu_bench": quick,
                "tools/ncu": refuses,
                "tools/compute-sanitizer": fails,
            }
        )
        process = self.start(
            LONG,
            PATH=f"{self.folder / 'tools'}:{os.environ['PATH']}",
            GALATEA_GPU_CHECK_RANDOM="no",
            GALATEA_GPU_CHECK_PATIENCE="20",
        )
        self.addCleanup(end_session, process.pid)
        _, said = process.communicate(timeout=TIMEOUT)
        states = {part["part"]: part["state"] for part in self.document()["parts"]}
        self.assertEqual(states["counters"], "refused", said)
        self.assertEqual(states["memcheck"], "failed", said)
        self.assertEqual(process.returncode, 1)

    def test_arrays_are_read_both_ways(self):
        quick = "#!/bin/sh\nsleep 0.1\n"
        bench = f'#!/bin/sh\ncase "$*" in *:arrays*) exec {BUILD}/bin/gpu_bench "$@" ;; esac\n'
        self.replace({"bin/gpu_test": quick, "bin/galatea-samples": quick, "bin/gpu_bench": bench})
        process = self.start(LONG, GALATEA_GPU_CHECK_PATIENCE="20")
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        rows = {}
        limit = time.monotonic() + TIMEOUT
        while len(rows) < 2 and time.monotonic() < limit and process.poll() is None:
            time.sleep(0.5)
            if not self.file.exists():
                continue
            parts = {part["part"]: part for part in self.document()["parts"]}
            for way in ("must", "off"):
                for row in parts.get(f"arrays-by-cufile-{way}", {}).get("result", {}).get("pipelines", []):
                    rows[way] = row
        self.assertEqual(parts["drawing-arrays"]["state"], "passed")
        array = 16 * 4096 * 4
        self.assertEqual(rows["must"]["storage"], "cuFile 1.14")
        self.assertGreater(rows["must"]["storage_bytes_per_batch"], array)
        self.assertLess(rows["must"]["upload_bytes_per_batch"], array)
        self.assertEqual(rows["off"]["storage"], "")
        self.assertGreater(rows["off"]["upload_bytes_per_batch"], array)

    def test_a_measurement_counts_its_samples(self):
        """12 photographs in batches of 8: a batch of 8, one of 4, whatever the batch size says."""
        (self.folder / "bin" / "gpu_test").unlink()
        (self.folder / "bin" / "gpu_test").write_text(
            "#!/bin/sh\necho '[ RUN      ] A.B'\necho '[       OK ] A.B (12 ms)'\n"
            "echo '[ RUN      ] A.C'\necho '[  SKIPPED ] A.C (0 ms)'\necho '[ RUN      ] A.D'\nexit 5\n"
        )
        (self.folder / "bin" / "gpu_test").chmod(0o755)
        process = self.start(LONG, GALATEA_GPU_CHECK_PATIENCE="20")
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        rows = []
        limit = time.monotonic() + TIMEOUT
        while not rows and time.monotonic() < limit and process.poll() is None:
            time.sleep(0.5)
            if not self.file.exists():
                continue
            parts = {part["part"]: part for part in self.document()["parts"]}
            rows = parts.get("photographs", {}).get("result", {}).get("pipelines", [])
        self.assertEqual(parts["flags"]["state"], "failed")
        self.assertEqual(parts["flags"]["exit_status"], 5)
        self.assertEqual(parts["flags"]["tests"], {"A.B": 12, "A.C": "skipped", "A.D": "began"})
        (row,) = rows
        self.assertEqual(row["batch_size"], 8)
        self.assertLess(row["samples_per_batch"], 8)
        self.assertEqual(row["samples_of_smallest_batch"], 4)
        self.assertEqual(row["graphs_off"], "")
        self.assertIn("upload", [each["what"] for each in row["commands"]])


def run_side_by_side():
    """Each in a process of its own: where threads write programs, a fork of another one holds them open, and they are "busy"."""
    names = unittest.defaultTestLoader.getTestCaseNames(GpuCheck)
    running = [
        subprocess.Popen(
            [sys.executable, __file__, f"GpuCheck.{name}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in names
    ]
    statuses = []
    for name, process in zip(names, running):
        said, _ = process.communicate()
        statuses.append(process.returncode)
        if process.returncode != 0:
            print(f"FAILED: {name}\n{said}")
    print(f"{len(names)} tests ran")
    return not any(statuses)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        unittest.main()
    sys.exit(0 if run_side_by_side() else 1)
