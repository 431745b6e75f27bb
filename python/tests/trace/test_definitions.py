"""Python functions as definitions of a text: pixel functions, what they read from outside, places."""

import dataclasses
import enum
import functools
import importlib.util
import linecache
import math as python_math
import sys
import textwrap

import numpy
import pytest

import galatea as g
from galatea import fn, types
from galatea.math import sqrt
from galatea.pipeline import Pipeline, pipeline_def
from galatea.trace.errors import TraceError
from trace_common import galatea_program  # noqa: F401


def image(name="x", layout="HWC"):
    return fn.external_source(name=name, dtype=types.UINT8, ndim=len(layout), layout=layout)


def above(pipe):
    """What stands between the imports and the pipeline."""
    text = pipe.text[: pipe.text.index("\n\n\n@pipeline_def")]
    lines = text.split("\n")
    last = max(i for i, line in enumerate(lines) if line.startswith(("import ", "from ")))
    return "\n".join(lines[last + 1 :]).strip("\n")


def trace(function):
    return Pipeline.trace(function, name="p", batch_size=2)


def line_of(word):
    for number, line in enumerate(linecache.getlines(__file__), 1):
        if word in line and "line_of" not in line:
            return number
    raise AssertionError(word)


# ---- the source, as it is written ----


@g.pixel(border="reflect_101", dtype=types.FLOAT)  # the decorator
def steepness(image, by=1.0):
    """Over two
    lines."""

    # how much larger what lies below is
    def at(y, x, c):
        return (image[y + 1, x, c] - image[y - 1, x, c]) * by  # below

    return at  # at the end


