#!/usr/bin/env python3
"""npucore.ray on a Ray cluster of several nodes on this machine: every frame once, whatever dies.

usage: ray_test.py FOLDER    FOLDER: of the environment with Ray, made if this Python lacks it
"""
import contextlib
import fractions
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import with_packages  # noqa: E402

if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    with_packages.need(sys.argv[1], ray="ray", av="av", fsspec="fsspec", pyarrow="pyarrow")
    del sys.argv[1]

HOME = tempfile.TemporaryDirectory()
# All nodes are on the loopback address, and Ray's files are in a folder of the test.
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN_PATH": HOME.name + "/token", "RAY_TMPDIR": HOME.name}

import av  # noqa: E402
import fsspec  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import ray  # noqa: E402
import tiny  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import npucore  # noqa: E402
import npucore.ray  # noqa: E402
from npucore.ray import _video, _worker  # noqa: E402

MODEL = tiny.SHAPES / "shapes.xml"
CLIP = tiny.SHAPES / "shapes.mp4"
LOOPBACK = "127.0.0.2"  # Ray takes 127.0.0.1 for another name of the outer address


def encode(path, codec, count=90, **options):
    """The first frames of the demo's clip, encoded anew."""
    with av.open(str(CLIP)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt, stream.options = 640, 360, "yuv420p", options
        for number, frame in zip(range(count), source.decode(video=0)):
            frame.pts, frame.time_base, frame.pict_type = number, fractions.Fraction(1, 30), 0
            target.mux(stream.encode(frame))
        target.mux(stream.encode())


def videos(folder):
    encode(folder / "closed.mp4", "libx264", g="12", bf="3")
    encode(folder / "open.mp4", "libx264", g="12", bf="3", **{"x264-params": "open-gop=1:scenecut=0"})
    encode(folder / "open.ts", "libx264", g="12", bf="3", **{"x264-params": "open-gop=1:scenecut=0"})
    encode(folder / "hevc.mkv", "libx265", g="15", **{"x265-params": "log-level=none"})
    encode(folder / "single.mp4", "mpeg4", g="300")
    encode(folder / "intra.avi", "mjpeg", strict="unofficial")


def pictures(frames):
    return [hashlib.sha256(frame.to_ndarray().tobytes()).hexdigest() for frame in frames]


def in_order(path):
    with av.open(str(path)) as container:
        yield from container.decode(video=0)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def rows(folder):
    found = [row for path in Path(folder).rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return sorted(found, key=lambda row: (row["video"], row["frame"]))


class Splitting(unittest.TestCase):
    def test_parts_have_every_frame_once_and_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            videos(Path(folder))
            for video in _video.find_videos([folder]):
                for seconds in (0.3, 1, 60):
                    parts = _video.split(video, seconds)
                    found = [(part.first_frame + index, frame) for part in parts for index, _, frame in _video.frames(part)]
                    with self.subTest(video.name, seconds=seconds):
                        self.assertEqual([number for number, _ in found], list(range(90)))
                        self.assertEqual(pictures(frame for _, frame in found), pictures(in_order(video.url.removeprefix("file://"))))
                        self.assertEqual(len(parts) > 1, seconds < 3 and video.name != "single.mp4")

    def test_names_are_those_below_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a/x.mp4", "b/x.mp4", "b/notes.txt"):
                Path(folder, name).parent.mkdir(exist_ok=True)
                Path(folder, name).write_bytes(b"1")
            names = lambda *inputs: [video.name for video in _video.find_videos(inputs)]  # noqa: E731
            self.assertEqual(names(folder), ["a/x.mp4", "b/x.mp4"])
            self.assertEqual(names(f"{folder}/*/x.mp4"), ["a/x.mp4", "b/x.mp4"])
            self.assertEqual(names(f"{folder}/a/x.mp4"), ["x.mp4"])
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "both be called x.mp4"):
                names(f"{folder}/a", f"{folder}/b")
            with self.assertRaisesRegex(npucore.NotFoundError, "no video there"):
                names(f"{folder}/c")


class OnACluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "in").mkdir()
        videos(cls.folder / "in")
        with cls.cluster(1):
            cls.summary = cls.run_job("alone")
        cls.wanted = tree(cls.folder / "alone")

    @classmethod
    @contextlib.contextmanager
    def cluster(cls, nodes, resources={"NPU": 1}):  # noqa: B006 - never changed
        """Yields the nodes; each has what stands for an NPU, and the first node of the cluster has none."""
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "node_ip_address": LOOPBACK, "include_dashboard": False})
        cluster.others = [cluster.add_node(num_cpus=1, resources=resources, node_ip_address=LOOPBACK) for _ in range(nodes)]
        ray.init(address=cluster.address, log_to_driver=False, _node_ip_address=LOOPBACK)
        try:
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()

    @classmethod
    def run_job(cls, output, tell=lambda text: None, inputs=None, **options):
        return npucore.ray.run(inputs or [str(cls.folder / "in")], str(cls.folder / output), MODEL, part_seconds=0.4, tell=tell, **options)

    def test_rows_are_what_the_model_finds_frame_by_frame(self):
        self.assertEqual((self.summary.done_before, self.summary.missing_frames, self.summary.failed), (0, 0, {}))
        found = rows(self.folder / "alone")
        names = sorted(path.name for path in (self.folder / "in").iterdir())
        self.assertEqual([(row["video"], row["frame"]) for row in found], [(name, frame) for name in names for frame in range(90)])
        model = npucore.Model.read(MODEL)
        card = npucore.vision.ModelCard.read(model)
        model.preprocess(npucore.Frame("I420", 640, 360), card)
        compiled = npucore.compile(model)
        request, decoder = compiled.create_request(), npucore.vision.Decoder(card, compiled)
        for row, frame in zip((row for row in found if row["video"] == "closed.mp4"), in_order(self.folder / "in/closed.mp4"), strict=True):
            answer = decoder(request.infer(_video.pixels(frame, "I420")))
            self.assertEqual([(one["label"], one["confidence"], one["x"], one["y"]) for one in row["detections"]],
                             list(zip(answer.class_name, answer.confidence.tolist(), *answer.xyxy.T[:2].tolist())))
            self.assertAlmostEqual(row["pts"], row["frame"] * 1e9 / 30, delta=1)
        self.assertGreater(sum(len(row["detections"]) for row in found), 3 * len(found))

    def test_a_killed_worker_and_a_killed_node_change_nothing(self):
        told, killed = [], []

        def workers():
            return [int(text.split()[1]) for text in told if text.startswith("worker ")]

        def node_of(cluster, pid):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            return next(node for node in cluster.others if node.all_processes["raylet"][0].process.pid == parent)

        with self.cluster(3) as cluster:
            def tell(text):
                told.append(text)
                finished = sum(bool(re.search(r"part-\d+: ", one)) for one in told)
                if finished == 3 and not killed:
                    killed.append(workers()[0])
                    os.kill(killed[0], signal.SIGKILL)
                if finished == 8 and len(killed) == 1:
                    killed.append(workers()[1])
                    cluster.remove_node(node_of(cluster, killed[1]), allow_graceful=False)
            summary = self.run_job("disturbed", tell)
        self.assertEqual(len(killed), 2, told)
        deaths = [text for text in told if "the worker died" in text]
        self.assertGreaterEqual(len(deaths), 2, told)
        self.assertEqual(summary, self.summary)
        self.assertEqual(tree(self.folder / "disturbed"), self.wanted)

    def test_a_second_run_does_only_what_is_left(self):
        with self.cluster(2, {}):  # no NPU: the CPUs count
            self.run_job("again")
            lost = [self.folder / "again" / name for name in ("open.ts/part-00002.parquet", "closed.mp4/part-00000.parquet")]
            for path in lost:
                path.unlink()
            told = []
            summary = self.run_job("again", told.append)
            self.assertEqual(summary.done_before, summary.parts - 2)
            self.assertEqual(sum(bool(re.search(r"part-\d+: ", text)) for text in told), 2)
            self.assertEqual(tree(self.folder / "again"), self.wanted)
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "another confidence: name another folder"):
                self.run_job("again", confidence=0.5)
            with self.assertRaisesRegex(npucore.NotFoundError, "no node of the cluster offers an NPU"):
                self.run_job("again", device="npu")

    def test_a_video_that_cannot_be_read_fails_alone(self):
        inputs = self.folder / "broken"
        inputs.mkdir()
        (inputs / "a.mp4").write_bytes(b"no video" * 1000)
        (inputs / "b.mp4").write_bytes((self.folder / "in/closed.mp4").read_bytes())
        with self.cluster(1):
            summary = self.run_job("partly", inputs=[str(inputs)])
            self.assertEqual(list(summary.failed), ["a.mp4"])
            self.assertEqual(len(rows(self.folder / "partly")), 90)
            (inputs / "b.mp4").write_bytes((self.folder / "in/open.mp4").read_bytes())
            self.assertRegex(self.run_job("partly", inputs=[str(inputs)]).failed["b.mp4"], "remove that folder")

    def test_nodes_that_offer_an_npu_and_have_none_end_the_run(self):
        with self.cluster(1), self.assertRaisesRegex(npucore.Error, "no worker can start: .*NPU"):
            self.run_job("nowhere", device="npu")

    def test_the_command_line(self):
        command = [sys.executable, "-m", "npucore.ray", str(self.folder / "in/closed.mp4"), str(self.folder / "command"), "--model"]
        with self.cluster(1) as cluster:
            run = lambda *more: subprocess.run(  # noqa: E731
                [*command, *more, "--address", cluster.address, "--part-seconds", "0.4"], capture_output=True, text=True, check=False)
            done = run(MODEL)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^\d+ parts, 0 of them before; 0 frames could not be decoded; 0 failed$")
            self.assertEqual({name: data for name, data in self.wanted.items() if name.startswith("closed.mp4")},
                             {name: data for name, data in tree(self.folder / "command").items() if name != "job.json"})
            self.assertIn("an OpenVINO IR, is needed", run("model.onnx").stderr)


