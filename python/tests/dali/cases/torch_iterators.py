"""PyTorch beyond `iterators`: sparse outputs, copies into tensors, the proxy for its DataLoader."""

from . import case, each
from .iterators import policy, reader


def pieces(m, lengths, batch_size=3, **options):
    """A pipeline of samples of one axis; sample i counts from 10 * i."""
    samples = [m.np.arange(10 * i, 10 * i + n, dtype="int32") for i, n in enumerate(lengths)]
    pipe = m.Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipe:
        x = m.fn.external_source(
            source=[samples[i : i + batch_size] for i in range(0, len(samples), batch_size)],
            cycle="quiet",
        )
        pipe.set_outputs(x, x * 2)
    return pipe


def ragged(m, pipe, tags, **options):
    cls = m.load("plugin.pytorch").DALIRaggedIterator
    types = [getattr(cls, f"{tag}_TAG") for tag in tags]
    return cls(pipe, ["a", "b"], output_types=types, **options)


@case
def ragged_is_not_generic(m):
    plugin = m.load("plugin.pytorch")
    return issubclass(plugin.DALIRaggedIterator, plugin.DALIGenericIterator)


@case
def sparse(m):
    batch = next(ragged(m, pieces(m, [2, 0, 3]), ["SPARSE_COO", "SPARSE_LIST"]))[0]
    a = batch["a"]
    return [
        a.is_sparse,
        str(a.dtype),
        list(a.shape),
        a.coalesce().indices(),
        a.coalesce().values(),
        a.to_dense(),
        batch["b"],
    ]


@each(matrices=(2, 2), scalars=())
def sparse_of_other_ranks(m, shape):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.feed([m.np.ones(shape, "float32")] * 2))
    cls = m.load("plugin.pytorch").DALIRaggedIterator
    return next(cls(pipe, ["a"], output_types=[cls.SPARSE_COO_TAG]))[0]["a"].to_dense()


@case
def ragged_order_of_names(m):
    return list(next(ragged(m, pieces(m, [1, 2, 3]), ["SPARSE_LIST", "SPARSE_LIST"]))[0])


@each("FILL", "DROP", "PARTIAL")
def ragged_policies(m, name):
    it = ragged(
        m,
        reader(m, 7, 2, pad_last_batch=True),
        ["SPARSE_LIST", "DENSE"],
        reader_name="Reader",
        last_batch_policy=policy(m, name),
        auto_reset=True,
    )
    return [[len(it), list(it)] for _ in range(2)]


@case
def ragged_of_two_pipelines(m):
    pipes = [reader(m, 7, 2, pad_last_batch=True, shard_id=i, num_shards=2) for i in range(2)]
    it = ragged(
        m,
        pipes,
        ["SPARSE_LIST", "DENSE"],
        reader_name="Reader",
        last_batch_policy=policy(m, "PARTIAL"),
    )
    return list(it)


@case
def type_map(m):
    found = m.load("plugin.pytorch").to_torch_type
    return {key.name: str(value) for key, value in found.items()}


@each("equal", "type", "shape", "list", "ragged")
def feed_ndarray(m, kind):
    import torch

    plugin = m.load("plugin.pytorch")
    arr = torch.zeros((2, 3), dtype=torch.float64 if kind == "type" else torch.float32)
    if kind == "shape":
        arr = torch.zeros((3, 2))
    array = m.np.arange(6, dtype="float32").reshape(2, 3)
    given = m.tensors.TensorCPU(array)
    if kind == "list":
        given = m.tensors.TensorListCPU(array).as_tensor()
    if kind == "ragged":
        given = m.tensors.TensorListCPU([array, array[:1]])
    gave = plugin.feed_ndarray(given, arr)
    return [gave is arr, arr]


@case
def subclass_with_a_length_of_its_own(m):
    class Short(m.load("plugin.pytorch").DALIGenericIterator):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.taken = 0

        def __len__(self):
            return 2

        def __next__(self):
            if self.taken == len(self):
                self.taken = 0
                raise StopIteration
            self.taken += 1
            return super().__next__()[0]["data"][:, 0]

    it = Short(reader(m, 7, 2), ["data", "label"], reader_name="Reader")
    return [list(it), list(it)]


@case
def subclass_that_resets(m):
    class Mine(m.load("plugin.pytorch").DALIClassificationIterator):
        resets = 0

        def reset(self):
            type(self).resets += 1
            super().reset()

    it = Mine(reader(m, 6, 2), reader_name="Reader", auto_reset=True)
    return [[len(list(it)) for _ in range(3)], Mine.resets]


