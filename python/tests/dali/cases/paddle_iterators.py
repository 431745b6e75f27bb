"""Iterators of paddle: policies, names with levels of detail, what is refused."""

from . import case
from .iterators import policy, reader


def plugin(m):
    """The module under test. DALI's asks paddle for a GPU, even where outputs are on the CPU."""
    import paddle

    if not paddle.is_compiled_with_cuda():
        paddle.CUDAPlace = lambda number: paddle.CPUPlace()
        stream = type("Stream", (), {"cuda_stream": None})
        paddle.device.cuda.current_stream = lambda device=None: stream
    return m.load("plugin.paddle")


def iterator(m, pipes, names=("data", "label"), **options):
    if "last_batch_policy" in options:
        options["last_batch_policy"] = policy(m, options["last_batch_policy"])
    return plugin(m).DALIGenericIterator(pipes, list(names), **options)


def pieces(m, *shapes, batch_size=3):
    """Samples of these shapes. DALI's default executor fails where there are levels of detail."""
    samples = [m.np.full(shape, i, "float32") for i, shape in enumerate(shapes)]
    pipe = m.Pipeline(batch_size=batch_size, num_threads=1, device_id=None, exec_dynamic=False)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[samples], cycle="quiet"))
    return pipe


@case
def policies(m):
    def epochs(name, padded):
        pipe = reader(m, 7, 2, pad_last_batch=padded)
        it = iterator(m, pipe, reader_name="Reader", last_batch_policy=name, auto_reset=True)
        return [[len(it), [batch[0]["data"] for batch in it]] for _ in range(2)]

    return {
        f"{name} {padded}": m.attempt(lambda: epochs(name, padded))
        for name in ("FILL", "DROP", "PARTIAL")
        for padded in (False, True)
    }


@case
def two_pipelines(m):
    pipes = [reader(m, 7, 2, pad_last_batch=True, shard_id=i, num_shards=2) for i in range(2)]
    return list(iterator(m, pipes, reader_name="Reader", last_batch_policy="PARTIAL"))


@case
def with_a_size(m):
    pipe = reader(m, 7, 2, pad_last_batch=True)
    return list(iterator(m, pipe, size=7, last_batch_padded=True, last_batch_policy="PARTIAL"))


@case
def levels_of_detail(m):
    def first(level, *shapes):
        name = "x" if level is None else ("x", level)
        return next(iterator(m, pieces(m, *shapes), [name]))

    return {
        "level 1": m.attempt(lambda: first(1, (1, 2), (3, 2), (2, 2))),
        "level 2": m.attempt(lambda: first(2, (1, 2), (3, 1), (2, 2))),
        "level 1 of equal ones": m.attempt(lambda: first(1, (2, 2), (2, 2), (2, 2))),
        "level 0": m.attempt(lambda: first(0, (2, 2), (2, 2), (2, 2))),
        "no level": m.attempt(lambda: first(None, (2, 2), (2, 2), (2, 2))),
        "ragged": m.attempt(lambda: first(0, (1, 2), (3, 2), (2, 2))),
        "clipped": m.attempt(
            lambda: plugin(m).lod_tensor_clip(first(1, (1, 2), (3, 2), (2, 2))[0]["x"], 2)
        ),
    }


@case
def names(m):
    it = iterator(m, reader(m, 4), [("data", 0), "label"], reader_name="Reader")
    return {
        "pairs": [list(next(it)[0]), it.output_map, it.normalized_map],
        "twice": m.attempt(lambda: iterator(m, reader(m, 4), ["x", ("x", 1)])),
        "classification": m.attempt(
            lambda: next(plugin(m).DALIClassificationIterator(reader(m, 4), reader_name="Reader"))
        ),
    }


@case
def element_types(m):
    def first(name):
        pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(m.feed(m.np.array([[0, 1], [1, 1]], name)))
        return next(iterator(m, pipe, ["x"]))[0]["x"]

    types = "uint8 int8 int16 int32 int64 float16 float32 float64 bool uint16 uint32".split()
    return {name: m.attempt(lambda: first(name)) for name in types}


@case
def recursive_length(m):
    tensors = m.tensors.TensorListCPU([m.np.zeros((2, 3)), m.np.zeros((1, 4))])
    return [plugin(m).recursive_length(tensors, level) for level in (1, 2, 3)]
