"""Readers on data of every form: odd names, odd archives, odd annotations, parts, refused values."""

import io
import json
import tarfile

from . import case, each
from .readers import RECORDED, arrays, caffe, coco, recordio, tfrecord


def read(m, make, batches=1, batch_size=3):
    """What a reader gives, or "error"."""

    def body():
        outputs = make()
        return tuple(outputs) if isinstance(outputs, list) else outputs

    try:
        pipe = m.pipeline_def(batch_size=batch_size, num_threads=1, device_id=None)(body)()
        pipe.build()
        return [m.plain(pipe.run()) for _ in range(batches)]
    except Exception:
        return "error"


def all_of(m, make, forms, **options):
    """{form: what the reader gives with it}."""
    return {str(form): read(m, lambda form=form: make(form), **options) for form in forms}


NAMES = (
    "with space.jpg|ünï.jpg|日本.png|new\nline.jpg|UPPER.JPG|Mixed.JpEg|.hidden.jpg|noext|a.b.bmp|"
    "end .jpg| lead.jpg|[br].jpg|star*.jpg|q?.jpg|{a,b}.jpg|-dash.jpg|~t.tif|a.jpg.bak|x.WEBP|"
    "y.flac|p.pgm|p.jp2|z.npy|%20.jpg"
).split("|")


