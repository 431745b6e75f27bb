"""Sources, readers, iterators, checkpoints and conditions: their arguments in every form."""

import itertools
import pickle
import warnings

from . import each
from .axes_and_extents import short
from .checked_programs import numbers, run

SOURCES = {
    "cycle_quiet": lambda m, fn: fn.external_source(source=numbered(m, 2), cycle="quiet"),
    "cycle_raise": lambda m, fn: fn.external_source(source=numbered(m, 2), cycle="raise"),
    "cycle_no": lambda m, fn: fn.external_source(source=numbered(m, 2), cycle="no"),
    "cycle_false": lambda m, fn: fn.external_source(source=numbered(m, 2), cycle=False),
    "cycle_wrong": lambda m, fn: fn.external_source(source=numbered(m, 2), cycle="sometimes"),
    "cycle_of_callable": lambda m, fn: fn.external_source(source=lambda: None, cycle=True),
    "cycle_of_generator": lambda m, fn: fn.external_source(
        source=(one for one in numbered(m, 2)), cycle="quiet"
    ),
    "cycle_of_generator_function": lambda m, fn: fn.external_source(
        source=lambda: iter(numbered(m, 2)), cycle="quiet"
    ),
    "ndim": lambda m, fn: fn.external_source(source=numbered(m, 3), ndim=1),
    "ndim_wrong": lambda m, fn: fn.external_source(source=numbered(m, 3), ndim=2),
    "ndim_and_layout": lambda m, fn: fn.external_source(source=numbered(m, 3), ndim=1, layout="X"),
    "ndim_layout_differ": lambda m, fn: fn.external_source(
        source=numbered(m, 3), ndim=2, layout="X"
    ),
    "layout_long": lambda m, fn: fn.external_source(source=numbered(m, 3), layout="HW"),
    "dtype": lambda m, fn: fn.external_source(source=numbered(m, 3), dtype=m.types.INT32),
    "dtype_wrong": lambda m, fn: fn.external_source(source=numbered(m, 3), dtype=m.types.FLOAT),
    "dtype_of_numpy": lambda m, fn: fn.external_source(source=numbered(m, 3), dtype=m.np.int32),
    "dtypes_without_outputs": lambda m, fn: fn.external_source(
        source=numbered(m, 3), dtype=[m.types.INT32]
    ),
    "batch_info": lambda m, fn: fn.external_source(
        source=lambda info: [m.np.array([info.iteration, info.epoch_idx])] * 3, batch_info=True
    ),
    "batch_info_of_samples": lambda m, fn: fn.external_source(
        source=lambda info: m.np.array([info.idx_in_epoch, info.idx_in_batch, info.iteration]),
        batch=False,
    ),
    "iteration_number": lambda m, fn: fn.external_source(source=lambda i: [m.np.array([i])] * 3),
    "two_arguments": lambda m, fn: fn.external_source(source=lambda a, b: numbered(m, 1)[0]),
    "arguments_by_star": lambda m, fn: fn.external_source(
        source=lambda *all: [m.np.array([len(all)])] * 3
    ),
    "default_argument": lambda m, fn: fn.external_source(source=lambda i=5: [m.np.array([i])] * 3),
    "bound_method": lambda m, fn: fn.external_source(source=Source(m).give),
    "object_call": lambda m, fn: fn.external_source(source=Source(m)),
    "not_callable": lambda m, fn: fn.external_source(source=7),
    "text": lambda m, fn: fn.external_source(source="abc"),
    "batch_by_name": lambda m, fn: fn.external_source(source=numbered(m, 3), batch=True, name="S"),
    "unknown_argument": lambda m, fn: fn.external_source(source=numbered(m, 3), color=1),
    "outputs_short": lambda m, fn: fn.external_source(
        source=lambda: (numbered(m, 1)[0],), num_outputs=2
    )[0],
    "outputs_long": lambda m, fn: fn.external_source(
        source=lambda: (numbered(m, 1)[0],) * 3, num_outputs=2
    )[0],
    "outputs_one": lambda m, fn: fn.external_source(
        source=lambda: (numbered(m, 1)[0],), num_outputs=1
    )[0],
    "outputs_layouts": lambda m, fn: tuple(
        fn.external_source(
            source=lambda: (numbered(m, 1)[0], numbers(m)), num_outputs=2, layout=["X", "HWC"]
        )
    ),
    "outputs_layouts_short": lambda m, fn: tuple(
        fn.external_source(
            source=lambda: (numbered(m, 1)[0], numbered(m, 1)[0]), num_outputs=2, layout=["X"]
        )
    ),
    "outputs_layouts_long": lambda m, fn: tuple(
        fn.external_source(
            source=lambda: (numbered(m, 1)[0],) * 2, num_outputs=2, layout=["X", "X", "X"]
        )
    ),
    "outputs_types": lambda m, fn: tuple(
        fn.external_source(
            source=lambda: (numbered(m, 1)[0],) * 2, num_outputs=2, dtype=[m.types.INT32] * 2
        )
    ),
    "too_many_samples": lambda m, fn: fn.external_source(
        source=lambda: [m.np.zeros(1, "int32")] * 9
    ),
    "no_samples": lambda m, fn: fn.external_source(source=lambda: []),
    "mixed_types": lambda m, fn: fn.external_source(
        source=lambda: [m.np.zeros(1, "int32"), m.np.zeros(1, "int16"), m.np.zeros(1, "int32")]
    ),
    "mixed_ranks": lambda m, fn: fn.external_source(
        source=lambda: [m.np.zeros(1, "int32"), m.np.zeros((1, 1), "int32"), m.np.zeros(1, "int32")]
    ),
    "of_floats": lambda m, fn: fn.external_source(source=lambda: [1.5, 2.5, 3.5]),
    "of_integers": lambda m, fn: fn.external_source(source=lambda: [1, 2, 3]),
    "of_booleans": lambda m, fn: fn.external_source(source=lambda: [True, False, True]),
    "of_lists": lambda m, fn: fn.external_source(source=lambda: [[1, 2], [3, 4], [5, 6]]),
    "one_array": lambda m, fn: fn.external_source(source=lambda: m.np.arange(6).reshape(3, 2)),
    "one_number": lambda m, fn: fn.external_source(source=lambda: 5),
    "of_none": lambda m, fn: fn.external_source(source=lambda: [None] * 3),
    "dictionary": lambda m, fn: fn.external_source(source=lambda: {"a": 1}),
    "raises": lambda m, fn: fn.external_source(source=lambda: [][1]),
    "stops": lambda m, fn: fn.external_source(source=lambda: next(iter([]))),
    "repeat_last_of_source": lambda m, fn: fn.external_source(
        source=numbered(m, 2), repeat_last=True
    ),
    "blocking": lambda m, fn: fn.external_source(source=numbered(m, 3), blocking=True),
    "no_copy": lambda m, fn: fn.external_source(source=numbered(m, 3), no_copy=True),
    "stream": lambda m, fn: fn.external_source(source=numbered(m, 3), cuda_stream=1),
    "parallel_without_workers": lambda m, fn: fn.external_source(
        source=Source(m), parallel=True, batch=False
    ),
    "queue_without_parallel": lambda m, fn: fn.external_source(
        source=numbered(m, 3), prefetch_queue_depth=3
    ),
    "hint": lambda m, fn: fn.external_source(source=numbered(m, 3), bytes_per_sample_hint=8),
}


