#!/usr/bin/env python3
"""Devices, models, compilations, requests and errors, as Python sees them."""
import builtins
import collections.abc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import tiny

import npucore
from npucore import _software


def run(program, **environment):
    """Runs a program in another process, where the software NPU reads other variables."""
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment}, cwd=Path(__file__).parent,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=100)


class Devices(unittest.TestCase):
    def test_devices_lists_the_software_npu(self):
        found = npucore.devices()
        self.assertTrue(found[-1].is_software)
        self.assertEqual(found[-1], npucore.Device("software"))
        self.assertEqual(hash(found[-1]), hash(npucore.Device("software")))
        self.assertNotEqual(found[-1], "software")
        info = found[-1].info
        self.assertGreater(info.memory_bytes, 0)
        self.assertEqual(len(info.compiler), 3)
        self.assertIn("Software NPU", repr(found[-1]))

    def test_a_wrong_kind_is_told(self):
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "software"):
            npucore.Device("gpu")

    def test_properties_are_a_mapping(self):
        properties = npucore.Device().properties
        self.assertIsInstance(properties, collections.abc.Mapping)
        self.assertIn("FULL_DEVICE_NAME", properties)
        self.assertNotIn("NONSENSE", properties)
        self.assertNotIn(3, properties)
        self.assertEqual(properties.get("NONSENSE", "none"), "none")
        self.assertEqual(len(dict(properties)), len(properties))
        properties["NPU_TURBO"] = True
        self.assertEqual(properties["NPU_TURBO"], "YES")
        properties.update({"NPU_TURBO": False})
        self.assertEqual(properties["NPU_TURBO"], "NO")
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "did you mean NPU_TURBO"):
            properties["NPU_TURBOO"]
        with self.assertRaises(npucore.InvalidArgumentError):
            properties["NPU_TURBO"] = "perhaps"
        for value in (None, b"cache"):
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "not (NoneType|bytes)"):
                npucore.compile(tiny.EXAMPLES / "square.xml", properties={"CACHE_DIR": value})


class Models(unittest.TestCase):
    def test_ports_and_reshape(self):
        model = npucore.Model.read(str(tiny.EXAMPLES / "any_size.xml"))
        self.assertEqual(model.inputs[0].shape, (1, 3, None, None))
        with self.assertRaises(npucore.Error):
            npucore.compile(model)
        other = model.copy()
        model.reshape((1, 3, 32, 32))
        other.reshape({model.inputs[0].name: [1, 3, 64, 64]})
        self.assertEqual(model.inputs[0].shape, (1, 3, 32, 32))
        self.assertEqual(npucore.compile(other).outputs[0].shape[-1], 64)
        with self.assertRaisesRegex(npucore.NotFoundError, "z"):
            model.reshape({"z": (1,)})

    def test_files_that_are_no_models(self):
        with self.assertRaises(npucore.Error):
            npucore.Model.read("/nowhere/model.xml")
        with self.assertRaises(TypeError):
            npucore.Model.read(None)

    def test_preprocessing_takes_pictures(self):
        model = tiny.model(shape=(1, 3, 16, 16))
        self.assertEqual(model.preprocess(npucore.Frame("RGB", 16, 16), mean=[1, 2, 3], scale=[2]), [])
        compiled = npucore.compile(model)
        self.assertEqual(compiled.inputs[0].shape, (1, 16, 16, 3))
        self.assertEqual((compiled.frame.width, compiled.frame.format), (16, "RGB"))
        y = compiled.create_request().infer(np.full((16, 16, 3), 11, np.uint8))["y"]
        np.testing.assert_allclose(y[0, :, 5, 5], [10, 9, 8])
        with self.assertRaises(npucore.Error):
            npucore.Frame("RGB", 0, 5)
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "NV12"):
            npucore.Frame("nonsense", 16, 16)


