#!/usr/bin/env python3
"""Two workers of npucore.ray beside one, on software NPUs whose inferences only take time.

usage: SOFTNPU_EXEC=delay:20000 ray_scaling.py MODEL VIDEO [--copies N] [--rounds N]    needs the packages of npucore[ray]

Prints one JSON line: seconds of a whole run, from its start to its last file, with the cluster already there.
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import npucore.ray
import ray


def seconds(folder, model, workers):
    with tempfile.TemporaryDirectory() as output:
        begin = time.perf_counter()
        summary = npucore.ray.run([folder], output, model, device="software", workers=workers, part_seconds=1, tell=lambda text: None)
        took = time.perf_counter() - begin
    if summary.failed or summary.missing_frames:
        sys.exit(f"not all frames were inferred: {summary}")
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("video")
    parser.add_argument("--copies", type=int, default=8, help="how often the video is inferred (8)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not os.environ.get("SOFTNPU_EXEC", "").startswith("delay:"):
        sys.exit("set SOFTNPU_EXEC=delay:MICROSECONDS: computing software NPUs would share this machine's processors")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    times = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for copy in range(options.copies):
            shutil.copy(options.video, Path(folder, f"{copy}{Path(options.video).suffix}"))
        for number in range(options.rounds):
            for workers in (1, 2) if number % 2 else (2, 1):
                times[workers].append(seconds(folder, options.model, workers))
    medians = {workers: statistics.median(found) for workers, found in times.items()}
    sides = [{"name": f"workers: {workers}", "median": round(medians[workers], 2), "p99": round(max(found), 2)} for workers, found in times.items()]
    print(json.dumps({"case": "ray_scaling", "unit": "s", "exec": os.environ["SOFTNPU_EXEC"], "copies": options.copies, "rounds": options.rounds,
                      "sides": sides, "speed_up": round(medians[1] / medians[2], 3)}))


if __name__ == "__main__":
    main()
