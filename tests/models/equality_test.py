"""The model on the software NPU, through npucore and the Level Zero loader, against OpenVINO's CPU
plugin called directly: the same numbers within 1e-4.

    equality_test.py <run-model> [unittest's arguments]
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import openvino as ov

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
sys.path.insert(0, str(SHAPES))

import generate  # noqa: E402
import pixels  # noqa: E402

MODEL = SHAPES / "shapes.xml"
TOLERANCE = 1e-4
RUN_MODEL = None


def on_npu(inputs):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("inputs", "outputs")]
        inputs.tofile(paths[0])
        subprocess.run([RUN_MODEL, MODEL, *paths], check=True)
        return np.fromfile(paths[1], np.float32)


def on_cpu(inputs):
    model = ov.Core().compile_model(MODEL, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return np.stack([model(tensor[None])[0].copy() for tensor in inputs])


def clip_inputs(frames):
    scene = generate.clip_scene()
    pictures = (generate.truth_line(scene, frame)[0] for frame in frames)
    canvases = (pixels.letterbox(pixels.to_i420(picture))[0] for picture in pictures)
    return np.stack([canvas.transpose(2, 0, 1) / np.float32(255) for canvas in canvases])


class Equality(unittest.TestCase):
    def check(self, inputs):
        expected = on_cpu(inputs)
        got = on_npu(inputs)
        self.assertEqual(got.size, expected.size)
        difference = float(np.abs(got.reshape(expected.shape) - expected).max())
        print(f"{self.id()}: largest difference {difference:.2g} in {expected.size} values "
              f"from {expected.min():.3g} to {expected.max():.4g}", flush=True)
        self.assertGreater(expected.max() - expected.min(), 1, "the outputs say nothing")
        self.assertLessEqual(difference, TOLERANCE)

    def test_frames_of_the_clip(self):
        self.check(clip_inputs((0, 100, 200)))

    def test_noise(self):
        size = pixels.MODEL_SIZE
        self.check(np.random.default_rng(3).random((3, 3, size, size), np.float32))


if __name__ == "__main__":
    RUN_MODEL = sys.argv.pop(1)
    unittest.main()
