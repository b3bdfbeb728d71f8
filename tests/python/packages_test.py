#!/usr/bin/env python3
"""npucore beside packages from PyPI that take its answers or give it models.

usage: packages_test.py FOLDER    FOLDER: of the environment with supervision, made if this Python lacks it

PyTorch is tested where it is in that environment: PyPI's needs 5 GB. FOLDER/bin/pip install torch
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import with_packages  # noqa: E402

if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    with_packages.need(sys.argv[1], supervision="supervision")
    del sys.argv[1]

import numpy as np  # noqa: E402
import supervision  # noqa: E402
import tiny  # noqa: E402
import vision_test  # noqa: E402

import npucore  # noqa: E402

EXAMPLE = tiny.TREE / "examples" / "from_pytorch.py"


class Supervision(unittest.TestCase):
    def answers_of(self, model, count=15):
        card = npucore.vision.ModelCard.read(model)
        model.preprocess(npucore.Frame("RGB", 640, 360), card)
        compiled = npucore.compile(model)
        decoder, request = npucore.vision.Decoder(card, compiled), compiled.create_request()
        for frame in range(count):
            picture, _ = vision_test.SCENE.frame(frame / 30)
            yield picture, decoder(request.infer(picture))

    def check(self, detections, answer):
        self.assertGreater(len(answer), 2)
        for name in ("xyxy", "confidence", "class_id"):
            np.testing.assert_array_equal(getattr(detections, name), getattr(answer, name))
        self.assertEqual(detections["class_name"].tolist(), answer.class_name.tolist())

    def test_detections_are_the_answers(self):
        for _, answer in self.answers_of(npucore.Model.read(tiny.SHAPES / "shapes.xml"), 1):
            detections = supervision.Detections(**answer.detections())
            self.check(detections, answer)
            self.assertIsNone(detections.tracker_id)
            sure = detections[detections.confidence > 0.8]
            self.assertEqual(sure.xyxy.tolist(), answer.xyxy[answer.confidence > 0.8].tolist())
        none = npucore.vision.Decoder(npucore.vision.ModelCard.read(tiny.SHAPES / "shapes.xml"), npucore.compile(tiny.SHAPES / "shapes.xml"))
        self.assertTrue(supervision.Detections(**none({"output0": np.zeros((1, 7, 1280), np.float32)}).detections()).is_empty())

    def test_identities_go_through_zones_and_annotators(self):
        tracker, seen = npucore.vision.Tracker(), set()
        zone = supervision.PolygonZone(np.array([[0, 0], [639, 0], [639, 359], [0, 359]]))
        for number, (picture, answer) in enumerate(self.answers_of(npucore.Model.read(tiny.SHAPES / "shapes.xml"))):
            answer = tracker.update(answer, number / 30)
            detections = supervision.Detections(**answer.detections())
            self.check(detections, answer)
            seen.update(detections.tracker_id.tolist())
            self.assertGreater(zone.trigger(detections).sum(), 2)
            drawn = supervision.BoxAnnotator().annotate(picture.copy(), detections)
            self.assertTrue((drawn != picture).any())
        self.assertGreater(len(seen - {-1}), 2)

    def test_masks(self):
        folder = os.environ.get("NPUCORE_SHAPES_TASKS")
        if not folder:
            self.skipTest("the build makes no models for other tasks")
        for _, answer in self.answers_of(npucore.Model.read(Path(folder, "shapes_segment_openvino_model")), 1):
            detections = supervision.Detections(**answer.detections())
            self.check(detections, answer)
            np.testing.assert_array_equal(detections.mask, answer.mask)
            np.testing.assert_array_equal(detections[1:2].area, answer.mask[1:2].sum(axis=(1, 2)))


@unittest.skipUnless(importlib.util.find_spec("torch"), f"PyTorch is not installed: {sys.prefix}/bin/pip install torch (5 GB)")
class PyTorch(unittest.TestCase):
    def test_the_second_run_needs_no_pytorch(self):
        without = ("import runpy, sys; sys.modules.update(torch=None, openvino=None); "
                   "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')")
        with tempfile.TemporaryDirectory() as cache:
            runs = [subprocess.run([sys.executable, *command, cache], stdout=subprocess.PIPE, text=True, check=True).stdout.split(":")
                    for command in ([EXAMPLE], ["-c", without, EXAMPLE])]
        self.assertEqual([source for source, _ in runs], ["from the compiler", "from the cache"])
        self.assertEqual(runs[0][1], runs[1][1])
        np.testing.assert_allclose([float(word) for word in runs[0][1].split()], self.own_scores(), atol=0.002)

    def own_scores(self):
        import torch
        spec = importlib.util.spec_from_file_location("from_pytorch", EXAMPLE)
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        with torch.no_grad():
            return example.make_module()(torch.linspace(0, 1, 3 * 32 * 32).reshape(1, 3, 32, 32)).numpy()[0]


if __name__ == "__main__":
    tiny.main()
