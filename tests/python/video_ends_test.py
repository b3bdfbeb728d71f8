#!/usr/bin/env python3
"""npucore.video: how it ends. Loops that are left leave nothing behind, and errors say what to do.

usage: video_ends_test.py [unittest's arguments]
"""
import collections
import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
import tiny

import npucore

CLIP, MODEL = tiny.SHAPES / "shapes.mp4", tiny.SHAPES / "shapes.xml"
# Shows a frame, then none for ten minutes.
STILL = "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=1/600"
CYCLES = 20
MEMORY_KIB = 30000  # fragments of the allocator's; a frame that is never freed costs 100 cycles 34 MB


def video(source=CLIP, **options):
    return npucore.video(source, **({"model": MODEL, "device": "software"} | options))


def still(**options):
    return video(None, **({"launch": STILL} | options))


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return sorted(os.readlink(f"/proc/self/fd/{fd}").split(":")[0] for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))


def memory_kib():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1024


class Leaving(unittest.TestCase):
    def test_frames_outlive_it(self):
        frames = []
        for frame in video(track=True):
            frames.append(frame)
            if len(frames) == 10:
                break
        gc.collect()
        self.assertEqual([frame.index for frame in frames], list(range(10)))
        self.assertGreater(len(frames[3].objects), 2)
        self.assertEqual(frames[3].image.shape, (360, 640, 3))
        thing, image = frames[3].objects[0], frames[4].image
        del frames
        self.assertEqual(thing.class_name, "circle")
        self.assertGreater(image.mean(), 1)

    def test_each_loop_begins_anew(self):
        clip = video()
        for _ in range(2):
            for frame in clip:
                if frame.index == 3:
                    break
            self.assertAlmostEqual(frame.seconds, 0.1, places=3)

    def test_ctrl_c_ends_a_wait(self):
        timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            for frame in still():
                timer.start()
        timer.join()

    def test_close_from_another_thread_ends_a_wait(self):
        with still() as clip:
            for frame in clip:
                threading.Timer(0.5, clip.close).start()
        self.assertEqual(frame.index, 0)

    def test_two_run_at_once(self):
        for first, second in zip(video(), video()):
            self.assertEqual([thing.xyxy for thing in first.objects], [thing.xyxy for thing in second.objects])
            if first.index == 20:
                break

    def test_a_process_may_end_within_it(self):
        for end in ("", "raise SystemExit(0)", "import os; os.kill(os.getpid(), 2)"):
            program = f"import sys, npucore\nframes = iter(npucore.video(sys.argv[1], model=sys.argv[2], device='software'))\nnext(frames)\n{end}"
            done = subprocess.run([sys.executable, "-c", program, CLIP, MODEL], capture_output=True, text=True, timeout=300, check=False)
            with self.subTest(end):
                self.assertIn(done.returncode, (0, -signal.SIGINT), done.stderr)


class Cycles(unittest.TestCase):
    def leaves_nothing(self, work, cycles=CYCLES):
        """GLib keeps some idle threads for later; a pipeline's own are more than one. What the first inference loads stays, too."""
        next(iter(video()))
        for _ in range(5):
            work()
        before = threads(), descriptors(), memory_kib()
        for _ in range(cycles):
            work()
        gc.collect()
        self.assertLess(memory_kib() - before[2], MEMORY_KIB)
        self.assertLess(threads() - before[0], cycles / 2)
        # A compilation that was broken off may still have had its helper before.
        self.assertFalse(collections.Counter(descriptors()) - collections.Counter(before[1]))

    def test_by_break(self):
        def work():
            for frame in video(track=True):
                frame.objects, frame.image
                break
        self.leaves_nothing(work, 100)

    def test_by_an_exception(self):
        def work():
            with self.assertRaises(ZeroDivisionError):
                for frame in video():
                    frame.index / 0
        self.leaves_nothing(work)

    def test_by_forgetting_it(self):
        self.leaves_nothing(lambda: next(iter(video())).image)

    def test_by_close_and_with(self):
        def work():
            with video() as clip:
                frames = iter(clip)
                next(frames)
            self.assertEqual(sum(1 for _ in frames), 0)
        self.leaves_nothing(work)

    def test_by_an_error(self):
        def work():
            with self.assertRaises(npucore.Error):
                list(video(properties={"nputensordec": {"labels": "one"}}))
            with self.assertRaises(npucore.Error):
                list(video(properties={"npuinfer": {"none": 1}}))
        self.leaves_nothing(work)

    def test_before_the_first_frame(self):
        """While a model is compiled, and not at all."""
        def work():
            player = video()._new_player()
            player.start()
            player.stop()
            self.assertTrue(player.is_over())
            iter(video())
        self.leaves_nothing(work)


