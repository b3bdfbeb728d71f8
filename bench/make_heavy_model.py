#!/usr/bin/env python3
"""Writes an IR that consists of weights almost only: a chain of MatMuls, f32 [1,N] in and out, no two constants alike.

The same arguments give the same files. Needs nothing but Python.

usage: make_heavy_model.py OUT.xml [--megabytes 400] [--layers 6]
"""
import argparse
import array
import math
import pathlib
import random

TABLE_VALUES = 1 << 16


def port(number, dims, precision=' precision="FP32"'):
    inside = "".join(f"<dim>{dim}</dim>" for dim in dims)
    return f'<port id="{number}"{precision}>{inside}</port>'


def layers_of(size, count):
    row = [1, size]
    yield (f'<layer id="0" name="row" type="Parameter" version="opset1"><data shape="1,{size}" element_type="f32" />'
           f'<output><port id="0" precision="FP32" names="row"><dim>1</dim><dim>{size}</dim></port></output></layer>')
    bytes_each = size * size * 4
    for layer in range(count):
        yield (f'<layer id="{2 * layer + 1}" name="weights{layer}" type="Const" version="opset1"><data element_type="f32" '
               f'shape="{size}, {size}" offset="{layer * bytes_each}" size="{bytes_each}" />'
               f'<output>{port(0, [size, size])}</output></layer>')
        yield (f'<layer id="{2 * layer + 2}" name="matmul{layer}" type="MatMul" version="opset1">'
               f'<data transpose_a="false" transpose_b="true" />'
               f'<input>{port(0, row)}{port(1, [size, size])}</input><output>{port(2, row)}</output></layer>')
    yield (f'<layer id="{2 * count + 1}" name="result" type="Result" version="opset1">'
           f'<input>{port(0, row)}</input></layer>')


def edges_of(count):
    before, before_port = 0, 0
    for layer in range(count):
        yield before, before_port, 2 * layer + 2, 0
        yield 2 * layer + 1, 0, 2 * layer + 2, 1
        before, before_port = 2 * layer + 2, 2
    yield before, before_port, 2 * count + 1, 0


def write_weights(path, size, count):
    """Each constant repeats a table of its own, scaled to keep the outputs in range."""
    with open(path, "wb") as file:
        for layer in range(count):
            values = random.Random(layer + 1)
            scale = 1 / math.sqrt(size)
            table = array.array("f", (values.uniform(-scale, scale) for _ in range(TABLE_VALUES))).tobytes()
            left = size * size * 4
            while left > 0:
                left -= file.write(table[:left])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--megabytes", type=float, default=400)
    arguments.add_argument("--layers", type=int, default=6)
    options = arguments.parse_args()
    size = max(1, round(math.sqrt(options.megabytes * 1e6 / (4 * options.layers))))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    edges = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}" />'
                    for a, b, c, d in edges_of(options.layers))
    options.out.write_text(f'<?xml version="1.0"?><net name="heavy" version="11"><layers>'
                           f'{"".join(layers_of(size, options.layers))}</layers><edges>{edges}</edges></net>\n',
                           encoding="utf-8")
    write_weights(options.out.with_suffix(".bin"), size, options.layers)


if __name__ == "__main__":
    main()
