"""Mask R-CNN as Model API's exports have it: tensors and their meaning. usage: mask_rcnn.py JSON

https://github.com/open-edge-platform/model_api, instance_segmentation.py: boxes rounded to pixels of the frame, masks with a border of
zeros resized to the box that is as much larger, above one half. A resize between pixel centres, the edge repeated, is OpenCV's linear one.
"""
import sys

import numpy as np

from reference import case, into_frame, letterbox, mask, objects, stretch, tensor, write

MODEL, FRAME = (256, 192), (300, 170)


def resized(picture, width, height):
    def weights(size, to):
        centers = np.clip((np.arange(to) + 0.5) * size / to - 0.5, 0, size - 1)
        return np.clip(1 - np.abs(centers[:, None] - np.arange(size)), 0, None)
    return weights(picture.shape[0], height) @ picture @ weights(picture.shape[1], width).T


def pasted(box, values):
    bordered = np.pad(values, 1)
    growth = bordered.shape[0] / (bordered.shape[0] - 2.0)
    center, half = (box[2:] + box[:2]) * 0.5, (box[2:] - box[:2]) * 0.5 * growth
    x0, y0, x1, y1 = np.concatenate([center - half, center + half]).astype(int)
    width, height = max(x1 - x0 + 1, 1), max(y1 - y0 + 1, 1)
    inside = resized(bordered, width, height) > 0.5
    whole = np.zeros((FRAME[1], FRAME[0]), bool)
    left, top, right, bottom = np.clip([x0, y0, x1 + 1, y1 + 1], 0, [*FRAME, *FRAME])
    whole[top:bottom, left:right] = inside[top - y0:bottom - y0, left - x0:right - x0]
    return mask(whole)


def masks(seed, geometry, has_batch, dtype=np.float32, labels=5, size=(28, 28), **layout):
    random = np.random.default_rng(seed)
    count = 30
    corners = random.uniform(-20, 270, (count, 2, 2))
    edges = np.concatenate([corners.min(1), corners.max(1)], 1)
    edges[3, 2:] = edges[3, :2] + 0.2  # less than a pixel
    boxes = np.concatenate([edges, random.uniform(0, 1, (count, 1))], 1).astype(dtype)
    ids = random.integers(0, labels - 1, count)
    blobs = np.kron(random.uniform(0, 1, (count, size[0] // 4, size[1] // 4)), np.ones((1, 4, 4))).astype(dtype)
    values = boxes.astype(np.float64)
    places = into_frame(values[:, :4], geometry, FRAME)
    whole = np.around(places)
    sides = whole[:, 2:] - whole[:, :2]
    order = np.argsort(-values[:, 4], kind="stable")
    good = [i for i in order if values[i, 4] >= 0.3 and (sides[i] > 0).all() and sides[i].prod() > 1]
    answer = {"objects": objects(places[good], values[good, 4], ids[good] + 1),
              "masks": [pasted(whole[i], blobs[i].astype(np.float64)) for i in good]}
    lying = [one[None] if has_batch else one for one in (boxes, ids, blobs)]
    tensors = [tensor("boxes", lying[0], **layout), tensor("labels", lying[1]), tensor("masks", lying[2], **layout)]
    card = {"task": "segment", "family": "mask-rcnn", "labels": labels}
    return case(card, tensors[::-1] if seed % 2 else tensors, MODEL, FRAME, answer, geometry, confidence_threshold=0.3)


def main():
    write(sys.argv[1], {
        "stretched": masks(1, stretch(MODEL, FRAME), False),
        "in a letterbox": masks(2, letterbox(MODEL, FRAME), True, row_padding=3),
        "in halves": masks(3, stretch(MODEL, FRAME), True, np.float16),
        "of another size": masks(4, letterbox(MODEL, FRAME), False, labels=2, size=(16, 12)),
    })


main()
