"""`if`, loops and words that depend on no data: Python's own meaning, step for step."""

import contextlib
import functools

import pytest

from galatea.trace.rewrite import call, changed


def python_cases():
    log = []

    def note(value, name="x"):
        log.append((name, value))
        return value

    def ifs(a, b):
        if note(a):
            x = "then"
        elif note(b, "b"):
            x = "elif"
        else:
            x = "else"
        y = note(a) and note(b) or note("z")
        return x, y, not a, a if b else note("other"), 0 < a < 5 < b, a == b

    def early(a, b):
        for i in range(5):
            if i == a:
                continue
            if i == b:
                break
            note(i)
        else:
            note("else")
        for i in range(5):
            if i == a:
                return ("first", i)
            try:
                if i == b:
                    return ("second", i)
            finally:
                note("finally")
        if a > 3:
            if b > 3:
                return "both"
            note("a alone")
        elif b:
            return "b alone"
        n = 0
        while True:
            n += 1
            if n > a:
                break
        return n

    def scopes(a, b):
        total = 0

        def add(n):
            nonlocal total
            if n > 1:
                total += n
            return total

        xs = [add(i) if i % 2 else -i for i in range(a + 3) if i != b]
        ys = {k: (lambda v: v + total)(k) for k in range(b)}
        if a:
            import os as renamed

            zs = renamed.sep
        else:
            zs = None
        with contextlib.suppress(ValueError):
            if b:
                raise ValueError
            total = -1
        try:
            unbound if a > 100 else del_me  # noqa: B018, F821
        except NameError as error:
            kind = type(error).__name__
        if a > 100:
            never = 1
        try:
            never
        except UnboundLocalError:
            kind += "!"
        return xs, ys, zs, total, kind

    def generator(a, b):
        def numbers():
            for i in range(a + b):
                if i % 2:
                    yield i
                elif i > 3:
                    return

        x = (m := a + b) and m
        return list(numbers()), x, sorted(range(a), key=lambda v: -v if b else v)

    class Base:
        def value(self):
            return 1 if self.a else 2

    class Private(Base):
        def __init__(self, a):
            self.a = a
            self.__secret = a

        def value(self):
            if self.__secret:
                return super().value() + 10
            return super().value()

    def methods(a, b):
        return [Private(a).value(), Private(b).value(), functools.partial(max, a)(b)]

    return log, [ifs, early, scopes, generator, methods]


@pytest.mark.parametrize("index", range(5))
@pytest.mark.parametrize("a", [0, 1, 2, 4, 7])
@pytest.mark.parametrize("b", [0, 1, 3, 6])
def test_python_stays_python(index, a, b):
    log, functions = python_cases()
    function = functions[index]
    expected = function(a, b), list(log)
    log.clear()
    new = changed(function)
    assert new is not function
    assert (new(a, b), list(log)) == expected
    log.clear()
    assert (call(function)(a, b), list(log)) == expected


def test_truth_is_asked_once():
    class Odd:
        asked = 0

        def __bool__(self):
            Odd.asked += 1
            return True

    def f(x):
        if x:
            pass
        return x and 1 or 2

    assert changed(f)(Odd()) == 1 and Odd.asked == 2
