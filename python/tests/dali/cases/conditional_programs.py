"""Conditionals: each sample against the same function of plain Python."""

import linecache
import textwrap

from . import case, each
from .programs import numbers, settings

PREDICATES = {
    "first": lambda i: i < 3,
    "even": lambda i: i % 2 == 0,
    "none": lambda i: False,
    "all": lambda i: True,
}


def conditional(m, function, *inputs, batch=6):
    """What the pipeline of a function gives, and whether it is what the function gives itself."""
    batches = [[m.np.array(make(i)) for i in range(batch)] for make in inputs]

    @m.pipeline_def(
        batch_size=batch,
        num_threads=2,
        device_id=None,
        enable_conditionals=True,
        prefetch_queue_depth=1,
    )
    def body():
        return function(*[m.feed(one) for one in batches])

    out = body().run()
    wanted = []
    for row in zip(*batches):
        given = function(*row)
        wanted.append(given if isinstance(given, tuple) else (given,))
    same = [
        all(m.np.array_equal(one.at(i), wanted[i][k]) for i in range(batch))
        for k, one in enumerate(out)
    ]
    return [same, m.plain(out)]


def balanced(n):
    a = b = n * 0
    if n > 0:
        a = -n
    else:
        b = 2 * n
    return a, b


def chained(n):
    if n == 0:
        result = n + 10
    elif n > 0:
        result = n + 100
    else:
        result = n - 50
    return result


def ternary(n):
    return n + 1 if n > 0 else n - 1


def nested(n):
    out = n * -5
    if n > -2:
        if n == 0:
            if n < 1:
                out = n + 10
            else:
                out = n - 10
        else:
            out = n + 200
    return out


def boolean(n):
    a = n > 1 and n < 3
    b = n == -2 or n > 1
    return a, b, not a


def loops(n):
    for k in range(3):
        if n > k:
            n = n - k
    while_count = 0
    while while_count < 2:
        while_count += 1
        n = n + 1
    return n


def early(n):
    if n > 0:
        return n * 2
    else:
        return n * 3


def comprehension(n):
    parts = [n + k for k in range(3)]
    total = parts[0]
    for one in parts[1:]:
        total = total + one
    return total if total > 3 else -total


def helper(n):
    def inner(x):
        if x > 0:
            return x - 1
        else:
            return x + 1

    return inner(inner(n))


class Holder:
    pass


def attributes_of_an_object(n):
    holder = Holder()
    holder.a = n * 0
    holder.b = n * 0
    if n > 0:
        holder.a = -n
    else:
        holder.b = 2 * n
    return holder.a, holder.b


def lists_of_values(n):
    parts = [n, n + 1]
    if n > 0:
        parts[0] = n + 100
    return parts[0], parts[1]


def several_targets(n):
    a, b = n, n + 1
    if n > 0:
        a, b = b, a
    return a, b


def augmented(n):
    if n > 0:
        n += 10
    else:
        n -= 10
    n *= 2
    return n


def comparisons(n):
    out = n * 0
    if n >= 1:
        out = out + 1
    if n <= 1:
        out = out + 10
    if n != 1:
        out = out + 100
    return out


FUNCTIONS = {
    one.__name__: one
    for one in (
        balanced,
        chained,
        ternary,
        nested,
        boolean,
        loops,
        early,
        comprehension,
        helper,
        attributes_of_an_object,
        lists_of_values,
        several_targets,
        augmented,
        comparisons,
    )
}


@each(**FUNCTIONS)
def conditionals_of_a_number(m, function):
    return conditional(m, function, lambda i: m.np.int32(i - 3))


@each(**PREDICATES)
def conditionals_that_assign(m, predicate):
    def function(flag, a, b):
        if flag:
            out = a
        else:
            out = b
        kept = b
        if flag:
            kept = a + 1
        return out, kept

    return conditional(m, function, predicate, lambda i: m.np.int32(i), lambda i: m.np.int32(-i))


@each(**PREDICATES)
def conditionals_of_two(m, first):
    def function(p, q, x):
        if p:
            if q:
                out = x + 10
            else:
                out = x * 2
        elif q:
            out = x - 1
        else:
            out = x
        if q:
            after = out + 1000
        else:
            after = out
        return out, after

    others = PREDICATES.values()
    return [conditional(m, function, first, other, lambda i: m.np.int32(i)) for other in others]


CONDITION_ERRORS = {
    "one_branch": """
        if flag:
            output = x
        return output
    """,
    "one_return": """
        if flag:
            return x
    """,
    "local": """
        if flag:
            inner = x + 1
            output = inner
        else:
            output = x
        return output, inner
    """,
    "other_types": """
        if flag:
            output = m.fn.cast(x, dtype=m.types.FLOAT)
        else:
            output = x
        return output
    """,
    "vector": """
        if x:
            output = 1
        else:
            output = 0
        return output
    """,
    "none": """
        if flag:
            output = None
        else:
            output = x
        return output
    """,
    "text": """
        if flag:
            output = "a"
        else:
            output = "b"
        return x
    """,
    "nodes_of_other_ranks": """
        if flag:
            output = x
        else:
            output = x[0]
        return output
    """,
    "while_of_a_node": """
        while flag:
            x = x + 1
        return x
    """,
    "assert_of_a_node": """
        assert flag
        return x
    """,
    "for_of_a_node": """
        for one in x:
            pass
        return x
    """,
    "chained_comparison": """
        if 0 < x[0] < 3:
            x = x + 1
        return x
    """,
    "in_a_list": """
        if x[0] in [1, 2]:
            x = x + 1
        return x
    """,
    "is_none": """
        if x is None:
            x = x + 1
        return x
    """,
}


@each(**CONDITION_ERRORS)
def conditionals_wrong(m, body):
    name = f"<{abs(hash(body))}>"
    text = "def function(m, flag, x):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {}
    exec(compile(text, name, "exec"), scope)
    function = scope["function"]

    @m.pipeline_def(**settings(enable_conditionals=True))
    def made():
        flag = m.feed(m.np.array([1, 0, 0, 1], "bool"))
        return function(m, flag, m.feed(numbers(m)))

    return made().run()


@case
def source_defined_inside_with_conditionals(m):
    @m.pipeline_def(**settings(enable_conditionals=True))
    def body():
        def source(info):
            return m.np.full(2, info.idx_in_batch)

        return m.fn.external_source(source=source, batch=False)

    return body().run()


@case
def functions_that_are_left_alone_by_name(m):
    left = m.load("pipeline").do_not_convert(func=lambda x: x + 1 if True else x)
    again = m.load("pipeline").do_not_convert()

    def define():
        x = m.feed([m.np.int32([i]) for i in range(2)])
        return left(x), again(lambda y: y * 2)(x)

    return m.run(define, enable_conditionals=True)
