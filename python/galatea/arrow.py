"""Tables of Arrow as inputs of a loader: what has ``__arrow_c_stream__``.

Comes in: a table or a stream of record batches (pyarrow, polars, Hugging Face datasets, Lance).
Goes out: batches for the inputs of a session, by the names of columns. Elements stay where Arrow
has them: numpy arrays over them go to the library, which borrows them, and the record batch is let
go of with the last sample. Only BOOL, which Arrow packs into bits, is unpacked.

Structures and formats: the Arrow C data interface and C stream interface. No package of Arrow is
needed.

What a row of a column becomes: a number is a scalar; a list of numbers an axis, a list of lists of
equal lengths an axis each, and an `arrow.fixed_shape_tensor` its axes; bytes and text are UINT8; a
dictionary is what its rows stand for; a struct with a field `bytes`, as Hugging Face datasets keep
pictures and sound, is that field. A row that is null has nothing to give, and is an error.
"""

from __future__ import annotations

import ctypes
import json
import struct
from itertools import chain
from typing import Any, Iterator

import numpy as np

__all__ = ["Feeder", "is_table"]


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    (
        "get_schema",
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema)),
    ),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]

_NUMBERS = dict(
    c="i1", C="u1", s="i2", S="u2", i="i4", I="u4", l="i8", L="u8", e="f2", f="f4", g="f8"
)
_OFFSETS = {"z": "i4", "u": "i4", "Z": "i8", "U": "i8", "+l": "i4", "+L": "i8"}
_BUFFERS = {"+s": 1, "+w": 1, "z": 3, "u": 3, "Z": 3, "U": 3, "vz": 3, "vu": 3}  # others have 2
_KINDS = {*_NUMBERS, *_OFFSETS, *_BUFFERS, "b", "w", "+w"}
_MOST = 1 << 47  # addresses of a process lie below
_DEPTH = 256  # of lists within lists: what is deeper is no tensor


