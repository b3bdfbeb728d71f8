#!/usr/bin/env python3
"""The demo detector from picture to boxes, beside the same in C++.

usage: vision_test.py INFER_BYTES    INFER_BYTES: the program of infer_bytes.cpp
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import tiny

import npucore

sys.path.insert(0, str(tiny.SHAPES))
import generate  # noqa: E402 - the clip's scene, which that folder draws

INFER_BYTES = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) else None
SCENE = generate.clip_scene()


def overlap(left, right):
    width = min(left[2], right[2]) - max(left[0], right[0])
    height = min(left[3], right[3]) - max(left[1], right[1])
    inside = max(width, 0) * max(height, 0)
    area = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (left, right))
    return inside / (area - inside)


def detector(**options):
    model = npucore.Model.read(tiny.SHAPES / "shapes.xml")
    card = npucore.vision.ModelCard.read(model)
    model.preprocess(npucore.Frame("RGB", 640, 360), card)
    compiled = npucore.compile(model)
    return compiled, npucore.vision.Decoder(card, compiled, **options)


class Detector(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compiled, cls.decoder = detector()
        cls.request = cls.compiled.create_request()

    def answer_at(self, seconds):
        picture, objects = SCENE.frame(seconds)
        return self.decoder(self.request.infer(picture)), objects

    def test_boxes_are_those_of_the_scene(self):
        found, seen = 0, 0
        for frame in range(0, 300, 30):
            answer, objects = self.answer_at(frame / 30)
            self.assertEqual((answer.xyxy.shape, answer.confidence.shape, len(answer)), ((len(answer), 4), (len(answer),), len(answer)))
            self.assertEqual(answer.frame_size, (640, 360))
            for thing in objects:
                if thing["visible"] < 0.9:
                    continue
                seen += 1
                box = [thing["x"], thing["y"], thing["x"] + thing["w"], thing["y"] + thing["h"]]
                found += any(name == thing["label"] and overlap(box, other) > 0.5
                             for name, other in zip(answer.class_name, answer.xyxy))
        self.assertGreater(seen, 20)
        self.assertGreater(found / seen, 0.9)

    def test_the_card_is_read(self):
        card = self.decoder.card
        self.assertEqual((card.task, card.labels, self.decoder.family), ("detect", ["circle", "square", "triangle"], "yolo"))
        self.assertEqual(npucore.vision.ModelCard.from_json(card.to_json()).labels, card.labels)
        self.assertAlmostEqual(card.confidence_threshold, 0.35)
        self.assertEqual(npucore.vision.ModelCard.read(tiny.SHAPES / "shapes.xml").labels, card.labels)

    def test_thresholds_win_over_the_card(self):
        picture, _ = SCENE.frame(0)
        outputs = self.request.infer(picture)
        strict = npucore.vision.Decoder(self.decoder.card, self.compiled, confidence=0.9)(outputs)
        self.assertTrue(0 < len(strict) < len(self.decoder(outputs)))
        self.assertGreaterEqual(strict.confidence.min(), 0.9)

    def test_scaled_by_the_caller_boxes_are_as_good(self):
        """The picture in the middle of a letterbox of the model's own size, without a filter."""
        picture, _ = SCENE.frame(0)
        wanted = self.decoder(self.request.infer(picture))
        letterbox = np.full((256, 256, 3), 114, np.float32)
        rows, columns = np.arange(144) * 360 // 144, np.arange(256) * 640 // 256
        letterbox[56:200] = picture[rows][:, columns]
        compiled = npucore.compile(tiny.SHAPES / "shapes.xml")
        decoder = npucore.vision.Decoder(self.decoder.card, compiled)
        answer = decoder(compiled.create_request().infer((letterbox / np.float32(255)).transpose(2, 0, 1)), (640, 360), resize="letterbox")
        best = max(overlap(wanted.xyxy[0], box) for box in answer.xyxy)
        self.assertGreater(best, 0.8)

    def test_a_picture_that_the_caller_scaled_is_placed_as_the_graph_places_it(self):
        """Sizes that leave fractions of pixels; the same outputs for both decoders."""
        scores = np.random.default_rng(7).random((1, 7, 1280), np.float32)
        scores[:, :4] *= 256
        plain = npucore.vision.Decoder(self.decoder.card, npucore.compile(tiny.SHAPES / "shapes.xml"))
        for mode in ("stretch", "letterbox", "fit-to-window", "crop"):
            for size in ((641, 359), (123, 457), (1000, 999)):
                model = npucore.Model.read(tiny.SHAPES / "shapes.xml")
                model.preprocess(npucore.Frame("RGB", *size), self.decoder.card, resize=mode)
                wanted = npucore.vision.Decoder(self.decoder.card, npucore.compile(model))({"output0": scores})
                answer = plain({"output0": scores}, size, resize=mode)
                with self.subTest(mode, size=size):
                    self.assertGreater(len(answer), 10)
                    np.testing.assert_array_equal(answer.xyxy, wanted.xyxy)

    def test_faces_have_a_name_without_labels(self):
        """CenterFace, known by its four outputs alone."""
        def network(picture, ops):
            channels = {"heatmap": 1, "scale": 2, "offset": 2, "landmarks": 10}
            return {name: ops.convolution(picture, ops.constant(np.ones((count, 3, 4, 4), np.float32)), [4, 4], [0, 0], [0, 0], [1, 1])
                    for name, count in channels.items()}
        compiled = npucore.compile(tiny.by_openvino(network, (1, 3, 32, 32)))
        decoder = npucore.vision.Decoder(npucore.vision.ModelCard(), compiled)
        self.assertEqual((decoder.family, decoder.card.labels), ("centerface", ["face"]))
        outputs = {port.name: np.zeros(port.shape, np.float32) for port in compiled.outputs}
        outputs["heatmap"][0, 0, 3, 3] = 0.9
        self.assertEqual(decoder(outputs).class_name.tolist(), ["face"])

    def test_steps_that_the_graph_does_itself_are_done_once(self):
        """A graph that divides by 255 itself, and a card that says so, too."""
        model = tiny.by_openvino(lambda picture, ops: {"y": ops.relu(ops.divide(picture, ops.constant(np.float32(255))))}, (1, 3, 8, 8))
        card = npucore.vision.ModelCard()
        card.scale = [255.0]
        told = model.preprocess(npucore.Frame("RGB", 8, 8), card)
        self.assertEqual(told, ["the scale 255 is left out: the graph does that itself"])
        outputs = npucore.compile(model).create_request().infer(np.full((8, 8, 3), 51, np.uint8))
        np.testing.assert_allclose(outputs["y"], 0.2, atol=1e-3)

    def test_outputs_that_are_another_models_raise(self):
        for outputs in ({}, {"output0": np.zeros((1, 7, 1279), np.float32)}, [], [1, 2], None, np.zeros((1, 7, 1280)), "text"):
            with self.subTest(type(outputs)), self.assertRaises((npucore.InvalidArgumentError, TypeError)):
                self.decoder(outputs)
        with self.assertRaises((npucore.Error, TypeError)):
            self.decoder({"output0": np.zeros((1, 7, 1280), np.float32)}, (0, 5))
        with self.assertRaises(npucore.InvalidArgumentError):
            npucore.vision.Decoder(npucore.vision.ModelCard(), tiny.square())
        nothing = self.decoder({"output0": np.zeros((1, 7, 1280), np.float32)})
        self.assertEqual((nothing.xyxy.shape, nothing.mask, nothing.class_name.shape), ((0, 4), None, (0,)))

    def test_detections_have_supervisions_fields(self):
        answer, _ = self.answer_at(0)
        fields = answer.detections()
        self.assertEqual(set(fields), {"xyxy", "mask", "confidence", "class_id", "tracker_id", "data"})
        self.assertTrue(np.issubdtype(fields["class_id"].dtype, np.integer))

    def test_identities_last_and_are_counted(self):
        tracker = npucore.vision.Tracker()
        counter = npucore.vision.Counter({"left": [(0, 0), (0.5, 0), (0.5, 1), (0, 1)]}, {"middle": ((0.5, 0), (0.5, 1))})
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "Tracker"):
            counter.update(self.answer_at(0)[0], 0)
        ids, events = [], []
        for frame in range(30):
            answer = tracker.update(self.answer_at(frame / 30)[0], frame / 30)
            ids.append(set(answer.tracker_id[answer.tracker_id > 0].tolist()))
            events += counter.update(answer, frame / 30)
        self.assertGreater(len(ids[0] & ids[-1]), 2)
        entered = [event for event in events if event[0] == "entered"]
        self.assertEqual(counter.zones["left"]["entered"], len(entered))
        self.assertGreater(len(entered), 1)
        self.assertEqual(set(counter.lines), {"middle"})
        with self.assertRaises(npucore.Error):
            npucore.vision.Counter({"flat": [(0, 0), (1, 1)]})

    @unittest.skipUnless(INFER_BYTES, "no program in C++ was given")
    def test_bytes_are_those_of_cpp(self):
        compiled = npucore.compile(tiny.SHAPES / "shapes.xml")
        x = np.random.default_rng(5).random((1, 3, 256, 256), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "in").write_bytes(x.tobytes())
            subprocess.run([INFER_BYTES, str(tiny.SHAPES / "shapes.xml"), "in", "out"], cwd=folder, check=True, env=os.environ)
            self.assertEqual(compiled.create_request().infer(x)["output0"].tobytes(), Path(folder, "out").read_bytes())


class Masks(unittest.TestCase):
    def test_masks_are_pixels_of_the_frame(self):
        folder = os.environ.get("NPUCORE_SHAPES_TASKS")
        if not folder:
            self.skipTest("the build makes no models for other tasks")
        model = npucore.Model.read(Path(folder, "shapes_segment_openvino_model"))
        card = npucore.vision.ModelCard.read(model)
        model.preprocess(npucore.Frame("RGB", 640, 360), card)
        compiled = npucore.compile(model)
        picture, _ = SCENE.frame(0)
        answer = npucore.vision.Decoder(card, compiled)(compiled.create_request().infer(picture))
        self.assertEqual((answer.mask.shape, answer.mask.dtype), ((len(answer), 360, 640), bool))
        for mask, box in zip(answer.mask, answer.xyxy):
            rows, columns = np.nonzero(mask)
            self.assertGreater(len(rows), 20)
            inside = [columns.min() + 1, rows.min() + 1, columns.max(), rows.max()]
            self.assertTrue(box[0] <= inside[0] and box[1] <= inside[1] and inside[2] <= box[2] + 1 and inside[3] <= box[3] + 1)


if __name__ == "__main__":
    tiny.main()
