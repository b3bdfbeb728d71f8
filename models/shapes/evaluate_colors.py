"""Share of colours that a cascade tells right: the JSON lines of npupublish against the ground truth."""

import argparse
import sys

from evaluate import IOU_MIN, VISIBLE_MIN, iou, read_lines


def judge(objects, detections):
    """True for each detection of a visible object that has the object's colour, False for a wrong one or none."""
    for detection in detections:
        same = [o for o in objects if o["label"] == detection["label"] and o["visible"] >= VISIBLE_MIN]
        best = max(same, key=lambda o: iou(o, detection), default=None)
        if best and iou(best, detection) >= IOU_MIN:
            yield [c["label"] for c in detection.get("classifications", [])] == [best["color"]]


def evaluate(truth, found):
    """The number of right colours, and of all."""
    if len(truth) != len(found):
        raise SystemExit(f"the truth has {len(truth)} frames, but {len(found)} were found")
    verdicts = [verdict for frame, line in zip(truth, found) for verdict in judge(frame["objects"], line["detections"])]
    return sum(verdicts), len(verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minimum", type=float, default=0, help="fail below this fraction")
    parser.add_argument("truth", help="shapes.truth.jsonl")
    parser.add_argument("detections", help="what npupublish wrote")
    options = parser.parse_args()
    right, count = evaluate(read_lines(options.truth), read_lines(options.detections))
    fraction = right / max(count, 1)
    print(f"{right} of {count} colours are right: {fraction:.4f}")
    sys.exit(fraction < options.minimum)


if __name__ == "__main__":
    main()