def numbered(m, count):
    return [[m.np.array([10 * i + j], "int32") for j in range(3)] for i in range(count)]


class Source:
    def __init__(self, m):
        self.batch = numbered(m, 1)[0]

    def give(self):
        return self.batch

    def __call__(self):
        return self.batch


@each(**SOURCES)
def source(m, make):
    """Three batches, or as many as there are, and what ends them."""

    def define():
        return make(m, m.fn)

    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None)(define)()
    pipe.build()
    seen = []
    for _ in range(3):
        try:
            seen.append(m.plain(pipe.run()))
        except StopIteration:
            pipe.reset()
            seen.append("end")
    return seen


READS = {
    "files": dict(files=True),
    "files_labels": dict(files=True, labels=[5, 6, 7, 8, 9]),
    "labels_short": dict(files=True, labels=[5]),
    "labels_alone": dict(labels=[5, 6]),
    "nothing": {},
    "root": dict(root=True),
    "filters": dict(root=True, file_filters=["*1.jpg", "*3.jpg"]),
    "filters_none": dict(root=True, file_filters=["*.png"]),
    "dirs": dict(root=True, dir_filters="b"),
    "dirs_none": dict(root=True, dir_filters=["z*"]),
    "shuffled": dict(root=True, random_shuffle=True, shuffle_after_epoch=True),
    "shuffle_after": dict(root=True, shuffle_after_epoch=True, stick_to_shard=True),
    "padded": dict(root=True, pad_last_batch=True),
    "shard": dict(root=True, num_shards=2, shard_id=1),
    "shard_padded": dict(root=True, num_shards=2, shard_id=0, pad_last_batch=True),
    "sticking": dict(root=True, num_shards=2, shard_id=1, stick_to_shard=True),
    "shards_more": dict(root=True, num_shards=9, shard_id=8),
    "shards_zero": dict(root=True, num_shards=0),
    "shard_negative": dict(root=True, shard_id=-1),
    "skip": dict(root=True, skip_cached_images=True),
    "lazy": dict(root=True, lazy_init=True),
    "fill_negative": dict(root=True, random_shuffle=True, initial_fill=-1),
    "case": dict(root=True, case_sensitive_filter=True, file_filters=["*1.JPG"]),
}


