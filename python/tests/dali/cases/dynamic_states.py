"""States in dynamic mode: of generators, of readers, and of both in a checkpoint."""

from . import case, each

TEXT = "Philox_0000000000000005_0000000000000000:0000000000000001_2"


def of(m):
    return m.load("experimental.dynamic")


def rng(m, *arguments, **options):
    return of(m).random.RNG(*arguments, **options)


@each(0, 1, 5, -1, 2**32, 2**64 - 1, 2**70)
def numbers_of_a_seed(m, seed):
    made = rng(m, seed=seed)
    return [[made() for _ in range(9)], str(made.state), repr(made)]


@each(0, 1, 3, 4, 5, 1000, 2**40)
def advanced(m, count):
    made = rng(m, seed=7)
    made.advance(count)
    return [str(made.state), made(), str(made.get_state())]


@each("text", "state", "set_text", "set_state", "property", "clone")
def begun_from_a_state(m, how):
    first = rng(m, seed=11)
    for _ in range(6):
        first()
    if how == "clone":
        second = first.clone()
    elif how in ("text", "state"):
        second = rng(m, state=str(first.state) if how == "text" else first.state)
    else:
        second = rng(m, seed=1)
        if how == "property":
            second.state = first.state
        else:
            second.set_state(str(first.state) if how == "set_text" else first.get_state())
    return [[one() for _ in range(5)] for one in (second, first)]


@each(
    both=dict(seed=1, state=TEXT),
    short=dict(state="x"),
    bytes=dict(state=b"x"),
    number=dict(state=3),
    text_seed=dict(seed="a"),
    real_seed=dict(seed=1.5),
)
def wrong_generator(m, options):
    return str(rng(m, **options).state)


@each(back=-1, real=1.5, text="2")
def wrong_advance(m, count):
    return rng(m, seed=1).advance(count)


@case
def a_seed_is_not_told(m):
    return rng(m, seed=1).seed


@each("uniform", "normal", "coin_flip", "choice", "noise", "crop")
def draws_of_a_state(m, kind):
    d = of(m)
    made = rng(m, seed=3)

    def draw():
        if kind == "uniform":
            return d.random.uniform(rng=made, range=[0.0, 1.0], batch_size=3)
        if kind == "normal":
            return d.random.normal(rng=made, batch_size=3, shape=[2])
        if kind == "coin_flip":
            return d.random.coin_flip(rng=made, batch_size=9)
        if kind == "choice":
            return d.random.choice(9, rng=made, batch_size=9)
        picture = d.as_batch([m.image(9, 9)] * 3, layout="HWC")
        if kind == "noise":
            return d.noise.gaussian(picture, stddev=9.0, rng=made)
        return d.random_resized_crop(picture, size=[5, 5], rng=made)

    def values():
        return [m.np.array(one).tolist() for one in draw().tensors]

    before = made.state
    first, second = values(), values()
    made.state = before
    return [values() == first, values() == second, first != second]


def read(m, epoch):
    return [[int(m.np.array(one)[0]) for one in batch[0].tensors] for batch in epoch]


def reader(m, **options):
    return of(m).readers.File(file_root=m.files(7), enable_checkpointing=True, **options)


OPTIONS = {"plain": {}, "padded": {"pad_last_batch": True}, "shard": dict(num_shards=2, shard_id=1)}


@each(*[f"{name} {count}" for name in OPTIONS for count in (1, 2)])
def reader_goes_on(m, which):
    name, count = which.split()
    first = reader(m, **OPTIONS[name])
    epoch = first.next_epoch(batch_size=2)
    for _ in range(int(count)):
        next(epoch)
    state = first.get_state()
    rest, then = read(m, epoch), read(m, first.next_epoch(batch_size=2))
    second = reader(m, **OPTIONS[name])
    second.set_state(state)
    again = [read(m, second.next_epoch(batch_size=2)) for _ in range(2)]
    return [type(state).__name__, rest, then, again]


@each("first", "disabled", "late", "text")
def state_of_a_reader(m, how):
    made = reader(m) if how != "disabled" else of(m).readers.File(file_root=m.files(7))
    if how == "first":
        return made.get_state()
    next(made.next_epoch(batch_size=2))
    state = made.get_state()
    if how == "late":
        return made.set_state(state)
    other = of(m).readers.File(file_root=m.files(7))
    other.set_state(str(state))
    return read(m, other.next_epoch(batch_size=2))