class _DataSet:
    """A data set of Hugging Face, whose parts are tables of pyarrow: those of Arrow's files."""

    ROWS = 1024  # of a part, which is no copy but for rows that were chosen or shuffled

    def __init__(self, data: Any):
        self.data = data

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        import pyarrow  # datasets needs it

        parts = self.data.with_format("arrow").iter(batch_size=self.ROWS)
        first = next(parts, None)
        if first is None:
            first = self.data.features.arrow_schema.empty_table()
        batches = (batch for part in chain([first], parts) for batch in part.to_batches())
        reader = pyarrow.RecordBatchReader.from_batches(first.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


def _is_data_set(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "datasets" and hasattr(type(value), "iter")


def is_table(value: Any) -> bool:
    """Whether it has Arrow's C stream interface, or is a data set of Hugging Face."""
    return hasattr(type(value), "__arrow_c_stream__") or _is_data_set(value)


class _Memory:
    """Memory of a record batch for numpy; arrays over it keep the batch."""

    def __init__(self, batch: "_Batch", address: int, count: int, dtype: str):
        self.batch = batch
        self.__array_interface__ = {
            "data": (address, True),
            "shape": (count,),
            "typestr": np.dtype(dtype).str,
            "version": 3,
        }


class _Batch:
    """A record batch; released with the last array over it."""

    def __init__(self, array: _Array):
        self.array = array

    def __del__(self):
        if self.array.release:
            self.array.release(ctypes.byref(self.array))

    def view(self, address: int | None, begin: int, count: int, dtype: str) -> np.ndarray:
        """`count` elements behind `begin` others."""
        size = np.dtype(dtype).itemsize
        if count == 0:
            return np.empty(0, dtype)
        if not address:
            raise ValueError(f"a buffer of {count} elements of the table is not there")
        place = address + begin * size
        if min(begin, count) < 0 or place + count * size > _MOST:
            raise ValueError(f"elements {begin} to {begin + count} of the table lie in no memory")
        if place % size == 0:
            return np.asarray(_Memory(self, place, count, dtype))
        # Arrow allows any place; elements of the library have their own.
        return np.asarray(_Memory(self, place, count * size, "u1")).copy().view(dtype)


class _Fixed:
    """Rows of equal extents, one array."""

    is_fixed = True

    def __init__(self, values: np.ndarray):
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def take(self, begin: int, end: int) -> np.ndarray:
        return self.values[begin:end]

    def row(self, i: int) -> np.ndarray:
        return self.values[i : i + 1].reshape(self.values.shape[1:])


class _Lists:
    """Rows of other rows."""

    is_fixed = False

    def __init__(self, offsets: np.ndarray, rows: Any, name: str):
        self.offsets, self.rows, self.name = offsets, rows, name
        if len(offsets) and (
            offsets[0] < 0 or offsets[-1] > len(rows) or (np.diff(offsets) < 0).any()
        ):
            raise ValueError(f"the column {name!r} has offsets that lead outside of it")

    def __len__(self) -> int:
        return max(0, len(self.offsets) - 1)

    def take(self, begin: int, end: int) -> np.ndarray:
        """Rows that have equal extents, as one array."""
        lengths = np.diff(self.offsets[begin : end + 1])
        if len(lengths) and (lengths != lengths[0]).any():
            raise ValueError(
                f"lists within a row of the column {self.name!r} have different lengths: "
                "no tensor has such"
            )
        first = int(self.offsets[begin]) if len(self.offsets) else 0
        length = int(lengths[0]) if len(lengths) else 0
        inner = self.rows.take(first, first + length * (end - begin))
        return inner.reshape((end - begin, length, *inner.shape[1:]))

    def row(self, i: int) -> np.ndarray:
        return self.rows.take(int(self.offsets[i]), int(self.offsets[i + 1]))


class _Views:
    """Bytes and texts, of which the short ones stand among the descriptions of the others."""

    is_fixed = False

    def __init__(self, views: np.ndarray, buffers: list[np.ndarray], name: str):
        self.views, self.buffers, self.name = views, buffers, name

    def __len__(self) -> int:
        return len(self.views)

    def row(self, i: int) -> np.ndarray:
        view = self.views[i]
        length, _, number, offset = (int(n) for n in view.view("<i4"))
        if 0 <= length <= 12:
            return view[4 : 4 + length]
        if not (
            0 <= length
            and 0 <= number < len(self.buffers)
            and 0 <= offset <= len(self.buffers[number]) - length
        ):
            raise ValueError(f"the column {self.name!r} has a text that lies outside of it")
        return self.buffers[number][offset : offset + length]

    def take(self, begin: int, end: int) -> np.ndarray:
        return _stacked([self.row(i) for i in range(begin, end)], self.name)


def _stacked(rows: list[np.ndarray], name: str) -> np.ndarray:
    """Rows of a row, as one array."""
    if any(row.shape != rows[0].shape for row in rows):
        raise ValueError(
            f"texts or lists within a row of the column {name!r} have different lengths: "
            "no tensor has such"
        )
    return np.stack(rows) if rows else np.empty((0, 0), np.uint8)


class _Picked:
    """Rows of a dictionary, by their numbers in it."""

    is_fixed = False

    def __init__(self, numbers: np.ndarray, rows: Any, name: str):
        self.numbers, self.rows, self.name = numbers, rows, name

    def __len__(self) -> int:
        return len(self.numbers)

    def row(self, i: int) -> np.ndarray:
        return self.rows.row(int(self.numbers[i]))

    def take(self, begin: int, end: int) -> np.ndarray:
        return _stacked([self.row(i) for i in range(begin, end)], self.name)


class _Column:
    """The rows of one column of a record batch; which of them are null."""

    def __init__(self, rows: Any, nulls: np.ndarray | None):
        self.rows, self.nulls = rows, nulls


def _nulls(batch: _Batch, array: _Array, begin: int, count: int) -> np.ndarray | None:
    """Which rows are null; None where none is."""
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0] or count == 0:
        return None
    bits = batch.view(array.buffers[0], 0, (begin + count + 7) // 8, "u1")
    is_null = np.unpackbits(bits, bitorder="little")[begin : begin + count] == 0
    return is_null if is_null.any() else None


def _width(form: str, name: str) -> int:
    """How many elements a row of a format such as `w:3` has."""
    text = form.rpartition(":")[2]
    if not text.isdecimal():
        raise ValueError(f"the column {name!r} has rows of {text!r} elements")
    return int(text)


def _extension(schema: _Schema) -> tuple[bytes, bytes]:
    """The name of the extension type that a column has, and what is said of it; empty: none."""
    found, at = {}, schema.metadata

    def taken(count: int) -> bytes:
        nonlocal at
        at += count
        return ctypes.string_at(at - count, count)

    def text() -> bytes:
        return taken(struct.unpack("=i", taken(4))[0])

    for _ in range(struct.unpack("=i", taken(4))[0] if at else 0):
        key = text()
        found[key] = text()
    return (
        found.get(b"ARROW:extension:name", b""),
        found.get(b"ARROW:extension:metadata", b""),
    )


def _shaped(values: np.ndarray, said: bytes, name: str) -> np.ndarray:
    """Rows of an `arrow.fixed_shape_tensor`, whose shape and order of axes its metadata say."""
    try:
        shape = json.loads(said)
        rows = values.reshape(len(values), *shape["shape"], *values.shape[2:])
        order = shape.get("permutation") or range(len(shape["shape"]))
        rest = range(1 + len(shape["shape"]), rows.ndim)
        return np.ascontiguousarray(rows.transpose(0, *(1 + axis for axis in order), *rest))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"the column {name!r} has tensors whose shape is not that of their elements: {said!r}"
        ) from error


def _column(
    batch: _Batch, schema: _Schema, array: _Array, name: str, begin=0, count=None, depth=0
) -> _Column:
    """`count` rows from `begin` of what the array shows."""
    form = schema.format.decode()
    kind = form.partition(":")[0]
    extension, said = _extension(schema)
    if kind not in _KINDS or depth > _DEPTH:
        raise TypeError(f"the column {name!r} is of a type that no tensor has ({form}): cast it")
    count = array.length - begin if count is None else count
    if begin < 0 or count < 0 or begin + count > array.length:
        raise ValueError(f"the column {name!r} has fewer elements than its rows say")
    if array.offset < 0:
        raise ValueError(f"the column {name!r} begins before its elements")
    if array.n_buffers < _BUFFERS.get(kind, 2) or not array.buffers:
        raise ValueError(f"the column {name!r} ({form}) has {array.n_buffers} buffers, too few")
    if form[0] == "+" and min(array.n_children, schema.n_children) < 1:
        raise ValueError(f"the column {name!r} ({form}) has no column within")
    at = array.offset + begin
    nulls = _nulls(batch, array, at, count)

    def inner(child: int, first: int, number: int | None) -> Any:
        column = _column(
            batch,
            schema.children[child].contents,
            array.children[child].contents,
            name,
            first,
            number,
            depth + 1,
        )
        if column.nulls is not None:
            raise ValueError(f"the column {name!r} has null within a row: fill it first")
        return column.rows

    if schema.dictionary:
        return _of_dictionary(batch, schema, array, name, at, count, nulls, depth)
    if form in _NUMBERS:
        return _Column(_Fixed(batch.view(array.buffers[1], at, count, _NUMBERS[form])), nulls)
    if form == "b":
        bits = batch.view(array.buffers[1], 0, (at + count + 7) // 8, "u1")
        return _Column(
            _Fixed(np.unpackbits(bits, bitorder="little")[at : at + count].view(np.bool_)), nulls
        )
    if form.startswith("w:"):
        width = _width(form, name)
        values = batch.view(array.buffers[1], at * width, count * width, "u1")
        return _Column(_Fixed(values.reshape(count, width)), nulls)
    if form.startswith("+w:"):
        width = _width(form, name)
        rows = inner(0, at * width, count * width)
        values = rows.take(0, count * width)
        values = values.reshape((count, width, *values.shape[1:]))
        if extension == b"arrow.fixed_shape_tensor":
            values = _shaped(values, said, name)
        return _Column(_Fixed(values), nulls)
    if form in _OFFSETS:
        offsets = np.zeros(1, _OFFSETS[form])
        if count > 0:
            offsets = batch.view(array.buffers[1], at, count + 1, _OFFSETS[form])
        if form[0] == "+":
            rows = inner(0, 0, None)
        else:
            rows = _Fixed(batch.view(array.buffers[2], 0, max(0, int(offsets[-1])), "u1"))
        return _Column(_Lists(offsets, rows, name), nulls)
    if form in ("vz", "vu"):
        views = batch.view(array.buffers[1], at * 16, count * 16, "u1").reshape(count, 16)
        variadic = array.n_buffers - 3
        sizes = batch.view(array.buffers[2 + variadic], 0, variadic, "i8")
        buffers = [
            batch.view(array.buffers[2 + k], 0, int(sizes[k]), "u1") for k in range(variadic)
        ]
        return _Column(_Views(views, buffers, name), nulls)
    for k in range(schema.n_children):
        if schema.children[k].contents.name == b"bytes" and k < array.n_children:
            child = array.children[k].contents
            column = _column(batch, schema.children[k].contents, child, name, at, count, depth + 1)
            both = [each for each in (nulls, column.nulls) if each is not None]
            return _Column(column.rows, np.logical_or.reduce(both) if both else None)
    raise TypeError(
        f"the column {name!r} is a struct without a field `bytes`: choose a field of it"
    )


def _of_dictionary(
    batch: _Batch, schema: _Schema, array: _Array, name: str, at: int, count: int, nulls, depth: int
) -> _Column:
    """Rows that say which row of a dictionary they are."""
    form = schema.format.decode()
    if form not in _NUMBERS or form in "efg" or not array.dictionary:
        raise ValueError(f"the column {name!r} has a dictionary without numbers of its rows")
    numbers = batch.view(array.buffers[1], at, count, _NUMBERS[form]).astype("i8")
    values = _column(
        batch, schema.dictionary.contents, array.dictionary.contents, name, 0, None, depth + 1
    )
    if nulls is not None:
        numbers[nulls] = 0
    used = numbers if nulls is None else numbers[~nulls]
    if len(used) and (used.min() < 0 or used.max() >= len(values.rows)):
        raise ValueError(f"the column {name!r} has numbers that lead outside of its dictionary")
    if values.nulls is not None and len(used):
        is_null = values.nulls[numbers]
        nulls = is_null if nulls is None else nulls | is_null
    if values.rows.is_fixed and len(used):
        return _Column(_Fixed(values.rows.values[numbers]), nulls)
    return _Column(_Picked(numbers, values.rows, name), nulls)


class _Reader:
    """One pass over a table: record batches as columns."""

    def __init__(self, table: Any, names: list[str]):
        if type(table).__module__.partition(".")[0] == "polars":
            # It hands out the addresses of objects as bytes.
            types = getattr(table, "schema", {})
            objects = [name for name in names if str(types.get(name)) == "Object"]
            if objects:
                raise TypeError(f"the column {objects[0]!r} has Python's objects: cast it")
        has_stream = hasattr(type(table), "__arrow_c_stream__")
        self.capsule = (table if has_stream else _DataSet(table)).__arrow_c_stream__()
        self.stream = ctypes.cast(
            _pointer_of(self.capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream)
        )
        if not self.stream.contents.release:
            raise ValueError(
                "the stream of Arrow was read already; give a table, which begins anew"
            )
        self.schema = _Schema()
        self._check(self.stream.contents.get_schema(self.stream, ctypes.byref(self.schema)))
        if self.schema.format != b"+s":
            raise TypeError("the stream of Arrow has no columns: give a table, not one column")
        children = [self.schema.children[k].contents for k in range(self.schema.n_children)]
        columns = [(child.name or b"").decode() for child in children]
        missing = [name for name in names if name not in columns]
        if missing:
            raise ValueError(
                f"the table has no column {', '.join(map(repr, missing))} for that input; "
                f"it has {', '.join(map(repr, columns))}"
            )
        twice = [name for name in names if columns.count(name) > 1]
        if twice:
            raise ValueError(f"the table has several columns {twice[0]!r}: rename all but one")
        self.columns = {name: columns.index(name) for name in names}

    def __del__(self):
        schema = getattr(self, "schema", None)
        if schema is not None and schema.release:
            schema.release(ctypes.byref(schema))

    def _check(self, status: int) -> None:
        if status == 0:
            return
        said = self.stream.contents.get_last_error(self.stream)
        raise OSError(status, (said or b"the stream of Arrow failed").decode(errors="replace"))

    def next(self) -> tuple[int, dict[str, _Column]] | None:
        """The next record batch: how many rows, and the columns; None at the end."""
        array = _Array()
        self._check(self.stream.contents.get_next(self.stream, ctypes.byref(array)))
        if not array.release:
            return None
        batch = _Batch(array)
        if array.null_count > 0:
            raise ValueError("the table has rows that are null")
        if array.length < 0 or array.offset < 0:
            raise ValueError(
                f"a record batch of the table has {array.length} rows from {array.offset} on"
            )
        columns = {}
        for name, k in self.columns.items():
            if k >= array.n_children:
                raise ValueError(f"a record batch of the table has no column {name!r}")
            child, schema = array.children[k].contents, self.schema.children[k].contents
            columns[name] = _column(batch, schema, child, name, array.offset, array.length)
        return array.length, columns


def batches(
    table: Any, names: list[str], batch_size: int, skip: int = 0
) -> Iterator[dict[str, Any]]:
    """Batches of a table: for each name an array with the rows in front, or a list of rows.

    `skip`: how many rows are left out first.
    """
    reader = _Reader(table, names)
    parts: list[tuple[dict[str, _Column], int, int, int]] = (
        []
    )  # columns, rows, the first one's number
    held, number = 0, 0
    while True:
        read = reader.next()
        if read is None:
            break
        length, columns = read
        begin = min(skip, length)
        skip -= begin
        while begin < length:
            end = min(length, begin + batch_size - held)
            parts.append((columns, begin, end, number + begin))
            held += end - begin
            begin = end
            if held == batch_size:
                yield {name: _rows(name, parts) for name in names}
                parts, held = [], 0
        number += length
    if parts:
        yield {name: _rows(name, parts) for name in names}


def _rows(name: str, parts: list) -> Any:
    for columns, begin, end, number in parts:
        nulls = columns[name].nulls
        if nulls is not None and nulls[begin:end].any():
            row = number + int(np.argmax(nulls[begin:end]))
            raise ValueError(f"row {row} of the column {name!r} is null: fill it, or leave it out")
    if len(parts) == 1 and parts[0][0][name].rows.is_fixed:
        columns, begin, end, _ = parts[0]
        return columns[name].rows.take(begin, end)
    return [
        columns[name].rows.row(i) for columns, begin, end, _ in parts for i in range(begin, end)
    ]


class Feeder:
    """Feeds the inputs of a session from a table, epoch after epoch.

    `ahead`: how many batches it feeds before they are wanted. `first_batch`: where in the epoch it
    begins.
    """

    def __init__(
        self,
        table: Any,
        session: Any,
        names: list[str],
        batch_size: int,
        ahead: int,
        first_batch: int = 0,
    ):
        if not names:
            raise ValueError("inputs= feeds fn.external_source, and the pipeline has none")
        self.table, self.session, self.names = table, session, names
        self.batch_size, self.ahead = batch_size, ahead
        self.batch = first_batch  # of the epoch: how many were taken
        self.fed = first_batch
        self.batches: Iterator[dict[str, Any]] | None = None
        self.has_ended = False
        self.gave_rows = False

    def feed(self) -> None:
        """Feeds what is missing of the batches ahead."""
        while not self.has_ended and self.fed - self.batch < self.ahead:
            if self.batches is None:
                skip = self.batch * self.batch_size
                self.batches = batches(self.table, self.names, self.batch_size, skip)
            rows = next(self.batches, None)
            if rows is None:
                if self.fed == 0 and self.gave_rows:
                    raise ValueError(
                        "the stream of Arrow gives its rows once; give a table, which begins anew "
                        "with each epoch"
                    )
                self.has_ended = True
                self.session.end_of_feed()
                return
            for name in self.names:
                # Nobody changes what Arrow has handed out.
                self.session.feed(name, rows.pop(name), None, 0, None, True)
            self.fed += 1
            self.gave_rows = True

    def take(self, has_batch: bool) -> None:
        """A batch was taken of the session, or the end of the epoch."""
        self.batch += 1
        if not has_batch:
            self.batch = self.fed = 0
            self.batches, self.has_ended = None, False
