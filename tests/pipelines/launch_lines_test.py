"""Every launch line in pipelines/ runs, and publishes what the clip holds.

    launch_lines_test.py <npu-compile> [unittest's arguments]
"""

import functools
import json
import os
import shutil
import socket
import shlex
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
LINES = TREE / "pipelines"
CLIP = TREE / "models/shapes/shapes.mp4"
CLIP_FRAMES = 300
# So slow that no frame is late, however busy the machine is: the camera lines drop those.
SLOW_CAMERA = "videotestsrc num-buffers=20 ! capsfilter caps=video/x-raw,framerate=1/1"
SERVER = Path(__file__).resolve().with_name("rtsp_server.py")
NO_WHEEL = 3  # of read-page.sh
NPU_COMPILE = PART = PART_FRAMES = None


def setUpModule():
    """pipelines/ beside a models/ whose clip ends early. The clip has no B-frames, so it may end anywhere."""
    global PART, PART_FRAMES
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    PART = Path(folder.name)
    shutil.copytree(LINES, PART / "pipelines")
    shutil.copytree(TREE / "models/digits", PART / "models/digits")
    shutil.copytree(CLIP.parent, PART / "models/shapes", ignore=shutil.ignore_patterns(CLIP.name))
    part = PART / CLIP.relative_to(TREE)
    parse = "qtdemux ! h264parse ! video/x-h264,alignment=au"
    for line in (f"filesrc location='{CLIP}' ! {parse} ! identity eos-after=61 ! mp4mux ! filesink location='{part}'",
                 f"filesrc location='{part}' ! {parse} ! multifilesink location='{PART}/frame-%d'"):
        subprocess.run(["gst-launch-1.0", "-q", *shlex.split(line)], check=True, timeout=60)
    PART_FRAMES = len(list(PART.glob("frame-*")))  # versions of identity let through one more or less