@each(**READS)
def read(m, arguments):
    """Meta, epoch's size and the labels and first bytes of four batches, unless shuffled."""
    arguments = dict(arguments)
    root = m.files(5)
    if arguments.pop("root", False):
        arguments["file_root"] = root
    if arguments.pop("files", False):
        names = ("a/000", "a/001", "a/002", "b/003", "b/004")
        arguments["files"] = [f"{root}/{name}.jpg" for name in names]

    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        return tuple(m.fn.readers.file(name="R", **arguments))

    pipe = define()
    pipe.build()
    meta = m.plain(pipe.reader_meta("R"))
    seen = [[[int(x[0]) for x in a], [int(x) for x in b.as_array()]]
            for a, b in (pipe.run() for _ in range(4))]  # fmt: skip
    is_drawn = "shuffle_after_epoch" in arguments or "random_shuffle" in arguments
    return [meta, pipe.epoch_size("R"), sorted(pipe.epoch_size()), None if is_drawn else seen]


ITERATIONS = {
    f"{policy}-{size}-{'auto' if auto else 'hand'}": (policy, size, auto)
    for policy, size, auto in itertools.product(
        ("FILL", "DROP", "PARTIAL"), (-1, 5, 6, 2, 0), (True, False, "yes", "no", None)
    )
    if auto in (True, False) or (policy == "FILL" and size == 5)
}


@each(**ITERATIONS)
def iterated(m, what):
    policy, size, auto = what
    state = [0]

    def give():
        state[0] += 1
        if size < 0 and state[0] % 4 == 0:
            raise StopIteration
        return [m.np.array([10 * state[0] + j], "int32") for j in range(2)]

    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def define():
        return m.fn.external_source(source=give)

    plugin = m.load("plugin.pytorch")
    kind = m.load("plugin.base_iterator").LastBatchPolicy
    it = plugin.DALIGenericIterator(
        define(), ["x"], size=size, auto_reset=auto, last_batch_policy=getattr(kind, policy)
    )

    def epoch():
        return [one[0]["x"].flatten().tolist() for one in it]

    def after():
        it.reset()
        return "reset"

    first = [m.attempt(epoch), m.attempt(lambda: len(it)), m.attempt(epoch)]
    return [*first, m.attempt(after), m.attempt(epoch)]


