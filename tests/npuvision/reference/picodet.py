"""PicoDet without its own suppression: tensors and their meaning. usage: picodet.py JSON

PaddleDetection's picodet_postprocess (deploy/python/picodet_postprocess.py): for each cell of the grids the score of each class,
already a probability, and for each edge a distribution over 0 to 7 cells, whose mean is how far it is from the cell's middle.
Overlaps are suppressed class by class, by intersection over union."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, stretch, tensor, write

STRIDES, BINS = (8, 16, 32, 64), 8
FRAME = (411, 300)


def middles(model, stride):
    columns, rows = (-(-size // stride) for size in model)
    y, x = np.mgrid[0:rows, 0:columns]
    return np.stack([x.ravel() + 0.5, y.ravel() + 0.5], axis=1) * stride


def overlap(box, boxes):
    inner = np.clip(np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2]), 0, None).prod(1)
    return inner / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(1) - inner)


def suppressed(boxes, scores, limit):
    kept, rest = [], np.argsort(-scores, kind="stable")
    while rest.size:
        kept.append(rest[0])
        rest = rest[1:][overlap(boxes[rest[0]], boxes[rest[1:]]) <= limit]
    return kept


def meaning(model, grids, geometry, frame, threshold, limit):
    boxes, scores = [], []
    for stride, (shares, bins) in zip(STRIDES, grids):
        powers = np.exp(bins.astype(np.float64).reshape(-1, 4, BINS))
        away = (powers / powers.sum(2, keepdims=True)) @ np.arange(BINS) * stride
        middle = middles(model, stride)
        boxes.append(np.concatenate([middle - away[:, :2], middle + away[:, 2:]], axis=1))
        scores.append(shares.astype(np.float64))
    boxes, scores = np.concatenate(boxes), np.concatenate(scores)
    found = []
    for label in range(scores.shape[1]):
        likely = np.flatnonzero(scores[:, label] >= threshold)
        placed = into_frame(boxes[likely], geometry, frame)
        likely = likely[(placed[:, 0] < placed[:, 2]) & (placed[:, 1] < placed[:, 3])]
        found += [(likely[i], label) for i in suppressed(boxes[likely], scores[likely, label], limit)]
    found.sort(key=lambda one: (-scores[one], one))
    return {"objects": objects(into_frame([boxes[cell] for cell, _ in found], geometry, frame), [scores[one] for one in found],
                               [label for _, label in found])}


def one(seed, model, classes, geometry, frame=FRAME, dtype=np.float32, order="as exported", labels=None, **layout):
    random = np.random.default_rng(seed)
    threshold, limit = 0.5, 0.5
    grids = []
    for stride in STRIDES:
        cells = len(middles(model, stride))
        shares = random.uniform(0, 0.4, (cells, classes))
        sure = random.uniform(size=cells) < 0.15
        shares[sure, random.integers(0, classes, sure.sum())] = random.uniform(0.5, 1, sure.sum())
        shares[sure.argmax()] = random.uniform(0.5, 1, classes)  # each class is a question of its own
        grids.append((shares.astype(dtype), random.normal(0, 2, (cells, 4 * BINS)).astype(dtype)))
    scores = [tensor(f"scores{i}", grid[0][None], **layout) for i, grid in enumerate(grids)]
    bins = [tensor(f"boxes{i}", grid[1][None], **layout) for i, grid in enumerate(grids)]
    tensors = {"as exported": scores + bins, "boxes first": bins[::-1] + scores}[order]
    return case({"task": "detect", "labels": classes if labels is None else labels}, tensors, model, frame,
                meaning(model, grids, geometry, frame, threshold, limit), geometry, confidence_threshold=threshold, iou_threshold=limit)


def main():
    model = (152, 200)  # neither side has whole cells of 64 pixels
    write(sys.argv[1], {
        "stretched": one(1, model, 10, stretch(model, FRAME)),
        "letterbox": one(2, model, 5, letterbox(model, FRAME)),
        "in halves": one(3, model, 10, stretch(model, FRAME), dtype=np.float16),
        "with padding": one(4, model, 3, stretch(model, FRAME), row_padding=5),
        "boxes first": one(5, model, 4, stretch(model, FRAME), order="boxes first"),
        "as many classes as values of the edges": one(6, model, 32, stretch(model, FRAME)),
        "one class, no labels": one(7, (160, 160), 1, letterbox((160, 160), FRAME), labels=0),
    })


main()
