#!/usr/bin/env python3
"""Writes small IRs with what real networks have in them, for Intel's compiler to take or refuse. Random weights, one seed.

usage: make_networks.py FOLDER
"""
import pathlib
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.op import if_op

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))

import ultralytics_export  # noqa: E402

random = np.random.default_rng(1)


def integers(*values):
    return op.constant(np.array(values, np.int64))


def floats(value):
    return op.constant(np.array(value, np.float32))


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def parameter(name, shape, kind=ov.Type.f32):
    made = op.parameter(shape, kind, name=name)
    made.output(0).set_names({name})
    return made


def quantised(x, low=-1.0, high=1.0):
    return op.fake_quantize(x, floats(low), floats(high), floats(low), floats(high), 256)


def dequantised(*shape):
    """A filter as converters of int8 networks write it: integers, a zero point and a scale."""
    integral = op.convert(op.constant(random.integers(-127, 127, shape, np.int8)), ov.Type.f32)
    return op.multiply(op.subtract(integral, floats(3)), floats(0.01))


def convolution(x, filters, auto_pad="same_upper", stride=2):
    return op.convolution(x, filters, [stride] * 2, [0, 0], [0, 0], [1, 1], auto_pad)


def channels_first(x):
    return op.transpose(x, integers(0, 3, 1, 2))


def several_inputs_and_outputs():
    left, right = parameter("left", [1, 3, 32, 32]), parameter("right", [1, 3, 32, 32])
    joined = convolution(op.concat([left, right], 1), op.constant(normal(8, 6, 3, 3)))
    return [joined, op.reduce_max(joined, integers(2, 3)), op.add(left, right)], [left, right]


def states(shapes):
    """An input that goes through one variable after the other."""
    x = image = parameter("image", [1, 3, 32, 32])
    sinks = []
    for number, shape in enumerate(shapes):
        start = op.constant(np.zeros((1, 3, 32, 32), np.float32))
        old = op.read_value(start, f"state{number}", ov.Type.f32, ov.PartialShape(shape))
        x = op.add(x, op.multiply(old, floats(0.5)))
        sinks.append(op.assign(x, f"state{number}"))
    return [x], [image], sinks


def one_convolution(filters, auto_pad="same_upper", prepare=lambda x: x):
    image = parameter("image", [1, 3, 33, 32])
    return [convolution(prepare(image), filters, auto_pad)], [image]


def groups():
    image = parameter("image", [1, 8, 33, 32])
    return [op.group_convolution(quantised(image), dequantised(8, 1, 1, 3, 3), [2, 2], [0, 0], [0, 0], [1, 1], "same_upper")], [image]


def transposed_convolution():
    image = parameter("image", [1, 8, 16, 16])
    return [op.convolution_backprop_data(image, dequantised(8, 4, 3, 3), [2, 2], None, [0, 0], [0, 0], [1, 1], "same_upper")], [image]


def pools():
    image = parameter("image", [1, 8, 31, 31])
    largest = op.max_pool(image, [2, 2], [1, 1], [0, 0], [0, 0], [3, 3], "floor", "same_upper").output(0)
    return [op.avg_pool(largest, [2, 2], [0, 0], [0, 0], [3, 3], True, "floor", "same_upper")], [image]


def int8_network():
    """Quantised from end to end, NHWC, as TFLite has them."""
    image = parameter("image", [1, 32, 32, 3], ov.Type.i8)
    x = op.multiply(op.subtract(op.convert(image, ov.Type.f32), floats(-128)), floats(1 / 255))
    x = quantised(convolution(channels_first(x), dequantised(8, 3, 3, 3)))
    x = quantised(op.group_convolution(x, dequantised(8, 1, 1, 3, 3), [2, 2], [0, 0], [0, 0], [1, 1], "same_upper"))
    scaled = op.clamp(op.round(op.divide(x, floats(0.01)), "half_to_even"), -128.0, 127.0)
    return [op.convert(scaled, ov.Type.i8)], [image]


def condition():
    def body():
        x = op.parameter([1, 3, 32, 32], ov.Type.f32)
        return x, ov.Model([op.result(convolution(x, op.constant(normal(8, 3, 3, 3))))], [x], "body")

    flag, image = parameter("flag", [1], ov.Type.boolean), parameter("image", [1, 3, 32, 32])
    (yes_input, yes), (no_input, no) = body(), body()
    node = if_op(flag.output(0))
    node.set_then_body(yes)
    node.set_else_body(no)
    node.set_input(image.output(0), yes_input, no_input)
    return [node.set_output(yes.results[0], no.results[0])], [flag, image]


def size_at_run_time(auto_pad, stride):
    """Rows of the image that another input counts go through a convolution."""
    image, rows = parameter("image", [1, 3, 48, 32]), parameter("rows", [1], ov.Type.i64)
    cut = op.slice(image, integers(0), rows, integers(1), integers(2))
    return [convolution(cut, op.constant(normal(8, 3, 3, 3)), auto_pad, stride)], [image, rows]


def rows_by(rounded):
    """Of a detector's best rows those whose places are halved in whole numbers, by an operator that changes none."""
    head = parameter("head", [1, 840, 84])
    best = op.reduce_max(op.relu(head), integers(2), False)
    places = op.topk(best, op.constant(np.int64(30)), 1, "max", "value", "i64").output(1)
    return [op.gather(op.relu(head), op.squeeze(rounded(op.divide(places, integers(2))), integers(0)), integers(1))], [head]


