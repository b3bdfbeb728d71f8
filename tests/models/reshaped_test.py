"""An end-to-end detector that takes pictures of any size, on the software NPU, with another size than its file says: what is cut
off it is the same, and so is the answer.

    reshaped_test.py <work folder> <npu-compile> [unittest's arguments]
"""

import json
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

from ultralytics_export import MODEL_INFO, number, v26, whole

FILE_SIZE, OTHER_SIZE = 256, 160
CUT = "TopK and Gather cut off: the output is"
WORK = NPU_COMPILE = None


def raw_of(picture):
    """[1,7,N]: a box for each eight by eight pixels, as their mean colour has it."""
    colours = op.avg_pool(picture, [8, 8], [0, 0], [0, 0], [8, 8], True)
    colours = op.reshape(colours, whole([1, 3, -1]), False)
    red, green, blue = op.split(colours, whole(1), 3).outputs()
    size = op.add(op.multiply(blue, number(50)), number(10))
    # No two classes with the same score, whose order nobody tells.
    scores = op.multiply(colours, op.constant(np.array([[[0.95], [0.85], [0.75]]], np.float32)))
    return op.concat([op.multiply(red, number(120)), op.multiply(green, number(120)), size, size, scores], 1)


def write_model():
    picture = op.parameter([1, 3, FILE_SIZE, FILE_SIZE], ov.Type.f32, name="images")
    picture.output(0).set_names({"images"})
    rows = v26(raw_of(picture))
    rows.output(0).set_names({"output0"})
    model = ov.Model([op.result(rows)], [picture], "any_size")
    for key, value in {**MODEL_INFO, "labels": "red green blue"}.items():
        model.set_rt_info(value, ["model_info", key])
    path = WORK / "any_size.xml"
    ov.save_model(model, path)
    return path


def launch(name, element):
    """What the pipeline printed, and the lines that npupublish wrote."""
    location = WORK / f"reshaped-{name}.jsonl"
    location.unlink(missing_ok=True)
    line = ("gst-launch-1.0 videotestsrc num-buffers=3 pattern=smpte ! video/x-raw,format=RGB,width=320,height=320 "
            f"! {element} ! nputensordec model-family=yolo-end-to-end threshold=0.3 ! npupublish location='{location}' "
            "! fakesink sync=false")
    done = subprocess.run(shlex.split(line), check=False, timeout=280, capture_output=True, text=True)
    printed = done.stdout + done.stderr
    if done.returncode != 0:
        raise AssertionError(printed)
    return printed, [json.loads(text)["detections"] for text in location.read_text().splitlines()]


class Reshaped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = write_model()
        cls.shape = f"1,3,{OTHER_SIZE},{OTHER_SIZE}"
        printed, cls.whole = launch("none", f"npuinfer model='{cls.model}' device=software input-shape={cls.shape} repair=none")
        assert CUT not in printed, printed

    def assert_as_whole(self, lines):
        self.assertEqual(len(lines), 3)
        for one, other in zip(self.whole, lines, strict=True):
            self.assertGreater(len(one), 10)
            self.assertEqual(len(one), len(other))
            for a, b in zip(sorted(map(json.dumps, one)), sorted(map(json.dumps, other))):
                self.assertEqual(a, b)

    def test_input_shape(self):
        printed, lines = launch("auto", f"npuinfer model='{self.model}' device=software input-shape={self.shape}")
        self.assertIn(CUT, printed)
        self.assert_as_whole(lines)

    def test_npu_compile(self):
        blob = WORK / "any_size.blob"
        done = subprocess.run([NPU_COMPILE, self.model, "-o", blob, "--device", "software", "--reshape", self.shape, "--frame",
                               "RGB:320x320"],
                              check=True, timeout=280, capture_output=True, text=True)
        self.assertIn(CUT, done.stdout)
        _, lines = launch("blob", f"npuimport model='{blob}' device=software")
        self.assert_as_whole(lines)


if __name__ == "__main__":
    WORK, NPU_COMPILE = (Path(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
