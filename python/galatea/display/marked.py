"""Texts with marks: messages of errors and pipelines, coloured for terminals and for notebooks.

A marked text is a list of (mark, part); the parts together are the text. Marks are the names of
`ANSI`: what the command line colours has its colours.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from html import escape

__all__ = ["ansi", "html", "of_message", "of_source"]

Marked = list[tuple[str, str]]

ANSI = {
    "": "",
    "error": "\033[1;31m",
    "warning": "\033[1;33m",
    "note": "\033[1;32m",
    "margin": "\033[1;34m",
    "strong": "\033[1m",
    "help": "\033[1;36m",
    "keyword": "\033[34m",
    "string": "\033[32m",
    "comment": "\033[2m",
    "number": "\033[36m",
    "decorator": "\033[35m",
}

_HEAD = re.compile(r"(error|warning|note)(\[G\d+\])?: ")
_CODE = re.compile(r"\s*(\d*)\s+\|")
_UNDERLINE = re.compile(r"\^[^-]*|-[^^]*|[^^-]+")
_HINT = re.compile(r"(\s+= )(help|note): ")


def of_message(text: str) -> Marked:
    """What `str()` of an error gives, with marks: severities, places, carets, notes, help."""
    marked: Marked = []
    severity = "error"
    for line in text.splitlines(keepends=True):
        if head := _HEAD.match(line):
            severity = head[1]
            marked += [(severity, head[0][:-2]), ("strong", line[len(head[0]) - 2 :])]
        elif line.lstrip().startswith("--> "):
            before, arrow, place = line.partition("--> ")
            marked += [("margin", before + arrow), ("", place)]
        elif hint := _HINT.match(line):
            mark = "help" if hint[2] == "help" else "strong"
            marked += [("margin", hint[1]), (mark, f"{hint[2]}: "), ("", line[hint.end() :])]
        elif code := _CODE.match(line):
            rest = line[code.end() :]
            marked.append(("margin", code[0]))
            if code[1]:
                marked.append(("", rest))
            else:  # places of the line above, underlined: the first one by ^, others by -
                marks = {"^": severity, "-": "margin"}
                marked += [(marks.get(part[0], ""), part) for part in _UNDERLINE.findall(rest)]
        else:
            marked.append(("", line))
    return marked


def of_source(text: str) -> Marked:
    """A text of the language with marks: its words are Python's."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    marked: Marked = []
    done = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            mark = _mark_of(token)
            if not mark:
                continue
            begin = starts[token.start[0] - 1] + token.start[1]
            end = starts[token.end[0] - 1] + token.end[1]
            marked += [("", text[done:begin]), (mark, text[begin:end])]
            done = end
    except (tokenize.TokenError, SyntaxError):
        pass  # what is behind stays plain
    marked.append(("", text[done:]))
    return marked


def _mark_of(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type == tokenize.STRING:
        return "string"
    if token.type == tokenize.NUMBER:
        return "number"
    if (
        token.type == tokenize.OP
        and token.string == "@"
        and not token.line[: token.start[1]].strip()
    ):
        return "decorator"
    return "keyword" if token.type == tokenize.NAME and keyword.iskeyword(token.string) else ""


def ansi(marked: Marked) -> str:
    """For a terminal; notebooks show such text in colours, too."""
    parts = []
    for mark, text in marked:
        body = text.rstrip("\n")
        parts.append(f"{ANSI[mark]}{body}\033[0m{text[len(body):]}" if mark and body else text)
    return "".join(parts)


def html(marked: Marked) -> str:
    """For a page, inside of <pre>."""
    return "".join(
        f'<span class="{mark}">{escape(text)}</span>' if mark and text.strip() else escape(text)
        for mark, text in marked
    )
