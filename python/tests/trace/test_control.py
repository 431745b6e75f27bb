"""`if`, `and`, `or`, `not` and ternaries that depend on data: branches of the text."""

import functools
import itertools

import numpy as np
import pytest

from galatea import Batch, GalateaError, _c, fn, math, types
from galatea.pipeline import Pipeline, pipeline_def
from trace_common import galatea_program  # noqa: F401
from trace_common import body, fails, flag, number


def test_if(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x = number()
        if x > 1:
            y = x + 1
            z = 1
        elif x > 0:
            y, z = x, 2
        else:
            y, z = -x, 3
        return y, z

    pipe = p()
    galatea_program.accepts(pipe)
    assert "elif x > 0:" in pipe.text


def test_early_return(galatea_program):
    def choose(x, c):
        if c:
            return x * 2, x
        y = x + 1
        if y > 3:
            return y, x
        return y - 1, y

    @pipeline_def(batch_size=2)
    def p():
        a, b = choose(number(), flag())
        return a, b

    galatea_program.accepts(p())


def test_loops(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x, c = number(), flag()
        for i in range(4):
            if c:
                continue
            x = x + i
            if x > 5:
                break
            x = x * 2
        else:
            x = x - 100
        xs = [x + i if c else x for i in range(2)]
        return x, *xs

    pipe = p()
    galatea_program.accepts(pipe)
    assert pipe.text.count("x + 0") >= 1


def test_a_loop_that_returns_at_its_end(galatea_program):
    def f(x):
        if x > 1:
            for i in range(2):
                x = x + i
            else:
                return x
        for i in range(3):
            return x + 7
        return x

    def p():
        return f(number())

    galatea_program.accepts(Pipeline.trace(p, batch_size=2))


def test_lazy(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x, c = number(), flag()
        both = c and math.sqrt(x) > 1
        either = c or not both
        chain = 0 < x < 5
        many = c and (chain or both) and x > 2
        picked = x if many else (x + 1 if either else 2.5)
        static = (True and c), (False or c), (c if True else x)
        return both, either, chain, picked, *static

    galatea_program.accepts(p())


def test_lazy_sides_that_read_what_has_no_name(galatea_program):
    class Values:
        pass

    @pipeline_def(batch_size=2)
    def p():
        values = Values()
        values.c = fn.random.coin_flip(dtype=types.BOOL)
        values.d = fn.random.coin_flip(dtype=types.BOOL)
        values.x, values.y = fn.random.uniform(), fn.random.normal()
        return values.c and values.d, values.x if values.c or values.d else values.y

    made = p()
    galatea_program.accepts(made)
    # Each is made once, and for all samples: before the lazy sides.
    lines = [line.strip() for line in made.text.splitlines()]
    draws = [line for line in lines if "fn.random" in line]
    assert len(draws) == 4 and not any(" and " in line or " if " in line for line in draws)


def test_structures(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        x, c = number(), flag()
        options = {"a": 1, "tag": "same"}
        if c:
            pair, options = (x, 1), {"a": 2.5, "tag": "same"}
            a, b = x, x + 1
        else:
            pair = (x + 1, 0.5)
            b, a = x, x + 1
        assert options["tag"] == "same"
        if c:
            a, b = b, a
        return *pair, options["a"], a, b

    galatea_program.accepts(p())


def test_names_of_parts_are_names(galatea_program):
    def p():
        x, parts = number(), {}
        if flag():
            parts = {"a b": x, "1": x + 1}
        else:
            parts = {"a b": -x, "1": x}
        return parts["a b"], parts["1"]

    pipe = Pipeline.trace(p, batch_size=2)
    galatea_program.accepts(pipe)
    assert "parts_a_b = " in pipe.text


def test_lines_of_an_elif_that_just_fit(galatea_program):
    for more in range(8, 20):  # four columns each: one of them fits at its place alone

        def p():
            x = number()
            if x > 1:
                x = -x
            else:
                if x > 2:
                    x = math.clamp(functools.reduce(lambda a, b: a + b, [x, *[1] * more]), 0, 1)
            return x

        galatea_program.accepts(Pipeline.trace(p, batch_size=2))


def test_attributes(galatea_program):
    class State:
        __slots__ = ("x", "n", "inner", "_v")

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value * 2

        def step(self, c):
            if c:
                self.x = self.x * 2
                self.n += 1
                new = State()
                new.x = self.x
                self.v = new.x
            elif self.x > 3:
                self.inner.x, self.n = self.x, self.n
                del self.inner.n
            return self.x

    def p():
        state = State()
        state.x, state.n, state.inner = number(), 1, State()
        state.inner.x, state.inner.n, state._v = 0.0, 2, 1.0
        stepped = state.step(flag())
        return stepped, state.n, state.inner.x, state.x

    pipe = Pipeline.trace(p, batch_size=4)
    galatea_program.accepts(pipe)
    # What Python does for each of the ways is what each sample gets.
    session = _c.Session(pipe.program(), synchronous=True)
    ways = [(c, x) for c in (False, True) for x in (2.0, 4.0)]
    session.feed("x", [np.array(x, np.float32) for _, x in ways], None)
    session.feed("c", [np.array(c) for c, _ in ways], None)
    session.end_of_feed()
    found = [output.numpy() for output in Batch(session.next(-1), list("abcd"), 4)]
    for i, (c, x) in enumerate(ways):
        state = State()
        state.x, state.n, state.inner = x, 1, State()
        state.inner.x, state.inner.n, state._v = 0.0, 2, 1.0
        wanted = state.step(c), state.n, state.inner.x, state.x
        assert tuple(float(values[i]) for values in found) == wanted


class Holder:
    """An object with containers; `log` is no business of the pipeline's."""

    def __init__(self, x):
        self.parts, self.log = [x, 0.5], []


def changes(c, x):
    """Changes lists and dicts in arms; what stays behind is the same as in Python."""
    xs, d, holder = [x, 1.0, 2.0], {"a": x, "deep": {"b": [x, 3.0]}, "same": "text"}, Holder(x)
    also, grown = xs, [x]
    if c:
        xs[0] = x * 2
        d["a"] = xs[0] + 1
        d["deep"]["b"][1] = x
        holder.parts[0] = -x
        holder.log.append("first")
        grown.append(x + 1)
    else:
        xs[1] = x + 5
        xs.reverse()
        grown.extend([x + 2])
        holder.log.append("second")
    if x > 3:
        if c:
            xs[2] = 7.0
        d = {**d, "a": 0.0}
    if c:
        xs = [x]
    else:
        xs[0] = 9.0
        xs = xs[:1]
    ys, same = [x, 1.0], [x, 1.0]
    if x > 3:
        d["a"] = 2.0
    elif c:
        ys = [x * 2, 2.0]
    else:
        ys[0] = x * 3
        same[1] = x
    several = (*d["deep"]["b"], *holder.parts, *grown, *ys, *same)
    return (*also, *xs, d["a"], *several, len(d["same"]))


def test_containers(galatea_program):
    pipe = Pipeline.trace(lambda: changes(flag(), number()), batch_size=4)
    galatea_program.accepts(pipe)
    # What Python does for each of the ways is what each sample gets.
    session = _c.Session(pipe.program(), synchronous=True)
    ways = [(c, x) for c in (False, True) for x in (2.0, 4.0)]
    session.feed("x", [np.array(x, np.float32) for _, x in ways], None)
    session.feed("c", [np.array(c) for c, _ in ways], None)
    session.end_of_feed()
    count = len(changes(True, 2.0))
    found = [output.numpy() for output in Batch(session.next(-1), list(map(str, range(count))), 4)]
    for i, way in enumerate(ways):
        assert tuple(float(values[i]) for values in found) == changes(*way)


def larger(a, b):
    if a > b:
        return a
    return b


class Scaled:
    def __init__(self, x):
        self.x = x

    @property
    def sign(self):
        return 1 if self.x > 0 else -1

    def __add__(self, other):
        if other > 0:
            return self.x + other
        return self.x


def test_functions_that_the_library_calls(galatea_program):
    def p():
        xs = [number("a"), number("b"), number("c")]
        first = functools.reduce(larger, xs)
        second = list(itertools.accumulate(xs, func=larger))[-1]
        third = list(itertools.starmap(larger, [(first, second)]))[0]
        return first, second, third, sorted([2, 1], key=lambda n: -n)[0], *map(larger, xs, xs[1:])

    pipe = Pipeline.trace(p, batch_size=2)
    galatea_program.accepts(pipe)
    assert pipe.text.count("if ") == 7 and ", 2, " in pipe.text


def test_functions_that_python_calls_by_itself():
    fails(lambda: Scaled(number()).sign, "`sign` was left as it is", "a property")
    fails(lambda: Scaled(number()) + number("y"), "`__add__` was left as it is")


def test_nothing_is_changed_without_conditionals():
    def f():
        return larger(number(), number("y"))

    assert "    if external_source > external_source_2:\n" in Pipeline.trace(f, batch_size=2).text
    fails(f, "has no truth value", "if a > b:", conditionals=False)


def test_match(galatea_program):
    def p():
        x, kind = number(), ("scale", 3)
        match kind:
            case ("scale", k) if k > 2 and len(kind) == 2:
                x = x * k
        if flag():
            match kind:
                case {"k": k, **rest}:
                    y = x
                case [word, *rest]:
                    y = x + rest[0]
        else:
            y, rest = -x, [3]
        return y, rest[0]

    pipe = Pipeline.trace(p, batch_size=2)
    galatea_program.accepts(pipe)
    assert "y = x + 3" in pipe.text and "return y, 3" in pipe.text


def test_swap_keeps_values(galatea_program):
    @pipeline_def(batch_size=2)
    def p():
        a, b = number("a"), number("b")
        if flag():
            a, b = b, a
        return a, b

    pipe = p()
    galatea_program.accepts(pipe)
    assert "a, b = b, a" in pipe.text


def test_names_of_one_arm():
    def f():
        x = number()
        if flag():
            y = x + 1
            x = y
        return x

    assert body(f).count("if") == 1


def test_a_name_of_one_arm_is_no_other_nodes():
    """`out = x` gives no value where the `if` does not hold, though `x` has no other name."""

    def named_before(c, x):
        if c:
            out = x
        return out

    def named_in_the_other_arm(c, x):
        def step(x):
            out = x * 2
            return out - out * out

        if c:
            out = x
        else:
            x = step(x)
        return x, out

    for function in (named_before, named_in_the_other_arm):
        pipe = Pipeline.trace(lambda: function(flag(), number()), batch_size=2)
        with pytest.raises(GalateaError, match="`out.*not assigned on every path"):
            pipe.program()


def test_classes_closures_generators(galatea_program):
    class Augment:
        def __init__(self, by):
            self.by = by

        def __call__(self, x, c):
            return self.apply(x) if c else x

        def apply(self, x):
            if x > self.by:
                return x / self.by
            return x

    def decorated(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @decorated
    def clipped(x):
        return x if x < 1 else math.min(x, 1.0)

    def steps(x):
        for k in range(3):
            yield (lambda v, k=k: v + k if v > k else v)(x)

    @pipeline_def(batch_size=2)
    def p():
        x, c = number(), flag()
        augmented = [Augment(by)(x, c) for by in (2, 3)]
        partial = functools.partial(Augment(4), c=c)
        mapped = list(map(clipped, augmented))
        return *mapped, partial(x), *steps(x)

    galatea_program.accepts(p())


class Trainer:
    scale = 2.0

    @pipeline_def(batch_size=4)
    def pipe(self, more):
        x = number()
        if x > more:
            x = x * self.scale
        return x


def test_methods(galatea_program):
    pipe = Trainer().pipe(3, num_threads=2)
    galatea_program.accepts(pipe)
    assert "x * 2.0" in pipe.text and "num_threads=2" in pipe.text