MADE = {
    "names_short": dict(output_map=["x"]),
    "names_long": dict(output_map=["x", "y", "z"]),
    "names_twice": dict(output_map=["x", "x"]),
    "names_text": dict(output_map="xy"),
    "names_none": dict(output_map=None),
    "reader_unknown": dict(reader_name="Nope"),
    "reader_and_size": dict(reader_name="R", size=3),
    "reader_and_partial": dict(
        reader_name="R", last_batch_padded=True, last_batch_policy="PARTIAL"
    ),
    "reader_and_drop": dict(reader_name="R", last_batch_policy="DROP"),
    "policy_text": dict(reader_name="R", last_batch_policy_text="PARTIAL"),
    "fill_last": dict(reader_name="R", fill_last_batch=False),
    "padded": dict(reader_name="R", last_batch_padded=True),
    "auto_wrong": dict(reader_name="R", auto_reset="sometimes"),
    "size_zero": dict(size=0),
    "size_small": dict(size=-2),
    "ragged": dict(reader_name="R", dynamic_shape=True),
    "not_ahead": dict(reader_name="R", prepare_first_batch=False),
    "exact": dict(reader_name="R", exec_async=False),
    "pipelines_empty": dict(reader_name="R", pipelines=[]),
    "pipelines_text": dict(reader_name="R", pipelines="pipe"),
}


@each(**MADE)
def iterator_made(m, arguments):
    arguments = dict(arguments)
    root = m.files(5)

    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        return tuple(m.fn.readers.file(name="R", file_root=root))

    kind = m.load("plugin.base_iterator").LastBatchPolicy
    if "last_batch_policy" in arguments:
        arguments["last_batch_policy"] = getattr(kind, arguments["last_batch_policy"])
    if "last_batch_policy_text" in arguments:
        arguments["last_batch_policy"] = arguments.pop("last_batch_policy_text")
    names = arguments.pop("output_map", ["x", "y"])
    pipelines = arguments.pop("pipelines", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        it = m.load("plugin.pytorch").DALIGenericIterator(
            define() if pipelines is None else pipelines, names, **arguments
        )
    seen = []
    for one, _ in zip(it, range(6)):
        seen.append({k: v.flatten().tolist() for k, v in one[0].items()})
    return [seen, it.batch_size, m.attempt(lambda: len(it))]


CHECKPOINTS = {
    "reader": lambda m, fn: fn.readers.file(file_root=m.files(5), name="R")[1],
    "shuffled": lambda m, fn: fn.readers.file(
        file_root=m.files(5), name="R", random_shuffle=True, initial_fill=3
    )[1],
    "after_epoch": lambda m, fn: fn.readers.file(
        file_root=m.files(5), name="R", shuffle_after_epoch=True
    )[1],
    "draws": lambda m, fn: fn.random.uniform(range=(0, 1), shape=[2]),
    "coins": lambda m, fn: fn.random.coin_flip(),
    "both": lambda m, fn: (fn.random.normal(), fn.readers.file(file_root=m.files(5), name="R")[1]),
    "counted": lambda m, fn: fn.external_source(
        source=lambda info: m.np.array([info.idx_in_epoch]), batch=False
    ),
    "stateful": lambda m, fn: fn.external_source(source=iter(numbered(m, 30))),
    "permuted": lambda m, fn: fn.permute_batch(
        fn.readers.file(file_root=m.files(5), name="R")[1], indices=fn.batch_permutation()
    ),
}


@each(**{f"{name}-{steps}": (name, steps) for name in CHECKPOINTS for steps in (0, 1, 5)})
def restored(m, what):
    """Whether a restored pipeline goes on as the first did."""
    name, steps = what

    def made(**more):
        pipe = m.pipeline_def(
            batch_size=2, num_threads=1, device_id=None, enable_checkpointing=True, seed=3, **more
        )(lambda: CHECKPOINTS[name](m, m.fn))()
        pipe.build()
        return pipe

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = made()
        for _ in range(steps):
            first.run()
        state = first.checkpoint()
        second = made(checkpoint=state)
        ahead = [m.plain(first.run()) == m.plain(second.run()) for _ in range(4)]
        again = second.checkpoint() == first.checkpoint()
    return [type(state).__name__, ahead, again]


STATES = {
    "not_enabled": lambda m, make: make(enable_checkpointing=False).checkpoint(),
    "garbage": lambda m, make: make(checkpoint=b"garbage", enable_checkpointing=True),
    "text": lambda m, make: make(checkpoint="garbage", enable_checkpointing=True),
    "empty": lambda m, make: make(checkpoint=b"", enable_checkpointing=True),
    "restored_without_enabling": lambda m, make: make(
        checkpoint=make(enable_checkpointing=True).checkpoint()
    ),
    "to_file": lambda m, make: [
        make(enable_checkpointing=True).checkpoint(str(m.path("state.cpt"))) is not None,
        m.path("state.cpt").stat().st_size > 0,
    ],
    "to_a_file_nowhere": lambda m, make: make(enable_checkpointing=True).checkpoint(
        "/nonexistent/place/state"
    ),
    "pickled": lambda m, make: type(
        pickle.loads(pickle.dumps(make(enable_checkpointing=True).checkpoint()))
    ).__name__,
}


@each(**STATES)
def states(m, use):
    def make(**options):
        pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None, **options)(
            lambda: m.fn.random.uniform(range=(0, 1), seed=3)
        )()
        pipe.build()
        return pipe

    return use(m, make)


