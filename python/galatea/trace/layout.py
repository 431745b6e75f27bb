"""Expressions as lines: what `galatea fmt` would write.

Comes in: trees of `expression`, names of nodes. Goes out: lines of at most 100 characters. Parts
that come from a place of their own stand between marks, which `unmark` turns into a map from the
text to places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from galatea.trace import expression as e

WIDTH = 100
_OPEN, _NUMBERED, _CLOSE = "\ue000", "\ue001", "\ue002"  # literals escape private characters
_MARK = re.compile(f"{_OPEN}[0-9]+{_NUMBERED}|{_CLOSE}")

# Higher binds tighter; `**` is seen from its left, where it binds tighter than a sign.
_PRECEDENCE = {"or": 2, "and": 3, "|": 6, "^": 7, "&": 8, "<<": 9, ">>": 9, "+": 10, "-": 10}
_PRECEDENCE |= {"*": 11, "/": 11, "//": 11, "%": 11, "**": 13}
_PRECEDENCE |= dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], 5)
_NOT, _SIGN, _ATOM, _CONDITIONAL, _LAMBDA = 4, 12, 20, 1, 0
_SIMPLE_POWER = re.compile(r"-?[A-Za-z_0-9.]+")


@dataclass(eq=False)
class Conditional(e.Expression):
    """`value if condition else other`."""

    value: e.Expression
    condition: e.Expression
    other: e.Expression

    def parts(self):
        return [self.value, self.condition, self.other]


@dataclass(eq=False)
class Marked(e.Expression):
    """An expression that stands for an operation of its own: number `mark`."""

    mark: int
    inner: e.Expression

    def parts(self):
        return [self.inner]


def mark(number: int, text: str) -> str:
    return f"{_OPEN}{number}{_NUMBERED}{text}{_CLOSE}"


def mark_ends(number: int) -> tuple[str, str]:
    """What stands before and behind a marked text."""
    return f"{_OPEN}{number}{_NUMBERED}", _CLOSE


def plain(text: str) -> str:
    return _MARK.sub("", text)


def width(text: str) -> int:
    return len(plain(text))


def unmarked(x):
    """What is within the marks."""
    while isinstance(x, Marked):
        x = x.inner
    return x


def unmark(lines: list[str]) -> tuple[list[str], list[tuple[int, int, int, int, int]]]:
    """Lines without marks, and (mark, line, column, end line, end column) of each, from 1."""
    clean, found, open_marks = [], [], []
    for number, line in enumerate(lines, 1):
        out, column, at = [], 1, 0
        for m in _MARK.finditer(line):
            out.append(line[at : m.start()])
            column += m.start() - at
            at = m.end()
            if m.group() == _CLOSE:
                index, first, begin = open_marks.pop()
                found.append((index, first, begin, number, column))
            else:
                open_marks.append((int(m.group()[1:-1]), number, column))
        out.append(line[at:])
        clean.append("".join(out))
    return clean, found


def rejoined(lines: list[str]) -> list[str]:
    """Lines that were moved to the left: what was split in three and fits by now is one line."""
    out: list[str] = []
    for line in lines:
        out.append(line)
        if len(out) < 3 or plain(line).strip()[:1] not in (")", "]", "}"):
            continue
        head, middle = out[-3], out[-2]
        depths = [len(each) - len(each.lstrip()) for each in (head, middle, line)]
        is_split = plain(head)[-1:] in ("(", "[", "{") and plain(middle)[-1:] != ","
        if is_split and [d - depths[0] for d in depths] == [0, 4, 0]:
            whole = head + middle.lstrip() + line.lstrip()
            if width(whole) <= WIDTH:
                out[-3:] = [whole]
    return out


class Layout:
    """Prints expressions; `names` gives the text's variable of a node."""

    def __init__(self, name_of):
        self.name_of = name_of

    def one_line(self, x: e.Expression) -> str:
        return self._print(x)[0]

    def _operand(self, x: e.Expression, least: int) -> str:
        text, precedence = self._print(x)
        return text if precedence >= least else f"({text})"

    def _arguments(self, arguments) -> list[str]:
        return [(f"{name}=" if name else "") + self.one_line(value) for name, value in arguments]

    def _print(self, x: e.Expression) -> tuple[str, int]:
        if isinstance(x, e.Literal):
            return x.text, _ATOM
        if isinstance(x, e.Use):
            return self.name_of(x.node), _ATOM
        if isinstance(x, Marked):
            text, precedence = self._print(x.inner)
            return mark(x.mark, text), precedence
        if isinstance(x, e.Call):
            return f"{x.callee}({', '.join(self._arguments(x.arguments))})", _ATOM
        if isinstance(x, e.Method):
            base = self._operand(x.base, _ATOM)
            return f"{base}.{x.name}({', '.join(self._arguments(x.arguments))})", _ATOM
        if isinstance(x, e.Attribute):
            return f"{self._operand(x.base, _ATOM)}.{x.name}", _ATOM
        if isinstance(x, e.Apply):
            base = self._operand(x.base, _ATOM)
            return f"{base}({', '.join(self._arguments(x.arguments))})", _ATOM
        if isinstance(x, e.Index):
            inside = ", ".join(self.one_line(part) for part in x.selectors)
            return f"{self._operand(x.base, _ATOM)}[{inside}]", _ATOM
        if isinstance(x, e.Slice):
            begin, end = (self.one_line(part) if part else "" for part in (x.begin, x.end))
            return f"{begin}:{end}" + (f":{self.one_line(x.step)}" if x.step else ""), _ATOM
        if isinstance(x, e.Display):
            return self._display(x), _ATOM
        if isinstance(x, e.Unary):
            if x.operator == "not":
                return f"not {self._operand(x.operand, _NOT)}", _NOT
            text, precedence = self._print(x.operand)
            powered = precedence == _PRECEDENCE["**"]
            return x.operator + (f"({text})" if precedence < _SIGN or powered else text), _SIGN
        if isinstance(x, e.Binary):
            return self._binary(x)
        if isinstance(x, e.Lambda):
            return f"lambda: {self.one_line(x.body)}", _LAMBDA
        assert isinstance(x, Conditional), type(x)
        value, condition = (
            self._operand(part, _CONDITIONAL + 1) for part in (x.value, x.condition)
        )
        return f"{value} if {condition} else {self._operand(x.other, _CONDITIONAL)}", _CONDITIONAL

    def _display(self, x: e.Display) -> str:
        parts = [self.one_line(part) for part in x.elements]
        if x.kind == "{":
            return "{" + ", ".join(f"{k}: {v}" for k, v in zip(x.keys, parts)) + "}"
        if x.kind == "[":
            return f"[{', '.join(parts)}]"
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"

    def _binary(self, x: e.Binary) -> tuple[str, int]:
        precedence = _PRECEDENCE[x.operator]
        if x.operator == "**":
            left, right = self._operand(x.left, precedence + 1), self._operand(x.right, _SIGN)
            simple = all(_SIMPLE_POWER.fullmatch(plain(side)) for side in (left, right))
            return (f"{left}**{right}" if simple else f"{left} ** {right}"), precedence
        # Comparisons would chain; equal operators group to the left.
        least = precedence + 1 if precedence == 5 else precedence
        left, right = self._operand(x.left, least), self._operand(x.right, precedence + 1)
        return f"{left} {x.operator} {right}", precedence

    # Lines.

    def lines(self, before: str, x: e.Expression, after: str, indent: int) -> list[str] | None:
        """`before x after`, split at its last bracket where it is too long; None: it cannot be."""
        pad = " " * indent
        line = f"{pad}{before}{self.one_line(x)}{after}"
        if width(line) <= WIDTH:
            return [line]
        marks = []
        while isinstance(x, Marked):
            marks.append(x.mark)
            x = x.inner
        begin = "".join(f"{_OPEN}{number}{_NUMBERED}" for number in marks)
        end = _CLOSE * len(marks)
        if isinstance(x, e.Call) and x.arguments:
            head, items, tail = f"{x.callee}(", list(x.arguments), ")"
        elif isinstance(x, e.Method) and x.arguments:
            base = self._operand(x.base, _ATOM)
            head, items, tail = f"{base}.{x.name}(", list(x.arguments), ")"
        elif isinstance(x, e.Apply) and x.arguments:
            head, items, tail = f"{self._operand(x.base, _ATOM)}(", list(x.arguments), ")"
        elif isinstance(x, e.Display) and x.elements:
            keys = [f"{key}: " for key in x.keys] or [""] * len(x.elements)
            items = list(zip(keys, x.elements))
            head, tail = x.kind, {"[": "]", "(": ")", "{": "}"}[x.kind]
        else:
            return None
        first = f"{pad}{before}{begin}{head}"
        if width(first) > WIDTH:
            return None
        is_display = isinstance(x, e.Display)

        def front(name: str) -> str:
            return name if is_display or not name else f"{name}="

        inner = " " * (indent + 4)
        body = inner + ", ".join(front(name) + self.one_line(value) for name, value in items)
        is_single_tuple = is_display and x.kind == "(" and len(items) == 1
        if width(body) <= WIDTH and not is_single_tuple:
            middle: list[str] = [body]
        else:
            middle = []
            for name, value in items:
                split = self.lines(front(name), value, ",", indent + 4)
                if split is None:
                    return None
                middle += split
        return [first, *middle, f"{pad}{tail}{end}{after}"]
