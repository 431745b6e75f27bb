"""What benchmarks print and leave behind: tables, JSON, the machine."""

import json
import os
import platform

import contest
import harness
import plot


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def counted(number, word):
    return f"{number} {word}{'' if number == 1 else 's'}"


def show_ratio(value):
    return "" if value is None else f"{value['median']:.2f} ({value['min']:.2f} - {value['max']:.2f})"


def show_difference(value):
    return "" if value is None else f"{value['mean']:.3f}, {value['largest']:.1f}"


def short_reason(text):
    """The line that says what is wrong, else the last one that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "assert")) and not line.endswith(",")]
    return (errors or lines or [""])[0 if errors else -1][:90]


def standings(everyone, limit, ours):
    """The rows of a table and its entries for JSON: every contestant against the limit and against ours."""
    compared = any(one.difference for one in everyone)
    rows = [["", "images/s", "CPU ms/image", "of the limit", "galatea is faster by"] + (["difference: mean, largest"] if compared else [])]
    entries = []
    for one in everyone:
        if one.skipped:
            rows.append([one.name, "SKIPPED", "", "", ""] + ([""] if compared else []))
            entries.append({"name": one.name, "skipped": one.skipped, "is_peer": one.is_peer})
            continue
        of_limit = contest.ratio(one, limit) if limit else None
        faster = contest.ratio(ours, one) if one.is_peer else None
        rows.append([one.name, f"{one.rate:.0f}", f"{one.cpu_ms:.3f}" if one.cpu else "", show_ratio(of_limit), show_ratio(faster)] +
                    ([show_difference(one.difference)] if compared else []))
        entries.append({"name": one.name, "is_peer": one.is_peer, "images_per_second": one.rate, "rounds": one.rates,
                        "cpu_ms_per_image": one.cpu_ms, "of_limit": of_limit, "ours_by_it": faster, "difference": one.difference,
                        "versions": one.versions})
    return rows, entries


def show(rows, entries):
    """The table, and below it why somebody is not in it."""
    print(table(rows))
    for entry in entries:
        if entry.get("skipped"):
            print(f"SKIPPED {entry['name']}: {short_reason(entry['skipped'])}")


def machine():
    model = ""
    try:
        for line in harness.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"cpu": model or platform.processor(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(), "load_at_start": os.getloadavg()[0]}


def write(name, value, charts=()):
    """build/bench/NAME.json, and NAME.svg with a group of bars for each chart: (title, [(label, value, note)])."""
    path = harness.OUT / f"{name}.json"
    path.write_text(json.dumps(value, indent=1) + "\n")
    written = [path]
    charts = [chart for chart in charts if chart[1]]
    if charts:
        path = harness.OUT / f"{name}.svg"
        path.write_text(plot.bars(name, charts))
        written.append(path)
    print("written to", " and ".join(str(path.relative_to(harness.ROOT)) for path in written))


def chart(title, entries):
    """Images per second of everyone who was measured, with how they compare."""
    bars = []
    for entry in entries:
        if "skipped" in entry:
            continue
        note = f"{entry['of_limit']['median']:.2f} of the limit" if entry.get("of_limit") else ""
        if entry.get("ours_by_it"):
            note = f"galatea is {entry['ours_by_it']['median']:.2f} × as fast"
        bars.append((entry["name"], entry["images_per_second"], note))
    return title, bars
