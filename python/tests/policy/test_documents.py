"""Documents: read, refused, shown, used by loaders and pipelines."""

import json
import pickle

import numpy as np
import pytest

import galatea
from galatea import fn, pipeline_def, policy, types
from policy_common import galatea as command

ROTATE = {
    "augmentations": {"rotate": {"range": [0, 30]}, "translate_x": {"range": [0, 0.4], "param": "vec_x"}},
    "policy": {"seq": [["rotate", 0.5, 9], ["translate_x", 1, 30]]},
}  # fmt: skip

LOADS = """
from galatea import pipeline_def, fn, types, policy

@pipeline_def(batch_size=6, num_threads=2, seed=11)
def photos(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[32, 32])
    augment = policy.load("mine.json")
    return augment(image, shape=[32, 32]), label
"""


@pytest.mark.parametrize("name", policy.known())
def test_spellings_are_those_of_the_command_line(name):
    assert policy.load(name).data == json.loads(command("policy", "convert", name))


def test_a_file_a_dict_and_text_are_one_document(tmp_path):
    path = tmp_path / "mine.json"
    document = policy.load(ROTATE)
    document.save(path)
    text = path.read_text()
    assert text == document.to_json() == command("policy", "convert", path)
    assert document == policy.load(path) == policy.load(str(path)) == policy.load(text)
    assert len({document, policy.load(path)}) == 1
    assert policy.load(document) is document
    assert policy.load(path).name == "mine" and document.name == "policy"


def test_a_document_cannot_be_changed_behind_its_back():
    document = policy.load(ROTATE)
    document.data["policy"] = None
    assert document.data["policy"] == ROTATE["policy"]


def test_mistakes_are_raised_with_their_places():
    wrong = {**ROTATE, "bins": 11, "policy": {"seq": [["rotate", 2, 9], ["rotate", 3, 9]]}}
    with pytest.raises(galatea.UserError) as caught:
        policy.load(wrong)
    messages = [(d.code, d.file, d.message) for d in caught.value.diagnostics]
    assert messages[0][:2] == ("G1007", "<policy>") and len(messages) == 2
    assert "<policy>:" in str(caught.value) and "/tmp" not in str(caught.value)
    assert [d.message for d in policy.check(wrong)] == [message for _, _, message in messages]
    with pytest.raises(galatea.UserError, match="neither a policy file nor the name of a policy"):
        policy.load("image_nat")
    with pytest.raises(galatea.UserError, match="nowhere.json"):
        policy.load("nowhere.json")
    with pytest.raises(TypeError, match="a policy is a path"):
        policy.load(3)
    with pytest.raises((TypeError, ValueError), match="no policy document"):
        policy.load({"policy": {1, 2}})


def test_check_has_warnings_too():
    spare = {**ROTATE, "augmentations": {**ROTATE["augmentations"], "invert": {}}}
    (found,) = policy.check(spare)
    assert (found.severity, found.code, found.file) == ("warning", "G1013", "<policy>")
    assert policy.check("image_net") == policy.check(policy.load(ROTATE)) == []


def test_forms_and_tables():
    document = policy.load("rand_augment(n=2, m=9)")
    assert document.to("call").startswith("rand_augment(n=2, m=9")
    assert "policy.define(" in document.to("pipeline")
    with pytest.raises(galatea.UserError) as caught:
        document.to("torchvision")
    assert caught.value.code == "G1015"
    assert document.show() == command("policy", "show", "rand_augment(n=2, m=9)")
    rows = document.table()["augmentations"]
    assert sum(row["runs_per_sample"] for row in rows) == pytest.approx(2)
    assert "rotate" in document._repr_html_() and document._repr_html_().startswith("<pre>")
    changed = document.mutate(seed=7, changes=3)
    assert changed == document.mutate(seed=7, changes=3) != document
    assert document.diff(changed) and document.diff(document) == []


def test_loaders_take_documents_dicts_and_spellings(data, tmp_path):
    document = policy.load(ROTATE)
    path = tmp_path / "file.json"
    document.save(path)
    loader = galatea.Loader(
        LOADS, data=data, policies=[path, document, ROTATE, "rand_augment(n=2, m=9)"]
    )
    names = ["file", "policy", "policy-2", "rand_augment-n-2-m-9"]
    assert [name.split("/")[0] for name in loader.output_names[:4]] == names
    again = pickle.loads(pickle.dumps(loader))
    for batch, same in zip(loader, again):
        first, second, third, other = (batch[place].numpy() for place in range(4))
        assert np.array_equal(first, second) and np.array_equal(first, third)
        assert not np.array_equal(first, other)
        assert np.array_equal(other, same[3].numpy())
    with pytest.raises(galatea.UserError, match="G1006"):
        galatea.Loader(LOADS, data=data, policies=[{**ROTATE, "policy": 3}])


def test_a_traced_pipeline_holds_its_document(data):
    """Against a file that loads it: equal bits, where nothing is drawn."""
    sure = policy.load({**ROTATE, "policy": {"seq": [["rotate", 1, 9], ["translate_x", 1, 20]]}})

    @pipeline_def(batch_size=6, num_threads=2, seed=11)
    def photos(augment):
        encoded, label = fn.readers.file(file_root=data)
        image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[32, 32])
        return augment(image, shape=[32, 32]), label

    pipe = photos(sure)
    assert "policy.define(" in pipe.text
    plain = galatea.Loader(photos(lambda image, shape: image))
    loaded = galatea.Loader(LOADS, data=data, policies=[sure])
    for traced, other, untouched in zip(galatea.Loader(pipe), loaded, plain):
        assert np.array_equal(traced[0].numpy(), other[0].numpy())
        assert not np.array_equal(traced[0].numpy(), untouched[0].numpy())


def test_calling_a_document_outside_of_a_pipeline_says_so():
    with pytest.raises(galatea.TraceError, match="the policy 'policy'"):
        policy.load(ROTATE)(np.zeros((4, 4, 3), np.uint8))


def test_imports_stay_in_pipeline_files(tmp_path):
    (tmp_path / "mine.dali-dsl").write_text(
        "from galatea.auto_aug.core import augmentation\n\n"
        "@augmentation(mag_range=(0, 9))\ndef darker(data, by):\n    return data\n"
    )
    document = {
        "imports": ["mine.dali-dsl"],
        "augmentations": {"darker": {"range": [0, 9]}},
        "policy": {"seq": [["darker", 1, 3]]},
    }
    path = tmp_path / "imports.json"
    path.write_text(json.dumps({"format": "augment-policy", "version": 1, **document}))
    loaded = policy.load(path)
    assert "darker" in loaded.show()
    with pytest.raises(galatea.TraceError, match="imports files"):
        pipeline_def(lambda: loaded(fn.constant(idata=1)), batch_size=1)()
    (tmp_path / "mine.dali-dsl").unlink()
    with pytest.raises(galatea.UserError, match="mine.dali-dsl"):
        policy.load(path)


def test_costs(data):
    document = policy.load(ROTATE)
    from_file = policy.Cost(LOADS, data=data, samples=6, repeats=2)
    assert from_file(document) > 0 and from_file(ROTATE) > 0

    @pipeline_def(batch_size=6, num_threads=2, seed=11)
    def photos(augment):
        encoded, label = fn.readers.file(file_root=data)
        return augment(fn.decoders.image(encoded, output_type=types.RGB), shape=[32, 32]), label

    assert policy.Cost(lambda d: photos(d), samples=6, repeats=1)(document) > 0
    with pytest.raises(ValueError, match="1 or more"):
        policy.Cost(LOADS, samples=0)
    assert document.microseconds(data, samples=6, size=32) > 0
