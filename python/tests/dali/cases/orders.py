"""Calls of pipelines, their outputs, checkpoints and iterators in orders that few programs have."""

from . import case, each
from .iterators import epoch, iterator, reader


def counting(m, limit=6, **options):
    """A pipeline of a source that counts batches from 0 on, and ends behind `limit` of them."""

    def source(i):
        if i >= limit:
            raise StopIteration
        return m.np.full((2, 1), i, "int32")

    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None, **options)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=source, name="count"))
    return pipe


def first(outputs):
    return [int(outputs[0].at(i)[0]) for i in range(len(outputs[0]))]


def steps(m, pipe, calls):
    """What each call gives, or raises; the calls after an error go on."""
    given = []
    for call in calls.split():
        try:
            value = getattr(pipe, call)()
            given.append(first(value) if isinstance(value, tuple) else value is None)
        except Exception as error:
            given.append(type(error).__name__)
    return given


ORDERS = {
    "two_runs": "build run run",
    "no_build": "run run",
    "build_late": "run build run",
    "share_two": "build schedule_run share_outputs release_outputs schedule_run share_outputs",
    "outputs_two": "build schedule_run outputs schedule_run outputs",
    "release_first": "build release_outputs schedule_run share_outputs",
    "release_twice": "build schedule_run share_outputs release_outputs release_outputs",
    "to_the_end": "build run run run run run run run reset run",
    "end_twice": "build run run run run run run run run",
    "reset_at_once": "build reset run reset run",
    "reset_unbuilt": "reset",
    "reset_midway": "build run run reset run",
    "schedule_to_the_end": "build " + "schedule_run outputs " * 6 + "schedule_run outputs",
}


@each(**ORDERS)
def order(m, calls):
    return steps(m, counting(m), calls)


@each(**{name: ORDERS[name] for name in ("two_runs", "to_the_end", "share_two", "reset_midway")})
def order_without_queue(m, calls):
    return steps(m, counting(m, prefetch_queue_depth=1), calls)


@each(
    batch=lambda pipe: pipe.max_batch_size,
    old_batch=lambda pipe: pipe.batch_size,
    threads=lambda pipe: pipe.num_threads,
    device=lambda pipe: pipe.device_id,
    queue=lambda pipe: pipe.prefetch_queue_depth,
    types=lambda pipe: pipe.output_dtype(),
    ranks=lambda pipe: pipe.output_ndim(),
    layouts=lambda pipe: pipe.output_layout(),
    shared_memory=lambda pipe: pipe.external_source_shm_statistics(),
    built=lambda pipe: (pipe.build(), pipe.is_restored_from_checkpoint)[1],
    sizes=lambda pipe: pipe.epoch_size(),
    size_of_nothing=lambda pipe: pipe.epoch_size("nothing"),
    metas=lambda pipe: pipe.reader_meta(),
    meta_of_nothing=lambda pipe: pipe.reader_meta("nothing"),
    outputs=lambda pipe: pipe.num_outputs,
    input_type=lambda pipe: pipe.input_dtype("count"),
    input_layout=lambda pipe: pipe.input_layout("count"),
    input_of_nothing=lambda pipe: pipe.input_layout("nothing"),
    conditionals=lambda pipe: pipe.enable_conditionals,
    checkpoints=lambda pipe: pipe.enable_checkpointing,
)
def question_to_an_unbuilt_pipeline(m, ask):
    return ask(counting(m))


@each(
    sizes=lambda pipe: pipe.epoch_size(),
    size=lambda pipe: pipe.epoch_size("Reader"),
    size_of_nothing=lambda pipe: pipe.epoch_size("nothing"),
    meta=lambda pipe: pipe.reader_meta("Reader"),
    metas=lambda pipe: pipe.reader_meta(),
    meta_of_nothing=lambda pipe: pipe.reader_meta("nothing"),
    meta_of_a_number=lambda pipe: pipe.reader_meta(3),
    types=lambda pipe: [str(one) for one in pipe.output_dtype()],
    ranks=lambda pipe: pipe.output_ndim(),
    layouts=lambda pipe: pipe.output_layout(),
    feed=lambda pipe: pipe.feed_input("Reader", [0]),
)
def question_to_a_pipeline_with_a_reader(m, ask):
    pipe = reader(m)
    pipe.build()
    return ask(pipe)


