"""Iterators of jax: policies, several pipelines, shardings, peeking, decorators.

Recorded with the package `clu` beside DALI; galatea does without it.
"""

from . import case
from .iterators import policy, reader


def iterator(m, pipes, kind="DALIGenericIterator", **options):
    if "last_batch_policy" in options:
        options["last_batch_policy"] = policy(m, options["last_batch_policy"])
    options.setdefault("reader_name", "Reader")
    name = "plugin.jax.clu" if "Peekable" in kind else "plugin.jax.iterator"
    return getattr(m.load(name), kind)(pipes, ["data", "label"], **options)


def two(m, count=7, **options):
    return [reader(m, count, 2, shard_id=i, num_shards=2, **options) for i in range(2)]


def epochs(m, count, *args, **options):
    it = iterator(m, *args, auto_reset=True, **options)
    return [[len(it), [batch["data"][..., 0].tolist() for batch in it]] for _ in range(count)]


@case
def outputs(m):
    return m.attempt(lambda: list(iterator(m, reader(m, 4))))


@case
def policies(m):
    return {
        f"{name} {padded}": m.attempt(
            lambda: epochs(m, 3, reader(m, 7, 2, pad_last_batch=padded), last_batch_policy=name)
        )
        for name in ("FILL", "DROP", "PARTIAL")
        for padded in (False, True)
    }


@case
def two_pipelines(m):
    found = {
        f"{name} {padded}": m.attempt(
            lambda: epochs(m, 2, two(m, pad_last_batch=padded), last_batch_policy=name)
        )
        for name in ("FILL", "DROP")
        for padded in (False, True)
    }
    found["shape"] = m.attempt(lambda: list(next(iterator(m, two(m)))["data"].shape))
    return found


@case
def one_pipeline_for_pmap(m):
    return m.attempt(lambda: next(iterator(m, reader(m, 4), pmap_compatible=True)))


@case
def sharded(m):
    import jax
    import numpy as np

    def over(sharding):
        it = iterator(m, reader(m, 4), sharding=sharding)
        array = next(it)["data"]
        return [list(array.shape), array.sharding == sharding, array]

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
    named = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    return {
        "named": m.attempt(lambda: over(named)),
        "single": m.attempt(lambda: over(jax.sharding.SingleDeviceSharding(jax.devices()[0]))),
        "no sharding": m.attempt(lambda: over("batch")),
    }


@case
def wrong(m):
    return {
        "names": m.attempt(lambda: m.load("plugin.jax").DALIGenericIterator(reader(m), ["x", "x"])),
        "reader": m.attempt(lambda: iterator(m, reader(m), reader_name="Other")),
        "reset": m.attempt(lambda: iterator(m, reader(m), auto_reset="maybe")),
        "two without size": m.attempt(lambda: iterator(m, two(m), reader_name=None)),
    }


@case
def peeking(m):
    def value(batch):
        return batch["data"][:, 0].tolist()

    def peeked(it):
        return [
            value(it.peek()),
            value(it.peek()),
            value(next(it)),
            value(it.peek_async().result()),
        ]

    def spec(it):
        return {name: [list(one.shape), str(one.dtype)] for name, one in it.element_spec.items()}

    kind = "DALIGenericPeekableIterator"
    it = iterator(m, reader(m, 7, 2, pad_last_batch=True), kind)
    found = {"spec": spec(it), "peek": peeked(it), "next": value(it.next())}
    it = iterator(m, reader(m, 7, 2, pad_last_batch=True), kind, auto_reset=True)
    found["epochs"] = [[value(batch) for batch in it] for _ in range(2)]
    it = iterator(m, reader(m, 7, 2, pad_last_batch=True), kind, prepare_first_batch=False)
    padding = []
    for _ in it:
        padding.append(it.is_nonpadding)
    found["padding"] = padding
    it = iterator(m, reader(m, 4), kind)
    found["peek, then iterate"] = [value(it.peek()), [value(batch) for batch in it]]
    it = iterator(m, reader(m, 4, enable_checkpointing=True), kind)
    it.peek()
    found["checkpoints"] = m.attempt(it.checkpoints)
    return found


@case
def peeking_at_other_shapes(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        batches = [m.np.ones((2, n), "float32") for n in (3, 3, 4)]
        pipe.set_outputs(m.feed(*batches), m.feed(*batches))
    it = iterator(m, pipe, "DALIGenericPeekableIterator", reader_name=None)
    return [m.raises(lambda: next(it)) for _ in range(3)]


@case
def decorators(m):
    found = {}
    for name, module in (("data_iterator", "jax"), ("peekable_data_iterator", "jax.clu")):
        make = getattr(m.load(f"plugin.{module}"), name)

        def define(count, **options):
            return tuple(m.fn.readers.file(file_root=m.files(count), name="Reader", **options))

        def ones(count):
            return define(count)

        def shard(count, shard_id, num_shards):
            return define(count, shard_id=shard_id, num_shards=num_shards)

        call = {"batch_size": 2, "device_id": None}
        options = {"output_map": ["data", "label"], "reader_name": "Reader"}
        as_call, as_decorator = make(ones, **options), make(**options)(ones)
        found[name] = {
            "call": [batch["data"][:, 0].tolist() for batch in as_call(5, **call)],
            "decorator": [batch["data"][:, 0].tolist() for batch in as_decorator(5, **call)],
            "name": as_call.__name__,
            "arguments": m.attempt(lambda: as_call(5, **call, shard_id=3)),
            "shards": as_call(7, **call).size,
            "one shard": make(shard, **options)(7, shard_id=0, num_shards=2, **call).size,
            "both": m.attempt(lambda: make(ones, sharding=1, devices=[1], **options)),
        }
    return found


@case
def checkpoints(m):
    make = m.load("plugin.jax").data_iterator

    def define():
        return tuple(m.fn.readers.file(file_root=m.files(7), name="Reader"))

    create = make(define, output_map=["data", "label"], reader_name="Reader")
    options = {"batch_size": 2, "device_id": None, "enable_checkpointing": True}
    it = create(**options)
    next(it), next(it)
    again = create(checkpoints=it.checkpoints(), **options)
    return [next(again)["data"][:, 0].tolist(), next(it)["data"][:, 0].tolist()]


@case
def arguments_of_iterators_and_decorators(m):
    from inspect import getfullargspec

    module, peekable = m.load("plugin.jax.iterator"), m.load("plugin.jax.clu")
    return [
        getfullargspec(module.DALIGenericIterator.__init__).args,
        getfullargspec(module.data_iterator).args,
        getfullargspec(peekable.DALIGenericPeekableIterator.__init__).args,
        getfullargspec(peekable.peekable_data_iterator).args,
    ]
