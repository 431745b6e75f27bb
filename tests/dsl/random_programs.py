"""Random static programs, and what CPython makes of them.

usage: random_programs.py SEED COUNT FOLDER

Writes FOLDER/<i>.dali-dsl and FOLDER/<i>.expected. The latter has one line per top-level statement:
  <first line> <last line> ok <what it prints, with \\n, \\r and \\\\>
  <first line> <last line> error <type of the exception>
  <first line> <last line> any          (it uses a name that an earlier error left undefined)
"""
import ast
import contextlib
import io
import os
import random
import sys


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = {}  # name -> kind
        self.count = 0
        self.functions = []  # (name, smallest number of arguments, largest)
        self.locals = []  # stack of {name: kind}

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *options):
        return self.r.choice(options)

    def name_of(self, kind):
        known = [n for scope in [self.names, *self.locals] for n, k in scope.items() if k == kind]
        return self.r.choice(known) if known else None

    # ---- expressions ----

    def expr(self, kind, depth=3):
        if self.chance(0.012):
            return "(" + self.expr(self.pick("int", "float", "str", "bool", "list", "tuple", "dict", "none"), depth) + ")"
        if depth > 0 and self.chance(0.25):
            name = self.name_of(kind)
            if name:
                return name
        if depth > 0 and self.chance(0.06):
            return f"({self.expr(kind, depth - 1)} if {self.expr('bool', depth - 1)} else {self.expr(kind, depth - 1)})"
        if depth > 0 and self.chance(0.03):
            return f"(lambda a, b=2: {self.expr(kind, depth - 2)})({self.expr('int', 0)})"
        return getattr(self, "make_" + kind)(depth)

    def make_none(self, depth):
        return "None"

    def make_int(self, d):
        if d <= 0 or self.chance(0.2):
            return self.pick("0", "1", "2", "3", "5", "7", "10", "-1", "-2", "0x1F", "0b101", "1_000", "255", "64")
        e = self.expr
        k = self.r.randrange(22)
        if k < 7:
            op = self.pick("+", "-", "*", "//", "%", "&", "|", "^", "+", "-", "*")
            return f"({e('int', d-1)} {op} {e('int', d-1)})"
        if k == 7:
            return f"({e('int', d-1)} {self.pick('<<', '>>')} {self.pick('0', '1', '3', '7')})"
        if k == 8:
            return f"{self.pick('-', '+', '~')}{e('int', d-1)}"
        if k == 9:
            return f"({e('int', d-1)} ** {self.pick('0', '1', '2', '3')})"
        if k == 10:
            return f"len({e(self.pick('str', 'list', 'tuple', 'dict'), d-1)})"
        if k == 11:
            return f"int({e(self.pick('float', 'bool', 'int'), d-1)})"
        if k == 12:
            return f"abs({e('int', d-1)})"
        if k == 13:
            return f"{self.pick('min', 'max', 'sum')}({e('list', d-1)})"
        if k == 14:
            return f"{e('list', d-1)}[{self.pick('0', '-1', '1', e('int', 0))}]"
        if k == 15:
            return f"{e('str', d-1)}.{self.pick('find', 'count', 'index', 'rfind')}({e('str', 0)})"
        if k == 16:
            return f"{e('list', d-1)}.{self.pick('count', 'index')}({e('int', d-1)})"
        if k == 17:
            return f"round({e('float', d-1)})"
        if k == 18:
            return f"({e('bool', d-1)} + {e('int', d-1)})"
        if k == 19:
            return f"sum(x {self.pick('*', '+', '-')} {e('int', 0)} for x in {e('list', d-1)} if x {self.pick('>', '!=', '<=')} {e('int', 0)})"
        if k == 20:
            return f"{e('dict', d-1)}.get({e('str', d-1)}, {e('int', 0)})"
        return f"max({e('int', d-1)}, {e('int', d-1)}, key=lambda v: {self.pick('-v', 'v * v', 'abs(v - 3)')})"

    def make_float(self, d):
        if d <= 0 or self.chance(0.25):
            return self.pick("0.0", "1.5", "-2.5", "0.1", "1e3", "1e-5", "3.0", "1e16", ".5", "2.", "1_0.2_5", "1e22", "123456.789", "-0.0", "5e-324")
        e = self.expr
        k = self.r.randrange(13)
        if k < 5:
            return f"({e(self.pick('float', 'int'), d-1)} {self.pick('+', '-', '*', '/', '//', '%')} {e('float', d-1)})"
        if k == 5:
            return f"({e('int', d-1)} / {e('int', d-1)})"
        if k == 6:
            return f"float({e(self.pick('int', 'bool', 'float'), d-1)})"
        if k == 7:
            return f"round({e('float', d-1)}, {self.pick('0', '1', '2', '3', '-1', '-2', '10')})"
        if k == 8:
            return f"abs({e('float', d-1)})"
        if k == 9:
            return f"(abs({e('float', d-1)}) ** {self.pick('2', '0', '1', '0.5', '-1')})"  # a negative base gives a complex number
        if k == 10:
            return f"sum([{e('float', d-1)}, {e('int', d-1)}, {e('float', d-1)}])"
        if k == 11:
            return f"min({e('float', d-1)}, {e('float', d-1)})"
        return "float(" + self.pick("'1.5'", "' 2e3 '", "'inf'", "'-Infinity'", "'1_0'", "'x'", "''", "'1__0'", "'.5'", "'nan'") + ")"

    def make_bool(self, d):
        if d <= 0 or self.chance(0.15):
            return self.pick("True", "False")
        e = self.expr
        k = self.r.randrange(14)
        compare = self.pick("<", "<=", ">", ">=", "==", "!=")
        if k < 3:
            kind = self.pick("int", "float", "str", "int")
            return f"({e(kind, d-1)} {compare} {e(kind, d-1)})"
        if k == 3:
            return f"({e('int', d-1)} {self.pick('<', '<=', '==')} {e('float', d-1)} {compare} {e('int', d-1)})"
        if k == 4:
            return f"({e('bool', d-1)} {self.pick('and', 'or')} {e('bool', d-1)})"
        if k == 5:
            return f"(not {e(self.pick('bool', 'int', 'str', 'list'), d-1)})"
        if k == 6:
            return f"({e('int', d-1)} {self.pick('in', 'not in')} {e('list', d-1)})"
        if k == 7:
            return f"({e('str', d-1)} {self.pick('in', 'not in')} {e(self.pick('str', 'dict'), d-1)})"
        if k == 8:
            return f"({e('list', d-1)} {compare} {e('list', d-1)})"
        if k == 9:
            return f"({e('tuple', d-1)} {compare} {e('tuple', d-1)})"
        if k == 10:
            return f"{self.pick('all', 'any')}({e('list', d-1)})"
        if k == 11:
            kind = self.pick("int", "float", "str", "list", "tuple", "dict", "bool", "none")
            return f"isinstance({e(kind, d-1)}, {self.pick('int', 'float', 'str', '(int, float)', 'bool', 'list', 'dict', '(list, tuple)')})"
        if k == 12:
            return f"{e('str', d-1)}.{self.pick('startswith', 'endswith')}({self.pick(e('str', 0), '(' + e('str', 0) + ', ' + e('str', 0) + ')')})"
        return f"({e(self.pick('none', 'int', 'str'), d-1)} is {self.pick('', 'not ')}None)"

    def text(self):
        return self.pick("''", "'a'", "'abc'", "'Hello World'", "'a,b,,c'", "'  x '", "'größe'", '"it\'s"', "'12'", "'\\n'", "'日本'", "'x\\ty'",
                         '"q\\"\'"', "r'\\d'", "'ab' 'cd'", "'%s'", "'{}'", "'\\x00\\x7f'", "'é' \"b\"", "'''m\nn'''", "'-'", "','", "'\\u00a0z'")

    def make_str(self, d):
        if d <= 0 or self.chance(0.2):
            return self.text()
        e = self.expr
        k = self.r.randrange(20)
        if k == 0:
            return f"({e('str', d-1)} + {e('str', d-1)})"
        if k == 1:
            return f"({e('str', d-1)} * {self.pick('0', '1', '2', '3', '-1')})"
        if k == 2:
            return f"str({e(self.pick('int', 'float', 'bool', 'list', 'tuple', 'dict', 'none', 'str'), d-1)})"
        if k == 3:
            return f"repr({e(self.pick('int', 'float', 'str', 'list', 'tuple', 'dict'), d-1)})"
        if k == 4:
            part = self.pick("0", "-1", "1:", ":2", "::-1", "1:-1", "::2", "-2:", "5:1:-2", e("int", 0), ":" + e("int", 0))
            return f"{e('str', d-1)}[{part}]"
        if k == 5:
            return f"{e('str', d-1)}.{self.pick('upper', 'lower', 'strip', 'lstrip', 'rstrip', 'title', 'capitalize', 'swapcase')}()"
        if k == 6:
            return f"{e('str', d-1)}.replace({e('str', 0)}, {e('str', 0)}{self.pick('', '', ', 1')})"
        if k == 7:
            return f"{e('str', 0)}.join({self.pick('[str(i) for i in ' + e('list', d-1) + ']', e('str', d-1), '(' + e('str', 0) + ', ' + e('str', 0) + ')')})"
        if k == 8:
            return f"{e('str', d-1)}.strip({e('str', 0)})"
        if k == 9:
            return self.percent(d)
        if k == 10:
            return self.format_call(d)
        if k == 11:
            return f"{e('str', d-1)}.{self.pick('zfill', 'ljust', 'rjust', 'center')}({self.pick('0', '3', '6')})"
        if k == 12:
            return f"{e('str', d-1)}.{self.pick('removeprefix', 'removesuffix')}({e('str', 0)})"
        return self.fstring(d)

    def spec(self, kind):
        fill = self.pick("", "", "", "*<", ">", "^", "0=", "é^", "<")
        sign = self.pick("", "", "+", " ", "-")
        width = self.pick("", "", "6", "10", "3")
        zero = self.pick("", "", "0")
        if kind == "str":
            return fill.replace("0=", "") + width + self.pick("", "", ".2", ".0") + self.pick("", "", "s")
        if kind == "int":
            return fill + sign + self.pick("", "", "#") + zero + width + self.pick("", "", ",", "_") + self.pick("", "d", "x", "X", "b", "o", "c", "n", "e", ".2f", "g", "%")
        return fill + sign + self.pick("", "", "", "#") + zero + width + self.pick("", "", ",", "_") + self.pick("", "", ".3", ".0", ".12") + self.pick("", "f", "e", "g", "%", "F", "E", "G", "f", "n")

    def fstring(self, d):
        out = ""
        for _ in range(self.r.randrange(1, 4)):
            out += self.pick("", "a", " ", "{{", "}}", "é", ": ")
            kind = self.pick("int", "float", "str", "list", "int", "float", "tuple", "bool", "none")
            inner = self.expr(kind, d - 2)
            if any(c in inner for c in "\\'\"\n#") or "lambda" in inner or "!" in inner:
                inner = self.pick("1 + 2", "0.5 * 3", "[1, 2]", "(3,)") if kind != "str" else self.pick("len", "max") + "([4, 5])" if False else "7"
                kind = "any"
            if inner.startswith("{"):
                inner = " " + inner
            conversion = self.pick("", "", "", "!r", "!s", "!a")
            debug = self.pick("", "", "", "", "=", " = ")
            if conversion:
                spec = self.pick("", ":10", ":>8", ":.3", ":^9s")
            elif kind in ("int", "float", "str"):
                spec = self.pick("", ":" + self.spec(kind), ":" + self.spec(kind))
                if self.chance(0.1):
                    spec = ":{3 + 4}" if self.chance(0.5) else ":>{2 * 5}"
            else:
                spec = ""
            out += "{" + inner + debug + conversion + spec + "}"
        return 'f"' + out + '"'

    def percent(self, d):
        kind = self.pick("int", "float", "str", "any", "two", "dict")
        flags = self.pick("", "", "-", "0", "+", " ", "#") + self.pick("", "", "5", "8")
        if kind == "two":
            return f"('%s|%{flags}d' % ({self.expr('str', d-1)}, {self.expr('int', d-1)}))"
        if kind == "dict":
            return f"('%(a)s-%(b){flags}d' % {{'a': {self.expr('str', d-1)}, 'b': {self.expr('int', d-1)}}})"
        letter = {"int": self.pick("d", "i", "x", "o", "X", "s", "r", "f", "c"), "float": self.pick("f", "e", "g", "s", ".2f", ".0f", "d", "E", "G"),
                  "str": self.pick("s", "r", ".2s", "a", "d"), "any": self.pick("s", "r")}[kind]
        value = self.expr(kind if kind != "any" else self.pick("list", "bool", "none", "dict"), d - 1)
        return f"('<%{flags}{letter}>%%' % ({value},))"

    def format_call(self, d):
        e = self.expr
        k = self.r.randrange(6)
        if k == 0:
            return "'{} {}'.format(" + e("int", d - 1) + ", " + e("str", d - 1) + ")"
        if k == 1:
            return "'{1}-{0!r}'.format(" + e("str", d - 1) + ", " + e("float", d - 1) + ")"
        if k == 2:
            return "'{a:" + self.spec("int") + "}'.format(a=" + e("int", d - 1) + ")"
        if k == 3:
            return "'{0[1]}{{}}'.format(" + e("list", d - 1) + ")"
        if k == 4:
            return "'{:{}}'.format(" + e("int", d - 1) + ", 6)"
        return "'{:" + self.spec("float") + "}'.format(" + e("float", d - 1) + ")"

    def make_list(self, d):
        if d <= 0 or self.chance(0.2):
            return self.pick("[]", "[1]", "[1, 2, 3]", "[3, 1, 2, 1]", "[0, -5, 10]", "([7] * 3)", "[2, 2.5]")
        e = self.expr
        k = self.r.randrange(19)
        if k < 3:
            return "[" + ", ".join(e("int", d - 1) for _ in range(self.r.randrange(4))) + "]"
        if k == 3:
            return f"[{e('int', d-1)}, *{e('list', d-1)}]"
        if k == 4:
            return f"({e('list', d-1)} + {e('list', d-1)})"
        if k == 5:
            return f"({e('list', d-1)} * {self.pick('0', '1', '2', '-1')})"
        if k == 6:
            return f"list(range({', '.join(e('int', 0) for _ in range(self.r.randrange(1, 4)))}))"
        if k == 7:
            part = self.pick("1:", ":2", "::-1", ":-1", "::2", "-2:", "3:0:-1", ":" + e("int", 0), "None:None", e("int", 0) + ":" + e("int", 0) + ":2")
            return f"{e('list', d-1)}[{part}]"
        if k == 8:
            return f"sorted({e('list', d-1)}{self.pick('', ', reverse=True', ', key=lambda v: -v', ', key=lambda v: v % 3, reverse=True')})"
        if k == 9:
            return f"[x {self.pick('+', '*', '-')} {e('int', 0)} for x in {e('list', d-1)}{self.pick('', ' if x > 1', ' if x % 2 if x')}]"
        if k == 10:
            return f"[x * y for x in {e('list', d-1)} for y in {self.pick('(1, 2)', 'range(2)', '[x, 3]')}]"
        if k == 11:
            return f"list(map(lambda v: v {self.pick('+ 1', '* v', '// 2')}, {e('list', d-1)}))"
        if k == 12:
            return f"list(filter({self.pick('None', 'lambda v: v > 1')}, {e('list', d-1)}))"
        if k == 13:
            return f"list(reversed({e('list', d-1)}))"
        if k == 14:
            return f"[a + b for a, b in zip({e('list', d-1)}, {e('list', d-1)})]"
        if k == 15:
            return f"[i * v for i, v in enumerate({e('list', d-1)}{self.pick('', ', 1', ', start=2')})]"
        if k == 16:
            return f"list({e('dict', d-1)}.values())"
        if k == 17:
            return f"list(dict.fromkeys({e('list', d-1)}))" if self.chance(0.3) else f"{e('list', d-1)}.copy()"
        return f"[len(s) for s in {e('str', d-1)}.split({self.pick('', e('str', 0), repr(',') + ', 1')})]"

    def make_tuple(self, d):
        if d <= 0 or self.chance(0.2):
            return self.pick("()", "(1,)", "(1, 2)", "(1, 'a')", "(None, True)", "(1.5, (2, 3))")
        e = self.expr
        k = self.r.randrange(9)
        kinds = ("int", "float", "str", "bool", "list", "tuple", "none")
        if k < 3:
            parts = [e(self.pick(*kinds), d - 1) for _ in range(self.r.randrange(1, 4))]
            return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
        if k == 3:
            return f"tuple({e(self.pick('list', 'str', 'dict', 'tuple'), d-1)})"
        if k == 4:
            return f"({e('tuple', d-1)} + {e('tuple', d-1)})"
        if k == 5:
            return f"{e('tuple', d-1)}[{self.pick('1:', '::-1', ':1')}]"
        if k == 6:
            return f"(*{e('tuple', d-1)}, {e('int', d-1)})"
        if k == 7:
            return f"divmod({e('int', d-1)}, {e('int', d-1)})"
        return f"tuple({e('str', d-1)}.partition({e('str', 0)}))"

    def make_dict(self, d):
        if d <= 0 or self.chance(0.2):
            return self.pick("{}", "{'a': 1}", "{'a': 1, 'b': 2}", "{'x': -1, 'abc': 5}", "dict(a=3, b=4)")
        e = self.expr
        k = self.r.randrange(7)
        if k < 2:
            return "{" + ", ".join(f"{e('str', d-1)}: {e('int', d-1)}" for _ in range(self.r.randrange(4))) + "}"
        if k == 2:
            return f"{{str(k): k * {e('int', 0)} for k in {e('list', d-1)}}}"
        if k == 3:
            return f"{{**{e('dict', d-1)}, {e('str', 0)}: {e('int', d-1)}}}"
        if k == 4:
            return f"dict({e('dict', d-1)}, z={e('int', d-1)})"
        if k == 5:
            return f"({e('dict', d-1)} | {e('dict', d-1)})"
        return f"dict(zip({e('str', d-1)}, {e('list', d-1)}))"

    # ---- statements ----

    KINDS = ("int", "float", "str", "bool", "list", "tuple", "dict")

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def statement(self):
        e, k = self.expr, self.r.randrange(24)
        kind = self.pick(*self.KINDS)
        if k < 8:
            return [f"print(repr({e(kind, 4)}))"]
        if k < 13:
            name = self.fresh()
            line = f"{name} = {e(kind, 3)}"
            self.names[name] = kind
            return [line]
        if k == 13:
            a, b = self.fresh(), self.fresh()
            line = self.pick(f"{a}, *{b} = {e('list', 3)}", f"*{b}, {a} = {e('list', 3)}", f"[{a}, *{b}] = {e('list', 2)}")
            self.names[a], self.names[b] = "int", "list"
            return [line]
        if k == 14:
            a, b = self.fresh(), self.fresh()
            lines = [f"{a} = {b} = {e('int', 2)}", f"{a}, {b} = {b} + 1, {a} * 2"]
            self.names[a] = self.names[b] = "int"
            return lines
        if k == 15:
            name = self.name_of(self.pick("int", "float", "str", "list"))
            if not name:
                return ["pass"]
            kind = self.names[name]
            op = {"int": self.pick("+=", "-=", "*=", "//=", "%=", "&=", "|=", "^="), "float": self.pick("+=", "-=", "*=", "/="), "str": "+=", "list": "+="}[kind]
            return [f"{name} {op} {e(kind, 2)}"]
        if k == 16:
            name = self.fresh()
            self.names[name] = "list"
            lines = [f"{name} = [4, 2, 8]"]
            for _ in range(self.r.randrange(1, 4)):
                lines.append(name + self.pick(".append(9)", ".extend([1, 2])", ".extend('ab')", ".insert(1, 7)", ".insert(-9, 0)", ".insert(99, 3)", ".pop()", ".pop(0)", ".pop(-2)",
                                              ".sort()", ".sort(reverse=True)", ".sort(key=lambda v: -v)", ".reverse()", ".remove(2)", ".remove(55)", "[0] = 5", "[-1] = 6", "[9] = 1", ".clear()",
                                              " += (1,)", " *= 2", ".append([1])"))
            return lines + [f"print(repr({name}))"]
        if k == 17:
            name = self.fresh()
            self.names[name] = "dict"
            lines = [f"{name} = {{'a': 1, 'b': 2}}"]
            for _ in range(self.r.randrange(1, 4)):
                lines.append(self.pick(f"{name}['c'] = 3", f"{name}['a'] += 5", f"{name}.update(d=4)", f"{name}.update({{'b': 0}})", f"{name}.pop('a')", f"{name}.pop('q', None)",
                                       f"{name}.pop('q')", f"{name}.setdefault('e', 6)", f"{name}.clear()", f"{name}['zz'] -= 1", f"print({name}.popitem())"))
            return lines + [f"print(repr({name}), list({name}), list({name}.items()), {name}.get('c'), 'a' in {name})"]
        if k == 18:
            return self.loop()
        if k == 19:
            return self.function()
        if k == 20 and self.functions:
            f, least, most = self.r.choice(self.functions)
            given = self.r.randrange(max(0, least - (1 if self.chance(0.05) else 0)), most + 1)
            arguments = [e("int", 2) for _ in range(given)]
            if self.chance(0.3):
                arguments.append("k=" + e("int", 1))
            if self.chance(0.2):
                arguments.append("**{'z': 1, 'k2': 2}")
            if self.chance(0.2):
                arguments.insert(0, "*" + e("list", 1))
            return [f"print(repr({f}({', '.join(arguments)})))"]
        if k == 21:
            name = self.fresh()
            line = f"print(({name} := {e('int', 3)}) + 1, {name})"
            self.names[name] = "int"
            return [line]
        if k == 22:
            return [f"assert {e('bool', 3)}, {e('str', 1)}"] if self.chance(0.3) else [f"print({e(kind, 2)}, {e(kind, 2)}, sep='|')" if self.chance(0.2) else f"print({e(kind, 2)}, {e(kind, 3)})"]
        lines = [f"if {e('bool', 3)}:", f"    print(repr({e(kind, 3)}))", "else:", f"    print({e(kind, 2)})"]
        if self.chance(0.3):
            lines[2:2] = [f"elif {e('int', 2)}:", f"    print('elif', {e(kind, 2)})"]
        return ["\n".join(lines)]

    def loop(self):
        e, out = self.expr, self.fresh()
        self.locals.append({"i": "int"})
        body = f"    {out}.append({e(self.pick('int', 'str', 'float'), 2)})"
        extra = self.pick("", "    if i > 2: break\n", "    if i % 2: continue\n", "    if not i: continue\n    else: pass\n")
        condition = e("int", 0)
        self.locals.pop()
        orelse = self.pick("", f"\nelse:\n    {out}.append('else')")
        header = self.pick(f"for i in {e('list', 2)}:", f"for i in range({condition}):", f"for i, j in enumerate({e('list', 1)}):", f"for i in ({e('int', 1)}, {e('int', 1)}):", "while")
        lines = [f"{out} = []"]
        if header == "while":
            lines.append(f"{out}_n = 0")
            lines.append(f"while {out}_n < {self.pick('3', '0', '5')}:\n    i = {out}_n\n    {out}_n += 1\n{extra}{body}{orelse}")
        else:
            lines.append(f"{header}\n{extra}{body}{orelse}")
        return lines + [f"print({out})"]

    def function(self):
        e = self.expr
        self.count += 1
        name = f"f{self.count}"
        self.locals.append({"a": "int", "b": "int"})
        k = self.r.randrange(5)
        if k == 0:
            head, least, most = "a, b=2", 1, 2
        elif k == 1:
            head, least, most = "a, b=3, *args, k=1, **kw", 1, 4
        elif k == 2:
            head, least, most = "a, /, b=5", 1, 2
        elif k == 3:
            head, least, most = "a=1, *, b=4", 0, 1
        else:
            head, least, most = "a, b, *rest", 2, 4
        tail = {1: ", args, k, sorted(kw.items())", 4: ", rest"}.get(k, "")
        body = self.pick(f"    return ({e('int', 2)}, {e(self.pick(*self.KINDS), 2)}{tail})",
                         f"    if {e('bool', 2)}:\n        return {e('int', 2)}\n    c = {e('list', 2)}\n    return c, b{tail}",
                         f"    def inner(x, y=b):\n        return x * a + y\n    return [inner(t) for t in {e('list', 1)}]",
                         f"    return a if a <= 1 or a > 6 else {name}(a - 1, b=b) + 1" if k in (0, 2) else f"    return a{tail}",
                         f"    total = 0\n    for x in {e('list', 1)}:\n        total += x * a\n        if total > 20:\n            return 'big', total\n    return total")
        self.locals.pop()
        self.functions.append((name, least, most))
        return [f"def {name}({head}):\n{body}"]


