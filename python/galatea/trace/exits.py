"""Functions with one `return`, at their end, and loops that end at their end.

Comes in: the statements of a function. Goes out: the same with what stands behind an arm that
leaves moved into the other arm; `break` and `continue` become variables that the next round asks.
"""

from __future__ import annotations

import ast

ASK = "_galatea"
RESULT = "_galatea_result"
_MOST_COPIES = 64


class Unchangeable(Exception):
    """Why a function is left as it is."""


# ---- what a statement does ----

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk(nodes, stop=SCOPES):
    """All nodes of the same scope."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, stop):
            stack.extend(ast.iter_child_nodes(node))


def assigned(statements) -> list[str]:
    """Variables that statements assign, in their order."""
    found: dict[str, None] = {}

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = None
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, _COMPREHENSIONS):
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    found[inner.target.id] = None
            return
        for child in ast.iter_child_nodes(node):
            visit(child)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found[node.id] = None
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                found[(alias.asname or alias.name).split(".")[0]] = None
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found[node.name] = None
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found[node.rest] = None

    for statement in statements:
        visit(statement)
    found.pop("*", None)
    return list(found)


def assigned_attributes(statements) -> list[str]:
    """Attributes that statements assign, as `self.x`, of what they do not assign themselves."""
    own = set(assigned(statements))
    found: dict[str, None] = {}
    for node in walk(statements):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names = [node.attr]
            base = node.value
            while isinstance(base, ast.Attribute):
                names.insert(0, base.attr)
                base = base.value
            is_private = any(name.startswith("__") for name in names)
            if isinstance(base, ast.Name) and base.id not in own and not is_private:
                found[".".join([base.id, *names])] = None
    return sorted(found)


def _exits(node, in_loop: bool) -> bool:
    """Whether an `if` holds a `return`, or, in a loop, what leaves that loop's round."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return in_loop
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, (ast.Try, ast.With)) or type(node).__name__ in ("TryStar", "Match"):
        return False  # left as they are; `leaving` looks after them
    if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
        return any(_exits(child, False) for child in node.body) or any(
            _exits(child, in_loop) for child in node.orelse
        )
    return any(_exits(child, in_loop) for child in ast.iter_child_nodes(node))


