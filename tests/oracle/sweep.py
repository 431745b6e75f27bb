#!/usr/bin/env python3
"""Runs random pipelines through DALI and through galatea.dali side by side, on the CPU, and reports how they differ.

usage: python3 tests/oracle/sweep.py [--count=2000] [--first=0] [--report=FILE] [--case=SEED] [--coverage]
Needs DALI as make_operators.py does, and galatea.dali of a build: PYTHONPATH=build/python GALATEA_BUILD=$PWD/build.

A case is a pipeline of one to five operators, typed while it is drawn (sweep_cases.py): its number is its seed. Each side is a
process of its own, since DALI may crash; one that dies begins again behind the case it died of. Status 1 if more than 1 % differ.
From 10000000 on cases are one operator each, of every element type and layout (sweep_cases.py).
--coverage runs nothing: it lists what of DALI these cases never draw (dali_facts.json, but for NOT_DRAWN).
"""
import argparse
import ast
import collections
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
LIMIT = 0.01

# What no case draws: of these operators, and of these arguments.
NOT_DRAWN = {
    "readers, video and other bytes, which the sweep does not make":
        r"(.*\.|)(readers|inputs|io)\..*|.*_reader(_resize|)|.*video.*|.*inflate|decoders\.numpy|external_source|optical_flow",
    "functions of the host": r"python_function|dump_image",
    "on GPUs alone": r"jitter|experimental\.(dilate|erode|median_blur|remap|resize)",
    "of volumes, which DALI's operator does not take": r"(fast_|)resize_crop_mirror\.(crop_d|crop_pos_z|resize_z)|.*image.*crop\.(crop_d|crop_pos_z)",
    "rotations in space, which galatea refuses": r"rotate\.axis",
}
SECONDS = 120  # of one case, after which its side counts as hanging


# ---------------------------------------------------------------------------------------------------- one side

def run_side(side, first, count, folder):
    """Writes FOLDER/SEED.SIDE for each case: ("outputs", arrays, layouts) or ("refused", words)."""
    if side == "galatea":
        import galatea.dali

        galatea.dali.install()
    from recorder import Refused, run_text
    from sweep_cases import draw

    for seed in range(first, first + count):
        case = draw(seed)
        path = os.path.join(folder, f"{seed}.{side}")
        open(path + ".begun", "w").close()
        try:
            result = ("outputs", *run_text(case.text, case.feeds))
        except Refused as refused:
            result = ("refused", str(refused))
        with open(path, "wb") as file:
            pickle.dump(result, file)


def run_all(side, first, count, folder):
    seed = first
    while seed < first + count:
        command = [sys.executable, os.path.abspath(__file__), "--side", side, f"--first={seed}",
                   f"--count={first + count - seed}", "--folder", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = seed
        while True:
            try:
                process.wait(timeout=SECONDS)
                break
            except subprocess.TimeoutExpired:
                before = done
                while done < first + count and os.path.exists(os.path.join(folder, f"{done}.{side}")):
                    done += 1
                if done == before:
                    process.kill()
                    process.wait()
                    break
        while seed < first + count and os.path.exists(os.path.join(folder, f"{seed}.{side}")):
            seed += 1
        if seed < first + count:  # it died of this one
            begun = os.path.exists(os.path.join(folder, f"{seed}.{side}.begun"))
            if not begun:
                raise RuntimeError(f"{side} does not start")
            with open(os.path.join(folder, f"{seed}.{side}"), "wb") as file:
                pickle.dump(("died", f"status {process.returncode}"), file)
            seed += 1


# ---------------------------------------------------------------------------------------------------- comparison

def difference(case, expected, got):
    """Nothing, or how two results differ: a kind, and words."""
    if expected[0] == "died":
        return None  # nothing to compare with
    if expected[0] == "refused":
        return None if got[0] != "died" else ("galatea died", got[1])
    if got[0] != "outputs":
        return ("refused: " + re.sub(r"[\d.]+", "#", got[1])[:100], got[1])
    for number, (wanted, given) in enumerate(zip(expected[1], got[1])):
        if expected[2][number] != got[2][number]:
            return "layout", f"output {number}: {got[2][number]!r} for {expected[2][number]!r}"
        for sample, (a, b) in enumerate(zip(wanted, given)):
            where = f"output {number}, sample {sample}"
            if a.dtype != b.dtype:
                return "type", f"{where}: {b.dtype} for {a.dtype}"
            if a.shape != b.shape:
                return "extents", f"{where}: {b.shape} for {a.shape}"
            if a.size == 0:
                continue
            wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
            same = (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b))
            if same.all():
                continue
            with np.errstate(invalid="ignore"):
                off = np.where(same, 0, np.abs(wide_a - wide_b))
            tolerance = case.tolerance(a)
            if not (off <= tolerance).all():
                share = np.mean(~(off <= tolerance))
                return "values", f"{where}: {share:.1%} of {a.dtype} off by up to {np.nanmax(off):g} (allowed {tolerance:g})"
    return None


