"""Every method of tensors and tensor lists, on lists of every kind."""

from . import CASES, each

DTYPES = "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 bool".split()


def lists(m):
    """Tensor lists by name."""
    np, make = m.np, m.tensors.TensorListCPU
    return {
        "dense": lambda: make(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), layout="HW"),
        "ragged": lambda: make([np.ones((2, 3), np.int16), np.zeros((1, 3), np.int16)], "HW"),
        "scalars": lambda: make(np.float32([1, 2, 3])),
        "one": lambda: make([np.int64([[7]])]),
        "empty_samples": lambda: make([np.zeros((0, 2), np.float64)] * 2),
        "list_of_tensors": lambda: make(
            [m.tensors.TensorCPU(np.int32([1, 2])), m.tensors.TensorCPU(np.int32([3, 4]))]
        ),
        "pipeline": lambda: m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(
            lambda: m.feed([np.uint8([1, 2]), np.uint8([3, 4])], layout="C")
        )().run()[0],
        "bools": lambda: make(np.array([[True, False], [False, True]])),
    }


USES = {
    "len": len,
    "shape": lambda t: t.shape(),
    "shape_method_type": lambda t: type(t.shape()).__name__,
    "layout": lambda t: t.layout(),
    "ndim": lambda t: t.ndim(),
    "dtype": lambda t: t.dtype,
    "is_dense": lambda t: t.is_dense_tensor(),
    "as_array": lambda t: t.as_array(),
    "as_tensor": lambda t: t.as_tensor(),
    "as_cpu": lambda t: t.as_cpu(),
    "reshaped": lambda t: t.as_reshaped_tensor([len(t), -1]),
    "reshaped_flat": lambda t: t.as_reshaped_tensor([12]),
    "reshaped_wrong": lambda t: t.as_reshaped_tensor([5, 5]),
    "at": lambda t: t.at(0),
    "at_last": lambda t: t.at(len(t) - 1),
    "at_negative": lambda t: t.at(-1),
    "at_outside": lambda t: t.at(len(t)),
    "at_text": lambda t: t.at("0"),
    "at_real": lambda t: t.at(0.0),
    "index": lambda t: t[0],
    "index_negative": lambda t: t[-1],
    "index_outside": lambda t: t[99],
    "slice": lambda t: t[0:1],
    "iterate": lambda t: [one.shape() for one in t],
    "list": lambda t: len(list(t)),
    "tuple_index": lambda t: t[0, 0],
    "contains": lambda t: 3 in t,
    "truth": bool,
    "equal": lambda t: t == t,
    "equal_other": lambda t: t == 3,
    "hash": lambda t: isinstance(hash(t), int),
    "add": lambda t: t + 1,
    "set_layout": lambda t: [t.set_layout("XYZ"[: t.ndim()]), t.layout()][1],
    "set_layout_none": lambda t: [t.set_layout(None), t.layout()][1],
    "set_layout_empty": lambda t: [t.set_layout(""), t.layout()][1],
    "set_layout_wrong": lambda t: [t.set_layout("ABCDEF"), t.layout()][1],
    "set_layout_number": lambda t: t.set_layout(3),
    "reset": lambda t: [t.reset(), len(t)][1],
    "reinterpret_same": lambda t: [t.reinterpret(t.dtype), t.dtype][1],
    "property": lambda t: t[0].get_property("layout"),
    "property_source": lambda t: t[0].source_info(),
    "property_unknown": lambda t: t[0].get_property("colour"),
    "data_ptr": lambda t: isinstance(t.data_ptr(), int),
    "text_begins": lambda t: str(t).split("(")[0],
    "shown": repr,
    "tensor_shown": lambda t: repr(t[0]),
    "tensor_squeeze": lambda t: (lambda o: [o.squeeze(), o.shape()])(t[0]),
    "tensor_squeeze_axis": lambda t: (lambda o: [o.squeeze(0), o.shape()])(t[0]),
    "tensor_set_layout": lambda t: (lambda o: [o.set_layout("AB"), o.layout()][1])(t[0]),
    "tensor_interface": lambda t: sorted(t[0].__array_interface__),
    "tensor_shape": lambda t: [t[0].shape(), type(t[0].shape()).__name__],
    "tensor_dlpack": lambda t: t[0].__dlpack_device__(),
    "tensor_len": lambda t: len(t[0]),
    "tensor_index": lambda t: t[0][0],
    "tensor_float": lambda t: float(t[0]),
    "tensor_as_cpu": lambda t: t[0].as_cpu(),
    "attributes": lambda t: t.nothing,
    "assign": lambda t: setattr(t, "extra", 3),
    "delete": lambda t: t.__delitem__(0),
    "set_item": lambda t: t.__setitem__(0, 3),
}


