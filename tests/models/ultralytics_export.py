"""Export folders as Ultralytics makes them, of the demo detector with each of the heads that its exports end with.

    ultralytics_export.py <folder>

writes shapes_<head>_openvino_model/ with shapes_<head>.xml, .bin and metadata.yaml for each head:

    raw           [1,7,1280]: boxes that overlap are left in (v8, 11)
    bare          the same, and the IR says nothing at all: metadata.yaml is alone
    end2end       [1,300,6]: one box an object, the best 300, whatever their score (v10, 26)
    v10, v26      the same with many boxes an object, by the operators and types to which OpenVINO converts these heads:
                  two TopK, GatherElements, Floor of whole numbers
    nms           [1,300,6]: the best box of an object above a threshold, rows of zeros fill up (nms=True)
    nms_operator  the same by the operator NonMaxSuppression, whose output is as long as it has found boxes: no NPU
                  runs it, but what is in front of it
    nms_export    the same by the operators to which OpenVINO converts Ultralytics' own nms=True: NonZero of the boxes
                  above `conf`, NonMaxSuppression of boxes that are scaled and moved apart by class, ScatterNDUpdate

What Ultralytics writes into the IR is there but for the labels: only metadata.yaml names the classes.

The demo detector gives several boxes an object, so the head of one box an object is not learned as in YOLO26. Arithmetic
on all pairs of the best 300 boxes drops what a better one of the class covers; then comes the tail of Ultralytics' own
heads, TopK and Gather. The size of no operator's output depends on values, so that NPUs can run it.
"""

import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"

# The labels of shapes.xml in their order; one has a blank, which the IR's own list of labels could not tell.
NAMES = {"circle": "circle", "square": "square", "triangle": "warning triangle"}
MOST_BOXES = 300
# Side of the demo detector's input, in pixels.
SIDE = 256
# As of `yolo export ... conf=0.01 iou=0.5`: the curve of recall over precision wants the unsure detections too.
CONFIDENCE, IOU = 0.01, 0.5
# A box is right after as many rounds as there are boxes that drop one another in a row.
ROUNDS = 16

MODEL_INFO = {
    "model_type": "YOLO",
    "reverse_input_channels": "True",
    "pad_value": "114",
    "scale_values": "255.0",
    "iou_threshold": str(IOU),
    "resize_type": "fit_to_window_letterbox",
}

METADATA = """\
description: Ultralytics {family} model trained on shapes.yaml
author: Ultralytics
date: '2026-01-30T12:34:56.789012'
version: 8.4.9
license: AGPL-3.0 License (https://ultralytics.com/license)
docs: https://docs.ultralytics.com
stride: 16
task: detect
batch: 1
imgsz:
- {height}
- {width}
names:
{names}
args:
  batch: 1
  half: true
  int8: false
  dynamic: false
  nms: {nms}
channels: 3
end2end: {end2end}
"""


def number(value):
    return op.constant(np.float32(value))


def whole(values):
    return op.constant(np.asarray(values, np.int64))


def columns(x, axis, count):
    """One of each along the axis, which goes."""
    return [op.squeeze(part, whole([axis])) for part in op.split(x, whole(axis), count).outputs()]


def parts_of(raw):
    """Of [1,4+C,N]: edges of boxes [1,N,4], and scores [1,N,C], of each box but the best class' 0."""
    rows = op.transpose(raw, whole([0, 2, 1]))
    centre, size, scores = op.variadic_split(rows, whole(2), whole([2, 2, -1])).outputs()
    half = op.multiply(size, number(0.5))
    edges = op.concat([op.subtract(centre, half), op.add(centre, half)], 2)
    best = op.convert(op.equal(scores, op.reduce_max(scores, whole([2]), True)), "f32")
    return edges, op.multiply(scores, best)


