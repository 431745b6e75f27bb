"""What one run of a function recorded: statements in blocks, in the order of the run.

Comes in: operations on nodes. Goes out: a tree of statements for `writer`. The recorder knows no
operator and no type: what is wrong with an operation is said when the text is compiled.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from galatea.trace import place as places
from galatea.trace.definitions import Definitions
from galatea.trace.errors import TraceError
from galatea.trace.expression import Expression, Use
from galatea.trace.node import Node
from galatea.trace.place import Place


@dataclass(eq=False)
class Block:
    """Statements of a path: the whole function, or an arm."""

    parent: "Block | None"
    statements: list = field(default_factory=list)
    what: str = "the pipeline"

    def inside(self, other: "Block") -> bool:
        """Whether this block is `other` or stands in it."""
        block: Block | None = self
        while block is not None:
            if block is other:
                return True
            block = block.parent
        return False


@dataclass(eq=False)
class Operation:
    """`outputs = expression`."""

    outputs: list[Node]
    expression: Expression
    place: Place | None
    is_tuple: bool = False
    origin: Any = None  # what else made it, for a recorder that takes it in


@dataclass(eq=False)
class Branch:
    """`if condition:` with two arms; each merge is (result, value in then, value in otherwise).

    A value is an expression, or None where the arm assigned nothing.
    """

    condition: Expression
    then: Block
    otherwise: Block
    place: Place | None
    merges: list[tuple[Node, Expression | None, Expression | None]] = field(default_factory=list)


@dataclass(eq=False)
class Choice:
    """A lazy expression: `left and right`, `left or right`, `right if left else other`.

    `right` and `other` are blocks with the value that they end in.
    """

    result: Node
    kind: str
    left: Expression
    right: Block
    right_value: Expression
    place: Place | None
    other: Block | None = None
    other_value: Expression | None = None


@dataclass(eq=False)
class Selection:
    """`outputs = select([arms], index)`; an arm is a block and a value for each of the outputs."""

    outputs: list[Node]
    index: Expression
    arms: list[tuple[Block, list[Expression]]]
    names: list[str]
    place: Place | None


_current = threading.local()


class Recorder:
    """Records one run. Used as a context: what runs inside it is recorded."""

    node_class = Node

    def __init__(self, name: str):
        self.name = name
        self.body = Block(None)
        self.block = self.body
        self.open_branches: list = []  # of control.If and control.Side, innermost last
        self.definitions = Definitions(self)
        self.constants: dict[str, Any] = {}
        self.constant_names: dict[Any, str] = {}
        self.imports: set[str] = set()
        self.modules: dict[str, set[str]] = {}  # module: names imported from it, "x as y" too
        self.sources: list = []
        self.input_names: set[str] = set()
        self.result: Expression | None = None
        self.result_place: Place | None = None
        self.finished = False
        self.conditionals = True

    def __enter__(self):
        stack = getattr(_current, "stack", None)
        if stack is None:
            stack = _current.stack = []
        stack.append(self)
        return self

    def __exit__(self, *_):
        _current.stack.pop()
        self.finished = True

    @contextmanager
    def for_all_samples(self):
        """What is recorded here is made for all samples, also where an arm of an `if` asks for it."""
        block, self.block = self.block, self.body
        try:
            yield
        finally:
            self.block = block

    def add(
        self, expression: Expression, outputs: int | None = None, place: Place | None = None
    ) -> Any:
        """Records `expression`; gives its node, or a tuple where `outputs` is a number."""
        if place is None:
            place = places.caller()
        for node in expression.nodes():
            self.check(node, place)
        kind = self.node_class
        made = [kind(self, self.block, place) for _ in range(1 if outputs is None else outputs)]
        operation = Operation(made, expression, place, outputs is not None)
        for node in made:
            node.operation = operation
        self.block.statements.append(operation)
        return made[0] if outputs is None else tuple(made)

    def node(self, place: Place | None) -> Node:
        """A node of the current block that no operation makes: what branches merge into."""
        return self.node_class(self, self.block, place)

    def active(self) -> "Recorder":
        """Where an operation on a node of this recorder is recorded."""
        return self

    def own(self, node: Node, place: Place | None) -> Node:
        """`node` as one of this recorder's; raises where it may not be read here."""
        self.check(node, place)
        return node

    def check(self, node: Node, place: Place | None) -> None:
        """Raises where `node` may not be read here."""
        if node.recorder is not self:
            raise TraceError(
                "this data node belongs to another pipeline",
                place,
                "make it in the function that uses it; nodes exist while one pipeline is traced",
            )
        if not self.block.inside(node.block):
            raise TraceError(
                f"this data node was made at {node.place}, in {node.block.what}, and exists for "
                "the samples of that path only",
                place,
                "assign it to a variable in both arms; lists and objects from outside an arm "
                "cannot be changed in it",
            )

    def open(self, what: str, condition: Node | None, holds: bool) -> Block:
        """Begins a path; what is recorded from now on belongs to it.

        It is that of the samples for which `condition` holds, or does not; None: it is chosen by an
        index.
        """
        self.block = Block(self.block, what=what)
        return self.block

    def close(self, block: Block) -> None:
        """Ends the path."""
        if self.block is not block:
            raise TraceError("a path ended in another one than it began in", places.caller())
        assert block.parent is not None
        self.block = block.parent

    def finish(self, statement: "Branch | Choice | Selection") -> None:
        """Records what the paths that ended belong to."""
        self.block.statements.append(statement)

    def value(self, value: Any, place: Place | None = None, functions: bool = False) -> Expression:
        """A Python value as an expression: a node, or a literal of the language.

        With `functions`, Python functions become definitions of the text.
        """
        from galatea.trace.literals import expression_of

        return expression_of(self, value, place, functions)

    def constant(self, value: Any, place: Place | None = None) -> Expression:
        """What an arm of a branch gives: a node, or a value that becomes one there."""
        return self.value(value, place)


def current() -> Recorder | None:
    """The recorder of the function that is traced on this thread; None outside."""
    stack = getattr(_current, "stack", None)
    return stack[-1] if stack else None


def require(what: str) -> Recorder:
    """The current recorder; an error that names `what` outside of a pipeline."""
    recorder = current()
    if recorder is None:
        raise TraceError(
            f"{what} is called outside of a pipeline",
            places.caller(),
            "call it in a function below `@galatea.pipeline_def`: operators say what is to be "
            "computed, and run when batches are asked for",
        )
    return recorder


def use(node: Node) -> Expression:
    return Use(node)
