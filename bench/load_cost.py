#!/usr/bin/env python3
"""Cost of loading a model until its first inference: npucore against OpenVINO's NPU plugin on the same driver.

Each load runs in a process of its own (load_side), every side once a round; each round begins with the next side.
Prints JSON lines with the median and the worst of each figure (bench/README.md).

usage: load_cost.py LOAD_SIDE MODEL.xml [--what compile|import] [--rounds 5]
The environment chooses the driver: ZE_ENABLE_ALT_DRIVERS, SOFTNPU_EXEC.
"""
import argparse
import json
import os
import pathlib
import subprocess
import statistics
import sys
import tempfile

SIDES = {
    "compile": {
        "npucore": "npucore-compile",
        "npucore, helper process": "npucore-compile-helper",
        "npucore, classic": "npucore-compile-classic",
        "OpenVINO NPU plugin": "plugin-compile",
        "OpenVINO NPU plugin, classic": "plugin-compile-classic",
    },
    "import": {
        "npucore": "npucore-import",
        "OpenVINO NPU plugin, from a stream": "plugin-import-stream",
        "OpenVINO NPU plugin, mapped": "plugin-import-mapped",
    },
}
MEGABYTE = 1e6


def anonymous_at_driver_entry(trace, blobs_only):
    """Most bytes that the process held when it entered the driver to make a graph; None if the driver writes no trace, or no such number.
    blobs_only: a helper process compiles, and its lines are in the same trace."""
    most = None
    if not trace.exists():
        return None
    with open(trace, encoding="utf-8") as lines:
        for line in lines:
            call = json.loads(line)
            if blobs_only and call.get("input") != "native":
                continue
            if call["call"].startswith("pfnCreate") and "anon_bytes" in call:
                most = max(most or 0, call["anon_bytes"])
    return most


def run_child(load_side, side, file):
    """One load, with the driver's own cache off."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.jsonl"
        environment = dict(os.environ, ZE_INTEL_NPU_CACHE_DIR="", SOFTNPU_TRACE=str(trace))
        done = subprocess.run([load_side, side, file], env=environment, stdout=subprocess.PIPE, check=True, text=True)
        report = json.loads(done.stdout)
        report["anon_entry"] = anonymous_at_driver_entry(trace, side == "npucore-compile-helper")
    report["fil_ms"] = report["load_ms"] + report["first_ms"]
    return report


def measure(load_side, sides, file, rounds):
    names = list(sides)
    reports = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            report = run_child(load_side, sides[name], file)
            if turn > 0:  # the first round warms the page cache
                reports[name].append(report)
    return reports


def require_equal_outputs(reports):
    hashes = {name: sorted({report["output_hash"] for report in all_of}) for name, all_of in reports.items()}
    if len({value for values in hashes.values() for value in values}) != 1:
        sys.exit(f"the outputs differ: {hashes}")


def line_of(case, unit, reports, figure):
    sides = []
    for name, all_of in reports.items():
        values = [figure(report) for report in all_of]
        if None in values:
            return None
        sides.append({"name": name, "median": statistics.median(values), "p99": max(values)})
    return {"case": case, "unit": unit, "rounds": len(next(iter(reports.values()))), "sides": sides}


def figures(what):
    latency = "feil" if what == "compile" else "fil"
    return [
        (latency, "ms from the file to the first result", lambda report: report["fil_ms"]),
        ("open", "ms until the device is open", lambda report: report["open_ms"]),
        ("anon_entry", "MB anonymous at the driver's entry, all of the process",
         lambda report: None if report["anon_entry"] is None else report["anon_entry"] / MEGABYTE),
        ("anon_entry_own", "MB anonymous at the driver's entry, since the device was opened",
         lambda report: None if report["anon_entry"] is None
         else (report["anon_entry"] - report["anon_opened"]) / MEGABYTE),
        ("anon_loaded_own", "MB anonymous once loaded, since the device was opened",
         lambda report: (report["anon_loaded"] - report["anon_opened"]) / MEGABYTE),
        ("anon_peak", "MB anonymous at most", lambda report: report["anon_peak"] / MEGABYTE),
        ("peak", "MB resident at most, files included", lambda report: report["peak"] / MEGABYTE),
    ]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("load_side", type=lambda path: str(pathlib.Path(path).resolve()))
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("--what", choices=sorted(SIDES), default="import")
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    sides = dict(SIDES[options.what])
    no_plugin = subprocess.run([options.load_side, "why-no-plugin"], stdout=subprocess.PIPE, check=True,
                               text=True).stdout.strip()
    skipped = {name: no_plugin for name in sides if no_plugin and "OpenVINO" in name}
    for name in skipped:
        del sides[name]
    file = options.model
    if options.what == "import":
        subprocess.run([options.load_side, "export", file], check=True)
        file = file.with_suffix(".blob")
    reports = measure(options.load_side, sides, file, options.rounds)
    require_equal_outputs(reports)
    for name, unit, figure in figures(options.what):
        line = line_of(f"{options.what}_{name}", unit, reports, figure)
        if line:
            line["file_bytes"] = file.with_suffix(".bin").stat().st_size if options.what == "compile" else file.stat().st_size
            line["skipped"] = skipped
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
