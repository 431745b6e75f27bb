"""Iterators of PyTorch: policies, epochs, resets, names, ragged outputs."""

from itertools import product

from . import case, each


def reader(m, count=7, batch_size=2, checkpoint=None, enable_checkpointing=False, **options):
    pipe = m.Pipeline(
        batch_size=batch_size,
        num_threads=1,
        device_id=None,
        seed=1,
        checkpoint=checkpoint,
        enable_checkpointing=enable_checkpointing,
    )
    with pipe:
        data, labels = m.fn.readers.file(file_root=m.files(count), name="Reader", **options)
        pipe.set_outputs(data, labels)
    return pipe


def policy(m, name):
    return getattr(m.load("plugin.base_iterator").LastBatchPolicy, name)


def iterator(m, pipes, **options):
    if "last_batch_policy" in options:
        options["last_batch_policy"] = policy(m, options["last_batch_policy"])
    return m.load("plugin.pytorch").DALIGenericIterator(pipes, ["data", "label"], **options)


def epoch(batches):
    """The first bytes of an epoch, batch after batch, pipeline after pipeline."""
    return [[[int(x) for x in one["data"][:, 0]] for one in batch] for batch in batches]


def epochs(m, count, pipes, **options):
    it = iterator(m, pipes, auto_reset=True, **options)
    return [[len(it), epoch(it)] for _ in range(count)]


POLICIES = {
    f"{name}-{'padded' if padded else 'wrapped'}-{batch}of{count}": (name, padded, batch, count)
    for name, padded, batch, count in product(
        ("FILL", "DROP", "PARTIAL"), (False, True), (2, 3), (6, 7)
    )
}


@each(**POLICIES)
def policies(m, what):
    name, padded, batch, count = what
    pipe = reader(m, count, batch, pad_last_batch=padded)
    return epochs(m, 3, pipe, reader_name="Reader", last_batch_policy=name)


SHARDS = {
    f"{name}-{'padded' if padded else 'wrapped'}-{'stuck' if stick else 'moving'}": (
        name,
        padded,
        stick,
    )
    for name, padded, stick in product(("FILL", "DROP", "PARTIAL"), (False, True), (False, True))
}


@each(**SHARDS)
def shards(m, what):
    name, padded, stick = what
    pipes = [
        reader(m, 7, 2, pad_last_batch=padded, stick_to_shard=stick, shard_id=i, num_shards=2)
        for i in range(2)
    ]
    return epochs(m, 3, pipes, reader_name="Reader", last_batch_policy=name)


@each(**SHARDS)
def one_shard(m, what):
    name, padded, stick = what
    pipe = reader(m, 7, 2, pad_last_batch=padded, stick_to_shard=stick, shard_id=1, num_shards=3)
    return epochs(m, 4, pipe, reader_name="Reader", last_batch_policy=name)


@each("FILL", "DROP", "PARTIAL")
def size_by_hand(m, name):
    if name == "PARTIAL":
        return epochs(m, 1, reader(m, 7, 2, pad_last_batch=True), size=6, last_batch_policy=name)
    return epochs(m, 3, reader(m, 7, 2), size=7, last_batch_policy=name)


@each(yes=True, no=False)
def fill_last_batch(m, fill):
    pipe = reader(m, 7, 2, pad_last_batch=True)
    return epochs(m, 2, pipe, reader_name="Reader", fill_last_batch=fill)


@case
def without_auto_reset(m):
    it = iterator(m, reader(m, 4), reader_name="Reader")
    first = epoch(it)
    ended = m.raises(lambda: next(it))
    it.reset()
    return [first, ended, epoch(it)]


@case
def iter_resets(m):
    it = iterator(m, reader(m, 4), reader_name="Reader")
    return [epoch(it) for _ in range(3)]


@case
def reset_before_the_end(m):
    it = iterator(m, reader(m, 6), reader_name="Reader")
    first = epoch([next(it)])
    it.reset()
    return [first, epoch([next(it)])]


@each(yes="yes", no="no", true=True, none=None)
def auto_reset(m, value):
    it = iterator(m, reader(m, 4), reader_name="Reader", auto_reset=value)
    return [epoch(it), it._size, it.size, it.batch_size]


@each(maybe="maybe", number=3)
def auto_reset_wrong(m, value):
    return iterator(m, reader(m, 4), reader_name="Reader", auto_reset=value)


