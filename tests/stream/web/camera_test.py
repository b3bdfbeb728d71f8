#!/usr/bin/env python3
"""A camera that is killed 20 times comes back each time, its counts go on, and nothing leaks: camera_test.py NPU_STREAM"""

import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from service import SHAPES, Service

PROGRAM = os.path.abspath(sys.argv[1])
CAMERA = Path(__file__).resolve().parents[2] / "pipelines" / "rtsp_server.py"
KILLS, WARM_UP = 20, 4
FROZEN = (7, 15)  # these times the camera stops without closing its connection
SLACK = 5  # descriptors and threads: those of thread pools come and go, and a leak at each kill would be more
RATE = 15
CAMERAS = """server: {{port: 0{server}}}
models:
  shapes: {{model: {shapes}/shapes.xml, device: software, threshold: 0.2}}
defaults: {{model: shapes, drop: none, publish: "{{id}}.jsonl"}}
streams:
  - id: camera
    source: {{rtsp: "rtsp://127.0.0.1:PORT/camera"}}
    lines: [{{name: middle, points: [[0.5, 0], [0.5, 1]]}}]
    zones: [{{name: right, points: [[0.5, 0], [1, 0], [1, 1], [0.5, 1]]}}]
  - id: other
    source: {{launch: "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=5/1"}}
"""


class Camera:
    """An RTSP server that shows the demo clip over and over, always at one port."""

    def __init__(self, folder):
        subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={SHAPES}/shapes.mp4", "!", "decodebin", "!", "videorate", "!",
                        f"video/x-raw,framerate={RATE}/1", "!", "jpegenc", "!", "multifilesink", f"location={folder}/%03d.jpg"], check=True)
        self.shown = (f"( multifilesrc location={folder}/%03d.jpg loop=true caps=image/jpeg,framerate={RATE}/1 "
                      "! jpegdec ! identity sync=true ! jpegenc ! rtpjpegpay name=pay0 )")
        self.port = "0"
        self.start()

    def start(self):
        self.process = subprocess.Popen(["/usr/bin/python3", "-B", CAMERA, self.port, self.shown], stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class KilledCamera(unittest.TestCase):
    def setUp(self):
        self.service = Service(PROGRAM, cameras=CAMERAS)
        self.addCleanup(self.service.stop)
        self.camera = Camera(self.service.folder)
        self.addCleanup(lambda: self.camera.kill())
        self.service.file.write_text(self.service.file.read_text().replace("PORT", self.camera.port))
        self.service.start()

    def counted(self):
        stream = self.service.stream("camera")
        line, zone = stream["lines"][0]["counts"], stream["zones"][0]["counts"]
        return line["forward"] + line["backward"], zone["entered"] + zone["left"]

    def wait_for_more(self, before):
        return self.service.wait("counts that go on", lambda: all(now > had for now, had in zip(self.counted(), before)) and self.counted())

    def play(self, returns, before):
        """Until the stream has counted more, and has said that it plays well: then it waits only a second after its next failure."""
        counted = [self.wait_for_more(before)]

        def plays_well():
            counted.append(self.counted())
            return self.service.said().count("camera: plays again") == returns
        self.service.wait("a stream that plays well", plays_well)
        for old, new in zip(counted, counted[1:]):
            self.assertTrue(old[0] <= new[0] and old[1] <= new[1], f"{new} behind {old}")
        return counted[-1]

    def fail_and_return(self, number):
        failures = self.service.stream("camera")["restarts"]
        if number in FROZEN:
            self.camera.process.send_signal(signal.SIGSTOP)
            self.service.wait("the failure", lambda: self.service.stream("camera")["restarts"] > failures)
        self.camera.kill()
        self.service.wait("the failure", lambda: self.service.stream("camera")["restarts"] > failures)
        self.camera.start()

    def test_it_comes_back_each_time(self):
        counted, before = self.play(0, (0, 0)), None
        for number in range(KILLS):
            if number == WARM_UP:
                before = self.service.usage()
            self.fail_and_return(number)
            counted = self.play(number + 1, counted)
        self.service.wait("the end of idle threads", lambda: max(now - had for now, had in zip(self.service.usage()[:2], before[:2])) <= SLACK)
        after = self.service.usage()
        print(f"{before} before, {after} after {KILLS - WARM_UP} kills; counted {counted}", file=sys.stderr)
        self.assertLess(after.memory_mb, before.memory_mb + 20)
        lines = self.service.lines("other")
        self.assertEqual([line["frame"] for line in lines], list(range(len(lines))), "the other stream began anew, or lost a frame")
        self.assertEqual(self.service.stream("other")["restarts"], 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
