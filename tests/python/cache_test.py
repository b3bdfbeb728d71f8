#!/usr/bin/env python3
"""CACHE_DIR's entries by the caller's own name: without the model, which a function makes only if it is needed."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import tiny

import npucore

SQUARE = tiny.EXAMPLES / "square.xml"


class CacheId(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.options = {"properties": {"CACHE_DIR": self.folder / "cache"}}
        self.calls = 0

    def make(self, model=SQUARE):
        self.calls += 1
        return model

    def check(self, compiled, source):
        self.assertEqual(compiled.load_stats.source, source)
        self.assertEqual(compiled.create_request().infer(np.full((1, 8), 3, np.float32))["y"][0, 0], 9)

    def test_a_function_is_called_only_if_there_is_no_entry(self):
        self.check(npucore.compile(self.make, cache_id="square 1", **self.options), "compiler")
        self.check(npucore.compile(self.make, cache_id="square 1", **self.options), "cache")
        self.assertEqual(self.calls, 1)
        self.check(npucore.compile(self.make, cache_id="square 2", **self.options), "compiler")
        self.assertEqual(self.calls, 2)

    def test_a_function_may_make_whatever_a_model_is_read_from(self):
        import openvino
        made = [SQUARE, str(SQUARE), npucore.Model.read(SQUARE), SQUARE.read_bytes(), openvino.Core().read_model(SQUARE)]
        for number, model in enumerate(made):
            with self.subTest(type(model)):
                self.check(npucore.compile(lambda: self.make(model), cache_id=str(number), **self.options), "compiler")
        with self.assertRaisesRegex(TypeError, "a model is a path, bytes, or a Model .*, not NoneType"):
            npucore.compile(lambda: None, cache_id="nothing", **self.options)
        with self.assertRaisesRegex(ZeroDivisionError, "by zero"):
            npucore.compile(lambda: 1 / 0, cache_id="nothing", **self.options)
        self.assertIsNone(npucore.load_cached("nothing", **self.options))

    def test_a_path_and_a_model_have_names_too(self):
        path = self.folder / "model.xml"
        path.write_bytes(SQUARE.read_bytes())
        self.check(npucore.compile(path, "software", cache_id="mine", **self.options), "compiler")
        self.check(npucore.compile(npucore.Model.read(path), cache_id="mine", **self.options), "cache")
        path.unlink()
        self.check(npucore.load_cached("mine", **self.options), "cache")
        self.check(npucore.compile(lambda: self.fail("called"), cache_id="mine", **self.options), "cache")
        self.check(npucore.compile(lambda: self.fail("called"), properties={**self.options["properties"], "CACHE_ID": "mine"}), "cache")

    def test_load_cached_gives_none_where_there_is_none(self):
        self.assertIsNone(npucore.load_cached("mine", **self.options))
        npucore.compile(SQUARE, cache_id="mine", **self.options)
        self.check(npucore.load_cached("mine", npucore.Device("software"), **self.options), "cache")
        self.assertIsNone(npucore.load_cached("mine", properties={**self.options["properties"], "NPU_TILES": 2}), "compiled otherwise")
        self.assertIsNone(npucore.load_cached("mine", config={"NPU_TILES": "2"}, **self.options))

    def test_without_a_folder_the_error_names_the_property(self):
        for use in (lambda: npucore.load_cached("mine"), lambda: npucore.compile(SQUARE, cache_id="mine"),
                    lambda: npucore.compile(self.make, cache_id="mine")):
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "CACHE_ID is 'mine', but there is no cache: set CACHE_DIR"):
                use()
        self.assertEqual(self.calls, 0)

    def test_ids_that_are_none(self):
        for wrong, kind in (("", npucore.InvalidArgumentError), (3, TypeError), (b"mine", TypeError)):
            for use in (npucore.load_cached, lambda name, **options: npucore.compile(self.make, cache_id=name, **options)):
                with self.subTest(wrong), self.assertRaises(kind):
                    use(wrong, **self.options)
        self.assertEqual(self.calls, 0)

    def test_without_an_id_a_function_is_called_each_time(self):
        for _ in range(2):
            npucore.compile(self.make, **self.options)
        self.assertEqual(self.calls, 2)

    def test_the_devices_own_folder_counts(self):
        program = f"""
import npucore
device = npucore.Device("software")
device.properties["CACHE_DIR"] = {str(self.folder / "cache")!r}
npucore.compile({str(SQUARE)!r}, device, cache_id="mine")
print(npucore.load_cached("mine", device).load_stats.source)
"""
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
        self.assertEqual(done.stdout, "cache\n")


if __name__ == "__main__":
    tiny.main()
