"""A record that calls functions of Python, cut into programs between which they are called.

Comes in: the statements that tracing recorded. Goes out: a `Plan` of steps, each of which is a
program, a call of a function, or an `if` on data with a plan for each arm. A statement belongs to
the earliest program that can compute it: readers, external inputs and draws, which depend on no
function, are all in the first, so that epochs and orders are those of a pipeline without functions.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Iterable

from galatea import pipeline as _galatea
from galatea.trace import operators
from galatea.trace.errors import TraceError
from galatea.trace.expression import Binary, Call, Display, Expression, Literal, Use
from galatea.trace.literals import string
from galatea.trace.node import Node
from galatea.trace.place import Place
from galatea.trace.reading import drop_unread_merges
from galatea.trace.recorder import Block, Branch, Choice, Operation, Recorder, Selection

from .parts import Merge, Part, part_of, parts_of_call
from .values import Later


@dataclass(eq=False)
class PythonCall(Operation):
    """`outputs = function(inputs)`: a border between programs."""

    function: Any = None  # a python_function.Function, a parts.Split or Merge
    inputs = property(lambda self: list(self.expression.nodes()))


class PythonRecorder(Recorder):
    """A recorder that takes calls of functions of Python."""

    def call_python(self, function: Any, inputs: list[Node], at: Place | None) -> list[Node]:
        """Records a call. One without inputs runs for the whole batch, also in an arm."""
        inputs = [self.own(node, at) for node in inputs]
        block = self.block if inputs else self.body
        outputs = [self.node_class(self, block, at) for _ in range(function.num_outputs)]
        expression = Call("python_function", [("", Use(node)) for node in inputs])
        call = PythonCall(outputs, expression, at, True, function=function)
        for node in outputs:
            node.operation = call
        block.statements.append(call)
        return outputs


@dataclass(eq=False)
class Fork:
    """An `if` on data with a function of Python in an arm: each arm runs with its samples only."""

    condition: Node
    arms: "tuple[Plan, Plan]"
    merges: list[tuple[Node, Node, Node]]  # result, in one arm, in the other
    place: Place | None


@dataclass(eq=False)
class Plan:
    """The steps of a block, and the nodes of other blocks that they and its results read."""

    steps: list = field(default_factory=list)
    reads: list[Node] = field(default_factory=list)


def blocks_of(statement: Any) -> list[Block]:
    """The arms of a statement."""
    if isinstance(statement, Branch):
        return [statement.then, statement.otherwise]
    if isinstance(statement, Choice):
        return [block for block in (statement.right, statement.other) if block is not None]
    if isinstance(statement, Selection):
        return [block for block, _ in statement.arms]
    return []


def own_expressions(statement: Any) -> list[Expression]:
    """What a statement computes, but for its arms."""
    if isinstance(statement, Operation):
        return [statement.expression]
    if isinstance(statement, Branch):
        found = [value for _, *values in statement.merges for value in values]
        return [one for one in (statement.condition, *found) if one is not None]
    if isinstance(statement, Selection):
        return [statement.index, *(value for _, values in statement.arms for value in values)]
    values = (statement.left, statement.right_value, statement.other_value)
    return [one for one in values if one is not None]


def calls_python(block: Block) -> bool:
    """Whether a function of Python is called in a block, or in an arm of it."""
    return any(_is_border(statement) for statement in block.statements)


def seeds_draws(block: Block) -> bool:
    """Whether a call in a block, or in an arm of it, names a seed."""
    for statement in _walk(block):
        expression = getattr(statement, "expression", None)
        if isinstance(expression, Call) and any(name == "seed" for name, _ in expression.arguments):
            return True
    return False


def _is_border(statement: Any) -> bool:
    return isinstance(statement, PythonCall) or any(map(calls_python, blocks_of(statement)))


def _walk(block: Block) -> Iterable[Any]:
    for statement in block.statements:
        yield statement
        for inner in blocks_of(statement):
            yield from _walk(inner)


def outputs_of(statement: Any) -> list[Node]:
    """The nodes that a statement makes."""
    if isinstance(statement, (Operation, Selection)):
        return statement.outputs
    if isinstance(statement, Branch):
        return [result for result, _, _ in statement.merges]
    return [statement.result]


def _reads(statement: Any) -> dict[Node, None]:
    """Nodes from outside that a statement reads, its arms included."""
    arms = blocks_of(statement)
    every = [statement, *(inner for arm in arms for inner in _walk(arm))]
    return {
        node: None
        for one in every
        for expression in own_expressions(one)
        for node in expression.nodes()
        if not any(node.block.inside(arm) for arm in arms)
    }


def read_by_functions(block: Block) -> Iterable[Node]:
    """Nodes that functions of Python need: those run whether or not their outputs are read."""
    for statement in block.statements:
        if _is_border(statement):
            yield from _reads(statement)


# Draws are keyed by the ordinal of their call among those of the same name in the text. A program
# that holds some of them says where the others stood.


def is_random(callee: str, recorder: Recorder) -> bool:
    """Whether a call of this name may draw random numbers."""
    found = operators.schema().get(callee.removeprefix("fn."))
    if found is None:  # a function of the language's library, such as `rand_augment`
        return any(callee in names for names in recorder.modules.values())
    return bool(found.get("random")) or found.get("parameters") is not None


def spacers(callee: str, count: int, recorder: Recorder) -> list[Operation]:
    """Statements that stand for `count` calls which another program holds."""
    never = Binary("and", Literal("False"), Call(callee, []))
    return [Operation([Node(recorder, recorder.body, None)], never, None) for _ in range(count)]


def program_of(
    recorder: Recorder,
    statements: list,
    inputs: list[Node],
    outputs: list[Node],
    at: Place | None,
    options: dict[str, Any],
    is_fed: bool = True,
) -> Any:
    """The text of a program: `statements` between nodes that are fed and nodes that are wanted.

    One that reads nothing of others is fed a tick, unless it says itself which samples there are.
    """
    made = Recorder(recorder.name)
    made.constants, made.modules, made.imports = (
        recorder.constants,
        recorder.modules,
        recorder.imports,
    )
    made.definitions = recorder.definitions
    names = [Later.input_name(place) for place in range(len(inputs))]
    fed: list[Node] = list(inputs)
    if not inputs and is_fed:
        names, fed = [Later._TICK], [Node(made, made.body, None)]
    for name, node in zip(names, fed):
        call = Call("fn.external_source", [("name", Literal(string(name)))])
        made.body.statements.append(Operation([node], call, node.place))
    made.body.statements += statements
    made.result = Display("(", [Use(node) for node in outputs])
    made.result_place = at
    return _galatea.Pipeline.of(made, at, options)


class _Cutter:
    def __init__(self, recorder: Recorder, at: Place | None, options: dict, common: dict):
        self.recorder = recorder
        self.at, self.options, self.common = at, options, common
        self.ordinals: dict[int, int] = {}  # of a call's expression
        counts: dict[str, int] = defaultdict(int)
        for call in self._draws(_walk(recorder.body)):
            self.ordinals[id(call)] = counts[_last_name(call)]
            counts[_last_name(call)] += 1

    def _draws(self, statements: Iterable[Any]) -> Iterable[Call]:
        for statement in statements:
            call = getattr(statement, "expression", None)
            if isinstance(call, Call) and is_random(call.callee, self.recorder):
                yield call

    def _spaced(self, statements: list) -> list:
        """The statements, with what keeps their draws' ordinals."""
        spaced: list = []
        counts: dict[str, int] = defaultdict(int)
        for statement in statements:
            inner = [one for arm in blocks_of(statement) for one in _walk(arm)]
            for call in self._draws([statement, *inner]):
                name = _last_name(call)
                spaced += spacers(
                    call.callee, self.ordinals[id(call)] - counts[name], self.recorder
                )
                counts[name] = self.ordinals[id(call)] + 1
            spaced.append(statement)
        return spaced

    def plan(self, block: Block, results: list[Node], is_first: bool = False) -> Plan:
        levels: dict[Node, int] = {}
        parts: dict[Node, Part] = {}
        programs: dict[int, dict[Part, list]] = defaultdict(lambda: defaultdict(list))
        borders: dict[int, list] = defaultdict(list)
        wanted_at: dict[Node, list[int]] = defaultdict(list)  # of which program, or border, or end
        outside: dict[Node, None] = {}
        for statement in block.statements:
            reads = _reads(statement)
            outside.update({node: None for node in reads if node not in levels})
            level = max((levels.get(node, 0) for node in reads), default=0)
            is_border = _is_border(statement)
            part = self._give_parts(statement, reads, parts)
            (borders[level] if is_border else programs[level][part]).append(statement)
            for node in reads:
                # A border is behind the program of its level.
                wanted_at[node].append(level + 1 if is_border else level)
            for node in outputs_of(statement):
                levels[node] = level + is_border
        end = 1 + max([*programs, *borders, 0])
        for node in results:
            wanted_at[node].append(end + 1)
            if node not in levels:
                outside[node] = None
        plan = Plan(reads=list(outside))
        if is_first:
            programs[0].setdefault(None, [])  # also where nothing is to be computed
        for level in range(end + 1):
            for statements in programs[level].values():
                made = self._program(statements, level, wanted_at, is_first and level == 0)
                if made is not None:
                    plan.steps.append(made)
            plan.steps += [self._border(statement) for statement in borders[level]]
        return plan

    def _give_parts(self, statement: Any, reads: dict, parts: dict[Node, Part]) -> Part:
        """Which samples a statement runs for; adds what its outputs hold to `parts`."""
        if isinstance(statement, PythonCall):
            if isinstance(statement.function, Merge):
                reads = {statement.inputs[-1]: None}
            own = part_of(reads, parts, statement.place)
            made = parts_of_call(statement.function, statement.inputs, own)
            parts.update(zip(statement.outputs, made))
            return own
        own = part_of(reads, parts, statement.place)
        parts.update(dict.fromkeys(outputs_of(statement), own))
        return own

    def _program(self, statements: list, level: int, wanted_at: dict, is_first: bool) -> Any:
        made_here = {node: None for one in statements for node in outputs_of(one)}
        outputs = [node for node in made_here if any(at > level for at in wanted_at[node])]
        if is_first:
            return self._first(self._spaced(statements), outputs)
        if not outputs:
            return None
        inputs = {n: None for one in statements for n in _reads(one) if n not in made_here}
        text = program_of(
            self.recorder, self._spaced(statements), list(inputs), outputs, self.at, self.options
        )
        return Later(text, list(inputs), outputs, self.common)

    def _first(self, statements: list, outputs: list[Node]) -> Any:
        """The program that says which samples there are: it has no input of ours."""
        if not outputs:
            outputs = [Node(self.recorder, self.recorder.body, None)]
            nothing = Call("types.Constant", [("", Literal("0")), ("device", Literal('"cpu"'))])
            statements = [*statements, Operation(outputs, nothing, None)]
        text = program_of(
            self.recorder, statements, [], outputs, self.at, self.options, is_fed=False
        )
        return Later(text, [], outputs, self.common)

    def _border(self, statement: Any) -> Any:
        if isinstance(statement, PythonCall):
            return statement
        condition, then, otherwise, merges = as_branch(statement)
        made = []
        results: tuple[list[Node], list[Node]] = ([], [])
        for result, *values in merges:
            for arm, value, nodes in zip((then, otherwise), values, results):
                nodes.append(self._node(arm, value, result, statement.place))
            made.append((result, results[0][-1], results[1][-1]))
        arms = (self.plan(then, results[0]), self.plan(otherwise, results[1]))
        return Fork(condition, arms, made, statement.place)

    def _node(self, arm: Block, value: Expression | None, result: Node, place: Any) -> Node:
        if isinstance(value, Use):
            return value.node  # type: ignore[return-value]
        if value is None:
            raise TraceError(
                f"`{result.hint or 'a value'}` is assigned in one arm only of the `if` at {place}",
                place,
                "assign it in both arms, or before the `if`",
            )
        node = Node(self.recorder, arm, place)
        constant: Expression = Call("types.Constant", [("", value), ("device", Literal('"cpu"'))])
        if isinstance(value, Literal) and value.text.startswith("types.Constant("):
            constant = value
        arm.statements.append(Operation([node], constant, place))
        return node


