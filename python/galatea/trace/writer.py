"""A record as text of the language.

Comes in: the tree of statements that a recorder holds. Goes out: lines as `galatea fmt` has them,
and which place of the user's Python each part comes from. Variables are the user's where they are
known; what has no name and is read once stands where it is read.

A name may be given to a second node when the first is not read any more, as in
`image = fn.resize(image)`. What is read later is found by numbering the statements in the order of
the text; the other arm of an `if` is not later.
"""

from __future__ import annotations

import re
from collections import defaultdict

from galatea.trace import expression as e
from galatea.trace.layout import (
    WIDTH,
    Conditional,
    Layout,
    Marked,
    mark,
    mark_ends,
    plain,
    rejoined,
    unmark,
    unmarked,
    width,
)
from galatea.trace.names import RESERVED, is_usable, named_after, numbered
from galatea.trace.place import Place
from galatea.trace.reading import Reading
from galatea.trace.recorder import Block, Branch, Choice, Operation, Recorder, Selection

_WIDEST_LAMBDA = 60


class Writer:
    """Writes the body of one function."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder
        self.reading = Reading(recorder)
        self.places: list[Place | None] = []
        self.names: dict[object, str] = {}
        self.holders: dict[str, object] = {}
        self.inlined: dict[object, e.Expression] = {}
        self.waiting: dict[object, tuple] = {}  # the statements of what is inlined
        self.wanted: dict[object, list[str]] = defaultdict(list)
        self.layout = Layout(self._name_of)
        imported = {name.split()[-1] for names in recorder.modules.values() for name in names}
        self.reserved = RESERVED | {recorder.name} | imported | set(recorder.definitions.names)
        self.not_here: list[set[str]] = []  # names that the functions around here read from outside

    # Names.

    def _name_of(self, node) -> str:
        return self.names[node]

    def _candidates(self, node, fallback: str):
        yield from self.wanted[node]
        base = re.sub(r"\W", "_", node.hint or fallback)
        yield from numbered(base if self._may_be_given(base) else f"{base}_value")

    def _may_be_given(self, name: str) -> bool:
        return is_usable(name) and name not in self.reserved

    def _give_name(self, node, at: int, fallback: str, taken: set[str] = frozenset()) -> str:
        for name in self._candidates(node, fallback):
            holder = self.holders.get(name)
            if name in taken or (holder is not None and self.reading.is_live(holder, at)):
                continue
            if name in self.reserved or any(name in names for names in self.not_here):
                continue
            self.names[node] = name
            self.holders[name] = node
            return name
        raise AssertionError("names end")

    # Inlining.

    def _substitute(self, x: e.Expression) -> e.Expression:
        """The expression with what is inlined in place of its node."""
        if isinstance(x, e.Use):
            return self.inlined.get(x.node, x)
        if not any(node in self.inlined for node in x.nodes()):
            return x
        s = self._substitute

        def arguments(given):
            return [(name, s(value)) for name, value in given]

        if isinstance(x, e.Call):
            return e.Call(x.callee, arguments(x.arguments))
        if isinstance(x, e.Method):
            return e.Method(s(x.base), x.name, arguments(x.arguments))
        if isinstance(x, e.Attribute):
            return e.Attribute(s(x.base), x.name)
        if isinstance(x, e.Apply):
            return e.Apply(s(x.base), arguments(x.arguments))
        if isinstance(x, e.Binary):
            return e.Binary(x.operator, s(x.left), s(x.right))
        if isinstance(x, e.Unary):
            return e.Unary(x.operator, s(x.operand))
        if isinstance(x, e.Index):
            return e.Index(s(x.base), [s(part) for part in x.selectors])
        if isinstance(x, e.Display):
            return e.Display(x.kind, [s(part) for part in x.elements], x.keys)
        if isinstance(x, e.Slice):
            return e.Slice(*(part and s(part) for part in (x.begin, x.end, x.step)))
        if isinstance(x, Conditional):
            return Conditional(s(x.value), s(x.condition), s(x.other))
        if isinstance(x, Marked):
            return Marked(x.mark, s(x.inner))
        if isinstance(x, e.Lambda):
            return e.Lambda(s(x.body))
        return x

    def _named_in(self, x: e.Expression) -> set:
        """Nodes that keep a name: parts of slices, what is called, wide ones that a method or an
        index is taken of, and what a lazy side reads."""
        if isinstance(x, e.Slice):
            return set(x.nodes())
        found: set = set()
        if isinstance(x, e.Apply):
            found |= set(x.base.nodes())
        if isinstance(x, e.Binary) and x.operator in ("and", "or"):
            found |= set(x.right.nodes())
        if isinstance(x, Conditional):
            found |= {*x.value.nodes(), *x.other.nodes()}
        if isinstance(x, (e.Method, e.Attribute, e.Index)):
            found |= set(x.base.nodes()) if self._is_wide(x.base) else set()
        for part in x.parts():
            found |= self._named_in(part)
        return found

    def _is_wide(self, base: e.Expression) -> bool:
        return isinstance(base, e.Use) and isinstance(
            unmarked(self.inlined.get(base.node)), (e.Binary, e.Unary, Conditional)
        )

    def _marked(self, place: Place | None, x: e.Expression) -> e.Expression:
        if place is None:
            return x
        self.places.append(place)
        return Marked(len(self.places) - 1, x)

    def _can_be_inlined(self, node) -> bool:
        return (
            not node.hint and len(set(self.reading.uses[node])) == len(self.reading.uses[node]) == 1
        )

    def _collapse(self, block: Block, value: e.Expression) -> e.Expression | None:
        """A block that is one expression; None: it is not.

        What stands before the block keeps its place: here it would be computed for some samples.
        """
        outer, self.inlined = self.inlined, {}
        try:
            return self._collapsed(block, value)
        finally:
            self.inlined = outer

    def _collapsed(self, block: Block, value: e.Expression) -> e.Expression | None:
        pending: list = []
        for statement in block.statements:
            expression = self._as_expression(statement)
            if expression is None:
                return None
            result = _result_of(statement)
            if result is None or not self._can_be_inlined(result):
                return None
            if not self._take(pending, expression, exactly=False):
                return None
            self.inlined[result] = self._marked(statement.place, self._substitute(expression))
            pending.append(result)
        if pending and not self._take(pending, value, exactly=True):
            return None
        return self._substitute(value)

    def _take(self, pending: list, x: e.Expression, exactly: bool) -> bool:
        """Removes from the end of `pending` what `x` reads, in its order; False: it does not."""
        kept = self._named_in(x)
        among = {id(node) for node in pending}  # `==` of nodes would be recorded
        wanted = [node for node in x.nodes() if id(node) in among]
        if any(node in kept for node in wanted):
            return False
        tail = pending[len(pending) - len(wanted) :]
        if [*map(id, wanted)] != [*map(id, tail)] or (exactly and len(wanted) != len(pending)):
            return False
        del pending[len(pending) - len(wanted) :]
        return True

    def _as_expression(self, statement) -> e.Expression | None:
        """What a statement computes, as one expression; None: it takes several statements."""
        if isinstance(statement, Operation):
            return None if statement.is_tuple else statement.expression
        if not isinstance(statement, Choice):
            return None
        right = self._collapse(statement.right, statement.right_value)
        if right is None:
            return None
        if statement.kind != "if":
            return e.Binary(statement.kind, statement.left, right)
        assert statement.other is not None and statement.other_value is not None
        other = self._collapse(statement.other, statement.other_value)
        if other is None:
            return None
        return _LazyConditional(right, statement.left, other)

    # Statements.

    def _write_block(self, block: Block, indent: int, out: list[str]) -> int:
        """Writes a block; gives the number of its statements in the text."""
        pending: list = []  # (statement, expression), not written yet: they may be inlined
        count = 0
        for statement in block.statements:
            count += self._write_statement(statement, pending, indent, out)
        count += self._flush(pending, indent, out)
        return count

    def _flush(self, pending: list, indent: int, out: list[str], keep: int = 0) -> int:
        """Writes what is pending, but for the last `keep`."""
        count = 0
        while len(pending) > keep:
            statement, expression = pending.pop(0)
            node = _result_of(statement)
            self.inlined.pop(node, None)
            self._write_assignment([node], statement, expression, indent, out)
            count += 1
        return count

    def _settle(self, pending: list, x: e.Expression, indent, out, keep_others=False) -> int:
        """Writes what `x` reads but cannot take in; the end of `pending` is taken in.

        Others that wait are written too, unless `x` is to wait behind them (`keep_others`).
        """
        results = [id(_result_of(statement)) for statement, _ in pending]
        kept = {id(node) for node in self._named_in(x)}
        wanted = [id(node) for node in x.nodes() if id(node) in results]
        size = 0
        while size < len(wanted) and size < len(results):
            tail = results[len(results) - size - 1 :]
            if wanted[len(wanted) - size - 1 :] != tail or tail[0] in kept:
                break
            size += 1
        if not keep_others:
            return self._flush(pending, indent, out, keep=size)
        left = set(wanted[: len(wanted) - size])
        last = max((i for i, result in enumerate(results) if result in left), default=-1)
        return self._flush(pending, indent, out, keep=len(pending) - last - 1)

    def _write_statement(self, statement, pending: list, indent: int, out: list[str]) -> int:
        if isinstance(statement, Branch):
            count = self._settle(pending, statement.condition, indent, out)
            return count + self._write_branch(statement, pending, indent, out)
        if isinstance(statement, Selection):
            return self._write_selection(statement, pending, indent, out)
        saved = dict(self.inlined), len(self.places)
        expression = self._as_expression(statement)
        if expression is None and isinstance(statement, Choice):
            self.inlined, places = saved
            del self.places[places:]
            count = self._settle(pending, statement.left, indent, out)
            return count + self._write_choice(statement, pending, indent, out)
        assert expression is not None or statement.is_tuple
        if expression is None:
            expression = statement.expression
        result = _result_of(statement)
        count = 0
        if result is not None and self._can_be_inlined(result):
            count = self._settle(pending, expression, indent, out, keep_others=True)
            whole = self._substitute(expression)
            if width(self._try_line(whole)) + indent < WIDTH - 8 or isinstance(whole, e.Call):
                pending.append((statement, expression))
                self.inlined[result] = self._marked(statement.place, whole)
                self.waiting[result] = (statement, expression)
                # What it took in goes where it goes.
                taken = [p for p in pending[:-1] if _result_of(p[0]) in set(expression.nodes())]
                for each in taken:
                    pending.remove(each)
                return count
        count += self._settle(pending, expression, indent, out)
        count += self._write_assignment(
            statement.outputs if isinstance(statement, Operation) else [statement.result],
            statement,
            expression,
            indent,
            out,
            pending,
        )
        return count

    def _try_line(self, x: e.Expression) -> str:
        named = dict(self.names)
        missing = [node for node in x.nodes() if node not in named]
        for node in missing:
            self.names[node] = "unnamed"
        text = self.layout.one_line(x)
        for node in missing:
            del self.names[node]
        return text

    def _write_assignment(
        self, outputs, statement, expression, indent, out, pending: list | None = None
    ) -> int:
        at = self.reading.end.get(statement, self.reading.begin[statement])
        count = 1
        if not self._fits(statement.place, "merged_name = ", expression, indent):
            # Too long, and no bracket to split it at: what it took in gets names again.
            for node in expression.nodes():
                if node in self.inlined and node in self.waiting:
                    del self.inlined[node]
                    inner, its_expression = self.waiting.pop(node)
                    count += self._write_assignment([node], inner, its_expression, indent, out)
        whole = self._substitute(expression)
        fallback = named_after(unmarked(expression))
        names: list[str] = []
        for output in outputs:
            names.append(self._give_name(output, at, fallback, set(names)))
        before = ", ".join(names) + (", = " if _is_single_tuple(statement) else " = ")
        out += self._statement(statement.place, before, whole, indent)
        if pending:
            pending.clear()
        return count

    def _fits(self, place: Place | None, before: str, x: e.Expression, indent: int) -> bool:
        return self.layout.lines(before, self._substitute(x), "", indent) is not None

    def _statement(self, place: Place | None, before: str, x: e.Expression, indent) -> list[str]:
        """`before x` as lines, which come from `place`."""
        begin, end = "", ""
        if place is not None:
            self.places.append(place)
            begin, end = mark_ends(len(self.places) - 1)
        lines = self.layout.lines(begin + before, x, end, indent)
        if lines is None:
            lines = [" " * indent + begin + before + self.layout.one_line(x) + end]
        return lines

    def _write_choice(self, choice: Choice, pending: list, indent: int, out: list[str]) -> int:
        """`and`, `or` and `x if c else y` whose sides take several statements."""
        left = choice.left
        count = 0
        if choice.kind != "if":
            count += self._flush(pending, indent, out)
        other = choice.other or Block(choice.right.parent)
        if choice.kind == "if":
            merges = [(choice.result, choice.right_value, choice.other_value)]
            branch = Branch(left, choice.right, other, choice.place, merges)
        elif choice.kind == "and":
            value = e.Binary("and", left, choice.right_value)
            merges = [(choice.result, value, e.Literal("False"))]
            branch = Branch(left, choice.right, other, choice.place, merges)
        else:
            value = e.Binary("or", left, choice.right_value)
            merges = [(choice.result, e.Literal("True"), value)]
            branch = Branch(left, other, choice.right, choice.place, merges)
        self.reading.begin[branch], self.reading.end[branch] = (
            self.reading.begin[choice],
            self.reading.end[choice],
        )
        if other not in self.reading.begin:
            self.reading.begin[other] = self.reading.end[other] = self.reading.end[choice]
        return count + self._write_branch(branch, pending, indent, out)

    def _write_branch(self, branch: Branch, pending: list, indent: int, out: list[str]) -> int:
        pad = " " * indent
        count = 1
        line = f"{pad}if {self.layout.one_line(self._substitute(branch.condition))}:"
        if width(line) > WIDTH:
            count += self._flush(pending, indent, out)
            line = f"{pad}if {self.layout.one_line(self._substitute(branch.condition))}:"
        line = self._mark_line(branch.place, line)
        for statement, _ in pending:
            self.inlined.pop(_result_of(statement), None)
        pending.clear()
        outer = dict(self.holders)
        chosen: list[str] = []
        for result, *values in branch.merges:
            taken = set(chosen)
            if (
                None in values
            ):  # what an arm does not assign has no value yet: the name is a new one
                taken.update(self.names.values())
            self._give_name(result, self.reading.end[branch], "merged", taken)
            chosen.append(self.names[result])
        lines, arms = [line], []
        ranges = [
            (self.reading.begin[arm], self.reading.end[arm])
            for arm in (branch.then, branch.otherwise)
        ]
        touched: set[str] = set()
        for index, arm in ((1, branch.then), (2, branch.otherwise)):
            self.holders = dict(outer)
            self.reading.excluded.append(ranges[2 - index])
            self.not_here.append({self.names[m[0]] for m in branch.merges if m[index] is None})
            for merge in branch.merges:
                value = merge[index]
                if isinstance(value, e.Use) and value.node.block is arm:
                    self.wanted[value.node].insert(0, self.names[merge[0]])
            body: list[str] = []
            statements = self._write_block(arm, indent + 4, body)
            statements += self._write_merges(branch, index, indent + 4, body)
            if body and plain(body[0]).lstrip().startswith("def "):
                body.insert(0, "")
            touched |= {n for n, holder in self.holders.items() if outer.get(n) is not holder}
            self.reading.excluded.pop()
            self.not_here.pop()
            arms.append((body, statements))
        self.holders = outer
        for name in touched:
            self.holders.pop(name, None)
        for (result, _, _), name in zip(branch.merges, chosen):
            self.holders[name] = result
        (then, _), (otherwise, others) = arms
        lines += then or [f"{pad}    pass"]
        if otherwise:
            first = otherwise[0]
            if others == 1 and plain(first).startswith(f"{pad}    if "):
                # The mark of the inner `if` begins behind its indentation.
                at = first.index("if ")
                lines.append(pad + first[indent + 4 : at] + "el" + first[at:])
                lines += rejoined([one[4:] for one in otherwise[1:]])
            else:
                lines += [f"{pad}else:", *otherwise]
        out += lines
        return count

    def _write_merges(self, branch: Branch, index: int, indent: int, out: list[str]) -> int:
        """What an arm assigns at its end."""
        copies = []
        arm = branch.then if index == 1 else branch.otherwise
        for merge in branch.merges:
            value = merge[index]
            if value is None:
                continue
            name = self.names[merge[0]]
            if isinstance(value, e.Use) and self.names.get(value.node) == name:
                continue
            copies.append((name, value, {self.names[n] for n in value.nodes()}))
        pad = " " * indent
        hazard = any(
            name in reads
            for i, (name, _, _) in enumerate(copies)
            for _, _, reads in copies[i + 1 :]
        )
        for name, _, _ in copies:
            self.holders[name] = None
        if hazard:
            targets = ", ".join(name for name, _, _ in copies)
            values = ", ".join(self.layout.one_line(value) for _, value, _ in copies)
            out.append(self._mark_line(branch.place, f"{pad}{targets} = {values}"))
            return 1
        for name, value, _ in copies:
            made = [node.place for node in value.nodes() if node.block is arm]
            place = made[0] if made else branch.place
            out += self._statement(place, f"{name} = ", value, indent)
        return len(copies)

    def _mark_line(self, place: Place | None, line: str) -> str:
        if place is None:
            return line
        self.places.append(place)
        pad = len(line) - len(line.lstrip())
        return line[:pad] + mark(len(self.places) - 1, line[pad:])

    # One of many.

    def _write_selection(self, selection: Selection, pending: list, indent, out) -> int:
        """`select([arms], index)`: arms of one expression are lambdas, the others functions."""
        count = self._settle(pending, selection.index, indent, out)
        ranges = [(self.reading.begin[arm], self.reading.end[arm]) for arm, _ in selection.arms]
        outer = dict(self.holders)
        arms: list[e.Expression] = []
        for index, (arm, values) in enumerate(selection.arms):
            self.holders = dict(outer)
            others = ranges[:index] + ranges[index + 1 :]
            self.reading.excluded += others
            value = values[0] if len(values) == 1 else e.Display("(", values)
            saved = dict(self.inlined), len(self.places)
            body = self._collapse(arm, value)
            if body is not None and width(self._try_line(body)) <= _WIDEST_LAMBDA:
                arms.append(e.Lambda(body))
            else:
                self.inlined, places = saved
                del self.places[places:]
                name = self._arm_name(selection, index, outer)
                self._write_arm(name, arm, value, selection.place, indent, out)
                arms.append(e.Literal(name))
                count += 1
            del self.reading.excluded[len(self.reading.excluded) - len(others) :]
            self.holders = outer
        expression = e.Call("select", [("", e.Display("[", arms)), ("", selection.index)])
        return count + self._write_assignment(
            selection.outputs, selection, expression, indent, out, pending
        )

    def _arm_name(self, selection: Selection, index: int, outer: dict[str, object]) -> str:
        wanted = selection.names[index]
        at = self.reading.begin[selection] - 1
        for name in numbered(wanted if self._may_be_given(wanted) else "arm"):
            holder = outer.get(name)
            is_free = holder is None or not self.reading.is_live(holder, at)
            if is_free and not any(name in names for names in (self.reserved, *self.not_here)):
                # Until `select` is called the name is the function's.
                outer[name] = selection.outputs[0]
                return name
        raise AssertionError("names end")

    def _write_arm(self, name: str, arm: Block, value: e.Expression, place, indent, out) -> None:
        """A function without parameters: it reads the variables around it, and assigns its own."""
        read = self.reading.read_from_outside(arm)
        self.not_here.append({self.names[node] for node in read if node in self.names})
        if out and out[-1]:
            out.append("")
        out.append(self._mark_line(place, f"{' ' * indent}def {name}():"))
        out += self._write_body(arm, value, place, indent + 4)
        out.append("")
        self.not_here.pop()

    def write(self, indent: int = 4) -> list[str]:
        """The body's lines, with marks."""
        recorder = self.recorder
        return self._write_body(recorder.body, recorder.result, recorder.result_place, indent)

    def _write_body(self, block: Block, result: e.Expression | None, place, indent) -> list[str]:
        """The body of a function that ends with `return result`."""
        out: list[str] = []
        pending: list = []
        for statement in block.statements:
            self._write_statement(statement, pending, indent, out)
        if result is None:
            self._flush(pending, indent, out)
            return out or [" " * indent + "pass"]
        self._settle(pending, result, indent, out)
        text = self._result_lines(result, place, indent)
        if text is None:
            self._flush(pending, indent, out)
            text = self._result_lines(result, place, indent)
        assert text is not None
        return out + text

    def _result_lines(self, result: e.Expression, place, indent: int) -> list[str] | None:
        whole = self._substitute(result)
        if isinstance(whole, e.Display) and whole.kind == "(" and len(whole.elements) > 1:
            inside = ", ".join(self.layout.one_line(part) for part in whole.elements)
            line = f"{' ' * indent}return {inside}"
            if width(line) <= WIDTH:
                return [self._mark_line(place, line)]
        return self.layout.lines("return ", self._marked(place, whole), "", indent)


class _LazyConditional(Conditional):
    """A conditional whose condition is evaluated first, though it stands second."""

    def nodes(self):
        yield from self.condition.nodes()
        yield from self.value.nodes()
        yield from self.other.nodes()


def _result_of(statement):
    if isinstance(statement, Choice):
        return statement.result
    if isinstance(statement, Operation) and not statement.is_tuple:
        return statement.outputs[0]
    return None


def _is_single_tuple(statement) -> bool:
    return isinstance(statement, Operation) and statement.is_tuple and len(statement.outputs) == 1


def write(recorder: Recorder) -> tuple[list[str], list[tuple[tuple[int, int, int, int], Place]]]:
    """The body of the function, and ranges of it (line, column, end line, end column, from 1)
    with the places that they come from, the widest first."""
    writer = Writer(recorder)
    lines, marks = unmark(writer.write())
    ranges = []
    for number, line, column, end_line, end_column in marks:
        place = writer.places[number]
        if place is not None:
            ranges.append(((line, column, end_line, end_column), place))
    return lines, ranges
