"""Contact sheets: the same pixels as the program draws, from every kind of source."""

import base64
import pickle
import re
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import galatea
from galatea import fn, types
from galatea.__main__ import program
from galatea.display import pictures, png
from loader_support import FED, PHOTOS, RAGGED, TIMEOUT

NODES = """
from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=4, num_threads=2, seed=11)
def nodes(data: str, size: int = 40):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    small = fn.resize(image, size=[size, size + 8])
    turned = fn.rotate(small, angle=fn.random.uniform(range=[-30.0, 30.0]), keep_size=True)
    grey = fn.color_space_conversion(turned, image_type=types.RGB, output_type=types.GRAY)
    planes = fn.crop_mirror_normalize(turned, output_layout="CHW", std=[64.0])
    return planes, grey, fn.random.normal(shape=[60]), label
"""


def decoded(*paths) -> list:
    """Pictures in files, by the library's own decoder."""
    text = f"""
from galatea import fn, pipeline_def, types

@pipeline_def(batch_size=1)
def read():
    encoded, label = fn.readers.file(files={[str(path) for path in paths]!r})
    return fn.decoders.image(encoded, output_type=types.RGB)
"""
    with galatea.Loader(text) as loader:
        return [batch[0][0].numpy().copy() for batch in loader]


def drawn_by_the_program(tmp_path, text, *options):
    (tmp_path / "pipe.dali-dsl").write_text(text)
    command = [
        program(),
        "view",
        tmp_path / "pipe.dali-dsl",
        "-o",
        tmp_path / "sheet.png",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return decoded(tmp_path / "sheet.png")[0]


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, []),
        ({"nodes": True, "samples": 3}, ["--nodes", "--samples", "3"]),
        ({"draws": 3}, ["--draws", "3"]),
        ({"size": 300, "samples": 2}, ["--set", "size=300", "--samples", "2"]),
    ],
)
def test_the_same_pixels_as_the_program(data, tmp_path, options, words):
    expected = drawn_by_the_program(tmp_path, NODES, "--set", f"data={data}", *words)
    sheet = galatea.view(NODES, data=data, **options)
    np.testing.assert_array_equal(sheet.numpy(), expected)
    sheet.save(tmp_path / "ours.png")
    np.testing.assert_array_equal(decoded(tmp_path / "ours.png")[0], expected)


MARKED = """
import galatea
from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=4, num_threads=2, seed=11)
def marked(data: str):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[50, 75])
    boxes = types.Constant([[5.0, 4.0, 30.0, 25.0], [40.0, 10.0, 74.0, 49.0], [-5.0, 30.0, 20.5, 60.0]])
    points = types.Constant([[9.0, 9.0], [74.9, 49.5], [-1.0, 3.0], [75.0, 3.0]])
    t = galatea.together(image=image, boxes=boxes, labels=types.Constant([3, 21, -2]), points=points)
    t = fn.rotate(t, angle=fn.random.uniform(range=[-30.0, 30.0]), keep_size=True)
    small = fn.resize(image, size=[14, 20])
    nothing = boxes[:0]
    shares = types.Constant([[0.5, 0.5, 0.5, 0.25], [0.2, 0.9, 0.5, 0.5]])
    kept, numbers, places, turned = t.boxes, t.labels, t.points, t.image
    return image, turned, small, boxes, kept, numbers, points, places, nothing, shares
"""


