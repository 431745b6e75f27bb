"""Readers of containers through `galatea.dali`: what DALI 2.4 read of the same files, recorded."""

import json
import pathlib

import numpy as np
import pytest

import galatea
import galatea.dali as dali
from galatea.dali import fn, pipeline_def, tfrecord, types

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "readers" / "recorded"
CASES = [
    case
    for name in ("dali.json", "arrays.json", "fits.json", "fits_types.json")
    for case in json.loads((FOLDER / name).read_text())
]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_they_read_what_dali_reads(case, tmp_path):
    body = case["body"].replace("@", str(FOLDER))
    script = tmp_path / "case.py"
    script.write_text("def case():\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    scope = {"fn": fn, "tfrecord": tfrecord, "types": types}
    exec(compile(script.read_text(), str(script), "exec"), scope)
    pipe = pipeline_def(scope["case"])(batch_size=case["batch"], num_threads=1, device_id=None)
    pipe.build()
    outputs = pipe.run()
    assert len(outputs) == len(case["outputs"])
    for ours, recorded in zip(outputs, case["outputs"]):
        for i, sample in enumerate(recorded):
            array = np.asarray(ours.at(i))
            expected = np.array(sample["values"], sample["dtype"]).reshape(sample["shape"])
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array, expected)


def test_a_traced_pipeline_is_text_that_reads_the_same():
    @galatea.pipeline_def(batch_size=5)
    def records():
        record = galatea.fn.readers.tfrecord(
            path=str(FOLDER / "a.tfrecord"),
            features={
                "label": galatea.tfrecord.FixedLenFeature([1], galatea.tfrecord.int64, 0),
                "image": galatea.tfrecord.FixedLenFeature((), galatea.tfrecord.string, ""),
            },
        )
        assert list(record) == ["image", "label"]
        return record["image"], record["label"]

    loader = galatea.Loader(records())
    (batch,) = list(loader)
    np.testing.assert_array_equal(np.asarray(batch[1].numpy()).ravel(), [-2, -1, 0, 1, 2])
    text = records().text
    with galatea.Loader(text) as again:
        (other,) = list(again)
        assert [len(x) for x in other[0].numpy()] == [len(x) for x in batch[0].numpy()]


def test_a_stream_of_archives_gives_the_recorded_samples():
    (recorded,) = [case for case in CASES if case["name"] == "webdataset_two"]

    @galatea.pipeline_def(batch_size=recorded["batch"])
    def archives():
        return galatea.fn.readers.webdataset(
            paths=str(FOLDER / "{plain,ustar}.tar"), ext=["jpg;JPG;png"], stream=True
        )

    samples = []
    for batch in galatea.Loader(archives()):
        samples += [np.asarray(sample).tolist() for sample in batch[0].numpy()]
    assert samples == [sample["values"] for sample in recorded["outputs"][0]]


def test_a_feature_says_what_it_is():
    assert tfrecord.FixedLenFeature([2], tfrecord.float32, 0.0) == {
        "dtype": galatea.types.FLOAT,
        "fixed": True,
        "shape": [2],
    }
    with pytest.raises(TypeError, match="int64, float32 or string"):
        tfrecord.FixedLenFeature([], types.FLOAT16, 0)
    with pytest.raises(TypeError, match="VarLenFeature"):
        tfrecord.VarLenFeature()
    assert dali.tfrecord.Feature is galatea.tfrecord.Feature
