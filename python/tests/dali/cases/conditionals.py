"""Conditions on data: what arms may hold, which values decide, and what is refused."""

from . import case, each

NUMBERS = {
    "mixed": lambda i: i - 3,
    "alternating": lambda i: -1 if i % 2 == 0 else 1,
    "all_true": lambda i: 1,
    "all_false": lambda i: -1,
    "zero": lambda i: 0,
}


def fed(m, function, *makers, batches=2, options=(), **settings):
    """The outputs of `function`, called with inputs that are made outside of the pipeline and fed.

    Each maker gives sample i of a batch.
    """
    size = 6
    given = list(options) or [{}] * len(makers)
    inputs = [m.fn.external_source(name=f"in{i}", **given[i]) for i in range(len(makers))]
    settings = {"enable_conditionals": True, "prefetch_queue_depth": 1, **settings}
    define = m.load("pipeline").experimental.pipeline_def(**settings)(function)
    pipe = define(*inputs, batch_size=size, num_threads=1, device_id=None)
    pipe.build()
    found = []
    for batch in range(batches):
        for i, make in enumerate(makers):
            pipe.feed_input(f"in{i}", [m.np.array(make(k + batch)) for k in range(size)])
        found.append(m.plain(pipe.run()))
    return found


def numbers(m, make):
    return lambda i: m.np.int32(make(i))


@each(**NUMBERS)
def scalars_of_numpy_in_arms(m, make):
    np = m.np

    def body(n):
        a = np.int32(0)
        b = np.int32(0)
        if n > 0:
            a = -n
        else:
            b = 2 * n
        return a, b

    return fed(m, body, numbers(m, make))


@each(**NUMBERS)
def attributes_in_arms(m, make):
    np = m.np

    class Holder:
        def __init__(self):
            self.a = self.b = np.int32(0)

    def helper(n, holder):
        if n > 0:
            holder.a = -n
        else:
            holder.b = 2 * n
        return holder.a, holder.b

    return fed(m, lambda n: helper(n, Holder()), numbers(m, make))


@each(**NUMBERS)
def one_arm(m, make):
    np = m.np

    def body(n):
        kept = n * 0
        if n >= 0:
            inner = np.int32(4)
            kept = n + inner
        if n > 0:
            n = np.int32(3)
        return n, kept

    return fed(m, body, numbers(m, make))


@each(**NUMBERS)
def chain(m, make):
    def body(n):
        if n == 0:
            result = n + 10
        elif n > 0:
            result = n + 100
        else:
            result = n - 50
        return result

    return fed(m, body, numbers(m, make))


@each(**NUMBERS)
def nested_deeply(m, make):
    def body(n, x):
        if n != -2:
            if n != -1:
                if n > 0:
                    result = x - 100
                else:
                    result = x + 100
            else:
                result = x * 2
        else:
            result = x - 800
        return result

    return fed(m, body, numbers(m, make), lambda i: m.np.int32(i))


@case
def arms_that_only_assign(m):
    def body(first, second, a, b, c):
        result = c
        if first:
            result = a
        elif second:
            result = b
        other = a
        if second:
            other = c
        return result, other

    makers = [
        lambda i: i < 3,
        lambda i: i % 2 == 0,
        *(lambda i, k=k: m.np.int32(k) for k in (7, 8, 9)),
    ]
    return fed(m, body, *makers)


@case
def one_after_another(m):
    def body(x, first, second):
        if first:
            y = x + 1
        else:
            y = x + 2
        if second:
            z = y + 3
        else:
            z = y + 4
        return y, z

    return fed(m, body, lambda i: m.np.int32(i), lambda i: i < 3, lambda i: i % 2 == 0)


@case
def dictionaries_in_arms(m):
    np = m.np

    def body(n, x):
        if n > 0:
            found = {"x": x - 1, "k": np.array(2)}
        else:
            found = {"x": x + 1, "k": np.array(1)}
        return found["x"], found["k"]

    return fed(m, body, numbers(m, NUMBERS["mixed"]), lambda i: m.np.int32(i))


@case
def dictionaries_in_another_order(m):
    def body(n, x):
        if n > 0:
            found = {"a": x, "b": x + 1}
        else:
            found = {"b": x - 1, "a": x * 2}
        return found["a"], found["b"]

    return fed(m, body, numbers(m, NUMBERS["mixed"]), lambda i: m.np.int32(i))


@case
def tuples_in_arms(m):
    np = m.np

    def body(n, x):
        if n > 0:
            found = (x, x + 10, x + 20)
        else:
            found = (np.int32(-10), x, x * 2)
        a, b, c = found
        return a, b, c

    return fed(m, body, numbers(m, NUMBERS["mixed"]), lambda i: m.np.int32(i))


@case
def structures_that_differ(m):
    def body(n, x):
        if n > 0:
            found = {"x": x, "y": x}
        else:
            found = {"x": x}
        return found["x"]

    return fed(m, body, numbers(m, NUMBERS["mixed"]), lambda i: m.np.int32(i))


@case
def outputs_of_other_structures(m):
    def body(n, x):
        if n > 0:
            found = (x, x)
        else:
            found = (x,)
        return found

    return fed(m, body, numbers(m, NUMBERS["mixed"]), lambda i: m.np.int32(i))


