"""Frames on their way to the model: I420 planes, a codec's losses, letterbox, PNG."""

import struct
import zlib
from functools import lru_cache

import numpy as np

from scenes import linear_weights

MODEL_SIZE = 256  # the model's input is square
PAD_VALUE = 114

KR, KB = 0.2126, 0.0722  # ITU-R BT.709, limited range
KG = 1 - KR - KB
RGB_TO_YUV = np.array([
    [KR, KG, KB],
    [-KR / (2 * (1 - KB)), -KG / (2 * (1 - KB)), 0.5],
    [0.5, -KG / (2 * (1 - KR)), -KB / (2 * (1 - KR))],
]) * np.array([[219 / 255], [224 / 255], [224 / 255]])
YUV_OFFSET = np.array([16, 128, 128])
YUV_TO_RGB = np.linalg.inv(RGB_TO_YUV)

cached_weights = lru_cache(maxsize=None)(linear_weights)


def to_i420(picture):
    """[H, W, 3] u8 R'G'B', both sides even, to three planes of u8; chroma is the mean of 2x2."""
    y, u, v = (picture @ row.astype(np.float32) + np.float32(offset)
               for row, offset in zip(RGB_TO_YUV, YUV_OFFSET))
    quarter = [(c[0::2, 0::2] + c[0::2, 1::2] + c[1::2, 0::2] + c[1::2, 1::2]) / 4 for c in (u, v)]
    return [np.clip(plane + 0.5, 0, 255).astype(np.uint8) for plane in (y, *quarter)]


def split_i420(data, width, height):
    """A frame's bytes as GStreamer lays them out without padding (width a multiple of 8)."""
    planes = np.frombuffer(data, np.uint8)
    luma, chroma = width * height, width * height // 4
    half = (height // 2, width // 2)
    return [planes[:luma].reshape(height, width),
            planes[luma : luma + chroma].reshape(half),
            planes[luma + chroma :].reshape(half)]


def cosine_basis():
    k, n = np.mgrid[0:8, 0:8]
    basis = np.cos((2 * n + 1) * k * np.pi / 16) / 2
    basis[0] /= np.sqrt(2)
    return basis.astype(np.float32)


def quantise(plane, step):
    """A plane after a transform codec: 8x8 cosine coefficients in multiples of a step that
    grows with frequency."""
    height, width = plane.shape
    padded = np.pad(plane, ((0, -height % 8), (0, -width % 8)), mode="edge").astype(np.float32)
    rows, columns = padded.shape
    blocks = padded.reshape(rows // 8, 8, columns // 8, 8).transpose(0, 2, 1, 3)
    basis = cosine_basis()
    steps = step * (1 + np.add.outer(np.arange(8), np.arange(8)) / 4).astype(np.float32)
    kept = np.round((basis @ blocks @ basis.T) / steps) * steps
    blocks = basis.T @ kept @ basis
    return blocks.transpose(0, 2, 1, 3).reshape(rows, columns)[:height, :width]


def letterbox(planes):
    """I420 planes to the model's picture: [S, S, 3] float32 R'G'B' 0..255, computed like the pipeline's
    graph. Returns it with (offset_x, offset_y, scale): model = frame * scale + offset."""
    content, scale = shrink(planes)
    height, width, _ = content.shape
    top, left = (MODEL_SIZE - height) // 2, (MODEL_SIZE - width) // 2
    canvas = np.full((MODEL_SIZE, MODEL_SIZE, 3), PAD_VALUE, np.float32)
    canvas[top : top + height, left : left + width] = content
    return canvas, (left, top, scale)


def shrink(planes):
    """The letterbox's inner part, and the scale."""
    height, width = planes[0].shape
    scale = min(MODEL_SIZE / height, MODEL_SIZE / width)
    out_height, out_width = int(height * scale + 0.5), int(width * scale + 0.5)
    yuv = np.empty((out_height, out_width, 3), np.float32)
    for channel, plane in enumerate(planes):
        tall = cached_weights(plane.shape[0], out_height)
        wide = cached_weights(plane.shape[1], out_width)
        yuv[..., channel] = tall @ plane.astype(np.float32) @ wide.T
    rgb = (yuv - YUV_OFFSET.astype(np.float32)) @ YUV_TO_RGB.T.astype(np.float32)
    return np.clip(rgb, 0, 255), scale


def write_png(path, picture):
    """[H, W, 3] u8 R'G'B'."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = picture.shape
    lines = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                   + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def draw_box(picture, x, y, w, h, color):
    height, width, _ = picture.shape
    x0, x1 = (int(np.clip(v, 0, width - 1)) for v in (x, x + w))
    y0, y1 = (int(np.clip(v, 0, height - 1)) for v in (y, y + h))
    picture[y0 : y1 + 1, (x0, x1)] = color
    picture[(y0, y1), x0 : x1 + 1] = color
