"""Corners that each argument and each input has: found by giving every operator every value."""

import array

from . import each
from .operator_inputs import told


def data(m, shape, layout=None, start=0):
    """A source of two samples that count; extents of `shape`, in each sample the same."""
    count = int(m.np.prod(shape))
    samples = [(m.np.arange(count) + start + k).reshape(shape).astype("int32") for k in range(2)]
    return m.fn.external_source(source=lambda: samples, layout=layout)


def letters(m, layout):
    """The same, with the extents that letters stand for."""
    extents = {"F": 5, "D": 4, "H": 6, "W": 7, "C": 3}
    return data(m, [extents[c] for c in layout], layout)


def values(m, body):
    """What the outputs of a pipeline are, to the last element; "refused" for an error."""
    try:
        return m.run(body)
    except Exception:
        return "refused"


WINDOWS = [
    dict(crop=[2, 3, 2]),
    dict(crop=[2, 3, 2], crop_pos_z=0.0),
    dict(crop=[2, 3, 2], crop_pos_z=1.0, crop_pos_x=0.25),
    dict(crop=[9, 3, 2], out_of_bounds_policy="pad", fill_values=[7]),
    dict(crop=[9, 3, 2], out_of_bounds_policy="trim_to_shape"),
    dict(crop=[0, 3, 2]),
    dict(crop_d=2, crop_h=3, crop_w=2),
    dict(crop_d=2),
    dict(crop=[3, 2]),
    dict(crop=[3, 2], crop_pos_z=2.0),
    dict(crop_h=3, crop_w=2, crop_pos_z=2.0),
    dict(crop=[3, 2], crop_pos_y=2.0),
    dict(crop=[3, 2], crop_d=2),
    dict(crop_pos_x=3.0),
    dict(crop_h=2, crop_pos_x=3.0),
]


@each("HWC", "CHW", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW")
def windows_with_a_depth(m, layout):
    return {
        str(window): told(m, lambda w=window: m.fn.crop(letters(m, layout), **w), 2)
        for window in WINDOWS
    }


@each("FHWC", "CFHW")
def frames_that_are_cut_out(m, layout):
    depths = m.np.float32([[2, 3, 2], [4, 2, 5]])
    return [
        values(m, lambda: m.fn.crop(letters(m, layout), crop=[2, 3, 2])),
        values(
            m,
            lambda: m.fn.crop(
                letters(m, layout),
                crop=m.fn.external_source(source=lambda: depths),
                crop_pos_z=m.fn.external_source(source=lambda: m.np.float32([0.0, 1.0])),
            ),
        ),
    ]


CALLS = {
    "cat_layout_second": lambda m: m.fn.cat(data(m, (2, 2)), data(m, (2, 2), "HW"), axis=1),
    "cat_layout_first": lambda m: m.fn.cat(data(m, (2, 2), "HW"), data(m, (2, 2)), axis=1),
    "cat_layouts_differ": lambda m: m.fn.cat(data(m, (2, 2), "HW"), data(m, (2, 2), "WH")),
    "cat_name_of_the_second": lambda m: m.fn.cat(
        data(m, (2, 2)), data(m, (2, 2), "HW"), axis_name="W"
    ),
    "stack_layout_second": lambda m: m.fn.stack(data(m, (2, 2)), data(m, (2, 2), "HW"), axis=1),
    "stack_name_of_the_second": lambda m: m.fn.stack(
        data(m, (2, 2)), data(m, (2, 2), "HW"), axis=1, axis_name="N"
    ),
    "grid_mask_without_layout": lambda m: m.fn.grid_mask(data(m, (4, 5, 2)), tile=2, ratio=0.5),
    "erase_axes_and_names": lambda m: m.fn.erase(
        data(m, (4, 5, 2), "HWC"), anchor=[1, 2], shape=[1, 2], axes=[0, 1], axis_names="HW"
    ),
    "erase_names_before_axes": lambda m: m.fn.erase(
        data(m, (4, 5, 2), "HWC"), anchor=[1, 2], shape=[1, 2], axes=[0, 1], axis_names="WH"
    ),
    "no_selectors": lambda m: data(m, (2, 3), "HW")[()],
    "array_as_selector": lambda m: data(m, (2, 3), "HW")[m.np.array([1])],
    "array_of_two_as_selector": lambda m: data(m, (2, 3), "HW")[m.np.array([0, 1])],
    "constant_of_rounded_numbers": lambda m: m.types.Constant([1, 2.75], dtype=m.types.INT32),
    "constant_of_a_rounded_number": lambda m: m.types.Constant(
        -3.75, dtype=m.types.INT8, shape=[2]
    ),
    "constant_of_bools": lambda m: m.types.Constant([0, 1.75, 3], dtype=m.types.BOOL),
}


@each(*CALLS)
def calls(m, name):
    return values(m, lambda: CALLS[name](m))


def picture(m):
    return m.fn.cast(data(m, (4, 5, 2), "HWC"), dtype=m.types.FLOAT)


RESIZED = {
    "resize_z_without_depth": lambda m: m.fn.resize(
        picture(m), resize_x=9, resize_z=3
    ),
    "resize_of_any_size": lambda m: m.fn.resize(
        picture(m), resize_x=9, max_size=[0, 0]
    ),
    "resize_of_one_limit": lambda m: m.fn.resize(
        picture(m), size=[9, 9], max_size=[-1, 3]
    ),
    "tensor_resize_of_any_size": lambda m: m.fn.experimental.tensor_resize(
        picture(m), sizes=[6, 9, 2], max_size=[0, 8, 0]
    ),
    "flag_as_number": lambda m: tuple(
        m.fn.resize(picture(m), size=9, save_attrs=1)
    ),
}


@each(*RESIZED)
def resized(m, name):
    return told(m, lambda: RESIZED[name](m), 2)


MADE_OF = {
    "capsule": lambda m: m.np.arange(6).reshape(2, 3).__dlpack__(),
    "array": lambda m: array.array("i", [1, 2]),
    "bytes": lambda m: b"abc",
    "list_of_bytes": lambda m: [b"abc", b"de"],
    "list_of_arrays": lambda m: [array.array("f", [1, 2]), m.np.float32([3])],
    "list_of_numbers": lambda m: [1, 2],
    "list_of_texts": lambda m: ["a"],
    "tensor_with_a_layout": lambda m: m.tensors.TensorCPU(m.np.ones((1, 2)), "HW"),
    "text": lambda m: "abc",
}


@each(*MADE_OF)
def tensors_made_of(m, name):
    def tensor():
        made = m.tensors.TensorCPU(MADE_OF[name](m))
        return [m.np.array(made).tolist(), made.layout(), str(made.dtype)]

    def tensor_list():
        made = m.tensors.TensorListCPU(MADE_OF[name](m))
        return [[m.np.array(one).tolist() for one in made], made.layout(), str(made.dtype)]

    return [m.attempt(tensor), m.attempt(tensor_list)]


SOURCES = {
    "batch": lambda np: dict(source=lambda: [np.int32(5), np.int32(6), np.int32(7)]),
    "sample": lambda np: dict(source=lambda info: np.int32(info.idx_in_epoch), batch=False),
    "two": lambda np: dict(source=lambda: ([np.int32(1)] * 3, [np.int32(2)] * 3), num_outputs=2),
}


@each(*SOURCES)
def source_in_an_arm(m, kind):
    """A source gives its whole batch, of which an arm takes its samples."""

    def define():
        first = m.fn.external_source(source=lambda: m.np.array([True, False, True]))
        if first:
            made = m.fn.external_source(**SOURCES[kind](m.np))
            made = made + 1 if kind != "two" else made[0] + 2 * made[1]
        else:
            made = m.types.Constant(m.np.int32(4), device="cpu")
        return made

    return m.run(define, batches=2, batch_size=3, enable_conditionals=True)


@each(
    queue=dict(prefetch_queue_depth=dict(cpu_size=2, gpu_size=1)),
    pipelined=dict(exec_pipelined=False),
    asynchronous=dict(exec_async=False),
    old_name=dict(experimental_exec_dynamic=False),
    plain={},
    streams=dict(max_streams=2),
)
def options_that_are_told(m, options):
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None, **options)
    return [pipe.exec_dynamic, pipe.max_streams, pipe.exec_async, pipe.exec_pipelined]