def checkpointed(m, body=None, **options):
    pipe = m.Pipeline(
        batch_size=2, num_threads=1, device_id=None, seed=5, enable_checkpointing=True, **options
    )
    with pipe:
        read = {"name": "Reader", "file_root": m.files(7), "random_shuffle": True}
        files, labels = m.fn.readers.file(**{**read, **(body or {})})
        pipe.set_outputs(files, labels, m.fn.random.uniform(range=[0.0, 1.0]))
    pipe.build()
    return pipe


def drawn(m, pipe, count):
    """Batches as plain values: what is drawn differs among libraries, so cases compare them."""
    return [m.plain(pipe.run()) for _ in range(count)]


READERS = {
    "shuffled": {},
    "padded": {"pad_last_batch": True},
    "shards": {"num_shards": 2, "shard_id": 1},
    "stuck": {"num_shards": 2, "shard_id": 1, "stick_to_shard": True},
    "shuffled_after_epoch": {"random_shuffle": False, "shuffle_after_epoch": True},
    "small_buffer": {"initial_fill": 2},
    "skipped": {"skip_cached_images": True},
}


@each(**READERS)
def checkpoint_goes_on(m, body):
    pipe = checkpointed(m, body)
    goes_on = []
    for count in (0, 1, 3, 5):
        drawn(m, pipe, count)
        again = checkpointed(m, body, checkpoint=pipe.checkpoint())
        goes_on.append(drawn(m, again, 4) == drawn(m, pipe, 4))
    return goes_on


@each(
    text=lambda m, state: "state",
    nothing=lambda m, state: b"",
    half=lambda m, state: state[: len(state) // 2],
    number=lambda m, state: 7,
    of_another=lambda m, state: of_another(m),
)
def checkpoint_that_is_none(m, make):
    pipe = checkpointed(m)
    wrong = make(m, pipe.checkpoint())
    return m.raises(lambda: checkpointed(m, checkpoint=wrong).run())


def of_another(m):
    pipe = m.Pipeline(
        batch_size=2, num_threads=1, device_id=None, seed=5, enable_checkpointing=True
    )
    with pipe:
        pipe.set_outputs(m.fn.random.uniform(range=[0.0, 1.0]))
    pipe.build()
    return pipe.checkpoint()


@each(0, 1, 2, 5)
def checkpoint_of_a_checkpoint(m, count):
    pipe = checkpointed(m)
    drawn(m, pipe, count)
    again = checkpointed(m, checkpoint=pipe.checkpoint())
    third = checkpointed(m, checkpoint=again.checkpoint())
    return [drawn(m, third, 3) == drawn(m, pipe, 3), third.is_restored_from_checkpoint]


@case
def checkpoint_before_a_build(m):
    return m.raises(lambda: counting(m, enable_checkpointing=True).checkpoint())


ITERATIONS = {
    "two_epochs": "all reset all",
    "left_early": "next next reset all",
    "past_the_end": "all next next",
    "reset_twice": "all reset reset all",
    "reset_at_once": "reset all",
    "iter_again": "next iter next",
    "all_twice": "all all",
}


@each(**ITERATIONS)
def iteration(m, calls):
    it = iterator(m, reader(m), reader_name="Reader", last_batch_policy="PARTIAL")
    return walked(it, calls)


@each(**ITERATIONS)
def iteration_with_auto_reset(m, calls):
    it = iterator(m, reader(m), reader_name="Reader", auto_reset=True)
    return walked(it, calls)


def walked(it, calls):
    given = []
    for call in calls.split():
        try:
            if call == "all":
                given.append(epoch(it))
            elif call == "next":
                given.append(epoch([next(it)]))
            else:
                it.reset() if call == "reset" else iter(it)
        except Exception as error:
            given.append(type(error).__name__)
    return given


@each(
    bool=lambda t: bool(t),
    len=lambda t: len(t),
    at=lambda t: t.at(5),
    at_negative=lambda t: t.at(-1),
    index=lambda t: t[5],
    shape=lambda t: t.shape(),
    text=lambda t: t.at("x"),
    tensor=lambda t: t.as_tensor().shape(),
    array=lambda t: t.as_array(),
    reshaped=lambda t: t.as_reshaped_tensor([4]).shape(),
    reshaped_wrong=lambda t: t.as_reshaped_tensor([5]).shape(),
    layout=lambda t: t.layout(),
    squeezed=lambda t: t.as_tensor().squeeze(),
    dense=lambda t: t.is_dense_tensor(),
)
def output(m, ask):
    return ask(counting(m).run()[0])
