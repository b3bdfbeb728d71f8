#!/usr/bin/env python3
"""Cost of tracking 200 objects on one core: npuvision's tracker alone, nputrack, and GStreamer's own ioutracker, if it is there (1.28), on
the same boxes. CPU time of the thread. Takes turns, and prints one JSON line a scene.

usage: GST_PLUGIN_PATH=... track_cost.py BUILD/bench [--rounds N] [--objects N] >> results.jsonl
"""
import argparse
import json
import os
import random
import tempfile
from pathlib import Path

import numpy as np

from track_clips import RATE, found_of
from track_quality import is_there, run

WIDTH, HEIGHT, FRAMES, WARM_UP = 1920, 1080, 120, 10
BOX = (40, 90)
# The part of the frame, each way, in which they walk: in "one place" each box overlaps nearly all others.
SCENES = {"apart": 1.0, "crowd": 0.3, "one place": 0.02}
ELEMENTS = ("nputrack", "ioutracker")


def make_many(part, count, seed=1):
    """Objects that walk at random; those that leave their part of the frame turn back."""
    rng = random.Random(seed)
    reach = (part * (WIDTH - BOX[0]) / 2, part * (HEIGHT - BOX[1]) / 2)
    walkers = [[rng.uniform(-1, 1), rng.uniform(-1, 1), rng.gauss(0, 3), rng.gauss(0, 2)] for _ in range(count)]
    clip = {"name": f"{count} objects", "rate": RATE, "width": WIDTH, "height": HEIGHT, "frames": []}
    for _ in range(FRAMES):
        truth = []
        for number, walker in enumerate(walkers):
            for way in (0, 1):
                walker[way] += walker[way + 2] / reach[way]
                if abs(walker[way]) > 1:
                    walker[way], walker[way + 2] = max(min(walker[way], 1), -1), -walker[way + 2]
            box = [WIDTH / 2 + walker[0] * reach[0] - BOX[0] / 2, HEIGHT / 2 + walker[1] * reach[1] - BOX[1] / 2, *BOX]
            truth.append({"id": str(number), "label": "person", "box": box, "confidence": rng.uniform(0.3, 1)})
        clip["frames"].append({"truth": truth, "found": found_of(truth, rng, (WIDTH, HEIGHT))})
    return clip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--objects", type=int, default=200)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for scene, part in SCENES.items():
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "clip.json"
            file.write_text(json.dumps(make_many(part, options.objects)), encoding="utf-8")
            sides = {"npuvision": [options.folder / "track_cost", file]}
            sides |= {element: [options.folder / "track_side", element, file] for element in ELEMENTS if is_there(element)}
            times = {name: [] for name in sides}
            for turn in range(options.rounds):
                order = list(sides)
                for name in order[turn % len(order):] + order[:turn % len(order)]:
                    times[name] += run(*sides[name])["times"][WARM_UP:]
        print(json.dumps({"case": "track_cost", "scene": scene, "objects": options.objects, "unit": "ms", "rounds": options.rounds, "sides": [
            {"name": name, "median": float(np.median(of)), "p99": float(np.percentile(of, 99))} for name, of in times.items()]}))


if __name__ == "__main__":
    main()