def uses(m, use):
    return {name: m.attempt(lambda make=make: use(make())) for name, make in lists(m).items()}


def copies(m, name):
    """Values stay when what they came from is changed, or gone."""
    made = lists(m)[name]()
    kept = m.np.array(made.at(0)).copy()
    first = made[0]
    view = m.np.array(first, copy=False)
    array = m.np.asarray(first)
    del made
    return [bool((view == kept).all()), bool((array == kept).all()), str(view.dtype)]


for _name, _use in USES.items():
    CASES[f"tensor_methods.uses[{_name}]"] = lambda m, use=_use: uses(m, use)
for _name in ("dense", "ragged", "scalars", "one", "list_of_tensors", "pipeline", "bools"):
    CASES[f"tensor_methods.copies[{_name}]"] = lambda m, name=_name: copies(m, name)


@each(*DTYPES)
def reinterpreted(m, dtype):
    """A tensor and a list as another type of the same, and of another, width."""
    found = {}
    for other in DTYPES:
        kind = m.types.to_dali_type(m.np.dtype(other))

        def tensor():
            one = m.tensors.TensorCPU(m.np.zeros(4, dtype))
            one.reinterpret(kind)
            return [one.dtype, one.shape()]

        def batch():
            one = m.tensors.TensorListCPU(m.np.zeros((2, 4), dtype))
            one.reinterpret(kind)
            return [one.dtype, one.shape()]

        found[other] = [m.attempt(tensor), m.attempt(batch)]
    return found


MADE = {
    "array": lambda m, k: k(m.np.arange(4)),
    "layout": lambda m, k: k(m.np.zeros((2, 3)), "HW"),
    "layout_keyword": lambda m, k: k(m.np.zeros((2, 3)), layout="HW"),
    "layout_short": lambda m, k: k(m.np.zeros((2, 3, 4)), layout="H"),
    "layout_number": lambda m, k: k(m.np.zeros((2, 3)), layout=3),
    "list": lambda m, k: k([[1, 2], [3, 4]]),
    "numbers": lambda m, k: k([1, 2, 3]),
    "number": lambda m, k: k(3),
    "text": lambda m, k: k("abc"),
    "bytes": lambda m, k: k(b"abc"),
    "none": lambda m, k: k(None),
    "nothing": lambda m, k: k(),
    "memory": lambda m, k: k(memoryview(bytearray(4))),
    "bytearray": lambda m, k: k(bytearray(4)),
    "tensor": lambda m, k: k(m.tensors.TensorCPU(m.np.int32([1, 2]))),
    "tensor_list": lambda m, k: k(m.tensors.TensorListCPU(m.np.int32([[1, 2], [3, 4]]))),
    "scalar": lambda m, k: k(m.np.float32(3)),
    "no_axes": lambda m, k: k(m.np.array(3.0)),
    "empty": lambda m, k: k(m.np.zeros((0, 3))),
    "empty_list": lambda m, k: k([]),
    "pinned": lambda m, k: k(m.np.zeros(3), is_pinned=False),
    "read_only": lambda m, k: k(m.np.frombuffer(b"abcd", m.np.uint8)),
    "fortran": lambda m, k: k(m.np.asfortranarray(m.np.arange(6).reshape(2, 3))),
    "arrays": lambda m, k: k([m.np.zeros((2, 3)), m.np.zeros((1, 3))]),
    "ranks": lambda m, k: k([m.np.zeros((2, 3)), m.np.zeros(3)]),
    "types": lambda m, k: k([m.np.zeros(3), m.np.zeros(3, m.np.uint8)]),
    "float16": lambda m, k: k(m.np.float16([1, 2])),
    "many_axes": lambda m, k: k(m.np.zeros((1,) * 8)),
    "generator": lambda m, k: k(m.np.zeros(3) for _ in range(2)),
    "object_array": lambda m, k: k(m.np.array([1, "a"], dtype=object)),
}


@each(**{f"{name}-{kind}": (name, kind) for name in MADE for kind in ("tensor", "list")})
def made_of(m, which):
    name, kind = which
    kind = m.tensors.TensorCPU if kind == "tensor" else m.tensors.TensorListCPU
    return MADE[name](m, kind)