def test_the_source_stands_in_the_text(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x = image()
        steep = steepness(x)
        steepness_of_all = steepness(x, by=2.0)
        return steep, steepness_of_all, steepness(x, size=[4, 4])

    pipe = p()
    galatea_program.accepts(pipe, formatted=False)
    source = linecache.getlines(__file__)
    first, last = line_of("def steepness(image") - 1, line_of("return at  # at the end")
    assert above(pipe) == (
        '@galatea.pixel(border="reflect_101", dtype=types.FLOAT)\n'
        + "".join(source[first:last]).rstrip("\n")
    )
    assert "    steep = steepness(x)\n" in pipe.text
    assert pipe.text == p().text


def test_indentation_and_other_letters(galatea_program, tmp_path):
    text = (
        "import galatea as größe\n\n\nclass Around:\n\tif True:\n"
        "\t\t@größe.pixel\n\t\tdef v(image):\n"
        '\t\t\tlabel = """é\n\t  kept"""\n'
        "\t\t\tassert label == 'é\\n\\t  kept'\n"
        "\t\t\tdef at(y, x, c):\n\t\t\t\tä = 'é' and größe.math.sqrt(4.0); return image[y, x, c] * ä\n"
        "\t\t\treturn at\n"
    )
    path = tmp_path / "tabs.py"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    module = load(path)
    pipe = trace(lambda: module.Around.v(image()))
    galatea_program.accepts(pipe, formatted=False)
    assert "\ndef v(image):\n" in pipe.text and "galatea.math.sqrt(4.0); return" in pipe.text
    path.write_text(text.replace("* ä", "* fehlt"))
    linecache.checkcache()
    with pytest.raises(TraceError, match="`fehlt` is not defined") as caught:
        trace(lambda: load(path).Around.v(image()))
    assert caught.value.place.source_line()[caught.value.place.column - 1 :] == "fehlt"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- what is read from outside ----

SCALE = 0.5
WEIGHTS = (0.299, 0.587, 0.114)


class Mode(enum.Enum):
    STRONG = 3


@dataclasses.dataclass
class Settings:
    gain: float = 0.25


settings = Settings()


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@functools.lru_cache
def remembered(n):
    return n + 1


shifted = functools.partial(lambda a, b, c: a + b * c, 1, c=2)


@g.pixel
def inner(image):
    return lambda y, x, c: image[y, x, c]


@g.pixel(dtype=types.FLOAT)
def everything(image, k=SCALE, *, mode=Mode.STRONG.value, curve=shifted):
    blurred = inner(fn.gaussian_blur(image, sigma=1.0))

    def at(y: "int", x, c):
        grey = g.sum(range(3), lambda c: WEIGHTS[c] * blurred[y, x, c])
        if even(4) and not odd(4):
            grey = sqrt(grey + python_math.pi) * settings.gain * k
        most = numpy.float32(2) + factorial(3) + remembered(2) + Mode.STRONG.value
        return grey + most + curve(3) + mode

    return at


def test_values_from_outside(galatea_program):
    pipe = trace(lambda: everything(image()))
    galatea_program.accepts(pipe, formatted=False)
    found = above(pipe)
    for part in (
        "WEIGHTS = (0.299, 0.587, 0.114)\n",
        "settings_gain = 0.25\n",
        "def even(n):\n",
        "def factorial(n):\n    return 1 if n <= 1 else n * factorial(n - 1)\n",
        "def remembered(n):\n",
        "def everything(image, k=0.5, *, mode=3, curve=curve):",
        "grey = galatea.sum(range(3), lambda c: WEIGHTS[c]",
        "grey = math.sqrt(grey + math.pi) * settings_gain * k",
        "np.float32(2) + factorial(3)",
        "@galatea.pixel\ndef inner(image):",
    ):
        assert part in found, f"{part}\n{found}"
    assert "SCALE" not in found and "@functools" not in found and "import numpy as np" in pipe.text
    assert found.count("def even(") == found.count("def odd(") == 1


def test_each_value_is_a_definition_of_its_own(galatea_program):
    def make(strength):
        @g.pixel
        def scaled(image):
            return lambda y, x, c: image[y, x, c] * strength

        return scaled

    @pipeline_def(batch_size=2)
    def p():
        x = image()
        scaled = make(2)(x)
        for factor in (2, 3, 2):
            x = make(factor)(x)
        return scaled, x

    pipe = p()
    galatea_program.accepts(pipe)
    assert above(pipe).count("def scaled") == 2 and "def scaled_2" in above(pipe)
    assert "strength = 2\n" in above(pipe) and "strength_2 = 3\n" in above(pipe)
    assert pipe.text.count("= scaled(x)") == 3 and pipe.text.count("= scaled_2(x)") == 1


def down(n):
    return STEP if n <= 0 else up(n - 1)


def up(n):
    return down(n - 1)


STEP = 1


def test_circles_are_written_once_for_each_value(galatea_program, monkeypatch):
    @g.pixel
    def checked(image):
        return lambda y, x, c: image[y, x, c] + up(3)

    def p():
        x = image()
        for step in (1, 1, 2, 1, 2):
            monkeypatch.setitem(globals(), "STEP", step)
            x = checked(x)
        return x

    pipe = trace(p)
    galatea_program.accepts(pipe, formatted=False)
    found = above(pipe)
    assert found.count("def up") == found.count("def down") == found.count("def checked") == 2
    assert "STEP = 1\n" in found and "STEP_2 = 2\n" in found
    calls = [
        line.split()[-1]
        for line in pipe.text.split("\n")
        if "checked" in line and "def" not in line
    ]
    names = [call.split("(")[0] for call in calls]
    assert names[0] == names[1] == names[3] != names[2] == names[4]


def test_names_that_meet_others(galatea_program):
    strength = 3

    @g.pixel
    def rotate(image):
        K, math = 5, 1

        def at(y, x, c):
            return image[y, x, c] * strength + other.K + K + math + sqrt(4.0) + p(1)

        return at

    class Other:
        K = 7

    other = Other()

    def p(fn):
        return fn + strength

    def traced():
        from galatea.auto_aug.augmentations import rotate as turn

        strength = image()
        np = rotate(strength)
        other_K = turn(np, magnitude_bin=3, num_magnitude_bins=11)
        return strength, np, other_K

    pipe = trace(traced)
    galatea_program.accepts(pipe, formatted=False)
    assert "from galatea.auto_aug.augmentations import rotate as rotate_2" in pipe.text
    assert "* strength + other_K + K + math + sqrt(4.0) + p_2(1)" in pipe.text
    assert "sqrt = math.sqrt\n" in pipe.text and "def p_2(fn):\n" in pipe.text
    assert "    strength_value = fn.external_source(" in pipe.text


def test_options_that_are_data_stand_at_the_call(galatea_program):
    def p():
        x = image()
        rows = fn.random.uniform(range=[4, 8])

        @g.pixel(size=[rows, 8], dtype=types.FLOAT)
        def v(image):
            return lambda y, x, c: image[y, x, c]

        return v(x), v(x, size=[4, 4])

    pipe = trace(p)
    galatea_program.accepts(pipe, formatted=False)
    assert "@galatea.pixel(dtype=types.FLOAT)" in pipe.text
    assert "v(x, size=[rows, 8]), v(x, size=[4, 4])" in pipe.text


def test_functions_as_arguments(galatea_program):
    @g.pixel(dtype=types.FLOAT)
    def curved(image, curve, more=(python_math.sqrt, abs)):
        return lambda y, x, c: curve(image[y, x, c]) + more[0](4.0)

    a, b = g.pixel(lambda i: lambda y, x, c: i[y, x, c] + 1), g.pixel(
        lambda i: lambda y, x, c: i[y, x, c]
    )

    def p():
        x = image()
        curves = [lambda v: v * 2, python_math.sqrt, functools.partial(max, 3)]
        return *[curved(x, curve) for curve in curves], a(x), b(x)

    pipe = trace(p)
    galatea_program.accepts(pipe, formatted=False)
    assert "more = (math.sqrt, abs)\n" in pipe.text and "curved(x, math.sqrt)" in pipe.text
    assert "pixel_function = galatea.pixel(lambda i: lambda y, x, c: i[y, x, c] + 1)" in pipe.text


def test_arrays_of_definitions_are_saved_beside_the_text(galatea_program, tmp_path):
    table = numpy.arange(100, dtype=numpy.float32)

    @g.pixel(size=[4, 4], channels=1, dtype=types.FLOAT)
    def flat(gain):
        first = table[3] + table.sum()
        return lambda y, x, c: first * gain

    pipe = trace(lambda: (flat(2), image()))
    path = galatea_program.accepts(pipe, formatted=False)
    assert 'table = np.load("p.0.npy")' in path.read_text()
    assert (numpy.load(tmp_path / "p.0.npy") == table).all()


def test_strings_with_values(galatea_program):
    gain, settings_gain = 2, 3

    @g.pixel
    def v(image):
        assert gain < 3, f"é {gain} {settings.gain:>{gain}} {settings_gain!r}" f"{gain}"
        return lambda y, x, c: image[y, x, c] * gain

    pipe = trace(lambda: v(image()))
    galatea_program.accepts(pipe, formatted=False)
    assert 'f"é {gain} {settings_gain:>{gain}} {settings_gain_2!r}" f"{gain}"' in pipe.text


# ---- what cannot be ----


class Thing:
    strength = 3

    def scaled(self):
        @g.pixel
        def v(image):
            return lambda y, x, c: image[y, x, c] * self.strength

        return v

    @g.pixel
    def method(self, image):
        return lambda y, x, c: image[y, x, c]

    def one(self, x):
        return x


thing = Thing()


def fails(function, *words):
    with pytest.raises(TraceError) as caught:
        trace(function)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    return caught.value


def test_objects_are_read_by_attributes(galatea_program):
    pipe = trace(lambda: thing.scaled()(image()))
    galatea_program.accepts(pipe, formatted=False)
    assert "strength = 3\n" in pipe.text


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: lambda i: lambda y, x, c: i[y, x, c] * thing, ["`thing` is of type", "Thing"]),
        (lambda: lambda i: lambda y, x, c: Thing() * i[y, x, c], ["`Thing` is a class"]),
        (lambda: lambda i: lambda y, x, c: sys * i[y, x, c], ["`sys` is a module"]),
        (lambda: lambda i: lambda y, x, c: thing.nothing, ["has no attribute 'nothing'"]),
        (lambda: lambda i: lambda y, x, c: thing.one(x), ["method `Thing.one`", "no objects"]),
        (lambda: lambda i: lambda y, x, c: nothing * 2, ["`nothing` is not defined"]),  # noqa: F821
    ],
)
def test_what_the_text_cannot_hold(make, words):
    error = fails(lambda: g.pixel(make())(image()), *words)
    assert error.place.file == __file__ and "lambda i:" in error.place.source_line()
    assert error.place.column > 1


