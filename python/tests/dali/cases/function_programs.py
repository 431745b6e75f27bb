"""Programs of a few operators: what they may be given, and what they say of the rest."""

from . import case, each
from .programs import messages, numbers, pictures, settings


@case
def rotation_of_a_small_picture(m):
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    image = m.np.arange(1, 13, dtype="uint8").reshape(3, 4, 1)
    node = m.fn.external_source([[image]], layout="HWC")
    pipe.set_outputs(m.fn.rotate(node, angle=90))
    pipe.build()
    return pipe.run()


@case
def rotation_of_sets_by_a_constant(m):
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    first = m.np.arange(1, 13, dtype="uint8").reshape(3, 4, 1)
    second = m.np.arange(10, 70, 10, dtype="uint8").reshape(3, 2, 1)
    nodes = m.fn.external_source(lambda: [[first], [second]], 2, layout="HWC")
    rotated = m.fn.rotate(nodes, angle=m.types.ScalarConstant(90))
    pipe.set_outputs(*rotated, m.types.ScalarConstant(90))
    pipe.build()
    return pipe.run()


@case
def python_function_in_a_chain(m):
    pipe = m.Pipeline(1, 1, None, exec_pipelined=False, exec_async=False)
    with pipe:
        x = m.fn.external_source([[m.np.array([1, 2, 3])], [m.np.array([2, 3, 4])]])
        pipe.set_outputs(m.fn.python_function(x, function=lambda x: x + 1))
    pipe.build()
    return [m.plain(pipe.run()), m.plain(pipe.run()), m.raises(pipe.run)]


@case
def kept_operators(m):
    """`preserve` keeps an operator that nobody reads."""
    pipe = m.Pipeline(1, 1, None)
    with pipe:
        x = m.fn.external_source(source=[[m.image(4, 4)]], preserve=True, layout="HWC")
        m.fn.flip(x, preserve=True)
        pipe.set_outputs(x)
    pipe.build()
    return pipe.run()


@case
def old_names_of_arguments(m):
    def body(**more):
        x = m.feed(pictures(m), layout="HWC")
        return m.fn.crop_mirror_normalize(
            x, output_layout="HWC", crop=(4, 4), mean=[128.0], std=[1.0], **more
        )

    def run(**more):
        return m.run(lambda: body(**more), **settings())[0][0]["samples"][0]["dtype"]

    return [
        messages(lambda: run(output_dtype=m.types.FLOAT)),
        messages(lambda: run(dtype=m.types.FLOAT, image_type=m.types.RGB)),
        m.attempt(lambda: run(output_dtype=m.types.FLOAT, dtype=m.types.FLOAT)),
    ]


@case
def kinds_of_numbers_as_arguments(m):
    """Integers where floats are asked, one number where a list is."""

    def body():
        x = m.feed(pictures(m), layout="HWC")
        common = {"dtype": m.types.FLOAT, "output_layout": m.types.NHWC, "crop": (4, 4)}
        return (
            m.fn.crop_mirror_normalize(x, mean=[128.0] * 3, std=[2.0] * 3, **common),
            m.fn.crop_mirror_normalize(x, mean=[128, 128, 128], std=[2.0, 2, 2], **common),
            m.fn.crop_mirror_normalize(x, mean=128, std=2, **common),
            m.fn.crop_mirror_normalize(x, mean=(128.0,), std=2.0, **common),
        )

    out = m.run(body, **settings())[0]
    return [one == out[0] for one in out]


@each("True", "False", "0", "1", "1.0")
def flags_as_arguments(m, text):
    return m.run(
        lambda: m.fn.flip(m.feed(pictures(m), layout="HWC"), horizontal=eval(text)), **settings()
    )


WRONG_ARGUMENTS = {
    "text": {"resize_x": "ten"},
    "two_numbers": {"resize_x": [1, 2]},
    "text_for_a_list": {"size": "x"},
    "text_for_an_enumeration": {"interp_type": "linear"},
    "float_for_an_enumeration": {"interp_type": 1.5},
    "dictionary": {"size": {}},
    "number_for_text": {"mode": 3},
    "unknown_text": {"mode": "no_such"},
    "text_for_a_type": {"dtype": "uint8"},
    "list_of_arrays": {"size": [[1, 2]]},
    "number_for_a_name": {"name": 3},
    "number_for_a_device": {"device": 3},
    "object": {"resize_x": object()},
}


@each(**WRONG_ARGUMENTS)
def wrong_kinds_of_arguments(m, given):
    def run(**more):
        m.run(lambda: m.fn.resize(m.feed(pictures(m), layout="HWC"), **more), **settings())

    run(**given)


@each(
    none=(),
    text=("text",),
    nothing=(None,),
    dictionary=({},),
    object=(object(),),
    function=(len,),
    complex=(1j,),
    empty=([],),
    list_of_nothing=([None],),
    list_of_text=(["a"],),
)
def wrong_kinds_of_inputs(m, inputs):
    m.run(lambda: m.fn.flip(*inputs), **settings())


