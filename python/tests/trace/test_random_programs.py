"""Random functions: changed ones do what Python does, and traced ones what the language does."""

import importlib.util
import os
import random

import pytest

from trace_common import ROOT, galatea_program  # noqa: F401
from galatea.trace.errors import TraceError
from galatea.trace.rewrite import changed, reasons

SAMPLES = ROOT / "build" / "samples"
# In percent of the full number of programs, as for all random tests (tests/support/cases.h).
SCALE = min(max(int(os.environ.get("GALATEA_TEST_SCALE", "5")), 1), 100)
FUNCTIONS, PIPELINES = 3000, 400


class Writer:
    """Writes bodies of functions over the numbers `a`, `b`, `c`; `data` conditions are on nodes."""

    def __init__(self, seed, data):
        self.random = random.Random(seed)
        self.data = data
        self.budget = 24
        self.arms = 0
        self.lines = []

    def operand(self):
        names = ["a", "b", "c"]
        if self.random.random() < 0.3:
            return str(self.random.randint(0, 4))
        return self.random.choice(names)

    def number(self, depth=0):
        r = self.random.random()
        if depth > 2 or r < 0.45:
            return self.operand()
        if r < 0.85:
            sign = self.random.choice("+-*")
            return f"({self.number(depth + 1)} {sign} {self.number(depth + 1)})"
        return f"({self.data_number()} if {self.condition(depth + 1)} else {self.data_number()})"

    def data_number(self):
        # Both sides of a ternary have one type where it depends on data.
        return f"({self.random.choice('abc')} + {self.random.randint(0, 3)})"

    def condition(self, depth=0):
        r = self.random.random()
        if depth > 2 or r < 0.5:
            sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            left = self.random.choice("abc") if self.data else self.number(depth + 1)
            return f"{left} {sign} {self.number(depth + 1)}"
        if r < 0.65:
            return f"0 < {self.random.choice('abc')} <= {self.random.choice('abc')}"
        if r < 0.75:
            return f"not ({self.condition(depth + 1)})"
        word = self.random.choice(["and", "or"])
        return f"({self.condition(depth + 1)} {word} {self.condition(depth + 1)})"

    def block(self, indent, loop, returns):
        for _ in range(self.random.randint(1, 3)):
            if not self.statement(indent, loop, returns):
                return

    def add(self, indent, text):
        self.lines.append("    " * indent + text)

    def statement(self, indent, loop, returns):
        self.budget -= 1
        r = self.random.random()
        if self.budget < 0 or r < 0.45 or indent > 4:
            name = self.random.choice("abc")
            how = self.random.random()
            if how < 0.15:
                self.add(indent, f"{name} += {self.operand()}")
            elif how < 0.3:
                self.add(indent, "a, b = b, a")
            elif how < 0.5:
                self.selection(indent, name)
            else:
                self.add(indent, f"{name} = {self.random.choice('abc')} + {self.number()}")
            return True
        if r < 0.8:
            self.add(indent, f"if {self.condition()}:")
            self.block(indent + 1, loop, returns)
            if self.random.random() < 0.3:
                self.add(indent, f"elif {self.condition()}:")
                self.block(indent + 1, loop, returns)
            if self.random.random() < 0.5:
                self.add(indent, "else:")
                self.block(indent + 1, loop, returns)
            return True
        if r < 0.9 and indent < 3:
            self.add(indent, f"for i in range({self.random.randint(1, 3)}):")
            self.block(indent + 1, True, returns and not self.data)
            if self.random.random() < 0.3:
                self.add(indent, "else:")
                self.block(indent + 1, loop, returns)
            return True
        if loop and r < 0.96:
            self.add(indent, self.random.choice(["break", "continue"]))
            return False
        if returns:
            self.add(indent, f"return a, b, {self.random.choice('abc')} + {self.operand()}")
            return False
        self.add(indent, "pass")
        return True

    def selection(self, indent, name):
        """One of several functions; a definition of its own may read what is around it."""
        self.arms += 1
        arms = [f"lambda v: v + {self.operand()}", f"lambda v: {self.data_number()}"]
        arms = arms[: self.random.randint(1, 2)]
        if self.random.random() < 0.6:
            arm = f"arm_{self.arms}"
            self.add(indent, f"def {arm}(v):")
            for _ in range(self.random.randint(1, 2)):
                self.add(indent + 1, f"if v < {self.operand()}:")
                how = self.random.choice(["v = v + 1", "return v - 2", "v = v * c"])
                self.add(indent + 2, how)
            self.add(indent + 1, f"return v + {self.operand()}")
            arms.insert(self.random.randint(0, len(arms)), arm)
        index = f"abs({self.random.choice('abc')}) % {len(arms)}"
        argument = self.random.choice("abc")
        self.add(indent, f"{name} = galatea.select([{', '.join(arms)}], {index}, {argument})")

    def function(self):
        self.add(0, "def f(a, b, c):")
        self.block(1, False, True)
        self.block(1, False, True)
        self.add(1, "return a, b, c")
        return "\n".join(self.lines) + "\n"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_functions_stay_python(tmp_path):
    for seed in range(FUNCTIONS * SCALE // 100):
        text = Writer(seed, data=False).function()
        path = tmp_path / f"static_{seed}.py"
        path.write_text("import galatea\n\n\n" + text)
        function = load(path).f
        new = changed(function)
        assert new is not function, text + str(reasons)
        for a in (0, 1, 3):
            for b in (0, 2):
                for c in (1, 4):
                    assert new(a, b, c) == function(a, b, c), text


HEAD = """import galatea
from galatea import fn, pipeline_def, types


"""
TAIL = """

@pipeline_def(batch_size=18, seed=1)
def p(data="photos"):
    encoded, label = fn.readers.file(file_root=data)
    shape = fn.peek_image_shape(encoded)
    a = fn.cast(label[0], dtype=types.INT32)
    b = fn.cast(shape[0] % 5, dtype=types.INT32)
    c = fn.cast(shape[1] % 3, dtype=types.INT32)
    return f(a, b, c)
"""


def test_random_functions_on_data(galatea_program, tmp_path):
    if not SAMPLES.exists():
        pytest.skip(f"SKIPPED: no pictures in {SAMPLES}")
    ran = 0
    count = PIPELINES * SCALE // 100
    for seed in range(count):
        text = HEAD + Writer(seed, data=True).function() + TAIL
        file = tmp_path / f"data_{seed}.dali-dsl"
        file.write_text(text)
        source = tmp_path / f"data_{seed}.py"
        source.write_text(text)
        try:
            pipe = load(source).p(str(SAMPLES))
        except TraceError as error:
            raise AssertionError(text) from error
        accepted = galatea_program("check", file, ok=False)
        traced = tmp_path / f"traced_{seed}.dali-dsl"
        pipe.save(traced)
        checked = galatea_program("check", traced, ok=False)
        if accepted.returncode:
            # What the language refuses in a file it refuses in what was traced, or it was unread.
            continue
        assert checked.returncode == 0, text + pipe.text + checked.stderr
        form = galatea_program("fmt", "--diff", "--check", traced, ok=False)
        assert form.returncode == 0, pipe.text + form.stdout
        results = []
        for name, where in (("file", file), ("traced", traced)):
            folder = tmp_path / f"{name}_{seed}"
            more = ["--set", f"data={SAMPLES}"] if name == "file" else []
            galatea_program(
                "run", where, "--save", folder, "--backend", "interpreter", "--cache", "off", *more
            )
            results.append(
                {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*.npy"))}
            )
        assert results[0] == results[1], text + pipe.text
        ran += 1
    assert ran >= count // 2