class Compiling(unittest.TestCase):
    def test_progress_is_told_in_this_thread(self):
        told = []
        npucore.compile(tiny.EXAMPLES / "square.xml", progress=lambda *phase: told.append((*phase, threading.get_ident())))
        self.assertEqual(told[-1][0], "done")
        self.assertIn("compiling", [phase for phase, *_ in told])
        self.assertEqual({thread for *_, thread in told}, {threading.get_ident()})
        self.assertEqual(sorted(seconds for _, seconds, _ in told), [seconds for _, seconds, _ in told])

    def test_what_progress_raises_ends_the_compilation(self):
        def stop(phase, seconds):
            raise ZeroDivisionError(phase)
        with self.assertRaises(ZeroDivisionError):
            npucore.compile(tiny.EXAMPLES / "square.xml", progress=stop)

    def test_ctrl_c_ends_a_compilation(self):
        done = run("""
import os, signal, threading, time, tiny, npucore
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    npucore.compile(tiny.EXAMPLES / "square.xml")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 30)
""", NPUCORE_HELPER_PATH=self.slow_helper())
        self.assertIn("interrupted True", done.stdout)

    def slow_helper(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        helper = Path(folder.name, "helper")
        helper.write_text("#!/bin/sh\nexec sleep 60\n")
        helper.chmod(0o755)
        return str(helper)

    def test_other_threads_run_meanwhile(self):
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.wait(0.001):
                ticks.append(time.monotonic())
        thread = threading.Thread(target=tick)
        thread.start()
        npucore.compile(tiny.SHAPES / "shapes.xml")
        stop.set()
        thread.join()
        self.assertGreater(len(ticks), 20)

    def test_save_and_load(self):
        compiled = tiny.square()
        self.assertEqual(compiled.load_stats.source, "compiler")
        with tempfile.TemporaryDirectory() as folder:
            blob = Path(folder, "square.blob")
            compiled.save(blob)
            for source in (blob, str(blob), blob.read_bytes()):
                loaded = npucore.load(source)
                self.assertEqual(loaded.load_stats.source, "blob")
                self.assertEqual(loaded.create_request().infer(np.full((1, 8), 3, np.float32))["y"][0, 0], 9)
            for source in (bytearray(blob.read_bytes()), memoryview(blob.read_bytes())):
                npucore.load(source)
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "give its path"):
                npucore.load(blob.read_bytes(), model=tiny.EXAMPLES / "square.xml")
            blob.write_bytes(b"nonsense")
            with self.assertRaises(npucore.Error):
                npucore.load(blob)
            self.assertEqual(npucore.load(blob, model=tiny.EXAMPLES / "square.xml").load_stats.source, "compiler")
        self.assertEqual(compiled.native_binary()[:4], b"\x7fELF")

    def test_whether_a_blob_fits_is_known_without_loading_it(self):
        compiled, device = tiny.square(), npucore.Device("software")
        with tempfile.TemporaryDirectory() as folder:
            blob = Path(folder, "square.blob")
            compiled.save(blob)
            info = npucore.read_blob_info(blob)
            self.assertEqual((info.writer, info.model_name, info.file_bytes), ("npucore", "square", blob.stat().st_size))
            self.assertEqual(([port.name for port in info.inputs], [port.shape for port in info.outputs], info.frame), (["x"], [(1, 8)], None))
            self.assertEqual((info.platform, len(info.elf)), (device.info.platform, 3))
            self.assertGreater(len(info.sections), 0)
            self.assertEqual(len(info.sections[0]), 4)
            self.assertEqual(info.requirements, compiled.properties["RUNTIME_REQUIREMENTS"])
            self.assertEqual(device.check_compatibility(info.requirements), "SUPPORTED")
            self.assertEqual(compiled.properties["COMPATIBILITY_CHECK"], "SUPPORTED")
            other = info.requirements.replace(f"npu={info.platform}", "npu=5010")
            self.assertNotEqual(other, info.requirements)
            self.assertEqual(device.check_compatibility(other), "UNSUPPORTED")
            self.assertEqual(device.check_compatibility("meta=2.0;ov=2026.4.1;desc=[]"), "NOT_APPLICABLE")
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "RUNTIME_REQUIREMENTS"):
                device.check_compatibility("nonsense")
            with self.assertRaises(npucore.NotFoundError):
                npucore.read_blob_info(Path(folder, "missing.blob"))

    def test_another_openvino_is_named(self):
        """The software NPU loads only the one that it was linked to."""
        with mock.patch("importlib.metadata.version", lambda name: "2024.6.0"), \
                mock.patch("importlib.metadata.requires", lambda name: ["numpy>=1.26", 'openvino==2026.4.1; extra == "software"']):
            self.assertRegex(_software.prepare.__wrapped__(), "needs OpenVINO 2026.4.1, and 2024.6.0 is installed: pip install")
        hinted = npucore.Video(mock.Mock(Player=mock.Mock(side_effect=lambda *_: mock.Mock(
            start=mock.Mock(side_effect=npucore.NotFoundError("libze_softnpu.so"))))), "", True, False, "; pip install")
        with self.assertRaisesRegex(npucore.NotFoundError, "libze_softnpu.so; pip install"):
            next(iter(hinted))

    def test_properties_of_a_compiled_model(self):
        compiled = npucore.compile(tiny.EXAMPLES / "square.xml", properties={"PERFORMANCE_HINT": "LATENCY", "NPU_TILES": 2})
        self.assertEqual(compiled.properties["PERFORMANCE_HINT"], "LATENCY")
        self.assertGreater(compiled.optimal_number_of_requests, 0)
        with self.assertRaises(npucore.InvalidArgumentError):
            npucore.compile(tiny.EXAMPLES / "square.xml", properties={"NONSENSE": 1})


