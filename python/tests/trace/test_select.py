"""`galatea.select`: functions chosen by each sample, in the text and in batches."""

import functools
import linecache

import numpy as np
import pytest

import galatea
from galatea import fn, math, select, types
from galatea.pipeline import Pipeline
from galatea.trace.errors import TraceError
from trace_common import galatea_program  # noqa: F401


def number(name="x", dtype=types.FLOAT):
    return fn.external_source(name=name, dtype=dtype, ndim=0)


def index(name="i"):
    return number(name, types.INT32)


def trace(function):
    return Pipeline.trace(function, name="p", batch_size=8)


def body(pipe):
    return pipe.text[pipe.text.index("def p():\n") + len("def p():\n") :]


class Steps:
    """Methods, and an object that is called, as arms."""

    def __init__(self, by):
        self.by = by

    def grow(self, x):
        if x > self.by:
            x = x + self.by
        return x

    def __call__(self, x, more=0.0):
        return self.grow(x * 2) + more


ARMS = [
    lambda x: x,
    Steps(1.0).grow,
    Steps(3.0),
    functools.partial(Steps(2.0), more=0.5),
    math.sqrt,
    lambda x: x if x > 2 else -x,
]


def test_every_kind_of_function(galatea_program):
    pipe = trace(lambda: select(ARMS, index(), number()))
    galatea_program.accepts(pipe)
    # Python itself says what each sample gets: the arms are functions of numbers too.
    xs = np.array([0.25, 1.5, 2.5, 4.0] * 2, np.float32)
    for shift in range(len(ARMS)):
        chosen = [(shift + i) % len(ARMS) for i in range(len(xs))]
        wanted = [ARMS[i](float(x)) for i, x in zip(chosen, xs)]
        assert [select(ARMS, i, float(x)) for i, x in zip(chosen, xs)] == wanted
        session = galatea._c.Session(pipe.program(), synchronous=True)
        session.feed("i", [np.array(i, np.int32) for i in chosen], None)
        session.feed("x", list(xs), None)
        session.end_of_feed()
        found = galatea.Batch(session.next(-1), ["y"], len(xs))["y"].numpy()
        assert np.allclose(np.stack(found), wanted, rtol=1e-6), shift


def test_structures_merge_leaf_by_leaf(galatea_program):
    def p():
        x, i = number(), index()
        pair, options, same = select(
            [
                lambda v: ((v, 1), {"a": v, "tag": "t"}, 7),
                lambda v: ((v + 1, 2.5), {"a": -v, "tag": "t"}, 7),
            ],
            i,
            x,
        )
        assert options["tag"] == "t" and same == 7
        return *pair, options["a"], same

    pipe = trace(p)
    galatea_program.accepts(pipe)
    assert "pair_0, pair_1, options_a = select(" in pipe.text


def test_arms_read_what_is_around_them(galatea_program):
    def p():
        x, i = number(), index()
        y = x + 1

        def late(v):
            if v > 1:
                return v * y
            x = v - y
            return x

        x = select([late, lambda v: v * y], i % 2, x)
        y = select([late, late, lambda v: y], i % 3, x)
        return x, y

    pipe = trace(p)
    galatea_program.accepts(pipe)
    assert "def late():" in pipe.text and "lambda: x * y" in pipe.text


def test_unread_results_are_not_made(galatea_program):
    def p():
        i = index()
        # The second results could not be merged.
        a, _ = select([lambda: (i, i), lambda: (i + 1, fn.cast(i, dtype=types.FLOAT))], i)
        return a

    pipe = trace(p)
    galatea_program.accepts(pipe)
    assert "a = select(" in body(pipe) and "return value\n" in body(pipe)


def test_in_arms_of_branches_and_of_itself(galatea_program):
    def p():
        x, i = number(), index()
        if x > 1:

            def inner(v):
                return select([lambda: v, lambda: v * x], i % 2) if v > 2 else v

            x = select([inner, Steps(2.0)], i, x + 1)
        elif x > 0 and select([lambda: x < 2, lambda: x > 1], i):
            x = -x
        return x

    galatea_program.accepts(trace(p))


def test_an_index_that_is_known():
    def p():
        x = number()
        return select(ARMS, np.int64(1), x), select([lambda: x], False)

    assert "select(" not in trace(p).text
    assert select([lambda a, b=1: a + b], 0, 2, b=3) == 5


def fails(function, *words):
    with pytest.raises(TraceError) as caught:
        trace(function)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert "test_select.py:" in str(caught.value)


def test_misuse():
    with pytest.raises(TraceError, match="no function 2: there are 2"):
        select([abs, abs], 2, 1)
    with pytest.raises(TraceError, match="no function -1"):
        select([abs, abs], -1, 1)
    with pytest.raises(TraceError, match="no functions to choose from"):
        select([], 0)
    with pytest.raises(TraceError, match="element 1 .*`int`, which cannot be called"):
        select([abs, 3], 0)
    with pytest.raises(TraceError, match="the index of `select` is of type `float`"):
        select([abs], 0.0)
    with pytest.raises(TraceError, match="takes a list of functions"):
        select(3, 0)
    fails(lambda: select(number(), 0), "takes a list of functions")


def test_what_an_arm_may_not_do():
    kept = []

    def p():
        xs = []
        select([lambda v: xs.append(v), lambda v: v], index(), number())
        return number("y")

    fails(p, "`xs` was changed in function 0 of the `select`", "xs + [x]")

    def q():
        select([lambda v: kept.append(v + 1) or v, lambda v: v], index(), number())
        return kept[-1]

    fails(q, "in function 0 of the `select`")

    text = Pipeline.trace(lambda: (number(), select([lambda: 1, lambda: 1], index()))).text
    assert "select(" not in text

    def s():
        name = select([lambda: print, lambda: len], index())
        return name(number())

    fails(s, "`builtin_function_or_method`", "`select` on data")

    def t():
        def bad():
            raise ValueError

        try:
            select([bad, bad], index())
        except ValueError:
            pass
        return number()

    fails(t, "an exception left an arm")


def test_places_of_arms():
    def p():
        x = number()
        return select(
            [
                lambda: fn.cast(x, dtype=types.FLOAT, seeed=1),  # wrong: the name
                lambda: x,
            ],
            index(),
        )

    (found,) = trace(p).check()
    assert "# wrong: the name" in linecache.getline(__file__, found.line)
    assert found.file == __file__


def test_an_index_outside_is_an_error_of_the_sample():
    pipe = trace(lambda: select([lambda: number(), lambda: 1.0], index()))
    session = galatea._c.Session(pipe.program(), synchronous=True)
    session.feed("i", [np.array(5, np.int32)], None)
    session.feed("x", [np.array(5, np.float32)], None)
    session.end_of_feed()
    with pytest.raises(galatea.GalateaError, match="5"):
        session.next(-1)