def test_data_from_outside():
    def p():
        label = fn.external_source(name="label", dtype=types.INT32, ndim=0)

        @g.pixel
        def v(image):
            return lambda y, x, c: image[y, x, c] * label  # data

        return v(image())

    error = fails(p, "`label` is a data node", "as an argument")
    assert error.place.line == line_of("* label  # data")


def test_functions_without_source():
    names = {"g": g}
    exec("@g.pixel\ndef v(image):\n    return lambda y, x, c: image[y, x, c]\n", names)
    fails(lambda: names["v"](image()), "`v` cannot be written", "its source is not there")
    fails(lambda: thing.method(image()), "is a method", "self.strength")

    @g.pixel
    async def late(image):
        return 1

    fails(lambda: late(image()), "`late` is `async`")


def test_misuse_of_the_decorator():
    with pytest.raises(TraceError, match="did you mean `border`"):
        g.pixel(bordr="clamp")
    with pytest.raises(TraceError, match="takes a Python function"):
        g.pixel(3)
    with pytest.raises(TraceError, match="`steepness` is called outside of a pipeline"):
        steepness(3)


@g.pixel
def noisy(image):
    return lambda y, x, c: image[y, x, c] + fn.random.uniform(range=[-8.0, 8.0])


def test_messages_show_the_python_line():
    def p():
        x = image()
        return noisy(x)  # the call

    (found,) = trace(p).check()
    assert found.code == "G0293" and found.file == __file__
    assert found.line == line_of("+ fn.random.uniform(range=[-8.0, 8.0])")
    line = linecache.getline(__file__, found.line)
    assert line[found.column - 1 :].startswith("fn.random.uniform")
    assert [(call.file, call.line) for call in found.calls] == [(__file__, line_of("# the call"))]


