"""Dynamic mode: operators that are called on tensors and batches."""

from . import case, each


def of(m):
    return m.load("experimental.dynamic")


def told(m, *values):
    """Of each value its class, type, layout and data."""
    found = []
    for one in values:
        name = type(one).__name__
        if name == "Batch":
            arrays = [m.np.array(t) for t in one.tensors]
            found.append([name, str(one.dtype), one.layout, m.plain(arrays)])
        elif name == "Tensor":
            found.append([name, str(one.dtype), one.layout, m.plain(m.np.array(one))])
        else:
            found.append(m.plain(one))
    return found


def ragged(m, dtype="uint8", layout="HW"):
    first = m.np.arange(6, dtype=dtype).reshape(2, 3)
    return of(m).as_batch([first, m.np.ones((1, 3), dtype)], layout=layout)


@case
def what_a_batch_says(m):
    b = ragged(m)
    first = b.tensors[0]
    says = [str(b.dtype), repr(b.dtype), str(b.device), repr(b.device), b.layout, b.shape, b.ndim]
    tensor = [first.shape, first.ndim, first.size, first.nbytes, first.itemsize, first.layout]
    return [repr(b), repr(first), says, tensor, b.batch_size, len(b.tensors), len(list(b))]


@each(
    number=3,
    real=1.5,
    truth=True,
    list=[1, 2],
    mixed=[1, 2.5],
    nested=[[1, 2], [3, 4]],
    unsigned=2**31,
    too_wide=2**40,
    negative=-(2**40),
    empty=[],
)
def tensor_of(m, value):
    return told(m, of(m).tensor(value))


@each("uint8", "int16", "float32", "float64", "bool")
def tensor_of_a_type(m, name):
    d = of(m)
    kind = getattr(d, name)
    made = d.tensor([0, 1, 3], dtype=kind)
    cast = d.as_tensor(m.np.float32([0.2, 1.6, 3.4]), dtype=kind)
    return [told(m, made, cast), str(d.type_id(kind)), str(d.dtype(kind.type_id)), repr(kind)]


@each(
    scalar=lambda m, d: d.as_batch(m.np.float32(3)),
    no_samples=lambda m, d: d.as_batch([]),
    ranks=lambda m, d: d.as_batch([m.np.zeros(2), m.np.zeros((2, 2))]),
    layout=lambda m, d: d.tensor(m.np.zeros(2), layout="HW"),
    layout_that_is_a_number=lambda m, d: d.tensor(m.np.zeros(2), layout=3),
    index=lambda m, d: ragged(m)[0],
    several_elements=lambda m, d: ragged(m).tensors[0].item(),
    too_many_ranges=lambda m, d: ragged(m).tensors[0][0, 0, 0],
    outside=lambda m, d: ragged(m).tensors[0][5],
    device=lambda m, d: d.Device("tpu"),
    device_of_a_number=lambda m, d: d.device(3),
    type=lambda m, d: d.dtype("text"),
    argument=lambda m, d: d.resize(ragged(m), sizes=[1, 2]),
    required=lambda m, d: d.rotate(ragged(m)),
    sizes=lambda m, d: d.stack(ragged(m), d.as_batch([m.np.zeros((2, 3), "uint8")])),
    permutation=lambda m, d: d.batch_permutation(),
    unknown=lambda m, d: d.no_such_operator(ragged(m)),
    generator=lambda m, d: d.random.RNG(seed=1).seed,
    shard=lambda m, d: d.readers.File(file_root=".", shard_id=2, num_shards=2),
    argument_of_a_reader=lambda m, d: d.readers.File(file_root=".", size=3),
)
def refused(m, call):
    return m.raises(lambda: call(m, of(m)))


SIGNS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "at_least": lambda a, b: a >= b,
}


@each(*SIGNS)
def arithmetic(m, name):
    call, d = SIGNS[name], of(m)
    b = ragged(m)
    one = d.tensor([4, 2, 1], dtype=d.int16)
    above = b + 1
    numbers = [call(b, 3), call(3, above), call(b, above), call(one, one), call(b, one)]
    return told(m, *numbers)


@case
def arithmetic_of_one(m):
    b = ragged(m, "int32")
    return told(m, -b, +b, abs(-b), b**2, 2**b, b * 0.5, -b.tensors[0])


@case
def kept_results_stay(m):
    b = ragged(m)
    made = [b + i for i in range(9)]
    return told(m, *made)


