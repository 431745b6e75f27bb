"""Traced pipelines compiled and run in process: places in messages, constants, saved files."""

import linecache

import numpy as np
import pytest

import galatea
from galatea import fn, pipeline_def, types
from galatea.errors import GalateaError
from trace_common import galatea_program  # noqa: F401


def line_of(word):
    for number, line in enumerate(linecache.getlines(__file__), 1):
        if word in line and "line_of" not in line:
            return number
    raise AssertionError(word)


def numbers(name="x", ndim=1):
    return fn.external_source(name=name, dtype=types.FLOAT, ndim=ndim)


def test_errors_are_at_the_lines_of_python():
    @pipeline_def(batch_size=2)
    def p():
        image = fn.external_source(name="x", dtype=types.UINT8, ndim=3, layout="HWC")
        image = fn.flip(image, horisontal=1)  # wrong: the name
        other = fn.resize(
            image, size=["a", 2]  # wrong: the kind
        )  # fmt: skip
        return image, other

    found = p().check()
    assert {(d.file, d.line) for d in found} == {
        (__file__, line_of("# wrong: the name")),
        (__file__, line_of("# wrong: the kind")),
    } or [d.line for d in found][0] == line_of("# wrong: the name")
    assert "horizontal" in (found[0].help or "")
    with pytest.raises(GalateaError) as caught:
        p().program()
    assert "image = fn.flip(image, horisontal=1)" in str(caught.value)
    assert f"test_programs.py:{line_of('# wrong: the name')}" in str(caught.value)


def test_merges_are_reported_at_the_if():
    @pipeline_def(batch_size=2)
    def p():
        x = numbers(ndim=0)
        if x > 1:  # the condition
            y = fn.cast(x, dtype=types.INT32)  # the first arm
        else:
            y = x
        return y

    (found,) = p().check()
    assert found.code == "G0304"
    lines = {found.line} | {label.line for label in found.labels}
    assert line_of("# the condition") in lines or line_of("# the first arm") in lines
    assert {label.file for label in found.labels} <= {__file__}


def test_one_mistake_in_a_loop_is_one_message():
    @pipeline_def(batch_size=2)
    def p():
        x = numbers()
        for _ in range(5):
            x = fn.cast(x, dtype=types.FLOAT, seeed=1)
        return x

    found = p().check()
    assert len(found) == 1 and "in 5 calls" in found[0].notes[-1]


def test_other_files_are_shown(tmp_path):
    helper = tmp_path / "helper_of_test.py"
    helper.write_text(
        "from galatea import fn, types\n\n\ndef augment(x):\n"
        "    return fn.cast(x, dtype=types.FLOAT, lazy=2)\n"
    )
    import importlib.util

    spec = importlib.util.spec_from_file_location("helper_of_test", helper)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    @pipeline_def(batch_size=2)
    def p():
        return module.augment(numbers())

    (found,) = p().check()
    assert (found.file, found.line) == (str(helper), 5)


TABLE = np.linspace(-1, 1, 300, dtype=np.float32).reshape(100, 3)


@pipeline_def(batch_size=2, seed=1)
def with_constants():
    x = numbers(ndim=2)
    small = x + np.arange(3, dtype=np.float32)
    return small, x * TABLE.astype(np.float64), x + TABLE, types.Constant(TABLE[:, ::-1])


def run(program):
    session = galatea._c.Session(program, synchronous=True)
    session.feed("x", [np.ones((100, 3), np.float32), np.zeros((100, 3), np.float32)], None)
    session.end_of_feed()
    return session.next(-1)


def test_constants_in_memory_and_beside_the_file(galatea_program, tmp_path):
    pipe = with_constants()
    # Equal arrays are one; each has a name.
    assert len(pipe.constants) == 3 and "np.load(" in pipe.text
    assert pipe.check() == []
    path = galatea_program.accepts(pipe)
    assert sorted(file.name for file in tmp_path.glob("*.npy")) == [
        f"with_constants.{i}.npy" for i in range(3)
    ]
    loader = galatea.Loader(path, synchronous=True)
    other = galatea.Loader(pipe, synchronous=True)
    batches = []
    for each in (loader, other):
        with each:
            each.feed("x", [np.ones((100, 3), np.float32), np.zeros((100, 3), np.float32)])
            batches.append([np.stack(output.numpy()) for output in each.next_batch()])
    for a, b in zip(*batches):
        assert a.dtype == b.dtype and (a == b).all()
    assert (batches[0][3][0] == TABLE[:, ::-1]).all()
    assert (batches[0][2][0] == 1 + TABLE).all()


def test_a_damaged_constant_is_an_error(galatea_program, tmp_path):
    path = galatea_program.accepts(with_constants())
    beside = tmp_path / "with_constants.0.npy"
    whole = beside.read_bytes()
    for damaged in (b"", whole[:-1], whole[:40], b"\x93NUMPY\x09" + whole[7:], whole + b"x"):
        beside.write_bytes(damaged)
        done = galatea_program("check", path, ok=False)
        assert done.returncode == 1 and "G0608" in done.stderr, done.stderr
    beside.unlink()
    done = galatea_program("check", path, ok=False)
    assert done.returncode == 1 and "G0604" in done.stderr
    wrong = np.array(["text"])
    np.save(beside, wrong)
    assert "G0608" in galatea_program("check", path, ok=False).stderr
    np.save(beside, np.asfortranarray(TABLE.astype(">f8")))
    galatea_program("check", path)


def test_every_dtype_is_loaded_as_numpy_does(galatea_program, tmp_path):
    for dtype in "bool int8 int16 int32 int64 uint8 uint16 uint32 float16 float32 float64".split():
        for order in "<>":
            array = (np.arange(6).reshape(2, 3) - (2 if dtype[0] in "if" else 0)).astype(dtype)
            np.save(
                tmp_path / "t.npy", np.asfortranarray(array.astype(array.dtype.newbyteorder(order)))
            )
            file = tmp_path / "t.dali-dsl"
            file.write_text(
                f'import numpy as np\nt = np.load("t.npy")\nassert t.tolist() == {array.tolist()}\n'
                f"assert t.dtype == np.{'bool_' if dtype == 'bool' else dtype}\n"
            )
            galatea_program("check", file)


def test_a_failed_save_leaves_what_was_there(tmp_path):
    path = tmp_path / "p.dali-dsl"
    path.write_text("old")
    pipe = with_constants()
    pipe.constants = {"broken": object()}
    pipe.text = "\ud800"
    with pytest.raises(Exception):
        pipe.save(path)
    assert path.read_text() == "old" and not list(tmp_path.glob("*.part"))


def test_damaged_heads_never_crash(galatea_program, tmp_path):
    import random

    draw = random.Random(7)
    np.save(tmp_path / "t.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    whole = (tmp_path / "t.npy").read_bytes()
    file = tmp_path / "t.dali-dsl"
    file.write_text('import numpy as np\nt = np.load("t.npy")\n')
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            damaged[draw.randrange(100)] = draw.choice(b"0129<>|(),{}':fuib \x00\xff")
        if draw.random() < 0.3:
            del damaged[draw.randrange(len(damaged)) :]
        (tmp_path / "t.npy").write_bytes(damaged)
        done = galatea_program("check", file, ok=False)
        assert done.returncode in (0, 1), (bytes(damaged), done.stderr)
        refused += done.returncode
    assert 50 < refused < 150
