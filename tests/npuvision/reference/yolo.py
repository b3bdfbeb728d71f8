"""YOLO's heads as their authors' repositories export them: tensors and their meaning. usage: yolo.py JSON

Raw and end-to-end heads: https://github.com/ultralytics/ultralytics, nn/modules/head.py, utils/nms.py, utils/ops.py (masks in the
frame's own pixels), utils/metrics.py (ProbIoU). Objectness: https://github.com/ultralytics/yolov5. YOLOX:
https://github.com/Megvii-BaseDetection/YOLOX, yolox/models/yolo_head.py.
"""
import sys

import numpy as np

from reference import case, into_frame, letterbox, mask, objects, tensor, write

THRESHOLDS = {"confidence_threshold": 0.25, "iou_threshold": 0.45}
MODEL = (128, 96)


def grids(model):
    """Column, row and step of each cell, the finest grid first."""
    cells = [np.stack([*(axis.reshape(-1) for axis in np.meshgrid(np.arange(model[0] // step), np.arange(model[1] // step))),
                       np.full((model[0] // step) * (model[1] // step), step)], axis=1) for step in (8, 16, 32)]
    return np.concatenate(cells).astype(np.float64)


def edges_of(boxes):
    """From centre and size."""
    half = boxes[:, 2:4] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def iou(one, others):
    shared = np.clip(np.minimum(one[2:], others[:, 2:]) - np.maximum(one[:2], others[:, :2]), 0, None).prod(1)
    area = (others[:, 2:] - others[:, :2]).prod(1)
    return shared / ((one[2:] - one[:2]).prod() + area - shared)


def suppressed(edges, scores, labels, iou_threshold=THRESHOLDS["iou_threshold"]):
    """Indices, best first: of two of one class that overlap more than the threshold, the better one stays."""
    left, kept = sorted(range(len(scores)), key=lambda i: (-scores[i], i)), []
    while left:
        best = left.pop(0)
        kept.append(best)
        over = dict(zip(left, iou(edges[best], edges[left]) > iou_threshold)) if left else {}
        left = [i for i in left if not (over[i] and labels[i] == labels[best])]
    return np.array(kept, int)


def prob_iou(boxes):
    """Of each pair of boxes: centre, size, angle."""
    a, b, cosine, sine = boxes[:, 2] ** 2 / 12, boxes[:, 3] ** 2 / 12, np.cos(boxes[:, 4]), np.sin(boxes[:, 4])
    a, b, c = a * cosine ** 2 + b * sine ** 2, a * sine ** 2 + b * cosine ** 2, (a - b) * cosine * sine
    eps = 1e-7
    sa, sb, sc = a[:, None] + a, b[:, None] + b, c[:, None] + c
    dx, dy = boxes[:, 0][:, None] - boxes[:, 0], boxes[:, 1][:, None] - boxes[:, 1]
    first = (sa * dy ** 2 + sb * dx ** 2) / (sa * sb - sc ** 2 + eps) * 0.25
    second = sc * -dx * dy / (sa * sb - sc ** 2 + eps) * 0.5
    own = np.clip(a * b - c ** 2, 0, None)
    third = np.log((sa * sb - sc ** 2) / (4 * np.sqrt(own[:, None] * own) + eps) + eps) * 0.5
    distance = np.clip(first + second + third, eps, 100)
    return 1 - np.sqrt(1 - np.exp(-distance) + eps)


def suppressed_oriented(boxes, scores, labels, iou_threshold=THRESHOLDS["iou_threshold"]):
    """The authors' fast suppression: what is dropped still drops others."""
    order = np.array(sorted(range(len(scores)), key=lambda i: (-scores[i], i)))
    overlaps = prob_iou(boxes[order]) * (labels[order][:, None] == labels[order])
    return order[(np.triu(overlaps, 1) >= iou_threshold).sum(0) == 0]


def corners(boxes):
    along = np.stack([np.cos(boxes[:, 4]), np.sin(boxes[:, 4])], 1) * boxes[:, 2:3] / 2
    across = np.stack([-np.sin(boxes[:, 4]), np.cos(boxes[:, 4])], 1) * boxes[:, 3:4] / 2
    return boxes[:, None, :2] + np.stack([along + across, along - across, -along + across, -along - across], 1)


def enclosing_in_frame(boxes, geometry, frame):
    points = (corners(boxes) - [geometry["offset_x"], geometry["offset_y"]]) * [geometry["scale_x"], geometry["scale_y"]]
    return np.clip(np.concatenate([points.min(1), points.max(1)], 1), 0, [*frame, *frame])


def random_boxes(random, count, classes, good_share=0.25):
    """Centre, size and scores, in clusters, so that there is something to suppress."""
    centers = random.uniform(0, MODEL, (12, 2))
    boxes = np.concatenate([centers[random.integers(0, 12, count)] + random.normal(0, 4, (count, 2)),
                            random.uniform(8, 60, (count, 2))], axis=1)
    scores = random.uniform(0, 0.2, (count, classes))
    good = random.permutation(count)[:int(count * good_share)]
    scores[good, random.integers(0, classes, good.size)] = random.uniform(0.2, 1, good.size)
    return boxes, scores


def interpolation(frame_size, plane_size, model_size, offset, scale):
    """Weights [frame, plane] of a bilinear resize between pixel centres."""
    centers = ((np.arange(frame_size) + 0.5) / scale + offset) * plane_size / model_size - 0.5
    centers = np.clip(centers, 0, plane_size - 1)
    return np.clip(1 - np.abs(centers[:, None] - np.arange(plane_size)), 0, None)


def masks_of(coefficients, protos, boxes, geometry, frame):
    down = interpolation(frame[1], protos.shape[1], geometry["model_height"], geometry["offset_y"], geometry["scale_y"])
    across = interpolation(frame[0], protos.shape[2], geometry["model_width"], geometry["offset_x"], geometry["scale_x"])
    rows, columns = np.arange(frame[1])[:, None], np.arange(frame[0])
    found = []
    for one, box in zip(coefficients, boxes):
        logits = down @ np.tensordot(one, protos, 1) @ across.T
        inside = (columns >= box[0]) & (columns < box[2]) & (rows >= box[1]) & (rows < box[3])
        found.append((logits > 0) & inside)
    return found


class Outputs:
    """What a model says of a frame: rows of centre, size, scores and what its task adds, and prototypes of masks."""

    def __init__(self, task, classes, frame, geometry, rows, protos=None, key_points=(0, 0), thresholds=None):
        self.task, self.classes, self.frame, self.key_points = task, classes, frame, key_points
        self.geometry, self.rows, self.protos = geometry, rows, protos
        self.thresholds = thresholds or THRESHOLDS
        values = rows.astype(np.float64)
        self.boxes, self.extra = values[:, :4], values[:, 4 + classes:]
        scores = values[:, 4:4 + classes]
        self.scores, self.labels = scores.max(1), scores.argmax(1)

    def places(self):
        if self.task == "obb":
            return enclosing_in_frame(np.concatenate([self.boxes, self.extra], 1), self.geometry, self.frame)
        return into_frame(edges_of(self.boxes), self.geometry, self.frame)

    def chosen(self):
        """Indices of the boxes that are objects, best first."""
        some = np.nonzero((self.scores >= self.thresholds["confidence_threshold"]) & (self.boxes[:, 2:] > 0).all(1))[0]
        if self.task == "obb":
            turned = np.concatenate([self.boxes, self.extra], 1)[some]
            some = some[suppressed_oriented(turned, self.scores[some], self.labels[some], self.thresholds["iou_threshold"])]
        else:
            some = some[suppressed(edges_of(self.boxes)[some], self.scores[some], self.labels[some], self.thresholds["iou_threshold"])]
        places = self.places()[some]
        return some[(places[:, 0] < places[:, 2]) & (places[:, 1] < places[:, 3])]

    def answer(self, index):
        more = {}
        if self.task == "segment":  # an object without a pixel is none
            masks = masks_of(self.extra[index], self.protos.astype(np.float64), self.places()[index], self.geometry, self.frame)
            index = [one for one, found in zip(index, masks) if found.any()]
            more["masks"] = [mask(found) for found in masks if found.any()]
        places, oriented = self.places()[index], None
        scale = self.geometry["scale_x"]
        if self.task == "obb":
            center = (self.boxes[index, :2] - [self.geometry["offset_x"], self.geometry["offset_y"]]) * scale
            oriented = np.concatenate([center, self.boxes[index, 2:] * scale, self.extra[index]], 1)
        if self.task == "pose":
            points = self.extra[index].reshape(-1, self.key_points[1])
            sure = points[:, 2:] if self.key_points[1] == 3 else np.ones((len(points), 1))
            more["key_points"] = np.concatenate([into_frame(points[:, :2], self.geometry, self.frame), sure], 1)
        return {"objects": objects(places, self.scores[index], self.labels[index], oriented), **more}


class Model(Outputs):
    """One random model: what its boxes are, and what they mean."""

    def __init__(self, seed, task, classes, frame, dtype=np.float32, key_points=(0, 0), geometry=letterbox):
        random = np.random.default_rng(seed)
        count = len(grids(MODEL))
        boxes, scores = random_boxes(random, count, classes, 0.9 if task == "obb" else 0.25)
        protos = None
        extra = np.zeros((count, 0))
        if task == "segment":
            coarse = np.kron(random.normal(0, 1, (32, MODEL[1] // 32, MODEL[0] // 32)), np.ones((1, 8, 8)))
            protos = coarse.astype(dtype)
            extra = random.normal(0, 1, (count, 32))
        elif task == "pose":
            places = random.uniform(-10, np.max(MODEL), (count, key_points[0], 2))
            extra = np.concatenate([places, random.uniform(0, 1, (count, key_points[0], key_points[1] - 2))], 2).reshape(count, -1)
        elif task == "obb":
            extra = random.uniform(-np.pi, 2 * np.pi, (count, 1))
        rows = np.concatenate([boxes, scores, extra], axis=1).astype(dtype)
        super().__init__(task, classes, frame, geometry(MODEL, frame), rows, protos, key_points)

    def objectness(self, **layout):
        """As YOLOv5's own repository has it: three boxes for each cell, and each score is a product of two."""
        random = np.random.default_rng(99)
        sure = np.where(self.rows[:, 4:4 + self.classes].max(1, keepdims=True) >= 0.2, random.uniform(0.6, 1, (len(self.rows), 1)), 0.1)
        rows = np.concatenate([self.rows[:, :4], sure, self.rows[:, 4:]], 1).astype(self.rows.dtype)
        rows = np.concatenate([rows, np.zeros((2 * len(rows), rows.shape[1]), rows.dtype)])
        values = rows[:len(self.rows)].astype(np.float64)
        self.scores = (values[:, 4:5] * values[:, 5:5 + self.classes]).max(1)
        return self.as_case(rows, self.chosen(), **layout)

    def as_case(self, rows, index, channels_first=False, card=None, **layout):
        card = {"task": self.task, "labels": self.classes, **(card or {})}
        if self.task == "pose":
            card |= {"key_points": self.key_points[0], "key_point_values": self.key_points[1]}
        values = np.ascontiguousarray((rows.T if channels_first else rows)[None])
        tensors = [tensor("output0", values, **layout)]
        if self.protos is not None:
            tensors.append(tensor("output1", self.protos[None], **layout))
        return case(card, tensors, MODEL, self.frame, self.answer(index), self.geometry, **THRESHOLDS)

    def raw(self, **layout):
        return self.as_case(self.rows, self.chosen(), **{"channels_first": True, **layout})

    def end_to_end(self, **layout):
        """The chosen boxes and some that are too bad, then zeros. They are in order; overlaps are gone already."""
        index = self.chosen()
        bad = np.nonzero(self.scores < 0.2)[0][:7]
        rows = np.concatenate([index, bad])
        place = self.boxes[rows] if self.task == "obb" else edges_of(self.boxes[rows])
        values = np.concatenate([place, self.scores[rows, None], self.labels[rows, None], self.extra[rows]], 1)
        filled = np.zeros((max(len(rows) + 9, 60), values.shape[1]), self.rows.dtype)
        filled[:len(rows)] = values
        return self.as_case(filled, index, card={"end_to_end": True}, **layout)


def with_objectness(seed, classes, frame, is_grid):
    """Three boxes a cell in pixels, or one as YOLOX has it."""
    random = np.random.default_rng(seed)
    cells = grids(MODEL) if is_grid else np.repeat(grids(MODEL), 3, axis=0)
    boxes, scores = random_boxes(random, len(cells), classes)
    sure = random.uniform(0.3, 1, (len(cells), 1))
    raw = boxes.copy()
    if is_grid:
        raw = np.concatenate([boxes[:, :2] / cells[:, 2:] - cells[:, :2], np.log(boxes[:, 2:] / cells[:, 2:])], 1)
    rows = np.concatenate([raw, sure, scores], 1).astype(np.float32)
    values = rows.astype(np.float64)
    boxes = values[:, :4]
    if is_grid:
        boxes = np.concatenate([(boxes[:, :2] + cells[:, :2]) * cells[:, 2:], np.exp(boxes[:, 2:]) * cells[:, 2:]], 1)
    products = values[:, 5:] * values[:, 4:5]
    best, labels = products.max(1), products.argmax(1)
    geometry = letterbox(MODEL, frame)
    places = into_frame(edges_of(boxes), geometry, frame)
    some = np.nonzero((best >= THRESHOLDS["confidence_threshold"]) & (places[:, 0] < places[:, 2]) & (places[:, 1] < places[:, 3]))[0]
    kept = some[suppressed(edges_of(boxes)[some], best[some], labels[some])]
    card = {"task": "detect", "labels": classes, **({"family": "yolox"} if is_grid else {})}
    return case(card, [tensor("output", rows[None])], MODEL, frame, {"objects": objects(places[kept], best[kept], labels[kept])},
                geometry, **THRESHOLDS)


ANCHORS = {3: [(10, 13), (16, 30), (33, 23), (30, 61), (62, 45), (59, 119), (116, 90), (156, 198), (373, 326)],
           4: [(12, 16), (19, 36), (40, 28), (36, 75), (76, 55), (72, 146), (142, 110), (192, 243), (459, 401)]}
ANCHORS |= {5: ANCHORS[3], 7: ANCHORS[4]}


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def boxes_of_head(version, values, anchors, step, has_logits):
    """Of [anchors, rows, columns, 5 + classes]: centre and size in pixels, then objectness and classes."""
    shares = sigmoid(values) if has_logits else values
    rows, columns = np.mgrid[:values.shape[1], :values.shape[2]]
    corner, sizes = np.stack([columns, rows], -1), np.array(anchors, np.float64)[:, None, None]
    if version in (5, 7):
        place, size = 2 * shares[..., :2] - 0.5, (2 * shares[..., 2:4]) ** 2
    else:
        wide = {8: 1.2, 16: 1.1, 32: 1.05}[step] if version == 4 else 1
        place, size = wide * shares[..., :2] - 0.5 * (wide - 1), np.exp(values[..., 2:4])
    return np.concatenate([(place + corner) * step, size * sizes, shares[..., 4:]], -1).reshape(-1, values.shape[-1])


def heads(seed, version, classes, frame, has_logits=True, values_last=False, dtype=np.float32, anchors=None, steps=(8, 16, 32), **layout):
    """Three tensors as the last convolutions give them, or after a sigmoid."""
    random = np.random.default_rng(seed)
    sizes = anchors or ANCHORS[version]
    each = len(sizes) // len(steps)
    tensors, rows = [], []
    for i, step in enumerate(steps):
        shape = (each, MODEL[1] // step, MODEL[0] // step)
        values = np.concatenate([random.normal(0, 1, (*shape, 4)), random.normal(-5, 4, (*shape, 1)), random.normal(-2, 2, (*shape, classes))], -1)
        if step == 32:
            values[..., 2:4] -= 1
        if not has_logits:
            shares = sigmoid(values)
            values = np.concatenate([shares[..., :2], shares[..., 2:4] if version in (5, 7) else values[..., 2:4], shares[..., 4:]], -1)
        values = values.astype(dtype)
        rows.append(boxes_of_head(version, values.astype(np.float64), sizes[each * i:each * (i + 1)], step, has_logits))
        lying = values if values_last else values.transpose(0, 3, 1, 2).reshape(-1, *shape[1:])
        tensors.append(tensor(f"head{step}", np.ascontiguousarray(lying[None]), **layout))
    values = np.concatenate(rows)
    products = values[:, 5:] * values[:, 4:5]
    best, labels, geometry = products.max(1), products.argmax(1), letterbox(MODEL, frame)
    places = into_frame(edges_of(values[:, :4]), geometry, frame)
    some = np.nonzero((best >= THRESHOLDS["confidence_threshold"]) & (places[:, 0] < places[:, 2]) & (places[:, 1] < places[:, 3]))[0]
    kept = some[suppressed(edges_of(values[:, :4])[some], best[some], labels[some])]
    card = {"task": "detect", "labels": classes, "family": f"yolov{version}-heads"}
    if anchors:
        card["anchors"] = np.array(anchors).reshape(-1)
    return case(card, tensors[::-1] if seed % 2 else tensors, MODEL, frame,
                {"objects": objects(places[kept], best[kept], labels[kept])}, geometry, **THRESHOLDS)


def flat(seed, frame, dtype=np.float32):
    """YOLO-NAS: picture, edges in pixels, score, class; a class of -1 ends the list."""
    random = np.random.default_rng(seed)
    boxes, scores = random_boxes(random, 40, 6)
    edges, geometry = edges_of(boxes), letterbox(MODEL, frame)
    rows = np.concatenate([np.zeros((40, 1)), edges, scores.max(1)[:, None], scores.argmax(1)[:, None]], 1)
    rows = np.concatenate([rows, -np.ones((1, 7)), rows[:3]]).astype(dtype)
    values = rows[:40].astype(np.float64)
    places = into_frame(values[:, 1:5], geometry, frame)
    good = [i for i in np.argsort(-values[:, 5], kind="stable") if values[i, 5] >= THRESHOLDS["confidence_threshold"]
            and places[i, 0] < places[i, 2] and places[i, 1] < places[i, 3]]
    return case({"family": "yolo-nas", "labels": 6}, [tensor("graph2_flat_predictions", rows, row_padding=1)], MODEL, frame,
                {"objects": objects(places[good], values[good, 5], values[good, 6])}, geometry, **THRESHOLDS)


def main():
    frame = (190, 201)
    detector = Model(1, "detect", 80, frame)
    halves = Model(2, "detect", 3, frame, np.float16)
    segmenter = Model(5, "segment", 4, frame)
    person = Model(6, "pose", 1, frame, key_points=(17, 3))
    points = Model(7, "pose", 3, (256, 192), key_points=(5, 2))
    turned = Model(8, "obb", 2, frame)
    write(sys.argv[1], {
        "detect": detector.raw(),
        "detect in halves": halves.raw(),
        "detect with padded rows": Model(3, "detect", 5, frame).raw(row_padding=11),
        "detect boxes first": Model(4, "detect", 5, frame).raw(channels_first=False, row_padding=3),
        "segment": segmenter.raw(),
        "segment in halves": Model(9, "segment", 2, (64, 48), np.float16).raw(row_padding=2),
        "pose": person.raw(),
        "pose of points without a score": points.raw(),
        "oriented": turned.raw(),
        "detect end to end": detector.end_to_end(),
        "segment end to end": segmenter.end_to_end(row_padding=1),
        "pose end to end": person.end_to_end(),
        "oriented end to end": turned.end_to_end(),
        "segment with objectness": Model(12, "segment", 4, frame).objectness(),
        "segment with objectness in halves": Model(13, "segment", 2, (64, 48), np.float16).objectness(row_padding=3),
        "objectness": with_objectness(10, 6, frame, is_grid=False),
        "heads of YOLOv3": heads(20, 3, 4, frame),
        "heads of YOLOv4": heads(21, 4, 80, frame),
        "heads of YOLOv5": heads(22, 5, 3, frame, row_padding=5),
        "heads of YOLOv7": heads(23, 7, 2, frame, values_last=True),
        "heads of YOLOv7 after a sigmoid": heads(24, 7, 5, frame, has_logits=False),
        "heads of YOLOv3 after a sigmoid": heads(25, 3, 5, frame, has_logits=False, values_last=True, row_padding=2),
        "heads of YOLOv5 in halves": heads(26, 5, 2, (64, 48), dtype=np.float16),
        "heads with anchors of their own": heads(27, 5, 1, frame, anchors=[(20, 30), (9, 9), (70, 50), (44, 88)], steps=(16, 32)),
        "YOLO-NAS": flat(30, frame),
        "YOLO-NAS in halves": flat(31, frame, np.float16),
        "YOLOX": with_objectness(11, 6, frame, is_grid=True),
    })


if __name__ == "__main__":
    main()
