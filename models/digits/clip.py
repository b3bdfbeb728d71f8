"""Writes the clip of a meter that counts (H.264 in MP4) and the numbers it shows, one JSON line a frame.

    clip.py <folder>        writes meter.mp4, meter.truth.jsonl
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shapes"))

from digits import glyph  # noqa: E402
from pixels import to_i420  # noqa: E402
from scenes import noise_texture  # noqa: E402

WIDTH, HEIGHT, FRAMES_PER_SECOND, FRAMES = 320, 180, 10, 60
PANEL = (72, 72, 176, 36)  # left, top, width, height
STEP = 10457  # the meter's step from frame to frame: it changes every digit
TEXT, FACE = (240, 225, 150), (25, 30, 35)
SEED = 7

ENCODER = (
    "fdsrc fd=0 ! rawvideoparse format=i420 width={width} height={height} framerate={rate}/1 "
    "colorimetry=bt709 ! video/x-raw,colorimetry=bt709,chroma-site=jpeg "
    "! x264enc pass=quant quantizer=30 speed-preset=slow bframes=0 key-int-max=30 threads=1 "
    "! video/x-h264,profile=main ! h264parse ! mp4mux ! filesink location={path}"
)


def text_of(index):
    return f"{index * STEP % 1_000_000:06d}"


def line(text):
    return np.hstack([glyph(digit) for digit in text])


def frame(texture, rng, index):
    """[HEIGHT, WIDTH, 3] u8."""
    picture = texture.copy()
    left, top, width, height = PANEL
    face = np.zeros((height, width), np.float32)
    digits = line(text_of(index))
    # The picture trembles like a hand-held camera's.
    y = (height - digits.shape[0]) // 2 + int(rng.integers(-2, 3))
    x = (width - digits.shape[1]) // 2 + int(rng.integers(-4, 5))
    face[y : y + digits.shape[0], x : x + digits.shape[1]] = digits
    colors = np.array(FACE, np.float32) + face[..., None] * (np.array(TEXT, np.float32) - np.array(FACE, np.float32))
    picture[top : top + height, left : left + width] = colors
    picture += rng.normal(0, 3, picture.shape[:2])[..., None]
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    rng = np.random.default_rng(SEED)
    texture = noise_texture(rng, WIDTH, HEIGHT)
    line_of_gst = ENCODER.format(width=WIDTH, height=HEIGHT, rate=FRAMES_PER_SECOND, path=folder / "meter.mp4")
    encoder = subprocess.Popen(["gst-launch-1.0", "-q", *line_of_gst.split()], stdin=subprocess.PIPE)
    with open(folder / "meter.truth.jsonl", "w", encoding="utf-8") as truth:
        for index in range(FRAMES):
            encoder.stdin.write(b"".join(plane.tobytes() for plane in to_i420(frame(texture, rng, index))))
            truth.write(json.dumps({"frame": index, "text": text_of(index)}) + "\n")
    encoder.stdin.close()
    if encoder.wait() != 0:
        raise SystemExit(f"the encoder ended with {encoder.returncode}")


if __name__ == "__main__":
    main()
