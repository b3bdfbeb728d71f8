#!/usr/bin/env python3
"""npucore.video: frames, what is found in them, and their pixels, beside GStreamer's own tools.

usage: video_test.py [unittest's arguments]
"""
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path

import numpy as np
import tiny

import npucore

CLIP, MODEL = tiny.SHAPES / "shapes.mp4", tiny.SHAPES / "shapes.xml"
FRAMES = 300
BALL = "videotestsrc {} pattern=ball ! video/x-raw,width=320,height=240,framerate=30/1"


def video(source=CLIP, **options):
    return npucore.video(source, **({"model": MODEL, "device": "software"} | options))


def first(count, frames):
    return list(itertools.islice(frames, count))


def gst_launch(*words):
    done = subprocess.run(["gst-launch-1.0", "-q", *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise AssertionError(f"gst-launch-1.0 ended with {done.returncode}:\n{done.stderr[-2000:]}")


def published(*elements, model=MODEL, count=FRAMES):
    """npupublish's lines of the clip's first frames, behind these elements."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "lines.jsonl")
        gst_launch("filesrc", f"location={CLIP}", "!", "decodebin", "!", "identity", f"eos-after={count + 1}", "!", "npuinfer",
                   f"model={model}", "device=software", "!", "nputensordec", *elements, "!", "npupublish", f"location={lines}", "!", "fakesink")
        return [json.loads(line) for line in lines.read_text().splitlines()]


def record(frame):
    """A frame as npupublish writes it, as far as npucore.video tells it."""
    def found(thing):
        left, top, right, bottom = thing.xyxy
        one = {"label": thing.class_name, "label_id": thing.class_id, "confidence": thing.confidence,
               "x": left, "y": top, "w": right - left, "h": bottom - top}
        return one | ({} if thing.track_id is None else {"tracking_id": thing.track_id})
    return {"frame": frame.index, "pts": round(frame.seconds * 1e9), "width": frame.size[0], "height": frame.size[1],
            "detections": [found(thing) for thing in frame.objects]}


class Answers(unittest.TestCase):
    def test_answers_are_those_that_npupublish_writes(self):
        wanted = published("!", "nputrack")
        found = [record(frame) for frame in video(track=True)]
        self.assertEqual(len(found), FRAMES)
        for line, own in zip(wanted, found):
            self.assertEqual({key: own[key] for key in own if key != "detections"}, {key: line[key] for key in own if key != "detections"})
            self.assertEqual(len(own["detections"]), len(line["detections"]))
            for thing, written in zip(own["detections"], line["detections"]):
                for key, value in thing.items():  # lines have two decimals
                    (self.assertAlmostEqual if isinstance(value, float) else self.assertEqual)(value, written[key], **(
                        {"delta": 0.006} if isinstance(value, float) else {}))
        self.assertGreater(sum("tracking_id" in thing for line in found for thing in line["detections"]), FRAMES)

    def test_arrays_are_the_objects(self):
        for frame in first(20, video(track=True)):
            answer, things = frame.answer, frame.objects
            self.assertEqual(answer.class_name.tolist(), [thing.class_name for thing in things])
            self.assertEqual(answer.class_id.tolist(), [thing.class_id for thing in things])
            self.assertEqual(answer.tracker_id.tolist(), [-1 if thing.track_id is None else thing.track_id for thing in things])
            np.testing.assert_allclose(answer.xyxy, [thing.xyxy for thing in things], atol=1e-3)
            np.testing.assert_allclose(answer.confidence, [thing.confidence for thing in things])
            self.assertEqual(set(answer.detections()), {"xyxy", "mask", "confidence", "class_id", "tracker_id", "data"})
            self.assertEqual(answer.frame_size, frame.size)
            self.assertIs(frame.answer, answer)

    def test_options_reach_the_elements(self):
        frames = first(20, video(confidence=0.9, properties={"npuinfer": {"inference_interval": 2}, "nputensordec": {"labels": "a,b,c"}}))
        self.assertEqual([frame.is_inferred for frame in frames[:4]], [True, False, True, False])
        things = [thing for frame in frames for thing in frame.objects]
        self.assertGreater(len(things), 5)
        self.assertGreaterEqual(min(thing.confidence for thing in things), 0.9)
        self.assertLessEqual({thing.class_name for thing in things}, {"a", "b", "c"})

    def test_a_blob_is_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            model = npucore.Model.read(MODEL)
            card = npucore.vision.ModelCard.read(model)
            model.preprocess(npucore.Frame("I420", 640, 360, matrix="bt709"), card)
            npucore.compile(model, "software").save(Path(folder, "shapes.blob"))
            frame = next(iter(video(model=Path(folder, "shapes.blob"), properties={"npuimport": {"convert": "allow"}})))
            self.assertIn("circle", [thing.class_name for thing in frame.objects])


@unittest.skipUnless(os.environ.get("NPUCORE_SHAPES_TASKS"), "the build makes no models for other tasks")
class Tasks(unittest.TestCase):
    def first(self, task, **options):
        model = Path(os.environ["NPUCORE_SHAPES_TASKS"], f"shapes_{task}_openvino_model")
        return next(iter(video(model=model, **options))), published(model=model, count=1)[0]

    def test_masks(self):
        frame, line = self.first("segment")
        self.assertEqual(frame.answer.mask.shape, (len(line["detections"]), 360, 640))
        for thing, mask, wanted in zip(frame.objects, frame.answer.mask, line["detections"]):
            np.testing.assert_array_equal(thing.mask, mask)
            self.assertGreater(mask.sum(), 20)
            wanted = wanted["mask"]
            if wanted["size"] == [wanted["h"], wanted["w"]]:  # a value for each pixel
                self.assertEqual(mask.sum(), sum(wanted["counts"][1::2]))

    def test_key_points(self):
        frame, line = self.first("pose")
        wanted = np.array([thing["keypoints"] for thing in line["detections"]])
        np.testing.assert_allclose(frame.answer.key_points, wanted, atol=0.01)
        np.testing.assert_allclose(frame.objects[0].key_points, wanted[0], atol=0.01)

    def test_turned_boxes(self):
        frame, line = self.first("obb")
        wanted = [[thing["oriented"][key] for key in ("x", "y", "w", "h", "angle")] for thing in line["detections"]]
        np.testing.assert_allclose(frame.answer.oriented, wanted, atol=0.01)
        np.testing.assert_allclose(frame.objects[0].oriented, wanted[0], atol=0.01)

    def test_class_maps(self):
        frame, line = self.first("semantic")
        classes = frame.answer.class_map
        self.assertEqual(classes.shape, (line["maps"][0]["height"], line["maps"][0]["width"]))
        for share in line["maps"][0]["classes"]:
            self.assertAlmostEqual((classes == share["label_id"]).mean(), share["share"], places=5)


class Classes(unittest.TestCase):
    def test_a_second_model_speaks_of_objects(self):
        """A cascade is a launch line: the first model in it, the second by video()."""
        first = f"filesrc location=\"{CLIP}\" ! decodebin ! npuinfer model=\"{MODEL}\" device=software ! nputensordec"
        frame = next(iter(video(None, launch=first, model=tiny.SHAPES / "colors.xml", properties={"npuinfer": {"inference-region": "roi-list"}})))
        colors = [name for thing in frame.objects for name, _, confidence in thing.classes if confidence > 0.5]
        self.assertGreater(len(colors), 2)
        self.assertLessEqual(set(colors), {"red", "green", "blue", "yellow"})


class Pictures(unittest.TestCase):
    def pixels(self, *source, color, count):
        with tempfile.TemporaryDirectory() as folder:
            gst_launch(*source, "!", "identity", f"eos-after={count + 1}", "!", "videoconvert", "!", f"video/x-raw,format={color}", "!", "filesink",
                       f"location={folder}/raw")
            return np.frombuffer(Path(folder, "raw").read_bytes(), np.uint8)

    def test_pixels_are_those_of_gstreamer(self):
        for color in ("BGR", "RGB"):
            wanted = self.pixels("filesrc", f"location={CLIP}", "!", "decodebin", color=color, count=40).reshape(-1, 360, 640, 3)
            self.assertGreaterEqual(len(wanted), 40)
            for frame, picture in zip(video(color=color), wanted[:40]):  # identity drops the frame after these
                np.testing.assert_array_equal(frame.image, picture)

    def test_rows_have_no_padding(self):
        """322 pixels of three bytes are no multiple of the four that GStreamer's rows are."""
        source = "videotestsrc pattern=gradient num-buffers=1 ! video/x-raw,format=I420,width=322,height=242"
        padded = self.pixels(*source.split(), color="BGR", count=1).reshape(242, 968)
        frame = next(iter(video(None, launch=source)))
        self.assertTrue(frame.image.flags.c_contiguous)
        np.testing.assert_array_equal(frame.image, padded[:, :966].reshape(242, 322, 3))

    def test_a_crop_is_followed(self):
        """videocrop behind the decoder leaves the planes and tells the crop, or cuts: the picture is the same."""
        source = f"filesrc location=\"{CLIP}\" ! decodebin ! videocrop left=32 top=16 right=64"
        wanted = self.pixels(*shlex.split(source), color="BGR", count=1)[:344 * 544 * 3].reshape(344, 544, 3)
        frame = next(iter(video(None, launch=source)))
        self.assertEqual(frame.size, (544, 344))
        np.testing.assert_array_equal(frame.image, wanted)

    def test_a_picture_is_made_once_and_may_be_drawn_on(self):
        frame = next(iter(video()))
        frame.image[:10] = 7
        self.assertTrue((frame.image[:10] == 7).all())

    def test_pixels_are_not_mapped_unless_asked_for(self):
        """GStreamer's log has each mapping of a buffer, with its thread."""
        program = ("import sys, npucore\n"
                   "for frame in npucore.video(sys.argv[1], model=sys.argv[2], device='software'):\n"
                   "    if frame.index == 30: break\n"
                   "    frame.objects, frame.answer\n"
                   "    if len(sys.argv) > 3: frame.image\n")
        for arguments, is_asked in ([], False), (["image"], True):
            done = subprocess.run([sys.executable, "-c", program, CLIP, MODEL, *arguments], capture_output=True, text=True, timeout=300, check=True,
                                  env=os.environ | {"GST_DEBUG": "GST_BUFFER:6,GST_INIT:4", "GST_DEBUG_NO_COLOR": "1"})
            lines = [line.split(None, 3) for line in done.stderr.splitlines() if re.match(r"\d+:\d\d:", line)]
            main = next(line[2] for line in lines if "GST_INIT" in line[3])
            mapped = [line for line in lines if line[2] == main and re.search(r"gst_buffer_map_range.*idx", line[3])]
            with self.subTest(is_asked=is_asked):
                self.assertGreater(len(lines), 1000)
                self.assertEqual(bool(mapped), is_asked)


class Sources(unittest.TestCase):
    def test_numbered_pictures_and_a_single_one(self):
        with tempfile.TemporaryDirectory() as folder:
            gst_launch("filesrc", f"location={CLIP}", "!", "decodebin", "!", "identity", "eos-after=6", "!", "jpegenc", "!", "multifilesink",
                       f"location={folder}/%03d.jpg")
            count = len(list(Path(folder).glob("*.jpg")))
            frames = list(video(f"{folder}/%03d.jpg"))
            self.assertEqual([frame.index for frame in frames], list(range(count)))
            self.assertIn("circle", frames[0].answer.class_name)
            self.assertEqual(len(list(video(Path(folder, "000.jpg")))), 1)

    def test_a_uri_is_a_source(self):
        self.assertEqual(next(iter(video(CLIP.as_uri()))).size, (640, 360))

    def test_a_camera_over_rtsp(self):
        server = subprocess.Popen(["/usr/bin/python3", tiny.TREE / "tests/pipelines/rtsp_server.py", "0"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdout.close)
        port = server.stdout.readline().strip()
        if not port:
            self.skipTest("there is no RTSP server here: gir1.2-gst-rtsp-server-1.0, python3-gi")
        for source in ({}, {"source": {"latency": 100}}):
            indices = [frame.index for frame, _ in zip(video(f"rtsp://127.0.0.1:{port}/camera", properties=source), range(5))]
            self.assertEqual(indices, list(range(5)))

    def test_numbered_pictures_begin_where_they_do(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "50%done")
            place.mkdir()
            gst_launch("videotestsrc", "num-buffers=4", "!", "video/x-raw,width=320,height=240", "!", "jpegenc", "!", "multifilesink",
                       f"location={folder}/50%%done/%05d.jpg", "index=1")
            self.assertEqual(len(list(video(place / "%05d.jpg"))), 4)
            Path(place, "00003.jpg").unlink()
            with self.assertWarnsRegex(RuntimeWarning, "number 3 is not there"):
                self.assertEqual(len(list(video(place / "%05d.jpg"))), 2)
            for wrong in ("100%n.jpg", "100%.jpg", "%04d.jpg"):
                with self.assertRaises(npucore.NotFoundError):
                    video(place / wrong)

    def test_properties_take_python_values(self):
        given = {"nputensordec": {"labels": ["ring", "box", "cone"], "labels-file": None}, "npuinfer": {"properties": {"PERFORMANCE_HINT": "LATENCY"}}}
        frame = first(1, video(properties=given, device=npucore.Device("software")))[0]
        self.assertTrue(frame.objects)
        self.assertLessEqual({thing.class_name for thing in frame.objects}, {"ring", "box", "cone"})

    def test_frames_of_a_file_are_all_there_for_a_slow_loop(self):
        seconds = []
        for frame in video(None, launch=BALL.format("num-buffers=12")):
            time.sleep(0.02)
            seconds.append(frame.seconds)
        np.testing.assert_allclose(seconds, np.arange(12) / 30, atol=1e-6)

    def test_a_slow_loop_gets_a_cameras_newest_frames(self):
        seconds = []
        for frame in video(None, launch=BALL.format("is-live=true"), drop=True):
            time.sleep(0.3)
            seconds.append(frame.seconds)
            if max(np.diff(seconds), default=0) > 0.1:
                return  # three frames at least were dropped meanwhile
            self.assertLess(frame.index, 50, seconds)

    def test_a_camera_without_drops_keeps_all_frames(self):
        seconds = []
        for frame in video(None, launch=BALL.format("is-live=true")):
            time.sleep(0.1)
            seconds.append(frame.seconds)
            if frame.index == 5:
                break
        np.testing.assert_allclose(np.diff(seconds), 1 / 30, atol=1e-3)

    def test_warnings_are_pythons(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            next(iter(video(device="auto")))
        texts = [str(one.message) for one in caught if one.category is RuntimeWarning]
        if not any(device for device in npucore.devices() if not device.is_software):
            self.assertTrue(any("software NPU" in text for text in texts), texts)
        self.assertEqual({Path(one.filename).name for one in caught if one.category is RuntimeWarning} - {Path(__file__).name}, set())


if __name__ == "__main__":
    tiny.main()
