"""Names of a function that it does not assign itself.

Comes in: the syntax tree of a definition. Goes out: where it reads names from outside, with the
attributes that are read of them (`settings.size`), and all names that some scope in it assigns.
Annotations are no part of it: the language does not evaluate them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from galatea.trace.exits import assigned, walk


@dataclass
class Outside:
    """A name from outside: its node, then those of attributes read of it, each around the last."""

    nodes: list[ast.expr]

    @property
    def name(self) -> str:
        first = self.nodes[0]
        assert isinstance(first, ast.Name)
        return first.id


@dataclass
class Scopes:
    """What a definition reads from outside, in the order of the source, and what it assigns."""

    outside: list[Outside] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


def scopes_of(definition: ast.FunctionDef | ast.Lambda) -> Scopes:
    found = Scopes()
    _Reader(found).function(definition)
    found.outside.sort(key=lambda use: (use.nodes[0].lineno, use.nodes[0].col_offset))
    return found


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    rest = [arguments.vararg, arguments.kwarg]
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return named + [each for each in rest if each is not None]


class _Reader(ast.NodeVisitor):
    def __init__(self, found: Scopes):
        self.found = found
        self.scopes: list[set[str]] = []

    def _inside(self, names: set[str], *parts) -> None:
        self.found.bound |= names
        self.scopes.append(names)
        for part in parts:
            self.visit(part)
        self.scopes.pop()

    def function(self, node) -> None:
        """Parameters and body; defaults and decorators belong to the scope around."""
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        names = {each.arg for each in parameters(node.args)} | set(assigned(body))
        for inner in walk(body):
            if isinstance(inner, (ast.Global, ast.Nonlocal)):
                names -= set(inner.names)
        self._inside(names, *body)

    def _defined(self, node) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for decorator in getattr(node, "decorator_list", ()):
            self.visit(decorator)
        self.function(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _defined

    def _comprehension(self, node) -> None:
        self.visit(node.generators[0].iter)
        names = {
            inner.id
            for generator in node.generators
            for inner in ast.walk(generator.target)
            if isinstance(inner, ast.Name)
        }
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inside = [part for generator in node.generators for part in generator.ifs]
        inside += [generator.iter for generator in node.generators[1:]]
        self._inside(names, *inside, *elements)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_AnnAssign(self, node) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def _is_free(self, name: str) -> bool:
        return not any(name in scope for scope in self.scopes)

    def visit_Name(self, node) -> None:
        if isinstance(node.ctx, ast.Load) and self._is_free(node.id):
            self.found.outside.append(Outside([node]))

    def visit_Attribute(self, node) -> None:
        chain: list[ast.expr] = [node]
        while isinstance(chain[0], ast.Attribute):
            chain.insert(0, chain[0].value)
        first = chain[0]
        if not isinstance(first, ast.Name):
            self.visit(first)
        elif self._is_free(first.id):
            self.found.outside.append(Outside(chain))