@each(True, False)
def prepare_first_batch(m, value):
    it = iterator(m, reader(m, 4), reader_name="Reader", prepare_first_batch=value)
    return [epoch(it), epoch(it)]


@case
def next_method(m):
    it = iterator(m, reader(m, 4), reader_name="Reader")
    return epoch([it.next(), next(it)])


@case
def outputs(m):
    it = iterator(m, reader(m, 4), reader_name="Reader")
    return next(it)


@case
def output_type(m):
    batch = next(iterator(m, reader(m, 4), reader_name="Reader"))
    return [type(batch).__name__, type(batch[0]).__name__, type(batch[0]["data"]).__name__]


@case
def batches_stay_as_they_are(m):
    it = iterator(m, reader(m, 6), reader_name="Reader")
    kept = list(it)
    return kept


WRONG = {
    "no_pipelines": lambda m: iterator(m, None),
    "size_and_reader": lambda m: iterator(m, reader(m), size=7, reader_name="Reader"),
    "padded_and_reader": lambda m: iterator(
        m, reader(m), last_batch_padded=True, reader_name="Reader"
    ),
    "size_zero": lambda m: iterator(m, reader(m), size=0),
    "unknown_reader": lambda m: iterator(m, reader(m), reader_name="Other"),
    "policy_text": lambda m: m.load("plugin.pytorch").DALIGenericIterator(
        reader(m), ["data", "label"], last_batch_policy="FILL"
    ),
    "two_without_size": lambda m: iterator(m, [reader(m), reader(m)]),
    "batch_sizes": lambda m: iterator(
        m, [reader(m), reader(m, batch_size=3)], reader_name="Reader"
    ),
    "shard_counts": lambda m: iterator(
        m, [reader(m, num_shards=2), reader(m)], reader_name="Reader"
    ),
    "same_names": lambda m: m.load("plugin.pytorch").DALIGenericIterator(
        reader(m), ["data", "data"], reader_name="Reader"
    ),
    "too_few_names": lambda m: next(
        m.load("plugin.pytorch").DALIGenericIterator(reader(m), ["data"], reader_name="Reader")
    ),
    "too_many_names": lambda m: next(
        m.load("plugin.pytorch").DALIGenericIterator(
            reader(m), ["a", "b", "c"], reader_name="Reader"
        )
    ),
    "checkpoints_not_enabled": lambda m: iterator(m, reader(m), reader_name="Reader").checkpoints(),
}


@each(**WRONG)
def wrong(m, make):
    return make(m)


# Classification.


@case
def classification(m):
    it = m.load("plugin.pytorch").DALIClassificationIterator(reader(m, 4), reader_name="Reader")
    return list(it)


@case
def classification_is_generic(m):
    plugin = m.load("plugin.pytorch")
    return issubclass(plugin.DALIClassificationIterator, plugin.DALIGenericIterator)


@case
def classification_of_one_output(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.feed(m.np.zeros((2, 2), "uint8")))
    return next(m.load("plugin.pytorch").DALIClassificationIterator(pipe))


@case
def subclassed(m):
    class Mine(m.load("plugin.pytorch").DALIClassificationIterator):
        def __next__(self):
            batch = super().__next__()[0]
            return batch["data"][:, 0].tolist(), batch["label"].squeeze(-1).tolist()

        def __len__(self):
            return self._size // self.batch_size

    it = Mine(reader(m, 6), reader_name="Reader", auto_reset=True)
    return [len(it), list(it), list(it)]


# Sources.


def source(m, batches=3, cycle=None, ragged=False, batch_size=2):
    def data(i):
        if ragged:
            return [m.np.full((k + 1, 2), i, "float32") for k in range(batch_size)]
        return m.np.full((batch_size, 2), i, "float32")

    pipe = m.Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipe:
        x = m.fn.external_source(source=[data(i) for i in range(batches)], cycle=cycle)
        pipe.set_outputs(x, m.fn.cast(x, dtype=m.types.INT32))
    return pipe


@case
def of_a_source(m):
    return list(iterator(m, source(m)))


@case
def of_a_source_that_restarts(m):
    it = iterator(m, source(m, cycle="raise"), auto_reset=True)
    return [len(list(it)) for _ in range(3)]


