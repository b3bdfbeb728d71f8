"""What pipelines/record-on-event.py holds in memory while the disk is slow, and that it tells of one that fails."""

import contextlib
import importlib.util
import io
import json
import os
import tempfile
import threading
import time
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "pipelines" / "record-on-event.py"
spec = importlib.util.spec_from_file_location("record_on_event", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
Gst = script.Gst

FRAME = 64 << 10  # bytes
MOST = 4 << 20
FRAMES = 4 * MOST // FRAME
CAPS = "image/jpeg,width=640,height=480,framerate=30/1"


class SlowDisk(unittest.TestCase):
    """A pipe in place of a file: it takes nothing until somebody reads."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "out.mkv"
        os.mkfifo(path)
        self.disk = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        most, script.MOST_WAITING = script.MOST_WAITING, MOST
        self.addCleanup(setattr, script, "MOST_WAITING", most)
        self.recording = script.Recording(path, Gst.Caps.from_string(CAPS))
        self.addCleanup(self.recording.close)
        self.highest, self.failure = 0, None
        self.adding = threading.Thread(target=self.add_frames)
        self.adding.start()
        while self.adding.is_alive() and self.waiting() < MOST:
            time.sleep(0.01)

    def waiting(self):
        return self.recording.frames.get_property("current-level-bytes")

    def add_frames(self):
        frame = Gst.Buffer.new_wrapped(bytes(FRAME))
        try:
            for number in range(FRAMES):
                one = frame.copy()
                one.pts = number * Gst.SECOND // 30
                self.recording.add(one)
                self.highest = max(self.highest, self.waiting())
        except OSError as error:
            self.failure = str(error)

    def read_all(self):
        os.set_blocking(self.disk, True)
        self.written = 0
        while part := os.read(self.disk, 1 << 20):
            self.written += len(part)
        os.close(self.disk)

    def test_holds_the_frames_back(self):
        reading = threading.Thread(target=self.read_all)
        reading.start()
        self.adding.join()
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.recording.end()
        reading.join()
        self.assertIsNone(self.failure)
        self.assertLessEqual(self.highest, MOST + FRAME)
        self.assertGreaterEqual(self.written, FRAMES * FRAME, "and all of them are written")
        self.assertEqual(json.loads(told.getvalue())["from"], 0)

    def test_that_fails_is_told_to_the_one_who_waits(self):
        os.close(self.disk)
        self.adding.join()
        self.assertIn("out.mkv cannot be written: ", self.failure or "nothing was told")
        self.recording.end()  # nor does it wait for an end that cannot come


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(verbosity=2)
