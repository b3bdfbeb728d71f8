"""GST_TRACERS=npu on real pipelines: what a user reads on the standard error stream.

The software NPU takes 2 ms for an inference (SOFTNPU_EXEC).
"""
import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

MODEL = Path(__file__).resolve().parents[3] / "models" / "shapes" / "shapes.xml"
FRAMES = "video/x-raw,format=RGB,width=320,height=320,framerate=30/1"


def launch(line, tracers="npu", **more):
    env = {**os.environ, "GST_TRACERS": tracers, **more}
    done = subprocess.run(["gst-launch-1.0", "-q", *shlex.split(line)], env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stderr


def infer(frames=30, name="npu0", options=""):
    return (f"videotestsrc num-buffers={frames} ! {FRAMES} ! "
            f"npuinfer name={name} device=software model='{MODEL}' {options} ! fakesink")


def reports(text, when):
    """Of each report: element, stream, frames, inferred."""
    found = re.findall(rf"^npu: (\w+), stream (\d+), {when}: (\d+) frames in, (\d+) inferred in", text, re.M)
    return [(element, int(stream), int(frames), int(inferred)) for element, stream, frames, inferred in found]


class Tracer(unittest.TestCase):
    def test_tells_once_at_the_end(self):
        text = launch(infer())
        self.assertEqual(reports(text, "end"), [("npu0", 1, 30, 30)])
        self.assertEqual(reports(text, "interval"), [])

    def test_tells_every_number_that_is_asked_of_it(self):
        text = launch(infer())
        device, queueing, busy = map(float, re.search(
            r"device time ([\d.]+) ms, queueing ([\d.]+) ms, device utilisation ([\d.]+) %", text).groups())
        self.assertGreaterEqual(device, 2)
        self.assertGreaterEqual(queueing, 0)
        self.assertTrue(0 < busy <= 100, busy)
        p50, p95, p99 = map(float, re.search(r"latency p50 ([\d.]+) ms, p95 ([\d.]+) ms, p99 ([\d.]+) ms", text).groups())
        self.assertTrue(2 <= p50 <= p95 <= p99, text)
        fps = float(re.search(r": ([\d.]+) fps on ", text).group(1))
        self.assertTrue(0 < fps <= 500, "2 ms each")
        copied = re.search(r"copies: frames zero-copy (\d+), copied (\d+)", text)
        self.assertEqual(int(copied.group(1)) + int(copied.group(2)), 30)

    def test_counts_drops_by_kind(self):
        text = launch(infer(options="inference-interval=3"))
        self.assertEqual(reports(text, "end"), [("npu0", 1, 30, 10)])
        self.assertIn("drops: busy 0, late 0; without tensors: lost 0, gap 0, skipped 20", text)

    def test_tells_the_elements_apart(self):
        text = launch(infer(name="left") + " " + infer(frames=20, name="right"))
        self.assertEqual(sorted(reports(text, "end")), [("left", 1, 30, 30), ("right", 1, 20, 20)])

    def test_tells_at_intervals_what_came_in_each(self):
        # At least 0.6 s after the compilation, which takes as long as it takes; no more is sure on a busy machine.
        text = launch(infer(frames=300), tracers="npu(interval=0.1)")
        parts = reports(text, "interval")
        self.assertGreaterEqual(len(parts), 3, text)
        frames = [frames for _, _, frames, _ in parts]
        self.assertTrue(0 < sum(frames) <= 300, text)
        self.assertEqual(reports(text, "end"), [("npu0", 1, 300, 300)])

    def test_says_what_it_does_not_understand(self):
        text = launch(infer(frames=2), tracers="npu(interval=0)")
        self.assertIn('npu: the tracer: "interval" is no number of seconds above 0', text)
        self.assertEqual(reports(text, "end"), [("npu0", 1, 2, 2)])

    def test_logs_a_record_for_tools(self):
        text = launch(infer(frames=5), GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1")
        self.assertRegex(text, r"npu\.class, element=")
        record = re.search(r" npu, element=\(string\)npu0, .*", text).group(0)
        for field in ("frames=(guint64)5", "inferred=(guint64)5", "when=(string)end", "latency-p99=(guint64)"):
            self.assertIn(field, record)

    def test_is_silent_where_nobody_asks(self):
        self.assertNotIn("npu: npu0", launch(infer(frames=2), tracers=""))


unittest.main()