@pytest.mark.parametrize(
    "drawn, words",
    [
        ({"boxes": {"image": "boxes"}}, ["--boxes", "image=boxes"]),
        (
            {
                "boxes": {"turned": "kept", "image": ["boxes", "nothing"]},
                "labels": {"kept": "numbers"},
                "points": {"turned": "places", "image": "points"},
            },
            ["--boxes", "turned=kept", "--boxes", "image=boxes", "--boxes", "image=nothing",
             "--labels", "kept=numbers", "--points", "turned=places", "--points", "image=points"],
        ),
        (
            {"boxes": {"small": "shares"}, "box_format": "cxcywh", "relative": True},
            ["--boxes", "small=shares", "--box-format", "cxcywh", "--relative"],
        ),
        (
            {"boxes": {"image": "boxes"}, "box_format": "xywh", "draws": 2},
            ["--boxes", "image=boxes", "--box-format", "xywh", "--draws", "2"],
        ),
    ],
)  # fmt: skip
def test_marks_are_those_of_the_program(data, tmp_path, drawn, words):
    options = {"samples": 3, **drawn} if "draws" not in drawn else drawn
    if "draws" not in drawn:
        words = [*words, "--samples", "3"]
    expected = drawn_by_the_program(tmp_path, MARKED, "--set", f"data={data}", *words)
    sheet = galatea.view(MARKED, data=data, **options)
    np.testing.assert_array_equal(sheet.numpy(), expected)
    plain = galatea.view(MARKED, data=data, samples=len(sheet))
    assert not np.array_equal(plain.numpy(), expected)


def test_marks_of_batches_pages_and_frames(data, tmp_path):
    from galatea.display.marks import COLORS

    with galatea.Loader(MARKED, data=data) as loader:
        batch = loader.next_batch()
        drawn = {"boxes": {"image": "boxes"}, "labels": {"boxes": "numbers"}}
        (cell,) = galatea.view(batch["image"][1], boxes={"image": "boxes"}).cells[0]
        assert [mark.color for mark in cell.marks] == [0, 1, 2]
        sheet = galatea.view(batch, samples=1, points={"image": "points"}, **drawn)
    # On a page the picture is as large as it is shown, twice its size, and has the marks.
    (tmp_path / "one.png").write_bytes(Page(sheet._repr_html_()).pictures[0])
    (pixels,) = decoded(tmp_path / "one.png")
    assert pixels.shape == (100, 150, 3)
    np.testing.assert_array_equal(pixels[2 * 4, 40:60], [COLORS[3]] * 20)
    np.testing.assert_array_equal(pixels[18, 18], COLORS[0])  # the first point

    video = """
import galatea
from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=1)
def video():
    frames = fn.reshape(fn.zeros(shape=[6, 10, 20, 3], dtype=types.UINT8), layout="FHWC")
    still = types.Constant([[2.0, 3.0, 30.0, 8.0]])
    moving = fn.per_frame(types.Constant([[[2.0 * f, 0.0, 2.0 * f + 4.0, 5.0], [0.0] * 4] for f in range(6)]))
    points = fn.per_frame(types.Constant([[[5.0 * f + 1.0, 9.0]] for f in range(6)]))
    return frames, still, moving, points
"""
    given = {"boxes": {"frames": ["still", "moving"]}, "points": {"frames": "points"}}
    (cells,) = galatea.view(video, samples=1, **given).cells
    places = [(mark.x0 * 80, mark.y0 * 10, mark.x1 * 80) for mark in cells[0].marks]
    # Four frames of twenty columns: a box is cut off where its frame ends.
    np.testing.assert_allclose(places[:4], [(20 * f + 2, 3, 20 * f + 20) for f in range(4)])
    np.testing.assert_allclose(places[4:8], [(22 * f, 0, 22 * f + 4) for f in range(4)])
    np.testing.assert_allclose(places[8:11], [(25 * f + 1, 9, 20 * f) for f in range(3)])
    assert places[11][0] == 76 and len(places) == 12


