"""Records what black makes of sources, for tests/fmt: data/black.json.

    python3 -m venv venv && venv/bin/pip install black==26.10.1
    venv/bin/python tests/fmt/make_black.py

The sources are those of cases_black.py, the goldens of the language, and careless spellings of random programs (fixed seeds). Neither
this script nor black is needed to build or test.
"""
import ast
import json
import pathlib

import black

from black_sources import Program, careless
from cases_black import CASES

ROOT = pathlib.Path(__file__).parent
MODE = black.Mode(target_versions={black.TargetVersion.PY311}, line_length=100)
RANDOM_PROGRAMS = 130


def record(name, source, why=None):
    try:
        expected = black.format_str(source, mode=MODE)
        # What black itself does not keep stable is no oracle.
        black.assert_equivalent(source, expected)
        black.assert_stable(source, expected, mode=MODE)
    except Exception as error:  # noqa: BLE001: black gives up on some sources
        print(f"{name}: {error}")
        return None
    case = {"name": name, "source": source, "expected": expected}
    return case | ({"differs": why} if why else {})


def main():
    cases = [record(*case) for case in CASES]
    for seed in range(RANDOM_PROGRAMS):
        program = Program(seed).text(3)
        try:
            ast.parse(program)
        except SyntaxError:
            continue
        spelling = careless(program, seed, comments=seed % 2 == 0)
        if spelling:
            cases.append(record(f"random {seed}", spelling))
    cases = [case for case in cases if case]
    out = {"tool": "black", "version": black.__version__, "line_length": 100, "target": "py311", "cases": cases}
    (ROOT / "data" / "black.json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
