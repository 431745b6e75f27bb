"""The recorder of debug mode: what is recorded is run at once.

Each operation is compiled as a program of its own, when it is reached in the first batch; what it
draws is what the whole pipeline would draw.
"""

from __future__ import annotations

import collections
from typing import Any

from galatea import Batch, GalateaError, _c
from galatea.engine import default_engine, flush_log
from galatea.trace import place as places
from galatea.trace.errors import TraceError
from galatea.trace.expression import Call, Expression, Literal, Use
from galatea.trace.layout import Layout
from galatea.trace.node import Node
from galatea.trace.place import Place
from galatea.trace.recorder import Block, Operation

from .data_node import DataNode
from .errors import raised
from .names import missing
from .stages import PythonRecorder, as_branch, is_random, program_of, spacers
from .tensors import TensorListCPU
from .values import (
    FullBatches,
    Later,
    Samples,
    Values,
    merged,
    samples_of_parts,
    truths,
    values_of_parts,
)

_NOTHING = "the batch size"  # what says which samples there are, until a source does


class DebugNode(DataNode):
    """A node that has its values: `get()` gives them."""

    name = ""  # of an input

    def __init__(self, recorder, block, place, values: Values | None = None):
        Node.__init__(self, recorder, block, place)
        self.values = values

    def get(self) -> TensorListCPU:
        """The values, a tensor for each sample."""
        assert self.values is not None
        return self.values.tensors(self.recorder.samples_in(self.block).names)

    def shape(self, *_: Any, **__: Any) -> list:  # type: ignore[override]
        """The extents of each sample, as tuples of Python."""
        return self.get().shape()

    def cpu(self) -> "DebugNode":
        """The same node: its values are in the host's memory."""
        return self

    def gpu(self) -> "DebugNode":
        """Refused: debug mode runs on the CPU."""
        missing("DataNode.gpu in debug mode", "gpu")

    def __repr__(self) -> str:
        values = "no values yet" if self.values is None else str(self.get())
        return f"DataNodeDebug(\n    name={self.name or self.hint!r},\n    data={values})"

    __str__ = __repr__


class _Reader:
    """A program that reads: it says which samples a batch has."""

    def __init__(self, made: Any, common: dict[str, Any], batch_size: int):
        program = _c.Program(default_engine(), **{**made.compile_arguments(), **common})
        self._session = _c.Session(program, max_held_batches=1 << 30)
        self._full = FullBatches(batch_size)
        self._ahead: list | None = None

    def _next(self) -> Batch:
        for _ in range(3):  # behind an epoch's end the next one begins
            handle = self._session.next(-1)
            if handle is not None:
                return Batch(handle, ())
        raise RuntimeError("the reader delivers no samples")

    def look(self) -> Samples:
        """The samples of the next batch."""
        if self._ahead is None:
            try:
                self._ahead = self._full.next(self._next)
            except GalateaError as error:
                raise raised(error) from error
        return samples_of_parts(self._ahead)

    def take(self) -> list:
        """The next batch, in parts."""
        self.look()
        parts, self._ahead = self._ahead, None
        assert parts is not None
        return parts

    def close(self) -> None:
        """Ends its session."""
        self._session.close()


class Again(BaseException):
    """In the first batch a reader was reached behind draws, which are to know its samples."""


class _Step:
    """One operation of the function: its program, and what it was compiled for."""

    def __init__(self, place: Place | None, what: str, text: str, program: Any):
        self.place, self.what, self.text = place, what, text
        self.program = program
        self.kinds: list = []


