"""Runs the model over a clip with OpenVINO alone, without the pipeline's elements: the peer for the
pipeline's figures. Writes npupublish's JSON lines; can draw frames into a PNG."""

import argparse
import json
import subprocess

import numpy as np
import openvino as ov

from evaluate import iou
from pixels import YUV_OFFSET, YUV_TO_RGB, draw_box, letterbox, split_i420, write_png
from scenes import LABELS

BOX_COLORS = {"circle": (255, 255, 255), "square": (255, 0, 255), "triangle": (0, 255, 255)}


def decoded_frames(clip, width, height):
    """The clip's frames as three planes each."""
    line = (f"gst-launch-1.0 -q filesrc location={clip} ! decodebin "
            "! videoconvert ! video/x-raw,format=I420 ! fdsink fd=1")
    with subprocess.Popen(line.split(), stdout=subprocess.PIPE) as process:
        while data := process.stdout.read(width * height * 3 // 2):
            yield split_i420(data, width, height)


def detections(output, place, width, height, threshold, overlap):
    """Frame-pixel boxes of an output [7, N], after non-maximum suppression per class."""
    left, top, scale = place
    best = output[4:].argmax(0)
    scores = output[4:].max(0)
    kept = []
    for cell in np.argsort(-scores, kind="stable"):
        if scores[cell] < threshold:
            break
        cx, cy, w, h = (float(v) for v in output[:4, cell])
        x0, x1 = (np.clip((v - left) / scale, 0, width) for v in (cx - w / 2, cx + w / 2))
        y0, y1 = (np.clip((v - top) / scale, 0, height) for v in (cy - h / 2, cy + h / 2))
        box = {"label": LABELS[best[cell]], "label_id": int(best[cell]),
               "confidence": float(scores[cell]),
               "x": float(x0), "y": float(y0), "w": float(x1 - x0), "h": float(y1 - y0)}
        if all(other["label"] != box["label"] or iou(other, box) <= overlap for other in kept):
            kept.append(box)
    return kept


def drawn(planes, boxes, minimum):
    y, u, v = (plane.astype(np.float32) for plane in planes)
    u, v = (plane.repeat(2, 0).repeat(2, 1) for plane in (u, v))
    rgb = (np.stack([y, u, v], -1) - YUV_OFFSET) @ YUV_TO_RGB.T
    picture = np.clip(rgb, 0, 255).astype(np.uint8)
    for box in boxes:
        if box["confidence"] >= minimum:
            draw_box(picture, box["x"], box["y"], box["w"], box["h"], BOX_COLORS[box["label"]])
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threshold", type=float, default=0.01)
    parser.add_argument("--overlap", type=float, default=0.5, help="IoU that suppresses")
    parser.add_argument("--size", type=int, nargs=2, default=(640, 360))
    parser.add_argument("--png", help="draws four frames here, boxes of confidence 0.35 and more")
    parser.add_argument("model")
    parser.add_argument("clip")
    parser.add_argument("out", help="JSON lines")
    options = parser.parse_args()
    model = ov.Core().compile_model(options.model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    width, height = options.size
    pictures = []
    with open(options.out, "w", encoding="utf-8") as out:
        for frame, planes in enumerate(decoded_frames(options.clip, width, height)):
            canvas, place = letterbox(planes)
            tensor = np.ascontiguousarray(canvas.transpose(2, 0, 1)[None] / np.float32(255))
            output = model(tensor)[0][0]
            found = detections(output, place, width, height, options.threshold, options.overlap)
            out.write(json.dumps({"pts": frame * 1_000_000_000 // 30, "frame": frame,
                                  "width": width, "height": height, "model": "shapes",
                                  "detections": found}) + "\n")
            if options.png and frame % 75 == 20:
                pictures.append(drawn(planes, found, 0.35))
    if options.png:
        write_png(options.png, np.vstack([np.hstack(pictures[:2]), np.hstack(pictures[2:4])]))


if __name__ == "__main__":
    main()
