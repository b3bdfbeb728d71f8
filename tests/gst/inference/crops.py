"""What a classifier in Python would see: parts of a picture, cut out and resized. usage: crops.py TEXT

By Pillow's crop() and resize(BILINEAR), and by NumPy with the same filter, a triangle as wide as the step from one pixel to the
next, at least one pixel each way. Where Pillow is missing NumPy alone answers; where it is there both have to agree.
And by linear interpolation between the centres of pixels, as OpenCV's INTER_LINEAR is: the same where a part becomes larger.

Writes numbers: the picture's width and height and its bytes of RGB, the size of the resized parts, how many there are, and of
each its x, y, width, height, and the bytes of RGB of both."""
import sys

import numpy as np

try:
    from PIL import Image
except ImportError:
    Image = None

WIDTH, HEIGHT, SIZE = 320, 240, 32
# Larger and smaller than the model's input, of even and odd places, at the edges, and the whole picture.
PARTS = [(10, 20, 32, 32), (40, 60, 90, 70), (101, 33, 61, 143), (0, 0, 20, 20), (253, 171, 67, 69), (7, 9, 300, 31), (150, 5, 17, 200), (0, 0, WIDTH, HEIGHT)]


def picture():
    """Slopes, discs with edges of a pixel, and a fine texture, in other phases for each colour."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    colours = []
    for phase in range(3):
        value = 110 + 60 * np.sin(x / 23 + phase) * np.cos(y / 31 - phase) + 15 * np.sin(x / 2.5 + y / 3.5 + phase)
        for left, top, radius, change in ((60, 70, 25, 60), (130, 100, 40, -50), (280, 200, 20, 70), (160, 30, 12, -60)):
            value += change * np.clip(radius - np.hypot(x - left - phase, y - top), 0, 1)
        colours.append(value)
    return np.clip(np.stack(colours, -1), 0, 255).round().astype(np.uint8)


def linear(size, to):
    """[to, size]: how much of each pixel is in each of the resized ones."""
    centres = np.clip((np.arange(to) + 0.5) * size / to - 0.5, 0, size - 1)
    return np.clip(1 - np.abs(np.arange(size) - centres[:, None]), 0, None)


def triangle(size, to):
    """The same, of all pixels that a resized one covers."""
    step = size / to
    reach = max(step, 1)
    centres = (np.arange(to) + 0.5) * step
    weights = np.clip(1 - np.abs(np.arange(size) + 0.5 - centres[:, None]) / reach, 0, None)
    return weights / weights.sum(1, keepdims=True)


def by_numpy(part, weights):
    across = np.einsum("ij,yjc->yic", weights(part.shape[1], SIZE), part.astype(np.float64)).round()
    return np.einsum("ij,jxc->ixc", weights(part.shape[0], SIZE), across).round()


def pillows(pixels, x, y, width, height):
    answer = by_numpy(pixels[y:y + height, x:x + width], triangle)
    if Image is None:
        return answer
    pillow = np.asarray(Image.fromarray(pixels).crop((x, y, x + width, y + height)).resize((SIZE, SIZE), Image.Resampling.BILINEAR))
    worst = np.abs(pillow - answer).max()
    if worst > 1:
        sys.exit(f"crops.py: NumPy's part {x},{y} {width}x{height} is {worst} levels off Pillow's")
    return pillow


def main():
    pixels = picture()
    lines = [[WIDTH, HEIGHT], pixels, [SIZE, len(PARTS)]]
    for x, y, width, height in PARTS:
        lines += [[x, y, width, height], pillows(pixels, x, y, width, height), by_numpy(pixels[y:y + height, x:x + width], linear)]
    with open(sys.argv[1], "w", encoding="ascii") as file:
        for line in lines:
            file.write(" ".join(str(int(value)) for value in np.asarray(line).reshape(-1)) + "\n")


main()