@each(True, False)
def recursive_choice(m, unpacks):
    """A tree of `if` on data whose leaves are operators with two results."""

    def forward(low, high, operators, index, arguments):
        if low == high:
            return operators[low](*arguments)
        middle = (low + high) // 2
        if index <= middle:
            result = forward(low, middle, operators, index, arguments)
        else:
            result = forward(middle + 1, high, operators, index, arguments)
        return result

    def unpack(low, high, operators, index, arguments):
        if low == high:
            return operators[low](*arguments)
        middle = (low + high) // 2
        if index <= middle:
            a, b = unpack(low, middle, operators, index, arguments)
        else:
            a, b = unpack(middle + 1, high, operators, index, arguments)
        return a, b

    def add(x, label):
        return x + 1, label

    def double(x, label):
        return x * 2, label

    def negate(x, label):
        return -x, label * 10

    def body(index, x):
        label = m.types.Constant(m.np.array(3), device="cpu")
        choose = unpack if unpacks else forward
        a, b = choose(0, 2, [add, double, negate], index, (x, label))
        return a, b

    return fed(m, body, lambda i: m.np.int32(i % 3), lambda i: m.np.int32(i))


@case
def returns_in_arms(m):
    def body(n):
        if n > 0:
            return n + 1
        else:
            return n - 1

    return fed(m, body, numbers(m, NUMBERS["mixed"]))


@case
def operators_without_inputs_in_arms(m):
    """Their arguments say to which arm they belong."""

    def body(n, angle):
        matrix = m.fn.transforms.translation(offset=[0.0, 0.0])
        if n > 0:
            matrix = m.fn.transforms.scale(scale=m.fn.stack(angle, angle))
        return matrix

    return fed(m, body, numbers(m, NUMBERS["mixed"]), lambda i: m.np.float32(i))


@case
def reader_in_an_arm(m):
    """It runs for the whole batch, and its samples are cut."""
    root = m.files(12)

    def body(n):
        if n > 0:
            data, label = m.fn.readers.file(file_root=root)
        else:
            data = m.types.Constant(m.np.uint8([0]), device="cpu")
            label = m.types.Constant(m.np.int32([7]), device="cpu")
        return data, label

    return fed(m, body, numbers(m, NUMBERS["alternating"]))


@case
def loops_with_static_bounds(m):
    def body(n):
        total = n
        for i in range(5):
            if i == 1:
                continue
            if i == 3:
                break
            if n > 0:
                total = total + i
            else:
                total = total - i
        while i < 6:
            i += 1
            total = total + 1
        return total

    return fed(m, body, numbers(m, NUMBERS["mixed"]))


DTYPES = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()


@each(*DTYPES)
def condition_of_any_type(m, dtype):
    np = m.np

    def body(value):
        if value:
            result = m.types.Constant(np.array(42), device="cpu")
        else:
            result = m.types.Constant(np.array(0), device="cpu")
        return result, not value

    return fed(m, body, lambda i: np.array(7 if i < 3 else 0, dtype))


def truth(i):
    return i % 2 == 0


def other(i):
    return i % 3 == 0


@case
def logical_expressions(m):
    np = m.np

    def body(a, b, c, d):
        yes = m.types.Constant(np.array(True), device="cpu")
        no = m.types.Constant(np.array(False), device="cpu")
        return (
            a and b,
            a or b,
            not a,
            a and no,
            yes and b,
            a or yes,
            a or b and c or not d,
            a and b == False,  # noqa: E712
        )

    return fed(m, body, truth, other, lambda i: i < 2, lambda i: i > 3)


@case
def logical_expressions_are_lazy(m):
    """An index past the end is not looked at."""
    np = m.np

    def body(index):
        flags = m.types.Constant(np.bool_([True, True, False]), device="cpu")
        far = m.types.Constant(np.int32(42), device="cpu")
        return flags[index] or flags[far]

    return fed(m, body, lambda i: np.int32(i % 2))


@each(0, 1, 2)
def logical_operand_of_integers(m, which):
    def body(a, n):
        if which == 0:
            return n and a
        elif which == 1:
            return a and n
        return n or a

    return fed(m, body, truth, lambda i: m.np.int32(1))


def wrong(m, body):
    return fed(m, body, truth, lambda i: m.np.int32(1))


@case
def condition_with_an_axis(m):
    def body(a, n):
        if m.fn.stack(a, a):
            n = n + 1
        return n

    return wrong(m, body)


@case
def logical_operand_with_an_axis(m):
    return wrong(m, lambda a, n: m.fn.stack(a, a) and a)


@case
def not_of_an_axis(m):
    return wrong(m, lambda a, n: not m.fn.stack(a, a))


@case
def assigned_in_one_arm(m):
    def body(a, n):
        if a:
            made = n + 1
        return made

    return wrong(m, body)


@case
def local_of_an_arm_read_later(m):
    def body(a, n):
        if a:
            inner = n + 1
            result = inner * 2
        else:
            result = n
        return result, inner

    return wrong(m, body)


@case
def return_in_one_arm(m):
    def body(a, n):
        if a:
            return n

    return wrong(m, body)


@case
def arms_of_other_types(m):
    def body(a, n):
        if a:
            n = m.fn.cast(n, dtype=m.types.FLOAT)
        return n

    return wrong(m, body)


@case
def not_converted(m):
    convert_not = m.load("pipeline").do_not_convert

    @convert_not
    def helper(n):
        if n:
            return n
        return n

    return fed(m, lambda a, n: helper(n), truth, lambda i: m.np.int32(1))


@case
def sources_defined_inside(m):
    def make(value):
        def source(info):
            return m.np.full(2, value + info.idx_in_batch)

        return source

    def body():
        def local(info):
            return m.np.full(2, info.idx_in_batch)

        return (
            m.fn.external_source(source=local, batch=False),
            m.fn.external_source(source=make(3), batch=False),
        )

    return m.run(body, enable_conditionals=True)


@case
def gpu_in_arms(m):
    """Nodes that `.gpu()` and `.cpu()` make belong to the arm."""

    def body(a, n):
        if a:
            result = n.cpu() + 1
        else:
            result = n - 1
        return result

    return fed(m, body, truth, lambda i: m.np.int32(i))
