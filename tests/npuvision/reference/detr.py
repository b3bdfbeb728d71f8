"""Detection transformers: tensors and their meaning. usage: detr.py JSON

Sigmoid, best of all queries and classes: Hugging Face's RTDetrImageProcessor.post_process_object_detection, RF-DETR's PostProcess.
Masks: RF-DETR's PostProcess, logits interpolated to the frame, above 0.
Softmax without its last class: Hugging Face's DetrImageProcessor. Labels, boxes and scores: D-FINE's and RT-DETR's exports."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, mask, objects, stretch, tensor, write

MODEL, FRAME = (128, 128), (300, 170)


def placed(boxes, geometry):
    """Of centre and size from 0 to 1."""
    half = boxes[:, 2:] / 2
    edges = np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1) * np.array(MODEL * 2)
    return into_frame(edges, geometry, FRAME)


def inside(boxes):
    return (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])


def best(scores, count, threshold, visible, classes):
    """Those outside the frame take places, too."""
    return [i for i in np.argsort(-scores, kind="stable")[:count] if scores[i] >= threshold and visible[i // classes]]


def queries(seed, count, classes, dtype):
    random = np.random.default_rng(seed)
    logits = random.normal(-3, 2, (count, classes)).astype(dtype)
    boxes = np.concatenate([random.uniform(0, 1, (count, 2)), random.uniform(0.05, 0.6, (count, 2))], axis=1).astype(dtype)
    return logits, boxes


def sigmoids(seed, names, classes, geometry, threshold, dtype=np.float32, card=None, **layout):
    count = 50
    logits, boxes = queries(seed, count, classes, dtype)
    scores = 1 / (1 + np.exp(-logits.astype(np.float64))).reshape(-1)
    edges = placed(boxes.astype(np.float64), geometry)
    good = best(scores, count, threshold, inside(edges), classes)
    answer = {"objects": objects([edges[i // classes] for i in good], scores[good], [i % classes for i in good])}
    tensors = [tensor(names[0], logits[None], **layout), tensor(names[1], boxes[None], **layout)]
    return case({"task": "detect", "labels": classes, **(card or {})}, tensors, MODEL, FRAME, answer, geometry,
                confidence_threshold=threshold)


def interpolation(frame_size, plane_size, model_size, offset, scale):
    """Weights [frame, plane] of a bilinear resize between pixel centres."""
    centers = ((np.arange(frame_size) + 0.5) / scale + offset) * plane_size / model_size - 0.5
    centers = np.clip(centers, 0, plane_size - 1)
    return np.clip(1 - np.abs(centers[:, None] - np.arange(plane_size)), 0, None)


def with_masks(seed, names, classes, geometry, threshold, dtype=np.float32, card=None, size=(24, 20), **layout):
    one = sigmoids(seed, names, classes, geometry, threshold, dtype, {"task": "segment", **(card or {})}, **layout)
    count = one["tensors"][0]["shape"][1]
    random = np.random.default_rng(seed + 100)
    coarse = np.kron(random.normal(-1, 1, (count, size[0] // 4, size[1] // 4)), np.ones((1, 4, 4)))
    coarse[7] = -3  # nothing of it
    logits = (coarse + random.normal(0, 0.1, coarse.shape)).astype(dtype)
    values, _ = queries(seed, count, classes, dtype)
    boxes = placed(queries(seed, count, classes, dtype)[1].astype(np.float64), geometry)
    scores = 1 / (1 + np.exp(-values.astype(np.float64))).reshape(-1)
    good = best(scores, count, threshold, inside(boxes), classes)
    down = interpolation(FRAME[1], size[0], MODEL[1], geometry["offset_y"], geometry["scale_y"])
    across = interpolation(FRAME[0], size[1], MODEL[0], geometry["offset_x"], geometry["scale_x"])
    one["answer"]["masks"] = [mask(down @ logits[i // classes].astype(np.float64) @ across.T > 0) for i in good]
    one["tensors"].append(tensor("masks", logits[None], **layout))
    return one


def softmax(seed, card, geometry, threshold):
    classes = 9
    logits, boxes = queries(seed, 60, classes + 1, np.float32)
    powers = np.exp(logits.astype(np.float64))
    shares = (powers / powers.sum(1, keepdims=True))[:, :-1]
    scores, labels = shares.max(1), shares.argmax(1)
    edges = placed(boxes.astype(np.float64), geometry)
    good = [i for i in np.argsort(-scores, kind="stable") if scores[i] >= threshold and inside(edges)[i]]
    return case({"task": "detect", "labels": classes, **card}, [tensor("pred_boxes", boxes[None]), tensor("logits", logits[None])],
                MODEL, FRAME, {"objects": objects(edges[good], scores[good], labels[good])}, geometry, confidence_threshold=threshold)


def decoded(seed, geometry, card, names):
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 128, (40, 2, 2))
    boxes = np.concatenate([corners.min(1), corners.max(1)], axis=1).astype(np.float32)
    scores = -np.sort(-random.uniform(0, 1, 40)).astype(np.float32)
    labels = random.integers(0, 5, 40)
    edges = into_frame(boxes, geometry, FRAME)
    good = [i for i in np.argsort(-scores, kind="stable") if scores[i] >= 0.5 and inside(edges)[i]]
    tensors = [tensor(names[0], labels[None]), tensor(names[1], boxes[None]), tensor(names[2], scores[None])]
    return case({"task": "detect", "labels": 5, **card}, tensors, MODEL, FRAME,
                {"objects": objects(edges[good], scores[good], labels[good])}, geometry)


def main():
    boxed, filled = letterbox(MODEL, FRAME), stretch(MODEL, FRAME)
    write(sys.argv[1], {
        "Hugging Face": sigmoids(1, ("logits", "pred_boxes"), 80, filled, 0.5),
        "RF-DETR": sigmoids(2, ("labels", "dets"), 91, filled, 0.3),
        "four classes": sigmoids(3, ("logits", "pred_boxes"), 4, boxed, 0.2, row_padding=7),
        "more than the queries": sigmoids(4, ("logits", "pred_boxes"), 20, boxed, 0.01),
        "without names": sigmoids(5, ("a", "b"), 12, boxed, 0.2, dtype=np.float16, card={"family": "detr"}),
        "masks of RF-DETR": with_masks(10, ("labels", "dets"), 91, filled, 0.3),
        "masks without names": with_masks(11, ("a", "b"), 12, boxed, 0.2, np.float16, {"family": "detr"}, size=(32, 32), row_padding=3),
        "original": softmax(6, {"architecture": "DetrForObjectDetection"}, boxed, 0.3),
        "tables": softmax(12, {"architecture": "TableTransformerForObjectDetection"}, boxed, 0.3),
        "original by its card": softmax(7, {"multilabel": False}, filled, 0.3),
        "decoded": decoded(8, filled, {}, ("labels", "boxes", "scores")),
        "decoded without names": decoded(9, boxed, {"family": "detr-decoded"}, ("a", "b", "c")),
    })


main()