class DebugRecorder(PythonRecorder):
    """Runs what is recorded. Samples of a block are places in the batch."""

    def __init__(self, name: str, pipe: Any):
        super().__init__(name)
        self.pipe = pipe
        self.steps: dict[int, _Step] = {}
        self.is_built = False
        self.first_id = 0
        self.begin()

    def begin(self) -> None:
        """A batch begins."""
        self.block = self.body
        self.open_branches = []
        self.samples: Samples | None = None
        self.where = ""  # what said which samples there are
        self.taken: dict[Block, list[int]] = {}
        self.number = 0
        self.draws: dict[str, int] = collections.defaultdict(int)
        for step in self.steps.values():
            if isinstance(step.program, _Reader) and self.samples is None:
                self.have(step.program.look(), f"the reader at {step.place}")

    # Samples.

    def have(self, samples: Samples, where: str) -> None:
        """Says which samples the batch has; RuntimeError where others were said before."""
        if self.samples is None:
            self.samples, self.where = samples, where
        elif len(self.samples) != len(samples):
            raise RuntimeError(
                f"{where} gives {len(samples)} samples, and {self.where} {len(self.samples)}: all "
                "sources of a batch have equally many. Where the size changes from batch to batch, "
                "call external sources before other operators"
            )

    def counted(self, count: int) -> Samples:
        """`count` samples by running numbers."""
        ids = list(range(self.first_id, self.first_id + count))
        return Samples([0] * count, ids, [""] * count)

    def samples_in(self, block: Block) -> Samples:
        """The samples of a block."""
        if self.samples is None:
            self.have(self.counted(self.pipe.max_batch_size or 1), _NOTHING)
        assert self.samples is not None
        places = self.taken.get(block)
        return self.samples if places is None else self.samples.pick(places)

    def _places(self, block: Block) -> list[int]:
        found = self.taken.get(block)
        return list(range(len(self.samples_in(self.body)))) if found is None else found

    def values_in(self, node: Any, block: Block) -> Values:
        """What a node holds for the samples of a block, which are some of its own."""
        assert node.values is not None
        if block is node.block:
            return node.values
        own = {place: i for i, place in enumerate(self._places(node.block))}
        wanted = self._places(block)
        if len(own) == len(wanted):
            return node.values
        return node.values.pick([own[place] for place in wanted])

    # What is recorded.

    def node(self, place: Place | None) -> DebugNode:
        return DebugNode(self, self.block, place)

    def add(self, expression: Expression, outputs: int | None = None, place=None) -> Any:
        if place is None:
            place = places.caller()
        for node in expression.nodes():
            self.check(node, place)
        made = self._run(expression, 1 if outputs is None else outputs, outputs is not None, place)
        return made[0] if outputs is None else tuple(made)

    def open(self, what: str, condition: Node | None, holds: bool) -> Block:
        if condition is None:
            raise TraceError(
                "`select` on data does not work in debug mode", None, "write an `if` on the index"
            )
        outer = self.block
        values = self.values_in(condition, outer)
        local = truths(values, f"the `if` at {condition.place}")[0 if holds else 1]
        places = self._places(outer)
        block = super().open(what, condition, holds)
        self.taken[block] = [places[i] for i in local]
        return block

    def finish(self, statement: Any) -> None:
        condition, *arms, merges = as_branch(statement)
        outer = self._places(self.block)
        where = f"the `if` at {statement.place}"
        local = truths(self.values_in(condition, self.block), where)
        for arm, taken in zip(arms, local):
            self.taken.setdefault(arm, [outer[i] for i in taken])
        for result, *values in merges:
            then, otherwise = (self._value(*each, result) for each in zip(arms, values))
            if outer:
                result.values = merged(local, (then, otherwise), len(outer), where)
            else:
                result.values = Values([])

    def _value(self, arm: Block, value: Expression | None, result: Node) -> Values:
        if value is None:
            raise TraceError(
                f"`{result.hint or 'a value'}` is assigned in one arm only", result.place
            )
        if isinstance(value, Use):
            if not self._places(arm):
                return Values([])
            return self.values_in(value.node, arm)
        block, self.block = self.block, arm
        try:
            constant: Expression = Call(
                "types.Constant", [("", value), ("device", Literal('"cpu"'))]
            )
            if isinstance(value, Literal) and value.text.startswith("types.Constant("):
                constant = value
            (node,) = self._run(constant, 1, False, result.place)
        finally:
            self.block = block
        return node.values  # type: ignore[return-value]

    def call_python(self, function: Any, inputs: list[Node], at: Place | None) -> list[Node]:
        for node in inputs:
            self.check(node, at)
        block = self.block if inputs else self.body
        samples = self.samples_in(block)
        values = [Values([]) for _ in range(function.num_outputs)]
        if len(samples):
            values = function([self.values_in(one, block) for one in inputs], samples)
        return [DebugNode(self, block, at, one) for one in values]

    # Running.

    def _run(
        self, expression: Expression, count: int, is_tuple: bool, place: Place | None
    ) -> list[DebugNode]:
        number, self.number = self.number, self.number + 1
        nodes = list({node: None for node in expression.nodes()})
        named = {node: f"input_{i}" for i, node in enumerate(nodes)}
        text = Layout(lambda node: named[node]).one_line(expression)
        is_reader = isinstance(expression, Call) and expression.callee.startswith("fn.readers.")
        step = self._step(number, expression, nodes, text, count, is_tuple, place)
        if is_reader:
            return self._read(step, count, place)
        block = self.block
        samples = self.samples_in(block)
        if step is None or not len(samples):
            return [DebugNode(self, block, place, Values([])) for _ in range(count)]
        values = [self.values_in(node, block) for node in nodes]
        self._check_kinds(step, values)
        found = dict(zip(step.program.inputs, values))
        step.program.feed(found, samples).take(found)
        return [DebugNode(self, block, place, found[one]) for one in step.program.outputs]

    def _read(self, step: _Step, count: int, place: Place | None) -> list[DebugNode]:
        samples = step.program.look()
        if not self.is_built and self.where == _NOTHING and samples != self.samples:
            raise Again
        self.have(samples, f"the reader at {place}")
        parts = step.program.take()
        return [DebugNode(self, self.body, place, values_of_parts(parts, i)) for i in range(count)]

    def _step(self, number, expression, nodes, text, count, is_tuple, place) -> _Step:
        what = expression.callee if isinstance(expression, Call) else type(expression).__name__
        spaces: list = []
        if isinstance(expression, Call) and is_random(expression.callee, self):
            name = expression.callee.rsplit(".", 1)[-1]
            spaces = spacers(expression.callee, self.draws[name], self)
            self.draws[name] += 1
        step = self.steps.get(number)
        if step is not None:
            wrong = self._difference(step, place, what, text)
            if not wrong:
                return step
            if self.is_built:
                raise RuntimeError(wrong)
            step.program.close()  # of a first batch that failed
        elif self.is_built:
            raise RuntimeError(
                f"`{what}` at {place} was not reached in the first batch; in debug mode the "
                "operators and their order are the same in every batch"
            )
        outputs = [Node(self, self.body, place) for _ in range(count)]
        statements = [*spaces, Operation(outputs, expression, place, is_tuple)]
        program = self._program(statements, nodes, outputs, what, place)
        step = self.steps[number] = _Step(place, what, text, program)
        return step

    def _program(self, statements, nodes, outputs, what: str, place: Place | None) -> Any:
        pipe = self.pipe
        is_reader = what.startswith("fn.readers.")
        text = program_of(
            self, statements, nodes, outputs, place, pipe._text_options, is_fed=not is_reader
        )
        if not is_reader:
            return Later(text, nodes, outputs, pipe._common, synchronous=True)
        try:
            return _Reader(text, pipe._common, pipe.max_batch_size or 1)
        except GalateaError as error:
            raise raised(error) from error
        finally:
            flush_log(default_engine())

    def _difference(self, step: _Step, place: Place | None, what: str, text: str) -> str:
        """How an operation differs from the one of the first batch; "" where it is the same."""
        at = None if place is None else place[:2]
        if what != step.what or at != (None if step.place is None else step.place[:2]):
            return (
                f"`{what}` at {place} stands where `{step.what}` at {step.place} was in the first "
                "batch; in debug mode the operators and their order are the same in every batch"
            )
        if text != step.text:
            return (
                f"arguments of the operator at {place} changed since the first batch:\n"
                f"  first  {step.text}\n  now    {text}\n"
                "a value that changes is a data node, or stands behind fn.external_source"
            )
        return ""

    def _check_kinds(self, step: _Step, values: list[Values]) -> None:
        kinds = [one.kind() for one in values]
        if not step.kinds:
            step.kinds = kinds
        for number, (first, now) in enumerate(zip(step.kinds, kinds)):
            for what, a, b in zip(("element type", "number of dimensions", "layout"), first, now):
                if a != b:
                    raise RuntimeError(
                        f"input {number} of `{step.what}` at {step.place} has the {what} {b!s}, "
                        f"and had {a!s} in the first batch"
                    )

    def end(self) -> None:
        """Ends all sessions."""
        for step in self.steps.values():
            step.program.close()
