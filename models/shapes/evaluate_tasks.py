"""Quality of the clip's masks, key points and turned boxes: the JSON lines of npupublish against the scene they were drawn from.

Counts only shapes that are found, inside the frame and hardly covered.
"""

import argparse
import sys

import numpy as np

from evaluate import IOU_MIN, iou, read_lines
from generate import FRAMES_PER_SECOND, clip_scene
from scenes import bounds, corners, distance

WHOLE = 0.95  # share of a shape's area in sight


def shapes_of(scene, truth):
    """The frame's shapes that can be seen whole, each with its truth and pose."""
    poses = [(thing, thing.pose(truth["frame"] / FRAMES_PER_SECOND)) for thing in scene.things]
    for entry in truth["objects"]:
        for thing, pose in poses:
            box = bounds(thing.label, pose)
            inside = (box[:2] >= 0).all() and box[2] <= scene.width and box[3] <= scene.height
            if inside and thing.label == entry["label"] and entry["visible"] >= WHOLE and abs(box[0] - entry["x"]) < 0.01 and abs(box[1] - entry["y"]) < 0.01:
                yield entry, pose


def filled(mask):
    """The mask's runs as a picture of true and false, and its upper left corner."""
    rows, columns = mask["size"]
    flat = np.repeat(np.arange(len(mask["counts"])) % 2 == 1, mask["counts"])
    return flat.reshape(rows, columns), int(mask["x"]), int(mask["y"])


def mask_overlap(found, label, pose, scene):
    """Intersection over union of a mask and the shape."""
    inner, left, top = filled(found["mask"])
    picture = np.zeros((scene.height, scene.width), bool)
    picture[top : top + inner.shape[0], left : left + inner.shape[1]] = inner
    xs, ys = (np.arange(n, dtype=np.float32) + 0.5 for n in (scene.width, scene.height))
    shape = distance(label, pose, xs, ys) < 0
    return (picture & shape).sum() / (picture | shape).sum()


def corner_error(found, pose):
    """The mean distance of a square's corners from the true ones, in parts of its side. Both begin at the lower right."""
    true = corners("square", pose)
    middle = np.array([pose.x, pose.y])
    turn = np.arctan2(*(true - middle).T[::-1]) % (2 * np.pi)
    true = true[np.argsort(turn)]
    side = np.linalg.norm(true[0] - true[1])
    points = np.array([point[:2] for point in found["keypoints"]])
    # Just over and just under 45 degrees are one turn: the first corner may be the fourth.
    return min(np.linalg.norm(points - np.roll(true, shift, 0), axis=1).mean() for shift in (-1, 0, 1)) / side


def turn_error(found, pose):
    """Radians from 0 to pi/4."""
    quarter = np.pi / 2
    return abs((found["oriented"]["angle"] - pose.angle - np.pi / 4 + quarter / 2) % quarter - quarter / 2)


MEASURES = {
    "segment": lambda found, entry, pose, scene: mask_overlap(found, entry["label"], pose, scene),
    "pose": lambda found, entry, pose, scene: corner_error(found, pose),
    "obb": lambda found, entry, pose, scene: turn_error(found, pose),
}


def measure(task, truth, lines):
    """One number for each found shape."""
    scene = clip_scene()
    numbers = []
    for frame, line in zip(truth, lines, strict=True):
        for entry, pose in shapes_of(scene, frame):
            same = [box for box in line["detections"] if box["label"] == entry["label"]]
            best = max(same, key=lambda box: iou(entry, box), default=None)
            if best and iou(entry, best) >= IOU_MIN:
                numbers.append(MEASURES[task](best, entry, pose, scene))
    return np.array(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=MEASURES)
    parser.add_argument("truth", help="shapes.truth.jsonl")
    parser.add_argument("lines", help="what npupublish wrote")
    options = parser.parse_args()
    numbers = measure(options.task, read_lines(options.truth), read_lines(options.lines))
    if not numbers.size:
        sys.exit("no shape of the truth was found")
    print(f"{options.task}: {numbers.size} shapes, median {np.median(numbers):.4f}, 10th and 90th percentile "
          f"{np.percentile(numbers, 10):.4f} and {np.percentile(numbers, 90):.4f}")


if __name__ == "__main__":
    main()
