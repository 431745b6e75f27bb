"""Programs with PyTorch's iterators: when epochs end, and what stops them."""

import itertools

from . import case, each
from .iterators import policy, reader


class Counted:
    """Batches of an epoch, `total` of them at most over all epochs."""

    def __init__(self, m, count, batch, total=-1):
        self.m, self.count, self.batch, self.total = m, count, batch, total

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        if self.i == self.count or self.total == 0:
            self.i = 0
            raise StopIteration
        self.i += 1
        self.total -= 1
        return [self.m.np.full(3, self.i, "uint8")] * self.batch


def iterator(m, pipes, **options):
    return m.load("plugin.pytorch").DALIGenericIterator(pipes, ["data"], **options)


def of(m, source, batch, **options):
    pipe = m.Pipeline(batch, 1, None, prefetch_queue_depth=options.pop("depth", 1))
    with pipe:
        made = m.fn.external_source(source=source, **options)
    pipe.set_outputs(*(made if isinstance(made, list) else [made]))
    return pipe


@each(*["-".join(one) for one in itertools.product(("auto", "by_hand"), ("sized", "endless"))])
def ends_of_epochs(m, what):
    """How many batches come over some epochs, of sources that end now and then, or for good."""
    is_auto, is_endless = "auto" in what, "endless" in what
    got = []
    for epochs, count, batch in itertools.product((1, 3), (1, 2, 5), (1, 10)):
        for total in (-1, count - 1, 2 * count - 1):
            if total == 0 or total > epochs * count:
                continue
            size = -1 if is_endless else count * batch
            it = iterator(m, of(m, Counted(m, count, batch, total), batch), size=size,
                          auto_reset=is_auto)  # fmt: skip
            seen = []
            for _ in range(epochs):
                seen.append(m.attempt(lambda: len([None for _ in it])))
                if not is_auto:
                    it.reset()
            got.append([epochs, count, batch, total, seen])
    return got


@each(two=(2, -1), none=(1, 0), two_sized=(2, 2))
def sizes_that_are_wrong(m, what):
    pipes, size = what
    made = [of(m, Counted(m, 2, 1), 1) for _ in range(pipes)]
    return len(list(iterator(m, made, size=size)))


@each(True, False)
def next_of_a_subclass_is_not_called_ahead(m, ahead):
    class Mine(m.load("plugin.pytorch").DALIGenericIterator):
        def __init__(self, *args, **kwargs):
            self.may = False
            super().__init__(*args, **kwargs)

        def __next__(self):
            assert self.may
            return super().__next__()

    pipe = m.Pipeline(16, 1, None)
    with pipe:
        pipe.set_outputs(m.fn.random.uniform(range=(-1, 1), shape=(2, 2, 2), seed=1234))
    it = Mine([pipe], ["data"], size=100, prepare_first_batch=ahead)
    it.may = True
    return [len(it), len(list(itertools.islice(it, 2)))]


@each(
    **{
        f"{'ahead' if ahead else 'lazy'}-{size}-{'ragged' if dynamic else 'dense'}": (
            ahead, size, dynamic,
        )
        for ahead, size, dynamic in itertools.product((True, False), (-1, 16, 5), (False, True))
    }
)  # fmt: skip
def source_that_ends_and_begins(m, what):
    ahead, size, dynamic = what
    left = [0]

    def source():
        if left[0] == 4:
            left[0] = 0
            raise StopIteration
        left[0] += 1
        return [[m.np.full((2, 3), left[0], "uint8")] * 4]

    it = iterator(m, [of(m, source, 4, num_outputs=1)], size=size, auto_reset=True,
                  prepare_first_batch=ahead, dynamic_shape=dynamic)  # fmt: skip

    def epoch():
        return [[list(one[0]["data"].shape), int(one[0]["data"][0, 0, 0])] for one in it]

    return [m.attempt(epoch) for _ in range(3)]


@each("FILL", "DROP", "PARTIAL")
def shards_and_batches(m, name):
    """Shards smaller and larger than batches, by one pipeline or by one for each."""
    got = []
    grid = itertools.product((3, 5), (3, 7), (False, True), (True, False), (False, True))
    for shards, batch, stick, padded, is_one in grid:
        pipes = [
            reader(m, 13, batch, pad_last_batch=padded, stick_to_shard=stick, shard_id=i,
                   num_shards=shards)
            for i in range(1 if is_one else shards)
        ]  # fmt: skip

        def run():
            it = m.load("plugin.pytorch").DALIGenericIterator(
                pipes, ["data", "label"], reader_name="Reader", last_batch_policy=policy(m, name)
            )
            seen = []
            for _ in range(2):
                seen.append([len(it), [[p["data"][:, 0].tolist() for p in b] for b in it]])
                it.reset()
            return seen

        got.append([shards, batch, stick, padded, is_one, m.attempt(run)])
    return got


@each(
    **{
        f"{kind}-{mode}-{steps}": (kind, mode, steps)
        for kind, mode, steps in itertools.product(
            ("Generic", "Ragged"), ("idx", "batch_info", "sample_info"), (0, 4, 7)
        )
    }
)
def checkpoints_of_sources(m, what):
    kind, mode, steps = what
    epoch, batch = 4, 3

    def source(info):
        if mode == "idx":
            if info >= epoch:
                raise StopIteration
            return [m.np.array([info, i]) for i in range(batch)]
        if mode == "batch_info":
            if info.iteration >= epoch:
                raise StopIteration
            return [m.np.array([info.epoch_idx, info.iteration, i]) for i in range(batch)]
        if info.idx_in_epoch >= epoch * batch:
            raise StopIteration
        return m.np.array([info.epoch_idx, info.iteration, info.idx_in_epoch])

    def make(**more):
        pipe = m.Pipeline(batch, 1, None, enable_checkpointing=True, **more)
        with pipe:
            pipe.set_outputs(
                m.fn.external_source(
                    source=source, batch=mode != "sample_info", batch_info=mode == "batch_info"
                )
            )
        cls = getattr(m.load("plugin.pytorch"), f"DALI{kind}Iterator")
        return cls(pipe, ["data"], auto_reset=True, size=-1)

    it = make()
    done = 0
    while done < steps:
        for _ in it:
            done += 1
            if done == steps:
                break
    again = make(checkpoint=it.checkpoints()[0])
    return [[one[0]["data"] for one in each] for each in (it, again)]


@case
def left_early(m):
    """A `for` that is left, and the next one."""
    it = iterator(m, of(m, Counted(m, 5, 2), 2), size=10, auto_reset=True)
    got = []
    for stop in (2, 5, 1, 9):
        seen = []
        for i, one in enumerate(it):
            seen.append(int(one[0]["data"][0, 0]))
            if i + 1 == stop:
                break
        got.append(seen)
    return got


@case
def kept_and_changed(m):
    """Tensors are the caller's: they stay, and may be written to."""
    it = iterator(m, of(m, Counted(m, 4, 2), 2, depth=2), size=8)
    kept = []
    for one in it:
        one[0]["data"][:, 1] += 100
        kept.append(one[0]["data"])
    return kept


@case
def sides_by_side(m):
    """Two iterators over pipelines of their own, in turns."""
    one, two = (iterator(m, of(m, Counted(m, 3, n), n), size=3 * n) for n in (1, 2))
    return [[a[0]["data"], b[0]["data"]] for a, b in zip(one, two)]
