#!/usr/bin/env python3
"""Writes an IR with gigabytes of weights in a file that takes a few megabytes of disk: tables of u8 rows that are zeros, but for some.

The model looks rows up: rows (i32 [4096]) in, sums (f32 [4096,TABLES]) out, the weighted sum of the row's bytes in each table. Marked rows, and
what they add up to, follow from the formulas below (big_side.cpp has them too), so an answer is right or wrong to the bit.

usage: make_big_model.py OUT.xml [--gigabytes 5]
"""
import argparse
import os
import pathlib
import struct

WIDTH = 1024          # bytes of a row
LOOKED_UP = 4096      # rows of one inference
MARK_EVERY = 4099     # rows; a prime, so that marks fall on all places of a page
MOST_TABLE_BYTES = 1 << 30


def row_bytes(table, row):
    return bytes((row * 31 + table * 7 + column) % 251 for column in range(WIDTH))


def is_marked(row, rows):
    return row % MARK_EVERY == 0 or row == rows - 1


def weight_of(table, column):
    """Small whole numbers: their sums are exact in f32."""
    return (column * 5 + table) % 7 - 3


def port(number, dims, precision, names=""):
    inside = "".join(f"<dim>{dim}</dim>" for dim in dims)
    return f'<port id="{number}" precision="{precision}"{names}>{inside}</port>'


class Writer:
    """Layers and edges, each layer behind those that feed it."""

    def __init__(self):
        self.layers, self.edges, self.next = [], [], 0

    def add(self, kind, data, inputs, output, precision, opset="opset1", names=""):
        """inputs: (layer, port, dims, precision) of each; the same of the output."""
        ins = "".join(port(i, dims, of) for i, (_, _, dims, of) in enumerate(inputs))
        outs = port(len(inputs), output, precision, names) if output is not None else ""
        self.layers.append(f'<layer id="{self.next}" name="{kind}{self.next}" type="{kind}" version="{opset}">{data}'
                           + (f"<input>{ins}</input>" if ins else "") + (f"<output>{outs}</output>" if outs else "") + "</layer>")
        self.edges += [f'<edge from-layer="{layer}" from-port="{number}" to-layer="{self.next}" to-port="{i}" />'
                       for i, (layer, number, _, _) in enumerate(inputs)]
        self.next += 1
        return self.next - 1, len(inputs), output, precision

    def constant(self, element_type, precision, dims, offset, size):
        shape = ", ".join(map(str, dims))
        return self.add("Const", f'<data element_type="{element_type}" shape="{shape}" offset="{offset}" size="{size}" />', [], dims, precision)


def model_text(tables, rows):
    """The constants' order in the file: one number for the axis, each table, each table's factors."""
    ir = Writer()
    parameter = ir.add("Parameter", f'<data shape="{LOOKED_UP}" element_type="i32" />', [], [LOOKED_UP], "I32", names=' names="rows"')
    axis = ir.constant("i32", "I32", [], 0, 4)
    sums = []
    for table in range(tables):
        offset = 4096 + table * (rows * WIDTH + WIDTH * 4)
        data = ir.constant("u8", "U8", [rows, WIDTH], offset, rows * WIDTH)
        factors = ir.constant("f32", "FP32", [WIDTH, 1], offset + rows * WIDTH, WIDTH * 4)
        looked_up = ir.add("Gather", '<data batch_dims="0" />', [data, parameter, axis], [LOOKED_UP, WIDTH], "U8", "opset8")
        real = ir.add("Convert", '<data destination_type="f32" />', [looked_up], [LOOKED_UP, WIDTH], "FP32")
        sums.append(ir.add("MatMul", '<data transpose_a="false" transpose_b="false" />', [real, factors], [LOOKED_UP, 1], "FP32"))
    answer = ir.add("Concat", '<data axis="1" />', sums, [LOOKED_UP, tables], "FP32", names=' names="sums"')
    ir.add("Result", "", [answer], None, None)
    return f'<?xml version="1.0"?><net name="big" version="11"><layers>{"".join(ir.layers)}</layers><edges>{"".join(ir.edges)}</edges></net>\n'


def write_weights(path, tables, rows):
    """Holes read as zeros: only marked rows, the factors and the axis take disk."""
    with open(path, "wb") as file:
        file.truncate(4096 + tables * (rows * WIDTH + WIDTH * 4))
        for table in range(tables):
            start = 4096 + table * (rows * WIDTH + WIDTH * 4)
            for row in [row for row in range(0, rows, MARK_EVERY)] + [rows - 1]:
                os.pwrite(file.fileno(), row_bytes(table, row), start + row * WIDTH)
            factors = struct.pack(f"<{WIDTH}f", *(weight_of(table, column) for column in range(WIDTH)))
            os.pwrite(file.fileno(), factors, start + rows * WIDTH)


def size_of(gigabytes):
    """Tables, and rows of each, for about so many bytes."""
    all_bytes = int(gigabytes * 1e9)
    tables = -(-all_bytes // MOST_TABLE_BYTES)
    return tables, max(all_bytes // tables // WIDTH // LOOKED_UP, 1) * LOOKED_UP


def make(out, tables, rows):
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(model_text(tables, rows), encoding="utf-8")
    write_weights(out.with_suffix(".bin"), tables, rows)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--gigabytes", type=float, default=5)
    options = arguments.parse_args()
    make(options.out, *size_of(options.gigabytes))


if __name__ == "__main__":
    main()
