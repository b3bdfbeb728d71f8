"""The committed model as files and, with OpenVINO alone, on scenes of one object."""

import configparser
import sys
import unittest
from pathlib import Path

import numpy as np
import openvino as ov

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
sys.path.insert(0, str(SHAPES))

import colors  # noqa: E402
import export  # noqa: E402
import pixels  # noqa: E402
import predict  # noqa: E402
import scenes  # noqa: E402
from evaluate import iou  # noqa: E402

MODEL = SHAPES / "shapes.xml"
CELLS = sum((pixels.MODEL_SIZE // stride) ** 2 for stride in export.STRIDES)


def read_modelinfo():
    parser = configparser.ConfigParser(strict=True)
    parser.read_string((SHAPES / "shapes.modelinfo").read_text())
    return parser


class Files(unittest.TestCase):
    def test_model_is_smaller_than_a_megabyte(self):
        self.assertLess(sum((SHAPES / f"shapes.{end}").stat().st_size for end in ("xml", "bin")), 1e6)

    def test_ports(self):
        model = ov.Core().read_model(MODEL)
        ports = [(port.any_name, str(port.element_type), list(port.shape))
                 for port in (model.input(0), model.output(0))]
        size = pixels.MODEL_SIZE
        self.assertEqual(ports, [("images", "<Type: 'float32'>", [1, 3, size, size]),
                                 ("output0", "<Type: 'float32'>", [1, 7, CELLS])])

    def test_model_info_is_what_export_writes(self):
        info = ov.Core().read_model(MODEL).get_rt_info("model_info").astype(dict)
        self.assertEqual({key: value.astype(str) for key, value in info.items()}, export.MODEL_INFO)

    def test_modelinfo_file_agrees_with_the_model(self):
        file, model = read_modelinfo(), ov.Core().read_model(MODEL)
        for port in (model.input(0), model.output(0)):
            dims = [int(dim) for dim in file[port.any_name]["dims"].split(",")]
            self.assertEqual(dims, list(port.shape))
        output = file["output0"]
        self.assertEqual(output["labels"].split(","), export.MODEL_INFO["labels"].split())
        for key in ("confidence_threshold", "iou_threshold"):
            self.assertEqual(output[key.replace("_", "-")], export.MODEL_INFO[key])


class Scenes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ov.Core().compile_model(MODEL, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def detect(self, picture):
        canvas, place = pixels.letterbox(pixels.to_i420(picture))
        tensor = canvas.transpose(2, 0, 1)[None] / np.float32(255)
        output = self.model(tensor)[0][0]
        return predict.detections(output, place, 640, 360, export.CONFIDENCE_THRESHOLD,
                                  export.IOU_THRESHOLD)

    def test_scores_are_probabilities(self):
        noise = np.random.default_rng(1).random((1, 3, *[pixels.MODEL_SIZE] * 2), np.float32)
        scores = self.model(noise)[0][0, 4:]
        self.assertTrue((scores >= 0).all() and (scores <= 1).all())

    def test_empty_scene_has_nothing_in_it(self):
        scene = scenes.Scene(11, count=1)
        scene.things = []
        self.assertEqual(self.detect(scene.frame(0)[0]), [])

    def test_every_shape_in_every_colour_is_found_in_place(self):
        for label in scenes.LABELS:
            for name, color in scenes.COLORS.items():
                with self.subTest(label=label, color=name):
                    scene = scenes.Scene(12, count=1, labels=[label])
                    still = [scenes.Wave(value, 0, 0, 0) for value in (250.0, 170.0, 45.0)]
                    scene.things = [scenes.Thing(label, np.array(color, np.float32), *still, 0.4, 0.0,
                                                 np.zeros(2), 1.0)]
                    picture, [thing] = scene.frame(0)
                    found = self.detect(picture)
                    self.assertEqual([box["label"] for box in found], [label])
                    self.assertGreater(iou(found[0], thing), 0.8)


class Colors(unittest.TestCase):
    """The second model, which colors.py makes from nothing."""

    def test_the_files_are_what_the_script_makes(self):
        made, kept = colors.classifier(), ov.Core().read_model(SHAPES / "colors.xml")
        compiled = [ov.Core().compile_model(model, "CPU") for model in (made, kept)]
        picture = np.random.default_rng(5).random((1, 3, colors.SIZE, colors.SIZE), np.float32)
        one, two = (model([picture])[0] for model in compiled)
        np.testing.assert_allclose(one, two, atol=1e-3)
        parser = configparser.ConfigParser(strict=True)
        parser.read_string((SHAPES / "colors.modelinfo").read_text())
        self.assertEqual(parser["color"]["labels"].split(","), list(scenes.COLORS))

    def test_plain_colors(self):
        model = ov.Core().compile_model(SHAPES / "colors.xml", "CPU")
        for index, color in enumerate(scenes.COLORS.values()):
            for light in (0.7, 1, 1.2):
                picture = np.clip(np.full((1, 3, colors.SIZE, colors.SIZE), light / 255, np.float32)
                                  * np.reshape(color, (1, 3, 1, 1)), 0, 1).astype(np.float32)
                scores = model([picture])[0][0]
                self.assertEqual(scores.argmax(), index)
                self.assertAlmostEqual(scores.sum(), 1, delta=0.01)


if __name__ == "__main__":
    unittest.main()