@case
def of_a_source_with_reset(m):
    it = iterator(m, source(m, cycle="raise"))
    first = len(list(it))
    it.reset()
    return [first, len(list(it))]


@case
def of_a_source_with_a_size(m):
    it = iterator(m, source(m, 5, cycle="quiet"), size=6, auto_reset=True)
    return [[batch[0]["data"][:, 0].tolist() for batch in it] for _ in range(2)]


@case
def length_of_a_source(m):
    return len(iterator(m, source(m)))


@case
def ragged_in_a_generic_iterator(m):
    m.load("plugin.pytorch")  # skipped here where there is no torch: that is not what is looked at
    return m.raises(lambda: next(iterator(m, source(m, ragged=True))))


@each("dense", "list", "mixed")
def ragged(m, kind):
    plugin = m.load("plugin.pytorch")
    cls = plugin.DALIRaggedIterator
    if kind == "dense":
        types = [cls.DENSE_TAG, cls.DENSE_TAG]
    elif kind == "list":
        types = [cls.SPARSE_LIST_TAG, cls.SPARSE_LIST_TAG]
    else:
        types = [cls.DENSE_TAG, cls.SPARSE_LIST_TAG]
    it = cls(source(m, ragged=kind == "list"), ["data", "label"], output_types=types)
    return next(it)


@case
def ragged_by_default(m):
    it = m.load("plugin.pytorch").DALIRaggedIterator(source(m), ["data", "label"])
    return next(it)


@case
def ragged_dense_of_ragged(m):
    cls = m.load("plugin.pytorch").DALIRaggedIterator
    it = cls(source(m, ragged=True), ["a", "b"], output_types=[cls.DENSE_TAG, cls.DENSE_TAG])
    return m.raises(lambda: next(it))


@case
def ragged_types_of_wrong_count(m):
    cls = m.load("plugin.pytorch").DALIRaggedIterator
    return cls(source(m), ["a", "b"], output_types=[cls.DENSE_TAG])


@case
def ragged_unknown_type(m):
    cls = m.load("plugin.pytorch").DALIRaggedIterator
    return cls(source(m), ["a", "b"], output_types=["sparse", "sparse"])


@case
def ragged_partial(m):
    cls = m.load("plugin.pytorch").DALIRaggedIterator
    pipe = reader(m, 7, 2, pad_last_batch=True)
    it = cls(
        pipe,
        ["a", "b"],
        output_types=[cls.SPARSE_LIST_TAG, cls.DENSE_TAG],
        reader_name="Reader",
        last_batch_policy=policy(m, "PARTIAL"),
    )
    return list(it)


@each("uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bool")
def element_type(m, name):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.feed(m.np.array([[0, 1], [1, 1]], name)))
    it = m.load("plugin.pytorch").DALIGenericIterator(pipe, ["x"])
    tensor = next(it)[0]["x"]
    return [str(tensor.dtype), list(tensor.shape), tensor.device.type]


@case
def iter_setup_with_an_iterator(m):
    class Mine(m.Pipeline):
        def __init__(self):
            super().__init__(2, 1, None)
            self.step = 0

        def define_graph(self):
            self.x = m.ops.ExternalSource()()
            return self.x

        def iter_setup(self):
            if self.step == 3:
                self.step = 0
                raise StopIteration
            self.step += 1
            self.feed_input(self.x, m.np.full((2, 1), self.step, "int32"))

    it = m.load("plugin.pytorch").DALIGenericIterator(Mine(), ["x"], auto_reset=True)
    return [[batch[0]["x"].tolist() for batch in it] for _ in range(2)]


@case
def pipeline_used_by_an_iterator(m):
    pipe = reader(m, 4)
    next(iterator(m, pipe, reader_name="Reader"))
    return m.raises(pipe.run)


# Checkpoints.


@each(0, 1, 3, 5)
def checkpoints(m, steps):
    def make(checkpoint=None):
        return iterator(
            m,
            reader(m, 7, 2, checkpoint, True, pad_last_batch=True),
            reader_name="Reader",
            auto_reset=True,
        )

    def forever(it):
        while True:
            yield from it

    it = make()
    running = forever(it)
    for _ in range(steps):
        next(running)
    state = it.checkpoints()[0]
    wanted = epoch([next(running) for _ in range(2)])
    again = forever(make(state))
    return [wanted == epoch([next(again) for _ in range(2)]), wanted]
