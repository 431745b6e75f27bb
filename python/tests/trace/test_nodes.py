"""Nodes, operators, literals, and what misuse says."""

import math as python_math

import numpy as np
import pytest

import galatea.fn.random
from galatea import fn, math, types
from galatea.fn import readers
from galatea.pipeline import Pipeline, pipeline_def
from galatea.trace.errors import TraceError
from galatea.trace.literals import expression_of
from galatea.trace.layout import Layout
from galatea.trace.node import newaxis
from galatea.trace.recorder import Recorder
from trace_common import galatea_program  # noqa: F401


def image(name="x"):
    return fn.external_source(name=name, dtype=types.UINT8, ndim=3, layout="HWC")


def trace(function):
    return Pipeline.trace(function, batch_size=2)


def test_every_operation_on_nodes(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x = image()
        f = fn.cast(x, dtype=types.FLOAT)
        i = fn.cast(x, dtype=types.INT32)
        out = [x + 1, 1 - f, f * 0.5, 2 / f, i // 2, 7 % (i + 1), f**2, 2**f, i & 3, 1 | i, i ^ 5]
        out += [i << 1, i >> 2, -f, +f, ~i, abs(i), x == 1, 1 != x, x < 3, 3 <= x, x > 1, 5 >= x]
        out += [x[0], x[-1], x[1:2, :, 0], x[::2], x[:, newaxis], x.shape()]
        out += [x.shape(dtype=types.INT32), x[x.shape()[0] // 2], f * [1.0, 0.5, 0.25]]
        out += [np.float32(0.1) * f, f * np.float32(0.1), f + np.array([1, 2, 3])]
        out += [math.clamp(f, 0, 1), math.sqrt(f), math.pow(2, f), math.atan2(f, 1.0), math.abs(f)]
        out += [(f + 1) * (f - 1) / (2 - (f - 3)) ** 2, -(f**2), (-f) ** 2, f - (f - f)]
        out += [~(i & 3) | 4, (f > 1) & (f < 2) == True]  # noqa: E712
        return tuple(out)

    galatea_program.accepts(p())


def test_operators_of_namespaces(galatea_program):
    @pipeline_def(batch_size=2)
    def p(data="."):
        encoded, label = readers.file(files=["a.jpg"], name="Reader")
        decoded = fn.decoders.image(encoded)
        big, size = fn.resize(decoded, size=[64, 64], save_attrs=True)
        left, right = fn.crop([big, decoded], crop=(8, 8))
        angle = galatea.fn.random.uniform(range=(-1.0, 1e-7), shape=[])
        turned = fn.rotate(big, angle=angle, keep_size=True, interp_type=types.INTERP_LINEAR)
        parts = fn.external_source(num_outputs=2, dtype=[types.FLOAT, types.INT32], ndim=0)
        return left, right, turned, size, label, *parts

    pipe = p()
    galatea_program.accepts(pipe)
    assert "big, size = fn.resize(" in pipe.text


IMAGE, LABEL, OTHER, BOX = types.UINT8, types.INT32, types.FLOAT, types.INT32


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        ({}, [IMAGE, LABEL]),
        ({"label_type": 2}, [IMAGE, LABEL]),
        ({"label_type": 4}, [IMAGE]),
        ({"image_available": False}, [LABEL]),
        ({"image_available": True, "bbox": False}, [IMAGE, LABEL]),
        ({"additional_inputs": 2, "bbox": True}, [IMAGE, LABEL, OTHER, OTHER, BOX]),
        ({"image_available": False, "label_type": 4, "additional_inputs": 3}, [OTHER] * 3),
    ],
    ids=repr,
)
def test_outputs_that_arguments_take_away_or_count(galatea_program, arguments, wanted):
    @pipeline_def(batch_size=2)
    def p():
        found = readers.caffe2(path="elsewhere", encoded=True, dtypes=wanted, **arguments)
        assert (len(found) if isinstance(found, tuple) else 1) == len(wanted)
        return found

    galatea_program.accepts(p())


LITERALS = [
    0, -1, 2**63 - 1, True, None, 0.1, -0.0, 1e300, 5e-324, 1e16, 0.1 + 0.2, float("inf"),
    -float("inf"), "", "a\"b", "it's", "\n\t\\\x00é€😀", [1, [2.5, "x"]], (1,), (), (1, 2), {},
    {"a": 1, 2: [3]}, range(3), types.RGB, types.FLOAT16, types.INTERP_NN,
]  # fmt: skip


@pytest.mark.parametrize("value", LITERALS, ids=repr)
def test_literals_are_exact(galatea_program, value):
    text = Layout(str).one_line(expression_of(Recorder("p"), value))
    again = eval(text, {"types": types, "np": np, "float": float})
    wanted = list(value) if isinstance(value, range) else value
    assert repr(again) == repr(wanted)
    # The language reads the same value.
    shown = galatea_program.folder / "literal.dali-dsl"
    same = "x == y" if value == value and not isinstance(value, range) else "True"
    shown.write_text(
        f"from galatea import types\nx = {text}\ny = {text}\nassert {same}\n"
        f"assert str(x) == str(y) and repr(x) != 'nonsense'\n"
    )
    galatea_program("check", shown)


def test_nan():
    text = Layout(str).one_line(expression_of(Recorder("p"), float("nan")))
    assert python_math.isnan(eval(text))


@pytest.mark.parametrize("dtype", "bool int8 uint16 int64 float16 float32 float64".split())
def test_arrays(dtype):
    for shape in [(), (3,), (2, 2), (0,), (2, 0)]:
        value = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        text = Layout(str).one_line(expression_of(Recorder("p"), value))
        again = eval(text, {"np": np})
        assert again.dtype == value.dtype and again.shape == shape and (again == value).all()


def test_paths_and_enums(tmp_path):
    import enum

    class Word(enum.Enum):
        NAME = "linear"

    for value, text in [(tmp_path, f'"{tmp_path}"'), (Word.NAME, '"linear"')]:
        assert Layout(str).one_line(expression_of(Recorder("p"), value)) == text


# ---- misuse ----


def fails(function, *words):
    with pytest.raises(TraceError) as caught:
        trace(function)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert "test_nodes.py:" in str(caught.value)


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda x: [y for y in x], ["looped over", "x[0]"]),
        (lambda x: len(x), ["no length", "x.shape()[0]"]),
        (lambda x: np.sqrt(x), ["no numpy array", "galatea.math"]),
        (lambda x: np.array(x), ["no numpy array"]),
        (lambda x: int(x), ["no number", "fn.cast"]),
        (lambda x: float(x), ["no number"]),
        (lambda x: 3 in x, ["cannot be searched"]),
        (lambda x: x.__setitem__(0, 1), ["cannot be changed"]),
        (lambda x: x[None], ["`None` is no index"]),
        (lambda x: range(x), ["no number"]),
        (lambda x: fn.crop(x, 3), ["1 inputs by position"]),
        (lambda x: fn.crop(x, crop=object()), ["builtins.object", "cannot be part"]),
        (lambda x: fn.rezise(x), ["no operator `fn.rezise`", "did you mean `fn.resize`"]),
        (lambda x: fn.random.unifrom(), ["did you mean `fn.random.uniform`"]),
    ],
)
def test_misuse_says_what_to_write(use, words):
    fails(lambda: use(image()), *words)


