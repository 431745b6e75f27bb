"""A part of a Python file, with edits, as a part of the text.

Comes in: a definition in a file, and what is to stand in place of some of its names. Goes out: its
lines, moved to the left margin, and for each part of them the place in the file.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from dataclasses import dataclass

from galatea.trace.errors import TraceError
from galatea.trace.place import Place

_WORD = re.compile(r"\w+")
_BLANKS = re.compile(r"[ \t\f]*")
_TAB = 8


@dataclass
class Edit:
    """`text` in place of what stands from `begin` to `end`, offsets in the excerpt."""

    begin: int
    end: int
    text: str


class Excerpt:
    """The source of one definition."""

    def __init__(self, file: str, lines: list[str], definition):
        self.file = file
        self.first = definition.lineno
        own = lines[self.first - 1 : definition.end_lineno]
        self._lines = [line.rstrip("\r\n") for line in own]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.text = "\n".join(self._lines)
        self.definition = definition
        self._begin = self.offset(definition.lineno, definition.col_offset)
        self._end = self.offset(definition.end_lineno, definition.end_col_offset)
        if not isinstance(definition, ast.Lambda) and self.text[self._end :].strip()[:1] == "#":
            self._end = len(self.text)  # the comment behind its end
        self.begin = (definition.lineno, definition.col_offset)
        self._edits: list[Edit] = []

    # Places.

    def offset(self, line: int, byte: int) -> int:
        text = self._lines[line - self.first]
        characters = byte if text.isascii() else len(text.encode()[:byte].decode())
        return self._starts[line - self.first] + characters

    def _span(self, first: ast.AST, last: ast.AST) -> tuple[int, int]:
        return (
            self.offset(first.lineno, first.col_offset),
            self.offset(last.end_lineno, last.end_col_offset),
        )

    def source(self, first: ast.AST, last: ast.AST) -> str:
        begin, end = self._span(first, last)
        return self.text[begin:end]

    def _position(self, offset: int) -> tuple[int, int]:
        """Line of the file and column, from 1."""
        index = bisect_right(self._starts, offset, hi=len(self._lines)) - 1
        return self.first + index, offset - self._starts[index] + 1

    def _place(self, begin: int, end: int) -> Place:
        return Place(self.file, *self._position(begin), *self._position(end))

    def place(self, node: ast.AST) -> Place:
        return self._place(*self._span(node, node))

    # Edits.

    def edit(self, first: ast.expr, last: ast.expr, text: str) -> Edit | None:
        """`text` in place of what stands from one expression to the end of another.

        None where the same stands there.
        """
        begin, end = self._span(first, last)
        there = self.text[begin:end]
        if isinstance(first, ast.Name) and not there.startswith(first.id):
            # Before Python 3.12 some parts of f-strings have no places.
            if first is last and text == first.id:
                return None
            raise TraceError(
                f"`{first.id}` in an f-string stands for `{text}`, which is another name there",
                Place(self.file, first.lineno),
                "assign it to a variable before, and use that one in the f-string",
            )
        return Edit(begin, end, text)

    def name_of_definition(self, definition, name: str) -> Edit:
        begin = self.offset(definition.lineno, definition.col_offset)
        begin = self.text.index(definition.name, begin + len("def"))
        return Edit(begin, begin + len(definition.name), name)

    def is_split(self) -> bool:
        return "\n" in self.text[self._begin : self._end]

    def apply(self, edits: list[Edit]) -> None:
        """Has `lines` show the edits, and the definition at the left margin."""
        inside: set[int] = set()  # lines that begin inside of a string
        for node in ast.walk(self.definition):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
            if is_text or isinstance(node, ast.JoinedStr):
                inside |= set(range(node.lineno + 1, node.end_lineno + 1))
        margin = len(_blanks(self._lines[0]).expandtabs(_TAB))
        moves = []
        for index, line in enumerate(self._lines):
            number = self.first + index
            before = _blanks(line)
            after = before.expandtabs(_TAB)[margin:]
            start = self._starts[index]
            if number not in inside and before != after and start >= self._begin:
                moves.append(Edit(start, start + len(before), after))
        self._edits = sorted([*moves, *edits], key=lambda edit: edit.begin)

    # The text.

    def lines(
        self, before: str, after: str
    ) -> tuple[list[str], list[tuple[tuple[int, int, int, int], Place]]]:
        """The lines, and their ranges with the places that they come from, from 1."""
        parts, at, begins, shifts = [before], self._begin, [], []
        length = len(before)
        for edit in self._edits:
            parts += [self.text[at : edit.begin], edit.text]
            length += edit.begin - at
            begins.append((edit.begin, edit.end, length, length + len(edit.text)))
            length += len(edit.text)
            at = edit.end
        parts += [self.text[at : self._end], after]
        text = "".join(parts)
        edges = [begin for begin, _, _, _ in begins]

        def moved(offset: int, is_end: bool) -> int:
            index = bisect_right(edges, offset) - 1
            if index < 0:
                return offset - self._begin + len(before)
            begin, end, new_begin, new_end = begins[index]
            if is_end and offset == begin:
                return new_begin
            if offset >= end:
                return new_end + offset - end
            return new_end if is_end else new_begin

        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)

        def position(offset: int) -> tuple[int, int]:
            index = bisect_right(starts, offset, hi=len(starts) - 1) - 1
            return index + 1, offset - starts[index] + 1

        spans = {self._span(node, node) for node in ast.walk(self.definition) if _has_place(node)}
        for match in _WORD.finditer(self.text, self._begin, self._end):
            spans.add(match.span())
        for index, line in enumerate(self._lines):
            start = max(self._starts[index] + len(_blanks(line)), self._begin)
            end = min(self._starts[index + 1] - 1, self._end)
            if start < end:
                spans.add((start, end))
        ranges = []
        for begin, end in sorted(spans):
            there = (*position(moved(begin, False)), *position(moved(end, True)))
            ranges.append((there, self._place(begin, end)))
        return [line.rstrip() if not line.strip() else line for line in text.split("\n")], ranges


def _blanks(line: str) -> str:
    match = _BLANKS.match(line)
    return match.group() if match else ""


def _has_place(node: ast.AST) -> bool:
    return getattr(node, "end_col_offset", None) is not None