def test_messages_of_changed_names_and_decorators():
    gain = 3

    @g.pixel(border="nothing")  # wrong: the border
    def bordered(image):
        return lambda y, x, c: image[y, x, c]

    @g.pixel
    def other_math(image):
        def at(y, x, c):
            return image[y, x, c] * gain + python_math.nothing(x)  # wrong: the function

        return at

    (found,) = trace(lambda: bordered(image())).check()
    assert (found.file, found.line) == (__file__, line_of("# wrong: the border"))
    (found,) = trace(lambda: other_math(image())).check()
    assert (found.file, found.line) == (__file__, line_of("# wrong: the function"))
    assert linecache.getline(__file__, found.line)[found.column - 1 :].startswith("nothing(x)")


def test_a_file_that_was_changed(tmp_path, monkeypatch):
    # The file changes within a second and keeps its length: compiled code of before would be taken.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "changed_later.py"
    text = textwrap.dedent("""
        import galatea

        @galatea.pixel
        def v(image):
            return lambda y, x, c: image[y, x, c] * 2

        def branch(x):
            if x > 1:
                x = x + 1
            return x
        """)
    path.write_text(text)
    module = load(path)
    path.write_text(text.replace("* 2", "+ 2").replace("x + 1", "x - 1"))
    linecache.checkcache()
    fails(lambda: module.v(image()), "changed_later.py was changed after")
    fails(lambda: module.branch(image()), "`branch` was left as it is", "was changed after")
    again = load(path)
    assert "image[y, x, c] + 2" in trace(lambda: again.v(image())).text