def test_marks_that_cannot_be_drawn(data):
    for drawn, words in (
        (
            {"boxes": {"photo": "boxes"}},
            r"no output 'photo' to draw, or to draw on; the outputs are 'image'",
        ),
        ({"boxes": {"image": "kist"}}, "no output 'kist'"),
        (
            {"boxes": {"image": "points"}},
            r"'points' has the extents \(4, 2\): boxes are rows of four",
        ),
        ({"points": {"image": "boxes"}}, "points are rows of two numbers"),
        ({"labels": {"boxes": "numbers"}}, "labels names 'boxes', which boxes= does not draw"),
        ({"box_format": "ltrb"}, "box_format is 'ltrb'; it is one of xyxy, xywh, cxcywh"),
    ):
        with pytest.raises(ValueError, match=words):
            galatea.view(MARKED, data=data, samples=1, **drawn)
    with pytest.raises(TypeError, match=r"it names outputs: boxes=\{'image': 'boxes'\}"):
        galatea.view(MARKED, data=data, boxes="boxes")


def test_every_source_gives_the_same_sheet(data, tmp_path):
    @galatea.pipeline_def(batch_size=64, seed=11)
    def photos(data):
        encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
        image = fn.decoders.image_random_crop(encoded, output_type=types.RGB)
        image = fn.resize(image, size=[32, 48])
        return image, label

    text = photos(data).text
    (tmp_path / "photos.dali-dsl").write_text(text)
    with galatea.Loader(photos(data)) as loader:
        loader.next_batch()
        state = loader.state_dict()
        sheets = [
            galatea.view(text),
            galatea.view(tmp_path / "photos.dali-dsl"),
            galatea.view(photos, data=data),
            galatea.view(photos(data)),
            photos(data).view(),
            galatea.view(galatea.TextPipeline(text)),
            galatea.view(loader),
        ]
        assert loader.state_dict() == state  # it did not move
    with galatea.Loader(text) as loader:
        batch = loader.next_batch()
        sheets.append(galatea.view(batch))
        for number, output in enumerate(batch):
            (column,) = zip(*galatea.view(output).cells)
            assert [cell.caption for cell in column] == [
                row[number].caption for row in sheets[0].cells
            ]
        one = galatea.view(batch[0][2])
        np.testing.assert_array_equal(one.cells[0][0].picture, batch[0][2].numpy())
        assert one.rows == sheets[0].rows[2:3]
    assert len(sheets[0]) == 8 and sheets[0].columns == ("image", "label")
    for sheet in sheets[1:]:
        assert sheet.rows == sheets[0].rows and sheet.columns == sheets[0].columns
        np.testing.assert_array_equal(sheet.numpy(), sheets[0].numpy())


def test_nodes_have_the_lines_of_the_python_file(data):
    @galatea.pipeline_def(batch_size=2)
    def looked_at():
        encoded, _ = fn.readers.file(file_root=data)
        image = fn.decoders.image(encoded, output_type=types.RGB)
        image = fn.resize(image, size=[8, 8])
        image = fn.flip(image)
        return image

    first = looked_at.__wrapped__.__code__.co_firstlineno
    sheet = galatea.view(looked_at, nodes=True, samples=1)
    assert sheet.columns == (
        f"image = decoders.image, line {first + 3}",
        f"image = resize, line {first + 4}",
        "image",
    )
    # As outputs of a loader, too: what the sheet shows is what there is.
    with galatea.Loader(looked_at(), nodes=True) as loader:
        batch = loader.next_batch()
        _, small, flipped = [output[1].numpy() for output in batch]
    np.testing.assert_array_equal(small[:, ::-1], flipped)


def test_draws_change_what_is_drawn_and_nothing_else(data):
    with galatea.Loader(NODES, data=data) as loader:
        own = [[output.numpy().copy() for output in batch] for batch in loader]
    for draw in (0, 1):
        with galatea.Loader(NODES, data=data, draw=draw) as loader:
            for arrays, batch in zip(own, loader, strict=True):
                assert np.array_equal(arrays[3], batch["label"].numpy())
                assert np.array_equal(arrays[2], batch[2].numpy()) == (draw == 0)
    with pytest.raises(galatea.UserError, match="draw is -1"):
        galatea.Loader(NODES, data=data, draw=-1)


