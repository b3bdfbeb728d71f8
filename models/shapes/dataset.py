"""Renders training pictures: the letterbox's inner part, as the pipeline's graph would see it."""

import argparse
from multiprocessing import Pool

import numpy as np

from pixels import quantise, shrink, to_i420
from scenes import LABELS, Scene

MAX_OBJECTS = 8
MIN_TRAINED_VISIBLE = 0.25
FIRST_SEED = 1_000_000  # far from the clip's seed


def render(index):
    """Picture [144, 256, 3] u8, boxes [MAX_OBJECTS, 4] x0 y0 x1 y1 in its pixels, labels (-1: none)."""
    scene = Scene(FIRST_SEED + index)
    rng = np.random.default_rng((7, index))
    picture, objects = scene.frame(rng.uniform(0, 20), index)
    step = np.exp(rng.uniform(np.log(1), np.log(40)))
    planes = [quantise(plane, step) for plane in to_i420(picture)]
    content, scale = shrink(planes)
    boxes = np.zeros((MAX_OBJECTS, 4), np.float32)
    labels = np.full(MAX_OBJECTS, -1, np.int32)
    kept = [o for o in objects if o["visible"] >= MIN_TRAINED_VISIBLE][:MAX_OBJECTS]
    for row, o in enumerate(kept):
        boxes[row] = np.array([o["x"], o["y"], o["x"] + o["w"], o["y"] + o["h"]]) * scale
        labels[row] = LABELS.index(o["label"])
    return (content + 0.5).astype(np.uint8), boxes, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=7000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("out", help="an .npz file")
    options = parser.parse_args()
    with Pool(options.jobs) as pool:
        samples = pool.map(render, range(options.count), chunksize=50)
    pictures, boxes, labels = (np.stack(part) for part in zip(*samples))
    np.savez(options.out, pictures=pictures, boxes=boxes, labels=labels)
    print(f"{options.out}: {options.count} pictures, {(labels >= 0).sum()} objects")


if __name__ == "__main__":
    main()
