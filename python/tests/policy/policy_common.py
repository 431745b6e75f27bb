"""What the tests of policies share: spaces, a deterministic objective, the command line."""

import json
import subprocess

TIMEOUT = 240  # seconds: minutes, against what hangs

FLAT = {
    "bins": 11,
    "augmentations": {
        "rotate": {"range": [0, {"$float": [1, 50], "log": True}], "negate": True},
        "invert": {},
        "equalize": {},
    },
    "policy": {
        "seq": [
            [{"$choice": ["equalize", "invert"]}, {"$choice": [0.5, 1]}, None],
            {"apply": "rotate", "mag": {"bin": {"$int": [0, 10]}}},
        ]
    },
}

NESTED = {
    "bins": 11,
    "augmentations": {"rotate": {"range": [0, 30]}, "invert": {}},
    "policy": {
        "seq": [
            {
                "$choice": [
                    ["rotate", 1, {"$int": [0, 10]}],
                    {
                        "apply": "rotate",
                        "p": {"$float": [0.5, 1]},
                        "mag": {"bin": {"$choice": [2, 3]}},
                    },
                    ["invert", 1, None],
                ]
            }
        ]
    },
}


def quality(document) -> float:
    """A score of FLAT's documents: best at the greatest bin and a range of 10."""
    data = document.data if hasattr(document, "data") else document
    rotate = (
        data["policy"]["seq"][1]["mag"]["bin"]
        if isinstance(data["policy"]["seq"][1], dict)
        else data["policy"]["seq"][1][2]
    )
    return rotate - abs(data["augmentations"]["rotate"]["range"][1] - 10) / 10


# The same by a command: the score of a file.
QUALITY_COMMAND = """
import json, sys
sys.path.insert(0, {folder!r})
from policy_common import quality
print(quality(json.load(open(sys.argv[1]))))
"""


def galatea(*arguments, cwd=None, status=0):
    """The program's output; checks its exit status."""
    from galatea.executable import program  # objectives of commands do without

    done = subprocess.run(
        [program(), *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, cwd=cwd
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stderr


def points(result):
    return [trial.point for trial in sorted(result.trials, key=lambda trial: trial.number)]


def journal_lines(folder):
    with open(folder / "journal.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
