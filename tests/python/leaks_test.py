#!/usr/bin/env python3
"""Thousands of each object leave no descriptor, and no memory that grows, behind.

NPUCORE_PYTHON_CYCLES: how many of each; default 1000, for compilations a tenth.
"""
import asyncio
import gc
import os
import random
import tempfile
import unittest
from pathlib import Path

import numpy as np
import tiny

import npucore

CYCLES = int(os.environ.get("NPUCORE_PYTHON_CYCLES", "1000"))
MOST_BYTES = 6 << 20  # malloc's own arenas move so much


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leaks(unittest.TestCase):
    def setUp(self):
        self.compiled = tiny.square()
        self.x = np.full((1, 8), 2, np.float32)

    def leaks_nothing(self, work, cycles=CYCLES):
        for _ in range(max(cycles // 5, 20)):
            work()
        gc.collect()
        files, memory = descriptors(), resident_bytes()
        for _ in range(cycles):
            work()
        gc.collect()
        self.assertEqual(descriptors(), files)
        self.assertLess(resident_bytes() - memory, MOST_BYTES)

    def test_devices(self):
        self.leaks_nothing(lambda: (npucore.Device(), npucore.Device().info, dict(npucore.Device().properties)))

    def test_models(self):
        def work():
            model = npucore.Model.read(tiny.EXAMPLES / "square.xml")
            model.copy().reshape((1, 4))
            model.inputs, model.outputs, model.warnings(), model.layers()
        self.leaks_nothing(work)

    def test_models_in_memory(self):
        text, weights = (tiny.SHAPES / "shapes.xml").read_bytes(), bytearray((tiny.SHAPES / "shapes.bin").read_bytes())

        def work():
            npucore.Model.read(text, weights).copy().inputs
        self.leaks_nothing(work, CYCLES // 5)
        weights.append(0)  # a BufferError if a model still had them

    def test_models_that_openvino_converts(self):
        onnx = tiny.onnx(self.x)
        self.leaks_nothing(lambda: npucore.Model.read(onnx), CYCLES // 10)

    def test_models_found_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            options = {"cache_id": "square", "properties": {"CACHE_DIR": Path(folder, "cache")}}
            npucore.compile(tiny.EXAMPLES / "square.xml", **options)
            self.leaks_nothing(lambda: npucore.compile(self.fail, **options).create_request().infer(self.x), CYCLES // 10)

    def test_compilations_and_blobs(self):
        with tempfile.TemporaryDirectory() as folder:
            blob = Path(folder, "square.blob")
            self.compiled.save(blob)

            def work():
                npucore.load(blob).create_request().infer(self.x)
                tiny.square()
            self.leaks_nothing(work, CYCLES // 10)

    def test_requests(self):
        def work():
            request = self.compiled.create_request()
            kept = request.infer(self.x)["y"]
            request.input("x")[...] = 1
            request.infer()
            return kept[0]
        self.leaks_nothing(work)

    def test_inferences(self):
        request = self.compiled.create_request()
        self.leaks_nothing(lambda: request.infer(self.x), CYCLES * 10)

    def test_results_that_are_kept_and_dropped_in_any_order(self):
        request = self.compiled.create_request()
        kept = []

        def work():
            kept.append(request.infer(self.x)["y"])
            if len(kept) > 20:
                del kept[random.randrange(len(kept))]
        self.leaks_nothing(work, CYCLES * 3)

    def test_tensors_and_arrays(self):
        def work():
            tensor = npucore.Tensor.allocate((64,), "float16")
            return np.from_dlpack(tensor)[3:], tensor.numpy(), np.asarray(tensor)
        self.leaks_nothing(work, CYCLES * 3)

    def test_shared_buffers(self):
        def work():
            fd = os.memfd_create("buffer")
            os.ftruncate(fd, 4096)
            tensor = npucore.Tensor.from_dmabuf(fd, (1, 8), "float32")
            os.close(fd)
            with tensor.cpu_access() as array:
                self.compiled.create_request().infer({"x": tensor})
            return array
        self.leaks_nothing(work)

    def test_errors(self):
        def work():
            for wrong in (np.zeros(3), [1], {"z": self.x}):
                try:
                    self.compiled.create_request().infer(wrong)
                except npucore.Error:
                    pass
        self.leaks_nothing(work)

    def test_states(self):
        compiled = npucore.compile(tiny.EXAMPLES / "running_sum.xml")

        def work():
            request = compiled.create_request()
            state = request.states()["sum"]
            request.infer(self.x)
            del request
            state.reset()
            return state.numpy()
        self.leaks_nothing(work)

    def test_completions(self):
        def work():
            completions, request = npucore.Completions(), self.compiled.create_request()
            completions.watch(request, 1)
            request.infer(self.x)
            return completions.take()
        self.leaks_nothing(work)

    def test_pools(self):
        async def use(pool):
            return await asyncio.gather(*(pool.infer(self.x) for _ in range(4)))

        def work():
            with npucore.AsyncPool(self.compiled, 2) as pool:
                asyncio.run(use(pool))
                list(pool.map([self.x] * 4))
            npucore.AsyncPool(self.compiled, 2)
        self.leaks_nothing(work, CYCLES // 3)

    def test_answers(self):
        compiled = npucore.compile(tiny.SHAPES / "shapes.xml")
        card = npucore.vision.ModelCard.read(tiny.SHAPES / "shapes.xml")
        scores = np.random.default_rng(3).random((1, 7, 1280), np.float32)
        scores[:, :4] *= 256

        def work():
            tracker = npucore.vision.Tracker()
            answer = npucore.vision.Decoder(card, compiled)({"output0": scores})
            tracker.update(answer, 0).detections()
        self.leaks_nothing(work)

    def test_cycles_with_their_own_requests_are_collected(self):
        class Holder:
            pass

        def work():
            holder = Holder()
            holder.self = holder
            holder.request = self.compiled.create_request()
            holder.result = holder.request.infer(self.x)
        self.leaks_nothing(work)


if __name__ == "__main__":
    tiny.main()