def statements(seed):
    generator = Generator(seed)
    out = []
    while len(out) < 40:
        out += generator.statement()
    return out


class Names(ast.NodeVisitor):
    def __init__(self):
        self.used = set()

    def visit_Name(self, node):
        self.used.add(node.id)


def fits(value, depth=0):
    """Whether all ints fit into 64 bits, and nothing is of a kind that the language lacks."""
    if isinstance(value, complex):
        return False
    if isinstance(value, bool) or not isinstance(value, (int, list, tuple, dict)):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if depth > 10:
        return True
    if isinstance(value, dict):
        return all(fits(v, depth + 1) for v in value.values())
    return all(fits(v, depth + 1) for v in value)


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def judge(text):
    """The expected lines of a program."""
    tree = ast.parse(text)
    names = {"__name__": "m"}
    lost = set()
    rows = []
    for node in tree.body:
        visitor = Names()
        visitor.visit(node)
        where = f"{node.lineno} {node.end_lineno}"
        bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if isinstance(node, ast.FunctionDef):
            bound.add(node.name)
        if visitor.used & lost:
            lost |= visitor.used | bound
            rows.append(f"{where} any")
            continue
        captured = io.StringIO()
        try:
            with contextlib.redirect_stdout(captured):
                exec(compile(ast.Module([node], []), "program", "exec"), names)
            if not all(fits(names[n]) for n in (visitor.used | bound) if n in names):
                raise OverflowError
            rows.append(f"{where} ok " + escape(captured.getvalue()))
        except Exception as e:
            builtins = {"print", "len", "sum", "abs", "min", "max", "sorted", "list", "dict", "tuple", "str", "repr", "int", "float", "bool", "zip",
                        "map", "filter", "range", "round", "any", "all", "isinstance", "enumerate", "reversed", "divmod"}
            lost |= (visitor.used | bound) - builtins
            rows.append(f"{where} error {type(e).__name__}")
    return rows


def main():
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    for i in range(count):
        text = "\n".join(statements(seed * 100003 + i)) + "\n"
        with open(os.path.join(folder, f"{i}.dali-dsl"), "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        with open(os.path.join(folder, f"{i}.expected"), "w", encoding="utf-8", newline="\n") as out:
            out.write("\n".join(judge(text)) + "\n")


if __name__ == "__main__":
    main()
