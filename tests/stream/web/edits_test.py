#!/usr/bin/env python3
"""200 random edits of a running npu-stream disturb no other stream, and nothing leaks: edits_test.py NPU_STREAM"""

import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from service import Service

PROGRAM = os.path.abspath(sys.argv[1])
WARM_UP, EDITS, SEED = 40, 200, 37
SLACK = 10  # descriptors and threads: those of thread pools come and go, and 200 leaks would be more
CLIP_FRAMES, RATE = 30, 15
STEADY = {"file-1": {"source": {"file": "clip.mkv", "loop": True, "realtime": False}},
          "file-2": {"source": {"file": "clip.mkv", "loop": True, "realtime": False}, "interval": 2},
          "live": {"source": {"launch": f"videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate={RATE}/1"}}}
EDITED = {name: {"source": {"file": "clip.mkv", "loop": True}} for name in ("a", "b", "c")}
# Each frame is inferred, so that a gap in the published lines is a frame that the stream lost.
HEAD = """server: {{port: 0{server}}}
models:
  shapes: {{model: {shapes}/shapes.xml, device: software}}
  other: {{model: {shapes}/shapes.xml, device: software, threshold: 0.5}}
defaults: {{model: shapes, drop: none, publish: "{{id}}.jsonl"}}
streams:
"""
CHANGES = (
    lambda pick: {"interval": pick.randrange(1, 5)},
    lambda pick: {"priority": pick.randrange(4)},
    lambda pick: {"model": pick.choice(("shapes", "other"))},
    lambda pick: {"lines": [{"name": "gate", "points": [[0, pick.random()], [1, 0.5]]}]},
    lambda pick: {"zones": [{"name": "yard", "points": [[0, 0], [1, 0], [1, pick.random()]]}], "labels": ["circle"]},
    lambda pick: {"zones": None, "lines": None, "labels": None},
    lambda pick: {"overlay": pick.random() < 0.5, "min-fps": pick.randrange(1, 5)},
    lambda pick: {"source": {"file": "clip.mkv", "loop": True, "realtime": pick.random() < 0.5}},
    lambda pick: {"source": {"file": "gone.mkv"}},
)


def make_clip(path):
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", f"num-buffers={CLIP_FRAMES}", "!",
                    f"video/x-raw,width=320,height=240,framerate={RATE}/1", "!", "jpegenc", "!", "matroskamux", "!", "filesink", f"location={path}"], check=True)


