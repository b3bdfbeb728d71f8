"""TensorFlow's Object Detection API: tensors and their meaning. usage: tf_detection.py JSON

research/object_detection/exporter.py: detection_boxes are top, left, bottom, right from 0 to 1, detection_classes count from one,
num_detections tells how many rows are meant. The graph has suppressed overlaps."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, tensor, write

MODEL, FRAME = (160, 96), (211, 190)
GEOMETRY = letterbox(MODEL, FRAME)
THRESHOLD, ROWS, CLASSES = 0.4, 40, 6
BACKGROUND = ["???", *(f"class {i}" for i in range(1, CLASSES + 1))]


def one(seed, labels=CLASSES, count=30, kind=np.float32, names="detection_boxes detection_classes detection_scores num_detections",
        first=1, order=(0, 1, 2, 3), family=None, more=False, counts=np.float32, **layout):
    """`first`: the class of the model that the first label names."""
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 1, (ROWS, 2, 2))
    boxes = np.concatenate([corners.min(1), corners.max(1)], 1).astype(kind)  # top, left, bottom, right
    scores = np.sort(random.uniform(0.1, 0.99, ROWS))[::-1].astype(kind)
    classes = random.integers(1, CLASSES + 1, ROWS)
    values = [boxes[None], classes[None].astype(counts), scores[None], np.array([count], counts)]
    names = names.split()
    tensors = [tensor(names[i], values[i], **layout) for i in order]
    if more:
        anchors = random.uniform(0, 1, (1, 90, 4)).astype(np.float32)
        tensors = [tensor("raw_detection_boxes", anchors), *tensors, tensor("detection_anchor_indices", values[2] * 7)]
    placed = into_frame(boxes.astype(np.float64)[:, [1, 0, 3, 2]] * np.array(MODEL * 2), GEOMETRY, FRAME)
    good = (scores >= THRESHOLD) & (np.arange(ROWS) < count) & (placed[:, 0] < placed[:, 2]) & (placed[:, 1] < placed[:, 3])
    kept = [i for i in np.argsort(-scores.astype(np.float64), kind="stable") if good[i]]
    card = {"task": "detect", "labels": labels, **({"family": family} if family else {})}
    return case(card, tensors, MODEL, FRAME, {"objects": objects(placed[kept], scores[kept], classes[kept] - first)}, GEOMETRY,
                confidence_threshold=THRESHOLD)


def main():
    registered = "ssd-mobilenet-v1-variant-1-out-{} ".replace("{}", "boxes") + " ".join(
        f"ssd-mobilenet-v1-variant-1-out-{what}" for what in ("classes", "scores")) + " generic-variant-1-out-count"
    write(sys.argv[1], {
        "as exported": one(1),
        "labels that name the background": one(2, BACKGROUND, first=0),
        "no labels": one(3, 0, first=0),
        "numbered names, and more outputs": one(4, names=" ".join(
            f"detection_{what}:0" for what in ("boxes", "classes", "scores")) + " num_detections:0", more=True),
        "names of the registry, in another order": one(5, names=registered, order=(3, 2, 0, 1)),
        "whole numbers": one(6, counts=np.int32),
        "halves with padding": one(7, kind=np.float16, row_padding=3),
        "no detections": one(8, count=0),
        "by family": one(9, names="a b c d", family="tf-detection"),
        "by family, scores first": one(10, names="p:1 p:3 p:0 p:2", order=(2, 0, 3, 1), family="tf-detection"),
    })


main()
