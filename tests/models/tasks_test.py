"""The models of other tasks in the pipeline: what they say of the clip, against the scene that it was drawn from.

    tasks_test.py <folder of models/shapes/tasks.py> <work folder> [unittest's arguments]
"""

import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

MODELS = Path(__file__).resolve().parents[2] / "models"
SHAPES, DIGITS = MODELS / "shapes", MODELS / "digits"
sys.path.insert(0, str(SHAPES))

import evaluate  # noqa: E402
import evaluate_tasks  # noqa: E402

EXPORTS = WORK = None


def run(name, clip, model, filters=""):
    """npupublish's lines, with nothing but model= set."""
    location = WORK / f"{name}.jsonl"
    location.unlink(missing_ok=True)
    line = (f"gst-launch-1.0 -q filesrc location='{clip}' ! decodebin {filters} ! npuinfer model='{model}' device=software "
            f"! nputensordec ! npupublish location='{location}' ! fakesink sync=false")
    print(line, flush=True)
    subprocess.run(shlex.split(line), check=True, timeout=280, env=os.environ)
    return evaluate.read_lines(location)


class Tasks(unittest.TestCase):
    def measured(self, task, least):
        """One number a shape of the clip that was found, of which there must be this many."""
        lines = run(task, SHAPES / "shapes.mp4", EXPORTS / f"shapes_{task}_openvino_model" / f"shapes_{task}.xml")
        numbers = evaluate_tasks.measure(task, evaluate.read_lines(SHAPES / "shapes.truth.jsonl"), lines)
        print(f"{task}: {numbers.size} shapes, median {np.median(numbers):.4f}", flush=True)
        self.assertGreaterEqual(numbers.size, least)
        return numbers

    def test_masks_cover_the_shapes(self):
        overlaps = self.measured("segment", 1000)
        self.assertGreater(np.median(overlaps), 0.92)

    def test_key_points_are_the_corners_of_squares(self):
        parts_of_a_side = self.measured("pose", 300)
        self.assertLess(np.median(parts_of_a_side), 0.04)

    def test_turned_boxes_have_the_turn_of_squares(self):
        radians = self.measured("obb", 300)
        self.assertLess(np.median(radians), 0.03)


class Digits(unittest.TestCase):
    def test_every_line_is_read(self):
        truth = evaluate.read_lines(DIGITS / "meter.truth.jsonl")
        lines = run("digits", DIGITS / "meter.mp4", DIGITS / "digits.xml", "! videocrop left=72 right=72 top=72 bottom=72")
        read = [[one["label"] for one in line["classifications"]] for line in lines]
        self.assertEqual(read, [[frame["text"]] for frame in truth])


if __name__ == "__main__":
    EXPORTS, WORK = (Path(argument) for argument in sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main(verbosity=2)
