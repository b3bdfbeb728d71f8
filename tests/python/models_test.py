#!/usr/bin/env python3
"""Models in memory, and those that OpenVINO brings."""
import gc
import io
import mmap
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import tiny

import npucore

SHAPES = tiny.SHAPES / "shapes.xml"
PICTURE = np.random.default_rng(3).random((1, 3, 256, 256), np.float32)


def result_of(model, x):
    outputs = npucore.compile(model).create_request().infer(x)
    return next(iter(outputs.values()))


class InMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text, cls.weights = SHAPES.read_bytes(), SHAPES.with_suffix(".bin").read_bytes()
        cls.wanted = result_of(SHAPES, PICTURE)

    def test_text_and_weights_are_as_the_files(self):
        with SHAPES.with_suffix(".bin").open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            kinds = [self.weights, bytearray(self.weights), memoryview(self.weights), np.frombuffer(self.weights, np.float16), mapped]
            for weights in kinds:
                with self.subTest(type(weights)):
                    model = npucore.Model.read(self.text, weights)
                    self.assertEqual((str(model.path), model.name), (".", npucore.Model.read(SHAPES).name))
                    np.testing.assert_array_equal(result_of(model, PICTURE), self.wanted)
                    del model
            del kinds, weights
            gc.collect()
            settle(lambda: closes(mapped))

    def test_a_text_without_weights(self):
        model = npucore.Model.read(tiny.ir().encode())
        self.assertEqual(result_of(model, np.full((1, 8), 3, np.float32)).tolist(), [[6] * 8])
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "weights in memory have 0 bytes"):
            npucore.Model.read(self.text)

    def test_weights_stay_in_place_as_long_as_a_model_has_them(self):
        weights = bytearray(self.weights)
        model = npucore.Model.read(self.text, weights)
        copy = model.copy()
        del model
        with self.assertRaises(BufferError):
            weights.append(0)
        npucore.compile(copy)
        del copy
        settle(lambda: weights.append(0) or True)

    def test_the_thread_that_compiled_may_be_the_last_with_the_weights(self):
        for _ in range(30):
            weights = bytearray(self.weights)
            npucore.compile(npucore.Model.read(self.text, weights), properties={"NPUCORE_COMPILE": "in-process"})
            settle(lambda: weights.append(0) or True)
        program = "import sys, npucore; npucore.compile(npucore.Model.read(open(sys.argv[1], 'rb').read(), open(sys.argv[2], 'rb').read()))"
        for _ in range(5):
            subprocess.run([sys.executable, "-c", program, SHAPES, SHAPES.with_suffix(".bin")], check=True)

    def test_what_is_no_model_raises(self):
        for source, weights, kind in ((b"", None, npucore.InvalidArgumentError), (b"nonsense", None, npucore.InvalidArgumentError),
                                      (self.text, b"short", npucore.InvalidArgumentError), (self.text, "model.bin", TypeError),
                                      (self.text, 3, TypeError), (str(SHAPES), self.weights, TypeError), (3, None, TypeError),
                                      ([], None, TypeError), (self.text, memoryview(self.weights)[::2], BufferError)):
            with self.subTest(source=source[:10] if isinstance(source, bytes) else source), self.assertRaises(kind):
                npucore.Model.read(source, weights)


def closes(mapped):
    mapped.close()
    return True


def settle(done):
    """Waits until nothing has the bytes any more: the thread that compiled lets go of its model after the result is there."""
    for _ in range(10000):
        try:
            if done():
                return
        except BufferError:
            time.sleep(0.01)
    raise AssertionError("the weights are still in use")


class ByOpenVINO(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.scales = np.arange(8, dtype=np.float32).reshape(1, 8)
        self.path = self.folder / "scaled.onnx"
        self.path.write_bytes(tiny.onnx(self.scales))
        self.x = np.full((1, 8), 3, np.float32)

    def test_an_onnx_is_read_as_a_path_and_as_bytes(self):
        onnx = self.path.read_bytes()
        for source in (self.path, str(self.path), onnx, bytearray(onnx), io.BytesIO(onnx).getbuffer()):
            with self.subTest(type(source)):
                model = npucore.Model.read(source)
                self.assertEqual((model.inputs[0].name, model.outputs[0].name), ("x", "y"))
                self.assertEqual(result_of(model, self.x).tolist(), (self.scales * 3).tolist())
        self.assertEqual(result_of(self.path, self.x).tolist(), (self.scales * 3).tolist())

    def test_a_model_of_openvino_is_taken_as_it_is(self):
        import openvino
        from openvino import opset13
        x = opset13.parameter([1, 8], openvino.Type.f32, "x")
        weights = np.full((1, 8), 1 + 2**-20, np.float32)  # as f16 it would be 1
        model = openvino.Model([opset13.multiply(x, opset13.constant(weights))], [x], "mine")
        self.assertEqual(npucore.Model.read(model).name, "mine")
        wanted = result_of(model, self.x)
        del model, x
        np.testing.assert_array_equal(wanted, weights * 3)

    def test_weights_are_in_memory_once(self):
        """64 MB: nothing is left of them beside the file in memory, whose pages nobody has read."""
        program = """
import gc, os, sys, numpy, openvino
from openvino import opset13
import npucore
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def make():
    x = opset13.parameter([1, 8], openvino.Type.f32, "x")
    weights = numpy.random.default_rng(1).random((1 << 21, 8), numpy.float32)
    return openvino.Model([opset13.reduce_sum(opset13.multiply(x, opset13.constant(weights)), 0, True)], [x], "big")
npucore.Model.read(openvino.Model([opset13.relu(p := opset13.parameter([1, 8], openvino.Type.f32))], [p]))
before = resident()
model = npucore.Model.read(make())
gc.collect()
print((resident() - before) / (1 << 26))
"""
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
        self.assertLess(float(done.stdout), 0.5)

    def test_what_openvino_cannot_convert_is_told(self):
        self.path.write_bytes(self.path.read_bytes().replace(b"Mul", b"Mut"))
        with self.assertRaisesRegex(npucore.InvalidArgumentError, r'OpenVINO \S+ cannot convert ".*scaled.onnx": [^$]*Mut'):
            npucore.compile(self.path)
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "cannot convert the model in memory"):
            npucore.Model.read(b"\x08\x08nonsense")
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "leave `weights` out"):
            npucore.Model.read(tiny.onnx(self.scales), b"")
        with self.assertRaises(npucore.NotFoundError):
            npucore.Model.read(self.folder / "missing.onnx")

    def test_without_the_package_the_error_names_the_converter(self):
        program = """
import sys
sys.modules["openvino"] = None
import npucore
try:
    npucore.Model.read(sys.argv[1])
except npucore.Error as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", program, self.path], stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
        self.assertIn("pip install openvino; ovc", done.stdout)


if __name__ == "__main__":
    tiny.main()