def _falls(statements) -> bool:
    """Whether what stands behind the statements may be reached."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return False
        if isinstance(statement, ast.If) and not (
            _falls(statement.body) or _falls(statement.orelse)
        ):
            return False
    return True


def contains(statements, kinds, stop=SCOPES) -> bool:
    return any(isinstance(node, kinds) for node in walk(statements, stop))


def parse(text: str, at: ast.AST) -> list[ast.stmt]:
    statements = ast.parse(text).body
    for statement in statements:
        for node in ast.walk(statement):
            ast.copy_location(node, at)
    return statements


def copied(tree):
    """A copy of a node, or of a list of them: a quarter of the time of `copy.deepcopy`."""
    if isinstance(tree, list):
        return [copied(each) for each in tree]
    if not isinstance(tree, ast.AST):
        return tree
    made = tree.__class__.__new__(tree.__class__)
    for name, value in tree.__dict__.items():
        made.__dict__[name] = copied(value)
    return made


# ---- one exit ----


class _Loop:
    def __init__(self, number: int):
        self.left = f"_galatea_left_{number}"
        self.returned = f"_galatea_returned_{number}"


class OneExit:
    """Moves what stands behind an arm that leaves into the other arm."""

    def __init__(self):
        self.copies = 0
        self.loops = 0

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if not any(self._needs(statement) for statement in body):
            return body
        if not any(_exits(s, False) for s in body if isinstance(s, (ast.If, ast.For, ast.While))):
            return self._block(body, None, False)
        first, last = body[0], body[-1]
        head = parse(f"{RESULT} = None", first)
        return head + self._block(body, None, True) + parse(f"return {RESULT}", last)

    def _needs(self, statement) -> bool:
        return any((isinstance(node, ast.If) and _exits(node, True)) for node in walk([statement]))

    def _block(self, body, loop: _Loop | None, one_exit: bool) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for index, statement in enumerate(body):
            rest = body[index + 1 :]
            if isinstance(statement, ast.Return) and one_exit:
                value = statement.value or ast.copy_location(ast.Constant(None), statement)
                target = ast.copy_location(ast.Name(RESULT, ast.Store()), statement)
                out.append(ast.copy_location(ast.Assign([target], value), statement))
                if loop:
                    out += parse(f"{loop.left} = {loop.returned} = True", statement)
                return out
            if isinstance(statement, ast.Break) and loop:
                return out + parse(f"{loop.left} = True", statement)
            if isinstance(statement, ast.Continue) and loop:
                return out
            if isinstance(statement, ast.If):
                if _exits(statement, loop is not None):
                    out.append(self._if(statement, rest, loop, one_exit))
                    return out
                statement.body = self._block(statement.body, loop, one_exit)
                statement.orelse = self._block(statement.orelse, loop, one_exit)
                out.append(statement)
            elif isinstance(statement, (ast.For, ast.While)) and (
                self._needs(statement)
                or (one_exit and _exits(statement, False))
                or any(_exits(inner, loop is not None) for inner in statement.orelse)
            ):
                return out + self._loop(statement, rest, loop, one_exit)
            elif isinstance(statement, (ast.With, ast.Try)):
                for part in ("body", "orelse", "finalbody"):
                    inner = getattr(statement, part, None)
                    if inner and not contains(inner, (ast.Return, ast.Break, ast.Continue)):
                        setattr(statement, part, self._block(inner, None, False))
                out.append(self._left_alone(statement, loop))
            else:
                out.append(statement)
        return out

    def _left_alone(self, statement, loop: _Loop | None):
        """A `break` in a `try` still has to say that the loop was left."""
        if loop is None:
            return statement

        def visit(body):
            out = []
            for inner in body:
                for part in ("body", "orelse", "finalbody"):
                    if not isinstance(inner, (ast.For, ast.While, *SCOPES)):
                        if isinstance(getattr(inner, part, None), list):
                            setattr(inner, part, visit(getattr(inner, part)))
                for handler in getattr(inner, "handlers", []):
                    handler.body = visit(handler.body)
                if isinstance(inner, ast.Break):
                    out += parse(f"{loop.left} = True", inner)
                out.append(inner)
            return out

        return visit([statement])[0]

    def _if(self, statement: ast.If, rest, loop, one_exit):
        arms = []
        for arm in (statement.body, statement.orelse):
            arms.append(_falls(arm))
        both = all(arms) and rest
        if both:
            self.copies += 1
            if self.copies > _MOST_COPIES:
                raise Unchangeable(
                    f"line {statement.lineno}: too many `if`s with `return`, `break` or `continue`"
                    " in some of their arms"
                )
        then_rest = copied(rest) if both else rest
        statement.body = self._block(
            statement.body + (then_rest if arms[0] else []), loop, one_exit
        ) or parse("pass", statement)
        statement.orelse = self._block(statement.orelse + (rest if arms[1] else []), loop, one_exit)
        return statement

    def _loop(self, statement, rest, outer: _Loop | None, one_exit: bool) -> list[ast.stmt]:
        self.loops += 1
        loop = _Loop(self.loops)
        returns = one_exit and any(_exits(inner, False) for inner in statement.body)
        body = self._block(statement.body, loop, one_exit) or parse("pass", statement)
        guard = ast.copy_location(
            ast.If(parse(f"not {loop.left}", statement)[0].value, body, []), statement
        )
        is_while = isinstance(statement, ast.While)
        stop = parse(f"if {ASK}.stops({loop.left}, {is_while}):\n    break", statement)
        for node in stop:
            node.galatea_native = True
        behind = list(rest)
        if statement.orelse:
            otherwise = ast.If(parse(f"not {loop.left}", statement)[0].value, statement.orelse, [])
            behind.insert(0, ast.copy_location(otherwise, statement))
            statement.orelse = []
        statement.body = [guard, *stop]
        out = parse(f"{loop.left} = {loop.returned} = False", statement) + [statement]
        behind = self._block(behind, outer, one_exit)
        if not returns:
            return out + behind
        done = parse("pass", statement)
        if outer:
            done = parse(f"{outer.left} = {outer.returned} = True", statement)
        check = parse(f"{ASK}.now({loop.returned}, 'a `return` in a loop')", statement)
        out.append(ast.copy_location(ast.If(check[0].value, done, behind), statement))
        return out
