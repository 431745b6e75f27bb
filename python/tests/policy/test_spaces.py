"""Spaces: what the program reads of them, point by point."""

import random

import galatea
import pytest
from galatea import policy
from galatea.policy import Parameter
from policy_common import FLAT, NESTED


def test_parameters_in_the_order_of_the_text():
    assert policy.Space(FLAT).parameters == (
        Parameter("augmentations.rotate.range[1]", "float", 1.0, 50.0, log=True),
        Parameter("policy.seq[0][0]", "choice", 0, 1, choices=("equalize", "invert")),
        Parameter("policy.seq[0][1]", "choice", 0, 1, choices=("0.5", "1")),
        Parameter("policy.seq[1].mag.bin", "int", 0, 10),
    )
    inner = policy.Space(NESTED).parameters
    assert [(each.path, each.parent, each.item) for each in inner] == [
        ("policy.seq[0]", None, None),
        ("policy.seq[0]#0[2]", 0, 0),
        ("policy.seq[0]#1.p", 0, 1),
        ("policy.seq[0]#1.mag.bin", 0, 1),
    ]


def filled(value, point):
    """The document at a point, by a reader of our own: `point` holds the values in order."""
    if isinstance(value, dict):
        kinds = [key for key in value if key.startswith("$")]
        if kinds:
            mine = next(point)
            if kinds[0] != "$choice":
                return mine
            items = value["$choice"]
            made = None
            for place, item in enumerate(items):  # values of the others are passed over
                other = filled(item, point)
                made = other if place == mine else made
            return made
        return {key: filled(each, point) for key, each in value.items()}
    return [filled(each, point) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("source", [FLAT, NESTED])
def test_documents_at_points(source):
    space = policy.Space(source)
    draws = random.Random(5)
    for _ in range(8):
        point = [
            (
                round(draws.uniform(each.low, each.high), 3)
                if each.kind == "float"
                else draws.randint(each.low, each.high)
            )
            for each in space.parameters
        ]
        expected = policy.load(filled(source, iter(point)))
        assert space.at(point) == expected, point


def test_points_by_path():
    space = policy.Space(NESTED)
    at = space.at({"policy.seq[0]": 1, "policy.seq[0]#1.p": 0.75, "policy.seq[0]#1.mag.bin": 1})
    assert at.data["policy"]["seq"] == [["rotate", 0.75, 3]]


def test_what_is_no_point():
    space = policy.Space(FLAT)
    with pytest.raises(ValueError, match="has 4 values, not 1"):
        space.at([1])
    with pytest.raises(ValueError, match=r"2 is no value of policy.seq\[0\]\[0\]"):
        space.at([1, 2, 0, 0])
    with pytest.raises(ValueError, match="0.5 is no value of .*: float from 1.0 to 50.0"):
        space.at([0.5, 0, 0, 0])
    with pytest.raises(ValueError, match="None is no value"):
        space.at([1, 0, None, 0])


def test_mistakes_in_spaces_are_raised(tmp_path):
    wrong = {**FLAT, "policy": {"seq": [["invert", {"$float": [2, 1]}, None]]}}
    with pytest.raises(galatea.UserError) as caught:
        policy.Space(wrong).parameters
    assert caught.value.code == "G1016" and caught.value.diagnostics[0].file == "<space>"
    with pytest.raises(galatea.UserError, match="there is nothing to search"):
        policy.search({**FLAT, **policy.load("image_net").data}, lambda document: 1)
    with pytest.raises(galatea.UserError, match="nowhere.json"):
        policy.Space(tmp_path / "nowhere.json").parameters
    with pytest.raises(TypeError, match="a space is a path"):
        policy.Space(3)
