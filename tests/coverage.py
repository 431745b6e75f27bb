#!/usr/bin/env python3
"""Line coverage of a folder of sources: coverage.py BUILD_FOLDER SOURCE_FOLDER LEAST_PERCENT.

Reads what gcc's instrumented tests left beside the object files, prints each source with its share of executed lines and the lines that no test
reaches. Ends with status 1 where all files together stay under the least percentage, or where no test reaches a place that reports a diagnostic
(one that names a `Message::k…`).
"""

import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def read_counts(build, folder, root):
    """{source: {line: executions}} of the sources below the folder."""
    data = [path.resolve() for path in sorted(build.glob("**/*.gcda"))]
    if not data:
        sys.exit(f"coverage: no test has run in {build}")
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["gcov", "--json-format", "--hash-filenames", *map(str, data)], cwd=work, check=True, stdout=subprocess.DEVNULL)
        for report in pathlib.Path(work).glob("*.gcov.json.gz"):
            document = json.load(gzip.open(report))
            for file in document["files"]:
                source = (pathlib.Path(document["current_working_directory"]) / file["file"]).resolve()
                if not source.is_relative_to(root / folder):
                    continue
                for line in file["lines"]:
                    counts[source][line["line_number"]] += line["count"]
    return counts


def ranges(lines):
    """1, 2, 3, 7 as 1-3, 7."""
    out = []
    for line in lines:
        if out and line == out[-1][1] + 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def unreached_reports(source, lines):
    """(line, text) of the places that name a message and are never executed."""
    found = []
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if not re.search(r"\bMessage::k[A-Z]", text):
            continue
        # A call over several lines may be counted at its first one.
        counted = next((line for line in range(number, number - 4, -1) if line in lines), None)
        if counted is not None and lines[counted] == 0:
            found.append((number, text.strip()))
    return found


def main():
    build, folder, least = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    root = pathlib.Path(__file__).resolve().parent.parent
    reached = total = 0
    reports = []
    for source, lines in sorted(read_counts(build, folder, root).items()):
        missed = [line for line, count in sorted(lines.items()) if count == 0]
        reached += len(lines) - len(missed)
        total += len(lines)
        reports += [(source.relative_to(root), *report) for report in unreached_reports(source, lines)]
        print(f"{100 * (1 - len(missed) / len(lines)):6.1f} %  {source.relative_to(root)}  {ranges(missed)}")
    if total == 0:
        sys.exit(f"coverage: nothing below {folder} was built for coverage")
    percent = 100 * reached / total
    print(f"{percent:6.1f} %  {folder}: {reached} of {total} lines; at least {least:g} % are wanted")
    for source, line, text in reports:
        print(f"no test reaches {source}:{line}: {text}")
    sys.exit(0 if percent >= least and not reports else 1)


if __name__ == "__main__":
    main()