def test_data_from_python():
    def make(info):
        return np.full((6, 5, 3), 10 * info.idx_in_epoch + info.epoch_idx, np.uint8)

    def batches():
        for number in range(3):
            yield [np.full((4, 4), number + k / 10, np.float32) for k in range(3)]

    @galatea.pipeline_def(batch_size=3)
    def fed():
        return (
            fn.external_source(make, batch=False, dtype=types.UINT8, layout="HWC"),
            fn.external_source(batches, dtype=types.FLOAT, ndim=2),
        )

    sheet = galatea.view(fed(), samples=5)
    assert len(sheet) == 5
    assert [int(cells[0].picture[0, 0, 0]) for cells in sheet.cells] == [0, 10, 20, 30, 40]
    assert [cells[1].text.split()[0] for cells in sheet.cells] == ["0", "0.1", "0.2", "1", "1.1"]
    with galatea.Loader(fed()) as loader:
        assert galatea.view(loader, samples=4).cells[3][0].picture[0, 0, 0] == 30
        assert len(loader.next_batch()) == 2
    assert len({cells[0].picture.tobytes() for cells in galatea.view(fed(), draws=2).cells}) == 1

    @galatea.pipeline_def(batch_size=3)
    def once():
        return fn.external_source(batches(), name="numbers", dtype=types.FLOAT, ndim=2)

    with pytest.raises(ValueError, match="'numbers' is fed by an iterator, <generator"):
        galatea.view(once(), draws=2)


def test_data_from_a_host():
    with pytest.raises(ValueError, match=r"host feeds \(x\): feed a loader, and view a batch"):
        galatea.view(FED)
    with galatea.Loader(FED) as loader:
        loader.feed("x", [np.arange(n, dtype=np.int32) for n in (0, 3)])
        sheet = galatea.view(loader.next_batch())
    assert [cells[0].text for cells in sheet.cells] == ["(empty)", "1 2 3"]


def one(info):
    return np.ones(3, np.float32)


def test_what_is_wrong_is_said(data, tmp_path):
    for options in ({"samples": 0}, {"samples": True}, {"draws": -1}, {"samples": 201}):
        with pytest.raises(ValueError, match="is a number from"):
            galatea.view(PHOTOS, data=data, **options)
    with pytest.raises(galatea.UserError, match="no files found"):
        galatea.view(PHOTOS, data=tmp_path)
    with pytest.raises(galatea.UserError, match="no pipeline parameter `sampels`"):
        galatea.view(PHOTOS, data=data, sampels=3)
    with pytest.raises(TypeError, match="a loader takes a path"):
        galatea.view(3)
    with galatea.Loader(PHOTOS, data=data) as loader:
        with pytest.raises(TypeError, match="has its options already"):
            galatea.view(loader, size=3)
        batch = loader.next_batch()
        with pytest.raises(TypeError, match="takes `samples`, and what is drawn"):
            galatea.view(batch, nodes=True)

    @galatea.pipeline_def(batch_size=1)
    def fed():
        return fn.external_source(one, batch=False, dtype=types.FLOAT, ndim=1)

    with galatea.Loader(fed()) as loader, pickle.loads(pickle.dumps(loader)) as again:
        assert len(galatea.view(loader, samples=2)) == 2
        with pytest.raises(ValueError, match="unpickled has no sources to begin anew with"):
            galatea.view(again)
    sheet = galatea.view(PHOTOS, data=data, samples=1)
    with pytest.raises(ValueError, match=r"written as .png or .html, not as 'sheet.gif'"):
        sheet.save("sheet.gif")


def test_a_sheet_holds_no_batch(data):
    with galatea.Loader(RAGGED, data=data, batch_size=1, max_held_batches=2) as loader:
        sheets = [galatea.view(batch) for batch in loader]
        captions = [sheet.cells[0][0].caption for sheet in sheets]
        assert captions == [f"u8 {h}x{w}x{c} HWC" for b in loader for h, w, c in [b[0][0].shape]]