@case
def size_of_ones_own(m):
    it = m.load("plugin.pytorch").DALIClassificationIterator(reader(m, 6, 2), reader_name="Reader")
    it._size = 4
    return [len(it), len(list(it))]


@case
def dynamic_shape(m):
    plugin = m.load("plugin.pytorch")
    it = plugin.DALIGenericIterator(
        reader(m, 4), ["data", "label"], reader_name="Reader", dynamic_shape=True
    )
    return len(list(it))


@case
def last_batch_padded_by_hand(m):
    it = m.load("plugin.pytorch").DALIGenericIterator(
        reader(m, 7, 2, pad_last_batch=True),
        ["data", "label"],
        size=7,
        last_batch_padded=True,
        last_batch_policy=policy(m, "PARTIAL"),
        auto_reset=True,
    )
    return [[batch[0]["data"][:, 0] for batch in it] for _ in range(2)]


@each(FILL="FILL", DROP="DROP", PARTIAL="PARTIAL")
def two_pipelines_with_a_size(m, name):
    pipes = [reader(m, 10, 2, shard_id=i, num_shards=2) for i in range(2)]
    it = m.load("plugin.pytorch").DALIGenericIterator(
        pipes, ["data", "label"], size=10, last_batch_policy=policy(m, name), auto_reset=True
    )
    first = [[one["data"][:, 0] for one in batch] for batch in it]
    return [len(it), first]


# The proxy.


def server(m, outputs=2, **options):
    pipe = m.Pipeline(batch_size=3, num_threads=1, device_id=None, prefetch_queue_depth=2)
    with pipe:
        a = m.fn.external_source(name="a", no_copy=True)
        if outputs == 1:
            pipe.set_outputs(a * 2)
        else:
            b = m.fn.external_source(name="b", no_copy=True)
            pipe.set_outputs(a + b, b - a)
    return m.load("plugin.pytorch.experimental.proxy").DALIServer(pipe, **options)


@each(True, False)
def proxy_by_hand(m, deterministic):
    from torch.utils.data import default_collate

    with server(m, deterministic=deterministic) as made:
        given = []
        for i in range(3):
            a, b = m.np.full((2,), i, "float32"), m.np.full((2,), 10.0 * i, "float32")
            given.append((*made.proxy(a=a, b=b), i))
        return made.produce_data(default_collate(given))


@case
def proxy_in_containers(m):
    from collections import namedtuple
    from torch.utils.data import default_collate

    Pair = namedtuple("Pair", "first second")
    with server(m, 1) as made:
        given = [{"x": Pair(made.proxy(m.np.full(2, i, "int32")), i), "y": i} for i in range(2)]
        got = made.produce_data(default_collate(given))
        return [type(got["x"]).__name__, got["x"].first, got["x"].second, got["y"]]


PROXY_WRONG = {
    "positions": lambda m: server(m).proxy(1, 2),
    "names": lambda m: server(m).proxy(a=1, c=2),
    "missing": lambda m: server(m).proxy(a=1),
    "no_pipeline": lambda m: m.load("plugin.pytorch.experimental.proxy").DALIServer(3),
    "no_inputs": lambda m: m.load("plugin.pytorch.experimental.proxy").DALIServer(reader(m, 4)),
}


@each(**PROXY_WRONG)
def proxy_wrong(m, make):
    return make(m)


@case
def proxy_collated_in_another_order(m):
    from torch.utils.data import default_collate

    with server(m, 1) as made:
        given = [made.proxy(m.np.full(2, i, "int32")) for i in range(2)]
        return m.raises(lambda: default_collate(given[::-1]))


@case
def proxy_and_an_error(m):
    from torch.utils.data import default_collate

    with server(m) as made:
        a, b = m.np.zeros(2, "int32"), m.np.zeros(3, "int32")
        given = default_collate([made.proxy(a=a, b=b)])
        return m.raises(lambda: made.produce_data(given))


@each(False, True)
def proxy_loader(m, deterministic):
    """Batches of workers, in the loader's order, over several epochs; the last one is smaller."""
    import torch

    proxy = m.load("plugin.pytorch.experimental.proxy")

    class Numbers(torch.utils.data.Dataset):
        def __init__(self, transform):
            self.transform = transform

        def __len__(self):
            return 7

        def __getitem__(self, i):
            return self.transform(m.np.full((2,), i, "int32")), i

    made = server(m, 1, deterministic=deterministic)
    loader = proxy.DataLoader(made, Numbers(made.proxy), batch_size=3, num_workers=2)
    epochs = [[(x[:, 0], i) for x, i in loader] for _ in range(2)]
    made.stop_thread()
    return [len(loader), epochs]