def covers(edges):
    """[N,N]: 1 where two boxes of [1,N,4] overlap by more than IOU."""
    left, top, right, bottom = columns(op.squeeze(edges, whole([0])), 1, 4)

    def pairs(x, combine):
        return combine(op.unsqueeze(x, whole(0)), op.unsqueeze(x, whole(1)))

    wide = op.relu(op.subtract(pairs(right, op.minimum), pairs(left, op.maximum)))
    tall = op.relu(op.subtract(pairs(bottom, op.minimum), pairs(top, op.maximum)))
    shared = op.multiply(wide, tall)
    areas = op.multiply(op.subtract(right, left), op.subtract(bottom, top))
    union = op.subtract(pairs(areas, op.add), shared)
    return op.convert(op.greater(shared, op.multiply(union, number(IOU))), "f32")


def one_box_an_object(edges, scores):
    """The scores of [1,N,C], best box first, but 0 of boxes that a better one of their class covers."""
    count = edges.output(0).shape[1]
    classes = op.sign(op.squeeze(scores, whole([0])))
    drops = op.multiply(op.matmul(classes, classes, False, True), covers(edges))
    # Only a better box drops another: one of an earlier row.
    drops = op.multiply(drops, op.constant(np.tril(np.ones((count, count), np.float32), -1)))
    kept = op.constant(np.ones((count, 1), np.float32))
    for _ in range(ROUNDS):
        kept = op.subtract(number(1), op.minimum(op.matmul(drops, kept, False, False), number(1)))
    return op.multiply(scores, op.unsqueeze(kept, whole(0)))


def best_of(values, count):
    """Values and places of the highest in [1,N]."""
    return op.topk(values, whole(count), 1, "max", "value", "i32").outputs()


def best_first(raw):
    """The best boxes [1,M,4], and their scores [1,M,C] without those of boxes that a better one covers."""
    edges, scores = parts_of(raw)
    _, places = best_of(op.reduce_max(scores, whole([2]), False), MOST_BOXES)
    places = op.squeeze(places, whole([0]))
    edges, scores = (op.gather(x, places, whole(1)) for x in (edges, scores))
    return edges, one_box_an_object(edges, scores)


def rows_of(edges, places, score, label):
    ends = [op.unsqueeze(x, whole(2)) for x in (score, op.convert(label, "f32"))]
    return op.concat([op.gather(edges, op.squeeze(places, whole([0])), whole(1)), *ends], 2)


def end_to_end(raw):
    edges, scores = best_first(raw)
    score, places = best_of(op.reshape(scores, whole([1, -1]), False), MOST_BOXES)
    classes = op.constant(np.int32(len(NAMES)))
    return rows_of(edges, op.divide(places, classes), score, op.floor_mod(places, classes))


def with_nms(raw):
    edges, scores = best_first(raw)
    score, places = best_of(op.reduce_max(scores, whole([2]), False), MOST_BOXES)
    best_class = op.squeeze(op.topk(scores, whole(1), 2, "max", "value", "i32").output(1), whole([2]))
    label = op.gather(best_class, op.squeeze(places, whole([0])), whole(1))
    counts = op.convert(op.greater_equal(score, number(CONFIDENCE)), "f32")
    return op.multiply(rows_of(edges, places, score, label), op.unsqueeze(counts, whole(2)))


def with_nms_operator(raw):
    edges, scores = parts_of(raw)
    found = op.non_max_suppression(edges, op.transpose(scores, whole([0, 2, 1])), whole(MOST_BOXES), number(IOU),
                                   number(CONFIDENCE), box_encoding="corner", sort_result_descending=True,
                                   output_type="i32")
    _, label, box = columns(found.output(0), 1, 3)
    _, _, score = columns(found.output(1), 1, 3)
    rows = rows_of(edges, op.unsqueeze(box, whole(0)), op.unsqueeze(score, whole(0)), op.unsqueeze(label, whole(0)))
    filled = op.concat([rows, op.constant(np.zeros((1, MOST_BOXES, 6), np.float32))], 1)
    first = op.slice(filled, whole([0]), whole([MOST_BOXES]), whole([1]), whole([1]))
    return op.reshape(first, whole([1, MOST_BOXES, 6]), False)


