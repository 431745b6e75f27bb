"""Writes tests/readers/recorded: small containers by the libraries whose formats they are, and what DALI reads of them.

    pip install nvidia-dali-cuda120==2.4.0 tensorflow-cpu webdataset pycocotools lmdb pillow "numpy<2"
    python tests/readers/make_recorded.py [PART ...]

With the names of parts (the functions that write them: databases, ...), only these are made anew, and cases that are not recorded yet.

RecordIO files are made by MXNet's own im2rec layout where the package `mxnet` can be imported, and left as they are elsewhere.
"""

import io
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"
BATCH = 8


def tfrecords():
    import tensorflow as tf

    def feature(**lists):
        return tf.train.Feature(**lists)

    for part, rows in (("a", range(5)), ("b", range(5, 8))):
        offset, index = 0, []
        with tf.io.TFRecordWriter(str(FOLDER / f"{part}.tfrecord")) as out:
            for i in rows:
                record = tf.train.Example(features=tf.train.Features(feature={
                    "image": feature(bytes_list=tf.train.BytesList(value=[bytes(range(i + 1)) * (i + 1)])),
                    "label": feature(int64_list=tf.train.Int64List(value=[i - 2])),
                    "wide": feature(int64_list=tf.train.Int64List(value=[-(1 << 62), i, (1 << 63) - 1, -1])),
                    "boxes": feature(float_list=tf.train.FloatList(value=[i + k / 4 for k in range(4 * (i % 3))])),
                    "name": feature(bytes_list=tf.train.BytesList(value=[f"größe {i}".encode()])),
                })).SerializeToString(deterministic=True)
                out.write(record)
                index.append(f"{offset} {len(record) + 16}")
                offset += len(record) + 16
        (FOLDER / f"{part}.idx").write_text("\n".join(index) + "\n")


