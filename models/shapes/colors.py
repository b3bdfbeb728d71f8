"""Makes the second demo model, which tells the colours of the shapes apart, and its .modelinfo. Nothing is trained: it compares each pixel
with the four colours of scenes.py, and the pixels in the middle of the picture count most."""

import argparse
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset11 as op

from scenes import COLORS

SIZE = 32  # of the input, which is square
SHARPNESS = 25.0  # of a pixel's choice between the colours
SPREAD = 0.22  # of the window, of the picture's size

# The names of OpenVINO's Model API.
MODEL_INFO = {
    "model_type": "Classification",
    "labels": " ".join(COLORS),
    "resize_type": "standard",
    "scale_values": "255",
    # The model wants R'G'B'; the Model API's frames are B'G'R'.
    "reverse_input_channels": "YES",
}

MODELINFO_FILE = """\
[modelinfo]
version=1.0
group-id=classification-generic-softmaxed-out

[image]
dir=input
type=float32
dims=1,3,{size},{size}
ranges=0.0,1.0

[color]
dir=output
id=classification-generic-softmaxed-out
type=float32
dims=1,{count}
labels={labels}
"""


def constant(values):
    return op.constant(np.asarray(values, np.float16).astype(np.float32))


def window():
    """[1, 1, SIZE, SIZE], the middle heaviest, sum 1."""
    at = (np.arange(SIZE) + 0.5) / SIZE - 0.5
    line = np.exp(-0.5 * (at / SPREAD) ** 2)
    weights = np.outer(line, line)
    return (weights / weights.sum()).reshape(1, 1, SIZE, SIZE)


def classifier():
    """A pixel's squared distance to a colour is |pixel|^2 - 2 pixel * colour + |colour|^2, and the first term is the same for
    all colours: the rest is a convolution of one pixel. Brightness is taken out first, since shapes are shaded."""
    colors = np.array(list(COLORS.values()), np.float32) / 255
    directions = colors - colors.mean(1, keepdims=True)
    image = op.parameter([1, 3, SIZE, SIZE], np.float32, name="image")
    tint = op.convolution(image, constant(np.eye(3)[:, :, None, None] - 1 / 3), [1, 1], [0, 0], [0, 0], [1, 1])
    near = op.convolution(tint, constant(2 * SHARPNESS * directions[:, :, None, None]), [1, 1], [0, 0], [0, 0], [1, 1])
    far = op.subtract(near, constant(SHARPNESS * (directions**2).sum(1).reshape(1, -1, 1, 1)))
    choice = op.softmax(far, 1)
    mean = op.reduce_sum(op.multiply(choice, constant(window())), op.constant(np.array([2, 3], np.int64)), False)
    mean.output(0).set_names({"color"})
    image.output(0).set_names({"image"})
    model = ov.Model([op.result(mean)], [image], "colors")
    for key, value in MODEL_INFO.items():
        model.set_rt_info(value, ["model_info", key])
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where colors.xml, colors.bin and colors.modelinfo go")
    folder = parser.parse_args().folder
    ov.save_model(classifier(), folder / "colors.xml", compress_to_fp16=True)
    text = MODELINFO_FILE.format(size=SIZE, count=len(COLORS), labels=",".join(COLORS))
    (folder / "colors.modelinfo").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
