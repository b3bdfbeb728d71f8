#!/usr/bin/env python3
"""20 viewers at once, a slow one and one that never reads: no stream stalls, and memory does not grow: viewers_test.py NPU_STREAM"""

import os
import selectors
import socket
import sys
import time
import unittest

from service import PATIENCE, Service

PROGRAM = os.path.abspath(sys.argv[1])
VIEWERS = 20
SLACK = 3
CAMERAS = """server: {{port: 0{server}}}
models:
  shapes: {{model: {shapes}/shapes.xml, device: software}}
defaults: {{model: shapes, drop: none, publish: "{{id}}.jsonl"}}
streams:
  - id: door
    source: {{file: shapes.mp4, loop: true, realtime: false}}
"""


class Viewer:
    """Reads the large picture's stream as fast as asked."""

    def __init__(self, service, selector, is_slow=False):
        host, port = service.url.removeprefix("http://").split(":")
        self.socket = socket.socket()
        if is_slow:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect((host, int(port)))
        self.socket.sendall(f"GET /api/streams/door/video.mjpeg?width=640 HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        self.socket.setblocking(False)
        self.piece = 500 if is_slow else 1 << 20
        self.pictures, self.tail, self.is_open = 0, b"", True
        if selector:
            selector.register(self.socket, selectors.EVENT_READ, self)

    def read(self):
        data = self.socket.recv(self.piece)
        self.is_open = self.is_open and bool(data)
        data = self.tail + data
        self.pictures += data.count(b"Content-Type: image/jpeg")
        self.tail = data[-len(b"Content-Type: image/jpeg") + 1:]


class Viewers(unittest.TestCase):
    def setUp(self):
        # 20 ms for each inference: the device, not the processor, says how fast the clip plays.
        self.service = Service(PROGRAM, cameras=CAMERAS, SOFTNPU_EXEC="delay:20000").start()
        self.addCleanup(self.service.stop)
        self.selector = selectors.DefaultSelector()
        self.addCleanup(self.selector.close)

    def view(self, what, happened):
        until = time.monotonic() + PATIENCE
        while not happened():
            self.assertLess(time.monotonic(), until, f"{what} did not come; {self.service.said()}")
            for key, _ in self.selector.select(0.1):
                key.data.read()
                if not key.data.is_open:
                    self.selector.unregister(key.fileobj)

    def frames(self):
        return len(self.service.lines("door"))

    def test_none_stalls_the_stream_or_the_others(self):
        self.service.wait("the stream", lambda: self.frames() > 20)
        one = Viewer(self.service, self.selector)
        self.view("a picture", lambda: one.pictures > 3)
        before = self.service.usage()
        viewers = [Viewer(self.service, self.selector) for _ in range(VIEWERS)]
        slow = Viewer(self.service, self.selector, is_slow=True)
        stuck = Viewer(self.service, None, is_slow=True)
        had = self.frames()
        self.view("pictures for all", lambda: min(viewer.pictures for viewer in viewers) > 20)
        shown = [viewer.pictures for viewer in viewers]
        # After 30 s without a byte taken the stuck viewer's connection is closed: only its socket here is left.
        self.view("the stuck viewer's end", lambda: self.service.usage().descriptors <= before.descriptors + VIEWERS + 1)
        self.view("more pictures", lambda: all(viewer.pictures > old + 20 for viewer, old in zip(viewers, shown)))
        during = self.service.usage()
        self.assertTrue(all(viewer.is_open for viewer in viewers))
        self.assertGreater(slow.pictures, 0)
        lines = self.service.lines("door")
        self.assertGreater(len(lines), had + 40)
        self.assertEqual([line["frame"] for line in lines], list(range(len(lines))), "frames were lost")
        for viewer in [one, slow, stuck, *viewers]:
            viewer.socket.close()
        self.service.wait("the viewers' end", lambda: max(now - had for now, had in zip(self.service.usage()[:2], before[:2])) <= SLACK)
        print(f"{before} with one viewer, {during} with {VIEWERS} more and a slow one, {self.service.usage()} after them", file=sys.stderr)
        self.assertLess(during.memory_mb, before.memory_mb + 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