def archives():
    import webdataset

    with webdataset.TarWriter(str(FOLDER / "plain.tar"), mtime=0) as out:
        for i in range(4):
            sample = {"__key__": f"shard/{i:03d}", "jpg": bytes([i] * (i + 3)), "cls": str(i).encode(),
                      "seg.png": bytes(range(i))}
            if i != 2:
                sample["f32"] = np.arange(i + 1, dtype="<f4").tobytes()
            out.write(sample)
    for name, form in (("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT), ("ustar", tarfile.USTAR_FORMAT)):
        with tarfile.open(FOLDER / f"{name}.tar", "w", format=form) as out:
            def add(path, content, kind=tarfile.REGTYPE):
                member = tarfile.TarInfo(path)
                member.size, member.type = len(content), kind
                out.addfile(member, io.BytesIO(content))
            add("d", b"", tarfile.DIRTYPE)
            long = "d/" + "x" * 60 + "/" + "y" * 70 if name == "ustar" else "d/" + "x" * 180
            add(long + ".JPG", b"abc")
            add(long + ".cls", b"1")
            add("d/.hidden", b"?")
            add("d/second.png", b"defg")
            add("d/second.cls", b"22")
            add("d/third.jpg", b"h")
    with tempfile.TemporaryDirectory() as folder:  # GNU tar's own sparse form
        with open(f"{folder}/a.jpg", "wb") as file:
            file.truncate(1 << 16)
            file.seek(1 << 16)
            file.write(b"x")
        subprocess.run(["tar", "--sparse", "--format=pax", "--blocking-factor=1", "--owner=0", "--group=0", "--mtime=@0",
                        "--pax-option=delete=atime,delete=ctime,delete=mtime", "-cf", FOLDER / "sparse.tar", "-C", folder, "a.jpg"],
                       check=True)


def arrays():
    rng = np.random.default_rng(3)
    for name, array in {
        "c_f32": rng.normal(size=(5, 7, 3)).astype("<f4"),
        "fortran_i16": np.asfortranarray(rng.integers(-99, 99, (4, 6), dtype="<i2")),
        "u8": rng.integers(0, 255, (9,), dtype="u1"),
        "scalar_f64": np.array(2.5, dtype="<f8"),
        "bool": rng.integers(0, 2, (3, 4)).astype("?"),
        "f16": rng.normal(size=(2, 2)).astype("<f2"),
        "empty_i64": np.zeros((0, 3), "<i8"),
        "fortran_u32": np.asfortranarray(rng.integers(0, 99, (3, 4, 5), dtype="<u4")),
    }.items():
        np.save(FOLDER / f"{name}.npy", array)


def record_files():
    """The layout of dmlc's recordio.h and mxnet's image_recordio.h, with a payload that holds the magic number."""
    magic = 0xCED7230A
    out, index = b"", []
    for i in range(5):
        labels = [float(i)] if i % 2 == 0 else [i + 0.5, -float(i), 2.0]
        image = bytes(range(i + 5))
        if i == 3:
            image = b"abcd" + struct.pack("<I", magic) + b"efgh" + struct.pack("<I", magic)
        if i == 4:  # beside a multiple of 4 the writer leaves it
            image = b"abc" + struct.pack("<I", magic) + b"e"
        head = struct.pack("<IfQQ", 0 if len(labels) == 1 else len(labels), labels[0] if len(labels) == 1 else 0.0, i, 0)
        payload = head + (b"" if len(labels) == 1 else struct.pack(f"<{len(labels)}f", *labels)) + image
        pieces, begin = [], 0
        for at in range(0, len(payload) // 4 * 4, 4):
            if payload[at:at + 4] == struct.pack("<I", magic):
                pieces.append(payload[begin:at])
                begin = at + 4
        pieces.append(payload[begin:])
        index.append(f"{i}\t{len(out)}")
        for k, piece in enumerate(pieces):
            part = 0 if len(pieces) == 1 else 1 if k == 0 else 3 if k == len(pieces) - 1 else 2
            out += struct.pack("<II", magic, part << 29 | len(piece)) + piece + bytes(-len(piece) % 4)
    (FOLDER / "all.rec").write_bytes(out)
    (FOLDER / "all.rec.idx").write_text("\n".join(index) + "\n")
    cut = int(index[2].split("\t")[1]) + 12  # within a record
    (FOLDER / "first.rec").write_bytes(out[:cut])
    (FOLDER / "second.rec").write_bytes(out[cut:])


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a protocol buffer: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def tensors(*protos):
    """Caffe2's TensorProtos, each of (data type, other fields): numbers packed, and one by one."""
    return b"".join(field(1, field(2, kind) + rest) for kind, rest in protos)


def databases():
    """Written by LMDB itself: records in leaves and on pages of their own, a tree of two levels, what was deleted and put again."""
    import lmdb

    def write(name, records, extra=0):
        shutil.rmtree(FOLDER / f"{name}_lmdb", ignore_errors=True)
        with lmdb.open(str(FOLDER / f"{name}_lmdb"), map_size=1 << 20, lock=False) as env:
            for half in range(2):
                with env.begin(write=True) as transaction:
                    for k, record in enumerate(records):
                        if k % 2 == half:
                            transaction.put(f"{k:08d}".encode(), record)
                    for k in range(extra):
                        transaction.put(f"x{k:03d}".encode(), bytes(64)) if half == 0 else transaction.delete(f"x{k:03d}".encode())

    def datum(data, label=None, shape=None, encoded=None):
        out = b"".join(field(k + 1, extent) for k, extent in enumerate(shape or ())) + field(4, data)
        out += b"" if label is None else field(5, label)
        return out + (b"" if encoded is None else field(7, int(encoded)))

    write("caffe", [datum(bytes(range(k + 1)), k - 2, encoded=True if k % 2 else None) for k in range(4)] + [datum(bytes(range(250)) * 9), b""], extra=80)
    write("caffe_more", [datum(bytes([k]) * k, 100 + k) for k in range(90)])
    write("caffe_raw", [datum(bytes(range((k + 2) * 6)), k, (3, 2, k + 2), False) for k in range(3)])
    text, byte, number, whole, wide = 4, 3, 1, 2, 10
    image = (text, field(6, b"encoded"))
    one_by_one = lambda values: b"".join(field(4, value) for value in values)
    packed = lambda values: field(4, b"".join(varint(value) for value in values))
    write("caffe2", [tensors((text, field(6, bytes(range(k + 1)))), (whole, one_by_one([k - 1])),
                             (number, field(3, floats([k + 0.5] * k))), (wide, field(10, varint(-k - (1 << 40)))), (whole, packed([k, 1, 2, -3])))
                     for k in range(4)])
    write("caffe2_raw", [tensors((byte, field(1, 2) + field(1, k + 1) + (field(1, 3) if k < 2 else b"") + field(5, bytes(range((k + 1) * (6 if k < 2 else 2))))),
                                 (number, field(3, floats([k / 4])))) for k in range(3)])
    write("caffe2_sparse", [tensors(image, (whole, packed([k, 4])), (number, field(3, floats([k + 0.25, -1.5]))), (whole, packed([7, 8, 9, k]))) for k in range(3)])
    write("caffe2_sparse_float", [tensors(image, (number, field(3, floats([k, 3]))), (number, field(3, floats([0.5, 8]))), (whole, packed([1, 2, 3, k]))) for k in range(2)])
    write("caffe2_dense", [tensors(image, (number, field(3, floats([k, 0.5, -2])))) for k in range(2)])


def frames():
    """Folders of frames; DALI takes endings in capitals, and neither other files nor folders within folders."""
    from PIL import Image

    root = FOLDER / "frames"
    shutil.rmtree(root, ignore_errors=True)

    def draw(path, seed, height, width):
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((np.arange(height * width * 3).reshape(height, width, 3) * 7 + seed * 20).astype("u1")).save(path)

    for k in range(5):
        draw(root / "a" / f"{k:03d}.png", k, 2, 3)
    draw(root / "a" / "UPPER.PNG", 5, 2, 3)
    draw(root / "a" / "within" / "x.png", 6, 2, 3)
    (root / "a" / "notes.txt").write_text("not a frame\n")
    for k in range(4):
        draw(root / "b" / f"{k}.bmp", 7 + k, 3, 2)
    draw(root / "c" / "only.png", 11, 2, 2)
    draw(root / "beside.png", 12, 2, 2)


def coco():
    from pycocotools import mask as masks

    (FOLDER / "images").mkdir(exist_ok=True)
    sizes = {7: (30, 40), 3: (25, 33), 12: (16, 16), 5: (20, 50)}
    for i, (height, width) in sizes.items():
        (FOLDER / "images" / f"{i:03d}.jpg").write_bytes(bytes([i]) * (i + 2))
    square = np.zeros((30, 40), np.uint8, order="F")
    square[3:9, 30:38] = 1
    packed = masks.encode(square)
    objects = [
        (7, 20, [2, 3, 10, 8.5], [[2, 3, 12, 3, 12, 11.5, 2, 11.5]], 0),
        (7, 9, [15, 12.25, 9, 9], [[15.3, 12.25, 24, 14, 20.5, 21.25, 16, 20], [26, 24, 31, 25, 28.5, 29]], 0),
        (7, 20, [30, 3, 8, 6], {"size": packed["size"], "counts": packed["counts"].decode()}, 0),
        (3, 9, [1, 1, 0.05, 9], [[1, 1, 2, 2, 1, 2]], 0),
        (3, 4, [4.5, 5.5, 20, 15], [[4.5, 5.5, 24.5, 5.5, 24.5, 20.5, 14, 23.9, 4.5, 20.5]], 0),
        (3, 4, [0, 0, 3, 3], {"size": [25, 33], "counts": [1, 3, 22, 3, 22, 3, 771]}, 1),
        (5, 20, [-2, 1, 60, 12], [[-2.4, 1, 57, 3, 40, 12.7]], 0),
        (99, 20, [1, 1, 5, 5], [[1, 1, 6, 1, 6, 6]], 0),
    ]
    document = {
        "info": {"year": 2026, "nested": [1, {"id": 5}]},
        "annotations": [{"id": k, "image_id": image, "category_id": category, "bbox": box, "segmentation": outline, "area": 1.5,
                         "iscrowd": crowd} for k, (image, category, box, outline, crowd) in enumerate(objects)],
        "images": [{"id": i, "height": h, "width": w, "file_name": f"{i:03d}.jpg", "license": 3} for i, (h, w) in sizes.items()],
        "categories": [{"id": 9, "name": "nine"}, {"id": 20, "name": "twenty"}, {"id": 4, "name": "four"}],
    }
    (FOLDER / "coco.json").write_text(json.dumps(document) + "\n")


def coco_body(outputs, more=""):
    return f'{outputs} = fn.readers.coco(file_root="@/images", annotations_file="@/coco.json"{more})\nreturn {outputs}'


FEATURES = ('features={"image": tfrecord.FixedLenFeature((), tfrecord.string, ""), "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1), '
            '"wide": tfrecord.FixedLenFeature([2, 2], tfrecord.int64, 0), "boxes": tfrecord.VarLenFeature([4], tfrecord.float32, 0.0), '
            '"name": tfrecord.FixedLenFeature([], tfrecord.string, "")}')
TF_BODY = 'd = fn.readers.tfrecord(path=[{files}], index_path=[{indices}], ' + FEATURES + '{more})\n' \
          'return d["boxes"], d["image"], d["label"], d["name"], d["wide"]'
BOTH = {"files": '"@/a.tfrecord", "@/b.tfrecord"', "indices": '"@/a.idx", "@/b.idx"'}


def tf_body(more="", **files):
    body = TF_BODY
    for key, value in {**BOTH, **files, "more": more}.items():
        body = body.replace("{" + key + "}", value)
    return body


def wds(arguments, outputs="a, b"):
    return f"{outputs} = fn.readers.webdataset({arguments})\nreturn {outputs}"


def npy(arguments):
    return f'return fn.readers.numpy({arguments})'


def caffe(version, arguments, outputs="a, b"):
    return f"{outputs} = fn.readers.caffe{version}({arguments})\nreturn {outputs}"


def frames_of(arguments):
    return f'return fn.readers.sequence(file_root="@/frames", {arguments})'


# By name: how many samples, the text, and the text for DALI where that has to be another.
CASES = {
    "sequence": (8, frames_of("sequence_length=2")),
    "sequence_step": (3, frames_of("sequence_length=2, step=2, stride=2")),
    "sequence_stride": (4, frames_of("sequence_length=2, stride=3")),
    "sequence_shard": (2, frames_of("sequence_length=3, num_shards=3, shard_id=1")),
    "sequence_bgr": (8, frames_of("sequence_length=2, image_type=types.BGR")),
    "sequence_any": (8, frames_of("sequence_length=2, image_type=types.ANY_DATA")),
    "tfrecord": (8, tf_body()),
    "tfrecord_one_file": (5, tf_body(files='"@/a.tfrecord"', indices='"@/a.idx"')),
    "tfrecord_shard": (3, tf_body(", num_shards=3, shard_id=1")),
    "tfrecord_variable": (5, 'd = fn.readers.tfrecord(path="@/a.tfrecord", index_path="@/a.idx", features={'
                             '"boxes": tfrecord.VarLenFeature(tfrecord.float32, 0.0), "wide": tfrecord.VarLenFeature(tfrecord.int64, 0), '
                             '"label": tfrecord.FixedLenFeature([], tfrecord.int64, 0)})\nreturn d["boxes"], d["label"], d["wide"]'),
    "mxnet": (5, 'a, b = fn.readers.mxnet(path=["@/all.rec"], index_path=["@/all.rec.idx"])\nreturn a, b'),
    "mxnet_two_files": (5, 'a, b = fn.readers.mxnet(path=["@/first.rec", "@/second.rec"], index_path=["@/all.rec.idx"])\nreturn a, b'),
    "webdataset": (4, wds('paths="@/plain.tar", ext=["jpg", "cls", "seg.png"]', "a, b, c")),
    "webdataset_empty": (4, wds('paths=["@/plain.tar"], ext=["f32", "cls"], dtypes=[types.FLOAT, types.UINT8]')),
    "webdataset_skip": (3, wds('paths=["@/plain.tar"], ext=["f32", "cls"], dtypes=[types.FLOAT, types.UINT8], '
                               'missing_component_behavior="skip"')),
    "webdataset_gnu": (4, wds('paths="@/gnu.tar", ext=["JPG;png;jpg", "cls"]')),
    "webdataset_ustar": (4, wds('paths="@/ustar.tar", ext=["jpg;png", "cls"], case_sensitive_extensions=False')),
    "webdataset_two": (8, wds('paths=["@/plain.tar", "@/ustar.tar"], ext=["jpg;JPG;png"]', "a")),
    "caffe": (6, caffe("", 'path="@/caffe_lmdb"')),
    "caffe_two": (96, caffe("", 'path=["@/caffe_lmdb", "@/caffe_more_lmdb"]')),
    "caffe_shard": (4, caffe("", 'path=["@/caffe_lmdb", "@/caffe_more_lmdb"], num_shards=24, shard_id=1')),
    "caffe_raw": (3, caffe("", 'path="@/caffe_raw_lmdb"')),
    "caffe_images": (4, caffe("", 'path="@/caffe_lmdb", label_available=False', "a")),
    "caffe_labels": (6, caffe("", 'path="@/caffe_lmdb", image_available=False', "a")),
    "caffe2": (4, caffe("2", 'path="@/caffe2_lmdb"')),
    "caffe2_more": (4, caffe("2", 'path="@/caffe2_lmdb", additional_inputs=2, bbox=True', "a, b, c, d, e")),
    "caffe2_unlabelled": (4, caffe("2", 'path="@/caffe2_lmdb", label_type=4', "a")),
    "caffe2_raw": (2, caffe("2", 'path="@/caffe2_raw_lmdb"')),
    # DALI has an output behind such labels that only a box fills, whatever `bbox` says, and passes over a tensor behind them, as if
    # there were weights; where there are (label_type=3) it fails.
    "caffe2_sparse": (3, caffe("2", 'path="@/caffe2_sparse_lmdb", label_type=1, num_labels=6'),
                      caffe("2", 'path="@/caffe2_sparse_lmdb", label_type=1, num_labels=6', "a, b, c").replace("return a, b, c", "return a, b")),
    "caffe2_sparse_float": (2, caffe("2", 'path="@/caffe2_sparse_float_lmdb", label_type=1, num_labels=4'),
                            caffe("2", 'path="@/caffe2_sparse_float_lmdb", label_type=1, num_labels=4', "a, b, c").replace("return a, b, c", "return a, b")),
    "caffe2_dense": (2, caffe("2", 'path="@/caffe2_dense_lmdb", label_type=2')),
    "coco": (4, coco_body("a, b, c")),
    "coco_ltrb": (4, coco_body("a, b, c", ", ltrb=True")),
    "coco_ratio": (4, coco_body("a, b, c", ", ratio=True, size_threshold=0.01")),
    "coco_ltrb_ratio": (3, coco_body("a, b, c, d", ", ltrb=True, ratio=True, skip_empty=True, image_ids=True")),
    "coco_raw": (4, coco_body("a, b, c, d", ", avoid_class_remapping=True, include_iscrowd=False, image_ids=True")),
    "coco_images": (3, coco_body("a, b, c", ', images=["005.jpg", "nobody.jpg", "007.jpg", "005.jpg"]')),
    "coco_polygons": (4, coco_body("a, b, c, d, e", ", polygon_masks=True")),
    "coco_polygons_ratio": (4, coco_body("a, b, c, d, e, f", ", polygon_masks=True, ratio=True, image_ids=True")),
    "coco_pixels": (4, coco_body("a, b, c, d", ", pixelwise_masks=True")),
    "numpy": (1, npy('files="@/c_f32.npy"')),
    "numpy_fortran": (1, npy('files=["@/fortran_i16.npy"]')),
    "numpy_fortran_3d": (1, npy('files="@/fortran_u32.npy"')),
    "numpy_u8": (1, npy('file_root="@", file_filter="u8.npy"')),
    "numpy_scalar": (1, npy('files="@/scalar_f64.npy"')),
    "numpy_bool": (1, npy('files="@/bool.npy"')),
    "numpy_f16": (1, npy('files="@/f16.npy"')),
    "numpy_empty": (1, npy('files="@/empty_i64.npy"')),
    "numpy_roi": (1, npy('files="@/c_f32.npy", roi_start=[1, 2, 0], roi_end=[4, 5, 2]')),
    "numpy_roi_axes": (1, npy('files="@/c_f32.npy", roi_start=[2, 1], roi_shape=[3, 2], roi_axes=[1, 2]')),
    "numpy_roi_relative": (1, npy('files="@/c_f32.npy", rel_roi_start=[0.1, 0.5, 0.0], rel_roi_shape=[0.5, 0.35, 1.0]')),
    "numpy_roi_relative_end": (1, npy('files="@/c_f32.npy", rel_roi_start=[0.3, 0.214286, 0.0], rel_roi_end=[0.7, 0.9, 0.5]')),
    "numpy_roi_relative_shape": (1, npy('files="@/c_f32.npy", roi_start=[1, 2, 0], rel_roi_shape=[0.5, 0.35, 0.5]')),
    "numpy_roi_relative_sum": (1, npy('files="@/c_f32.npy", rel_roi_start=[0.14, 0.31, 0.2], rel_roi_shape=[0.36, 0.19, 0.3]')),
    "numpy_roi_fortran": (1, npy('files="@/fortran_u32.npy", roi_start=[1, 0, 2], roi_end=[3, 3, 5]')),
    "numpy_pad": (1, npy('files="@/c_f32.npy", roi_start=[-1, 5, 1], roi_shape=[3, 4, 3], out_of_bounds_policy="pad", fill_value=-7.5')),
    "numpy_pad_u8": (1, npy('files="@/u8.npy", roi_start=[7], roi_shape=[5], out_of_bounds_policy="pad", fill_value=300.0')),
    "numpy_trim": (1, npy('files="@/c_f32.npy", roi_start=[-1, 5, 1], roi_shape=[3, 4, 3], out_of_bounds_policy="trim_to_shape"')),
}


def drawn_masks(samples):
    """The masks of coco.json as COCO's own library draws them: DALI leaves run lengths out, and single pixels at outlines."""
    from pycocotools import mask as masks

    document = json.loads((FOLDER / "coco.json").read_text())
    labels = {category["id"]: k + 1 for k, category in enumerate(document["categories"])}
    for image, sample in zip(sorted(document["images"], key=lambda image: image["id"]), samples):
        drawn = np.zeros((image["height"], image["width"]), np.int32)
        objects = [one for one in document["annotations"] if one["image_id"] == image["id"] and min(one["bbox"][2:]) >= 0.1]
        for one in sorted(objects, key=lambda one: labels[one["category_id"]]):
            outline = one["segmentation"]
            if isinstance(outline, dict) and isinstance(outline["counts"], str):
                runs = [outline]
            else:
                runs = masks.frPyObjects(outline, *drawn.shape)
            drawn[masks.decode(masks.merge(runs) if isinstance(runs, list) else runs) > 0] = labels[one["category_id"]]
        assert sample["shape"] == [*drawn.shape, 1]
        sample["values"] = drawn.ravel().tolist()


def dali_reads(batch, body):
    from nvidia.dali import fn, pipeline_def, tfrecord, types  # noqa: F401: the text uses them

    lines = "".join(f"    {line}\n" for line in body.replace("@", str(FOLDER)).splitlines())
    scope = dict(locals())
    exec(f"def case():\n{lines}", scope)
    pipe = pipeline_def(scope["case"])(batch_size=batch, num_threads=1, device_id=None)
    pipe.build()
    samples = []
    for output in pipe.run():
        arrays = [np.asarray(output.at(i)) for i in range(batch)]
        samples.append([{"dtype": str(a.dtype), "shape": list(a.shape), "values": a.astype(object).ravel().tolist()} for a in arrays])
    return samples


def main(parts):
    FOLDER.mkdir(exist_ok=True)
    for make in (tfrecords, archives, arrays, record_files, databases, frames, coco):
        if not parts or make.__name__ in parts:
            make()
    known = {case["name"]: case for case in json.loads((FOLDER / "dali.json").read_text())} if parts else {}
    cases = []
    for name, (batch, body, *other) in CASES.items():
        if name in known and (known[name]["batch"], known[name]["body"]) == (batch, body):
            cases.append(known[name])
            continue
        try:
            cases.append({"name": name, "batch": batch, "body": body, "outputs": dali_reads(batch, *other or [body])})
            if name == "coco_pixels":
                drawn_masks(cases[-1]["outputs"][3])
        except (RuntimeError, TypeError) as error:
            print(f"{name}: DALI says {str(error)[-300:]}")
    (FOLDER / "dali.json").write_text(json.dumps(cases, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
