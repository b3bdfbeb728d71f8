#!/usr/bin/env python3
"""Prints line coverage by file of a build with -Db_coverage=true whose tests have run, least covered last.

usage: coverage.py BUILDDIR [FOLDER...]    the folders to tell of; the product's when none is given
"""
import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import rooms

TREE = Path(__file__).resolve().parent.parent
AT_ONCE = 100  # counter files a call of gcov


def reports(build):
    """What gcov says of all counters in the build. A program that was killed may have left a counter file half written."""
    counters = [str(path.resolve()) for path in sorted(Path(build).rglob("*.gcda"))]
    for start in range(0, len(counters), AT_ONCE):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", "--hash-filenames", "--relative-only", *counters[start:start + AT_ONCE]],
                           cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            for path in sorted(Path(folder).glob("*.gcov.json.gz")):
                with gzip.open(path) as file:
                    yield json.load(file)


def source_of(name, directory, folders):
    """The path in the tree, or None for what lies elsewhere."""
    path = Path(directory, name).resolve()
    if not path.is_relative_to(TREE):
        return None
    relative = path.relative_to(TREE)
    return str(relative) if relative.parts[0] in folders else None


def lines_of(build, folders):
    """File -> line -> how often it ran, over all programs that hold it."""
    counts = defaultdict(lambda: defaultdict(int))
    for report in reports(build):
        for file in report["files"]:
            source = source_of(file["file"], report["current_working_directory"], folders)
            if source:
                for line in file["lines"]:
                    counts[source][line["line_number"]] += line["count"]
    return counts


def table(counts):
    rows = []
    for source, lines in counts.items():
        run = sum(1 for count in lines.values() if count)
        rows.append((100 * run / len(lines), run, len(lines), source))
    rows.sort(key=lambda row: (-row[0], row[3]))
    text = [f"{percent:6.1f} %  {run:5} of {total:5}  {source}" for percent, run, total, source in rows]
    run, total = sum(row[1] for row in rows), sum(row[2] for row in rows)
    return text + [f"{100 * run / total:6.1f} %  {run:5} of {total:5}  all {len(rows)} files"]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    counts = lines_of(sys.argv[1], tuple(sys.argv[2:]) or rooms.PRODUCT)
    if not counts:
        sys.exit(f"coverage: no counters in {sys.argv[1]}: configure it with -Db_coverage=true and run its tests")
    print("\n".join(table(counts)))


if __name__ == "__main__":
    main()
