"""YOLO's heads as Ultralytics exports them: tensors and their meaning. usage: yolo.py JSON"""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, tensor, write


def anchors_of(width, height):
    return sum((width // stride) * (height // stride) for stride in (8, 16, 32))


def edges_of(boxes):
    """From centre and size."""
    half = boxes[:, 2:4] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def iou(box, others):
    shared = np.clip(np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2]), 0, None).prod(1)
    area = (others[:, 2:] - others[:, :2]).prod(1)
    return shared / ((box[2:] - box[:2]).prod() + area - shared)


def suppressed(scores, labels, overlaps_with, threshold, most):
    """Indices, best first: of two of one class that overlap more than the threshold, the better one stays."""
    kept = []
    for index in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        same = [other for other in kept if labels[other] == labels[index]]
        if len(kept) < most and not (same and (overlaps_with(index, np.array(same)) > threshold).any()):
            kept.append(index)
    return np.array(kept, int)


def inside(boxes):
    """Which of them, clipped to the frame, are not empty."""
    return (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])


def raw_boxes(random, count, model, classes):
    """Clusters, so that there is something to suppress."""
    centers = random.uniform(0, model, (12, 2))
    boxes = np.concatenate([centers[random.integers(0, 12, count)] + random.normal(0, 4, (count, 2)),
                            random.uniform(8, 60, (count, 2))], axis=1)
    scores = random.uniform(0, 0.2, (count, classes))
    good = random.permutation(count)[:count // 4]
    scores[good, random.integers(0, classes, good.size)] = random.uniform(0.2, 1, good.size)
    return boxes.astype(np.float32), scores.astype(np.float32)


def detect(seed, model, frame, classes, geometry, dtype=np.float32, channels_first=True, **layout):
    random = np.random.default_rng(seed)
    boxes, scores = raw_boxes(random, anchors_of(*model), model, classes)
    rows = np.concatenate([boxes, scores], axis=1).astype(dtype)
    boxes, scores = rows[:, :4].astype(np.float64), rows[:, 4:].astype(np.float64)
    best, labels = scores.max(1), scores.argmax(1)
    edges = edges_of(boxes)
    placed = into_frame(edges, geometry, frame)
    chosen = np.nonzero((best >= 0.25) & inside(placed))[0]
    edges, placed, best, labels = edges[chosen], placed[chosen], best[chosen], labels[chosen]
    kept = suppressed(best, labels, lambda i, others: iou(edges[i], edges[others]), 0.45, 300)
    values = (rows.T if channels_first else rows)[None]
    return case({"task": "detect", "labels": classes}, [tensor("output0", np.ascontiguousarray(values), **layout)], model, frame,
                {"objects": objects(placed[kept], best[kept], labels[kept])}, geometry,
                confidence_threshold=0.25, iou_threshold=0.45)


def main():
    model, frame = (128, 96), (190, 201)
    boxed = letterbox(model, frame)
    write(sys.argv[1], {
        "detect": detect(1, model, frame, 80, boxed),
        "detect in halves": detect(2, model, frame, 3, boxed, dtype=np.float16),
        "detect with padded rows": detect(3, model, frame, 5, boxed, row_padding=11),
        "detect boxes first": detect(4, model, frame, 5, boxed, channels_first=False, row_padding=3),
    })


main()
