"""The evaluator on cases small enough to work out by hand."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models" / "shapes"))

import evaluate  # noqa: E402

FRAME_NS = 33_333_333


def box(label="circle", x=0, y=0, w=10, h=10, **more):
    return {"label": label, "x": x, "y": y, "w": w, "h": h, **more}


def truth(*frames):
    return [{"frame": index, "pts_ns": index * FRAME_NS, "objects": list(objects)}
            for index, objects in enumerate(frames)]


def found(*frames):
    return [{"frame": index, "pts": index * FRAME_NS, "detections": list(detections)}
            for index, detections in enumerate(frames)]


def precision_of(objects, detections, label="circle"):
    return evaluate.evaluate(truth(objects), found(detections))[label][0]


class Overlap(unittest.TestCase):
    def test_same_box(self):
        self.assertEqual(evaluate.iou(box(), box()), 1.0)

    def test_half_shifted(self):
        self.assertAlmostEqual(evaluate.iou(box(), box(x=5)), 50 / 150)

    def test_touching_is_no_overlap(self):
        self.assertEqual(evaluate.iou(box(), box(x=10)), 0.0)

    def test_inside(self):
        self.assertAlmostEqual(evaluate.iou(box(), box(x=2, y=2, w=5, h=5)), 0.25)


class Precision(unittest.TestCase):
    def test_all_found(self):
        self.assertEqual(precision_of([box()], [box(confidence=0.9)]), 1.0)

    def test_nothing_found(self):
        self.assertEqual(precision_of([box()], []), 0.0)

    def test_iou_of_exactly_one_half_counts(self):
        self.assertEqual(precision_of([box()], [box(w=20, confidence=0.9)]), 1.0)

    def test_iou_just_below_one_half_does_not(self):
        self.assertEqual(precision_of([box()], [box(w=20.1, confidence=0.9)]), 0.0)

    def test_false_alarm_below_the_hit_costs_nothing(self):
        seen = [box(confidence=0.9), box(x=100, confidence=0.2)]
        self.assertEqual(precision_of([box()], seen), 1.0)

    def test_false_alarm_above_the_hit_halves_precision(self):
        seen = [box(confidence=0.2), box(x=100, confidence=0.9)]
        self.assertEqual(precision_of([box()], seen), 0.5)

    def test_false_alarm_as_sure_as_the_hit_gives_half_in_any_order(self):
        hit, alarm = box(confidence=0.5), box(x=100, confidence=0.5)
        self.assertEqual(precision_of([box()], [hit, alarm]), 0.5)
        self.assertEqual(precision_of([box()], [alarm, hit]), 0.5)

    def test_second_detection_of_an_object_is_a_false_alarm(self):
        objects = [box(), box(x=100)]
        seen = [box(confidence=0.9), box(x=1, confidence=0.8), box(x=100, confidence=0.7)]
        # Recall 1/2 at precision 1, then recall 1 at precision 2/3.
        self.assertAlmostEqual(precision_of(objects, seen), 0.5 + 0.5 * 2 / 3)

    def test_envelope_fills_dips(self):
        objects = [box(), box(x=100), box(x=200)]
        seen = [box(confidence=0.9), box(x=900, confidence=0.8), box(x=100, confidence=0.7),
                box(x=200, confidence=0.6)]
        # Precisions 1, 1/2, 2/3, 3/4 at recalls 1/3, 1/3, 2/3, 1; the dip to 2/3 is filled by 3/4.
        self.assertAlmostEqual(precision_of(objects, seen), 1 / 3 + 2 / 3 * 3 / 4)

    def test_right_box_with_the_wrong_label_helps_nobody(self):
        results = evaluate.evaluate(truth([box()]), found([box("square", confidence=0.9)]))
        self.assertEqual(results["circle"][0], 0.0)
        self.assertNotIn("square", results)

    def test_difficult_object_counts_neither_way(self):
        objects = [box(visible=1.0), box(x=100, visible=0.29)]
        missed, hit = [box(confidence=0.5)], [box(confidence=0.5), box(x=100, confidence=0.9)]
        self.assertEqual(precision_of(objects, missed), 1.0)
        self.assertEqual(precision_of(objects, hit), 1.0)

    def test_mean_is_over_labels_not_objects(self):
        objects = [box(), box(x=100), box("square", x=200)]
        results = evaluate.evaluate(
            truth(objects), found([box(confidence=1), box(x=100, confidence=1)]))
        self.assertEqual(evaluate.mean_precision(results), 0.5)


class Frames(unittest.TestCase):
    def test_confidences_are_ranked_over_all_frames(self):
        results = evaluate.evaluate(
            truth([box()], [box()]), found([box(confidence=0.3)], [box(x=50, confidence=0.6)]))
        # The false alarm of frame 1 ranks first: precision 1/2 at recall 1/2, frame 1 never found.
        self.assertEqual(results["circle"][0], 0.25)

    def test_frame_not_published_found_nothing(self):
        results = evaluate.evaluate(truth([box()], [box()]), found([box(confidence=1)]))
        self.assertEqual(results["circle"][0], 0.5)

    def test_matched_by_time_not_by_count(self):
        late = [{"frame": 0, "pts": FRAME_NS, "detections": [box(confidence=1)]}]
        results = evaluate.evaluate(truth([], [box()]), late)
        self.assertEqual(results["circle"][0], 1.0)

    def test_frame_published_twice_is_an_error(self):
        twice = found([box(confidence=1)]) * 2
        with self.assertRaisesRegex(ValueError, "frame 0 was published twice"):
            evaluate.evaluate(truth([box()]), twice)

    def test_frame_of_another_time_is_an_error(self):
        stray = [{"frame": 0, "pts": FRAME_NS // 2, "detections": []}]
        with self.assertRaisesRegex(ValueError, "no frame of the ground truth"):
            evaluate.evaluate(truth([box()], []), stray)


class Command(unittest.TestCase):
    def run_with(self, minimum):
        with tempfile.TemporaryDirectory() as folder:
            paths = [str(Path(folder) / name) for name in ("truth", "found")]
            for path, lines in zip(paths, (truth([box()], [box()]), found([box(confidence=1)]))):
                Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))
            said = io.StringIO()
            with (mock.patch("sys.argv", ["evaluate", "--minimum", str(minimum), *paths]),
                  contextlib.redirect_stdout(said)):
                evaluate.main()
            return said.getvalue()

    def test_prints_each_label_and_the_mean(self):
        text = self.run_with(0.5)
        self.assertIn("circle     AP@0.5 0.5000  2 objects, 1 detections", text)
        self.assertIn("mAP@0.5 0.5000 over 2 frames, 1 published", text)

    def test_fails_below_the_minimum(self):
        with self.assertRaisesRegex(SystemExit, "mAP@0.5 is 0.5000, less than 0.9"):
            self.run_with(0.9)


if __name__ == "__main__":
    unittest.main()