# ---- beside pixel functions ----


def test_sum_of_numbers_and_data():
    assert g.sum(range(4), lambda k: k * k) == 14 and g.sum([], lambda k: k) == 0
    text = trace(lambda: (lambda x: g.sum([1, 2], lambda k: x[k, 0, 0] * k))(image())).text
    assert "[1, 0, 0] * 1 + " in text and "[2, 0, 0] * 2\n" in text


def test_augmentations_of_python(galatea_program):
    from galatea.auto_aug import augmentations as a
    from galatea.auto_aug.auto_augment import apply_auto_augment
    from galatea.auto_aug.core import Policy, augmentation, signed_bin

    edge = 1.0

    @augmentation(mag_range=(0.2, 0.6), mag_to_param=lambda m: [m, edge - m])
    def cutout(data, shape, fill_value=0):
        # erases
        return fn.erase(data, anchor=[0.1, 0.1], shape=shape, normalized=True, axis_names="HW")

    little = cutout.augmentation(mag_range=(0.1, 0.2), name="little")
    mine = Policy("mine", 11, [[(cutout, 0.8, 7), (a.rotate, 0.5, 3)], [(little, 0.2, 1)]])

    def p():
        x = image()
        y = apply_auto_augment(mine, x, fill_value=1)
        z = apply_auto_augment(mine, y, fill_value=2)
        drawn = signed_bin(5)
        turned = a.rotate(x, magnitude_bin=drawn, num_magnitude_bins=11)
        return z, a.shear_x(turned, magnitude_bin=drawn, num_magnitude_bins=11)

    pipe = trace(p)
    galatea_program.accepts(pipe, formatted=False)
    assert "def cutout(data, shape, fill_value=0):\n    # erases\n" in above(pipe)
    assert above(pipe).count("Policy(") == above(pipe).count("policy = Policy(") == 1
    # A sign is drawn once, for both calls.
    assert pipe.text.count("signed_bin(5)") == 1 and pipe.text.count("magnitude_bin=drawn") == 2


def test_mistakes_of_augmentations_are_at_their_lines():
    from galatea.auto_aug.core import Policy, augmentation

    @augmentation(mag_range=(0, 1))  # wrong: one parameter
    def alone(data):
        return data

    def p():
        from galatea.auto_aug.auto_augment import apply_auto_augment

        return apply_auto_augment(Policy("mine", 11, [[(alone, 1.0, 3)]]), image())

    found = trace(p).check()
    assert found[0].code == "G0651"
    assert (found[0].file, found[0].line) == (__file__, line_of("# wrong: one parameter"))


def test_libraries_of_policies(galatea_program):
    from galatea.auto_aug import timm, torchvision

    def p():
        x = image()
        y = torchvision.RandAugment(num_ops=2, magnitude=9)(x)
        return y, timm.transform("rand-m9-mstd0.5", fill=timm.image_mean_fill())(x)

    pipe = trace(p)
    galatea_program.accepts(pipe)
    assert "randaugment = RandAugment(num_ops=2, magnitude=9)\n" in pipe.text


def test_operators_of_galatea_alone(galatea_program):
    def definition():
        x = image()
        return g.cutout(g.elastic(x), size=4), fn.galatea.cutout(x, size=2)

    pipe = trace(definition)
    assert "fn.galatea.cutout(fn.galatea.elastic(x), size=4)" in pipe.text
    galatea_program.accepts(pipe)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        g.nonsense