def compare_all(first, count, folder, report):
    from sweep_cases import draw

    kinds = collections.defaultdict(list)
    totals = collections.Counter()
    used = collections.Counter()
    for seed in range(first, first + count):
        case = draw(seed)
        with open(os.path.join(folder, f"{seed}.dali"), "rb") as file:
            expected = pickle.load(file)
        with open(os.path.join(folder, f"{seed}.galatea"), "rb") as file:
            got = pickle.load(file)
        totals[expected[0]] += 1
        if expected[0] == "outputs":
            used.update(case.calls)
        if expected[0] == "refused":
            kinds[("", "dali refuses: " + re.sub(r"[\d.]+", "#", expected[1])[:110])].append((seed, case, expected[1]))
        found = difference(case, expected, got)
        if found is None:
            continue
        why = case.explained(found[0])
        totals["explained" if why else "differ"] += 1
        kinds[(why or "DIFFERS", found[0] + ": " + " ".join(case.calls) if found[0] in ("values", "extents") else found[0])].append(
            (seed, case, found[1]))
    lines = [f"{count} pipelines: {totals['outputs']} compared, {totals['refused']} refused by DALI, {totals['died']} crash it; "
             f"{totals['differ']} differ, {totals['explained']} on purpose"]
    for (why, kind), cases in sorted(kinds.items(), key=lambda item: (-("DIFFERS" == item[0][0]), -len(item[1]))):
        lines.append(f"\n{why or '-'} | {kind}: {len(cases)}, as {', '.join(str(seed) for seed, *_ in cases[:8])}")
        seed, case, words = cases[0]
        lines.append(f"    {words}\n    " + case.body.replace("\n", "\n    "))
    lines.append("\noperators: " + ", ".join(f"{name} {n}" for name, n in used.most_common()))
    text = "\n".join(lines) + "\n"
    if report:
        with open(report, "w", encoding="utf-8") as file:
            file.write(text)
    print(text if not report else lines[0])
    return 1 if totals["outputs"] == 0 or totals["differ"] > LIMIT * totals["outputs"] else 0


def coverage(first, count):
    """Names of operators and arguments of DALI that are in no case of these."""
    from sweep_cases import draw

    def called(function):
        parts = []
        while isinstance(function, ast.Attribute):
            parts.append(function.attr)
            function = function.value
        return ".".join(reversed(parts)) if isinstance(function, ast.Name) and function.id == "fn" else None

    drawn = set()
    for seed in range(first, first + count):
        for node in ast.walk(ast.parse(draw(seed).text)):
            if isinstance(node, ast.Call) and (name := called(node.func)):
                drawn |= {name} | {f"{name}.{keyword.arg}" for keyword in node.keywords}
    with open(os.path.join(HERE, "dali_facts.json"), encoding="utf-8") as file:
        facts = json.load(file)["operators"]
    wanted = {name for name in facts} | {f"{name}.{argument}" for name in facts if name in drawn for argument in facts[name]}
    return sorted(name for name in wanted - drawn if not any(re.fullmatch(pattern, name) for pattern in NOT_DRAWN.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--report")
    parser.add_argument("--case", type=int)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--side", choices=("dali", "galatea"))
    parser.add_argument("--folder")
    options = parser.parse_args()
    if options.side:
        run_side(options.side, options.first, options.count, options.folder)
        return 0
    if options.coverage:
        missing = coverage(options.first, options.count)
        print("\n".join(missing) or "everything is drawn")
        return 1 if missing else 0
    if options.case is not None:
        from sweep_cases import draw

        print(draw(options.case).text)
        options.first, options.count = options.case, 1
    with tempfile.TemporaryDirectory() as folder:
        for side in ("dali", "galatea"):
            run_all(side, options.first, options.count, options.folder or folder)
        return compare_all(options.first, options.count, options.folder or folder, options.report)


if __name__ == "__main__":
    sys.exit(main())