def only(batch):
    """Of the only picture of a batch."""
    return op.gather(batch, whole(0), whole(0))


def above_confidence(raw):
    """Edges [M,4], score and class [M] of the boxes whose best score is above CONFIDENCE."""
    rows = op.transpose(raw, whole([0, 2, 1]))
    centre, size, scores = op.variadic_split(rows, whole(2), whole([2, 2, len(NAMES)])).outputs()
    half = op.multiply(size, number(0.5))
    joined = op.concat([op.subtract(centre, half), op.add(centre, half), scores], 2)
    edges, scores = op.variadic_split(joined, whole(2), whole([4, len(NAMES)])).outputs()
    best = only(op.reduce_max(scores, whole([-1]), False))
    label = only(op.squeeze(op.topk(scores, whole(1), -1, "max", "none", "i64").output(1), whole([-1])))
    places = op.reshape(op.non_zero(op.greater(best, number(CONFIDENCE)), "i64"), whole([-1, 1]), True)
    return [op.gather_nd(values, places) for values in (only(edges), best, label)]


def moved_apart(edges, label):
    """By class, after scaling, so that only boxes of one class overlap."""
    scale = number(1 / len(NAMES))
    scaled = op.multiply(op.divide(edges, number(SIDE)), scale)
    size = op.concat([op.shape_of(label), whole([4])], 0)
    each = op.broadcast(op.reshape(label, whole([0, 1]), True), size, broadcast_spec="BIDIRECTIONAL")
    return op.add(scaled, op.multiply(op.convert(each, "f32"), scale))


def filled_up(rows):
    """[1,MOST_BOXES,6]: rows written into a tensor of zeros, behind them what pads them."""
    everything = MOST_BOXES * 6
    count = op.gather(op.shape_of(rows), whole(0), whole(0))
    missing = op.multiply(op.unsqueeze(op.subtract(whole(MOST_BOXES), count), whole(0)), whole([6]))
    padded = op.pad(op.reshape(rows, whole([-1]), False), whole([0]), missing, "constant", number(0))
    places = op.reshape(op.range(whole(0), whole(everything), whole(1), "i64"), whole([-1, 1]), False)
    zeros = op.constant(np.zeros(everything, np.float32))
    written = op.scatter_nd_update(zeros, places, op.reshape(padded, whole([everything]), False))
    return op.reshape(written, whole([-1, MOST_BOXES, 6]), True)


def with_exported_nms(raw):
    edges, score, label = above_confidence(raw)
    moved = moved_apart(edges, label)
    found = op.non_max_suppression(op.unsqueeze(moved, whole(0)), op.unsqueeze(score, whole([0, 1])), whole(2**31 - 1),
                                   number(IOU), number(np.finfo(np.float32).min), box_encoding="corner",
                                   sort_result_descending=True, output_type="i64")
    places = op.squeeze(op.gather(found.output(0), whole([2]), whole(1)), whole([1]))
    kept = op.slice(places, whole([0]), whole([MOST_BOXES]), whole([1]), whole([0]))
    edges, score, label = (op.gather(values, kept, whole(0)) for values in (edges, score, label))
    ends = [op.reshape(score, whole([-1, 1]), False), op.convert(op.reshape(label, whole([-1, 1]), False), "f32")]
    return filled_up(op.concat([edges, *ends], -1))


def rows_at(values, places, width):
    """Rows of [1,N,width] at places [1,M,1], as torch.gather takes them."""
    return op.gather_elements(values, op.convert(op.tile(places, whole([1, 1, width])), "i32"), 1)


def taken(values, places, width):
    """The same of places [1,M], as an index in brackets takes them: by the place among the rows of all pictures."""
    count = values.output(0).shape[1]
    first = op.multiply(op.constant(np.zeros((1, 1), np.int32)), op.constant(np.int32(count)))
    rows = op.reshape(op.transpose(values, whole([0, 1, 2])), whole([-1, width]), False)
    found = op.gather(rows, op.add(op.convert(places, "i32"), first), op.constant(np.int32(0)))
    return op.reshape(found, whole([1, -1, width]), False)


