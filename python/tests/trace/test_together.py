"""`galatea.together` while tracing: the text, arms that merge, and numbers of a batch."""

import numpy as np

import galatea
from galatea import fn, types
from galatea.auto_aug.rand_augment import rand_augment
from galatea.pipeline import Pipeline
from trace_common import galatea_program  # noqa: F401


def trace(function):
    return Pipeline.trace(function, name="p", batch_size=2)


def run(pipe, **feeds):
    session = galatea._c.Session(pipe.program(), synchronous=True)
    for name, samples in feeds.items():
        session.feed(name, samples, None)
    session.end_of_feed()
    return session.next(-1)


class Detection:
    """A pipeline of methods, with an arm that moves the picture and one that does not."""

    def turned(self, t, coin):
        if coin > 0:
            t = fn.flip(t)
        else:
            t = fn.brightness(t, brightness=2.0)
        return t

    def __call__(self):
        image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
        boxes = fn.external_source(name="boxes", dtype=types.FLOAT, ndim=2)
        coin = fn.external_source(name="coin", dtype=types.INT32, ndim=0)
        labels = fn.cast(boxes[:, 0], dtype=types.INT32)
        t = galatea.together(
            image, boxes=boxes, labels=labels, points=boxes[:, :2], min_visible=0.5
        )
        t = self.turned(fn.crop(t, crop=[8, 8], crop_pos_x=0.0, crop_pos_y=0.0), coin)
        t = fn.cast_like(255 - t, t)
        return t.image, t.boxes, t.labels, t.points, t.inside, t.matrix


def test_text_and_numbers(galatea_program):
    pipe = trace(Detection())
    galatea_program.accepts(pipe)
    assert "import galatea\n" in pipe.text
    assert (
        "t.boxes" in pipe.text and "min_visible=0.5" in pipe.text and "box_format" not in pipe.text
    )
    boxes = np.float32([[1, 2, 5, 6], [7, 0, 12, 8], [4, 4, 12, 8]])
    batch = run(
        pipe,
        image=[np.full((12, 16, 3), 7, np.uint8)] * 2,
        boxes=[boxes] * 2,
        coin=[np.int32(1), np.int32(0)],
    )
    names = ["image", "boxes", "labels", "points", "inside", "matrix"]
    made = galatea.Batch(batch, names, 2)
    # The second box is cut to a fifth, the third to a half.
    flipped, kept = made["boxes"].numpy()
    np.testing.assert_allclose(flipped, [[3, 2, 7, 6], [0, 4, 4, 8]])
    np.testing.assert_allclose(kept, [[1, 2, 5, 6], [4, 4, 8, 8]])
    np.testing.assert_array_equal(np.stack(made["labels"].numpy()), [[1, 4]] * 2)
    np.testing.assert_allclose(made["points"].numpy()[0], [[7, 2], [1, 0], [4, 4]])
    np.testing.assert_array_equal(np.stack(made["inside"].numpy()), [[True] * 3] * 2)
    np.testing.assert_allclose(made["matrix"].numpy()[0], [[-1, 0, 8], [0, 1, 0], [0, 0, 1]])
    assert [np.asarray(x)[0, 0, 0] for x in made["image"].numpy()] == [248, 241]


def test_policies_and_lists_of_labels(galatea_program):
    def p():
        image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
        boxes = types.Constant([[1.0, 2.0, 9.0, 8.0]], dtype=types.FLOAT)
        one = types.Constant([1], dtype=types.INT32)
        t = galatea.together(image, mask=image, boxes=boxes, labels=[one, one * 2])
        t = rand_augment(t, n=2, m=9)
        return t.image, t.mask, t.boxes, t.labels[1]

    pipe = trace(p)
    galatea_program.accepts(pipe)
    assert "rand_augment(t" in pipe.text


def test_a_sequence(galatea_program):
    def p():
        video = fn.external_source(name="video", dtype=types.UINT8, ndim=4, layout="FHWC")
        tracks = fn.external_source(name="tracks", dtype=types.FLOAT, ndim=3)
        t = galatea.together(video, boxes=tracks, points=fn.per_frame(tracks[:, :, :2]))
        t = fn.flip(t, horizontal=fn.per_frame(types.Constant([0, 1], dtype=types.INT32)))
        t = fn.crop(t, crop=[8, 8], crop_pos_x=0.0, crop_pos_y=0.0)
        return t.image, t.boxes, t.points, t.inside

    pipe = trace(p)
    galatea_program.accepts(pipe)
    video = np.arange(2 * 12 * 16 * 3, dtype=np.uint8).reshape(2, 12, 16, 3)
    # The second object is outside of both crops, the first of the second one.
    tracks = np.float32([[[1, 2, 5, 6], [10, 1, 15, 5]], [[0, 2, 6, 6], [1, 9, 15, 11]]])
    batch = run(pipe, video=[video] * 2, tracks=[tracks] * 2)
    made = galatea.Batch(batch, ["image", "boxes", "points", "inside"], 2)
    expected = np.stack([video[0, :8, :8], video[1, :8, ::-1][:, :8]])
    np.testing.assert_array_equal(made["image"].numpy()[0], expected)
    np.testing.assert_allclose(made["boxes"].numpy()[0], [[[1, 2, 5, 6]], [[0, 0, 0, 0]]])
    np.testing.assert_allclose(made["points"].numpy()[0], [[[1, 2], [10, 1]], [[16, 2], [15, 9]]])
    np.testing.assert_array_equal(made["inside"].numpy()[0], [[True, False], [False, False]])