def _while(m, x):
    while x > 3:
        x = x - 1
    return x


def _for(m, x):
    total = 0
    for one in range(3):
        if x > one:
            total = total + x
        else:
            total = total - 1
    return total


def _not(m, x):
    return m.fn.cast(not x > 1, dtype=m.types.INT32)


def _not_number(m, x):
    return not (x + 0.5)


def _float_condition(m, x):
    if x * 1.5:
        y = x
    else:
        y = -x
    return y


def _rank(m, x):
    if m.fn.stack(x, x) > 1:
        y = x
    else:
        y = -x
    return y


def _types(m, x):
    if x > 1:
        y = m.fn.cast(x, dtype=m.types.FLOAT)
    else:
        y = x
    return y


def _constant_arms(m, x):
    if x > 1:
        y = 5
    else:
        y = 7
    return m.fn.reshape(y, shape=[1])


def _undefined(m, x):
    if x > 1:
        y = x
    return y


def _unused(m, x):
    if x > 1:
        y = x + 1
        z = y
    else:
        y = x
    return y


def _and_or(m, x):
    return (x > 0 and x < 3) or x == 9


def _lazy_and(m, x):
    if x > 1 and 5 / x > 1:
        return x
    else:
        return -x


def _assertion(m, x):
    assert x > 0
    return x


def _early_return(m, x):
    if x > 1:
        return x * 10
    return x


def _lists(m, x):
    out = [x, x]
    if x > 1:
        out[0] = x + 10
    return out[0]


def _not_converted(m, x):
    @m.load("pipeline").do_not_convert
    def inner(y):
        if y is None:
            return 1
        return y + 1

    return inner(x)


def _lambda(m, x):
    pick = lambda y: y if y > 1 else -y  # noqa: E731
    return pick(x)


def _python_condition(m, x):
    if m is None or len("abc") == 3:
        y = x + 1
    else:
        y = "nothing"
    return y


CONDITIONS = [
    _while, _for, _not, _not_number, _float_condition, _rank, _types, _constant_arms, _undefined,
    _unused, _and_or, _lazy_and, _assertion, _early_return, _lists, _not_converted, _lambda,
    _python_condition,
]  # fmt: skip


@each(**{f"{one.__name__[1:]}-{'on' if on else 'off'}": (one, on)
         for one in CONDITIONS for on in (True, False)})  # fmt: skip
def condition(m, what):
    function, is_on = what
    feed = [m.np.array(i, "int32") for i in range(4)]

    def define():
        return function(m, m.fn.external_source(source=[feed] * 3))

    return short(m, run(m, define, batch_size=4, enable_conditionals=is_on)[0])