@each("operand", "input", "divided", "remainder", "too_large")
def what_is_raised(m, kind):
    wrong = [m.np.int32([1])]
    bodies = {
        "operand": lambda x: x + wrong,
        "input": lambda x: m.fn.cat(x, wrong),
        "divided": lambda x: 3 // x,
        "remainder": lambda x: 3 % x,
        "too_large": lambda x: x + 2**40,
    }
    error = {"operand": TypeError, "input": TypeError, "too_large": OverflowError}
    try:
        m.run(lambda: bodies[kind](data(m, (2,)) * 0))
    except error.get(kind, ValueError):
        return "as wanted"
    return "nothing"


@each("empty", "nothing")
def without_outputs(m, kind):
    def run():
        pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
        if kind == "empty":
            with pipe:
                pipe.set_outputs()
        pipe.build()

    return m.raises(run)


@each("image", "image_crop", "image_slice", "peek")
def old_names_of_dynamic_mode(m, kind):
    dynamic = m.load("experimental.dynamic")
    picture = m.image(8, 6)
    bytes_of = dynamic.batch([m.np.frombuffer(portable(picture), m.np.uint8)])
    experimental = dynamic.experimental
    made = {
        "image": lambda: experimental.decoders.image(bytes_of),
        "image_crop": lambda: experimental.decoders.image_crop(bytes_of, crop=[3, 2]),
        "image_slice": lambda: experimental.decoders.image_slice(
            bytes_of, start=[1, 2], shape=[2, 3]
        ),
        "peek": lambda: experimental.peek_image_shape(bytes_of),
    }[kind]()
    return [m.np.array(one.cpu()).tolist() for one in made.tensors]


def portable(picture):
    """A picture as binary PNM."""
    height, width = picture.shape[:2]
    return f"P6 {width} {height} 255\n".encode() + picture.tobytes()


FED = {
    "capsule": lambda m: m.np.arange(6).reshape(2, 3).__dlpack__(),
    "capsules": lambda m: [m.np.arange(k + 1).__dlpack__() for k in range(2)],
    "list_as_sample": lambda m: [m.tensors.TensorListCPU(m.np.uint8([[1, 2], [3, 4]]))],
    "buffers": lambda m: [array.array("i", [1, 2])],
    "bytes": lambda m: [b"abc"],
}


@each(*FED)
def fed_as(m, kind):
    def fed():
        pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(m.fn.external_source(name="x"))
        pipe.build()
        pipe.feed_input("x", FED[kind](m))
        return pipe.run()

    def asked():
        return m.run(lambda: m.fn.external_source(source=lambda: FED[kind](m)))

    return [m.attempt(fed), m.attempt(asked)]