class Errors(unittest.TestCase):
    def fails(self, error, words, source=CLIP, **options):
        with self.assertRaises(error) as caught:
            for _ in video(source, **options):
                pass
        for word in words if isinstance(words, tuple) else (words,):
            self.assertIn(word, str(caught.exception))
        return caught.exception

    def test_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            text, cut, sound = Path(folder, "text.mp4"), Path(folder, "cut.mp4"), Path(folder, "sound.wav")
            text.write_text("no video\n" * 99)
            cut.write_bytes(CLIP.read_bytes()[:50000])
            subprocess.run(["gst-launch-1.0", "-q", "audiotestsrc", "num-buffers=50", "!", "wavenc", "!", "filesink", f"location={sound}"], check=True)
            self.fails(npucore.NotFoundError, "none.mp4: there is no such file", "none.mp4")
            self.fails(npucore.NotFoundError, "is a folder", folder)
            self.fails(npucore.UnsupportedError, "text file", text)
            self.fails(npucore.UnsupportedError, "no video that can be decoded", sound)
            # decodebin drops the demuxer's error now and then, and then nothing would ever come.
            for _ in range(5):
                self.fails(npucore.IoError, "", cut)

    def test_of_models(self):
        self.fails(npucore.NotFoundError, "none.xml: there is no such model", model="none.xml")
        self.fails(npucore.Error, "README.md", model=tiny.TREE / "README.md")
        error = self.fails(npucore.Error, ("2 labels", "set model-task or model-family, and labels"), properties={"nputensordec": {"labels": "a,b"}})
        self.assertEqual(error.driver_log, "")

    def test_of_cameras(self):
        self.fails(npucore.NotFoundError, "/dev/video63: there is no such camera", 63)
        self.fails(npucore.IoError, "Could not open resource", "rtsp://127.0.0.1:9/camera")
        gone = "videotestsrc is-live=true ! video/x-raw,width=320,height=240 ! identity error-after=5"
        self.fails(npucore.Error, "identity: Failed after iterations as requested.", None, launch=gone)

    def test_frames_in_front_of_an_error_come(self):
        count = 0
        with self.assertRaises(npucore.Error):
            for _ in video(None, launch="videotestsrc ! video/x-raw,width=320,height=240 ! identity error-after=8"):
                count += 1
        self.assertGreater(count, 0)

    def test_of_devices(self):
        if any(not device.is_software for device in npucore.devices()):
            self.skipTest("there is an NPU")
        self.fails(npucore.NotFoundError, ("npuinfer", "there is no /dev/accel", "->"), device="npu")

    def test_of_arguments(self):
        for options in ({"launch": STILL}, {"source": None}, {"source": 1.5}, {"source": True}, {"color": "GRAY"}, {"confidence": 7},
                        {"launch": STILL, "source": None, "properties": {"source": {"latency": 1}}}):
            with self.subTest(options), self.assertRaises(npucore.InvalidArgumentError):
                video(**options)
        error = self.fails(npucore.InvalidArgumentError, ('no property "modle"', "npuinfer", "gst-inspect-1.0"), properties={"npuinfer": {"modle": "x"}})
        self.assertIsInstance(error, ValueError)
        self.fails(npucore.InvalidArgumentError, ('could not set property "drop"', "npuinfer"), properties={"npuinfer": {"drop": "x"}})
        self.fails(npucore.InvalidArgumentError, "this pipeline has npuinfer, nputensordec", properties={"nputrack": {"max-age": 1}})
        self.fails(npucore.InvalidArgumentError, ('no property "latency"', "filesrc"), properties={"source": {"latency": 1}})
        self.fails(npucore.InvalidArgumentError, "this is no pipeline", None, launch="videotestsrc ! !")
        self.fails(npucore.UnsupportedError, ('no element "nothing"', "sudo apt install"), None, launch="nothing")

    def run_with(self, program, **environment):
        done = subprocess.run([sys.executable, "-c", program, CLIP, MODEL], capture_output=True, text=True, timeout=300, check=False,
                              env=os.environ | environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    LOOP = ("import sys, npucore\n"
            "try:\n"
            "    for frame in npucore.video(sys.argv[1], model=sys.argv[2], device='software'):\n"
            "        print('frame'); break\n"
            "except npucore.Error as error:\n"
            "    print(type(error).__name__, error)\n")

    def test_a_missing_decoder_names_the_packages(self):
        said = self.run_with(self.LOOP, GST_PLUGIN_FEATURE_RANK="avdec_h264:NONE,openh264dec:NONE,vah264dec:NONE,v4l2h264dec:NONE")
        self.assertRegex(said, r"UnsupportedError this GStreamer has no H.264 .*decoder: sudo apt install .*gstreamer1.0-libav")

    def test_a_compilers_refusal_is_a_compile_error(self):
        said = self.run_with(self.LOOP, SOFTNPU_FAULT="pfnCreate3:MODULE_BUILD_FAILURE@1")
        self.assertRegex(said, r"CompileError npuinfer: .*MODULE_BUILD_FAILURE")

    def test_ctrl_c_ends_a_compilation_that_hangs(self):
        program = ("import os, signal, sys, threading, npucore\n"
                   "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                   "try:\n"
                   "    list(npucore.video(sys.argv[1], model=sys.argv[2], device='software'))\n"
                   "except KeyboardInterrupt:\n"
                   "    print('interrupted')\n")
        self.assertEqual(self.run_with(program, SOFTNPU_FAULT="pfnCreate3:HANG@1"), "interrupted\n")

    def test_a_missing_gstreamer_names_the_packages(self):
        hide = ("import importlib.abc, sys\n"
                "class Hide(importlib.abc.MetaPathFinder):\n"
                "    def find_spec(self, name, path, target=None):\n"
                "        if name == 'npucore._video':\n"
                "            raise ImportError('libgstapp-1.0.so.0: cannot open shared object file: No such file or directory')\n"
                "sys.meta_path.insert(0, Hide())\n")
        said = self.run_with(hide + self.LOOP)
        self.assertRegex(said, r"UnsupportedError npucore.video needs GStreamer .*libgstapp.*sudo apt install .*gstreamer1.0-plugins-good")

    def test_another_build_of_the_elements_is_told(self):
        plugin = Path(os.environ["GST_PLUGIN_PATH"], "libgstnpu.so")
        build = plugin.parents[2]
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(plugin, folder)
            load = ("import ctypes\n"
                    "gst = ctypes.CDLL('libgstreamer-1.0.so.0')\n"
                    "gst.gst_init(None, None)\n"
                    "gst.gst_plugin_load_file.restype = ctypes.c_void_p\n"
                    f"assert gst.gst_plugin_load_file({str(copy)!r}.encode(), None)\n")
            said = self.run_with(load + self.LOOP, GST_PLUGIN_PATH=folder,
                                 LD_LIBRARY_PATH=":".join(str(build / room) for room in ("npucore", "npuvision", "gst/meta")))
        self.assertRegex(said, rf"UnsupportedError this process has loaded other npu elements already, from {copy}")

    def test_other_words_go_to_the_log(self):
        with self.assertLogs("npucore", logging.INFO) as logged:
            next(iter(video()))
        self.assertTrue(any("compil" in line for line in logged.output), logged.output)


if __name__ == "__main__":
    np.seterr(all="raise")
    tiny.main()
