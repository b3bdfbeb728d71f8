"""npucount counts on the demo clip what its ground truth says: each crossing, and each stay in a zone.

    counts_test.py [unittest's arguments]
"""

import json
import os
import subprocess
import unittest
from pathlib import Path

from clip_counts import Span, Stay, crossings, read_visits, stays

TREE = Path(__file__).resolve().parents[2]
RATE, MIDDLE = 30, 320
# Frames by which boxes that are a little off, and the edges of what is partly hidden, shift what happens.
SHIFT = 4


def read_lines(command):
    run = subprocess.run(command, env=os.environ | {"DEVICE": "software"}, capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise AssertionError(f"{command[0]} ended with {run.returncode}:\n{run.stderr[-2000:]}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def count():
    return read_lines([TREE / "pipelines" / "count-at-line.sh"])


def count_between_inferences(interval):
    shapes = TREE / "models" / "shapes"
    return read_lines(["gst-launch-1.0", "-q", "filesrc", f"location={shapes}/shapes.mp4", "!", "decodebin", "!",
                       "npuinfer", f"model={shapes}/shapes.xml", "device=software", f"inference-interval={interval}", "!",
                       "nputensordec", "threshold=0.2", "!", "nputrack", "!",
                       "npucount", "anchor=center", f"location={TREE}/pipelines/middle.json", "!", "npupublish", "!", "fakesink"])


def events(lines, kind):
    return [(line["frame"], event) for line in lines for event in line["events"] if event["event"] == kind]


def counted_stays(lines):
    """(first frame, seconds) of each."""
    entered, found = {}, []
    for line in lines:
        for event in line["events"]:
            if event["event"] == "entered":
                entered[event["tracking_id"]] = line["frame"]
            elif event["event"] == "left":
                found.append((entered.pop(event["tracking_id"]), event["seconds"]))
    return found + [(entered.pop(one["tracking_id"]), one["seconds"]) for one in lines[-1]["zones"][0]["inside"]]


def is_in(frame, span):
    return span.first - SHIFT <= frame <= span.last + SHIFT


def is_as_long(seconds, stay):
    shortest, longest = stay.ends.first - stay.begins.last, stay.ends.last - stay.begins.first
    return shortest - SHIFT <= seconds * RATE <= longest + SHIFT


class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = count()
        cls.visits = read_visits(TREE / "models" / "shapes" / "shapes.truth.jsonl")

    def assert_one_to_one(self, truth, found, fits):
        """Each of the truth has one of its own that fits, and none is left. `truth`: what must happen first comes first."""
        left = sorted(found)
        for wanted in truth:
            match = next((one for one in left if fits(one, wanted)), None)
            self.assertIsNotNone(match, f"nothing counted fits {wanted}; left are {left}")
            left.remove(match)
        self.assertEqual(left, [], "counted, and not in the truth")

    def test_each_crossing(self):
        to_right, to_left = crossings(self.visits, MIDDLE)
        self.assertGreater(min(len(to_right), len(to_left)), 5)
        # Somebody who walks down the line has the right half of the frame on the left.
        for kind, truth in (("backward", to_right), ("forward", to_left)):
            self.assert_one_to_one(sorted(truth, key=lambda span: span.last), [frame for frame, _ in events(self.lines, kind)], is_in)
            self.assertEqual(self.lines[-1]["lines"][0][kind], len(truth))

    def test_each_stay_and_how_long_it_is(self):
        truth = stays(self.visits, MIDDLE)
        self.assert_one_to_one(sorted(truth, key=lambda stay: stay.begins.last), counted_stays(self.lines),
                               lambda one, stay: is_in(one[0], stay.begins) and is_as_long(one[1], stay))
        zone = self.lines[-1]["zones"][0]
        self.assertEqual(zone["entered"], len(truth))
        self.assertEqual(zone["left"] + len(zone["inside"]), len(truth))


class BetweenInferences(unittest.TestCase):
    def test_boxes_that_are_predicted_beside_the_line_cross_it_once(self):
        to_right, to_left = crossings(read_visits(TREE / "models" / "shapes" / "shapes.truth.jsonl"), MIDDLE)
        line = count_between_inferences(2)[-1]["lines"][0]
        self.assertEqual((line["backward"], line["forward"]), (len(to_right), len(to_left)))


class Truth(unittest.TestCase):
    def test_is_between_what_is_seen(self):
        visit = [(0, 10), (1, 30), (5, 50), (6, 40), (9, 20)]
        self.assertEqual(crossings([visit], 35), ([Span(2, 5)], [Span(7, 9)]))
        self.assertEqual(stays([visit], 35), [Stay(Span(2, 5), Span(7, 9))])

    def test_ends_with_the_visit(self):
        self.assertEqual(stays([[(3, 50), (8, 60)], []], 35), [Stay(Span(3, 3), Span(8, 8))])
        self.assertEqual(crossings([[(3, 50)], [(9, 10)]], 35), ([], []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
