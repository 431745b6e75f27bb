"""plugin.numba.fn.numba_function, plugin.jax.fn.jax_function: functions that others compile.

Each framework is one case that tries several things: loading them and compiling takes seconds.
"""

from . import case, each

PARTS = {"numba": [], "jax": []}


def part(function):
    """Registers a function as a part of the case that its name begins with."""
    PARTS[function.__name__.split("_")[0]].append(function)
    return function


@each(*PARTS)
def compiled(m, framework):
    return {one.__name__: m.attempt(lambda: one(m)) for one in PARTS[framework]}


SHAPES = ((2, 3), (1, 4))


def pipe_of(m, define, batches=2):
    """What `define(data)` gives for ragged samples of INT16."""
    arrays = [m.np.arange(a * b).reshape(a, b).astype("int16") for a, b in SHAPES]

    def body():
        return define(m.fn.external_source(source=lambda: arrays, batch=True))

    return m.run(body, batches)


def numba_function(m, *inputs, **options):
    m.load("plugin.numba")
    from_experimental = m.load("plugin.numba.fn.experimental").numba_function
    return from_experimental(*inputs, **options)


def kinds(m, out_types=("INT16",), outs_ndim=(2,), in_types=("INT16",), ins_ndim=(2,)):
    return {
        "out_types": [getattr(m.types, one) for one in out_types],
        "outs_ndim": list(outs_ndim),
        "in_types": [getattr(m.types, one) for one in in_types],
        "ins_ndim": list(ins_ndim),
    }


@part
def numba_sample(m):
    def negate(out, given):
        out[:] = -given

    return pipe_of(m, lambda data: numba_function(m, data, run_fn=negate, **kinds(m)))


@part
def numba_batch(m):
    def number(out, given):
        for place in range(len(given)):
            out[place][:] = given[place] + place

    return pipe_of(
        m,
        lambda data: numba_function(m, data, run_fn=number, batch_processing=True, **kinds(m)),
    )


@part
def numba_setup(m):
    """Two outputs of other types and extents, from one input."""

    def setup(outs, ins):
        for place in range(len(ins[0])):
            outs[0][place][0] = ins[0][place][1]
            outs[0][place][1] = ins[0][place][0]
            outs[1][place][:] = [2]

    def run(turned, extents, given):
        for i in range(given.shape[0]):
            for j in range(given.shape[1]):
                turned[j][i] = given[i][j]
        extents[:] = given.shape

    options = kinds(m, ("FLOAT", "INT64"), (2, 1))

    def define(data):
        return tuple(numba_function(m, data, run_fn=run, setup_fn=setup, **options))

    return pipe_of(m, define)


@part
def numba_two_inputs(m):
    def run(out, a, b):
        out[:] = a * b

    def define(data):
        scale = m.types.Constant(m.np.array([[2]], "int16"), device="cpu")
        options = kinds(m, in_types=("INT16", "INT16"), ins_ndim=(2, 2))
        setup = numba_same
        return numba_function(m, data, scale, run_fn=run, setup_fn=setup, **options)

    return pipe_of(m, define)


def numba_same(outs, ins):
    for place in range(len(outs[0])):
        outs[0][place][:] = ins[0][place]


@part
def numba_class(m):
    plugin = m.load("plugin.numba")

    def double(out, given):
        out[:] = given + given

    def define(data):
        operator = plugin.NumbaFunction(run_fn=double, **kinds(m))
        return operator(data)

    return pipe_of(m, define)


@part
def numba_in_an_arm(m):
    def run(out, given):
        out[:] = given + 100

    def body():
        data = m.fn.external_source(source=lambda info: m.np.int32(info.idx_in_batch), batch=False)
        value = m.fn.reshape(data, shape=[1])
        if data > 0:
            value = numba_function(m, value, run_fn=run, **kinds(m, ["INT32"], [1], ["INT32"], [1]))
        return value

    return m.run(body, enable_conditionals=True)


@part
def numba_wrong(m):
    def run(out, given):
        out[:] = given

    def attempt(**options):
        return m.raises(lambda: pipe_of(m, lambda data: numba_function(m, data, **options)))

    return [
        attempt(run_fn=run, **kinds(m, ins_ndim=(3,), outs_ndim=(3,))),
        attempt(run_fn=run, **kinds(m, ["FLOAT"], [2], ["FLOAT"], [2])),
        attempt(run_fn=run, **kinds(m, ["FLOAT16"], [2])),
    ]


def jax_function(m, *arguments, **options):
    return m.load("plugin.jax").fn.jax_function(*arguments, **options)


def dense(m, body, batches=1, **options):
    """What `body(image)` gives for images of UINT8 with a layout."""
    image = m.np.stack([m.image(2, 3, start=start) for start in (0, 5)])

    def define():
        return body(m.fn.external_source(source=lambda: image, batch=True, layout="HWC"))

    return m.run(define, batches, **options)


@part
def jax_batch(m):
    @lambda function: jax_function(m, function)
    def flip(batch):
        return batch[:, :, ::-1, :]

    return [dense(m, flip, 2), flip.__name__]


@part
def jax_jit_and_layouts(m):
    import jax
    import jax.numpy as jnp

    @lambda function: jax_function(m, function, num_outputs=3)
    @jax.jit
    @jax.vmap
    def several(image):
        return image[..., 0], image.astype(jnp.float32) / 2, jnp.sum(image)

    @lambda function: jax_function(m, function, num_outputs=2, output_layouts=["WHC", "X"])
    def named(image):
        return jnp.swapaxes(image, 1, 2), image[:, 0, 0, :]

    return [dense(m, lambda image: tuple(several(image))), dense(m, lambda i: tuple(named(i)))]


@part
def jax_two_inputs(m):
    add = jax_function(m, lambda a, b: a + b[:, None, None, None])

    def define(image):
        step = m.fn.external_source(source=lambda info: m.np.uint8(info.idx_in_batch), batch=False)
        return add(image, step)

    return dense(m, define)


@part
def jax_decorator_with_options(m):
    @jax_function(m, output_layouts="AB")
    def rows(batch):
        return batch[..., 0]

    return dense(m, rows)


@part
def jax_sink(m):
    seen = []
    sink = jax_function(m, lambda batch: seen.append(batch.shape), num_outputs=0)

    def define(image):
        sink(image)
        return image

    return [dense(m, define, prefetch_queue_depth=1), seen]


@part
def jax_in_an_arm(m):
    double = jax_function(m, lambda batch: batch * 2)

    def body():
        data = m.fn.external_source(source=lambda info: m.np.int32(info.idx_in_batch), batch=False)
        if data > 0:
            data = double(data)
        return data

    return m.run(body, enable_conditionals=True, batch_size=3)


@part
def jax_wrong(m):
    import numpy as np

    def attempt(function, **options):
        return m.raises(lambda: dense(m, jax_function(m, function, **options)))

    return [
        attempt(lambda batch: np.asarray(batch)),
        attempt(lambda batch: (batch, batch)),
        attempt(lambda batch: None),
        attempt(lambda batch: batch[:1]),
        attempt(lambda batch: 1 / 0),
        m.raises(lambda: pipe_of(m, jax_function(m, lambda batch: batch))),
        attempt(lambda batch: batch, sharding=3),
    ]


@case
def jax_layout_of_wrong_length(m):
    return dense(m, jax_function(m, lambda batch: batch, output_layouts="X"))