class Requests(unittest.TestCase):
    def test_submit_wait_and_outputs(self):
        request = tiny.square().create_request()
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "before the first inference"):
            request.outputs()
        request.submit(np.full((1, 8), 4, np.float32))
        with self.assertRaisesRegex(npucore.InvalidArgumentError, r"wait\(\) first"):
            request.submit()
        self.assertTrue(request.wait())
        self.assertEqual(request.outputs()["y"][0, 0], 16)
        with self.assertRaises(npucore.InvalidArgumentError):
            request.wait(float("nan"))

    def test_ctrl_c_and_timeouts_end_a_wait_but_not_the_inference(self):
        done = run("""
import os, signal, threading, time, numpy, tiny
request = tiny.square().create_request()
ticks = 0
def tick():
    global ticks
    while True:
        time.sleep(0.01); ticks += 1
threading.Thread(target=tick, daemon=True).start()
request.submit(numpy.full((1, 8), 4, numpy.float32))
print("timeout", request.wait(0.01))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    request.wait()
except KeyboardInterrupt:
    print("interrupted")
print("done", request.wait(), request.outputs()["y"].shape)
print("ticks", ticks > 20 or ticks)
""", SOFTNPU_EXEC="delay:1500000")
        self.assertEqual(done.stdout.splitlines()[-4:], ["timeout False", "interrupted", "done True (1, 8)", "ticks True"])

    def test_a_second_thread_gets_an_error(self):
        done = run("""
import threading, time, numpy, npucore, tiny
request = tiny.square().create_request()
thread = threading.Thread(target=request.infer, args=(numpy.zeros((1, 8), numpy.float32),))
thread.start()
time.sleep(0.3)
try:
    request.copies
except npucore.InvalidArgumentError as error:
    print(error)
thread.join()
""", SOFTNPU_EXEC="delay:1000000")
        self.assertIn("used by another thread", done.stdout)

    def test_states(self):
        request = npucore.compile(tiny.EXAMPLES / "running_sum.xml").create_request()
        states = request.states()
        self.assertEqual((list(states), states["sum"].shape, states["sum"].dtype), (["sum"], (1, 8), "float32"))
        ones = np.ones((1, 8), np.float32)
        for total in (1, 2, 3):
            self.assertEqual(request.infer(ones)["y"][0, 0], total)
        self.assertEqual(states["sum"].numpy()[0, 0], 3)
        states["sum"].set(ones * 10)
        self.assertEqual(request.infer(ones)["y"][0, 0], 11)
        del request
        states["sum"].reset()
        with self.assertRaises(npucore.InvalidArgumentError):
            states["sum"].set(np.zeros(3, np.float32))

    def test_profile(self):
        compiled = npucore.compile(tiny.EXAMPLES / "square.xml", properties={"PERF_COUNT": True})
        request = compiled.create_request()
        request.infer(np.zeros((1, 8), np.float32))
        layers = request.profile()
        self.assertTrue(all(layer.status in ("executed", "not run", "optimized out") for layer in layers))
        self.assertGreater(request.inference_time_ns, 0)
        with self.assertRaises(npucore.UnsupportedError):
            unmeasured = tiny.square().create_request()
            unmeasured.infer(np.zeros((1, 8), np.float32))
            unmeasured.profile()

    def test_a_lost_device_is_an_exception_and_then_goes_on(self):
        done = run("""
import numpy, npucore, tiny
request = tiny.square().create_request()
x, kept = numpy.full((1, 8), 3, numpy.float32), []
for frame in range(10):
    try:
        kept.append(request.infer(x)["y"])
    except npucore.DeviceLostError as error:
        kept.append(error.code)
print([y if isinstance(y, str) else float(y[0, 0]) for y in kept])
""", SOFTNPU_FAULT="zeFenceHostSynchronize:DEVICE_LOST@5", SOFTNPU_STRICT="0")
        self.assertRegex(done.stdout.splitlines()[-1], r"^\[(9.0, )*'device lost'(, 9.0){5,}\]$")


