"""The whole pipeline over the demo clip, and what its detections are worth.

    pipeline_test.py <work folder> [unittest's arguments]
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
sys.path.insert(0, str(SHAPES))

import evaluate  # noqa: E402

MINIMUM = 0.9
# The whole curve of recall over precision wants the unsure detections too.
THRESHOLD = 0.01
WORK = None


class Pipeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        location = WORK / "detections.jsonl"
        line = (f"gst-launch-1.0 -q filesrc location={SHAPES / 'shapes.mp4'} ! decodebin "
                f"! npuinfer model={SHAPES / 'shapes.xml'} device=software "
                f"! nputensordec threshold={THRESHOLD} ! npupublish location={location} ! fakesink sync=false")
        print(line, flush=True)
        location.unlink(missing_ok=True)
        subprocess.run(line.split(), check=True, timeout=280, env=os.environ)
        cls.truth = evaluate.read_lines(SHAPES / "shapes.truth.jsonl")
        cls.found = evaluate.read_lines(location)

    def test_every_frame_is_published_once_and_in_order(self):
        self.assertEqual([line["frame"] for line in self.found], list(range(len(self.truth))))
        for frame, line in zip(self.truth, self.found):
            self.assertLess(abs(frame["pts_ns"] - line["pts"]), evaluate.SLACK_NS)

    def test_boxes_are_inside_the_frame(self):
        for line in self.found:
            self.assertEqual((line["width"], line["height"]), (640, 360))
            for box in line["detections"]:
                self.assertGreaterEqual(min(box["x"], box["y"]), 0, json.dumps(line))
                self.assertLessEqual(box["x"] + box["w"], 640, json.dumps(line))
                self.assertLessEqual(box["y"] + box["h"], 360, json.dumps(line))

    def test_mean_average_precision(self):
        results = evaluate.evaluate(self.truth, self.found)
        for label, (precision, objects, _) in results.items():
            print(f"{label:<10} AP@0.5 {precision:.4f} of {objects} objects")
        mean = evaluate.mean_precision(results)
        print(f"mAP@0.5 {mean:.4f}, at least {MINIMUM} is asked for", flush=True)
        self.assertGreaterEqual(mean, MINIMUM)


if __name__ == "__main__":
    WORK = Path(sys.argv.pop(1))
    unittest.main()
