"""CPython's syntax trees in the form of `galatea explain --emit=ast`.

usage: print_tree.py FOLDER

For each FOLDER/<name>.dali-dsl writes FOLDER/<name>.tree, or `syntax error` if CPython refuses the text.
"""
import ast
import glob
import io
import sys
import tokenize

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.LShift: "<<",
             ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.MatMult: "@", ast.And: "and", ast.Or: "or",
             ast.Not: "not ", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
             ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


def op(node):
    return OPERATORS[type(node)]


def quote(text):
    out = '"'
    for c in text:
        if c in '"\\':
            out += "\\" + c
        elif c == "\n":
            out += "\\n"
        elif ord(c) < 0x20:
            out += f"\\x{ord(c):02x}"
        else:
            out += c
    return out + '"'


class Printer:
    def __init__(self, source):
        self.lines = []
        self.indent = 0
        self.source = [line.encode() for line in source.split("\n")]

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    # ---- expressions ----

    def e(self, n):
        return getattr(self, "e_" + type(n).__name__)(n)

    def listed(self, nodes):
        return ", ".join(self.e(n) for n in nodes)

    def e_Name(self, n):
        return n.id

    def e_Constant(self, n):
        if isinstance(n.value, str):
            return quote(n.value)
        if n.value is Ellipsis:
            return "..."
        if n.value is None or isinstance(n.value, bool):
            return str(n.value)
        if isinstance(n.value, bytes):
            return quote(n.value.decode("latin1"))
        return self.source[n.lineno - 1][n.col_offset : n.end_col_offset].decode().replace("_", "")

    def parts(self, values):
        out, text = "", ""
        for v in values:
            if isinstance(v, ast.Constant):
                text += v.value
                continue
            if text:
                out += quote(text)
            text = ""
            out += "{" + self.e(v.value)
            if v.conversion != -1:
                out += "!" + chr(v.conversion)
            if v.format_spec is not None and v.format_spec.values:
                out += ":" + self.parts(v.format_spec.values)
            out += "}"
        return out + (quote(text) if text else "")

    def e_JoinedStr(self, n):
        return "f(" + self.parts(n.values) + ")"

    def e_Tuple(self, n):
        return "(" + self.listed(n.elts) + (",)" if len(n.elts) == 1 else ")")

    def e_List(self, n):
        return "[" + self.listed(n.elts) + "]"

    def e_Dict(self, n):
        return "{" + ", ".join((self.e(k) + ": " if k else "**") + self.e(v) for k, v in zip(n.keys, n.values)) + "}"

    def clauses(self, generators):
        out = ""
        for g in generators:
            out += f" for {self.e(g.target)} in {self.e(g.iter)}" + "".join(" if " + self.e(i) for i in g.ifs)
        return out

    def e_ListComp(self, n):
        return "[" + self.e(n.elt) + self.clauses(n.generators) + "]"

    def e_GeneratorExp(self, n):
        return "(" + self.e(n.elt) + self.clauses(n.generators) + ")"

    def e_DictComp(self, n):
        return "{" + self.e(n.key) + ": " + self.e(n.value) + self.clauses(n.generators) + "}"

    def parameters(self, a):
        out = []

        def one(p, default):
            text = p.arg + (": " + self.e(p.annotation) if p.annotation else "")
            return text + ("=" + self.e(default) if default else "")

        positional = a.posonlyargs + a.args
        defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
        for i, (p, d) in enumerate(zip(positional, defaults)):
            out.append(one(p, d) + (", /" if i + 1 == len(a.posonlyargs) else ""))
        if a.vararg:
            out.append("*" + one(a.vararg, None))
        for i, (p, d) in enumerate(zip(a.kwonlyargs, a.kw_defaults)):
            out.append(("*, " if i == 0 and not a.vararg else "") + one(p, d))
        if a.kwarg:
            out.append("**" + one(a.kwarg, None))
        return ", ".join(out)

    def e_Lambda(self, n):
        parameters = self.parameters(n.args)
        return "(lambda" + (" " + parameters if parameters else "") + ": " + self.e(n.body) + ")"

    def e_IfExp(self, n):
        return f"({self.e(n.body)} if {self.e(n.test)} else {self.e(n.orelse)})"

    def e_BoolOp(self, n):
        return "(" + f" {op(n.op)} ".join(self.e(v) for v in n.values) + ")"

    def e_Compare(self, n):
        return "(" + self.e(n.left) + "".join(f" {op(o)} {self.e(c)}" for o, c in zip(n.ops, n.comparators)) + ")"

    def e_BinOp(self, n):
        return f"({self.e(n.left)} {op(n.op)} {self.e(n.right)})"

    def e_UnaryOp(self, n):
        return "(" + op(n.op) + self.e(n.operand) + ")"

    def e_Call(self, n):
        # In the order of the text: `f(a=1, *b)`.
        arguments = [(a.lineno, a.col_offset, self.e(a)) for a in n.args]
        arguments += [(k.lineno, k.col_offset, (k.arg + "=" if k.arg else "**") + self.e(k.value)) for k in n.keywords]
        return self.e(n.func) + "(" + ", ".join(text for _, _, text in sorted(arguments, key=lambda a: a[:2])) + ")"

    def e_Attribute(self, n):
        return self.e(n.value) + "." + n.attr

    def e_Subscript(self, n):
        return self.e(n.value) + "[" + self.e(n.slice) + "]"

    def e_Slice(self, n):
        part = lambda x: self.e(x) if x else ""
        return part(n.lower) + ":" + part(n.upper) + (":" + part(n.step) if n.step else "")

    def e_Starred(self, n):
        return "*" + self.e(n.value)

    def e_NamedExpr(self, n):
        return f"({n.target.id} := {self.e(n.value)})"

    # Out of the language; taken only where nothing is staged, below a main guard.
    def e_Set(self, n):
        return "<error>"

    e_SetComp = e_Yield = e_YieldFrom = e_Set

    # ---- statements ----

    def unsupported(self, construct):
        self.line(f"unsupported `{construct}`")

    def s_ClassDef(self, n):
        self.unsupported("class")

    def s_With(self, n):
        self.unsupported("with")

    def s_AsyncFunctionDef(self, n):
        self.unsupported("async")

    def s_Match(self, n):
        self.unsupported("match")

    def s_Delete(self, n):
        self.unsupported("del")

    def s_Global(self, n):
        self.unsupported("global")

    def s_Nonlocal(self, n):
        self.unsupported("nonlocal")

    def s_Try(self, n):
        constant = lambda s: isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, (int, str, type(None)))
        plain = any(isinstance(s, (ast.Import, ast.ImportFrom)) for s in n.body) and all(isinstance(s, (ast.Import, ast.ImportFrom, ast.Pass)) or constant(s) for s in n.body)
        if not plain or n.orelse or n.finalbody:
            return self.unsupported("try")
        self.line("try:")
        self.suite(n.body)

    def suite(self, body):
        self.indent += 1
        for s in body:
            self.s(s)
        self.indent -= 1

    def branches(self, n, header):
        self.line(header)
        self.suite(n.body)
        if n.orelse:
            self.line("else")
            self.suite(n.orelse)

    def s(self, n):
        getattr(self, "s_" + type(n).__name__)(n)

    def s_Expr(self, n):
        self.line(self.e(n.value))

    def s_Assign(self, n):
        self.line("".join(self.e(t) + " = " for t in n.targets) + self.e(n.value))

    def s_AugAssign(self, n):
        self.line(f"{self.e(n.target)} {op(n.op)}= {self.e(n.value)}")

    def s_AnnAssign(self, n):
        self.line(f"{self.e(n.target)}: {self.e(n.annotation)}" + (" = " + self.e(n.value) if n.value else ""))

    def s_Return(self, n):
        self.line("return " + self.e(n.value) if n.value else "return")

    def s_If(self, n):
        self.branches(n, "if " + self.e(n.test))

    def s_For(self, n):
        self.branches(n, f"for {self.e(n.target)} in {self.e(n.iter)}")

    def s_While(self, n):
        self.branches(n, "while " + self.e(n.test))

    def s_Break(self, n):
        self.line("break")

    def s_Continue(self, n):
        self.line("continue")

    def s_Pass(self, n):
        self.line("pass")

    def s_Assert(self, n):
        self.line("assert " + self.e(n.test) + (", " + self.e(n.msg) if n.msg else ""))

    def s_Raise(self, n):
        self.line("raise " + self.e(n.exc) if n.exc else "raise")

    def s_FunctionDef(self, n):
        for d in n.decorator_list:
            self.line("@" + self.e(d))
        self.line(f"def {n.name}({self.parameters(n.args)})" + (" -> " + self.e(n.returns) if n.returns else ""))
        self.suite(n.body)

    def names(self, n):
        return ", ".join(a.name + (" as " + a.asname if a.asname else "") for a in n.names)

    def s_Import(self, n):
        self.line("import " + self.names(n))

    def s_ImportFrom(self, n):
        self.line(f"from {'.' * n.level}{n.module or ''} import {self.names(n)}")


for path in glob.glob(sys.argv[1] + "/*.dali-dsl"):
    data = open(path, "rb").read()
    try:
        tree = ast.parse(data)
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        source = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
        printer = Printer(source)
        for statement in tree.body:
            printer.s(statement)
        text = "\n".join(printer.lines) + ("\n" if printer.lines else "")
    except (SyntaxError, ValueError):
        text = "syntax error"
    except AttributeError:
        text = "outside the language"
    with open(path.replace(".dali-dsl", ".tree"), "w", encoding="utf-8") as out:
        out.write(text)
