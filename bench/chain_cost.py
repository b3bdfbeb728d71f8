#!/usr/bin/env python3
"""CPU cost of the whole chain for a 1080p frame of NV12 with 20 objects, on a device that computes nothing: inference, boxes, tracks,
drawing, JSON. Each element is added to those before; takes turns, on one core, and prints one JSON line.

usage: GST_PLUGIN_PATH=... ZE_ENABLE_ALT_DRIVERS=... chain_cost.py BUILD/bench/chain_side MODEL.xml [--rounds N] >> results.jsonl

MODEL.xml: a YOLO with the output [1, 4 + classes, cells], such as build/bench/yolov8n_like.xml.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ELEMENTS = ("npuinfer", "nputensordec", "nputrack", "npuoverlay", "npupublish")


def run(side, chain, *options):
    done = subprocess.run([side, chain, *map(str, options)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{chain}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def chains(model, output):
    """Name of each element -> the chain up to it."""
    arguments = {"npuinfer": f"name=infer model={model} resize-mode=letterbox", "nputensordec": "model-task=detect",
                 "npupublish": f"location={output}"}
    steps = [f"{element} {arguments.get(element, '')}".strip() for element in ELEMENTS]
    return {element: " ! ".join(steps[:count + 1]) for count, element in enumerate(ELEMENTS)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("side", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--boxes", type=int, default=20)
    options = parser.parse_args()
    os.environ["SOFTNPU_EXEC"] = "null"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    medians, best, objects = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        sides = list(chains(options.model, Path(folder, "out.jsonl")).items())
        for turn in range(options.rounds):
            first = turn % len(sides)
            for element, chain in sides[first:] + sides[:first]:
                found = run(options.side, chain, "--calls", options.calls, "--boxes", options.boxes)
                medians.setdefault(element, []).append(statistics.median(found["times"]))
                best[element] = min(best.get(element, float("inf")), statistics.median(found["times"]))
                objects[element] = found["objects"]
    expected = {element: 0 if element == "npuinfer" else options.boxes for element in ELEMENTS}
    if objects != expected:
        sys.exit(f"objects behind each element are {objects} instead of {expected}")
    print(json.dumps({"case": "chain_cost", "unit": "ms", "rounds": options.rounds, "calls": options.calls, "boxes": options.boxes,
                      "sides": [{"name": f"up to {element}", "median": statistics.median(medians[element]), "best": best[element]}
                                for element in ELEMENTS]}))


if __name__ == "__main__":
    main()