@case
def checkpoint_of_both(m):
    kind = of(m).checkpoint.Checkpoint
    first, draws = reader(m), rng(m, seed=4)
    saved = kind()
    names = [saved.register(first), saved.register(draws, "draws"), saved.register(first)]
    next(first.next_epoch(batch_size=2))
    draws()
    saved.collect()
    loaded = kind()
    loaded.deserialize(saved.serialize())
    second, others = reader(m), rng(m, seed=1)
    loaded.register(second)
    loaded.register(others, "draws")
    says = [names, saved.names, len(saved), "draws" in saved, "x" in saved]
    says += [saved.is_loaded, loaded.is_loaded, loaded.is_complete]
    return [says, others() == draws(), read(m, second.next_epoch(batch_size=2))]


@each("c_{seq}.json", "c_{seq:04d}.json", "c.json", "c_{x}.json", "c_{seq}_{seq}.json", "{seq}")
def files_of_checkpoints(m, pattern):
    kind = of(m).checkpoint.Checkpoint
    folder = m.path(f"checkpoints{len(pattern)}")
    folder.mkdir(exist_ok=True)
    saved, draws = kind(), rng(m, seed=1)
    saved.register(draws, "draws")
    names = []
    for _ in range(12):
        draws()
        saved.collect()
        names.append(saved.save(str(folder / pattern)).rsplit("/", 1)[-1])
    loaded, other = kind(), rng(m, seed=2)
    name = loaded.load(str(folder / pattern)).rsplit("/", 1)[-1]
    loaded.register(other, "draws")
    return [names, name, str(other.state), str(loaded.get_state("draws"))]


WRONG = {
    "empty": lambda m, c: c.serialize(),
    "no_json": lambda m, c: c.deserialize("x"),
    "unknown": lambda m, c: c.get_state("x"),
    "no_file": lambda m, c: c.load(str(m.path("none_{seq}.json"))),
    "no_pattern": lambda m, c: c.load(str(m.path("none.json"))),
    "type": lambda m, c: [
        c.set_state("x", TEXT, of(m).readers.File),
        c.register(rng(m, seed=1), "x"),
    ],
    "waits": lambda m, c: [
        c.set_state("x", TEXT),
        c.register(rng(m, seed=1), "x"),
        c.get_state("x"),
    ],
    "cleared": lambda m, c: [c.register(rng(m, seed=1)), c.clear(), len(c), c.names],
    "no_state_yet": lambda m, c: [c.register(reader(m)), c.collect()],
}


@each(**WRONG)
def checkpoint(m, use):
    return use(m, of(m).checkpoint.Checkpoint())


@each("threads", "pool", "both", "default")
def context(m, how):
    d = of(m)
    if how == "threads":
        return d.EvalContext(num_threads=3).num_threads
    if how == "both":
        return d.EvalContext(num_threads=3, thread_pool=d.ThreadPool(2)).num_threads
    if how == "pool":
        return d.EvalContext(thread_pool=d.ThreadPool(2)).num_threads
    return [d.get_current_stream(), d.get_default_stream(), d.EvalContext().device_id]


@each("bfloat16", "DataType", "ImageType", "InterpType", "float16", "float64", "int8", "bool")
def what_an_element_type_says(m, name):
    one = getattr(of(m), name)
    says = [str(one), repr(one), one.name, one.kind.name, one.bits, one.bytes, str(one.type_id)]
    return says + [one.exponent_bits, one.significand_bits]


@case
def names_of_element_types_without_tensors(m):
    d = of(m)
    same = [d.bfloat16 == d.float16, d.DataType == d.ImageType, d.dtype("bfloat16") == d.bfloat16]
    parsed = [repr(d.dtype(name)) for name in ("InterpType", "DataType")]
    kinds = [one.name for one in d.DType.Kind]
    return same + parsed + kinds + [m.raises(lambda: d.dtype("bf16"))]


@case
def modes_inside_modes(m):
    modes = of(m).EvalMode
    found = [modes.current(), modes.default.name, [one.name for one in modes]]
    with modes.sync_cpu as entered:
        found += [entered, modes.current()]
        with modes.deferred:
            found.append(modes.current())
        found.append(modes.current())
    return [str(one) for one in found] + [str(modes.current())]


@each(
    no_samples_of_a_reader=lambda m, d: list(
        d.readers.File(file_root=m.files(3)).next_epoch(batch_size=0)
    ),
    far_outside=lambda m, d: m.np.array(d.tensor([1, 2])[7]),
    too_many_ranges=lambda m, d: m.np.array(d.tensor([1, 2])[0, 0]),
    one_cpu=lambda m, d: d.Device("cpu", 3),
    two_inputs=lambda m, d: d.flip(d.tensor(m.image(2, 2)), d.tensor(m.image(2, 2))),
    value_by_position=lambda m, d: d.full([2], 3.5),
)
def refused_in_dynamic_mode(m, call):
    call(m, of(m))