def two_stages(raw):
    """Edges [1,N,4]; scores of the best boxes; where these boxes are, [1,M,1]; the best scores, their boxes and classes."""
    edges, scores = parts_of(raw)
    joined = op.transpose(op.concat([edges, scores], 2), whole([0, 2, 1]))
    rows = op.transpose(joined, whole([0, 2, 1]))
    edges, scores = op.variadic_split(rows, whole(-1), whole([4, len(NAMES)])).outputs()
    best = op.topk(op.reduce_max(scores, whole(-1), False), whole(MOST_BOXES), -1, "max", "value", "i64").output(1)
    places = op.unsqueeze(best, whole(-1))
    chosen = op.reshape(rows_at(scores, places, len(NAMES)), whole([0, -1]), True)
    score, place = op.topk(chosen, whole(MOST_BOXES), -1, "max", "value", "i64").outputs()
    row = op.floor(op.divide(place, whole(len(NAMES))))
    return edges, places, score, row, place


def v10(raw):
    edges, places, score, row, place = two_stages(raw)
    label = op.subtract(place, op.multiply(op.floor(op.divide(place, whole(len(NAMES)))), whole(len(NAMES))))
    boxes = taken(rows_at(edges, places, 4), row, 4)
    return op.concat([boxes, op.unsqueeze(score, whole(-1)), op.convert(op.unsqueeze(label, whole(-1)), "f32")], -1)


def v26(raw):
    edges, places, score, row, place = two_stages(raw)
    label = op.floor_mod(place, whole(len(NAMES)))
    boxes = rows_at(edges, taken(places, row, 1), 4)
    return op.concat([boxes, op.unsqueeze(score, whole(-1)), op.convert(op.unsqueeze(label, whole(-1)), "f32")], -1)


def as_it_is(raw):
    return raw


# Entries of metadata.yaml: family, end2end and args.nms.
HEADS = {
    "raw": (as_it_is, "YOLO11n", "false", "false"),
    "bare": (as_it_is, "YOLO11n", "false", "false"),
    "end2end": (end_to_end, "YOLO26n", "true", "false"),
    "v10": (v10, "YOLOv10n", "true", "false"),
    "v26": (v26, "YOLO26n", "true", "false"),
    "nms": (with_nms, "YOLO11n", "false", "true"),
    "nms_operator": (with_nms_operator, "YOLO11n", "false", "true"),
    "nms_export": (with_exported_nms, "YOLO11n", "false", "true"),
}


def metadata(size, family, end2end, nms):
    names = "\n".join(f"  {index}: {name}" for index, name in enumerate(NAMES.values()))
    height, width = size
    return METADATA.format(family=family, height=height, width=width, names=names, nms=nms, end2end=end2end)


def write(head, folder):
    """The path of the .xml."""
    build, *said = HEADS[head]
    source = ov.Core().read_model(SHAPES / "shapes.xml")
    output = build(source.get_results()[0].input_value(0))
    output = output if isinstance(output, ov.Output) else output.output(0)
    output.set_names({"output0"})
    model = ov.Model([op.result(output)], source.get_parameters(), f"shapes_{head}")
    said_in_the_ir = {} if head == "bare" else MODEL_INFO
    for key, value in said_in_the_ir.items():
        model.set_rt_info(value, ["model_info", key])
    place = Path(folder) / f"shapes_{head}_openvino_model"
    place.mkdir(parents=True, exist_ok=True)
    ov.save_model(model, place / f"shapes_{head}.xml", compress_to_fp16=True)
    size = source.input(0).shape[2:]
    (place / "metadata.yaml").write_text(metadata(size, *said), encoding="utf-8")
    return place / f"shapes_{head}.xml"


def main():
    for head in HEADS:
        print(write(head, sys.argv[1]))


if __name__ == "__main__":
    main()