def test_the_text_of_a_sheet(data):
    lines = repr(galatea.view(NODES, data=data, samples=2)).splitlines()
    assert lines[0].startswith("<galatea sheet of nodes, 2 samples; ")
    assert len(lines) == 1 + 2 * 5 and re.match(r"sample \d+  \w+/", lines[1])
    assert re.match(r"    planes +f32 3x40x48 CHW  -?[\d.]+ … [\d.]+$", lines[2])
    assert re.match(r"    label +i32 1  \d$", lines[5])


# ------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 3), (64, 33, 3), (3, 200, 1), (50, 1, 3)])
@pytest.mark.parametrize("kind", ["noise", "ramp", "flat"])
def test_png(tmp_path, shape, kind):
    generator = np.random.default_rng(5)
    made = {
        "noise": generator.integers(0, 256, shape),
        "ramp": np.add.outer(np.add.outer(np.arange(shape[0]) * 3, np.arange(shape[1]) * 2),
                             np.arange(shape[2])) % 256,
        "flat": np.full(shape, 200),
    }[kind].astype(np.uint8)  # fmt: skip
    data = png.encoded(made)
    (tmp_path / "one.png").write_bytes(data)
    np.testing.assert_array_equal(
        decoded(tmp_path / "one.png")[0], np.broadcast_to(made, (*shape[:2], 3))
    )
    if kind != "noise" and made.size > 1000:
        assert len(data) < made.size / 4


@pytest.mark.parametrize("shape, dtype", [((2, 2, 2), "u1"), ((2, 2, 3), "f4"), ((0, 2, 3), "u1")])
def test_what_is_no_png(shape, dtype):
    with pytest.raises(ValueError, match="no picture"):
        png.encoded(np.zeros(shape, dtype))


def test_what_is_a_picture():
    grid = np.arange(24, dtype=np.uint8)
    assert pictures.picture(grid.reshape(4, 6), "") is None
    assert pictures.picture(grid.reshape(2, 4, 3), "").shape == (2, 4, 3)
    assert pictures.picture(grid.reshape(2, 4, 3).astype(np.float32), "") is None
    assert pictures.picture(grid.reshape(4, 6), "HW").shape == (4, 6, 1)
    assert pictures.picture(grid.reshape(2, 3, 4), "DHW") is None
    assert pictures.picture(np.zeros((0, 4, 3), np.uint8), "HWC") is None
    planes = grid.reshape(3, 2, 4)
    np.testing.assert_array_equal(pictures.picture(planes, "CHW")[1, 2], planes[:, 1, 2])
    # Frames side by side, four at most; the fourth channel left out; of two the first.
    frames = np.arange(6 * 2 * 3 * 3, dtype=np.uint8).reshape(6, 2, 3, 3)
    shown = pictures.picture(frames, "FHWC")
    assert shown.shape == (2, 12, 3)
    np.testing.assert_array_equal(shown[:, 3:6], frames[1])
    assert pictures.shown_as(frames, "FHWC") == "frames 0 … 3"
    four = grid.reshape(2, 3, 4)
    np.testing.assert_array_equal(pictures.picture(four, "HWC"), four[..., :3])
    two = grid.reshape(3, 4, 2)
    np.testing.assert_array_equal(pictures.picture(two, "HWC"), two[..., :1])
    assert pictures.shown_as(two, "HWC") == "channel 0"