def end_to_end():
    """YOLO26's end, as OpenVINO writes it for PyTorch's operators."""
    boxes, classes, most = 840, 80, 300
    raw = parameter("raw", [1, 4 + classes, boxes])
    rows = op.transpose(op.sigmoid(raw), integers(0, 2, 1))
    edges, scores = op.variadic_split(rows, integers(2), integers(4, classes)).outputs()

    def best(values):
        return op.topk(values, op.constant(np.int64(most)), -1, "max", "value", "i64").outputs()

    def gathered(values, places, width):
        return op.gather_elements(values, op.convert(op.tile(places, integers(1, 1, width)), "i32"), 1)

    first = op.unsqueeze(best(op.reduce_max(scores, integers(-1), False))[1], integers(-1))
    score, place = best(op.reshape(gathered(scores, first, classes), integers(1, -1), False))
    count = op.constant(np.int64(classes))
    row = op.floor(op.divide(place, count))
    box = op.gather(op.reshape(first, integers(-1, 1), False), row, op.constant(np.int64(0)))
    label = op.convert(op.unsqueeze(op.floor_mod(place, count), integers(-1)), "f32")
    return [op.concat([gathered(edges, box, 4), op.unsqueeze(score, integers(-1)), label], -1)], [raw]


def class_nms(suppress):
    """PaddlePaddle's detectors end so: rows of class, score and edges, which boxes they are, and how many."""
    boxes, scores = parameter("boxes", [1, 840, 4]), parameter("scores", [1, 80, 840])
    rows, places, count = suppress(op.relu(boxes), op.sigmoid(scores)).outputs()
    return [rows, places, count], [boxes, scores]


def matrix_nms(boxes, scores):
    return op.matrix_nms(boxes, scores, score_threshold=0.3, nms_top_k=100, keep_top_k=50, background_class=-1, sort_result_type="score")


def multiclass_nms(boxes, scores):
    return op.multiclass_nms(boxes, scores, score_threshold=0.3, iou_threshold=0.5, nms_top_k=100, keep_top_k=50, background_class=-1,
                             sort_result_type="score")


def target_sizes():
    """The size of the picture scales what is found, as RT-DETR's authors export it."""
    image, sizes = parameter("images", [1, 3, 64, 64]), parameter("orig_target_sizes", [1, 2], ov.Type.i64)
    found = op.sigmoid(convolution(image, op.constant(normal(4, 3, 3, 3))))
    boxes = op.transpose(op.reshape(found, integers(1, 4, -1), False), integers(0, 2, 1))
    scale = op.tile(op.convert(sizes, ov.Type.f32), integers(1, 2))
    return [op.multiply(boxes, op.unsqueeze(scale, integers(1)))], [image, sizes]


def networks():
    filters = (8, 3, 3, 3)
    yield "several_inputs_and_outputs", several_inputs_and_outputs()
    yield "two_states", states([[1, 3, 32, 32]] * 2)
    yield "state_of_unknown_size", states([[1, 3, -1, 32]])
    yield "condition", condition()
    yield "pools", pools()
    yield "int8_network", int8_network()
    yield "constant_filter", one_convolution(op.constant(normal(*filters)))
    yield "constant_filter_lower", one_convolution(op.constant(normal(*filters)), "same_lower")
    yield "quantised_filter", one_convolution(quantised(op.constant(normal(*filters))))
    yield "quantised_filter_lower", one_convolution(quantised(op.constant(normal(*filters))), "same_lower")
    yield "transposed_filter", one_convolution(op.transpose(quantised(op.constant(normal(8, 3, 3, 3))), integers(0, 3, 1, 2)))
    yield "dequantised_filter", one_convolution(dequantised(*filters), prepare=quantised)
    yield "dequantised_groups", groups()
    yield "dequantised_transposed_convolution", transposed_convolution()
    yield "filter_of_single_elements", one_convolution(op.constant(normal(8, 3, 1, 1)))
    yield "rows_by_ceiling", rows_by(op.ceiling)
    yield "rows_by_round", rows_by(lambda x: op.round(x, "HALF_TO_EVEN"))
    yield "end_to_end", end_to_end()
    yield "matrix_nms", class_nms(matrix_nms)
    yield "multiclass_nms", class_nms(multiclass_nms)
    yield "target_sizes", target_sizes()
    yield "run_time_rows", size_at_run_time("same_upper", 2)
    yield "run_time_rows_stride_1", size_at_run_time("same_upper", 1)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (outputs, inputs, *sinks) in networks():
        results = [op.result(output) for output in outputs]
        model = ov.Model(results, *sinks, inputs, name)
        ov.save_model(model, folder / f"{name}.xml", compress_to_fp16=False)
        if name == "several_inputs_and_outputs":
            ov.save_model(model, folder / "f16_weights.xml", compress_to_fp16=True)
    for head in ("v10", "nms_operator", "nms_export"):  # of the demo model
        ultralytics_export.write(head, folder)
    folder.touch()  # a build asks when it was made


if __name__ == "__main__":
    main()
