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
import share

HERE = Path(__file__).parent
ALL = cases.load()
# "reason": [names]; a name that ends in * stands for all that begin so.
KNOWN = json.loads((HERE / "known.json").read_text())
NAMES = HERE.parents[1] / "galatea" / "dali" / "names.json"
OPERATORS = json.loads(NAMES.read_text())["functions"]


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


RUN = ALL if share.IS_WHOLE else share.chosen(ALL, OPERATORS)
FILES = sorted({name.partition(".")[0] for name in RUN})


def test_every_case_was_recorded(recorded):
    assert set(ALL) == set(recorded)
    assert len(ALL) >= 6000


def test_every_known_difference_is_a_case():
    for names in KNOWN.values():
        for one in names:
            pattern = re.escape(one).replace(r"\*", ".*")
            assert any(re.fullmatch(pattern, name) for name in ALL), one


def test_a_share_has_every_function_and_every_operator():
    part = share.chosen(ALL, OPERATORS)
    assert part <= set(ALL) and len(part) < len(ALL) / 2
    assert {share.function_of(name) for name in part} == {share.function_of(name) for name in ALL}
    about = [set().union(*(share.operators_of(name, OPERATORS) for name in x)) for x in (part, ALL)]
    assert about[0] == about[1]
    assert len(about[0]) >= 80


def problem_of(name, ours, theirs):
    """What is wrong with a result; None: nothing."""
    if ours.get("error") in ("Crash", "Timeout"):
        return f"{name}: {ours}"
    if theirs.get("error") in ("Crash", "Timeout"):
        return None  # DALI's own fault: ours must end, as it did
    is_equal = compare.same(ours, theirs)
    reason = reason_of(name)
    if reason is None:
        return None if is_equal else f"{name}: DALI gave {theirs}, galatea {ours}"
    return f"{name}: equal now, though known.json says: {reason}" if is_equal else None


# One test for each file: of one for each case, pytest itself would take an eighth of the suite.
@pytest.mark.parametrize("file", FILES)
def test_cases_of(file, recorded, server):
    names = sorted(name for name in RUN if name.startswith(f"{file}."))
    problems, skipped = [], []
    for name in names:
        theirs = recorded[name]
        ours = theirs if "skipped" in theirs else server.run(name, place_of(name))
        if "skipped" in ours:
            skipped.append(f"{name}: {ours['skipped']}")
        elif problem := problem_of(name, ours, theirs):
            problems.append(problem)
    assert not problems, "\n".join([*problems, "(one case by itself: compare.py NAME)"])
    if skipped:
        pytest.skip(f"{len(skipped)} of {len(names)} cases, the others ran; {skipped[0]}")