@case
def split_and_merged(m):
    def body():
        x = m.feed(numbers(m))
        mask = m.feed(m.np.array([1, 0, 0, 1], "bool"))
        left, right = m.fn._conditional.split(x, predicate=mask)
        return m.fn._conditional.merge(left + 100, right * 2, predicate=mask), left, right

    return m.run(body, **settings())


@case
def split_and_merged_arguments(m):
    def body():
        mask = m.feed(m.np.array([1, 0, 0, 1], "bool"))
        angle = m.feed(m.np.array([0, 90, 180, 270], "float32"))
        left, right = m.fn._conditional.split(angle, predicate=mask)
        made = [m.fn.transforms.rotation(angle=one) for one in (left, right)]
        merged = m.fn._conditional.merge(*made, predicate=mask)
        return m.fn.cast(merged * 100, dtype=m.types.INT32)

    out = m.run(body, **settings())[0][0]
    return [one["values"] for one in out["samples"]]


def split(m, value, predicate):
    return m.fn._conditional.split(value, predicate=predicate)


def merge(m, one, other, predicate):
    return m.fn._conditional.merge(one, other, predicate=predicate)


def split_deeper(m, x, mask):
    left, right = split(m, x, mask)
    inner = m.fn.reductions.max(left, axes=0) > 5
    one, other = split(m, left, inner)
    return one, other, merge(m, merge(m, one * 10, other * 100, inner), right, mask)


def split_and_conditional(m, x, mask):
    left, right = split(m, x, mask)
    if m.fn.reductions.max(left, axes=0) > 5:
        left = left + 100
    return left, right


PARTS = {
    "plain": split,
    "merged": lambda m, x, mask: merge(m, split(m, x, mask)[0] + 1, split(m, x, mask)[1] * 2, mask),
    "deeper": split_deeper,
    "if": split_and_conditional,
    "function": lambda m, x, mask: m.fn.python_function(split(m, x, mask)[0], function=lambda a: a + 7),
    "batches": lambda m, x, mask: m.fn.python_function(
        split(m, x, mask)[1], function=lambda a: [one + len(a) for one in a], batch_processing=True
    ),
    "permuted": lambda m, x, mask: m.fn.permute_batch(
        split(m, x, mask)[0], indices=[1, 0]
    ),
    "integers": lambda m, x, mask: split(m, x, m.fn.cast(mask, dtype=m.types.INT32)),
    "constant_beside": lambda m, x, mask: split(m, x, mask)[0] + m.types.Constant(m.np.int32([1, 2, 3])),
    "whole_beside": lambda m, x, mask: split(m, x, mask)[0] + x,
    "draw_beside": lambda m, x, mask: split(m, x, mask)[0] + m.fn.random.uniform(values=[5.0]),
    "types": lambda m, x, mask: merge(m, *map(typed(m), split(m, x, mask), range(2)), mask),
    "layouts": lambda m, x, mask: merge(m, *map(laid_out(m), split(m, x, mask), range(2)), mask),
    "ranks": lambda m, x, mask: merge(m, *map(ranked(m), split(m, x, mask), range(2)), mask),
    "vectors": lambda m, x, mask: split(m, x, x > 3),
    "whole_merged": lambda m, x, mask: merge(m, x, x, mask),
    "no_predicate": lambda m, x, mask: m.fn._conditional.split(x),
    "constant_predicate": lambda m, x, mask: split(m, x, True),
}  # fmt: skip


def typed(m):
    return lambda x, side: m.fn.cast(x, dtype=m.types.FLOAT) if side else x


def laid_out(m):
    return lambda x, side: m.fn.reshape(x, layout="X") if side else x


def ranked(m):
    return lambda x, side: m.fn.reshape(x, shape=[1, 3]) if side else x


@each(**{f"{name}-{mask}": (name, mask) for name in PARTS for mask in ("mixed", "none", "all")})
def parts_of_batches(m, what):
    """What fewer samples of a batch than all of it give, also where no sample is left."""
    name, mask = what
    masks = {"mixed": [1, 0, 0, 1], "none": [0] * 4, "all": [1] * 4}
    data = m.np.arange(12, dtype="int32").reshape(4, 3)

    def body():
        x = m.feed(data, data + 1, cycle=True)
        return PARTS[name](m, x, m.feed(m.np.array(masks[mask], "bool"), cycle=True))

    return m.run(body, batches=2, batch_size=4, enable_conditionals=True)


@case
def names_of_schemas(m):
    names = "flip resize crop_mirror_normalize random_resized_crop mfcc coord_transform".split()
    return [[name, getattr(m.fn, name)._schema_name] for name in names] + [
        m.fn.readers.file._schema_name,
        m.fn.random.coin_flip._schema_name,
        m.fn.external_source._schema_name,
        m.fn.python_function._schema_name,
        m.ops._op_name("readers__File"),
        m.ops._op_name("CropMirrorNormalize"),
    ]


@case
def all_types(m):
    return [
        [one.name for one in m.types._all_types],
        [m.types.to_numpy_type(one) for one in m.types._all_types if one.name != "STRING"],
    ]
