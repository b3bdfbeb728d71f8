#!/usr/bin/python3
"""npu-stream with real streams on the software NPU: npu_stream_test.py NPU_STREAM"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[1])
SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
PATIENCE = 120  # seconds: for a busy machine

HEAD = f"""server: {{enabled: false}}
models:
  shapes: {{model: {SHAPES}/shapes.xml, device: software, threshold: 0.2}}
defaults: {{model: shapes, publish: "{{id}}.jsonl", drop: none}}
streams:
"""


def clip(name, more=""):
    return f"  - id: {name}\n    source: {{file: {SHAPES}/shapes.mp4, realtime: false{more}}}\n"


class NpuStream(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.process = None

    def write(self, streams):
        (self.folder / "cameras.yaml").write_text(HEAD + streams)

    def start(self, streams, **environment):
        self.write(streams)
        self.errors = open(self.folder / "errors", "w+")
        self.addCleanup(self.errors.close)
        self.process = subprocess.Popen([PROGRAM, "cameras.yaml"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=self.errors,
                                        env=os.environ | environment)
        self.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def said(self):
        return (self.folder / "errors").read_text()

    def lines(self, name):
        path = self.folder / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")] if path.exists() else []

    def wait(self, what, condition):
        until = time.monotonic() + PATIENCE
        while not condition():
            self.assertIsNone(self.process.poll(), f"npu-stream has ended: {self.said()}")
            self.assertLess(time.monotonic(), until, f"{what} did not come; {self.said()}")
            time.sleep(0.05)

    def test_a_dry_run_prints_lines_that_gst_launch_plays(self):
        self.write(clip("one"))
        dry = subprocess.run([PROGRAM, "--dry-run", "cameras.yaml"], cwd=self.folder, capture_output=True, text=True, check=True)
        line = next(line for line in dry.stdout.splitlines() if line.startswith("gst-launch-1.0 "))
        subprocess.run(line, shell=True, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        by_hand = self.lines("one")
        self.assertEqual(len(by_hand), 300)
        (self.folder / "one.jsonl").unlink()
        self.start(clip("one"))
        self.wait("the end of the file", lambda: "the file is at its end" in self.said())
        self.assertEqual([frame["detections"] for frame in self.lines("one")], [frame["detections"] for frame in by_hand])

    def test_a_file_at_its_own_speed_overloads_a_slow_device(self):
        # The decoder drops most frames before the model sees them.
        self.start(f"  - {{id: slow, source: {{file: {SHAPES}/shapes.mp4, loop: true}}, drop: late, publish: '{{id}}.jsonl'}}\n",
                   SOFTNPU_EXEC="delay:100000")
        self.wait("the overload", lambda: "the device serves" in self.said())

    def test_a_check_tells_what_is_not_there(self):
        (self.folder / "cameras.yaml").write_text("models: {m: {model: none.xml}}")
        run = subprocess.run([PROGRAM, "--check", "cameras.yaml"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("models.m.model is not there: none.xml", run.stderr)

    def test_labels_that_the_model_does_not_have_are_told(self):
        mistyped = clip("door") + "    labels: [circle, squar]\n    record: {on: [left, bicycle]}\n"
        words = ("labels: the model shapes has no label squar; did you mean square?",
                 "record.on: the model shapes has no label bicycle; it has circle, square, triangle")
        self.write(mistyped)
        check = subprocess.run([PROGRAM, "--check", "cameras.yaml"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.start(mistyped)
        self.wait("the end of the file", lambda: "the file is at its end" in self.said())
        for said in (check.stderr, self.said()):
            for sentence in words:
                self.assertEqual(said.count(sentence), 1, said)
            self.assertNotIn("label circle", said)

    def test_events_without_places_record_nothing_and_that_is_told(self):
        self.write(clip("door") + "    record: {on: [left]}\n" + clip("yard") + "    record: {on: [left, circle]}\n")
        check = subprocess.run([PROGRAM, "--check", "cameras.yaml"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(check.stderr, "cameras.yaml: stream door: record.on: nothing begins a clip: the stream has no zones and lines\n")

    def test_a_region_larger_than_the_frame_is_told_with_both_sizes(self):
        self.start(clip("big") + "    region: {left: 300, right: 4000}\n")
        self.wait("the failure", lambda: "region cuts off 4300 x 0 pixels, and frames have 640 x 360" in self.said())

    def test_a_codec_that_cannot_be_recorded_is_told(self):
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=30", "!", "theoraenc", "!", "oggmux", "!", "filesink", "location=theora.ogv"],
                       cwd=self.folder, check=True, timeout=PATIENCE)
        source = "    source: {file: theora.ogv, realtime: false}\n"
        self.start(f"  - id: yard\n{source}  - id: door\n{source}    record: clips\n")
        self.wait("the failure", lambda: "door: the source's video is video/x-theora, which cannot be recorded; record only H.264" in self.said())
        self.wait("the other's end", lambda: "yard: the file is at its end" in self.said())

    def test_a_camera_that_refuses_is_named_without_its_password(self):
        self.start("  - {id: camera, source: {rtsp: 'rtsp://me:secret@127.0.0.1:9/one'}}\n")
        self.wait("the failure", lambda: "It is started again" in self.said())
        self.assertIn("camera: rtsp://***@127.0.0.1:9/one: ", self.said())
        self.assertNotIn("secret", self.said())

    def test_streams_share_one_compilation(self):
        self.start("".join(clip(f"s{i}") for i in range(5)), SOFTNPU_TRACE=str(self.folder / "trace"))
        self.wait("all files' ends", lambda: self.said().count("the file is at its end") == 5)
        for i in range(5):
            self.assertEqual(len(self.lines(f"s{i}")), 300)
        calls = [json.loads(line) for line in (self.folder / "trace").read_text().splitlines()]
        compiled = [call for call in calls if call["call"].startswith("pfnCreate") and call.get("input") in ("classic", "weightless")]
        self.assertEqual(len(compiled), 1)

    def test_a_stream_that_fails_is_started_again_alone(self):
        missing = self.folder / "late.mp4"
        self.start(clip("good", ", loop: true") + f"  - id: bad\n    source: {{file: {missing}, realtime: false}}\n")
        self.wait("the failure", lambda: "bad: " in self.said() and "late.mp4" in self.said())
        self.wait("the good stream", lambda: len(self.lines("good")) > 10)
        missing.symlink_to(SHAPES / "shapes.mp4")
        self.wait("the bad stream's end", lambda: "bad: the file is at its end" in self.said())
        self.assertEqual(self.said().count("It is started again"), 1)
        self.assertEqual(len(self.lines("bad")), 300)
        frames = [frame["frame"] for frame in self.lines("good")]
        self.assertEqual(frames, list(range(len(frames))))

    def test_a_looped_file_gives_each_frame_once(self):
        self.start(clip("one", ", loop: true"))
        self.wait("the second time", lambda: len(self.lines("one")) > 320)
        times = [frame["pts"] for frame in self.lines("one")]
        self.assertEqual(times, [number % 300 * 10**9 // 30 for number in range(len(times))])

    def test_a_reload_leaves_other_streams_alone(self):
        self.start(clip("stays", ", loop: true") + clip("goes", ", loop: true"))
        self.wait("both streams", lambda: len(self.lines("stays")) > 5 and len(self.lines("goes")) > 5)
        self.write(clip("stays", ", loop: true") + clip("comes", ", loop: true"))
        self.process.send_signal(signal.SIGHUP)
        self.wait("the new stream", lambda: len(self.lines("comes")) > 5)
        gone = len(self.lines("goes"))
        stayed = len(self.lines("stays"))
        self.write(clip("stays", ", loop: true") + "  - id: wrong\n")
        self.process.send_signal(signal.SIGHUP)
        self.wait("a refusal", lambda: "not reloaded" in self.said() and "streams[1] needs a source" in self.said())
        self.wait("the streams to go on", lambda: len(self.lines("stays")) > stayed + 50)
        self.assertEqual(len(self.lines("goes")), gone)
        frames = [frame["frame"] for frame in self.lines("stays")]
        self.assertEqual(frames, list(range(len(frames))))

    def test_published_counts_go_on_in_another_pipeline(self):
        def counted(priority):
            return clip("door", ", loop: true") + (f"    priority: {priority}\n    count: {{anchor: center}}\n"
                                                   "    lines: [{name: middle, points: [[0.5, 0], [0.5, 1]]}]\n")

        def counts():
            return [(line["lines"][0]["forward"], line["lines"][0]["backward"]) for line in self.lines("door")]

        self.start(counted(0))
        self.wait("some counts", lambda: counts() and counts()[-1][0] > 5)
        self.write(counted(3))
        self.process.send_signal(signal.SIGHUP)
        self.wait("the reload", lambda: "was read again" in self.said())
        self.wait("the other pipeline", lambda: any(line["frame"] == 0 for line in self.lines("door")[1:]))
        before = counts()
        self.wait("more counts", lambda: counts()[-1][0] > before[-1][0] + 5)
        seen = counts()
        self.assertEqual(seen, sorted(seen))

    def test_sigterm_ends_all_with_whole_lines(self):
        self.start(clip("one", ", loop: true") + clip("two", ", loop: true"))
        self.wait("both streams", lambda: len(self.lines("one")) > 5 and len(self.lines("two")) > 5)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(PATIENCE), 0)
        for name in ("one", "two"):
            self.assertTrue((self.folder / f"{name}.jsonl").read_bytes().endswith(b"\n"))

    def test_mistakes_end_it_with_their_place(self):
        self.write("  - id: a\n    sorce: {file: x}\n")
        run = subprocess.run([PROGRAM, "--check", "cameras.yaml"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cameras.yaml:7:5: streams[0].sorce is not known; did you mean source?", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
