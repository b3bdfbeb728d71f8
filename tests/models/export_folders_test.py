"""Export folders of Ultralytics on the software NPU, with nothing but model= set: each head finds what shapes.xml finds.

    export_folders_test.py <folder of ultralytics_export.py> <work folder> <npu-compile> [unittest's arguments]
"""

import shlex
import subprocess
import sys
import unittest
from pathlib import Path

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
sys.path.insert(0, str(SHAPES))

import evaluate  # noqa: E402

HEADS = ("raw", "bare", "end2end", "nms", "nms_operator", "nms_export")
# Cut off by npuinfer, and done by nputensordec.
REPAIRED = ("v10", "v26")
# The name of metadata.yaml: that of the ground truth.
TRUE_NAMES = {"circle": "circle", "square": "square", "warning triangle": "triangle"}
DIFFERENCE = 0.005
MINIMUM = 0.9
# Differences of confidences from 0 to 1, and of edges in pixels of the frame.
ROUNDING = {"confidence": 1e-3, "x": 0.1, "y": 0.1, "w": 0.1, "h": 0.1}
FRAMES = 60  # of the demo clip; versions of identity let through one more or less
EXPORTS = WORK = NPU_COMPILE = None


def export(head):
    return EXPORTS / f"shapes_{head}_openvino_model" / f"shapes_{head}.xml"


def decoded(name, settings):
    """One branch behind the tee, and where its lines go."""
    location = WORK / f"export-{name}.jsonl"
    location.unlink(missing_ok=True)
    return f"t. ! queue ! nputensordec {settings} ! npupublish location='{location}' ! fakesink sync=false", location


def run(name, model, settings="", element="npuinfer repair=auto"):
    """{"plain": lines, "unsure": lines} of npupublish, by one inference of each frame. The whole curve of recall over
    precision wants the unsure detections too."""
    branches = {"plain": decoded(f"{name}-plain", settings), "unsure": decoded(f"{name}-unsure", "threshold=0.01")}
    line = (f"gst-launch-1.0 -q filesrc location='{SHAPES / 'shapes.mp4'}' ! decodebin ! identity eos-after={FRAMES + 1} "
            f"! {element} model='{model}' device=software " + "! tee name=t " + " ".join(text for text, _ in branches.values()))
    print(line, flush=True)
    subprocess.run(shlex.split(line), check=True, timeout=280)
    lines = {branch: evaluate.read_lines(location)[:FRAMES] for branch, (_, location) in branches.items()}
    assert all(len(of_branch) == FRAMES for of_branch in lines.values())
    return lines


def with_true_names(lines):
    """As evaluate.py wants them; a label that is none of metadata.yaml's is an error."""
    return [{**line, "detections": [{**box, "label": TRUE_NAMES[box["label"]]} for box in line["detections"]]}
            for line in lines]


def in_order(line):
    return sorted(line["detections"], key=lambda box: (box["label"], box["x"], box["y"]))


class Heads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.truth = evaluate.read_lines(SHAPES / "shapes.truth.jsonl")[:FRAMES]
        # The card of shapes.xml has a lower threshold than that of who says nothing.
        cls.own = run("own", SHAPES / "shapes.xml", "threshold=0.5")
        found = {head: run(head, export(head)) for head in HEADS}
        cls.found = {head: {branch: with_true_names(lines) for branch, lines in branches.items()}
                     for head, branches in found.items()}

    def precisions(self, branch):
        """Mean average precision by head; "own" is that of shapes.xml."""
        lines = {"own": self.own, **self.found}
        means = {head: evaluate.mean_precision(evaluate.evaluate(self.truth, lines[head][branch])) for head in lines}
        print(branch, *(f"{head} {mean:.4f}" for head, mean in means.items()), flush=True)
        return means.values()

    def test_mean_average_precision_is_that_of_the_model_itself(self):
        means = self.precisions("unsure")
        self.assertGreaterEqual(min(means), MINIMUM)
        self.assertLessEqual(max(means) - min(means), DIFFERENCE)

    def test_mean_average_precision_with_nothing_but_the_model_set(self):
        means = self.precisions("plain")
        self.assertLessEqual(max(means) - min(means), DIFFERENCE)

    def test_every_object_is_that_of_the_model_itself(self):
        for head in HEADS:
            for own, line in zip(self.own["plain"], self.found[head]["plain"], strict=True):
                self.assertEqual([box["label"] for box in in_order(own)], [box["label"] for box in in_order(line)], head)
                for one, other in zip(in_order(own), in_order(line)):
                    for key, most in ROUNDING.items():
                        self.assertAlmostEqual(one[key], other[key], delta=most, msg=f"{head}: {one}, {other}")

    def test_labels_have_their_true_names(self):
        for head in HEADS:
            lines = evaluate.read_lines(WORK / f"export-{head}-plain.jsonl")
            self.assertEqual({box["label"] for line in lines for box in line["detections"]}, set(TRUE_NAMES))


class Repairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = {head: run(f"{head}-none", export(head), element="npuinfer repair=none") for head in REPAIRED}

    def test_answers_are_those_of_the_model_as_it_is(self):
        for head in REPAIRED:
            self.assert_same_lines(head, self.whole[head], run(f"{head}-auto", export(head)))

    def test_a_blob_knows_what_was_cut_off_it(self):
        blob = WORK / "cut.blob"
        done = subprocess.run([NPU_COMPILE, export("v26"), "-o", blob, "--device", "software", "--matrix", "bt709", "--frame",
                               "I420:640x360"],
                              check=True, timeout=280, capture_output=True, text=True)
        self.assertIn("TopK and Gather cut off", done.stdout)
        self.assert_same_lines("blob", self.whole["v26"], run("blob", blob, element="npuimport convert=allow"))

    def assert_same_lines(self, head, whole, cut):
        for branch, lines in whole.items():
            self.assertGreater(sum(len(line["detections"]) for line in lines), len(lines))
            for one, other in zip(lines, cut[branch], strict=True):
                self.assert_same(head, in_order(one), in_order(other))

    def assert_same(self, head, one, other):
        self.assertEqual([box["label"] for box in one], [box["label"] for box in other], head)
        for a, b in zip(one, other):
            for key in ROUNDING:
                self.assertAlmostEqual(a[key], b[key], delta=1e-3, msg=f"{head}: {a}, {b}")

    def test_each_is_told(self):
        for head, told in (("v26", "TopK and Gather cut off: the output is"),
                           ("nms_operator", "NonMaxSuppression cut off: the output is"),
                           ("nms_export", "NonMaxSuppression cut off: the output is")):
            done = launch(head, "auto")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(told, done.stdout + done.stderr)
        left = launch("v26", "none")
        self.assertEqual(left.returncode, 0, left.stderr)
        self.assertNotIn("cut off", left.stdout + left.stderr)


def launch(head, repair):
    line = (f"gst-launch-1.0 videotestsrc num-buffers=1 ! npuinfer model='{export(head)}' device=software repair={repair} "
            "! fakesink")
    return subprocess.run(shlex.split(line), check=False, timeout=280, capture_output=True, text=True)


class Operators(unittest.TestCase):
    def test_what_no_npu_runs_is_named(self):
        done = launch("nms_operator", "none")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "an NPU cannot run .*NonMaxSuppression.* is only known at run time")


if __name__ == "__main__":
    EXPORTS, WORK, NPU_COMPILE = (Path(sys.argv.pop(1)) for _ in range(3))
    unittest.main()
