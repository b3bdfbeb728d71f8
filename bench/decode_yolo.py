#!/usr/bin/env python3
"""Time to decode YOLO's [1,84,8400] on one core: npuvision beside a NumPy program that does the same. They must find the same.

usage: decode_yolo.py BUILD/bench/decode_yolo [--rounds N] [--calls N]; prints one JSON line
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np

CLASSES, BOXES, SIZE = 80, 8400, 640
CONFIDENCE, IOU, MOST = 0.5, 0.5, 300


def make_tensor():
    """A picture with 20 objects, each found by some neighbouring boxes."""
    random = np.random.default_rng(5)
    boxes = np.concatenate([random.uniform(0, SIZE, (BOXES, 2)), random.uniform(10, 200, (BOXES, 2))], axis=1)
    scores = random.uniform(0, 0.05, (BOXES, CLASSES))
    for label, first in zip(random.integers(0, CLASSES, 20), range(0, BOXES, BOXES // 20)):
        boxes[first:first + 6] = boxes[first] + random.normal(0, 2, (6, 4))
        scores[first:first + 6, label] = random.uniform(0.5, 1, 6)
    return np.ascontiguousarray(np.concatenate([boxes, scores], axis=1).T, np.float32)


def decode(tensor):
    scores = tensor[4:].max(0)
    chosen = np.nonzero(scores >= CONFIDENCE)[0]
    chosen = chosen[np.argsort(-scores[chosen], kind="stable")]
    labels, values = tensor[4:, chosen].argmax(0), tensor[:4, chosen].astype(np.float64)
    edges = np.concatenate([values[:2] - values[2:] / 2, values[:2] + values[2:] / 2]).T
    area = (edges[:, 2:] - edges[:, :2]).prod(1)
    kept, left = [], np.arange(len(chosen))
    while len(left) and len(kept) < MOST:
        best, left = left[0], left[1:]
        kept.append(best)
        shared = np.clip(np.minimum(edges[best, 2:], edges[left, 2:]) - np.maximum(edges[best, :2], edges[left, :2]), 0, None).prod(1)
        left = left[(shared / (area[best] + area[left] - shared) <= IOU) | (labels[left] != labels[best])]
    return np.concatenate([np.clip(edges[kept], 0, SIZE), scores[chosen][kept, None], labels[kept, None]], axis=1)


def time_numpy(tensor, calls):
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        found = decode(tensor)
        times.append((time.perf_counter() - begin) * 1000)
    return times, found


def time_npuvision(program, file, calls):
    run = subprocess.run([program, file, "--calls", str(calls), "--confidence", str(CONFIDENCE), "--iou", str(IOU)],
                         check=True, capture_output=True, text=True)
    line = json.loads(run.stdout)
    return line["times"], np.array(line["objects"])


def side(name, times):
    return {"name": name, "median": float(np.median(times)), "p99": float(np.percentile(times, 99))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    tensor = make_tensor()
    ours, numpys = [], []
    with tempfile.NamedTemporaryFile() as file:
        file.write(tensor.tobytes())
        file.flush()
        for _ in range(options.rounds):
            times, found = time_npuvision(options.program, file.name, options.calls)
            ours += times
            times, expected = time_numpy(tensor, options.calls)
            numpys += times
            if found.shape != expected.shape or not np.allclose(found, expected, atol=1e-3):
                raise SystemExit(f"npuvision finds {len(found)} objects, NumPy {len(expected)}, or others")
    print(json.dumps({"case": "decode_yolo", "unit": "ms", "objects": len(expected), "rounds": options.rounds, "calls": options.calls,
                      "sides": [side("npuvision", ours), side("NumPy", numpys)]}))


if __name__ == "__main__":
    main()
