#!/usr/bin/env python3
"""Writes an IR with the shape of YOLOv8n and random weights: the cost of a user's detector, without anybody's weights.

Backbone of C2f blocks and SPPF, a PAN neck, three heads; f32 [1,3,640,640] in, f32 [1,84,8400] out, about 3.2 million
parameters. Batch norms are folded into the convolutions, as converters do. The same seed gives the same file.

usage: make_yolov8n_like.py OUT.xml [--size 640] [--seed 1]
"""
import argparse
import pathlib

import numpy as np
import openvino as ov
from openvino import opset1, opset11, opset8 as op

CLASSES = 80
BOX_BINS = 16
STRIDES = (8, 16, 32)


def shape_of(x):
    """The shape of an output, or of a node's only output."""
    return list(x.get_shape() if isinstance(x, ov.Output) else x.get_output_shape(0))


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.parameters = 0

    def constant(self, values):
        self.parameters += values.size
        return op.constant(values)

    def convolution(self, x, out, kernel=1, stride=1, activation=True, bias=0.0):
        channels = shape_of(x)[1]
        # He's scale keeps the activations of a deep random net in range.
        scale = np.sqrt(2.0 / (channels * kernel * kernel))
        weights = self.random.normal(0, scale, (out, channels, kernel, kernel)).astype(np.float32)
        pad = kernel // 2
        y = op.convolution(x, self.constant(weights), [stride, stride], [pad, pad], [pad, pad], [1, 1])
        offset = self.random.normal(bias, 0.1, (1, out, 1, 1)).astype(np.float32)
        y = op.add(y, self.constant(offset))
        return op.swish(y) if activation else y

    def bottleneck(self, x, shortcut):
        channels = shape_of(x)[1]
        y = self.convolution(self.convolution(x, channels, 3), channels, 3)
        return op.add(x, y) if shortcut else y

    def c2f(self, x, out, repeats, shortcut):
        parts = op.split(self.convolution(x, out), op.constant(np.int64(1)), 2).outputs()
        for _ in range(repeats):
            parts.append(self.bottleneck(parts[-1], shortcut))
        return self.convolution(op.concat(parts, 1), out)

    def sppf(self, x):
        channels = shape_of(x)[1]
        parts = [self.convolution(x, channels // 2)]
        for _ in range(3):
            parts.append(opset1.max_pool(parts[-1], [1, 1], [2, 2], [2, 2], [5, 5]))
        return self.convolution(op.concat(parts, 1), channels)

    def upsample(self, x):
        sizes = np.array([2 * n for n in shape_of(x)[2:]], np.int64)
        return opset11.interpolate(x, sizes, "nearest", "sizes",
                                   coordinate_transformation_mode="asymmetric", nearest_mode="floor",
                                   axes=np.array([2, 3], np.int64))

    def head(self, x, box_channels, class_channels):
        box = self.convolution(self.convolution(x, box_channels, 3), box_channels, 3)
        box = self.convolution(box, 4 * BOX_BINS, activation=False)
        score = self.convolution(self.convolution(x, class_channels, 3), class_channels, 3)
        score = self.convolution(score, CLASSES, activation=False, bias=-8.0)
        cells = int(np.prod(shape_of(x)[2:]))
        return op.reshape(op.concat([box, score], 1), [1, 4 * BOX_BINS + CLASSES, cells], False)


def backbone(b, x):
    x = b.convolution(x, 16, 3, 2)
    x = b.c2f(b.convolution(x, 32, 3, 2), 32, 1, True)
    p3 = b.c2f(b.convolution(x, 64, 3, 2), 64, 2, True)
    p4 = b.c2f(b.convolution(p3, 128, 3, 2), 128, 2, True)
    p5 = b.sppf(b.c2f(b.convolution(p4, 256, 3, 2), 256, 1, True))
    return p3, p4, p5


def neck(b, p3, p4, p5):
    n4 = b.c2f(op.concat([b.upsample(p5), p4], 1), 128, 1, False)
    n3 = b.c2f(op.concat([b.upsample(n4), p3], 1), 64, 1, False)
    m4 = b.c2f(op.concat([b.convolution(n3, 64, 3, 2), n4], 1), 128, 1, False)
    m5 = b.c2f(op.concat([b.convolution(m4, 128, 3, 2), p5], 1), 256, 1, False)
    return n3, m4, m5


def grid(size):
    """Cell centres [1,2,N] and strides [1,N], in cells and pixels."""
    centres, strides = [], []
    for stride in STRIDES:
        n = size // stride
        y, x = np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5, indexing="ij")
        centres.append(np.stack([x.ravel(), y.ravel()]))
        strides.append(np.full(n * n, stride))
    return (np.concatenate(centres, 1)[None].astype(np.float32),
            np.concatenate(strides)[None].astype(np.float32))


def decode(b, heads, size):
    """Turns distances to the box's sides, each the mean of a distribution over bins, into centre and size in pixels."""
    features = op.concat(heads, 2)
    cells = shape_of(features)[2]
    split = op.variadic_split(features, op.constant(np.int64(1)),
                              op.constant(np.array([4 * BOX_BINS, CLASSES], np.int64)))
    bins = op.transpose(op.reshape(split.output(0), [1, 4, BOX_BINS, cells], False), op.constant(np.array([0, 2, 1, 3])))
    mean = b.constant(np.arange(BOX_BINS, dtype=np.float32).reshape(1, BOX_BINS, 1, 1))
    sides = op.convolution(op.softmax(bins, 1), mean, [1, 1], [0, 0], [0, 0], [1, 1])
    sides = op.reshape(sides, [1, 4, cells], False)
    centres, strides = grid(size)
    sides = op.split(sides, op.constant(np.int64(1)), 2)
    low = op.subtract(op.constant(centres), sides.output(0))
    high = op.add(op.constant(centres), sides.output(1))
    middle = op.multiply(op.add(low, high), op.constant(np.float32(0.5)))
    boxes = op.multiply(op.concat([middle, op.subtract(high, low)], 1), op.constant(strides))
    return op.concat([boxes, op.sigmoid(split.output(1))], 1)


def build(size, seed):
    b = Builder(seed)
    image = op.parameter([1, 3, size, size], np.float32, "images")
    levels = neck(b, *backbone(b, image))
    output = decode(b, [b.head(level, 64, 80) for level in levels], size)
    output.set_friendly_name("output0")
    output.output(0).set_names({"output0"})
    image.output(0).set_names({"images"})
    return ov.Model([output], [image], "yolov8n_like"), b.parameters


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--size", type=int, default=640)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    model, parameters = build(options.size, options.seed)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    ov.save_model(model, options.out, compress_to_fp16=False)
    shape = list(model.output(0).get_shape())
    print(f"{options.out}: {parameters / 1e6:.2f} M parameters, output {shape}")


if __name__ == "__main__":
    main()
