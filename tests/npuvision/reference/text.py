"""Text: lines found by differentiable binarisation, and read by greedy CTC. usage: text.py JSON

PaddleOCR's DBPostProcess (ppocr/postprocess/db_postprocess.py; threshold 0.3 and unclip ratio 1.5 unless told, quad) without rounding its
boxes to whole pixels, and CTCLabelDecode (rec_postprocess.py). Readers that end before the softmax, steps first (crnn) or characters first
(LPRNet), the blank first or last."""
import sys

import numpy as np

from reference import case, into_frame, letterbox, objects, stretch, tensor, write


def meaning(shares, known, blank=0):
    """The text of [steps, classes], greedily, and its confidence."""
    best, score = shares.argmax(1), shares.max(1).astype(np.float64)
    kept = [i for i in range(len(best)) if best[i] != blank and (i == 0 or best[i] != best[i - 1])]
    return {"text": "".join(known[best[i]] for i in kept), "text_confidence": float(score[kept].mean())}


def softmax(logits):
    powers = np.exp(logits.astype(np.float64))
    return powers / powers.sum(1, keepdims=True)


def any_logits(seed, steps, classes, blank=0):
    random = np.random.default_rng(seed)
    logits = random.normal(0, 1, (steps, classes))
    chosen = np.where(random.uniform(size=steps) < 0.4, blank, random.integers(0, classes, steps))
    chosen[1::3] = chosen[::3][:len(chosen[1::3])]  # repeats
    logits[np.arange(steps), chosen] += 6
    return logits


def read(seed, steps, letters, space, dtype=np.float32, threshold=0.0):
    shares = softmax(any_logits(seed, steps, len(letters) + 1 + space)).astype(dtype)
    answer = meaning(shares, ["", *letters, " "])
    if answer["text_confidence"] < threshold:
        answer = {}
    return case({"task": "read-text", "characters": letters}, [tensor("out", shares[None])], (320, 48), (400, 60), answer,
                confidence_threshold=threshold)


def read_logits(seed, steps, characters, lay, dtype=np.float32, as_logarithms=False, **layout):
    """Recurrent networks' and LPRNet's: `lay` gives the tensor of [steps, classes]. The blank is where the dictionary has it."""
    blank = characters.index("blank")
    logits = any_logits(seed, steps, len(characters), blank)
    values = (np.log(softmax(logits)) if as_logarithms else logits).astype(dtype)
    return case({"task": "read-text", "characters": characters}, [tensor("out", lay(values), **layout)], (94, 24), (188, 48),
                meaning(softmax(values), characters, blank))


