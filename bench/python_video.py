#!/usr/bin/env python3
"""The CPU time of a frame in Python, from the file to the objects: npucore.video() beside the loop that people write with OpenCV and
OpenVINO (VideoCapture, resize, letterbox, infer, NMSBoxesBatched), in turns, a process for each run.

usage: PYTHONPATH=BUILD/python python_video.py clip.mp4 model.xml [--rounds N]; prints a JSON line a case

Case python_video computes the network on the CPU on both sides. In python_video_nulled nobody computes it, as where an NPU does: the software
NPU leaves it out (SOFTNPU_EXEC=null), and the loop takes zeros for its answer; nothing is found. The model is a YOLOv8 export.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time


def ours(clip, model, nulled):
    import npucore
    os.environ["SOFTNPU_EXEC"] = "null" if nulled else "cpu"
    for frame in npucore.video(clip, model=model, device="software"):
        yield [(thing.class_name, thing.confidence, thing.xyxy) for thing in frame.objects]


def theirs(clip, path, nulled):
    import cv2
    import numpy as np
    import openvino as ov
    core = ov.Core()
    model = core.read_model(path)
    info = {key: str(value) for key, value in model.get_rt_info("model_info").value.items()}
    labels, threshold, overlap = info["labels"].split(), float(info["confidence_threshold"]), float(info["iou_threshold"])
    request = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY"}).create_infer_request()
    height, width = model.inputs[0].shape[2:]
    video, nothing = cv2.VideoCapture(clip), np.zeros(model.outputs[0].shape[1:], np.float32)
    while True:
        is_there, picture = video.read()
        if not is_there:
            return
        scale = min(width / picture.shape[1], height / picture.shape[0])
        inner = cv2.resize(picture, (round(picture.shape[1] * scale), round(picture.shape[0] * scale)))
        left, top = (width - inner.shape[1]) // 2, (height - inner.shape[0]) // 2
        square = cv2.copyMakeBorder(inner, top, height - inner.shape[0] - top, left, width - inner.shape[1] - left, cv2.BORDER_CONSTANT,
                                    value=(114, 114, 114))
        tensor = cv2.dnn.blobFromImage(square, 1 / 255, swapRB=True)
        answer = nothing if nulled else request.infer(tensor)[0][0]
        rows = answer[:, answer[4:].max(0) > threshold]
        classes = rows[4:].argmax(0)
        boxes = np.stack([(rows[0] - rows[2] / 2 - left) / scale, (rows[1] - rows[3] / 2 - top) / scale, rows[2] / scale, rows[3] / scale], 1)
        kept = cv2.dnn.NMSBoxesBatched(boxes.tolist(), rows[4:].max(0).tolist(), classes.tolist(), threshold, overlap)
        yield [(labels[classes[i]], rows[4 + classes[i], i], boxes[i]) for i in kept]


SIDES = {"npucore.video": ours, "OpenCV and OpenVINO": theirs}


def run_side(name, clip, model, nulled):
    """Prints CPU ms a frame behind the first one, frames/s and objects."""
    frames, objects, cpu, begin = 0, 0, 0, 0
    for found in SIDES[name](clip, model, nulled):
        if frames == 0:
            cpu, begin = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]), time.monotonic()
        frames, objects = frames + 1, objects + len(found)
    seconds = time.monotonic() - begin
    print(json.dumps([(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - cpu) * 1000 / (frames - 1), (frames - 1) / seconds, objects]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("clip")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        run_side(options.side[0], options.clip, options.model, options.side[1] == "nulled")
        return
    for case in ("python_video", "python_video_nulled"):
        rows = {name: [] for name in SIDES}
        for turn in range(options.rounds):
            for name in list(SIDES)[::1 if turn % 2 else -1]:
                kind = "nulled" if case.endswith("nulled") else "computed"
                done = subprocess.run([sys.executable, __file__, options.clip, options.model, "--side", name, kind], check=True,
                                      stdout=subprocess.PIPE, text=True)
                rows[name].append(json.loads(done.stdout))
        sides = [{"name": name, "cpu_ms": round(statistics.median(row[0] for row in of_side), 2),
                  "frames_per_s": round(statistics.median(row[1] for row in of_side), 1), "objects": of_side[0][2]}
                 for name, of_side in rows.items()]
        ratio = statistics.median(a[0] / b[0] for a, b in zip(*rows.values()))
        print(json.dumps({"case": case, "unit": "CPU ms per frame", "rounds": options.rounds, "sides": sides, "ratio": round(ratio, 2)}), flush=True)


if __name__ == "__main__":
    main()