@each(
    row=lambda b: b.slice[0],
    columns=lambda b: b.slice[:, 1:],
    last=lambda b: b.slice[..., -1],
    reversed=lambda b: b.slice[:, ::-1],
    sample=lambda b: b.select(1),
    list=lambda b: b.select([1, 0]),
    range=lambda b: b.select(slice(0, 1)),
    all=lambda b: b.select(...),
    of_tensor=lambda b: b.tensors[0][1, :2],
    of_tensors=lambda b: b.tensors[1:].as_batch(),
)
def slices(m, call):
    return told(m, call(ragged(m)))


@case
def slices_of_each_sample(m):
    d = of(m)
    starts = d.batch([1, 0])
    return told(m, ragged(m).slice[:, starts], ragged(m).slice[:, starts:])


@case
def batches_of_what_there_is(m):
    d = of(m)
    made = [
        d.as_batch(m.np.arange(6).reshape(3, 2)),
        d.batch([1, 2, 3]),
        d.batch([[1.0, 2.0]], dtype=d.float64),
        d.Batch.broadcast(7, 2),
        d.as_batch(m.backend.TensorListCPU([m.np.zeros((1, 2), "int8")], layout="AB")),
        d.as_batch(ragged(m), dtype=d.float32),
        d.as_batch(d.tensor([[1, 2], [3, 4]])),
        d.as_tensor(d.as_batch(m.np.ones((2, 3), "float32"))),
        d.as_tensor(ragged(m), pad=True),
    ]
    return told(m, *made)


@case
def torch_of(m):
    import torch  # noqa: F401  (where there is none, the case is left out)

    d = of(m)
    dense = d.as_batch(m.np.arange(6, dtype="int32").reshape(3, 2))
    values = [dense.torch(), ragged(m).torch(pad=True), d.tensor([1.5]).torch()]
    return [[str(one.dtype), one.tolist()] for one in values] + [
        m.raises(lambda: ragged(m).torch())
    ]


@each(
    resize=lambda d, b: d.resize(b, size=[3, 4], interp_type=d_types.INTERP_NN),
    flip=lambda d, b: d.flip(b, horizontal=1),
    flip_some=lambda d, b: d.flip(b, horizontal=d.batch([0, 1])),
    crop=lambda d, b: d.crop(b, crop=(1, 2), crop_pos_x=d.batch([0.0, 1.0])),
    mean=lambda d, b: d.reductions.mean(b, axes=[0]),
    maximum=lambda d, b: d.reductions.max(b),
    cast=lambda d, b: d.cast(b, dtype=d.float32),
    cat=lambda d, b: d.cat(b, b, axis=1),
    stack=lambda d, b: d.stack(b, 7 + 0 * b),
    pad=lambda d, b: d.pad(b, fill_value=9),
    transpose=lambda d, b: d.transpose(b, perm=[1, 0, 2]),
    shape=lambda d, b: d.reshape(b, layout="XYZ"),
    slice=lambda d, b: d.slice(b, start=[0], shape=[2], axes=[1]),
    erase=lambda d, b: d.erase(b, anchor=[0.0, 1.0], shape=[1.0, 1.0], fill_value=3),
    normalised=lambda d, b: d.crop_mirror_normalize(b, crop=(1, 2), mean=[1.0], std=[2.0]),
    sample=lambda d, b: d.flip(b.tensors[0], vertical=1),
    maths=lambda d, b: d.math.sqrt(b),
    clamp=lambda d, b: d.math.clamp(b, 2, 4),
    pairs=lambda d, b: d.math.max(b, d.batch([1, 9])),
    zeros=lambda d, b: d.zeros(shape=[2]),
    zeros_of_a_batch=lambda d, b: d.zeros(shape=[2], batch_size=3),
    like=lambda d, b: d.ones_like(b),
    full=lambda d, b: d.full(3.5, shape=[2]),
    one_hot=lambda d, b: d.one_hot(d.tensor(2), num_classes=4),
    always=lambda d, b: d.random.coin_flip(probability=1.0, batch_size=2),
    noise=lambda d, b: d.noise.gaussian(b, mean=2.0, stddev=0.0),
)
def operators(m, call):
    global d_types
    d_types = m.types
    b = of(m).as_batch([m.image(2, 3), m.image(1, 3)], layout="HWC")
    return told(m, call(of(m), b))


@case
def draws(m):
    d = of(m)
    one = d.random.uniform(range=[0, 1])
    several = d.random.uniform(range=[0, 1], batch_size=3, shape=[2])
    d.random.set_seed(5)
    first = [d.random.uniform(range=[0, 1]).item() for _ in range(3)]
    d.random.set_seed(5)
    again = [d.random.uniform(range=[0, 1]).item() for _ in range(3)]
    generators = [d.random.RNG(seed=3) for _ in range(2)]
    alike = [d.random.normal(rng=r, shape=[3]) for r in generators]
    shapes = [type(one).__name__, one.shape, type(several).__name__, several.shape]
    return [shapes, first == again, len(set(first)), m.np.array_equal(*map(m.np.array, alike))]


