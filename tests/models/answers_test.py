"""The demo models in the pipeline: what npupublish writes of frames is what answers.py computes of them without the library.

    answers_test.py <folder of models/shapes/tasks.py> <work folder> [unittest's arguments]
"""

import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

import answers
from evaluate import read_lines
from evaluate_tasks import filled

# npupublish rounds to 0.01 pixels, which is 0.005 away at most. The rest is for two runs of a model that may add in another order, as
# pre-processing is in the graph of one: scores differ by 6e-7.
PIXELS = 0.01
CONFIDENCE = 1e-3
RADIANS = 1e-3
MASK_OVERLAP = 0.99
TASKS = WORK = None


def published(name, model):
    """npupublish's lines of the model's frames, with the thresholds that answers.py takes."""
    raw, location = WORK / f"answers-{name}.rgb", WORK / f"answers-{name}.jsonl"
    location.unlink(missing_ok=True)
    frames = np.stack(model.frames())
    frames.tofile(raw)
    height, width = frames.shape[1:3]
    thresholds = {"confidence_threshold": "threshold", "iou_threshold": "iou-threshold"}
    settings = " ".join(f"{thresholds[key]}={value}" for key, value in model.options.items())
    line = (f"gst-launch-1.0 -q filesrc location='{raw}' ! rawvideoparse format=rgb width={width} height={height} framerate=30/1 "
            f"! npuinfer model='{model.path}' device=software ! nputensordec {settings} ! npupublish location='{location}' ! fakesink sync=false")
    print(line, flush=True)
    subprocess.run(shlex.split(line), check=True, timeout=280)
    return read_lines(location)


def mask_overlap(found, expected, frame):
    """Intersection over union of a mask of npupublish and one of reference.mask()."""
    one, other = (np.zeros(frame[::-1], bool) for _ in range(2))
    inner, left, top = filled(found)
    one[top:top + inner.shape[0], left:left + inner.shape[1]] = inner
    rows = np.array(list(expected["pixels"])).reshape(expected["height"], expected["width"]) == "#"
    other[expected["y"]:expected["y"] + expected["height"], expected["x"]:expected["x"] + expected["width"]] = rows
    return (one & other).sum() / (one | other).sum()


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.models = answers.models(TASKS)

    def answered(self, name):
        """Each frame's line, and the case that it is compared with."""
        model = self.models[name]
        cases = model.cases()
        self.assertGreater(len(cases), 3)
        return zip(published(name, model), cases, strict=True)

    def assert_near(self, found, expected, delta):
        self.assertEqual(np.shape(found), np.shape(expected))
        self.assertLessEqual(np.abs(np.subtract(found, expected)).max(initial=0), delta, f"{found}, but NumPy: {expected}")

    def pairs(self, name):
        """Of each frame the objects, the best first, and the whole answer."""
        for line, case in self.answered(name):
            found, expected = line["detections"], case["answer"]["objects"]
            self.assertGreater(len(expected), 0)
            self.assertEqual([box["label_id"] for box in found], [one["label_id"] for one in expected])
            self.assert_near([box["confidence"] for box in found], [one["confidence"] for one in expected], CONFIDENCE)
            self.assert_near([[box[key] for key in ("x", "y", "w", "h")] for box in found],
                             [[one["left"], one["top"], one["right"] - one["left"], one["bottom"] - one["top"]] for one in expected], PIXELS)
            yield found, case

    def test_boxes(self):
        for _ in self.pairs("detect"):
            pass

    def test_masks(self):
        for found, case in self.pairs("segment"):
            for box, mask in zip(found, case["answer"]["masks"], strict=True):
                self.assertGreaterEqual(mask_overlap(box["mask"], mask, case["frame"]), MASK_OVERLAP)

    def test_key_points(self):
        for found, case in self.pairs("pose"):
            points, expected = np.array([box["keypoints"] for box in found]), np.reshape(case["answer"]["key_points"], (-1, 4, 3))
            self.assert_near(points[..., :2], expected[..., :2], PIXELS)
            self.assert_near(points[..., 2], expected[..., 2], CONFIDENCE)

    def test_oriented_boxes(self):
        for found, case in self.pairs("obb"):
            boxes = np.array([[box["oriented"][key] for key in ("x", "y", "w", "h", "angle")] for box in found])
            expected = np.array([one["oriented"] for one in case["answer"]["objects"]])
            self.assert_near(boxes[:, :4], expected[:, :4], PIXELS)
            # Half a turn more is the same box.
            self.assert_near((boxes[:, 4] - expected[:, 4] + np.pi / 2) % np.pi, np.full(len(boxes), np.pi / 2), RADIANS)

    def test_shares_of_classes(self):
        """Each class has as many places of the map; model-decoding compares the places."""
        for line, case in self.answered("semantic"):
            (found,), expected = line["maps"], case["answer"]["class_map"]
            self.assertEqual([found[key] for key in ("x", "y", "w", "h")], [0, 0, *case["frame"]])
            self.assertEqual([found["width"], found["height"]], [expected["width"], expected["height"]])
            labels, counts = np.unique(expected["values"], return_counts=True)
            shares = {one["label_id"]: round(one["share"] * len(expected["values"])) for one in found["classes"]}
            self.assertEqual(shares, dict(zip(labels.tolist(), counts.tolist())))

    def test_classes(self):
        for line, case in self.answered("colors"):
            (found,), (expected,) = line["classifications"], case["answer"]["classes"]
            self.assertEqual(found["label_id"], expected["label_id"])
            self.assert_near(found["confidence"], expected["confidence"], CONFIDENCE)

    def test_text(self):
        for line, case in self.answered("digits"):
            (found,) = line["classifications"]
            self.assertEqual(found["label"], case["answer"]["text"])
            self.assert_near(found["confidence"], case["answer"]["text_confidence"], CONFIDENCE)


if __name__ == "__main__":
    TASKS, WORK = (Path(sys.argv.pop(1)) for _ in range(2))
    unittest.main(verbosity=2)
