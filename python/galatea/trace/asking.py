"""Puts questions to `control` where Python would take the truth of a value, and at calls.

Comes in: the syntax tree of a function, with one exit (`exits`). Goes out: the tree that is
compiled.

    if c: x = f(x)          i = control.If(c, ("x",)); if i.begin_then(): x = f(x)
    else: y = 1             if i.begin_else(): (x as before); y = 1
                            if i.is_data: (x, y) = i.merge()
"""

from __future__ import annotations

import ast

from galatea.trace.exits import (
    ASK,
    RESULT,
    OneExit,
    assigned,
    assigned_attributes,
    contains,
    parse,
    walk,
)

_START = "_galatea_start"


class Asking(ast.NodeTransformer):
    """Puts questions to `control` in place of what Python decides."""

    def __init__(self, conditionals: bool):
        self.number = 0
        self.in_if = 0
        self.globals: set[str] = set()
        self.loop, self.loop_ifs, self.loop_asked = "", 0, False
        self.is_generator = self.return_asked = False
        self.conditionals = conditionals

    # Expressions.

    def _call(self, name: str, arguments, at) -> ast.Call:
        function = ast.Attribute(ast.Name(ASK, ast.Load()), name, ast.Load())
        return self._at(ast.Call(function, list(arguments), []), at)

    @staticmethod
    def _at(made, at):
        for node in ast.walk(made):
            if not hasattr(node, "lineno") and "lineno" in node._attributes:
                ast.copy_location(node, at)
        return made

    def _later(self, value: ast.expr) -> ast.Lambda:
        nothing = ast.arguments(
            posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None,
            defaults=[],
        )  # fmt: skip
        return self._at(ast.Lambda(nothing, value), value)

    @staticmethod
    def _may_wait(values) -> bool:
        """Whether expressions mean the same in a function of their own."""
        kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
        return not any(
            isinstance(node, kinds)
            or (isinstance(node, ast.comprehension) and node.is_async)
            or (isinstance(node, ast.Name) and node.id in ("super", "locals", "__class__"))
            for value in values
            for node in ast.walk(value)
        )

    def _known_now(self, value: ast.expr, what: str) -> ast.expr:
        """A condition that data cannot decide."""
        if not self.conditionals:
            return value
        return self._call("static", [value, ast.Constant(what)], value)

    def visit_BoolOp(self, node):
        may = self._may_wait(node.values[1:])
        self.generic_visit(node)
        name = "all_of" if isinstance(node.op, ast.And) else "any_of"
        if not may:
            what = f"`{'and' if name == 'all_of' else 'or'}` before `:=` or `yield`"
            node.values[:-1] = [self._known_now(value, what) for value in node.values[:-1]]
        if not may or not self.conditionals:
            return node
        rest = [self._later(value) for value in node.values[1:]]
        return self._call(name, [node.values[0], *rest], node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if self.conditionals and isinstance(node.op, ast.Not):
            return self._call("negated", [node.operand], node)
        return node

    def visit_IfExp(self, node):
        may = self._may_wait([node.body, node.orelse])
        self.generic_visit(node)
        if not may:
            node.test = self._known_now(node.test, "`x if c else y` with `:=` or `yield`")
        if not may or not self.conditionals:
            return node
        later = [self._later(node.body), self._later(node.orelse)]
        return self._call("conditional", [node.test, *later], node)

    def visit_Compare(self, node):
        may = self.conditionals and self._may_wait(node.comparators)
        self.generic_visit(node)
        if not may:
            return node
        rest = [
            ast.Tuple([ast.Constant(type(op).__name__), self._later(value)], ast.Load())
            for op, value in zip(node.ops, node.comparators)
        ]
        return self._call("compared", [node.left, *rest], node)

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.ifs = [self._known_now(test, "`if` in a comprehension") for test in node.ifs]
        return node

    def visit_Assert(self, node):
        self.generic_visit(node)
        node.test = self._known_now(node.test, "`assert`")
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        node.func = self._call("call", [node.func], node.func)
        return node

    def visit_NamedExpr(self, node):
        self.generic_visit(node)
        node.value = self._named(node.target.id, node.value)
        return node

    def visit_ClassDef(self, node):
        """A class body has a scope that lambdas do not see: its functions are changed alone."""
        node.body = [
            self.visit(part) if isinstance(part, ast.FunctionDef) else part for part in node.body
        ]
        return node

    def in_function(self, node):
        outer = self.in_if, self.globals, self.is_generator, self.return_asked
        loops = self.loop, self.loop_ifs, self.loop_asked
        self.in_if, self.loop, self.loop_ifs, self.return_asked = 0, "", 0, False
        self.is_generator = contains(node.body, (ast.Yield, ast.YieldFrom))
        self.globals = {
            name
            for inner in walk(node.body)
            if isinstance(inner, ast.Global)
            for name in inner.names
        }
        body = OneExit().function(node.body) if self.conditionals else node.body
        node.body = self._block(body)
        if self.return_asked:
            node.body = parse(f"{_START} = {ASK}.depth()", node.body[0]) + node.body
        self.in_if, self.globals, self.is_generator, self.return_asked = outer
        self.loop, self.loop_ifs, self.loop_asked = loops
        return node

    def visit_FunctionDef(self, node):
        for part in ("args",):
            setattr(node, part, self.visit(getattr(node, part)))
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        return self.in_function(node)

    def visit_AsyncFunctionDef(self, node):
        return node

    # Statements.

    def _block(self, body) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            out += made if isinstance(made, list) else [made]
        return out

    def _named(self, names, value: ast.expr) -> ast.expr:
        if isinstance(value, (ast.Constant, ast.Lambda)):
            return value
        if isinstance(names, str):
            hint: ast.expr = ast.Constant(names)
        else:
            hint = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
        return self._call("named", [hint, value], value)

    @staticmethod
    def _target_names(target):
        if isinstance(target, ast.Name):
            return target.id
        if isinstance(target, ast.Attribute):
            return target.attr
        if isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(element, ast.Starred) for element in target.elts):
                return None
            return [e.id if isinstance(e, ast.Name) else None for e in target.elts]
        return None

    def visit_Assign(self, node):
        self.generic_visit(node)
        names = self._target_names(node.targets[0])
        if names is not None and names != RESULT and not str(names).startswith("_galatea"):
            node.value = self._named(names, node.value)
        return node

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
            names = self._target_names(node.target)
            if names is not None:
                node.value = self._named(names, node.value)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        again = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        say = self._call("named", [ast.Constant(node.target.id), again], node)
        return [node, ast.copy_location(ast.Expr(say), node)]

    def _body(self, node, *parts):
        for part in parts:
            setattr(node, part, self._block(getattr(node, part)))
        return node

    def _loop(self, node):
        """The body of a loop; `break` and `continue` in it ask how many arms were open there."""
        outer = self.loop, self.loop_ifs, self.loop_asked
        self.number += 1
        self.loop, self.loop_ifs, self.loop_asked = f"_galatea_loop_{self.number}", 0, False
        node.body = self._block(node.body)
        if self.loop_asked:
            node.body = parse(f"{self.loop} = {ASK}.depth()", node) + node.body
        self.loop, self.loop_ifs, self.loop_asked = outer
        node.orelse = self._block(node.orelse)
        return node

    def visit_For(self, node):
        node.target = self.visit(node.target)
        node.iter = self.visit(node.iter)
        return self._loop(node)

    def visit_While(self, node):
        node.test = self.visit(node.test)
        node.test = self._known_now(node.test, "`while`")
        return self._loop(node)

    def visit_With(self, node):
        node.items = [self.visit(item) for item in node.items]
        return self._body(node, "body")

    def visit_Try(self, node):
        self.number += 1
        depth = f"_galatea_depth_{self.number}"
        self._body(node, "body", "orelse", "finalbody")
        for handler in node.handlers:
            check = parse(f"{ASK}.caught({depth})", handler)
            handler.body = check + self._block(handler.body)
        return [*parse(f"{depth} = {ASK}.depth()", node), node]

    visit_TryStar = visit_Try

    def visit_Match(self, node):
        node.subject = self.visit(node.subject)
        for case in node.cases:
            if case.guard is not None:
                case.guard = self._known_now(self.visit(case.guard), "`if` of a `case`")
            case.body = self._block(case.body)
        return node

    def visit_Return(self, node):
        self.generic_visit(node)
        if self.in_if and self.conditionals:
            value = node.value or ast.copy_location(ast.Constant(None), node)
            asked = [value, ast.Constant("`return`")]
            if not self.is_generator:
                self.return_asked = True
                asked.append(ast.Name(_START, ast.Load()))
            node.value = self._call("leaving", asked, node)
        return node

    def visit_Break(self, node):
        if not (self.loop_ifs and self.conditionals):
            return node
        self.loop_asked = True
        word = "`break`" if isinstance(node, ast.Break) else "`continue`"
        asked = [ast.Constant(None), ast.Constant(word), ast.Name(self.loop, ast.Load())]
        check = self._call("leaving", asked, node)
        return [ast.copy_location(ast.Expr(check), node), node]

    visit_Continue = visit_Break

    def visit_Yield(self, node):
        self.generic_visit(node)
        if self.in_if and self.conditionals:
            value = node.value or ast.copy_location(ast.Constant(None), node)
            node.value = self._call("leaving", [value, ast.Constant("`yield`")], node)
        return node

    def visit_If(self, node):
        if not self.conditionals or getattr(node, "galatea_native", False):
            node.test = node.test if not self.conditionals else node.test
            if not self.conditionals:
                node.test = self.visit(node.test)
                return self._body(node, "body", "orelse")
            return node
        names = [name for name in assigned(node.body + node.orelse)]
        forbidden = sorted(set(names) & self.globals)
        names = [name for name in names if name not in self.globals]
        attributes = assigned_attributes(node.body + node.orelse)
        self.number += 1
        me = f"_galatea_if_{self.number}"
        test = self.visit(node.test)
        self.in_if += 1
        self.loop_ifs += 1
        body, orelse = self._block(node.body), self._block(node.orelse)
        self.in_if -= 1
        self.loop_ifs -= 1
        question = self._call(
            "If", [test, ast.Tuple([ast.Constant(n) for n in names], ast.Load())], node.test
        )
        if forbidden or attributes:
            question.args.append(self._at(ast.Constant((forbidden or [None])[0]), node.test))
        if attributes:
            question.args.append(self._at(ast.Constant(tuple(attributes)), node.test))
        target = ast.copy_location(ast.Name(me, ast.Store()), node)
        begin = ast.copy_location(ast.Assign([target], question), node)
        then = parse(f"if {me}.begin_then(): pass", node)[0]
        then.body = body
        restore = "".join(
            f"    {name} = {me}.old({name!r})\n" f"    if {name} is {ASK}.UNASSIGNED: del {name}\n"
            for name in names
        )
        other = parse(f"if {me}.begin_else():\n    pass", node)[0]
        other.body = (
            parse(f"if {me}.is_data:\n{restore}", node) if restore else []
        ) + orelse or parse("pass", node)
        merged = ", ".join(names) + "," if names else "_"
        deletions = "".join(f"    if {name} is {ASK}.UNASSIGNED: del {name}\n" for name in names)
        join = parse(
            f"if {me}.is_data:\n    "
            + (f"{merged} = {me}.merge()\n" if names else f"{me}.merge()\n")
            + deletions,
            node,
        )
        return [begin, then, other, *join]