def regions(bitmap):
    """Pixels that touch, corners too."""
    rest = {(int(x), int(y)) for y, x in np.argwhere(bitmap)}
    while rest:
        found, todo = [], [min(rest, key=lambda point: (point[1], point[0]))]
        rest.remove(todo[0])
        while todo:
            x, y = todo.pop()
            found.append((x, y))
            near = [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            todo += [point for point in near if point in rest]
            rest.difference_update(near)
        yield np.array(found, np.float64)


def hull(points):
    """Gift wrapping."""
    points = np.unique(points, axis=0)
    wrapped = [0]
    while True:
        here, end = points[wrapped[-1]], 0 if wrapped[-1] != 0 else 1
        for i, point in enumerate(points):
            a, b = points[end] - here, point - here
            side = a[0] * b[1] - a[1] * b[0]
            if side < 0 or (side == 0 and (b @ b) > (a @ a)):
                end = i
        if end == 0:
            return points[wrapped]
        wrapped.append(end)


def smallest(points):
    """Corners of the smallest rectangle, of which the first side is the longer."""
    points, best, least = hull(points), None, np.inf
    for side in np.roll(points, -1, axis=0) - points:
        axis = side / np.hypot(*side)
        turn = np.array([axis, [-axis[1], axis[0]]])
        turned = points @ turn.T
        low, high = turned.min(0), turned.max(0)
        if (high - low).prod() < least:
            least = (high - low).prod()
            best = np.array([low, [high[0], low[1]], high, [low[0], high[1]]]) @ turn
    sides = np.hypot(*(best[1] - best[0])), np.hypot(*(best[3] - best[0]))
    return best if sides[0] >= sides[1] else np.roll(best, -1, axis=0)


def filled(corners, shape):
    """As OpenCV's fillPoly draws it, of corners cut to whole pixels: the lines between them, and what lies inside."""
    whole = np.floor(np.maximum(corners, 0) + 1e-6).astype(int)
    drawn = np.zeros(shape, bool)
    for a, b in zip(whole, np.roll(whole, -1, axis=0)):
        steps = max(np.abs(b - a).max(), 1)
        points = np.floor(a + (b - a) * np.arange(steps + 1)[:, None] / steps + 0.5).astype(int)
        points = points[(points[:, 0] < shape[1]) & (points[:, 1] < shape[0])]
        drawn[points[:, 1], points[:, 0]] = True
    to_right, to_left = np.maximum.accumulate(drawn, 1), np.maximum.accumulate(drawn[:, ::-1], 1)[:, ::-1]
    return to_right & to_left


def lines(shares, geometry, frame, threshold, is_text=0.3, unclip_ratio=1.5, use_dilation=False):
    boxes, scores, turned = [], [], []
    bitmap = shares > is_text
    if use_dilation:
        wide = np.pad(bitmap, ((1, 0), (1, 0)))
        bitmap = wide[1:, 1:] | wide[:-1, 1:] | wide[1:, :-1] | wide[:-1, :-1]
    for region in regions(bitmap):
        corners = smallest(region) if len(np.unique(region, axis=0)) > 2 and np.ptp(region, axis=0).min() > 0 else None
        if corners is None or np.hypot(*(corners[3] - corners[0])) < 3:
            continue
        score = shares[filled(corners, shares.shape)].astype(np.float64).mean()
        if score < threshold:
            continue
        along, across = corners[1] - corners[0], corners[3] - corners[0]
        width, height = np.hypot(*along), np.hypot(*across)
        distance = width * height * unclip_ratio / (2 * (width + height))
        out, down = along / width * distance, across / height * distance
        grown = corners + np.array([-out - down, out - down, out + down, -out + down])
        if height + 2 * distance < 5:
            continue
        corners = into_frame(grown, geometry, frame)
        boxes.append([*corners.min(0), *corners.max(0)])
        scores.append(score)
        box = smallest(corners)
        along = box[1] - box[0]
        turned.append([*box.mean(0), np.hypot(*along), np.hypot(*(box[3] - box[0])), np.arctan2(along[1], along[0])])
    order = np.argsort(-np.array(scores), kind="stable")
    return {"objects": objects(np.array(boxes)[order], np.array(scores)[order], [0] * len(order), np.array(turned)[order])}


def find(seed, geometry, model, frame, dtype=np.float32, angles=(0.0, 0.3, -0.7, 1.5), card=None, **layout):
    random = np.random.default_rng(seed)
    shares = random.uniform(0, 0.25, (model[1], model[0]))
    places = [(32, 20), (110, 24), (40, 80), (115, 85), (70, 55)]
    y, x = np.mgrid[0:model[1], 0:model[0]]
    for place, angle in zip(places, angles):
        across, down = x - place[0], y - place[1]
        along, aside = across * np.cos(angle) + down * np.sin(angle), down * np.cos(angle) - across * np.sin(angle)
        is_line = (np.abs(along) <= random.uniform(15, 22)) & (np.abs(aside) <= random.uniform(3, 7))
        shares[is_line] = random.uniform(0.55, 0.99, is_line.sum())
    shares[2, 60:90] = 0.9  # too thin
    shares = shares.astype(dtype)
    card = card or {}
    found = lines(shares, geometry, frame, 0.5, card.get("pixel_threshold", 0.3), card.get("unclip_ratio", 1.5),
                  card.get("use_dilation", False))
    return case({"task": "find-text", **card}, [tensor("out", shares[None, None], **layout)], model, frame, found, geometry)


def main():
    model, frame = (160, 112), (411, 300)
    letters = [*"0123456789abc", "é", "字"]
    write(sys.argv[1], {
        "read": read(1, 40, letters, 0),
        "read with a space": read(2, 40, letters, 1, np.float16),
        "read, but not sure": read(3, 40, letters, 0, threshold=0.999),
        "read steps first": read_logits(13, 26, [*letters, "blank"], lambda values: values[:, None]),
        "read steps first, logarithms": read_logits(14, 26, ["blank", *letters], lambda values: values[:, None], as_logarithms=True),
        "read characters first": read_logits(15, 18, [*letters, "blank"], lambda values: values.T[None], row_padding=3),
        "read characters first in halves": read_logits(16, 18, [*letters, "blank"], lambda values: values.T[None].copy(), np.float16),
        "find": find(4, letterbox(model, frame), model, frame),
        "find with padding": find(5, letterbox(model, frame), model, frame, row_padding=5),
        "find in halves": find(6, letterbox(model, frame), model, frame, np.float16),
        "find in a stretched picture": find(7, stretch(model, (500, 200)), model, (500, 200)),
        "find as the card says": find(9, letterbox(model, frame), model, frame, card={"pixel_threshold": 0.6, "unclip_ratio": 2.0}),
        "find what is dilated": find(10, stretch(model, frame), model, frame, card={"use_dilation": True}),
        "find what is dilated at the border": find(12, letterbox(model, frame), model, frame, angles=(1.2, -1.2, 1.57, 0.0),
                                                   card={"use_dilation": True, "unclip_ratio": 1.6}),
        "find at the border": find(8, letterbox(model, frame), model, frame, angles=(1.2, -1.2, 1.57, 0.0)),
    })


if __name__ == "__main__":
    main()