def odd_folder(m):
    root = m.path("odd")
    for i, name in enumerate(NAMES):
        path = root / ("c 1" if i % 3 else "Z") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([i]))
    for name in (".dot/h.jpg", "a/1.jpg", "_/1.jpg", "gap/no.txt", "é/e.jpg", "a/deep/2.jpg"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (root / "in the root.jpg").write_bytes(b"root")
    return str(root)


FILTERS = (
    ["*"],
    ["*.jpg"],
    ["*.JPG"],
    ["?.jpg", "[a-m]*.bmp"],
    ["*.jpg", "*.jpg"],
    ["*[!g]"],
    ["\\**"],
    [".*"],
    ["new*"],
    [""],
    [],
)


@each(False, True)
def filters_of_files(m, is_sensitive):
    root = odd_folder(m)
    return all_of(
        m,
        lambda form: m.fn.readers.file(
            file_root=root, file_filters=form, case_sensitive_filter=is_sensitive
        ),
        FILTERS,
        batch_size=30,
    )


@each(False, True)
def filters_of_folders(m, is_sensitive):
    root = odd_folder(m)
    return all_of(
        m,
        lambda form: m.fn.readers.file(
            file_root=root, dir_filters=form, case_sensitive_filter=is_sensitive
        ),
        (["a"], ["z"], ["*"], ["c*"], ["?"], [".*"], ["a", "_"], ["é"], ["none"], []),
        batch_size=30,
    )


LISTS = (
    "a/000.jpg 5\r\nb/002.jpg 7\r\n",
    "\n\n  a/000.jpg   5  \n\t\nb/002.jpg\t7",
    "a/000.jpg 007\na/000.jpg 8\n",
    "a/000.jpg -1\n",
    "a/000.jpg\n",
    "a/000.jpg 1.5\n",
    "a/000.jpg 1 2\n",
    "a/000.jpg 2147483647\n",
    "123\n",
    "\n\n",
    "",
    "none.jpg 1\n",
    "a/000.jpg +1\n",
)


@case
def lists_of_files(m):
    root, path = m.files(4), m.path("list.txt")

    def reader(text):
        path.write_text(text)
        return m.fn.readers.file(file_root=root, file_list=str(path))

    return all_of(m, reader, LISTS)


@case
def names_of_files(m):
    root = odd_folder(m)
    names = ["Z/with space.jpg", "Z/new\nline.jpg", "Z/star*.jpg", "c 1/{a,b}.jpg", "a/../a/1.jpg"]
    forms = {
        "odd": {"files": names},
        "absolute": {"files": [f"{root}/a/1.jpg"], "labels": [-3]},
        "largest label": {"files": ["a/1.jpg"], "labels": [2**31 - 1]},
        "label too large": {"files": ["a/1.jpg"], "labels": [2**31]},
        "no label": {"files": ["a/1.jpg"], "labels": []},
        "none": {"files": []},
        "folder": {"files": ["a"]},
        "missing": {"files": ["nothing"]},
    }
    return all_of(m, lambda form: m.fn.readers.file(file_root=root, **forms[form]), forms)


def archive(m, members, form=tarfile.USTAR_FORMAT):
    path = m.path(f"{len(list(m.path('.').glob('*.tar')))}.tar")
    with tarfile.open(path, "w", format=form) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if content is None:
                info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.SYMTYPE
                info.linkname = "a.jpg"
                tar.addfile(info)
                continue
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return str(path)


def pairs(text):
    return [(name, name.encode()) for name in text.split()]


ARCHIVES = {
    "missing": pairs("a.jpg a.cls b.cls c.jpg d.txt e.jpg e.cls"),
    "repeated": [
        *pairs("a.jpg a.cls b.jpg"),
        ("a.jpg", b"again"),
        ("b.jpg", b"1"),
        ("b.jpg", b"2"),
    ],
    "nested": pairs("x/a.jpg x/a.cls y/a.jpg x.y/a.jpg ./z/a.jpg /abs/a.jpg"),
    "links": [("a.jpg", b"a"), ("a.cls", b"1"), ("dir/", None), ("l.jpg", None), ("b.jpg", b"b")],
    "hidden": pairs("a.jpg .jpg d/.hid.jpg .hid.jpg b.jpg"),
    "unicode": pairs("ü日.jpg ü日.cls é.jpg"),
    "none": pairs("a.txt b.txt"),
}


@each(**ARCHIVES)
def archives(m, members):
    path = archive(m, members, tarfile.GNU_FORMAT)
    return all_of(
        m,
        lambda form: m.fn.readers.webdataset(
            paths=path, ext=["jpg", "cls"], missing_component_behavior=form
        ),
        ("", "empty", "skip", "error", "Skip", "other"),
        batch_size=7,
    )


@case
def long_names_in_archives(m):
    members = [(f"d/{'n' * 150}{i}.jpg", bytes([i])) for i in range(3)]
    path = archive(m, members, tarfile.GNU_FORMAT)
    return read(m, lambda: m.fn.readers.webdataset(paths=path, ext="jpg"))


@each(True, False)
def extensions(m, is_sensitive):
    path = archive(m, pairs("a.jpg a.png b.png c.jpeg d.JPG d.Cls e.seg.png e.png"))
    return all_of(
        m,
        lambda form: m.fn.readers.webdataset(
            paths=path, ext=form, case_sensitive_extensions=is_sensitive
        ),
        ("jpg", "jpg;png", "png;jpg", "JPG", ["jpg;jpeg", "cls"], ["png", "seg.png"], "jpg;", []),
        batch_size=5,
    )


TYPES = "UINT8 INT8 UINT16 INT16 UINT32 INT32 UINT64 INT64 FLOAT16 FLOAT FLOAT64 BOOL".split()


@case
def types_of_components(m):
    path = archive(m, [("a.x", bytes(range(16)))])
    odd = archive(m, [("a.x", b"12345")])
    found = all_of(
        m,
        lambda form: m.fn.readers.webdataset(paths=path, ext="x", dtypes=getattr(m.types, form)),
        TYPES,
        batch_size=1,
    )
    reader = m.fn.readers.webdataset
    found["odd"] = read(m, lambda: reader(paths=odd, ext="x", dtypes=m.types.INT32))
    found["two"] = read(m, lambda: reader(paths=path, ext="x", dtypes=[m.types.INT32] * 2))
    return found


@case
def archive_cut_off_in_a_block(m):
    path = archive(m, pairs("a.jpg a.cls b.jpg b.cls"))
    with open(path, "r+b") as file:
        file.truncate(512 * 5 + 100)
    return read(m, lambda: m.fn.readers.webdataset(paths=path, ext=["jpg", "cls"]))


COCO = (
    {},
    {"ltrb": True},
    {"ratio": True, "ltrb": True},
    {"skip_empty": True},
    {"size_threshold": 0.0},
    {"size_threshold": 12.5},
    {"size_threshold": 1000.0, "skip_empty": True},
    {"include_iscrowd": False},
    {"avoid_class_remapping": True},
    {"image_ids": True},
    {"save_img_ids": True},
    {"polygon_masks": True},
    {"polygon_masks": True, "ratio": True},
    {"masks": True},
    {"masks": True, "image_ids": True, "ratio": True},
    {"masks": True, "pixelwise_masks": True},
    {"polygon_masks": True, "pixelwise_masks": True},
    {"images": ["none.png"]},
    {"skip_cached_images": True},
)


@case
def coco_with_options(m):
    """Everything but the bytes of the images."""
    paths = {
        "file_root": str(RECORDED / "images"),
        "annotations_file": str(RECORDED / "coco.json"),
    }
    return all_of(m, lambda form: m.fn.readers.coco(**paths, **form)[1:], COCO)


IMAGE = {"id": 7, "width": 8, "height": 10, "file_name": "a"}
OBJECT = {"id": 1, "image_id": 7, "category_id": 3, "iscrowd": 0, "bbox": [1.5, 2, 3, 4.25]}


def without(item, key):
    return {name: value for name, value in item.items() if name != key}


ANNOTATIONS = {
    "largest_id": ([{**IMAGE, "id": 2**31 - 1}], [{**OBJECT, "image_id": 2**31 - 1}]),
    "no_box": ([IMAGE], [without(OBJECT, "bbox"), OBJECT]),
    "no_crowd": ([IMAGE], [without(OBJECT, "iscrowd")]),
    "three_numbers": ([IMAGE], [{**OBJECT, "bbox": [1, 2, 3]}]),
    "five_numbers": ([IMAGE], [{**OBJECT, "bbox": [1, 2, 3, 4, 5]}]),
    "other_image": ([IMAGE], [{**OBJECT, "image_id": 8}]),
    "image_twice": ([IMAGE, IMAGE], [OBJECT]),
    "id_of_a_float": ([{**IMAGE, "id": 7.0}], [OBJECT]),
    "id_of_a_text": ([{**IMAGE, "id": "7"}], [OBJECT]),
    "nothing": ([], []),
    "no_objects": ([IMAGE], []),
}


@each(**ANNOTATIONS)
def annotations(m, what):
    images, objects = what
    path = m.path("annotations.json")
    m.path("a").write_bytes(b"bytes")
    categories = [{"id": 9}, {"id": 3}]
    path.write_text(
        json.dumps({"annotations": objects, "images": images, "categories": categories})
    )
    paths = {"file_root": str(m.path(".")), "annotations_file": str(path)}
    return read(m, lambda: m.fn.readers.coco(image_ids=True, **paths), batch_size=2)


PARTS = (
    {"roi_start": [1, 1, 1]},
    {"roi_start": [1]},
    {"roi_start": [1, 1]},
    {"roi_start": [0, 1, 1], "roi_end": [2, 3, 4]},
    {"roi_start": [0, 1, 1], "roi_shape": [2, 2, 2]},
    {"rel_roi_start": [0.25, 0.3, 0.1], "rel_roi_end": [0.75, 0.8, 0.9]},
    {"rel_roi_start": [0.3, 0.3, 0.3], "rel_roi_shape": [0.5, 0.5, 0.5]},
    {"rel_roi_start": [0.1, 0.2, 0.5], "roi_shape": [1, 2, 1]},
    {"roi_start": [1, 2], "roi_axes": [2, 0]},
    {"roi_start": [1, 2], "roi_shape": [1, 1], "roi_axes": [-1, 0]},
    {"roi_start": [1], "roi_axes": [3]},
    {"roi_start": [1, 1], "roi_axes": [0, 0]},
    {"roi_axes": [0]},
    {"roi_start": [-1, -1, -1], "roi_end": [4, 5, 6]},
    {"roi_start": [2, 2, 2], "roi_end": [1, 1, 1]},
    {"roi_start": [1, 1, 1], "roi_end": [1, 1, 1]},
    {"roi_start": [5, 5, 5], "roi_end": [7, 7, 7]},
    {"roi_shape": [-1, 1, 1]},
    {"roi_end": [2, 2, 2], "roi_shape": [1, 1, 1]},
    {"rel_roi_end": [1.5, 1.0, 1.0]},
)


@each("error", "pad", "trim_to_shape")
def parts_of_arrays(m, policy):
    m.np.save(m.path("part.npy"), m.np.arange(60, dtype="int16").reshape(3, 4, 5))
    return all_of(
        m,
        lambda form: m.fn.readers.numpy(
            files=[str(m.path("part.npy"))], out_of_bounds_policy=policy, fill_value=-7.5, **form
        ),
        PARTS,
        batch_size=1,
    )


@each("uint8", "int8", "uint64", "float16", "float64", "bool")
def fill_values(m, dtype):
    m.np.save(m.path("part.npy"), m.np.arange(6).astype(dtype).reshape(2, 3))
    return all_of(
        m,
        lambda form: m.fn.readers.numpy(
            files=[str(m.path("part.npy"))],
            roi_start=[-1, 0],
            out_of_bounds_policy="pad",
            fill_value=form,
        ),
        (0.0, -1.5, 300.0, 2.0**100),
        batch_size=1,
    )


def bytes_of_files(m, **options):
    return m.fn.readers.file(file_root=m.files(4), **options)[0]


def components(m, **options):
    path = archive(m, pairs("a.jpg b.jpg c.jpg"))
    return m.fn.readers.webdataset(paths=path, ext="jpg", **options)


VALUES = (
    *({"prefetch_queue_depth": value} for value in (0, -1, 1, 3)),
    *({"num_shards": value} for value in (-1, 1, 2)),
    {"shard_id": 1},
    {"shard_id": 1, "num_shards": 2},
    *({"initial_fill": value} for value in (-1, 0, 1, 5000)),
    *({name: True} for name in ("read_ahead", "dont_use_mmap", "lazy_init", "pad_last_batch")),
    {"skip_cached_images": True},
    {"tensor_init_bytes": 0},
    {"stick_to_shard": True, "num_shards": 2},
    {"no_such_argument": 1},
)


@each(
    **{
        one.__name__: one
        for one in (tfrecord, recordio, arrays, coco, caffe, bytes_of_files, components)
    }
)
def values_of_arguments(m, reader):
    """Which values each reader takes: what it gives is compared elsewhere."""
    return {str(form): read(m, lambda form=form: reader(m, **form)) != "error" for form in VALUES}


@each(tfrecord=tfrecord, arrays=arrays)
def past_the_cache(m, reader):
    forms = ({"use_o_direct": True}, {"use_o_direct": False, "dont_use_mmap": True})
    return {str(form): read(m, lambda form=form: reader(m, **form)) != "error" for form in forms}


@each("", "file://")
def files_by_name(m, scheme):
    m.path("named").write_bytes(b"by name")
    name = m.np.frombuffer(f"{scheme}{m.path('named')}".encode(), "uint8")
    return m.run(lambda: m.fn.io.file.read(m.feed([name, name])))


@each("", "file://")
def files_of_a_list(m, scheme):
    m.path("named.bin").write_bytes(b"by name")
    m.np.save(m.path("named.npy"), m.np.arange(6))
    names = [f"{scheme}{m.path(name)}" for name in ("named.bin", "named.npy")]
    return [
        read(m, lambda: m.fn.readers.file(files=names[:1], labels=[3])),
        read(m, lambda: m.fn.readers.numpy(files=names[1:])),
    ]


@each("pad", "PAD", "Pad", "pAd", "ERROR", "Error", "TRIM_TO_SHAPE", "Trim_to_shape", "")
def policies_by_case(m, policy):
    m.np.save(m.path("part.npy"), m.np.arange(6))
    names = [str(m.path("part.npy"))]
    part = {"out_of_bounds_policy": policy, "fill_value": 9}
    values = {"out_of_bounds_policy": policy, "fill_values": [9]}
    return [
        read(m, lambda: m.fn.readers.numpy(files=names, roi_start=[2], roi_end=[9], **part)),
        read(m, lambda: m.fn.slice(m.np.arange(6), 2, 5, axes=[0], **values)),
    ]
