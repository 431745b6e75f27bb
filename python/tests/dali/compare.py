"""Shows where `galatea.dali` differs from what was recorded of DALI.

python compare.py [PATTERN] [RECORDED]
"""

import json
import sys
from pathlib import Path

import cases
import run_cases


def same(ours: dict, theirs: dict) -> bool:
    """Whether a result is the one that was recorded; wording is each library's own."""
    if "error" in theirs:
        if ours.get("error") == "NotImplementedError":  # a RuntimeError, but not DALI's
            return theirs["error"] == "NotImplementedError"
        kinds = set(ours.get("also", ())) - {"Exception", "BaseException", "object"}
        return theirs["error"] in kinds | {ours.get("error")}
    return "value" in ours and _covers(ours["value"], theirs["value"])


def _covers(ours: object, theirs: object) -> bool:
    """Equality; where a case lists inputs by name, what DALI "refused" may have a result here."""
    if not isinstance(theirs, dict) or "refused" not in theirs.values():
        return ours == theirs
    if not isinstance(ours, dict) or set(ours) != set(theirs):
        return False
    return all(one == "refused" or ours[key] == one for key, one in theirs.items())


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    path = sys.argv[2] if len(sys.argv) > 2 else str(Path(__file__).parent / "recorded.json")
    recorded = json.loads(Path(path).read_text())["cases"]
    modules = cases.Modules("galatea.dali")
    equal = total = 0
    for name in cases.load():
        theirs = recorded.get(name)
        if pattern not in name or theirs is None or "skipped" in theirs:
            continue
        ours = run_cases.run(name, modules)
        total += 1
        if same(ours, theirs):
            equal += 1
            continue
        print(
            f"{name}\n  DALI    {json.dumps(theirs)[:300]}\n  galatea {json.dumps(ours)[:400]}",
            flush=True,
        )
    print(f"{equal} of {total} cases are equal")


if __name__ == "__main__":
    main()