@each(None, 2, 3)
def epochs(m, batch_size):
    reader = of(m).readers.File(file_root=m.files(7))
    found = []
    for _ in range(2):
        for data, label in reader.next_epoch(batch_size=batch_size):
            found.append(told(m, data.slice[:1] if batch_size else data[:1], label))
    return found


@case
def epochs_of_shards(m):
    reader = of(m).readers.File(file_root=m.files(7), shard_id=1, num_shards=3)
    return [[told(m, data[:1]) for data, _ in reader.next_epoch()] for _ in range(3)]


@case
def another_batch_size_later(m):
    reader = of(m).readers.File(file_root=m.files(4))
    list(reader.next_epoch(batch_size=2))
    return m.raises(lambda: list(reader.next_epoch(batch_size=3)))


@case
def modes_and_contexts(m):
    d = of(m)
    with d.EvalMode.eager, d.EvalContext(num_threads=2), d.Device("cpu"):
        made = d.tensor([1, 2]) + 1
        here = str(d.Device.current())
    d.set_num_threads(2)
    return [told(m, made), here, d.get_num_threads(), made.evaluate() is made, made.cpu() is made]


@case
def pictures_of_files(m):
    d = of(m)
    files = [m.path(f"{i}.ppm") for i in range(2)]
    for i, file in enumerate(files):
        file.write_bytes(b"P6 3 2 255\n" + m.image(2, 3, start=i).tobytes())
    missing = m.raises(lambda: m.np.array(d.imread(str(m.path("none.ppm")))))
    grey = d.imread(files, output_type=m.types.GRAY)
    return [told(m, d.imread(str(files[0])), d.imread(files)), grey.shape, missing]


@each(None, 2)
def nodes_of_torchdata(m, batch_size):
    """Batches as tensors of torch, in two epochs."""
    import torchdata.nodes as tn

    d = of(m)
    nodes = m.load("experimental.dynamic.pytorch.nodes")
    reader = nodes.Reader(d.readers.File, batch_size=batch_size, file_root=m.files(4))

    def first(x):
        return (x.slice if batch_size else x)[:1]

    loader = tn.Loader(nodes.ToTorch(nodes.DictMapper(source=reader, map_fn=first)))
    found = [[[one.tolist() for one in step] for step in loader] for _ in range(2)]
    wrong = m.raises(lambda: nodes.Reader(d.readers.File, batch_size=2, file_root=".", x=3))
    return [found, reader.get_metadata()["epoch_size"], wrong]


def taken(m, source, count=5, **options):
    """What calls of a source give, up to its end."""
    found = []
    for _ in range(count):
        try:
            made = source(**options)
            found.append(told(m, *(made if isinstance(made, tuple) else [made])))
        except StopIteration:
            found.append("end")
    return found


def numbers():
    yield 1
    yield 2


@each(None, False, "no", True, "quiet", "raise")
def cycles_of_sources(m, cycle):
    d = of(m)
    lists = d.ExternalSource([m.np.float32([i]) for i in range(2)], cycle=cycle, layout="X")
    return [taken(m, lists), taken(m, d.ExternalSource(numbers, cycle=cycle))]


@case
def sources_of_batches(m):
    d = of(m)
    batches = d.ExternalSource(lambda: ragged(m), dtype=d.float32, layout="AB")
    two = d.ExternalSource(lambda: ([1, 2], 3.5), num_outputs=2, layout=["X", ""])
    calls = [taken(m, batches, 1), taken(m, batches, 1, batch_size=2), taken(m, two, 1)]
    return calls + [taken(m, two, 1, batch_size=2), m.raises(lambda: batches(batch_size=3))]


@each(
    argument=lambda m, d: d.ExternalSource(lambda i: i),
    number=lambda m, d: d.ExternalSource(3),
    cycle_of_a_callable=lambda m, d: d.ExternalSource(lambda: 1, cycle=True),
    cycle_of_a_generator=lambda m, d: d.ExternalSource(numbers(), cycle=True),
    no_outputs=lambda m, d: d.ExternalSource([1], num_outputs=0),
    layouts=lambda m, d: d.ExternalSource([1], num_outputs=2, layout=["X"]),
    outputs=lambda m, d: d.ExternalSource([1], num_outputs=2)(),
    outputs_in_a_list=lambda m, d: d.ExternalSource([[1, 2, 3]], num_outputs=2)(),
    mixed=lambda m, d: d.ExternalSource([(1, ragged(m))], num_outputs=2)(),
)
def refused_sources(m, call):
    return m.raises(lambda: call(m, of(m)))
