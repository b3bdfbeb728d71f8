"""CenterFace: tensors and their meaning. usage: centerface.py JSON

Star-Clouds/CenterFace, prj-python/centerface.py: cells of four pixels; a face's size is the exponential of its logarithm in cells, its
centre is moved within the cell, its key points are shares of the box. Boxes that begin outside the picture are moved inside."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, stretch, tensor, write

MODEL, FRAME, POINTS = (96, 64), (411, 300), 5


def overlap(box, boxes):
    inner = np.clip(np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2]), 0, None).prod(1)
    return inner / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(1) - inner)


def meaning(heat, sizes, offsets, points, geometry, threshold, limit):
    rows, columns = np.nonzero(heat >= threshold)
    at = [values[:, rows, columns].astype(np.float64) for values in (sizes, offsets, points)]
    scores = heat[rows, columns].astype(np.float64)
    size = np.exp(at[0]) * 4  # down, across
    first = np.stack([(columns + at[1][1] + 0.5) * 4 - size[1] / 2, (rows + at[1][0] + 0.5) * 4 - size[0] / 2], 1)
    first = np.clip(first, 0, MODEL)
    boxes = np.concatenate([first, np.minimum(first + size[::-1].T, MODEL)], 1)
    places = np.stack([at[2][1::2] * size[1] + first[:, 0], at[2][0::2] * size[0] + first[:, 1]], 2).transpose(1, 0, 2)
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if (boxes[i, :2] < boxes[i, 2:]).all() and not (overlap(boxes[i], boxes[kept].reshape(-1, 4)) > limit).any():
            kept.append(i)
    placed = into_frame(boxes[kept], geometry, FRAME)
    seen = [i for i, box in zip(kept, placed) if (box[:2] < box[2:]).all()]
    return {"objects": objects(into_frame(boxes[seen], geometry, FRAME), scores[seen], [0] * len(seen)),
            "key_points": [[x, y, 1] for x, y in into_frame(places[seen].reshape(-1, 2), geometry, FRAME).tolist()]}


def one(seed, geometry, names=("537", "538", "539", "540"), order=(0, 1, 2, 3), dtype=np.float32, family=None, **layout):
    random = np.random.default_rng(seed)
    columns, rows = MODEL[0] // 4, MODEL[1] // 4
    heat = np.where(random.random((rows, columns)) < 0.06, random.uniform(0.5, 1, (rows, columns)), random.uniform(0, 0.4, (rows, columns)))
    heat[0, 0] = heat[-1, -1] = 0.9  # at the picture's edges
    sizes = random.uniform(0, 2, (2, rows, columns))
    offsets, points = random.uniform(-0.5, 0.5, (2, rows, columns)), random.uniform(0, 1, (2 * POINTS, rows, columns))
    values = [value.astype(dtype) for value in (heat, sizes, offsets, points)]
    answer = meaning(*values, geometry, 0.5, 0.3)
    tensors = [tensor(names[i], values[i].reshape(1, -1, rows, columns), **layout) for i in order]
    card = {"task": "detect", "labels": ["face"]}
    if family == "without points":
        tensors.pop()
        del answer["key_points"]
        card["family"] = "centerface"
    return case(card, tensors, MODEL, FRAME, answer, geometry, confidence_threshold=0.5, iou_threshold=0.3)


def main():
    write(sys.argv[1], {
        "stretched": one(1, stretch(MODEL, FRAME)),
        "letterbox": one(2, letterbox(MODEL, FRAME)),
        "offsets first": one(3, stretch(MODEL, FRAME), names=("heatmap", "scale", "offset", "landmarks"), order=(3, 2, 1, 0)),
        "in halves with padding": one(4, stretch(MODEL, FRAME), dtype=np.float16, row_padding=3),
        "without key points": one(5, stretch(MODEL, FRAME), family="without points"),
    })


main()
