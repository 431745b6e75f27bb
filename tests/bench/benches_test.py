"""What the benchmarks say must be sayable: our texts pass `galatea check`, peers spell cases that exist, no image operator is forgotten."""

import ast
import os
import pathlib
import re
import subprocess
import unittest

import contest
import harness
import memory_bench
import photo_bench
import plot
import report
import run
from support import BenchTest, arguments

GALATEA = os.environ["GALATEA_PROGRAM"]
PER_OP = run.benches()["per-op"]
#: An operator that DALI has and we do not: its case is SKIPPED in a run.
NOT_YET = "G0402"


def galatea(*words):
    return subprocess.run([GALATEA, *map(str, words)], capture_output=True, text=True)


class Texts(BenchTest):
    def test_pipelines_of_the_files(self):
        files = [*harness.ROOT.glob("bench/benches/*.dali-dsl"), harness.ROOT / "bench/ours/pictures.dali-dsl"]
        self.assertGreater(len(files), 6)
        for file in files:
            for pipeline in re.findall(r"@pipeline_def.*\ndef (\w+)", file.read_text()):
                done = galatea("check", file, "--pipeline", pipeline)
                self.assertEqual(done.returncode, 0, f"{file} {pipeline}: {done.stderr}")

    def test_each_operator_alone(self):
        with harness.Context(arguments()) as context:
            cases = list(PER_OP.cases(context))
            self.assertGreater(len(cases), 100)
            for case in cases:
                if case.form.height != 224:
                    continue
                done = galatea("check", case.file)
                if done.returncode != 0:
                    self.assertIn(NOT_YET, done.stderr, f"{case.name}: {done.stderr}")

    def test_no_image_operator_is_forgotten(self):
        texts = " ".join(text for _, _, text in PER_OP.OPERATORS)
        names = [line.split()[0] for line in galatea("ops").stdout.splitlines() if line.strip()]
        self.assertIn("rotate", names)
        forgotten = [name for name in names if f"fn.{name}(" not in texts and f"fn.experimental.{name}(" not in texts and name not in PER_OP.NOT_MEASURED and
                     not name.startswith(PER_OP.NOT_MEASURED_GROUPS)]
        self.assertEqual(forgotten, [], "add them to OPERATORS or NOT_MEASURED in bench/benches/per_op.py")


class Readme(unittest.TestCase):
    def test_the_table_has_every_benchmark(self):
        table = (harness.ROOT / "bench/README.md").read_text().split("Each prints tables")[0]
        for name in run.benches():
            self.assertIn(f"`{name}`", table)


class StartUp(unittest.TestCase):
    def test_every_cold_start_is_held_against_a_bound(self):
        bench = run.benches()["start-up"]
        for name, file in bench.FILES.items():
            self.assertTrue((harness.ROOT / file).is_file(), file)
            self.assertIn(f"{name}: {bench.COLD}", bench.BOUNDS)
        self.assertEqual((bench.BOUNDS[f"imagenet-train: {bench.COLD}"], bench.BOUNDS[f"imagenet-train: {bench.KEPT}"]), (0.3, 0.05))


class Modules(unittest.TestCase):
    def test_what_a_benchmark_uses_of_the_shared_modules_is_there(self):
        shared = {module.__name__: module for module in (contest, harness, memory_bench, photo_bench, plot, report)}
        for file in [*harness.ROOT.glob("bench/benches/*.py"), *harness.ROOT.glob("bench/*.py")]:
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in shared:
                    self.assertTrue(hasattr(shared[node.value.id], node.attr), f"{file}: {node.value.id}.{node.attr}")


class Spellings(unittest.TestCase):
    def test_peers_spell_cases_that_exist(self):
        chains = [case.name for name in ("color-chain", "geometry-chain") for case in run.benches()[name].cases()]
        known = {*chains, *(name for name, _, _ in PER_OP.OPERATORS)}
        keeper = re.compile(r"(?:spelled|of_batch|of_picture|of_transform|pointwise|matrix|resized|warped)\(((?:\"[^\"]+\"(?:, )?)+)")
        for file in harness.ROOT.glob("bench/peers/memory/with_*.py"):
            for names in keeper.findall(file.read_text()):
                for name in re.findall(r"\"([^\"]+)\"", names):
                    self.assertIn(name, known, file)

    def test_peers_that_are_excused_exist(self):
        self.assertLessEqual({peer for _, peer in PER_OP.OTHER_OUTPUT}, set(memory_bench.PEERS))
        self.assertLessEqual({name for name, _ in PER_OP.OTHER_OUTPUT}, {name for name, _, _ in PER_OP.OPERATORS})


class Forms(unittest.TestCase):
    def test_inputs_are_more_than_caches_hold_and_enough_to_time(self):
        for form in PER_OP.FORMS:
            self.assertGreaterEqual(form.batches, memory_bench.LEAST_BATCHES)
            self.assertGreaterEqual(form.batches * form.batch_size * form.sample_bytes, memory_bench.INPUT_BYTES)
            self.assertGreaterEqual(form.num_pictures, 1)


class Parameters(BenchTest):
    def test_rows_are_written_as_they_are_fed(self):
        with harness.Context(arguments()) as context:
            arena = memory_bench.Arena(context)
            parameter = memory_bench.Parameter("mask", "u8", (), [[240], [255]])
            self.assertEqual(pathlib.Path(arena.rows(parameter)).read_bytes(), b"\xf0\xff")
            parameter = memory_bench.Parameter("shear", "f32", (2,), [[0.5, -1.0]])
            self.assertEqual(pathlib.Path(arena.rows(parameter)).read_bytes(), bytes.fromhex("0000003f000080bf"))


if __name__ == "__main__":
    unittest.main()
