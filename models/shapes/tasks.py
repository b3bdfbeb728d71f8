"""Makes export folders like Ultralytics' for tasks besides detection, from the demo detector: nothing is trained.

    tasks.py <folder>

writes <folder>/shapes_<task>_openvino_model/ with shapes_<task>.xml, .bin and metadata.yaml for each task:

    segment   boxes of all shapes, with masks: pixels nearer to the colour in the middle of the box than to that at its corners
    pose      boxes of squares, with their four corners as key points
    obb       squares, turned as they are
    semantic  the class of each place of the picture: that of the box whose mask covers it, or background

The rest is arithmetic on the picture. A square's turn is that of the edges in its box: the fourth power
of a gradient, as a complex number, is the same for all four sides.
"""

import argparse
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

from scenes import LABELS

HERE = Path(__file__).resolve().parent
SIZE = 256  # of the detector's input, which is square
CELL = 4  # pixels of the input for one pixel of masks and of sums of gradients
MAP = SIZE // CELL
SHARPNESS = 60.0  # of a mask's edge, for colours from 0 to 1
BACKGROUND = 0.25  # a place of the map with a lower score has no class
BOXES = 24  # number of boxes that make up a map
WINDOWS = (5, 9, 13, 19, 27)  # sizes in cells of the windows to find a square's edges in
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32) / 8

METADATA = """\
description: Ultralytics YOLO11n-{short} model trained on shapes.yaml
version: 8.4.9
stride: 16
task: {task}
batch: 1
imgsz:
- {size}
- {size}
names:
{names}
args:
  batch: 1
  half: true
  int8: false
  dynamic: false
  nms: false
channels: 3
end2end: false
{more}"""


def number(value):
    return op.constant(np.float32(value))


def whole(values):
    return op.constant(np.asarray(values, np.int64))


def rows(x, count):
    """The rows of [1,R,N], each [1,1,N]."""
    return op.split(x, whole(1), count).outputs()


def mean_of(x, window, stride=1):
    edge = window // 2 if stride == 1 else 0
    return op.avg_pool(x, [stride, stride], [edge, edge], [edge, edge], [window, window], True).output(0)


def each_channel(x, kernel):
    """[1,3,H,W] convolved with one kernel, borders zero."""
    weights = op.constant(np.tile(kernel[None, None, None], (3, 1, 1, 1, 1)))
    return op.group_convolution(x, weights, [1, 1], [1, 1], [1, 1], [1, 1])


def at(maps, x, y, scale):
    """The values of [1,C,H,W] at x and y, [1,1,N] pixels of the input: [1,C,N]."""
    _, channels, height, width = maps.shape
    column = op.floor(op.clamp(op.multiply(x, number(1 / scale)), 0.0, float(width - 1)))
    row = op.floor(op.clamp(op.multiply(y, number(1 / scale)), 0.0, float(height - 1)))
    place = op.convert(op.add(op.multiply(row, number(width)), column), "i32")
    flat = op.reshape(maps, whole([1, channels, height * width]), False)
    return op.gather(flat, op.squeeze(place, whole([0, 1])), whole(2)).output(0)


def masks(images, x, y, w, h):
    """Coefficients [1,4,N] and prototypes [1,4,MAP,MAP]: |pixel - around|^2 - |pixel - middle|^2 is linear in the pixel."""
    small = mean_of(images, CELL, CELL)
    smooth = mean_of(images, 5)
    middle = at(smooth, x, y, 1)
    corners = [at(smooth, op.add(x, op.multiply(w, number(sx))), op.add(y, op.multiply(h, number(sy))), 1)
               for sx in (-0.52, 0.52) for sy in (-0.52, 0.52)]
    around = op.multiply(op.add(op.add(corners[0], corners[1]), op.add(corners[2], corners[3])), number(0.25))

    def square(v):
        return op.reduce_sum(op.multiply(v, v), whole([1]), True)

    slope = op.multiply(op.subtract(middle, around), number(2 * SHARPNESS))
    offset = op.multiply(op.subtract(square(around), square(middle)), number(SHARPNESS))
    ones = op.constant(np.ones((1, 1, MAP, MAP), np.float32))
    return op.concat([slope, offset], 1).output(0), op.concat([small, ones], 1).output(0)


def turns(images):
    """[1,2,MAP,MAP]: real and imaginary part of the gradients' fourth powers, strong edges counting most."""
    gx, gy = each_channel(images, SOBEL), each_channel(images, SOBEL.T)
    xx, yy = op.multiply(gx, gx), op.multiply(gy, gy)
    strength = op.add(op.add(xx, yy), number(1e-6))
    cosine, sine = op.subtract(xx, yy), op.multiply(op.multiply(gx, gy), number(2))
    real = op.divide(op.subtract(op.multiply(cosine, cosine), op.multiply(sine, sine)), strength)
    imaginary = op.divide(op.multiply(op.multiply(cosine, sine), number(2)), strength)
    parts = [op.reduce_sum(part, whole([1]), True) for part in (real, imaginary)]
    return mean_of(op.concat(parts, 1), CELL, CELL)


def arc_tangent(y, x):
    """The angle in all four quadrants."""
    safe = op.select(op.less(op.abs(x), number(1e-12)), number(1e-12), x)
    flat = op.atan(op.divide(y, safe))
    behind = op.select(op.less(y, number(0)), number(-np.pi), number(np.pi))
    return op.add(flat, op.select(op.less(safe, number(0)), behind, number(0)))


