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


# Files whose cases leave nothing behind that the next one could see: they share a process, which costs
# a third of one for each. The others start workers, feed from threads, or end in the middle.
TOGETHER = {"names", "arithmetic", "operators", "functions", "tensors", "auto_aug", "fed_arguments"}
TOGETHER |= {"pipelines", "graphs", "classes", "feeds"}


@pytest.fixture(scope="session")
def modules():
    return cases.Modules("galatea.dali")


@pytest.fixture(scope="session")
def run(modules):
    """Runs the case of a name: in the process of all that go together, or in one of its own."""
    shared = None

    def run_case(name):
        nonlocal shared
        if name.split(".")[0] not in TOGETHER:
            return run_cases.run(name, modules)
        if shared is None or shared.has_ended:
            shared = run_cases.Process(modules)
        return shared.run(name)

    yield run_case
    if shared is not None and not shared.has_ended:
        shared.end()


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
def test_case(name, recorded, run):
    theirs = recorded[name]
    if "skipped" in theirs:
        pytest.skip(f"not recorded: {theirs['skipped']}")
    ours = run(name)
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