class Errors(unittest.TestCase):
    def test_they_are_a_hierarchy(self):
        also = {"InvalidArgumentError": ValueError, "NotFoundError": LookupError, "OutOfMemoryError": MemoryError,
                "TimeoutError": builtins.TimeoutError, "IoError": OSError}
        for name in npucore.__all__:
            kind = getattr(npucore, name)
            if isinstance(kind, type) and issubclass(kind, Exception):
                self.assertTrue(issubclass(kind, npucore.Error))
                self.assertTrue(issubclass(kind, also.get(name, Exception)))
                self.assertTrue(kind.code)
        with self.assertRaises(npucore.NotFoundError) as caught:
            npucore.load("/nowhere")
        self.assertEqual((caught.exception.code, caught.exception.driver_log), ("not found", ""))
        self.assertIn("/nowhere", str(caught.exception))

    def test_names_that_are_no_utf_8_are_told_too(self):
        with self.assertRaisesRegex(npucore.NotFoundError, r"/nowhere/m\\xffx"):
            npucore.load(os.fsdecode(b"/nowhere/m\xffx"))

    def test_a_child_process_is_told_to_open_its_own(self):
        request = tiny.square().create_request()
        child = os.fork()
        if child == 0:
            try:
                request.infer(np.zeros((1, 8), np.float32))
            except npucore.UnsupportedError:
                os._exit(7)
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_half_made_objects_do_not_crash(self):
        warnings.simplefilter("ignore", RuntimeWarning)
        for kind in (npucore.CompiledModel, npucore.Request, npucore.Tensor, npucore.Model, npucore.State, npucore.Port):
            with self.assertRaises(TypeError):
                kind()
            half_made = kind.__new__(kind)
            for name in dir(kind):
                if not name.startswith("__"):
                    with self.subTest(name), self.assertRaises(TypeError):
                        member = getattr(half_made, name)
                        member(0) if callable(member) else member


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tiny.main()
