"""Random programs in the language's syntax, and the same programs written carelessly. Fixed seeds only."""
import ast
import io
import keyword
import random
import tokenize

NAMES = ["a", "b", "image", "images", "label", "encoded_images", "probability_of_a_flip", "fn", "types", "size", "x"]


class Program:
    """Writes random statements; `depth` bounds how deeply expressions nest."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self):
        return self.random.choice(NAMES)

    def string(self):
        return self.random.choice(
            ['"HWC"', "'CHW'", "'it\\'s'", "'say \"x\"'", '"\\xAB"', "r'a\\d'", "f'{size}px'", "'''long'''", "''", "u'x'", "F'{a!r:>{size}}'"]
        )

    def number(self):
        return self.random.choice(["1", "224", "0XfF", "1E5", "1.", ".5", "10_000", "0b11", "1e-3", "0O17"])

    def arguments(self, depth):
        parts = [self.expression(depth) for _ in range(self.random.randrange(3))]
        parts += [f"{n}={self.expression(depth)}" for n in self.random.sample(["size", "dtype", "output_layout", "mean"], self.random.randrange(3))]
        if self.random.random() < 0.1:
            parts.insert(0, f"*{self.name()}")
        if self.random.random() < 0.1:
            parts.append(f"**{self.name()}")
        return ", ".join(parts) + ("," if parts and self.random.random() < 0.15 else "")

    def expression(self, depth):
        if depth <= 0:
            return self.random.choice([self.name, self.name, self.number, self.string])()
        d = depth - 1
        e = lambda: self.expression(d)  # noqa: E731
        kinds = [
            lambda: f"{self.name()}.{self.name()}({self.arguments(d)})",
            lambda: f"fn.{self.name()}.{self.name()}({self.arguments(d)})",
            lambda: f"{self.name()}.{self.name()}({self.arguments(d)}).{self.name()}({self.arguments(d)})",
            lambda: f"({e()} {self.random.choice(['+', '-', '*', '/', '//', '%', '**', '@', '<<', '&', '|', '^'])} {e()})",
            lambda: f"{self.name()} {self.random.choice(['+', '-', '*', '/'])} {self.name()} {self.random.choice(['+', '*'])} {self.number()}",
            lambda: f"({e()} {self.random.choice(['<', '==', '!=', 'in', 'not in', 'is', 'is not'])} {e()})",
            lambda: f"({e()} {self.random.choice(['and', 'or'])} {e()} {self.random.choice(['and', 'or'])} {e()})",
            lambda: f"({e()} if {e()} else {e()})",
            lambda: f"(not {e()})",
            lambda: f"(-{self.name()}**{self.number()})",
            lambda: f"[{e()}, {e()}, {e()}]",
            lambda: f"({e()}, {e()})",
            lambda: f"({e()},)",
            lambda: f"{{{self.string()}: {e()}, {self.string()}: {e()}}}",
            lambda: f"[{e()} for {self.name()} in {self.name()}]",
            lambda: f"[{e()} for a, b in zip({self.name()}, {self.name()}) if {e()}]",
            lambda: f"{{{self.name()}: {e()} for {self.name()} in range({self.number()})}}",
            lambda: f"{self.name()}[{e()}]",
            lambda: f"{self.name()}[{self.name()} : {self.name()} + 1]",
            lambda: f"{self.name()}[1:2, ::{self.name()}]",
            lambda: f"(lambda x, y={self.number()}: {e()})",
            lambda: f"{self.string()} {self.string()}" if self.random.random() < 0.3 else self.string(),
            lambda: "[]",
            lambda: "{}",
        ]
        return self.random.choice(kinds)()

    def suite(self, depth, indent):
        return "".join(self.statement(depth, indent) for _ in range(self.random.randrange(1, 4)))

    def statement(self, depth, indent):
        pad = "    " * indent
        e = lambda d=None: self.expression(self.random.randrange(1, 4) if d is None else d)  # noqa: E731
        kind = self.random.randrange(20 if depth > 0 else 12)
        if kind < 4:
            return f"{pad}{self.name()} = {e()}\n"
        if kind == 4:
            return f"{pad}a, b = {e()}, {e(1)}\n"
        if kind == 5:
            return f"{pad}{self.name()} {self.random.choice(['+=', '*=', '//=', '|='])} {e()}\n"
        if kind == 6:
            return f"{pad}{self.name()}: {self.random.choice(['int', 'list[int]', 'str'])} = {e()}\n"
        if kind == 7:
            return f"{pad}assert {e()}, {self.string()}\n"
        if kind == 8:
            return f"{pad}fn.{self.name()}({self.arguments(3)})\n"
        if kind == 9:
            return f"{pad}{self.name()}[{e(1)}] = {e()}\n"
        if kind == 10:
            return f"{pad}a = b = {e()}\n"
        if kind == 11:
            return f"{pad}pass\n"
        if kind < 15:
            out = f"{pad}if {e(2)}:\n{self.suite(depth - 1, indent + 1)}"
            if self.random.random() < 0.5:
                out += f"{pad}elif {e(2)}:\n{self.suite(depth - 1, indent + 1)}"
            if self.random.random() < 0.5:
                out += f"{pad}else:\n{self.suite(depth - 1, indent + 1)}"
            return out
        if kind < 17:
            target = self.random.choice(["x", "a, b", "(a, b)", "i, (a, b)"])
            return f"{pad}for {target} in {e(2)}:\n{self.suite(depth - 1, indent + 1)}"
        if kind == 17:
            return f"{pad}while {e(2)}:\n{self.suite(depth - 1, indent + 1)}"
        parameters = ["a", "b=1", "c: int = 2", "d: list[int]=[]"][: self.random.randrange(5)]
        tail = self.random.choice(["", "*args", "*, k", "*, k: int=1, **kw"])
        inside = ", ".join([p for p in parameters if "=" not in p] + [p for p in parameters if "=" in p] + ([tail] if tail else []))
        decorator = self.random.choice(["", f"{pad}@pipeline_def(batch_size={self.number()}, num_threads=4)\n", f"{pad}@pipeline_def\n"])
        returns = self.random.choice(["", " -> int", " -> list[int]"])
        doc = self.random.choice(["", f'{pad}    """Doc."""\n', f"{pad}    '''  Doc\n\n{pad}      more   \n{pad}    '''\n"])
        return (
            f"{decorator}{pad}def {self.name()}({inside}){returns}:\n{doc}{self.suite(depth - 1, indent + 1)}"
            f"{pad}    return {self.expression(2)}, {self.expression(2)}\n"
        )

    def text(self, statements):
        head = self.random.choice(["", "from nvidia.dali import pipeline_def, fn, types\n", "import nvidia.dali as dali\n", '"""Module."""\n'])
        return head + "".join(self.statement(2, 0) for _ in range(statements))


def careless(source, seed, comments=True):
    """The same program with other blanks, line breaks, quotes, brackets and comments."""
    rng = random.Random(seed)
    out, depth, at_start, indents, last = [], 0, True, [0], None
    unit = rng.choice([1, 2, 3, 4, 8])
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        if token.type == tokenize.INDENT:
            indents.append(indents[-1] + unit)
            continue
        if token.type == tokenize.DEDENT:
            indents.pop()
            continue
        if token.type in (tokenize.NEWLINE, tokenize.NL):
            if token.type == tokenize.NEWLINE:
                if comments and rng.random() < 0.12:
                    out.append(rng.choice(["#comment", "  # a comment", " #: special"]))
                out.append("\n" * rng.choice([1, 1, 1, 2, 4]))
                at_start = True
            continue
        if token.type == tokenize.ENDMARKER:
            break
        if at_start:
            if comments and rng.random() < 0.1:
                out.append(" " * indents[-1] + rng.choice(["#own line", "# own line", "#!x"]) + "\n" * rng.choice([1, 2]))
            out.append(" " * indents[-1])
            at_start = False
        else:
            glue = last and (last[-1:].isalnum() or last[-1:] in "_\"'.") and (text[:1].isalnum() or text[:1] in "_\"'.")
            blanks = rng.choice(["", " ", " ", "  "])
            if glue and not blanks:
                blanks = " "
            if depth > 0 and rng.random() < 0.06:
                blanks = "\n" * rng.choice([1, 1, 2]) + " " * rng.randrange(9)
            elif depth > 0 and comments and rng.random() < 0.01:
                blanks = "  " + rng.choice(["#beside", "# beside"]) + "\n" + " " * rng.randrange(9)
            elif depth == 0 and rng.random() < 0.01:
                blanks = " \\\n" + " " * rng.randrange(4)
            out.append(blanks)
        if token.type == tokenize.NAME and not keyword.iskeyword(text) and rng.random() < 0.02:
            text = f"({text})"
        if token.type == tokenize.NUMBER and rng.random() < 0.05:
            text = f"(({text}))"
        if text in "([{":
            depth += 1
        if text in ")]}":
            depth -= 1
        out.append(text)
        last = text
    careless_source = "".join(out)
    try:
        if ast.dump(ast.parse(careless_source)) == ast.dump(ast.parse(source)):
            return careless_source
    except (SyntaxError, ValueError):
        pass
    return None
