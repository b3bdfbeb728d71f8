#!/usr/bin/env python3
"""Counts what a frame asks of the heap: nothing in npucore, and at most five times in the element with its metadata.

What GStreamer and the driver ask for is theirs.

usage: allocations_test.py COUNTER RUN MODEL
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = {"npucore": 0, "element": 5}
LIBRARIES = {"libnpucore": "npucore", "libgstnpu": "element"}
FRAMES = 60
GROWTH = FRAMES // 10  # of queues and caches, which find their size within a few frames


def allocations(counter, run, path, model):
    """How often each module asked for memory in FRAMES frames."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "allocations"
        env = {**os.environ, "LD_PRELOAD": counter, "HEAP_AUDIT": str(report)}
        subprocess.run([run, path, str(FRAMES), model], env=env, check=True, timeout=120)
        lines = [line.split(" ", 1) for line in report.read_text().splitlines()]
    return [(module, int(count)) for count, module in lines]


def check(counter, run, path, model):
    """Whether a frame that goes in this way asks for little enough."""
    sums = dict.fromkeys(MOST, 0)
    for module, count in allocations(counter, run, path, model):
        print(f"{path}: {count / FRAMES:5.2f}  {module}")
        for start, who in LIBRARIES.items():
            sums[who] += count if module.startswith(start) else 0
    for who, most in MOST.items():
        print(f"{path}: {who} {sums[who] / FRAMES:.2f} a frame, at most {most} may be")
    if sums["element"] == 0:
        print(f"{path}: not even the element was seen: is the counter preloaded?")
        return False
    return all(sums[who] <= most * FRAMES + GROWTH for who, most in MOST.items())


def main():
    counter, run, model = sys.argv[1:]
    results = [check(counter, run, path, model) for path in ("offered", "imported")]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
