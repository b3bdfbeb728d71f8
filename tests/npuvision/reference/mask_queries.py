"""Queries with classes and masks: tensors and their meaning. usage: mask_queries.py JSON

Hugging Face's MaskFormer-, Mask2Former- and OneFormerImageProcessor: post_process_semantic_segmentation, at the masks' own size, and
post_process_instance_segmentation, which for Mask2Former scales masks to 384x384 before it scores them. Masks are interpolated to the
frame before they are cut at one half, and boxes lie around them."""
import sys

import numpy as np

from reference import case, letterbox, mask, objects, stretch, tensor, write

MODEL, FRAME = (64, 64), (160, 90)  # a letterbox has 14 rows above and below
QUERIES, CLASSES, SIDE = 9, 5, 32


def sigmoid(logits):
    return 1 / (1 + np.exp(-logits))


def softmax(logits):
    powers = np.exp(logits)
    return powers / powers.sum(1, keepdims=True)


def interpolation(scaled, size, first=0.0, step=None):
    """Weights [scaled, size] between the centres of values; `first` and `step`: where the scaled ones begin, and how far apart they are."""
    step = size / scaled if step is None else step
    centers = np.clip(first + (np.arange(scaled) + 0.5) * step - 0.5, 0, size - 1)
    return np.clip(1 - np.abs(centers[:, None] - np.arange(size)), 0, None)


def queries(seed, dtype):
    """Some queries are sure of a class; masks are blots, one of them empty and one that lies in the letterbox's border."""
    random = np.random.default_rng(seed)
    classes = random.normal(0, 1, (QUERIES, CLASSES + 1))
    classes[np.arange(QUERIES), random.integers(0, CLASSES + 1, QUERIES)] += 5
    classes[:3, -1] -= 5
    classes[:3, 2] += 6
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    masks = np.empty((QUERIES, SIDE, SIDE))
    for one in masks:
        place, size = random.uniform(8, 24, 2), random.uniform(3, 9, 2)
        one[:] = 4 * (1 - ((x - place[0]) / size[0]) ** 2 - ((y - place[1]) / size[1]) ** 2)
    masks += random.normal(0, 0.3, masks.shape)
    masks = np.clip(masks, -8, 8)
    masks[0] = -3
    masks[1] = np.where(y < 4, 3, -3)
    return classes.astype(dtype), masks.astype(dtype)


def shown(values, geometry):
    """The part of a map that shows the frame."""
    border = round(geometry["offset_y"] * SIDE / MODEL[1])
    return values[border:SIDE - border]


def meaning_of_places(classes, masks, geometry):
    sums = np.einsum("qc,qhw->chw", softmax(classes)[:, :-1], sigmoid(masks))
    values = shown(sums.argmax(0), geometry)
    return {"class_map": {"width": values.shape[1], "height": values.shape[0], "values": values.reshape(-1).tolist()}}


def in_frame(logits, geometry):
    per_pixel = SIDE / MODEL[0]
    across = interpolation(FRAME[0], SIDE, geometry["offset_x"] * per_pixel, per_pixel / geometry["scale_x"])
    down = interpolation(FRAME[1], SIDE, geometry["offset_y"] * per_pixel, per_pixel / geometry["scale_y"])
    return down @ logits @ across.T > 0


def meaning_of_objects(classes, masks, geometry, threshold, most, scored):
    shares = softmax(classes)[:, :-1].reshape(-1)
    best = np.argsort(-shares, kind="stable")[:len(classes)]
    scale = interpolation(scored, SIDE)
    found = []
    for at in best:
        query, label = divmod(int(at), CLASSES)
        logits = scale @ masks[query] @ scale.T
        inside = logits > 0
        if not inside.any():
            continue
        score = shares[at] * sigmoid(logits)[inside].mean()
        pixels = in_frame(masks[query], geometry)
        if score >= threshold:
            found.append((score, at, label, pixels))
    found.sort(key=lambda one: (-one[0], one[1]))
    found = [one for one in found[:most] if one[3].any()]
    boxes = []
    for *_, pixels in found:
        rows, columns = np.nonzero(pixels)
        boxes.append([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
    return {"objects": objects(np.array(boxes).reshape(-1, 4), [one[0] for one in found], [one[2] for one in found]),
            "masks": [mask(one[3]) for one in found]}


def one(seed, task, geometry, dtype=np.float32, threshold=0.5, most=300, architecture="", names=("class_queries_logits", "masks_queries_logits"),
        card=None, **layout):
    classes, masks = queries(seed, dtype)
    values = classes.astype(np.float64), masks.astype(np.float64)
    if task == "semantic":
        answer = meaning_of_places(*values, geometry)
    else:
        answer = meaning_of_objects(*values, geometry, threshold, most, 384 if architecture.startswith("Mask2Former") else SIDE)
        assert len(answer["objects"]) > 1
    features = np.zeros((1, QUERIES, 7), np.float32)
    tensors = [tensor("transformer_decoder_last_hidden_state", features), tensor(names[1], masks[None], **layout),
               tensor(names[0], classes[None], **layout)]
    return case({"task": task, "labels": CLASSES, "architecture": architecture, **(card or {})}, tensors, MODEL, FRAME, answer, geometry,
                confidence_threshold=threshold, max_objects=most)


def main():
    wide, boxed = stretch(MODEL, FRAME), letterbox(MODEL, FRAME)
    mask2former, named = "Mask2FormerForUniversalSegmentation", {"family": "mask-queries"}
    write(sys.argv[1], {
        "classes of places": one(1, "semantic", wide),
        "classes of places in a letterbox": one(2, "semantic", boxed, row_padding=3),
        "classes of places in halves": one(3, "semantic", boxed, np.float16),
        "objects": one(4, "segment", wide, threshold=0.3),
        "objects in a letterbox": one(5, "segment", boxed, threshold=0.3, row_padding=5),
        "objects of Mask2Former": one(6, "segment", wide, threshold=0.3, architecture=mask2former),
        "objects of Mask2Former in halves": one(7, "segment", boxed, np.float16, 0.3, architecture=mask2former),
        "all that may be objects": one(8, "segment", boxed, threshold=0.0),
        "the best two": one(9, "segment", wide, threshold=0.0, most=2),
        "by shape and labels": one(10, "semantic", wide, names=("a", "b"), card=named),
        "objects by shape and labels": one(11, "segment", wide, threshold=0.3, names=("a", "b"), card=named),
    })


if __name__ == "__main__":
    main()
