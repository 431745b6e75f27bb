"""What is read where: the statements of a record are numbered in the order of the text.

Comes in: a recorder. Goes out: for each node the numbers at which it is read, so that `writer`
knows when a variable's name is free again.
"""

from __future__ import annotations

from collections import defaultdict

from galatea.trace import expression as e
from galatea.trace.recorder import Block, Branch, Operation, Recorder, Selection


class Reading:
    """Numbers of statements, and of reads. The arms in `excluded` are not on the current path."""

    def __init__(self, recorder: Recorder):
        drop_unread_merges(recorder)
        self.excluded: list[tuple[int, int]] = []
        self.uses: dict[object, list[int]] = defaultdict(list)
        self.late_uses: dict[object, list[int]] = defaultdict(list)
        self.begin: dict[object, int] = {}
        self.end: dict[object, int] = {}
        self._count = 0
        self._number(recorder.body)
        self._use(recorder.result)

    def _use(self, x: e.Expression | None) -> None:
        self._count += 1
        if x is not None:
            for node in x.nodes():
                self.uses[node].append(self._count)

    def _number(self, block: Block) -> None:
        self.begin[block] = self._count + 1
        for statement in block.statements:
            if isinstance(statement, Operation):
                self._use(statement.expression)
                self.begin[statement] = self._count
            elif isinstance(statement, Branch):
                self._use(statement.condition)
                self.begin[statement] = self._count
                for arm, index in ((statement.then, 1), (statement.otherwise, 2)):
                    self._number(arm)
                    self._count += 1
                    for merge in statement.merges:
                        value = merge[index]
                        for node in value.nodes() if value is not None else ():
                            self.uses[node].append(self._count)
                    self.end[arm] = self._count
                self._count += 1
                self.end[statement] = self._count
            elif isinstance(statement, Selection):
                self._use(statement.index)
                self.begin[statement] = self._count
                for arm, values in statement.arms:
                    self._number(arm)
                    for value in values:
                        self._use(value)
                    self.end[arm] = self._count
                self._count += 1
                self.end[statement] = self._count
            else:
                self._use(statement.left)
                self.begin[statement] = self._count
                for arm, value in (
                    (statement.right, statement.right_value),
                    (statement.other, statement.other_value),
                ):
                    if arm is not None:
                        self._number(arm)
                        self._use(value)
                        self.end[arm] = self._count
                self._count += 1
                if statement.kind != "if":  # written as statements they read it again
                    for node in statement.left.nodes():
                        self.late_uses[node].append(self._count)
                self.end[statement] = self._count
        self.end[block] = self._count

    def read_from_outside(self, block: Block) -> list:
        """Nodes that a block, and the value at its end, read and that were made before it."""
        begin, end = self.begin[block], self.end[block]
        return [
            node
            for node, uses in self.uses.items()
            if any(begin <= use <= end for use in uses) and not node.block.inside(block)
        ]

    def is_live(self, node, after: int) -> bool:
        return any(
            use > after and not any(low <= use <= high for low, high in self.excluded)
            for use in (*self.uses[node], *self.late_uses[node])
        )


def drop_unread_merges(recorder: Recorder) -> None:
    """Variables that nothing reads behind an `if` or a `select` need no value there."""
    branches: list[Branch | Selection] = []
    counts: dict[object, int] = defaultdict(int)

    def count(x: e.Expression | None, by: int = 1) -> None:
        for node in x.nodes() if x is not None else ():
            counts[node] += by

    def visit(block: Block | None) -> None:
        for statement in block.statements if block is not None else ():
            if isinstance(statement, Operation):
                count(statement.expression)
            elif isinstance(statement, Branch):
                branches.append(statement)
                count(statement.condition)
                visit(statement.then)
                visit(statement.otherwise)
                for _, then, otherwise in statement.merges:
                    count(then)
                    count(otherwise)
            elif isinstance(statement, Selection):
                branches.append(statement)
                count(statement.index)
                for arm, values in statement.arms:
                    visit(arm)
                    for value in values:
                        count(value)
            else:
                count(statement.left)
                visit(statement.right)
                count(statement.right_value)
                visit(statement.other)
                count(statement.other_value)

    visit(recorder.body)
    count(recorder.result)
    for branch in reversed(branches):
        if isinstance(branch, Selection):
            _drop_unread_outputs(branch, counts, count)
            continue
        kept = []
        for merge in branch.merges:
            if counts[merge[0]]:
                kept.append(merge)
            else:
                count(merge[1], -1)
                count(merge[2], -1)
        branch.merges = kept


def _drop_unread_outputs(selection: Selection, counts, count) -> None:
    """A selection keeps one output at least."""
    read = [i for i, output in enumerate(selection.outputs) if counts[output]] or [0]
    for _, values in selection.arms:
        for i, value in enumerate(values):
            if i not in read:
                count(value, -1)
    selection.outputs = [selection.outputs[i] for i in read]
    selection.arms = [(arm, [values[i] for i in read]) for arm, values in selection.arms]
