"""DetectionOutput and the forms of Model API: tensors and their meaning. usage: ssd.py JSON

open-edge-platform/model_api, models/ssd.py; DetectionOutput of OpenVINO's opset: image, label, score, left, top, right, bottom."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, tensor, write

MODEL, FRAME = (160, 96), (211, 190)
GEOMETRY = letterbox(MODEL, FRAME)
THRESHOLD = 0.4


def found(random, count, classes):
    corners = random.uniform(0, 1, (count, 2, 2))
    boxes = np.concatenate([corners.min(1), corners.max(1)], axis=1)
    return boxes.astype(np.float32), random.uniform(0, 1, count).astype(np.float32), random.integers(0, classes, count)


def meaning(boxes, scores, labels):
    """Of boxes in model pixels."""
    placed = into_frame(boxes, GEOMETRY, FRAME)
    good = (scores >= THRESHOLD) & (placed[:, 0] < placed[:, 2]) & (placed[:, 1] < placed[:, 3])
    order = [i for i in np.argsort(-scores.astype(np.float64), kind="stable") if good[i]]
    return {"objects": objects(placed[order], scores[order], labels[order])}


def one(card, tensors, answer):
    return case({"task": "detect", **card}, tensors, MODEL, FRAME, answer, GEOMETRY, confidence_threshold=THRESHOLD)


def rows(seed, dtype=np.float32, **layout):
    boxes, scores, labels = found(np.random.default_rng(seed), 40, 6)
    values = np.concatenate([np.zeros((40, 1)), labels[:, None], scores[:, None], boxes], axis=1).astype(dtype)
    values[30:, 0] = -1  # the list ends
    seen = values[:30].astype(np.float64)
    return one({"labels": 6}, [tensor("detection_out", values[None, None], **layout)],
               meaning(seen[:, 3:] * np.array(MODEL * 2), seen[:, 2], labels))


def scored_boxes(seed, leading):
    boxes, scores, labels = found(np.random.default_rng(seed), 30, 4)
    pixels = (boxes * np.array(MODEL * 2)).astype(np.float32)
    values = np.concatenate([pixels, scores[:, None]], axis=1)
    kind = labels.astype(np.int64)
    tensors = [tensor("boxes", values[None] if leading else values), tensor("labels", kind[None] if leading else kind)]
    return one({"labels": 4}, tensors, meaning(pixels, scores, labels))


def three(seed):
    boxes, scores, labels = found(np.random.default_rng(seed), 25, 4)
    tensors = [tensor("scores", scores[None]), tensor("labels", labels[None].astype(np.int32)), tensor("bboxes", boxes[None])]
    return one({}, tensors, meaning(boxes * np.array(MODEL * 2), scores, labels))


def main():
    write(sys.argv[1], {
        "rows": rows(1),
        "rows in halves": rows(2, np.float16),
        "rows with padding": rows(3, row_padding=5),
        "scored boxes": scored_boxes(4, True),
        "scored boxes of two dimensions": scored_boxes(5, False),
        "three tensors": three(6),
    })


main()
