#!/usr/bin/env python3
"""Models in memory."""
import gc
import mmap
import subprocess
import sys
import time
import unittest

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


if __name__ == "__main__":
    tiny.main()