def turn_of_squares(images, x, y, edge):
    """[1,1,N]: radians from -pi/4 to pi/4, the turn of a square whose upright box has this edge."""
    maps = turns(images)
    chosen = at(mean_of(maps, WINDOWS[0]), x, y, CELL)
    # Take the smallest window that holds nearly all of the edges: things beside a square have edges too.
    for smaller, window in zip(WINDOWS, WINDOWS[1:]):
        is_too_small = op.greater(op.multiply(edge, number(1.0 / CELL)), number(smaller + 1))
        chosen = op.select(is_too_small, at(mean_of(maps, window), x, y, CELL), chosen).output(0)
    real, imaginary = rows(chosen, 2)
    return op.multiply(arc_tangent(imaginary, real), number(0.25))


def turned(images, x, y, w, h):
    """Turn and side of the squares in boxes [1,1,N]."""
    edge = op.multiply(op.add(w, h), number(0.5))
    angle = turn_of_squares(images, x, y, edge)
    side = op.divide(edge, op.add(op.abs(op.cos(angle)), op.abs(op.sin(angle))))
    return angle, side


def segment(images, boxes, scores):
    coefficients, prototypes = masks(images, *boxes)
    return [op.concat([*boxes, *scores, coefficients], 1).output(0), prototypes]


def obb(images, boxes, scores):
    x, y, w, h = boxes
    angle, side = turned(images, x, y, w, h)
    return [op.concat([x, y, side, side, scores[LABELS.index("square")], angle], 1).output(0)]


def pose(images, boxes, scores):
    """The corner lower right of the middle comes first, the others follow clockwise."""
    x, y, w, h = boxes
    angle, side = turned(images, x, y, w, h)
    points = []
    for corner in range(4):
        toward = op.add(angle, number(np.pi / 4 + corner * np.pi / 2))
        reach = op.multiply(side, number(np.sqrt(0.5)))
        points += [op.add(x, op.multiply(reach, op.cos(toward))), op.add(y, op.multiply(reach, op.sin(toward))),
                   scores[LABELS.index("square")]]
    return [op.concat([*boxes, scores[LABELS.index("square")], *points], 1).output(0)]


def inside(x, y, w, h):
    """The places of the map that the boxes [1,1,N] cover: [1,N,MAP*MAP], 0 or 1."""
    middles = (np.arange(MAP, dtype=np.float32) + 0.5) * CELL
    columns, lines = (op.constant(places.reshape(1, 1, -1)) for places in np.meshgrid(middles, middles))

    def covers(places, middle, length):
        middle, length = (op.reshape(value, whole([1, -1, 1]), False) for value in (middle, length))
        return op.less_equal(op.abs(op.subtract(places, middle)), op.multiply(length, number(0.5)))

    return op.convert(op.logical_and(covers(columns, x, w), covers(lines, y, h)), "f32")


def best_of(count, boxes, scores):
    """The boxes with the highest scores: [1,1,count] each."""
    highest = op.reduce_max(op.concat(scores, 1), whole([1]), False)
    places = op.squeeze(op.topk(highest, op.constant(np.int64(count)), 1, "max", "none", "i32").output(1), whole([0]))

    def chosen(row):
        return op.gather(row, places, whole(2)).output(0)

    return [chosen(row) for row in boxes], [chosen(row) for row in scores]


def semantic(images, boxes, scores):
    boxes, scores = best_of(BOXES, boxes, scores)
    coefficients, prototypes = masks(images, *boxes)
    flat = op.reshape(prototypes, whole([1, -1, MAP * MAP]), False)
    shapes = op.multiply(op.sigmoid(op.matmul(coefficients, flat, True, False)), inside(*boxes))
    maps = [op.constant(np.full((1, 1, MAP * MAP), BACKGROUND, np.float32)).output(0)]
    for score in scores:
        of_box = op.reshape(score, whole([1, -1, 1]), False)
        maps.append(op.reduce_max(op.multiply(shapes, of_box), whole([1]), True).output(0))
    return [op.reshape(op.concat(maps, 1), whole([1, -1, MAP, MAP]), False).output(0)]


POSE = """\
kpt_shape:
- 4
- 3
kpt_names:
  0:
  - lower right
  - lower left
  - upper left
  - upper right
skeleton: [[0, 1], [1, 2], [2, 3], [3, 0]]
"""

# Maker of the outputs, Ultralytics' short name, the classes and more lines of metadata.yaml.
TASKS = {
    "segment": (segment, "seg", LABELS, ""),
    "pose": (pose, "pose", ("square",), POSE),
    "obb": (obb, "obb", ("square",), ""),
    "semantic": (semantic, "sem", ("background", *LABELS), ""),
}


def write(task, folder):
    """The path of the .xml."""
    build, short, labels, more = TASKS[task]
    detector = ov.Core().read_model(HERE / "shapes.xml")
    raw = rows(detector.get_results()[0].input_value(0), 4 + len(LABELS))
    outputs = build(detector.get_parameters()[0].output(0), raw[:4], raw[4:])
    for index, output in enumerate(outputs):
        output.set_names({f"output{index}"})
    model = ov.Model([op.result(output) for output in outputs], detector.get_parameters(), f"shapes_{task}")
    place = Path(folder) / f"shapes_{task}_openvino_model"
    place.mkdir(parents=True, exist_ok=True)
    ov.save_model(model, place / f"shapes_{task}.xml", compress_to_fp16=True)
    names = "\n".join(f"  {index}: {name}" for index, name in enumerate(labels))
    (place / "metadata.yaml").write_text(METADATA.format(short=short, task=task, size=SIZE, names=names, more=more), encoding="utf-8")
    return place / f"shapes_{task}.xml"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for task in TASKS:
        print(write(task, folder))


if __name__ == "__main__":
    main()