class InThisProcess(unittest.TestCase):
    def test_a_store_that_is_no_disk_holds_videos_and_answers(self):
        store = fsspec.filesystem("memory")
        with tempfile.TemporaryDirectory() as folder:
            encode(Path(folder, "x.mp4"), "libx264", g="30")
            store.pipe_file("/in/day/x.mp4", Path(folder, "x.mp4").read_bytes())
        video, = _video.find_videos(["memory://in"])
        self.assertEqual((video.name, video.url), ("day/x.mp4", "memory:///in/day/x.mp4"))
        worker = _worker.Worker(_worker.read_model(MODEL), "memory://out", "software", 1, {})
        worker.start()
        count, parts = worker.plan(video)
        self.assertEqual((count, len(parts), worker.infer(parts[1])), (3, 3, 0))
        self.assertEqual([part.number for part in worker.plan(video)[1]], [0, 2])
        with store.open("/out/day/x.mp4/part-00001.parquet") as file:
            self.assertEqual(pq.read_table(file).column("frame").to_pylist(),
                             list(range(parts[1].first_frame, parts[2].first_frame)))


    def test_frames_that_cannot_be_decoded_are_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            encode(Path(folder, "cut.ts"), "libx264", g="30")
            content = Path(folder, "cut.ts").read_bytes()
            video = _video.find_videos([folder])[0]
            worker = _worker.Worker(_worker.read_model(MODEL), folder + "/out", "software", 60, {})
            worker.start()
            _, parts = worker.plan(video)
            Path(folder, "cut.ts").write_bytes(content[:len(content) // 2])
            missing = worker.infer(parts[0])
            self.assertTrue(20 < missing < 70, missing)
            self.assertEqual(len(rows(folder)) + missing, 90)


if __name__ == "__main__":
    tiny.main()
