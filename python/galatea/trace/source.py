"""The source of functions: the syntax tree that a function's code was made from.

Comes in: a Python function. Goes out: its definition in the syntax tree of its file, and the class
around it. A file that was changed since its functions were made is another program: its trees are
compared with the code that runs.
"""

from __future__ import annotations

import ast
import importlib.machinery
import linecache
import types
from dataclasses import dataclass, field
from typing import Iterator

from galatea.trace.exits import ASK

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Missing(Exception):
    """Why a function's source cannot be used."""


@dataclass
class _File:
    """A file as it is now."""

    lines: list[str]
    # Each with the class around it, by its first line, decorators included.
    definitions: dict[int, list[tuple[Definition, str]]] = field(default_factory=dict)
    codes: dict[tuple[str, int], list[types.CodeType]] = field(default_factory=dict)


_files: dict[str, _File] = {}


def _file(file: str) -> _File | None:
    lines = linecache.getlines(file)
    if not lines:
        return None
    known = _files.get(file)
    if known is not None and known.lines == lines:
        return known
    try:
        tree = ast.parse("".join(lines))
        known = _File(lines)
        # What a notebook's cell may hold beside modules.
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        whole = compile("".join(lines), file, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node, owner in _with_classes(tree):
        if isinstance(node, Definition):
            known.definitions.setdefault(_first_line(node), []).append((node, owner))
    for code in _codes(whole):
        known.codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    _files[file] = known
    return known


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _is_changed(code: types.CodeType) -> bool:
    """Whether `rewrite` made the code: its source was compared before."""
    return any(ASK in (*each.co_freevars, *each.co_names) for each in _codes(code))


def _is_same(now: types.CodeType, code: types.CodeType) -> bool:
    """Whether code compiled from the file as it is now is the code that runs."""
    if now.co_code != code.co_code or now.co_names != code.co_names:
        return False
    if now.co_varnames != code.co_varnames or now.co_freevars != code.co_freevars:
        return False
    if len(now.co_consts) != len(code.co_consts):
        return False
    for a, b in zip(now.co_consts, code.co_consts):
        if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
            if not _is_same(a, b):
                return False
        elif type(a) is not type(b) or repr(a) != repr(b) and a != b:
            return False
    return True


def _is_within(now: types.CodeType, code: types.CodeType) -> bool:
    """The same where an import hook may have added to the code (pytest's assertions do)."""
    return set(now.co_names) <= set(code.co_names) and set(now.co_varnames) <= set(code.co_varnames)


def _check(file: _File, function: types.FunctionType) -> bool:
    code = function.__code__
    if _is_changed(code):
        return True
    loader = function.__globals__.get("__loader__")
    plain = loader is None or type(loader) is importlib.machinery.SourceFileLoader
    same = _is_same if plain else _is_within
    candidates = file.codes.get((code.co_name, code.co_firstlineno), [])
    return any(same(candidate, code) for candidate in candidates)


@dataclass
class Source:
    """Where a function is defined: the tree, the class around it ("": none), the file's lines."""

    definition: Definition
    owner: str
    lines: list[str]


_found: dict[int, tuple[types.CodeType, Source]] = {}  # by the code's id, which it keeps


def find(function: types.FunctionType) -> Source:
    """The source of a function; raises Missing where it is not there, or is another one by now."""
    code = function.__code__
    known = _found.get(id(code))
    if known is None:
        known = _found[id(code)] = code, _look(function)
    return known[1]


def _look(function: types.FunctionType) -> Source:
    code = function.__code__
    for attempt in (1, 2):
        file = _file(code.co_filename)
        if file is None:
            raise Missing("its source is not there")
        if _check(file, function):
            break
        if attempt == 2:
            raise Missing(f"its file {code.co_filename} was changed after the function was made")
        linecache.checkcache(code.co_filename)
    on_line = file.definitions.get(code.co_firstlineno, [])
    found = [(node, owner) for node, owner in on_line if _is_definition(node, code)]
    if len(found) > 1 and hasattr(code, "co_positions"):
        # Of lambdas that end together the inner one is the one whose body the code is.
        found = [max(found, key=lambda each: (each[0].lineno, each[0].col_offset))]
    if not found:
        raise Missing("its source is not there")
    if len(found) > 1:
        raise Missing(f"line {code.co_firstlineno} has several functions like it")
    return Source(*found[0], file.lines)


def _with_classes(node: ast.AST, owner: str = "") -> Iterator[tuple[ast.AST, str]]:
    """All nodes with the name of the class around them, which private names (`__x`) carry."""
    for child in ast.iter_child_nodes(node):
        yield child, owner
        yield from _with_classes(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _first_line(node: Definition) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _is_definition(node: Definition, code: types.CodeType) -> bool:
    """Whether the code is of a definition that begins on its first line."""
    if code.co_name == "<lambda>":
        if not isinstance(node, ast.Lambda):
            return False
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        names += [a.arg for a in node.args.kwonlyargs]
        count = code.co_argcount + code.co_kwonlyargcount
        return list(code.co_varnames[:count]) == names and _is_place(node, code)
    return not isinstance(node, ast.Lambda) and node.name == code.co_name


def _is_place(node: ast.Lambda, code: types.CodeType) -> bool:
    """Where two lambdas stand on a line, positions tell them apart (Python 3.11 and newer)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return True
    places = [p for p in positions() if None not in p and p[1] - p[0] >= 0 and p[2:] != (0, 0)]
    if not places:
        return True
    first = min(places, key=lambda p: (p[0], p[2]))
    last = max(places, key=lambda p: (p[1], p[3]))
    end = (node.body.end_lineno, node.body.end_col_offset)
    begins_inside = (first[0], first[2]) >= (node.body.lineno, node.body.col_offset)
    return begins_inside and (last[1], last[3]) == end
