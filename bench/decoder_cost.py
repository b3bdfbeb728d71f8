#!/usr/bin/env python3
"""Time to decode YOLO's [1,84,8400] on one core in a pipeline: nputensordec beside GStreamer's own yolov8tensordec (1.28), on the
same frames, and npuvision's decoder alone. Takes turns, and prints one JSON line.

usage: GST_PLUGIN_PATH=... decoder_cost.py BUILD/bench [--rounds N] [--calls N] >> results.jsonl
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from decode_yolo import CONFIDENCE, IOU, MOST, make_tensor

ELEMENTS = {
    "nputensordec": f"nputensordec model-task=detect threshold={CONFIDENCE} iou-threshold={IOU} max-detections={MOST}",
    "yolov8tensordec": f"yolov8tensordec class-confidence-threshold={CONFIDENCE} iou-threshold={IOU} max-detections={MOST}",
}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def sides_of(folder, file, calls):
    commands = {name: [folder / "decoder_side", element, file] for name, element in ELEMENTS.items()}
    commands["npuvision"] = [folder / "decode_yolo", file, "--confidence", CONFIDENCE, "--iou", IOU]
    return {name: [*command, "--calls", calls] for name, command in commands.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    times, medians, objects = {}, {}, {}
    with tempfile.NamedTemporaryFile() as file:
        file.write(make_tensor().tobytes())
        file.flush()
        sides = list(sides_of(options.folder, file.name, options.calls).items())
        for turn in range(options.rounds):
            for name, command in sides[turn % len(sides):] + sides[:turn % len(sides)]:
                found = run(*command)
                times.setdefault(name, []).extend(found["times"])
                medians.setdefault(name, []).append(np.median(found["times"]))
                objects[name] = found["objects"] if isinstance(found["objects"], int) else len(found["objects"])
    first = np.array(medians["nputensordec"])
    print(json.dumps({"case": "decoder_cost", "unit": "ms", "objects": objects, "rounds": options.rounds, "calls": options.calls,
                      "sides": [{"name": name, "median": float(np.median(of)), "p99": float(np.percentile(of, 99)),
                                 "ratio": float(np.median(np.array(medians[name]) / first))} for name, of in times.items()]}))


if __name__ == "__main__":
    main()
