#!/usr/bin/env python3
"""Time to draw 20 objects with labels on a 1080p frame of NV12, on one core: npuoverlay, also with a map of the whole frame
under them, beside GStreamer's own objectdetectionoverlay, if it is there (1.26). Takes turns, and prints one JSON line.

usage: GST_PLUGIN_PATH=... overlay_cost.py BUILD/bench [--rounds N] [--calls N] >> results.jsonl
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

# Name: element and options of overlay_side.
SIDES = {"npuoverlay": ["npuoverlay"], "npuoverlay, class map": ["npuoverlay", "--map", "classes"],
         "npuoverlay, value map": ["npuoverlay", "--map", "values"], "objectdetectionoverlay": ["objectdetectionoverlay"]}


def is_there(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.0", element], check=False).returncode == 0


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sides = [name for name, (element, *_) in SIDES.items() if is_there(element)]
    medians, best, changed = {}, {}, {}
    for turn in range(options.rounds):
        for name in sides[turn % len(sides):] + sides[:turn % len(sides)]:
            found = run(options.folder / "overlay_side", *SIDES[name], "--calls", options.calls)
            medians.setdefault(name, []).append(statistics.median(found["times"]))
            best[name] = min(best.get(name, float("inf")), *found["times"])
            changed[name] = found["changed"]
    first = medians["npuoverlay"]
    print(json.dumps({"case": "overlay_cost", "unit": "ms", "rounds": options.rounds, "calls": options.calls,
                      "sides": [{"name": name, "median": statistics.median(of), "best": best[name], "changed_bytes": changed[name],
                                 "ratio": statistics.median(a / b for a, b in zip(of, first))} for name, of in medians.items()]}))


if __name__ == "__main__":
    main()
