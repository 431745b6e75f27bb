"""`plugin.tf`: pipelines as tf.data.Dataset, with inputs, and the operation of old graphs.

Recorded with the package of DALI's plugin for tensorflow beside DALI. Errors of an iteration are
of tensorflow's classes, all of them OpError here.
"""

from itertools import islice

from . import case
from .iterators import reader

CALL = {"batch_size": 2, "num_threads": 1, "device_id": None}


def tensorflow(m):
    import tensorflow

    return tensorflow, m.load("plugin.tf")


def made(m, make, count):
    """The element specification and the first batches of a dataset."""

    def run():
        tf, _ = tensorflow(m)
        with tf.device("/cpu:0"):
            dataset = make()
        specs = [[str(spec.shape), spec.dtype.name] for spec in dataset.element_spec]
        return [specs, list(islice(dataset, count))]

    return m.attempt(run)


@case
def elements(m):
    tf, plugin = tensorflow(m)
    both = (tf.uint8, tf.int32)

    def dataset(count=2, output_dtypes=both, pipe=None, **options):
        return made(
            m,
            lambda: plugin.DALIDataset(
                pipe or reader(m, 7, 2), output_dtypes=output_dtypes, **{**CALL, **options}
            ),
            count,
        )

    def shapes(*given, **options):
        return dataset(1, output_shapes=given, **options)

    return {
        "epochs": dataset(5),
        "padded": dataset(5, pipe=reader(m, 7, 2, pad_last_batch=True)),
        "another batch size": dataset(batch_size=3),
        "batch size 1": dataset(batch_size=1),
        "shapes": shapes((2, 3), (2, 1)),
        "open shapes": shapes((None, 3), None),
        "squeezed": shapes((2, 3), (2,)),
        "squeezed samples": shapes((3,), (), batch_size=1),
        "expanded": shapes((2, 3, 1), (2, 1)),
        "wrong shape": shapes((2, 4), (2, 1)),
        "wrong batch": shapes((3, 3), (3, 1)),
        "too few shapes": shapes((2, 3)),
        "list of shapes": dataset(output_shapes=[(2, 3), (2, 1)]),
        "wrong type": dataset(output_dtypes=(tf.float32, tf.int32)),
        "one type": dataset(output_dtypes=tf.uint8),
        "three types": dataset(output_dtypes=(*both, tf.int32)),
        "no types": dataset(output_dtypes=None),
        "list of types": dataset(output_dtypes=list(both)),
        "old names": dataset(1, None, dtypes=list(both), shapes=[(2, 3), (2, 1)]),
        "both names": dataset(dtypes=both, shapes=[(2, 3), (2, 1)], output_shapes=((2, 3), (2, 1))),
        "unknown argument": dataset(foo=1),
        "inputs": dataset(input_datasets={}),
    }


@case
def composed(m):
    tf, plugin = tensorflow(m)
    with tf.device("/cpu:0"):
        dataset = plugin.DALIDataset(reader(m, 7, 2), output_dtypes=(tf.uint8, tf.int32), **CALL)
    firsts = [[a.numpy()[:, 0].tolist() for a, _ in islice(dataset, 3)] for _ in range(2)]
    mapped = dataset.map(lambda a, b: tf.cast(a, tf.int32) * 2).take(2).repeat(2)
    return {
        "is a dataset": isinstance(dataset, tf.data.Dataset),
        "iterated twice": firsts,
        "mapped": [a[:, 0] for a in mapped],
        "prefetched": [a[:, 0] for a, _ in islice(dataset.prefetch(2), 4)],
        "length": m.attempt(lambda: len(dataset)),
        "cardinality": int(dataset.cardinality()),
        "zipped": [
            [int(i), a[:, 0]]
            for i, (a, _) in tf.data.Dataset.zip((tf.data.Dataset.range(2), dataset))
        ],
    }


def fed(m, source=None, **options):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        x = m.fn.external_source(source=source, **options)
        pipe.set_outputs(x + 1)
    return pipe


def with_inputs(m, pipe, count=9, **options):
    tf, plugin = tensorflow(m)
    return made(
        m,
        lambda: plugin.experimental.DALIDatasetWithInputs(
            pipe() if callable(pipe) else pipe, output_dtypes=tf.float32, **{**CALL, **options}
        ),
        count,
    )


