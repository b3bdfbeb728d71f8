"""Every third frame of the demo clip is inferred: where nputrack draws the boxes of the frames between.

    tracking_test.py <work folder> [unittest's arguments]
"""

import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path
from statistics import mean

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
sys.path.insert(0, str(SHAPES))

import evaluate  # noqa: E402

INTERVAL = 3
SAME = 0.5     # least overlap of a box and the object that it is of
MINIMUM = 0.8  # of the mean overlap
GAIN = 0.03    # over boxes that stand still
WORK = None


def best_of(box, candidates):
    return max(candidates, key=lambda one: evaluate.iou(one, box), default=None)


def owners_of(truth, line):
    """Of an inferred frame: by identity, the true object, and the box that was found."""
    owners = {}
    for box in line["detections"]:
        best = best_of(box, [one for one in truth["objects"] if one["label"] == box["label"]])
        if best and "tracking_id" in box and evaluate.iou(best, box) >= SAME:
            owners[box["tracking_id"]] = best, box
    return owners


def overlaps_between(truth, found):
    """Of each object that was found in the inferred frame before: how far its box overlaps it (0: it has none), and how far the box that
    was found does."""
    moved, still = [], []
    owners = {}
    for index, (frame, line) in enumerate(zip(truth, found)):
        if index % INTERVAL == 0:
            owners = owners_of(frame, line)
            continue
        boxes = {box["tracking_id"]: box for box in line["detections"]}
        for identity, (before, seen) in owners.items():
            now = next((one for one in frame["objects"] if one["id"] == before["id"]), None)
            if now:
                moved.append(evaluate.iou(now, boxes[identity]) if identity in boxes else 0.0)
                still.append(evaluate.iou(now, seen))
    return moved, still


class Tracking(unittest.TestCase):
    def test_boxes_between_inferences_lie_on_the_objects(self):
        location = WORK / "tracks.jsonl"
        line = (f"gst-launch-1.0 -q filesrc location='{SHAPES / 'shapes.mp4'}' ! decodebin "
                f"! npuinfer model='{SHAPES / 'shapes.xml'}' device=software inference-interval={INTERVAL} ! nputensordec threshold=0.1 "
                f"! nputrack ! npupublish location='{location}' ! fakesink sync=false")
        print(line, flush=True)
        location.unlink(missing_ok=True)
        subprocess.run(shlex.split(line), check=True, timeout=280, env=os.environ)
        truth, found = evaluate.read_lines(SHAPES / "shapes.truth.jsonl"), evaluate.read_lines(location)
        self.assertEqual(len(truth), len(found))
        moved, still = overlaps_between(truth, found)
        print(f"{len(moved)} boxes between, mean overlap {mean(moved):.4f}, at least {MINIMUM} is asked for; boxes that stand still {mean(still):.4f}",
              flush=True)
        self.assertGreater(len(moved), 1000)
        self.assertGreaterEqual(mean(moved), MINIMUM)
        self.assertGreaterEqual(mean(moved), mean(still) + GAIN)


if __name__ == "__main__":
    WORK = Path(sys.argv.pop(1))
    unittest.main()
