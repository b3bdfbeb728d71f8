"""torchvision's detectors without their post-processing: tensors and their meaning. usage: torchvision.py JSON

torchvision/models/detection: anchor_utils.py (DefaultBoxGenerator, AnchorGenerator), _utils.py (BoxCoder, BoxLinearCoder), and
postprocess_detections of ssd.py, retinanet.py and fcos.py: candidates above the threshold, the best of each class or level, boxes
clipped to the picture, overlaps suppressed class by class."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, stretch, tensor, write

FRAME = (411, 300)
GROWTH = np.log(1000 / 16)


def halves(side, first, count):
    sides = [-(-side // first)]
    while len(sides) < count:
        sides.append(-(-sides[-1] // 2))
    return sides


def cells(columns, rows, middle):
    y, x = np.mgrid[0:rows, 0:columns]
    return np.stack([x.ravel() + middle, y.ravel() + middle], 1)


def default_boxes(model, grids, steps, scales, ratios):
    """Centre and size, in pixels, a level each."""
    levels = []
    for k, (columns, rows) in enumerate(grids):
        between = np.sqrt(scales[k] * scales[k + 1])
        pairs = [(scales[k], scales[k]), (between, between)]
        for ratio in ratios[k]:
            pairs += [(scales[k] * ratio ** 0.5, scales[k] / ratio ** 0.5), (scales[k] / ratio ** 0.5, scales[k] * ratio ** 0.5)]
        sizes = np.clip(pairs, 0, 1) * model
        per = (steps[k], steps[k]) if steps else (model[0] / columns, model[1] / rows)
        centres = cells(columns, rows, 0.5) * per
        levels.append(np.concatenate([np.repeat(centres, len(pairs), 0), np.tile(sizes, (len(centres), 1))], 1))
    return levels


def ssd(model):
    sides = (38, 19, 10, 5, 3, 1)
    return default_boxes(model, [(side, side) for side in sides], (8, 16, 32, 64, 100, 300), (0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05),
                         ([2], [2, 3], [2, 3], [2, 3], [2], [2]))


def ssd_lite(model):
    grids = list(zip(halves(model[0], 16, 6), halves(model[1], 16, 6)))
    return default_boxes(model, grids, None, [0.2 + 0.75 * k / 5 for k in range(6)] + [1.0], [[2, 3]] * 6)


def pyramid(model, shapes):
    levels = []
    for k, (columns, rows) in enumerate(zip(halves(model[0], 8, 5), halves(model[1], 8, 5))):
        centres = cells(columns, rows, 0) * (model[0] // columns, model[1] // rows)
        sizes = np.asarray(shapes(k), np.float64)
        levels.append(np.concatenate([np.repeat(centres, len(sizes), 0), np.tile(sizes, (len(centres), 1))], 1))
    return levels


def retina_shapes(k):
    size = 32 * 2 ** k
    sides = [size, int(size * 2 ** (1 / 3)), int(size * 2 ** (2 / 3))]
    return [(2 * round(side / ratio ** 0.5 / 2), 2 * round(side * ratio ** 0.5 / 2)) for ratio in (0.5, 1.0, 2.0) for side in sides]


def fcos_shapes(k):
    return [(8 * 2 ** k, 8 * 2 ** k)]


def overlap(box, boxes):
    inner = np.clip(np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2]), 0, None).prod(1)
    return inner / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(1) - inner)


def sigmoid(values):
    return 1 / (1 + np.exp(-values.astype(np.float64)))


def softmax(values):
    powers = np.exp(values.astype(np.float64))
    return powers / powers.sum(1, keepdims=True)


def coded(anchors, codes, place, size):
    codes = codes.astype(np.float64)
    centre = anchors[:, :2] + codes[:, :2] / place * anchors[:, 2:]
    sides = np.exp(np.minimum(codes[:, 2:] / size, GROWTH)) * anchors[:, 2:]
    return np.concatenate([centre - sides / 2, centre + sides / 2], 1)


def linear(anchors, codes):
    away = codes.astype(np.float64) * np.tile(anchors[:, 2:], 2)
    return np.concatenate([anchors[:, :2] - away[:, :2], anchors[:, :2] + away[:, 2:]], 1)


def meaning(form, levels, codes, logits, centerness, model, geometry, frame, threshold, limit, candidates, most):
    anchors = np.concatenate(levels)
    level_of = np.repeat(np.arange(len(levels)), [len(level) for level in levels])
    boxes = linear(anchors, codes) if form == "fcos" else coded(anchors, codes, *((10, 5) if "ssd" in form else (1, 1)))
    low = np.maximum([geometry["offset_x"], geometry["offset_y"]], 0)
    high = np.array([geometry["offset_x"] + frame[0] / geometry["scale_x"], geometry["offset_y"] + frame[1] / geometry["scale_y"]])
    boxes = np.clip(boxes, np.tile(low, 2), np.tile(np.minimum(high, model), 2))
    scores = softmax(logits) if "ssd" in form else sigmoid(logits)
    if centerness is not None:
        scores = np.sqrt(scores * sigmoid(centerness))
    groups = {}
    for anchor, label in zip(*np.nonzero(scores >= threshold)):
        if "ssd" in form and label == 0:
            continue
        groups.setdefault(label if "ssd" in form else level_of[anchor], []).append((-scores[anchor, label], anchor, label))
    chosen = [one for group in groups.values() for one in sorted(group)[:candidates]]
    found = []
    for score, anchor, label in sorted(chosen):
        if (boxes[anchor, 2:] <= boxes[anchor, :2]).any():
            continue
        same = np.array([boxes[other] for _, other, kind in found if kind == label]).reshape(-1, 4)
        if not (overlap(boxes[anchor], same) > limit).any():
            found.append((-score, anchor, label))
    found = found[:most]
    placed = into_frame(np.array([boxes[anchor] for _, anchor, _ in found]).reshape(-1, 4), geometry, frame)
    return {"objects": objects(placed, [score for score, _, _ in found], [label for _, _, label in found])}


ANCHORS = {"ssd": ssd, "ssdlite": ssd_lite, "retinanet": lambda model: pyramid(model, retina_shapes),
           "fcos": lambda model: pyramid(model, fcos_shapes)}
CANDIDATES = {"ssd": 400, "ssdlite": 300, "retinanet": 1000, "fcos": 1000}


def one(seed, form, model, classes, geometry, sure=0.01, names=True, dtype=np.float32, labels=None, threshold=0.5, most=300, **layout):
    random = np.random.default_rng(seed)
    levels = ANCHORS[form](model)
    count = sum(map(len, levels))
    logits = random.normal(-6, 1, (count, classes))
    if "ssd" in form:
        logits[:, 0] = 0
    likely = random.random(count) < sure
    # Higher ones have scores that are equal in f32.
    logits[likely, random.integers(1, classes, likely.sum())] = random.uniform(0.5, 4, likely.sum())
    codes = random.uniform(0.5, 4, (count, 4)) if form == "fcos" else random.normal(0, 1, (count, 4)) * ((1, 1, 2, 2) if "ssd" in form
                                                                                                        else (0.3, 0.3, 0.3, 0.3))
    codes[np.flatnonzero(likely)[0], -1] = 40  # grows no further than the coder lets it
    logits, codes = logits.astype(dtype), codes.astype(dtype)
    centerness = random.uniform(-1, 4, (count, 1)).astype(dtype) if form == "fcos" else None
    called = ("cls_logits", "bbox_regression", "bbox_ctrness") if names else ("a", "b", "c")
    tensors = [tensor(name, values[None], **layout) for name, values in zip(called, (logits, codes, centerness)) if values is not None]
    card = {"task": "detect", "labels": classes if labels is None else labels, **({} if names else {"family": "torchvision"})}
    answer = meaning(form, levels, codes, logits, centerness, model, geometry, FRAME, threshold, 0.5, CANDIDATES[form], most)
    assert answer["objects"]
    return case(card, tensors, model, FRAME, answer, geometry, confidence_threshold=threshold, iou_threshold=0.5, max_objects=most)


def main():
    lite, small = (96, 160), (72, 104)  # neither has whole cells of each level
    write(sys.argv[1], {
        "ssd": one(1, "ssd", (300, 300), 4, stretch((300, 300), FRAME)),
        "ssdlite of 320": one(2, "ssdlite", (320, 320), 4, stretch((320, 320), FRAME)),
        "ssdlite, candidates of a class": one(3, "ssdlite", (320, 320), 2, stretch((320, 320), FRAME), sure=0.5),
        "ssdlite of another size": one(4, "ssdlite", lite, 5, stretch(lite, FRAME), sure=0.1),
        "ssdlite without names": one(5, "ssdlite", lite, 5, stretch(lite, FRAME), sure=0.1, names=False),
        "retinanet": one(6, "retinanet", small, 6, stretch(small, FRAME), sure=0.05),
        "retinanet in a letterbox": one(7, "retinanet", small, 6, letterbox(small, FRAME), sure=0.05),
        "retinanet, candidates of a level": one(8, "retinanet", (120, 128), 3, stretch((120, 128), FRAME), sure=0.6, most=40),
        "fcos": one(9, "fcos", small, 6, stretch(small, FRAME), sure=0.2),
        "fcos in halves with padding": one(10, "fcos", small, 5, stretch(small, FRAME), sure=0.2, dtype=np.float16, row_padding=3),
        "fcos without names or labels": one(11, "fcos", small, 5, stretch(small, FRAME), sure=0.2, names=False, labels=0),
    })


main()
