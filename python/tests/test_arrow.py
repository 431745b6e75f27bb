"""Tables of Arrow as inputs of a loader: of pyarrow, polars and datasets, where they are there."""

import ctypes
import gc
import pickle
import weakref

import numpy as np
import pytest

import galatea
from galatea import arrow

pa = pytest.importorskip("pyarrow", reason="SKIPPED: there is no pyarrow")

PASSES = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=2)
def passes():
    return {names}
"""


def loader_of(table, **columns):
    """A loader that hands on columns of a table; of each: (element type, number of axes)."""
    inputs = ", ".join(
        f'fn.external_source(name="{name}", dtype=types.{dtype}, ndim={ndim})'
        for name, (dtype, ndim) in columns.items()
    )
    return galatea.Loader(PASSES.format(names=inputs), inputs=table)


def rows_of(loader):
    """All rows of an epoch, a list for each output."""
    found = None
    for batch in loader:
        found = found or [[] for _ in batch]
        for rows, output in zip(found, batch):
            rows.extend(np.array(output[i].numpy()) for i in range(len(output)))
    return found


def check(array, dtype, ndim, expected):
    """One column, whole, in chunks and as a slice, against what numpy has of it."""
    for table, rows in [
        (pa.table({"x": array}), expected),
        (pa.table({"x": pa.chunked_array([array[:3], array[3:4], array[4:]])}), expected),
        (pa.table({"x": array}).slice(2, 5), expected[2:7]),
    ]:
        with loader_of(table, x=(dtype, ndim)) as loader:
            for _ in range(2):  # a table begins anew
                (ours,) = rows_of(loader)
                assert len(ours) == len(rows)
                for a, b in zip(ours, rows):
                    np.testing.assert_array_equal(a, b)


RNG = np.random.default_rng(2)


@pytest.mark.parametrize(
    "numpy, dtype",
    [
        ("u1", "UINT8"),
        ("i2", "INT16"),
        ("u4", "UINT32"),
        ("i8", "INT64"),
        ("f2", "FLOAT16"),
        ("f4", "FLOAT"),
        ("f8", "FLOAT64"),
        ("?", "BOOL"),
    ],
)
def test_numbers_are_scalars(numpy, dtype):
    values = RNG.integers(0, 2 if numpy == "?" else 100, 11).astype(numpy)
    check(pa.array(values), dtype, 0, list(values))


def test_lists_are_tensors():
    matrix = RNG.normal(size=(9, 6)).astype("f4")
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), 6)
    check(fixed, "FLOAT", 1, list(matrix))
    nested = pa.FixedSizeListArray.from_arrays(
        pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), 3), 2
    )
    check(nested, "FLOAT", 2, list(matrix.reshape(9, 2, 3)))
    ragged = [RNG.integers(0, 99, n).astype("i4") for n in (3, 0, 5, 1, 2, 7, 4, 4, 6)]
    check(pa.array(ragged, pa.list_(pa.int32())), "INT32", 1, ragged)
    check(pa.array(ragged, pa.large_list(pa.int32())), "INT32", 1, ragged)
    pictures = [RNG.integers(0, 255, (n, 2, 3)).astype("u1") for n in (3, 1, 5, 1, 2, 7, 4, 4, 6)]
    as_lists = pa.array([p.tolist() for p in pictures], pa.list_(pa.list_(pa.list_(pa.uint8()))))
    check(as_lists, "UINT8", 3, pictures)


def test_bytes_and_texts():
    texts = ["", "a", "größer", "x" * 12, "y" * 13, "z" * 4000, "b", "c", "d"]
    as_bytes = [np.frombuffer(t.encode(), "u1") for t in texts]
    kinds = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
    kinds += [pa.string_view(), pa.binary_view()] if hasattr(pa, "string_view") else []
    for kind in kinds:
        check(
            pa.array([t.encode() for t in texts] if "binary" in str(kind) else texts, kind),
            "UINT8",
            1,
            as_bytes,
        )
    fixed = pa.array([bytes([i] * 5) for i in range(9)], pa.binary(5))
    check(fixed, "UINT8", 1, [np.full(5, i, "u1") for i in range(9)])
    struct = pa.array(
        [{"path": None, "bytes": t.encode()} for t in texts],
        pa.struct([("path", pa.string()), ("bytes", pa.binary())]),
    )
    check(struct, "UINT8", 1, as_bytes)


def test_columns_are_chosen_by_name():
    table = pa.table(
        {"b": np.arange(10, dtype="i4"), "other": [None] * 10, "a": np.arange(10, 20, dtype="f4")}
    )
    with loader_of(table, a=("FLOAT", 0), b=("INT32", 0)) as loader:
        a, b = rows_of(loader)
    assert [int(x) for x in a] == list(range(10, 20)) and [int(x) for x in b] == list(range(10))
    with (
        loader_of(table, c=("FLOAT", 0)) as loader,
        pytest.raises(ValueError, match="no column 'c'"),
    ):
        rows_of(loader)


def test_elements_stay_where_arrow_has_them():
    values = np.arange(4 * 5000, dtype="i4").reshape(4, 5000)
    array = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 5000)
    address = array.values.buffers()[1].address
    (batch,) = arrow.batches(pa.table({"x": array}), ["x"], 4)
    assert batch["x"].__array_interface__["data"][0] == address
    ragged = pa.array(list(values), pa.list_(pa.int32()))
    (batch,) = arrow.batches(pa.table({"x": ragged}), ["x"], 4)
    assert [row.__array_interface__["data"][0] for row in batch["x"]] == [
        ragged.values.buffers()[1].address + 20000 * i for i in range(4)
    ]


def test_a_record_batch_is_let_go_of_with_its_last_array():
    reader = arrow._Reader(pa.table({"x": np.arange(100)}), ["x"])
    _, columns = reader.next()
    batch = weakref.ref(columns["x"].rows.values.base.batch)
    kept = columns["x"].rows.take(3, 5)
    del columns
    gc.collect()
    assert batch() is not None and list(kept) == [3, 4]
    del kept
    gc.collect()
    assert batch() is None


def test_it_goes_on_where_it_stood():
    table = pa.table({"x": pa.chunked_array([np.arange(5), np.arange(5, 23)])})

    def numbers(loader):
        return [int(x) for x in rows_of(loader)[0]]

    with loader_of(table, x=("INT64", 0)) as loader:
        iterator = iter(loader)
        next(iterator), next(iterator)
        state = loader.state_dict()
        copy = pickle.loads(pickle.dumps(loader))
        rest = [int(batch[0][i].numpy()) for batch in iterator for i in range(len(batch[0]))]
        assert rest == list(range(8, 23))
        assert numbers(loader) == list(range(23))
        loader.load_state_dict(state)
        assert numbers(loader) == rest
        assert numbers(loader) == list(range(23))
    with copy:
        assert numbers(copy) == rest
    with loader_of(table, x=("INT64", 0)) as again:
        again.load_state_dict(state)
        assert numbers(again) == rest


def test_a_for_that_was_left_early_is_over():
    table = pa.table({"x": np.arange(20)})
    with loader_of(table, x=("INT64", 0)) as loader:
        next(iter(loader))
        assert [int(x) for x in rows_of(loader)[0]] == list(range(20))


@pytest.mark.parametrize(
    "array, dtype, ndim, words",
    [
        (pa.array([1, None, 3]), "INT64", 0, "row 1 of the column 'x' is null"),
        (pa.array([[1], [2, None]]), "INT64", 1, "null within a row"),
        (pa.array([[[1], [2, 3]]]), "INT64", 2, "different lengths"),
        (pa.array([{"a": 1}]), "INT64", 0, "a struct without a field `bytes`"),
        (pa.array([1], pa.timestamp("s")), "INT64", 0, "no tensor has"),
        (pa.array([1.5]), "INT64", 0, "INT64"),
    ],
)
def test_what_is_no_tensor_is_said(array, dtype, ndim, words):
    with loader_of(pa.table({"x": array}), x=(dtype, ndim)) as loader:
        with pytest.raises(Exception, match=words) as raised:
            rows_of(loader)
        assert isinstance(raised.value, (ValueError, TypeError))


class Hostile:
    """A table of one record batch, whose arrays say of themselves what `change` lets them say."""

    def __init__(self, array, change):
        self.batch, self.change, self.left = pa.record_batch({"x": array}), change, 1

    def __arrow_c_stream__(self, requested_schema=None):
        fields = dict(arrow._Stream._fields_)

        def get_schema(_, schema):
            self.batch.schema._export_to_c(ctypes.addressof(schema.contents))
            return 0

        def get_next(_, array):
            if self.left == 0:
                array.contents.release = type(array.contents.release)()
                return 0
            self.left = 0
            self.batch._export_to_c(ctypes.addressof(array.contents))
            self.change(array.contents)
            return 0

        def release(stream):
            pass

        self.stream = arrow._Stream(
            fields["get_schema"](get_schema),
            fields["get_next"](get_next),
            fields["get_last_error"](lambda _: b"hostile"),
            fields["release"](release),
        )
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.stream), b"arrow_array_stream", None)


WHOLE = {
    "numbers": pa.array([1, 2, 3], pa.int32()),
    "bits": pa.array([True, False, True]),
    "texts": pa.array(["a", "bcd", ""]),
    "large texts": pa.array([b"a", b"bcd", b""], pa.large_binary()),
    "lists": pa.array([[1, 2], [], [3]], pa.list_(pa.float32())),
    "fixed lists": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int8(), 2)),
    "fixed bytes": pa.array([b"abc", b"def", b"ghi"], pa.binary(3)),
    "pictures": pa.array([{"bytes": b"abc"}] * 3),
    "views": pa.array(["a" * 20, "b", ""], pa.string_view()),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_hostile_arrays_are_refused(kind):
    """Each number of an array, and of those within, is what no writer writes: an error, no crash.

    Of lengths that are too large but fit into memory nobody can tell: the interface has no sizes.
    """
    list(arrow.batches(Hostile(WHOLE[kind], lambda array: None), ["x"], 2))
    refused = 0
    for depth in range(3):
        for field in ("length", "offset", "n_buffers", "n_children"):
            for value in (-1, -(2**63), 2**62, 2**63 - 1, 0):
                if field.startswith("n_") and value > 0:
                    continue  # pointers behind the last one are anything
                if (field, depth) == ("n_buffers", 0) or (field, value) == ("offset", 0):
                    continue

                def change(array):
                    for _ in range(depth):
                        if array.n_children < 1:
                            return
                        array = array.children[0].contents
                    setattr(array, field, value)

                try:
                    list(arrow.batches(Hostile(WHOLE[kind], change), ["x"], 2))
                except (ValueError, OverflowError) as error:
                    refused += 1
                    assert "table" in str(error) or "column 'x'" in str(error)
    for k in range(1, len(WHOLE[kind].buffers())):

        def without(array):
            column = array.children[0].contents
            while k >= column.n_buffers and column.n_children:
                column = column.children[0].contents
            if k < column.n_buffers:
                column.buffers[k] = None

        try:
            list(arrow.batches(Hostile(WHOLE[kind], without), ["x"], 2))
        except ValueError as error:
            refused += 1
            assert "table" in str(error) or "column 'x'" in str(error)
    assert refused > 8


def test_what_is_no_table_is_said():
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        galatea.Loader(PASSES.format(names="fn.random.uniform()"), inputs=[1])
    loader = galatea.Loader(PASSES.format(names="fn.random.uniform()"), inputs=pa.table({"x": [1]}))
    with loader, pytest.raises(ValueError, match="the pipeline has none"):
        next(iter(loader))
    reader = pa.table({"x": np.arange(8)}).to_reader()
    with loader_of(reader, x=("INT64", 0)) as loader:
        assert len(rows_of(loader)[0]) == 8
        with pytest.raises(ValueError, match="once"):
            rows_of(loader)


def test_rows_of_a_dictionary_are_what_they_stand_for():
    texts = ["a", "größer", "a", "", "a", "c", "größer", "d"]
    as_bytes = [np.frombuffer(t.encode(), "u1") for t in texts]
    for number in (pa.int8(), pa.uint16(), pa.int64()):
        kind = pa.dictionary(number, pa.string())
        check(pa.array(texts).dictionary_encode().cast(kind), "UINT8", 1, as_bytes)
    numbers = [5, -6, 5, 5, 9, -6, 5]
    check(pa.array(numbers, pa.int32()).dictionary_encode(), "INT32", 0, np.array(numbers, "i4"))
    lists = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 1, 1, 0, 0, 1]), pa.array([[1], [2, 3]], pa.list_(pa.int32()))
    )
    expected = [[2, 3], [1], [2, 3], [2, 3], [1], [1], [2, 3]]
    check(lists, "INT32", 1, [np.array(row, "i4") for row in expected])
    for array in (
        pa.array(["a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None])),
    ):
        with loader_of(pa.table({"x": array}), x=("UINT8", 1)) as loader:
            with pytest.raises(ValueError, match="row 1 of the column 'x' is null"):
                rows_of(loader)


def test_a_number_outside_of_a_dictionary_is_refused():
    array = pa.array(["a", "b", "a"]).dictionary_encode()

    def change(batch):
        column = batch.children[0].contents
        ctypes.cast(column.buffers[1], ctypes.POINTER(ctypes.c_int32))[1] = 2

    with pytest.raises(ValueError, match="outside of its dictionary"):
        list(arrow.batches(Hostile(array, change), ["x"], 2))


def test_tensors_of_a_fixed_shape_have_their_axes():
    values = np.arange(24, dtype="i4")
    storage = pa.FixedSizeListArray.from_arrays(pa.array(values), 6)
    kind = pa.fixed_shape_tensor(pa.int32(), [2, 3])
    array = pa.ExtensionArray.from_storage(kind, storage)
    with loader_of(pa.table({"x": array}), x=("INT32", 2)) as loader:
        (ours,) = rows_of(loader)
    np.testing.assert_array_equal(np.stack(ours), values.reshape(4, 2, 3))
    kind = pa.fixed_shape_tensor(pa.int32(), [2, 3], permutation=[1, 0])
    array = pa.ExtensionArray.from_storage(kind, storage)
    with loader_of(pa.table({"x": array}), x=("INT32", 2)) as loader:
        (ours,) = rows_of(loader)
    np.testing.assert_array_equal(np.stack(ours), array.to_numpy_ndarray())


@pytest.mark.parametrize(
    "array",
    [
        pa.nulls(2),
        pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([1])),
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array([1.5])]),
    ],
)
def test_kinds_without_elements_are_named(array):
    with loader_of(pa.table({"x": array}), x=("INT64", 0)) as loader:
        with pytest.raises(TypeError, match="of a type that no tensor has"):
            rows_of(loader)


def test_a_name_that_two_columns_have_is_refused():
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    with loader_of(table, x=("INT64", 0)) as loader:
        with pytest.raises(ValueError, match="several columns 'x'"):
            rows_of(loader)


def test_tables_of_polars():
    polars = pytest.importorskip("polars", reason="SKIPPED: there is no polars")
    table = polars.DataFrame({"x": [1.5, 2.5, 3.5], "t": ["a", "b" * 20, ""]})
    with loader_of(table, x=("FLOAT64", 0), t=("UINT8", 1)) as loader:
        x, t = rows_of(loader)
    assert [float(v) for v in x] == [1.5, 2.5, 3.5]
    assert [bytes(v) for v in t] == [b"a", b"b" * 20, b""]
    table = polars.DataFrame(
        {"c": polars.Series(["a", "b", "a"], dtype=polars.Categorical), "o": [object()] * 3}
    )
    with loader_of(table, c=("UINT8", 1)) as loader:
        assert [bytes(v) for v in rows_of(loader)[0]] == [b"a", b"b", b"a"]
    with loader_of(table, o=("UINT8", 1)) as loader:
        with pytest.raises(TypeError, match="Python's objects"):
            rows_of(loader)


def test_datasets_of_hugging_face():
    datasets = pytest.importorskip("datasets", reason="SKIPPED: there is no datasets")
    features = datasets.Features(
        {"image": datasets.Array2D((3, 4), "uint8"), "label": datasets.Value("int64")}
    )
    images = RNG.integers(0, 255, (10, 3, 4)).astype("u1")
    data = datasets.Dataset.from_dict(
        {"image": images, "label": list(range(10))}, features=features
    )
    chosen = {
        "all": (data, range(10)),
        "chosen": (data.select([7, 2, 2]), [7, 2, 2]),
        "shuffled": (data.shuffle(seed=3), data.shuffle(seed=3)["label"]),
        "none": (data.select([]), []),
        "iterable": (data.to_iterable_dataset(), range(10)),
    }
    for table, rows in chosen.values():
        with loader_of(table, image=("UINT8", 2), label=("INT64", 0)) as loader:
            for _ in range(2):
                image, label = rows_of(loader) or ([], [])
                assert [int(v) for v in label] == list(rows)
                for a, row in zip(image, rows, strict=True):
                    np.testing.assert_array_equal(a, images[row])
    with pytest.raises(TypeError, match="DatasetDict"):
        galatea.Loader(PASSES.format(names="x"), inputs=datasets.DatasetDict({"train": data}))