def _last_name(call: Call) -> str:
    return call.callee.rsplit(".", 1)[-1]


def as_branch(statement: Any) -> tuple[Node, Block, Block, list]:
    """Condition, arms and merges of an `if`, or of an `and`, `or` or conditional expression."""
    if isinstance(statement, Branch):
        condition = statement.condition
        return condition.node, statement.then, statement.otherwise, statement.merges  # type: ignore
    if isinstance(statement, Selection):
        raise TraceError(
            "a function of Python is called in a function of `select`",
            statement.place,
            "write an `if` on the index",
        )
    left, right, value = statement.left, statement.right, statement.right_value
    if statement.kind == "if":
        merges = [(statement.result, value, statement.other_value)]
        return left.node, right, statement.other, merges
    empty = Block(right.parent)
    if statement.kind == "and":
        return left.node, right, empty, [(statement.result, value, Literal("False"))]
    return left.node, empty, right, [(statement.result, Literal("True"), value)]


def cut(
    recorder: Recorder, results: list[Node], at: Place | None, options: dict, common: dict
) -> Plan:
    """The plan of a record. Its first step is the program that readers and inputs belong to.

    `options` stand in every text; `common` are arguments for the compiler, of all but the first.
    """
    drop_unread_merges(recorder)
    return _Cutter(recorder, at, options, common).plan(recorder.body, results, is_first=True)


def programs_of(plan: Plan) -> Iterable[Later]:
    """The programs of a plan, those of arms included."""
    for step in plan.steps:
        if isinstance(step, Fork):
            for arm in step.arms:
                yield from programs_of(arm)
        elif isinstance(step, Later):
            yield step