@pytest.mark.parametrize("shape", [(500, 301, 3), (17, 900, 1), (1, 2000, 3), (160, 160, 3)])
def test_large_pictures_are_averaged(shape):
    made = np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)
    small = pictures.fit(made, 160)
    height, width, _ = small.shape
    assert max(height, width) == 160 and not np.shares_memory(small, made)
    for y, x in [(0, 0), (height - 1, width - 1), (height // 3, width // 2)]:
        rows = slice(y * shape[0] // height, (y + 1) * shape[0] // height)
        columns = slice(x * shape[1] // width, (x + 1) * shape[1] // width)
        mean = made[rows, columns].reshape(-1, shape[2]).astype(float).mean(axis=0)
        np.testing.assert_array_equal(small[y, x], np.floor(mean + 0.5))


def test_other_types_are_stretched():
    values = np.array([[-2.0, 0.0, 2.0, np.nan, np.inf]], np.float32)
    np.testing.assert_array_equal(pictures.picture(values, "HW")[0, :, 0], [0, 128, 255, 0, 0])
    assert pictures.shown_as(values, "HW") == "-2 … 2"
    np.testing.assert_array_equal(pictures.picture(np.ones((1, 1), np.int32), "HW"), [[[0]]])
    both = np.array([[False, True]])
    np.testing.assert_array_equal(pictures.picture(both, "HW")[0, :, 0], [0, 255])
    assert pictures.short_name(both.dtype) == "bool"
    nothing = np.full((1, 2), np.nan, np.float16)
    np.testing.assert_array_equal(pictures.picture(nothing, "HW")[0, :, 0], [0, 0])


# ------------------------------------------------------------------------------- pages


class Page(HTMLParser):
    """Checks that tags close in order; collects pictures and words."""

    def __init__(self, text):
        super().__init__()
        self.open, self.pictures, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.pictures.append(base64.b64decode(dict(attributes)["src"].partition("base64,")[2]))
        elif tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data.strip())


def test_the_page_of_a_sheet(data, tmp_path):
    sheet = galatea.view(NODES, data=data, samples=2, nodes=True)
    page = Page(sheet._repr_html_())
    assert {max(cells[0].picture.shape) for cells in sheet.cells} <= {208}
    shown = [cell.thumbnail for cells in sheet.cells for cell in cells if cell.picture is not None]
    assert len(shown) == len(page.pictures) == 2 * 5
    for number, pixels in enumerate(page.pictures):
        (tmp_path / f"{number}.png").write_bytes(pixels)
    for pixels, expected in zip(decoded(*(tmp_path / f"{n}.png" for n in range(10))), shown):
        assert max(expected.shape) <= 160
        np.testing.assert_array_equal(pixels, np.broadcast_to(expected, pixels.shape))
    words = " ".join(page.words)
    assert "small" in words and "resize, line 9" in words and "f32 3x40x48 CHW" in words
    sheet.save(tmp_path / "sheet.html")
    whole = (tmp_path / "sheet.html").read_text()
    assert (
        whole.startswith("<!DOCTYPE html>") and len(Page(whole.partition("\n")[2]).pictures) == 10
    )


def test_names_are_escaped():
    from galatea.display import Cell, Sheet

    sheet = Sheet("a<b", ["<i>", "é = x<y, line 3"], ["<&>"], [[Cell.of(np.zeros(3), "")] * 2])
    page = Page(sheet._repr_html_())
    assert {"a<b", "<i>", "<&>", "x<y, line 3"} <= set(page.words)
    assert sheet.numpy().shape[2] == 3  # the bitmap font has a box for what it lacks


def test_show_opens_a_page(data, monkeypatch, tmp_path, capsys):
    import tempfile
    import webbrowser

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or len(opened) == 1)
    sheet = galatea.view(PHOTOS, data=data, samples=1)
    sheet.show()
    assert opened[0].startswith(f"file://{tmp_path}/galatea-") and capsys.readouterr().out == ""
    sheet.show()  # there is no browser
    assert opened[1].removeprefix("file://") in capsys.readouterr().out
    assert all(Page(path.read_text().partition("\n")[2]).pictures for path in tmp_path.iterdir())


def test_what_objects_show(data):
    @galatea.pipeline_def(batch_size=4)
    def shown(data):
        encoded, label = fn.readers.file(file_root=data)
        image = fn.resize(fn.decoders.image(encoded), size=[8, 8])
        return image, label  # < & >

    words = " ".join(Page(shown(data)._repr_html_()).words)
    assert "8 × 8 × 3" in words and "HWC" in words and "label" in words
    loader = galatea.Loader(shown(data))
    assert "no data was read yet" in loader._repr_html_() and loader._session is None
    batch = loader.next_batch()
    page = Page(loader._repr_html_())
    assert {"delivered", "4 samples in 1 batches"} <= set(page.words)
    page = Page(batch._repr_html_())
    assert len(page.pictures) == 4 and "4 × 8 × 8 × 3" in page.words
    assert len(Page(batch["image"]._repr_html_()).pictures) == 4
    labels = batch["label"]
    assert Page(labels._repr_html_()).pictures == [] and "int32" in labels._repr_html_()
    batch.release()
    assert "closed" in Page(batch._repr_html_()).words[1] and Page(labels._repr_html_())
    loader.close()
    assert Page(loader._repr_html_())


def test_a_pipeline_that_is_wrong_shows_what(data):
    @galatea.pipeline_def(batch_size=4)
    def wrong():
        return fn.flip(fn.readers.file(file_root=data)[0], horisontal=1)

    page = Page(wrong()._repr_html_())
    assert "error[G0403]" in page.words and "did you mean `horizontal`?" in " ".join(page.words)


def test_batches_that_are_filled_up(data):
    with galatea.Loader(PHOTOS, data=data, last_batch="pad", batch_size=12) as loader:
        *_, last = loader
        assert last.num_filled
        assert len(galatea.view(last, samples=12)) == 12 - last.num_filled
        assert f"{last.num_filled} of them to fill it up" in last._repr_html_()


# ------------------------------------------------------------------------------- texts


def test_text_pipelines(data, tmp_path):
    pipe = galatea.TextPipeline(NODES, data=data, size=16)
    assert pipe.name == "nodes" and pipe.check() == []
    with galatea.Loader(pipe) as loader:
        assert loader.next_batch()[0].shape == (4, 3, 16, 24)
    with galatea.Loader(pipe, size=10) as loader:
        assert loader.next_batch()[0].shape == (4, 3, 10, 18)
    again = pickle.loads(pickle.dumps(pipe))
    assert (
        again.parameters == pipe.parameters
        and again.compile_arguments() == pipe.compile_arguments()
    )
    pipe.save(tmp_path / "saved.dali-dsl")
    assert (tmp_path / "saved.dali-dsl").read_text() == NODES
    with pytest.raises(galatea.UserError) as caught:
        galatea.TextPipeline(NODES.replace("resize", "rezise"), data=data, first_line=3)
    assert caught.value.diagnostics[0].line == 11


def test_explain(data):
    pipe = galatea.TextPipeline(NODES, data=data, size=16)
    assert "planes" in pipe.explain() and "f32[3,16,24]" in pipe.explain()
    assert "return" in pipe.explain("graph")
    with pytest.raises(galatea.UserError, match="emit"):
        pipe.explain("grph")
    table = np.arange(100, dtype=np.float32)

    @galatea.pipeline_def(batch_size=2)
    def constant():
        return fn.external_source(name="x", dtype=types.FLOAT, ndim=1) + table

    assert "x" in constant().explain("graph")


def test_a_pipeline_of_dalis_module(data):
    from galatea.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=3, num_threads=1, device_id=None, seed=4)
    def small(calls):
        encoded, label = fn.readers.file(file_root=data)
        image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[24, 32])
        if calls:
            image = fn.python_function(image, function=lambda array: array)
        return image, label

    pipe = small(False)
    sheet = galatea.view(pipe, samples=2)
    images, _ = pipe.run()
    with galatea.Loader(pipe) as loader:
        np.testing.assert_array_equal(loader.next_batch()[0].numpy(), images.as_array())
    assert sheet.numpy().shape[2] == 3 and "small" in repr(sheet)
    with pytest.raises(RuntimeError, match="functions of Python"):
        galatea.view(small(True))