def test_attributes():
    def f():
        return image().shap()

    with pytest.raises(AttributeError, match="did you mean `shape`"):
        trace(f)


def test_outside():
    with pytest.raises(TraceError, match="called outside of a pipeline"):
        fn.random.uniform()


def test_another_pipeline():
    kept = []

    def f():
        kept.append(image())
        return kept[0]

    trace(f)
    fails(lambda: kept[0] + 1, "belongs to another pipeline")
    fails(lambda: image() + kept[0], "belongs to another pipeline")


@pytest.mark.parametrize("result", [None, [[1, 2]], ()], ids=repr)
def test_outputs(result):
    def f():
        x = image()
        return [[x]] if result == [[1, 2]] else result

    with pytest.raises(TraceError):
        trace(f)


def test_unknown_option():
    with pytest.raises(TypeError, match="did you mean `batch_size`"):

        @pipeline_def(batchsize=3)
        def p():
            return image()

    @pipeline_def
    def q(size=3):
        return image()

    with pytest.raises(TypeError, match="no parameter or option `siez`"):
        q(siez=2)


def test_documentation():
    assert "interp_type" in fn.resize.__doc__ and fn.resize.__name__ == "resize"
    assert "uniform" in dir(fn.random) and "readers" in dir(fn)


def test_the_text_is_whole(tmp_path):
    def f():
        x = image()
        y = fn.flip(x)
        return y

    first, second = trace(f), trace(f)
    assert first.text == second.text
    assert "# Made from the Python function `f` of test_nodes.py:" in first.text
    assert first.text.endswith("    y = fn.flip(x)\n    return y\n")
    lines = first.text.split("\n")
    for (line, column, end_line, end_column), place in first.line_map:
        if line == end_line and "fn.flip" in lines[line - 1]:
            assert lines[line - 1][column - 1 : end_column - 1] == "y = fn.flip(x)"
            assert place.source_line().strip() == "y = fn.flip(x)"


