"""Mean average precision of detections (JSON lines of npupublish) against a ground truth.

A detection finds an object if its box overlaps a box of its own label by IoU >= 0.5; each counts once, the
most confident detection first; average precision is the whole area under the precision envelope (the
rule of PASCAL VOC 2010). Objects less than 30 % visible are "difficult": they count neither way.
"""

import argparse
import json
import sys
from collections import defaultdict

IOU_MIN = 0.5
VISIBLE_MIN = 0.3
SLACK_NS = 5_000_000  # of presentation times; far less than a frame lasts


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def iou(a, b):
    wide = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
    tall = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
    if wide <= 0 or tall <= 0:
        return 0.0
    return wide * tall / (a["w"] * a["h"] + b["w"] * b["h"] - wide * tall)


def pair_frames(truth, found):
    """[(objects, detections)] for every frame of the truth, by presentation time. A frame that was
    published twice, or that is not in the truth, is an error; a missing frame has no detections."""
    by_time = {}
    for line in found:
        nearest = min(truth, key=lambda frame: abs(frame["pts_ns"] - line["pts"]))
        if abs(nearest["pts_ns"] - line["pts"]) > SLACK_NS:
            raise ValueError(f"no frame of the ground truth is at {line['pts']} ns")
        if nearest["frame"] in by_time:
            raise ValueError(f"frame {nearest['frame']} was published twice")
        by_time[nearest["frame"]] = line["detections"]
    return [(frame["objects"], by_time.get(frame["frame"], [])) for frame in truth]


def judge(objects, detections):
    """One frame and one label: [(confidence, right)] and the number of objects asked for. Detections of
    a difficult object are left out."""
    taken, verdicts = set(), []
    for detection in sorted(detections, key=lambda d: -d["confidence"]):
        overlaps = [iou(detection, thing) for thing in objects]
        best = max(range(len(objects)), key=overlaps.__getitem__, default=None)
        hit = best is not None and overlaps[best] >= IOU_MIN
        if hit and objects[best].get("visible", 1) < VISIBLE_MIN:
            continue
        verdicts.append((detection["confidence"], hit and best not in taken))
        if hit:
            taken.add(best)
    return verdicts, sum(thing.get("visible", 1) >= VISIBLE_MIN for thing in objects)


def average_precision(verdicts, asked):
    """Area under the precision envelope. `verdicts`: (confidence, right) of all frames."""
    if asked == 0:
        return None
    right, curve = 0, []
    ranked = sorted(verdicts, key=lambda v: -v[0])
    for count, (confidence, ok) in enumerate(ranked, 1):
        right += ok
        # Equal confidences are one point of the curve: their order means nothing.
        if count == len(ranked) or ranked[count][0] != confidence:
            curve.append((right / asked, right / count))
    area, best = 0.0, 0.0
    for index in range(len(curve) - 1, -1, -1):
        recall, precision = curve[index]
        best = max(best, precision)
        area += (recall - (curve[index - 1][0] if index else 0.0)) * best
    return area


def evaluate(truth, found):
    """{label: (average precision, objects, detections)} of every label in the truth."""
    verdicts, asked = defaultdict(list), defaultdict(int)
    for objects, detections in pair_frames(truth, found):
        for label in {thing["label"] for thing in (*objects, *detections)}:
            result, count = judge([o for o in objects if o["label"] == label],
                                  [d for d in detections if d["label"] == label])
            verdicts[label] += result
            asked[label] += count
    return {label: (average_precision(verdicts[label], count), count, len(verdicts[label]))
            for label, count in sorted(asked.items()) if count}


def mean_precision(results):
    return sum(precision for precision, _, _ in results.values()) / len(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minimum", type=float, default=0.0, help="fail below this mAP@0.5")
    parser.add_argument("truth")
    parser.add_argument("detections")
    options = parser.parse_args()
    truth, found = read_lines(options.truth), read_lines(options.detections)
    try:
        results = evaluate(truth, found)
    except ValueError as error:
        sys.exit(f"{options.detections}: {error}")
    for label, (precision, objects, detections) in results.items():
        print(f"{label:<10} AP@0.5 {precision:.4f}  {objects} objects, {detections} detections")
    mean = mean_precision(results)
    print(f"mAP@0.5 {mean:.4f} over {len(truth)} frames, {len(found)} published")
    if mean < options.minimum:
        sys.exit(f"mAP@0.5 is {mean:.4f}, less than {options.minimum}")


if __name__ == "__main__":
    main()
