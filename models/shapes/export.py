"""Writes trained weights as an OpenVINO IR with f16 weights, and the .modelinfo beside it."""

import argparse
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset11 as op

from net import STRIDES, detector
from pixels import MODEL_SIZE, PAD_VALUE
from scenes import LABELS

CONFIDENCE_THRESHOLD, IOU_THRESHOLD = 0.35, 0.5

# The names of OpenVINO's Model API.
MODEL_INFO = {
    "model_type": "yolo_v8",
    "labels": " ".join(LABELS),
    "resize_type": "fit_to_window_letterbox",
    "pad_value": str(PAD_VALUE),
    "scale_values": "255",
    # The model wants R'G'B'; the Model API's frames are B'G'R'.
    "reverse_input_channels": "YES",
    "confidence_threshold": str(CONFIDENCE_THRESHOLD),
    "iou_threshold": str(IOU_THRESHOLD),
}

MODELINFO_FILE = """\
[modelinfo]
version=1.0
group-id=yolo-v8-out

[images]
dir=input
type=float32
dims=1,3,{size},{size}
ranges=0.0,1.0

[output0]
dir=output
id=yolo-v8-out
type=float32
dims=1,{rows},{cells}
dims-order=col-major
labels={labels}
confidence-threshold={confidence}
iou-threshold={iou}
"""


class OpenVinoOps:
    """Layers of net.py on NCHW, weights as train.fold() leaves them."""

    def __init__(self, weights):
        self.weights = weights

    def conv(self, x, name, channels, kernel=3, stride=1, plain=False):
        pad = [kernel // 2] * 2
        weights, bias = self.weights[f"{name}/w"], self.weights[f"{name}/b"]
        assert weights.shape[0] == channels, name
        x = op.convolution(x, constant(weights, f"{name}/weights"), [stride] * 2, pad, pad, [1, 1],
                           name=name if plain else f"{name}/conv")
        x = op.add(x, constant(bias.reshape(1, -1, 1, 1), f"{name}/bias"), name=f"{name}/add")
        return x if plain else op.relu(x, name=f"{name}/relu")

    def add(self, a, b):
        return op.add(a, b)

    def concat(self, parts):
        return op.concat(parts, 1)

    def max_pool(self, x):
        return op.max_pool(x, [1, 1], [1, 1], [2, 2], [2, 2], [5, 5]).output(0)

    def double(self, x):
        size = np.array(list(x.output(0).shape)[2:], np.int64) * 2
        return op.interpolate(x, constant(size), "nearest", "sizes", axes=constant([2, 3]),
                              coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def constant(values, name=None):
    values = np.asarray(values)
    kind = np.int64 if values.dtype.kind == "i" else np.float32
    return op.constant(values.astype(kind), name=name)


def cell_centres(stride):
    side = MODEL_SIZE // stride
    y, x = np.mgrid[0:side, 0:side]
    return ((np.stack([x, y]) + 0.5) * stride).reshape(1, 2, -1)


def flat(x, channels):
    return op.reshape(x, constant([1, channels, -1]), False)


def decoded(raw, stride):
    """[1, 4, cells]: cx, cy, w, h in the model's input pixels."""
    raw = flat(raw, 4)
    offset, size = op.split(raw, constant(1), 2).outputs()
    centre = op.add(op.multiply(offset, constant([[[float(stride)]]])),
                    constant(cell_centres(stride)))
    return op.concat([centre, op.multiply(op.exp(size), constant([[[float(stride)]]]))], 1)


def build(weights):
    image = op.parameter([1, 3, MODEL_SIZE, MODEL_SIZE], ov.Type.f32, name="images")
    image.output(0).set_names({"images"})
    levels = detector(OpenVinoOps(weights), image)
    boxes = op.concat([decoded(raw, stride) for (raw, _), stride in zip(levels, STRIDES)], 2)
    scores = op.concat([flat(score, len(LABELS)) for _, score in levels], 2)
    output = op.concat([boxes, op.sigmoid(scores)], 1, name="output0")
    output.output(0).set_names({"output0"})
    model = ov.Model([op.result(output, name="output0/result")], [image], "shapes")
    for key, value in MODEL_INFO.items():
        model.set_rt_info(value, ["model_info", key])
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", help="the .npz of train.py")
    parser.add_argument("folder", type=Path, help="where shapes.xml, .bin and .modelinfo go")
    options = parser.parse_args()
    with np.load(options.weights) as file:
        model = build({name: file[name] for name in file.files})
    ov.save_model(model, options.folder / "shapes.xml", compress_to_fp16=True)
    _, rows, cells = model.output(0).shape
    text = MODELINFO_FILE.format(size=MODEL_SIZE, rows=rows, cells=cells, labels=",".join(LABELS),
                                 confidence=CONFIDENCE_THRESHOLD, iou=IOU_THRESHOLD)
    (options.folder / "shapes.modelinfo").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