def test_the_library_of_the_language(galatea_program):
    from galatea.auto_aug import augmentations as a
    from galatea.auto_aug.auto_augment import apply_auto_augment, auto_augment
    from galatea.auto_aug.auto_augment import get_image_net_policy
    from galatea.auto_aug.core import Policy
    from galatea.auto_aug.trivial_augment import trivial_augment_wide

    mine = Policy("mine", num_magnitude_bins=11, sub_policies=[[(a.rotate, 0.7, 6)]])

    @pipeline_def(batch_size=2)
    def p():
        x = image()
        y = trivial_augment_wide(x, num_magnitude_bins=11)
        z = auto_augment(x, shape=[32, 32])
        if fn.random.coin_flip(dtype=types.BOOL):
            y = apply_auto_augment(mine, y, fill_value=100)
        w = apply_auto_augment(get_image_net_policy(), x)
        return y, z, w

    pipe = p()
    galatea_program.accepts(pipe)
    assert "from galatea.auto_aug.core import Policy" in pipe.text


def test_augmentations_of_sound():
    import galatea.auto_aug.sound
    from galatea import sound

    @pipeline_def(batch_size=3, seed=4)
    def p():
        wave = fn.external_source(name="wave", dtype=types.FLOAT, ndim=1)
        quiet = galatea.auto_aug.sound.gain(wave, magnitude_bin=0, num_magnitude_bins=11)
        return sound.add_noise(wave, snr=(20, 20)), sound.add_noise(wave, noise=quiet, snr=(6, 6))

    wave = np.sin(np.arange(4000, dtype=np.float32) / 7)
    pipe = p()
    assert "from galatea.auto_aug.sound import add_noise, gain" in pipe.text
    with galatea.Loader(pipe) as loader:
        loader.feed("wave", [wave] * 3)
        white, same = next(iter(loader))
    for sample in white:
        noise = sample.numpy() - wave
        assert abs(10 * np.log10((wave**2).mean() / (noise**2).mean()) - 20) < 0.01
    # Its noise is the wave itself, 6 decibels below it.
    np.testing.assert_allclose(same[0].numpy(), wave * (1 + 10 ** (-6 / 20)), rtol=1e-5)


def test_devices(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x = image().gpu()
        y = fn.flip(x, device="gpu")
        return y.cpu(), (x + 1).gpu(), fn.flip(x).shape()

    pipe = p(device_id=1)
    galatea_program.accepts(pipe)
    assert pipe.compile_arguments()["device"] == "gpu:1"
    assert p(device="cpu").compile_arguments()["device"] == "cpu"
    assert ".gpu()" in pipe.text


def test_equal_arrays_are_saved_once(tmp_path):
    table = np.arange(100, dtype=np.int32)

    def f():
        x = fn.cast(image(), dtype=types.INT32)
        return x[0, 0, 0] + table, x[0, 0, 1] + table.copy(), x[0, 0, 2] + (table + 1)

    pipe = trace(f)
    assert list(pipe.constants) == ["f.0.npy", "f.1.npy"]
    pipe.save(tmp_path / "other.dali-dsl")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "other.0.npy",
        "other.1.npy",
        "other.dali-dsl",
    ]
    assert (np.load(tmp_path / "other.1.npy") == table + 1).all()
    assert 'np.load("f.' not in (tmp_path / "other.dali-dsl").read_text()