@case
def sources(m):
    _, plugin = tensorflow(m)
    batches = [m.np.full((2, 2), i, "float32") for i in range(3)]

    def samples(info):
        if info.idx_in_epoch == 5:
            raise StopIteration
        return m.np.full((2,), info.idx_in_epoch, "float32")

    def raises(i):
        if i == 1:
            raise KeyError(i)
        return batches[i]

    def generator():
        yield from batches

    return {
        "list": with_inputs(m, fed(m, batches)),
        "list, quiet": with_inputs(m, fed(m, batches, cycle="quiet"), 5),
        "list, raise": with_inputs(m, fed(m, batches, cycle="raise")),
        "generator function": with_inputs(m, fed(m, generator)),
        "callable": with_inputs(m, fed(m, lambda i: batches[i]), 3),
        "callable of samples": with_inputs(m, fed(m, samples, batch=False)),
        "callable without argument": with_inputs(m, fed(m, lambda: batches[1]), 2),
        "callable that raises": with_inputs(m, fed(m, raises)),
        "in a plain dataset": made(
            m, lambda: plugin.DALIDataset(fed(m, batches), output_dtypes=None, **CALL), 1
        ),
    }


@case
def inputs(m):
    tf, plugin = tensorflow(m)
    spec = tf.TensorSpec((3,), tf.float32)

    def data(count):
        return tf.data.Dataset.from_generator(
            lambda: (m.np.full((3,), i, "float32") for i in range(count)), output_signature=spec
        )

    def given(dataset, count=9, name="a", **options):
        pipe = fed(m, name="a", **options)
        return with_inputs(m, pipe, count, input_datasets={name: dataset})

    Input = plugin.experimental.Input
    two = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with two:
        a, b = m.fn.external_source(name="a"), m.fn.external_source(name="b")
        two.set_outputs(a + b)
    return {
        "samples": given(data(5)),
        "samples, Input": given(Input(data(4))),
        "batches": given(Input(data(5).batch(2), batch=True)),
        "the pipeline's batch": given(Input(data(5).batch(2), batch=None)),
        "the pipeline's samples": given(Input(data(5), batch=None), batch=False),
        "batches that are too big": given(Input(data(6).batch(3), batch=True)),
        "repeated": given(data(3).repeat(), 4),
        "layout": given(Input(data(4), layout="X"), 1),
        "two": with_inputs(m, two, input_datasets={"a": data(6), "b": data(3)}),
        "one is missing": with_inputs(m, two, input_datasets={"a": data(6)}),
        "none": with_inputs(m, two),
        "unknown": given(data(4), name="z"),
        "a list": with_inputs(m, two, input_datasets=[data(4)]),
        "numbers": given(3),
        "names": with_inputs(m, two, input_datasets={1: data(4)}),
        "Input of a number": m.attempt(lambda: Input(3)),
        "without a name": with_inputs(m, fed(m), input_datasets={}),
    }


@case
def ragged_outputs(m):
    tf, _ = tensorflow(m)
    data = tf.data.Dataset.from_generator(
        lambda: (m.np.zeros(i, "float32") for i in (1, 2)),
        output_signature=tf.TensorSpec((None,), tf.float32),
    )
    return with_inputs(m, fed(m, name="a"), input_datasets={"a": data})


@case
def found_before_the_iteration(m):
    tf, plugin = tensorflow(m)
    data = tf.data.Dataset.from_tensors(m.np.zeros((3,), "float32")).repeat(2)
    wrong = plugin.experimental.Input(data, layout="Y")
    return {
        "tuples": with_inputs(
            m, fed(m, name="a"), input_datasets={"a": tf.data.Dataset.zip((data, data))}
        ),
        "two layouts": with_inputs(m, fed(m, name="a", layout="X"), input_datasets={"a": wrong}),
    }


@case
def operation(m):
    tf, plugin = tensorflow(m)
    call = plugin.DALIIterator()
    cpu = m.types.CPU_ONLY_DEVICE_ID
    options = {"shapes": [(2, 3), (2, 1)], "dtypes": [tf.uint8, tf.int32], "device_id": cpu}
    pipe = reader(m, 6, 2)
    data = reader(m, 4, 2).serialize()
    eager = [call(pipeline=pipe, **options) for _ in range(2)]

    @tf.function
    def step():
        return call(serialized_pipeline=data, **options)

    return {
        "eager": eager,
        "function": [step() for _ in range(3)],
    }
