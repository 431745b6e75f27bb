"""`galatea.dali` gives what DALI 2.4 gave (recorded.json, written by run_cases.py).

known.json holds the cases that differ on purpose, or not yet, each with its reason. A case in it
that became equal fails: it is to be taken out.
"""

import json
import re
from pathlib import Path

import cases
import compare
import pytest
import run_cases

HERE = Path(__file__).parent
ALL = cases.load()
# "reason": [names]; a name that ends in * stands for all that begin so.
KNOWN = json.loads((HERE / "known.json").read_text())


@pytest.fixture(scope="session")
def recorded():
    """{case: {"value": …} or {"error": class}} as DALI gave them."""
    return json.loads((HERE / "recorded.json").read_text())["cases"]


# Files whose cases leave nothing behind that the next one could see: they share a process, which
# costs a third of one for each. The others start workers, feed from threads, or end in the middle.
TOGETHER = (
    "names tensors tensor_methods auto_aug pipelines pipeline_forms graphs classes feeds sources "
    "functions conditionals readers operator_forms node_forms signatures iterators torch_iterators "
    "python_functions programs source_programs checkpoint_programs conditional_programs "
    "function_programs iterator_programs tensor_programs orders dynamic dynamic_states run_forms "
    "pipeline_checks source_checks iterator_checks object_checks"
).split()
# Files about what operators compute. Compiled, their kernels are most of the time of this suite.
INTERPRETED = (
    "arithmetic operators operator_inputs operand_pairs argument_forms fed_arguments "
    "operator_values media_values sounds films mistakes axes_and_extents boxes_and_masks "
    "sound_forms operand_forms error_words image_forms operator_checks value_checks refused_calls "
    "more_refused_calls"
).split()
SLOW = ("operators.canvas_of_frames",)  # of those, what takes longer than compiling it

# Of those, sources in worker processes, and cases that load a framework beside torch: behind
# tensorflow, which lends its LLVM and its protobuf to the whole process, later cases crash now and
# then.
APART = ("functions.jax", "functions.tensorflow", "sources.parallel")


def place_of(name):
    file = name.split(".")[0]
    if file in INTERPRETED and not name.startswith(SLOW):
        return run_cases.INTERPRETED
    if file in TOGETHER + INTERPRETED and not name.startswith(APART):
        return run_cases.COMPILED
    return run_cases.ALONE


def reason_of(name):
    for reason, names in KNOWN.items():
        for one in names:
            if re.fullmatch(re.escape(one).replace(r"\*", ".*"), name):
                return reason
    return None


def test_every_case_was_recorded(recorded):
    assert set(ALL) == set(recorded)
    assert len(ALL) >= 400


def test_every_known_difference_is_a_case():
    for names in KNOWN.values():
        for one in names:
            pattern = re.escape(one).replace(r"\*", ".*")
            assert any(re.fullmatch(pattern, name) for name in ALL), one


@pytest.mark.parametrize("name", sorted(ALL))
def test_case(name, recorded, server):
    theirs = recorded[name]
    if "skipped" in theirs:
        pytest.skip(f"not recorded: {theirs['skipped']}")
    ours = server.run(name, place_of(name))
    if "skipped" in ours:
        pytest.skip(ours["skipped"])
    assert ours.get("error") not in ("Crash", "Timeout"), ours
    if theirs.get("error") in ("Crash", "Timeout"):
        return  # DALI's own fault: ours must end, as it did
    is_equal = compare.same(ours, theirs)
    reason = reason_of(name)
    if reason is None:
        assert is_equal, f"DALI gave {theirs}, galatea {ours}"
    else:
        assert not is_equal, f"equal now, though known.json says: {reason}"
