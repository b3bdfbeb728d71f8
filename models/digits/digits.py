"""Makes a model that reads a line of digits, and the file beside it that describes it. Nothing is trained: each place of the line is
compared with a picture of each digit.

    digits.py <folder>      writes digits.xml, digits.bin, inference.yml
"""

import argparse
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

HEIGHT, WIDTH = 36, 176  # of the input
DOT = 4  # pixels of the input across a dot of a digit
MARGIN = 2  # pixels left and right of a digit, which are empty
SHARPNESS = 40.0  # of the choice between digits
LEAST = 0.75  # a place with less likeness (at most 1) shows no digit

# Five dots wide, seven high.
DOTS = {
    "0": "01110 10001 10011 10101 11001 10001 01110",
    "1": "00100 01100 00100 00100 00100 00100 01110",
    "2": "01110 10001 00001 00110 01000 10000 11111",
    "3": "11111 00010 00100 00010 00001 10001 01110",
    "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110",
    "6": "00110 01000 10000 11110 10001 10001 01110",
    "7": "11111 00001 00010 00100 01000 01000 01000",
    "8": "01110 10001 10001 01110 10001 10001 01110",
    "9": "01110 10001 10001 01111 00001 00010 01100",
}

# The file that PaddleOCR writes beside its text readers.
INFERENCE_YML = """\
Global:
  model_name: digits
PreProcess:
  transform_ops:
  - DecodeImage:
      channel_first: false
      img_mode: BGR
  - RecResizeImg:
      image_shape:
      - 3
      - {height}
      - {width}
PostProcess:
  name: CTCLabelDecode
  character_dict:
{characters}
"""


def glyph(digit):
    """[7 * DOT, 5 * DOT + 2 * MARGIN] of 0 and 1."""
    dots = np.array([[int(dot) for dot in row] for row in DOTS[digit].split()], np.float32)
    return np.pad(dots.repeat(DOT, 0).repeat(DOT, 1), ((0, 0), (MARGIN, MARGIN)))


def weights():
    """[digits, 1, h, w], each of mean 0 and length 1: correlates with a digit, whatever its brightness."""
    glyphs = np.stack([glyph(digit) for digit in DOTS])
    glyphs -= glyphs.mean((1, 2), keepdims=True)
    return (glyphs / np.sqrt((glyphs**2).sum((1, 2), keepdims=True)))[:, None]


def number(value):
    return op.constant(np.float32(value))


def compared(image, kernel):
    return op.convolution(image, op.constant(kernel.astype(np.float32)), [1, 1], [0, 0], [0, 0], [1, 1])


def reader():
    """Likeness is the correlation of a window with a digit over the window's deviation."""
    image = op.parameter([1, 3, HEIGHT, WIDTH], np.float32, name="x")
    gray = op.reduce_mean(image, op.constant(np.array([1], np.int64)), True)
    digits = weights()
    box = np.ones((1, *digits.shape[1:]), np.float32)
    total, squares = compared(gray, box), compared(op.multiply(gray, gray), box)
    deviation = op.subtract(squares, op.multiply(op.multiply(total, total), number(1 / box.size)))
    likeness = op.divide(compared(gray, digits), op.sqrt(op.add(op.relu(deviation), number(1e-2))))
    # The line may be some pixels higher or lower: the best row counts.
    best = op.reduce_max(likeness, op.constant(np.array([2], np.int64)), False)
    steps = best.output(0).shape[2]
    none = op.constant(np.full((1, 1, steps), LEAST, np.float32))
    choice = op.softmax(op.multiply(op.concat([none, best], 1), number(SHARPNESS)), 1)
    text = op.transpose(choice, op.constant(np.array([0, 2, 1], np.int64)))
    text.output(0).set_names({"text"})
    image.output(0).set_names({"x"})
    return ov.Model([op.result(text)], [image], "digits")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    ov.save_model(reader(), folder / "digits.xml", compress_to_fp16=True)
    characters = "\n".join(f"  - '{digit}'" for digit in DOTS)
    (folder / "inference.yml").write_text(
        INFERENCE_YML.format(height=HEIGHT, width=WIDTH, characters=characters), encoding="utf-8")


if __name__ == "__main__":
    main()
