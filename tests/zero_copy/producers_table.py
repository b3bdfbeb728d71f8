#!/usr/bin/env python3
"""Compares the table of docs/producers.md with what is measured here, or puts what was measured into it.

usage: producers_table.py check PAGE PROGRAM [ARGUMENTS]   run produce-table, compare
       producers_table.py merge PAGE RESULT.json...        write the results' cells into the page

A result is what produce-table prints. Its rows with an empty way (no such device there) say nothing. The table's columns named
like versions of GStreamer hold the ways. A cell that nobody has measured says so; check does not mind, and tells what to merge.
"""
import json
import os
import subprocess
import sys
from pathlib import Path


NOT_MEASURED = "not measured"


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_table(page):
    """The page's lines, the header's cells, and {producer: line number} of the table that has a column "producer"."""
    lines = page.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("|") and cells_of(line)[0] == "producer")
    rows = {}
    for number in range(start + 2, len(lines)):
        if not lines[number].startswith("|"):
            break
        rows[cells_of(lines[number])[0].replace("`", "")] = number
    return lines, cells_of(lines[start]), rows


def faults_of(page, result):
    """Where the page says something else than what was measured."""
    lines, header, rows = read_table(page)
    version, faults = result["gstreamer"], []
    if version not in header:
        return []
    for row in result["rows"]:
        name, way = row["producer"], row["way"]
        if not way:
            continue
        told = cells_of(lines[rows[name]])[header.index(version)] if name in rows else "nothing"
        if told not in (way, NOT_MEASURED):
            faults.append(f"{name} on GStreamer {version}: measured \"{way}\" ({explain(row)}), the page says \"{told}\"")
    return faults


def explain(row):
    return row.get("not_run") or f"{row['frames']} frames: {row['offered']} offered, {row['imported']} imported, {row['copied']} copied"


def contradictions_of(result):
    """Rows whose copies were seen by one count only."""
    return [f"{row['producer']}: {row['counted_bytes']} bytes were copied where the element counts {row['copied_bytes']}"
            for row in result["rows"] if (row.get("counted_bytes", 0) > 0) != (row.get("copied_bytes", 0) > 0)]


def merge(page, result):
    lines, header, rows = read_table(page)
    if result["gstreamer"] not in header:
        return page
    column = header.index(result["gstreamer"])
    for row in result["rows"]:
        if row["way"] and row["producer"] in rows:
            number = rows[row["producer"]]
            cells = cells_of(lines[number])
            cells[column] = row["way"]
            lines[number] = "| " + " | ".join(cells) + " |"
    return "\n".join(lines)


def measure(command):
    """Only the program itself gets the counter: a shell or Python would only be slower with it."""
    environment = dict(os.environ)
    if counter := environment.get("NPU_COPY_COUNTER"):
        environment["LD_PRELOAD"] = counter
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("check", "merge"):
        sys.exit(__doc__)
    page = Path(sys.argv[2])
    if sys.argv[1] == "merge":
        for name in sys.argv[3:]:
            page.write_text(merge(page.read_text(), json.loads(Path(name).read_text())))
        return
    result = measure(sys.argv[3:])
    print(json.dumps(result, indent=1))
    faults = faults_of(page.read_text(), result) + contradictions_of(result)
    measured = sum(1 for row in result["rows"] if row["way"])
    if merge(page.read_text(), result) != page.read_text() and not faults:
        print(f"cells of {page.name} could be filled with this result: producers_table.py merge")
    print("\n".join(faults) if faults else f"{page.name} tells what {measured} producers do on GStreamer {result['gstreamer']}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
