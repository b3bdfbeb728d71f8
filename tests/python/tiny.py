"""Small models for the tests of the Python package."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

import npucore

TREE = Path(__file__).resolve().parents[2]
EXAMPLES = TREE / "examples" / "models"
SHAPES = TREE / "models" / "shapes"
os.environ["CI"] = "true"  # OpenVINO's package then reports nothing to Intel, for which it opens sockets
PRECISION = {"f32": "FP32", "f16": "FP16", "bf16": "BF16", "u8": "U8", "i32": "I32", "boolean": "BOOL", "i64": "I64", "f64": "FP64"}


def ports(tag, numbers, shape, precision, names=()):
    dims = "".join(f"<dim>{size}</dim>" for size in shape)
    listed = [f'<port id="{number}" precision="{precision}"{f" names={chr(34)}{name}{chr(34)}" if name else ""}>{dims}</port>'
              for number, name in zip(numbers, names or [None] * len(numbers))]
    return f"<{tag}>{''.join(listed)}</{tag}>"


def ir(inputs=("x",), element="f32", shape=(1, 8), operator="Add"):
    """An IR whose output y is the sum of its inputs; one input is added to itself."""
    precision = PRECISION[element]
    text = "".join(
        f'<layer id="{i}" name="{name}" type="Parameter" version="opset1"><data shape="{",".join(map(str, shape))}" element_type="{element}"/>'
        + ports("output", [0], shape, precision, [name]) + "</layer>" for i, name in enumerate(inputs))
    add, result = len(inputs), len(inputs) + 1
    text += f'<layer id="{add}" name="add" type="{operator}" version="opset1"><data auto_broadcast="numpy"/>'
    text += ports("input", [0, 1], shape, precision) + ports("output", [2], shape, precision, ["y"]) + "</layer>"
    text += f'<layer id="{result}" name="result" type="Result" version="opset1">' + ports("input", [0], shape, precision) + "</layer>"
    edges = [(0, 0, add, 0), (len(inputs) - 1, 0, add, 1), (add, 2, result, 0)]
    text = f'<net name="sum" version="11"><layers>{text}</layers><edges>'
    text += "".join('<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'.format(*edge) for edge in edges)
    return '<?xml version="1.0"?>' + text + "</edges></net>"


def model(**options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        path.write_text(ir(**options))
        return npucore.Model.read(path)


def by_openvino(make, shape, name="picture"):
    """The model that `make` has OpenVINO build of an f32 input of this shape; make(input, openvino.opset13) returns the outputs by name."""
    import openvino
    from openvino import opset13
    source = opset13.parameter(shape, openvino.Type.f32, name)
    source.output(0).set_names({name})
    outputs = make(source, opset13)
    for tensor, node in outputs.items():
        node.output(0).set_names({tensor})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        openvino.save_model(openvino.Model(list(outputs.values()), [source], "small"), path, compress_to_fp16=False)
        return npucore.Model.read(path)


def onnx(weights):
    """An ONNX as bytes: y = x * weights, for weights of f32, [1,8]."""
    def number(field, value):
        return varint(field << 3) + varint(value)

    def varint(value):
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)

    def part(field, content):
        content = content.encode() if isinstance(content, str) else content
        return varint(field << 3 | 2) + varint(len(content)) + content

    def value(name):
        dimensions = b"".join(part(1, number(1, size)) for size in weights.shape)
        return part(1, name) + part(2, part(1, number(1, 1) + part(2, dimensions)))
    node = part(1, "x") + part(1, "weights") + part(2, "y") + part(4, "Mul")
    dims = b"".join(number(1, size) for size in weights.shape)
    initializer = dims + number(2, 1) + part(8, "weights") + part(9, weights.tobytes())
    graph = part(1, node) + part(2, "scaled") + part(5, initializer) + part(11, value("x")) + part(12, value("y"))
    return number(1, 8) + part(8, part(1, "") + number(2, 13)) + part(7, graph)


def compiled(**options):
    return npucore.compile(model(**options), properties={"NPUCORE_COMPILE": "in-process"})


def square():
    return npucore.compile(EXAMPLES / "square.xml", properties={"NPUCORE_COMPILE": "in-process"})


def main():
    unittest.main(module=sys.modules["__main__"], verbosity=1)
