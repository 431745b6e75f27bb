"""Expressions of a text: small trees whose leaves are nodes and literals.

Comes in: what the user's code did. Goes out: trees that `writer` prints. Every tree lists the
nodes that it reads in the order in which the text evaluates them.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class Expression:
    """Base of all expressions."""

    def parts(self) -> list["Expression"]:
        return []

    def nodes(self):
        """Nodes that the expression reads, from left to right, with repetitions."""
        for part in self.parts():
            yield from part.nodes()


@dataclass(eq=False)
class Literal(Expression):
    """A text that stands for itself: a number, a string, a name."""

    text: str


@dataclass(eq=False)
class Use(Expression):
    """The value of a node."""

    node: object

    def nodes(self):
        yield self.node


@dataclass(eq=False)
class Call(Expression):
    """`callee(arguments)`; an argument's name is "" where it is given by position."""

    callee: str
    arguments: list[tuple[str, Expression]] = field(default_factory=list)

    def parts(self):
        return [value for _, value in self.arguments]


@dataclass(eq=False)
class Load(Call):
    """`np.load(name)` of an array beside the text."""

    array: object = None


@dataclass(eq=False)
class Method(Expression):
    """`base.name(arguments)`."""

    base: Expression
    name: str
    arguments: list[tuple[str, Expression]] = field(default_factory=list)

    def parts(self):
        return [self.base] + [value for _, value in self.arguments]


@dataclass(eq=False)
class Attribute(Expression):
    """`base.name`."""

    base: Expression
    name: str

    def parts(self):
        return [self.base]


@dataclass(eq=False)
class Apply(Expression):
    """`base(arguments)`: a value of the text that is called; `base` keeps its name."""

    base: Expression
    arguments: list[tuple[str, Expression]] = field(default_factory=list)

    def parts(self):
        return [self.base] + [value for _, value in self.arguments]


@dataclass(eq=False)
class Binary(Expression):
    """`left operator right`."""

    operator: str
    left: Expression
    right: Expression

    def parts(self):
        return [self.left, self.right]


@dataclass(eq=False)
class Unary(Expression):
    """`operator operand`; the operator is -, +, ~ or "not"."""

    operator: str
    operand: Expression

    def parts(self):
        return [self.operand]


@dataclass(eq=False)
class Slice(Expression):
    """`begin:end:step` inside brackets; a part that is not given is None."""

    begin: Expression | None
    end: Expression | None
    step: Expression | None

    def parts(self):
        return [part for part in (self.begin, self.end, self.step) if part is not None]


@dataclass(eq=False)
class Index(Expression):
    """`base[selectors]`."""

    base: Expression
    selectors: list[Expression]

    def parts(self):
        return [self.base, *self.selectors]


@dataclass(eq=False)
class Display(Expression):
    """A list, tuple or dict: `kind` is "[", "(" or "{"; keys are texts of literals."""

    kind: str
    elements: list[Expression]
    keys: list[str] = field(default_factory=list)

    def parts(self):
        return self.elements


@dataclass(eq=False)
class Lambda(Expression):
    """`lambda: body`."""

    body: Expression

    def parts(self):
        return [self.body]