class Editor:
    """Makes edits, and keeps what the file should say of the streams it edits."""

    def __init__(self, service, head):
        self.service, self.head = service, head
        self.pick = random.Random(SEED)
        self.streams = json.loads(json.dumps(EDITED))
        self.named = 0
        self.reloads = 0

    def edit(self):
        kinds = (self.add, self.change, self.change, self.change, self.remove, self.pause, self.by_file, self.reload, self.refused, self.look)
        kind = self.pick.choice(kinds)
        if not self.streams and kind not in (self.by_file, self.reload):
            kind = self.add
        kind()
        time.sleep(self.pick.choice((0, 0, 0.05, 0.3)))  # some come while the one before is still being carried out

    def one(self):
        return self.pick.choice(sorted(self.streams))

    def expect(self, status, *request):
        reply = self.service.ask(*request)
        if reply.status != status:
            raise AssertionError(f"{request}: {reply.status} {reply.body}")

    def new_name(self):
        self.named += 1
        return f"new-{self.named}"

    def add(self):
        if len(self.streams) > 5:
            return self.remove()
        name = self.new_name()
        self.streams[name] = {"source": {"file": "clip.mkv", "loop": True}}
        self.expect(201, "POST", "/api/streams", {"id": name, **self.streams[name]})

    def change(self, changes=None):
        name, changes = self.one(), changes or self.pick.choice(CHANGES)(self.pick)
        self.expect(200, "PATCH", f"/api/streams/{name}", changes)
        changed = self.streams[name] | changes
        self.streams[name] = {key: value for key, value in changed.items() if value is not None}

    def pause(self):
        self.change({"paused": self.pick.random() < 0.5})

    def remove(self):
        name = self.one()
        del self.streams[name]
        self.expect(204, "DELETE", f"/api/streams/{name}")

    def refused(self):
        self.expect(400, "PATCH", f"/api/streams/{self.one()}", {"intervall": 2})

    def look(self):
        self.service.ask("GET", f"/api/streams/{self.one()}/picture.jpg?width=320")

    def reload(self):
        self.expect(204, "POST", "/api/reload")
        self.reloads += 1

    def by_file(self):
        """Some streams go, some come and some change at once."""
        self.streams = {name: keys for name, keys in self.streams.items() if self.pick.random() < 0.8}
        for name in self.streams:
            if self.pick.random() < 0.5:
                self.streams[name]["interval"] = self.pick.randrange(1, 5)
        if len(self.streams) < 5:
            self.streams[self.new_name()] = json.loads(json.dumps(EDITED["a"]))
        self.write()

    def write(self):
        streams = STEADY | self.streams
        text = self.head + "".join(f"  - {json.dumps({'id': name} | keys)}\n" for name, keys in streams.items())
        new = self.service.file.with_suffix(".new")
        new.write_text(text)
        new.rename(self.service.file)
        self.service.process.send_signal(signal.SIGHUP)
        self.reloads += 1
        self.service.wait("the reload", lambda: self.service.said().count("was read again") >= self.reloads)

    def restore(self):
        self.streams = json.loads(json.dumps(EDITED))
        self.write()
        self.service.wait("all streams", lambda: all(stream["state"] == "playing" and stream["width"] for stream in self.all_streams()))

    def all_streams(self):
        return self.service.ask("GET", "/api/streams").json()["streams"]


class Edits(unittest.TestCase):
    def setUp(self):
        self.service = Service(PROGRAM, cameras=HEAD, SOFTNPU_EXEC="delay:10000")
        self.addCleanup(self.service.stop)
        make_clip(self.service.folder / "clip.mkv")
        head = self.service.file.read_text()
        streams = "".join(f"  - {json.dumps({'id': name} | keys)}\n" for name, keys in (STEADY | EDITED).items())
        self.service.file.write_text(head + streams)
        self.service.start()
        self.editor = Editor(self.service, head)

    def assert_no_frame_is_lost(self, name):
        lines = self.service.lines(name)
        self.assertEqual([line["frame"] for line in lines], list(range(len(lines))), f"{name} began anew, or a line is lost")
        # A looped clip goes back to 0.
        times = [line["pts"] for line in lines]
        if name == "live":
            wanted = [times[0] + number * 1e9 / RATE for number in range(len(times))]
        else:
            wanted = [number % CLIP_FRAMES * 1e9 / RATE for number in range(len(times))]
        gap = next((number for number, (time, due) in enumerate(zip(times, wanted)) if abs(time - due) > 2e6), None)
        self.assertIsNone(gap, f"{name} has a gap before frame {gap}")
        self.assertEqual(self.service.stream(name)["restarts"], 0)
        return len(lines)

    def test_no_other_stream_loses_a_frame_and_nothing_leaks(self):
        for _ in range(WARM_UP):
            self.editor.edit()
        self.editor.restore()
        before = self.service.usage()
        played = {name: len(self.service.lines(name)) for name in STEADY}
        for _ in range(EDITS):
            self.editor.edit()
        self.editor.restore()
        after = self.service.wait_for_release(before, SLACK)
        print(f"{before} before {EDITS} edits, {after} after them", file=sys.stderr)
        for name in STEADY:
            self.assertGreater(self.assert_no_frame_is_lost(name), played[name] + 50)
        self.assertLess(after.memory_mb, before.memory_mb + 20)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