def run_whole(name, *arguments, lines=LINES, **environment):
    """The JSON lines on its standard output."""
    env = os.environ | {"DEVICE": "software", "NPU_COMPILE": NPU_COMPILE} | environment
    done = subprocess.run([lines / name, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"{name} ended with {done.returncode}:\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(name, *arguments, **environment):
    """Of the clip's first part, where the line reads the clip."""
    return run_whole(name, *arguments, lines=PART / "pipelines", **environment)


@functools.cache
def detected():
    """By a helper process that compiles, as where nothing is set."""
    return run("detect-file.sh", NPUCORE_COMPILE="helper")


@functools.cache
def counted():
    return run_whole("count-at-line.sh")


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def wait_for(path, text, count):
    """Until a file that is being written has a text so often."""
    for _ in range(1000):
        if path.exists() and path.read_text().count(text) >= count:
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} has no {text!r}, {count} times")


def task_model(task):
    """Made at build time where numpy and openvino are for this system's Python."""
    folder = os.environ.get("TASK_MODELS")
    if not folder:
        raise unittest.SkipTest("numpy and openvino in .venv are another system's")
    return os.path.join(folder, f"shapes_{task}_openvino_model", f"shapes_{task}.xml")


class RtspCamera:
    """A server of its own process, which can die and come back at the same address."""

    def __init__(self, test):
        self.port = reserve_port(test)
        test.addCleanup(self.break_down)
        self.start()
        self.url = f"rtsp://127.0.0.1:{self.port}/camera"

    def start(self):
        self.server = subprocess.Popen([SERVER, str(self.port)], stdout=subprocess.PIPE, text=True)
        self.server.stdout.readline()  # it listens

    def break_down(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()


def reserve_port(test):
    """The system gives it to nobody else; a server that sets SO_REUSEADDR can listen at it."""
    reserved = socket.socket()
    test.addCleanup(reserved.close)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved.getsockname()[1]


def is_away(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) != 0


def need_broker(name):
    if name not in os.environ["NPU_BROKERS"].split():
        raise unittest.SkipTest(f"the plugin was built without {name}")


class MqttBroker:
    """On the loopback interface, and who subscribes to all that it has."""

    def __init__(self, test, folder):
        server = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin")
        client = shutil.which("mosquitto_sub")
        if not server or not client:
            raise unittest.SkipTest("mosquitto or mosquitto-clients are not installed")
        self.port = reserve_port(test)
        config = folder / "mosquitto.conf"
        config.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nlog_dest file {folder}/log\nlog_type subscribe\nuser root\n")
        self.lines = folder / "lines"
        self.start(test, [server, "-c", config])
        while is_away(self.port):
            time.sleep(0.1)
        self.start(test, [client, "-p", str(self.port), "-t", "#", "-q", "1", "-i", "reader"], output=self.lines)
        wait_for(folder / "log", "reader 1 #", 1)

    def start(self, test, command, output=os.devnull):
        with open(output, "w") as file:
            process = subprocess.Popen(command, stdout=file)
        test.addCleanup(process.wait)
        test.addCleanup(process.kill)


def objects(lines):
    return sum(len(line["detections"]) for line in lines)


class LaunchLines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assert_clip(self, lines, frames=None):
        frames = frames or PART_FRAMES
        self.assertEqual(len(lines), frames)
        self.assertGreater(objects(lines), frames)

    def test_detect_file(self):
        self.assert_clip(detected())

    def test_decoding_in_place_changes_no_detection(self):
        in_place = run("detect-file-in-place.sh")
        self.assert_clip(in_place)
        self.assertEqual([line["detections"] for line in in_place],
                         [line["detections"] for line in detected()])

    def test_a_precompiled_model_sees_the_same(self):
        blob = self.folder / "shapes.blob"
        precompiled = run("detect-precompiled.sh", BLOB=str(blob))
        self.assertTrue(blob.exists())
        self.assertEqual([line["detections"] for line in precompiled],
                         [line["detections"] for line in detected()])

    def test_detect_live(self):
        lines = run("detect-live.sh", SOURCE="videotestsrc is-live=true num-buffers=20")
        self.assertEqual(len(lines), 20)

    def test_detect_images(self):
        make = f"gst-launch-1.0 -q filesrc location='{TREE}/models/shapes/shapes.mp4' ! decodebin ! jpegenc ! " \
               f"identity eos-after=11 ! multifilesink location='{self.folder}/%05d.jpg'"
        subprocess.run(shlex.split(make), check=True, timeout=60, stderr=subprocess.DEVNULL)
        images = list(self.folder.glob("*.jpg"))
        self.assertGreater(len(images), 5)
        lines = run("detect-images.sh", f"{self.folder}/%05d.jpg")
        self.assertEqual(len(lines), len(images))
        self.assertGreater(objects(lines), len(images))

    def test_detect_and_record(self):
        run("detect-and-record.sh", self.folder / "out.avi")
        lines = read(self.folder / "out.avi.jsonl")
        self.assertEqual(len(lines), PART_FRAMES)
        self.assertGreater((self.folder / "out.avi").stat().st_size, 20000)
        self.assertGreater(objects(lines[::3]), 0)
        self.assertEqual(objects(lines[1::3]), 0)

    def test_camera_with_jpeg(self):
        lines = run("detect-camera-mjpg.sh", 320, 240, SOURCE=SLOW_CAMERA + " ! jpegenc")
        self.assertEqual(len(lines), 20)
        self.assertEqual({(line["width"], line["height"]) for line in lines}, {(320, 240)})

    def test_camera_with_yuy2(self):
        lines = run("detect-camera-yuy2.sh", 320, 240, SOURCE=SLOW_CAMERA)
        self.assertEqual(len(lines), 20)

    def test_segmentation(self):
        lines = run("segment-file.sh", MODEL=task_model("segment"))
        self.assert_clip(lines)
        self.assertEqual(objects(lines), sum("mask" in found for line in lines for found in line["detections"]))

    def test_class_maps(self):
        """Shapes are seen in the colors of their classes, in a smaller picture; most of the background as it was."""
        small, size = "videoscale ! video/x-raw,format=RGB,width=64,height=36 ! filesink location=", 64 * 36 * 3
        run("segment-frame.sh", MODEL=task_model("semantic"), SINK=f"{small}{self.folder}/drawn")
        subprocess.run(shlex.split(f"gst-launch-1.0 -q filesrc location='{PART / 'models/shapes/shapes.mp4'}' ! decodebin ! videoconvert ! {small}{self.folder}/plain"), check=True)
        drawn, plain = ((self.folder / name).read_bytes() for name in ("drawn", "plain"))
        self.assertEqual(len(drawn), PART_FRAMES * size)

        def changed(frame, x, y):
            at = frame * size + (y * 64 + x) * 3
            return max(abs(a - b) for a, b in zip(drawn[at:at + 3], plain[at:at + 3])) > 12

        shapes = [changed(frame["frame"], int((one["x"] + one["w"] / 2) / 10), int((one["y"] + one["h"] / 2) / 10))
                  for frame in read(CLIP.with_suffix(".truth.jsonl"))[:PART_FRAMES] for one in frame["objects"] if one["visible"] > 0.95]
        self.assertGreater(sum(shapes) / len(shapes), 0.9)
        places = [changed(frame, x, y) for frame in range(0, PART_FRAMES, 10) for x in range(20, 64) for y in range(36)]
        self.assertLess(sum(places) / len(places), 0.4)

    def test_key_points(self):
        lines = run("find-key-points.sh", MODEL=task_model("pose"))
        self.assertEqual(len(lines), PART_FRAMES)
        self.assertEqual({len(found["keypoints"]) for line in lines for found in line["detections"]}, {4})

    def test_turned_boxes(self):
        lines = run("detect-turned.sh", MODEL=task_model("obb"))
        self.assertEqual(len(lines), PART_FRAMES)
        turns = [found["oriented"]["angle"] for line in lines for found in line["detections"]]
        self.assertGreater(max(turns) - min(turns), 1)

    def test_text(self):
        lines = run("read-meter.sh")
        truth = read(TREE / "models" / "digits" / "meter.truth.jsonl")
        self.assertEqual([line["classifications"][0]["label"] for line in lines], [frame["text"] for frame in truth])

    def test_a_page_is_read(self):
        """By networks out of a wheel; the picture is the page with what was read beside each line."""
        made, picture = self.folder / "made", self.folder / "read.jpg"
        env = os.environ | {"DEVICE": "software", "MADE": str(made)}
        done = subprocess.run([LINES / "read-page.sh", picture], env=env, capture_output=True, text=True, timeout=240)
        if done.returncode == NO_WHEEL:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(done.stdout, (made / "page.txt").read_text())
        for file in (made / "page.png", picture):
            line = f"gst-launch-1.0 -q filesrc location='{file}' ! decodebin ! videoconvert ! video/x-raw,format=RGB ! filesink location='{file}.rgb'"
            subprocess.run(shlex.split(line), check=True, timeout=60, stderr=subprocess.DEVNULL)
        plain, drawn = (Path(f"{file}.rgb").read_bytes() for file in (made / "page.png", picture))
        changed = sum(abs(a - b) > 60 for a, b in zip(plain, drawn, strict=True)) / len(plain)
        self.assertTrue(0.01 < changed < 0.2, f"boxes and labels are drawn, the rest is as it was: {changed}")

    def test_four_streams(self):
        picture = self.folder / "mosaic.png"
        run("four-streams.sh", self.folder, SINK=f"pngenc snapshot=true ! filesink location={picture}")
        self.assertGreater(picture.stat().st_size, 10000)

    def test_four_streams_see_the_same(self):
        run("four-streams.sh", self.folder)
        first, *rest = ([line["detections"] for line in read(self.folder / f"{stream}.jsonl")] for stream in range(1, 5))
        self.assertEqual(len(first), PART_FRAMES)
        for other in rest:
            self.assertEqual(first, other)

    def test_rtsp_connects_again(self):
        output = self.folder / "camera.jsonl"
        camera = RtspCamera(self)
        script = subprocess.Popen([LINES / "detect-rtsp.sh", camera.url, output], env=os.environ | {"DEVICE": "software", "WAIT": "1", "DROP": "late"})
        self.addCleanup(script.wait)
        self.addCleanup(script.terminate)
        wait_for(output, '"frame":5,', 1)
        camera.break_down()
        camera.start()
        wait_for(output, '"frame":5,', 2)  # frames are counted anew
        script.terminate()
        self.assertEqual(script.wait(timeout=60), 0)

    def test_tracks(self):
        lines = run_whole("track-file.sh")
        self.assert_clip(lines, CLIP_FRAMES)
        identities = {found["tracking_id"] for line in lines for found in line["detections"] if "tracking_id" in found}
        self.assertLess(len(identities), 40, "each of seven shapes has few")
        self.assertGreater(objects(lines[1::3] + lines[2::3]), CLIP_FRAMES, "between inferred frames, too")

    def test_counts_are_those_of_the_boxes(self):
        lines = counted()
        self.assert_clip(lines, CLIP_FRAMES)
        forward = backward = 0
        middles = {}  # x of each identity, when it was seen last, and when
        for index, line in enumerate(lines):
            for found in line["detections"]:
                if "tracking_id" not in found:
                    continue
                x, identity = found["x"] + found["w"] / 2, found["tracking_id"]
                before, when = middles.get(identity, (x, index))
                if index - when <= 30 and (before < 320) != (x < 320):
                    # Somebody who walks down the line has the right half of the frame on the left.
                    backward += before < 320
                    forward += before >= 320
                middles[identity] = x, index
        self.assertGreater(forward + backward, 3)
        last = lines[-1]["lines"][0]
        self.assertEqual((last["forward"], last["backward"]), (forward, backward))
        inside = {one["tracking_id"] for one in lines[-1]["zones"][0]["inside"]}
        seen = {found["tracking_id"] for found in lines[-1]["detections"]
                if "tracking_id" in found and found["x"] + found["w"] / 2 > 320}
        self.assertGreaterEqual(inside, seen)

    def test_annotate_file(self):
        run("annotate-file.sh", self.folder / "out.avi")
        self.assertGreater((self.folder / "out.avi").stat().st_size, 200000)
        plain, drawn = self.folder / "plain", self.folder / "drawn"
        for folder, video in ((plain, TREE / "models/shapes/shapes.mp4"), (drawn, self.folder / "out.avi")):
            folder.mkdir()
            line = f"gst-launch-1.0 -q filesrc location='{video}' ! decodebin ! videoconvert ! video/x-raw,format=RGB ! identity eos-after=2 ! " \
                   f"multifilesink location='{folder}/%d.rgb'"
            subprocess.run(shlex.split(line), check=True, timeout=60, stderr=subprocess.DEVNULL)
        one, other = ((folder / "0.rgb").read_bytes() for folder in (plain, drawn))
        changed = sum(abs(a - b) > 60 for a, b in zip(one, other, strict=True))
        self.assertGreater(changed, 2000, "boxes and labels")
        self.assertLess(changed, len(one) // 10, "the rest is as it was")

    def test_classify_objects(self):
        lines = run("classify-objects.sh")
        self.assert_clip(lines)
        self.assertEqual(objects(lines), sum(len(found["classifications"]) for line in lines for found in line["detections"]))

    def assert_published(self, lines):
        self.assert_clip(lines)
        self.assertEqual([line["frame"] for line in lines], list(range(PART_FRAMES)))
        self.assertEqual({line["stream"] for line in lines}, {"shapes"})

    def test_publish_kafka(self):
        """The line, without a broker: librdkafka's own for tests are in the test publish-kafka."""
        need_broker("kafka")
        lines = self.folder / "lines.jsonl"
        self.assertEqual(run("publish-kafka.sh", PART / "models/shapes/shapes.mp4", lines), [])
        self.assert_published(read(lines))

    def test_publish_mqtt(self):
        need_broker("mqtt")
        broker = MqttBroker(self, self.folder)
        self.assertEqual(run("publish-mqtt.sh", PART / "models/shapes/shapes.mp4", f"mqtt://127.0.0.1:{broker.port}/npu/shapes"), [])
        wait_for(broker.lines, '"frame":', PART_FRAMES)
        self.assert_published(read(broker.lines))

    def test_two_models(self):
        one, two = self.folder / "one.jsonl", self.folder / "two.jsonl"
        run("two-models.sh", one, two)
        self.assert_clip(read(one))
        self.assertEqual([line["detections"] for line in read(one)], [line["detections"] for line in read(two)])

    def frames_of(self, recording):
        """How many a recording holds, and the seconds from its first to its last."""
        lines = self.folder / "recorded.jsonl"
        line = f"gst-launch-1.0 -q filesrc location='{recording}' ! matroskademux ! jpegdec ! npupublish location='{lines}' ! fakesink"
        subprocess.run(shlex.split(line), check=True, timeout=60)
        times = [line["pts"] / 1e9 for line in read(lines)]
        return len(times), times[-1] - times[0]

    def test_record_on_event(self):
        crossed = [line["pts"] / 1e9 for line in counted() for event in line["events"] if event["event"] == "forward"]
        recordings = run_whole("record-on-event.py", self.folder / "events", EVENT="forward", PLACES=str(LINES / "middle.json"),
                         BEFORE="1", AFTER="0.5")
        events = [event["seconds"] for recording in recordings for event in recording["events"]]
        self.assertEqual([round(event, 3) for event in events], [round(event, 3) for event in crossed])
        self.assertGreater(len(recordings), 3)
        self.assertLess(len(recordings), len(events), "an event during a recording makes it longer")
        for recording in recordings:
            self.assertEqual({(event["event"], event["place"]) for event in recording["events"]}, {("forward", "middle")})
            first, last = recording["events"][0]["seconds"], recording["events"][-1]["seconds"]
            self.assertAlmostEqual(recording["from"], max(first - 1, 0), delta=0.02)
            self.assertAlmostEqual(recording["to"], min(last + 0.5, (CLIP_FRAMES - 1) / 30), delta=0.02)
            count, seconds = self.frames_of(recording["file"])
            self.assertAlmostEqual(seconds, recording["to"] - recording["from"], delta=0.01)
            self.assertEqual(count, round(seconds * 30) + 1, "and all between")

    def test_record_when_a_class_is_seen(self):
        recordings = run_whole("record-on-event.py", self.folder / "events", CLASS="triangle", BEFORE="0.2", AFTER="0.2")
        self.assertEqual({(event["event"], event["place"]) for one in recordings for event in one["events"]}, {("entered", "picture")})
        seen = [line["pts"] / 1e9 for line in counted() for found in line["detections"]
                if found["label"] == "triangle" and "tracking_id" in found]
        self.assertEqual(recordings[0]["events"][0]["seconds"], seen[0])

    def test_recordings_that_cannot_be_written_are_an_error(self):
        with self.assertRaisesRegex(AssertionError, "cannot be written"):
            (self.folder / "0001-picture-entered.mkv").mkdir()
            run("record-on-event.py", self.folder)

    def test_recording_names_what_is_set_wrong(self):
        for setting, wrong, said in [("EVENT", "forwrd", "EVENT=forwrd: write one of forward, backward, entered, left"),
                                     ("BEFORE", "abc", "BEFORE=abc: write seconds"), ("AFTER", "nan", "AFTER=nan: write seconds"),
                                     ("BEFORE", "-1", "BEFORE=-1: write seconds"), ("ENCODER", "nonsense", 'no element "nonsense"')]:
            with self.subTest(setting), self.assertRaises(AssertionError) as refused:
                run("record-on-event.py", self.folder / "events", **{setting: wrong})
            self.assertIn(said, str(refused.exception))
            self.assertNotIn("Traceback", str(refused.exception))
        with self.assertRaises(AssertionError) as refused:
            run("record-on-event.py", __file__)
        self.assertNotIn("Traceback", str(refused.exception))

    def test_a_gpu_that_is_missing_is_named(self):
        if subprocess.run(["gst-inspect-1.0", "--exists", "vah264dec"], check=False).returncode == 0:
            self.skipTest("there is a GPU that decodes")
        with self.assertRaisesRegex(AssertionError, 'no element "vah264dec"'):
            run("detect-va.sh")

    def test_warnings_are_shown(self):
        """On the standard error, where no JSON is."""
        turned = self.folder / "turned.mp4"
        video = (PART / "models/shapes/shapes.mp4").read_bytes()
        upright, turn = ([0x10000, 0, 0, 0, 0x10000, 0, 0, 0], [0, 0x10000, 0, -0x10000, 0, 0, 0, 0])
        at = video.index(struct.pack(">8i", *upright), video.index(b"tkhd"))  # the track's matrix
        turned.write_bytes(video[:at] + struct.pack(">8i", *turn) + video[at + 32:])
        env = os.environ | {"DEVICE": "auto", "NPU_COMPILE": NPU_COMPILE}
        done = subprocess.run([LINES / "detect-file.sh", turned], env=env, capture_output=True, text=True, timeout=120, check=True)
        self.assertIn("videoflip", done.stderr)
        self.assertIn("no NPU was found", done.stderr)
        self.assertEqual(len([json.loads(line) for line in done.stdout.splitlines()]), PART_FRAMES)

    def test_every_line_is_tested(self):
        text = Path(__file__).read_text()
        for line in [*LINES.glob("*.sh"), *LINES.glob("*.py")]:
            if line.name != "common.sh":
                self.assertIn(f'"{line.name}"', text)


if __name__ == "__main__":
    NPU_COMPILE = sys.argv.pop(1)
    unittest.main(verbosity=2)
