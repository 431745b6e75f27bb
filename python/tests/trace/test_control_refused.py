"""Control flow on data that the text cannot say: the error, its line and the way out."""

import contextlib

import numpy as np
import pytest

from galatea import Loader, fn, types
from galatea.pipeline import Pipeline, do_not_convert, pipeline_def
from galatea.trace.errors import TraceError
from trace_common import galatea_program  # noqa: F401
from trace_common import fails, number


def test_while():
    def f():
        x = number()
        while x > 1:
            x = x - 1
        return x

    fails(f, "`while` cannot depend on data", "while x > 1:", "break")


def test_while_left_by_data():
    def f():
        x = number()
        while True:
            x = x - 1
            if x < 1:
                break
        return x

    fails(f, "`while` cannot depend on data")


def test_return_in_a_loop():
    def f():
        x = number()
        for i in range(3):
            if x > i:
                return x + i
        return x

    fails(f, "`return` in a loop", "break")


def test_changed_list():
    def f():
        x, xs = number(), []
        if x > 1:
            xs.append(x)
        return x, *xs

    fails(f, "`xs` was changed in an arm", "xs + [x]", "xs.append(x)")


def test_changed_parts():
    def f():
        x, parts = number(), {"a": {"b": [1]}, "seen": {2}}
        if x > 1:
            parts["a"]["b"].append(x)
        return x, *parts["a"]["b"]

    fails(f, "`parts['a']['b']` was changed in an arm")

    def g():
        x, seen = number(), {2}
        if x > 1:
            seen.add(3)
        return x

    fails(g, "`seen` was changed in an arm")


def test_attribute_of_one_arm():
    class Holder:
        def fill(self, y):
            self.z = y

    def f():
        x, holder = number(), Holder()
        if x > 1:
            holder.y = x + 1
        return holder.y

    (found,) = Pipeline.trace(f, batch_size=2).check()
    assert found.code == "G0303" and "holder_y" in found.message

    def g():
        x, holder = number(), Holder()
        if x > 1:
            holder.fill(x + 1)
        return holder.z

    fails(g, "in the first arm of the `if`")


def test_yield_in_an_arm():
    def f():
        def parts(x):
            if x > 1:
                yield x
            yield x + 1

        return tuple(parts(number()))

    fails(f, "`yield` leaves the `if` on data")


def test_return_through_try():
    def f():
        x = number()
        if x > 1:
            try:
                return x
            finally:
                pass
        return x + 1

    fails(f, "`return` leaves the `if` on data")


def test_caught_outside():
    def f():
        x = number()
        try:
            if x > 1:
                raise ValueError
        except ValueError:
            pass
        return x

    fails(f, "an exception left an arm")


total = 0


def test_global():
    def f():
        global total
        x = number()
        if x > 1:
            total = x
        return x

    fails(f, "global variable `total`")


def test_unmergeable():
    def f():
        x = number()
        if x > 1:
            helper = f
        else:
            helper = fails
        return helper(x)

    fails(f, "`helper`", "`if` on data")


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda x: [i for i in range(3) if x > i], ["`if` in a comprehension", "for the element"]),
        (lambda x: x > 1 and (y := x) > 2 and y, ["`and` before `:=`", "in a statement before"]),
        (lambda x: (y := 1) if x > 1 else 2, ["with `:=`", "in a statement before"]),
        (lambda x: max(x, 1), ["`max` needs values", "math.max(x, y)"]),
        (lambda x: any(x > i for i in range(2)), ["`any` needs values", "a or b"]),
        (lambda x: sorted([x, 1]), ["`sorted` needs values"]),
        (lambda x: bool(x), ["`bool` needs values", "x != 0"]),
    ],
)
def test_what_needs_values_now(use, words):
    fails(lambda: use(number()), *words)


def test_statements_that_need_values_now():
    def asserted():
        assert number() > 1
        return number("y")

    def guarded():
        x = number()
        match 1:
            case 1 if x > 1:
                return x
        return x + 1

    def suppressed():
        x = number()
        with contextlib.suppress(ValueError):
            if x > 1:
                raise ValueError
        return x

    def lazy():
        def bad():
            raise ValueError

        with contextlib.suppress(ValueError):
            return number() > 1 and bad()
        return number("y")

    fails(asserted, "`assert` cannot depend on data", "on_error")
    fails(guarded, "`if` of a `case` cannot depend on data", "`elif`")
    fails(suppressed, "an exception left an arm")
    fails(lazy, "an exception left an arm")


def test_what_cannot_merge_may_meet_again(galatea_program):
    def p():
        x = number()
        for i in range(2):
            if x > i:

                def helper(v):
                    return v + i

                x = helper(x)
        return x

    galatea_program.accepts(Pipeline.trace(p, batch_size=2))


def test_left_alone():
    @do_not_convert
    def helper(x):
        return 1 if x > 1 else 2

    def f():
        return helper(number())

    fails(f, "has no truth value")

    def g():
        x = number()
        if x > 1:
            x = x + 1
        return x

    fails(g, "enable_conditionals=True", conditionals=False)


def test_without_source():
    names = {"number": number}
    exec("def f():\n    x = number()\n    return x if x > 1 else 0\n", names)
    with pytest.raises(TraceError, match="`f` was left as it is: its source is not there"):
        Pipeline.trace(names["f"], batch_size=2)


def test_a_source_in_an_arm_gives_whole_batches():
    @pipeline_def(batch_size=3, num_threads=1)
    def chosen():
        first = fn.external_source(source=[[np.bool_(k % 2) for k in range(3)]] * 2)
        if first:
            value = fn.external_source(source=[[np.int32(k) for k in range(3)]] * 2)
        else:
            value = types.Constant(np.int32(7))
        return value

    with Loader(chosen()) as loader:
        assert [batch[0].numpy().tolist() for batch in loader] == [[7, 1, 7]] * 2
