"""Writes the demo clip (H.264 in MP4) and its ground truth, one JSON line a frame."""

import argparse
import json
import subprocess
from pathlib import Path

from pixels import to_i420
from scenes import LABELS, Scene

WIDTH, HEIGHT, FRAMES_PER_SECOND, FRAMES = 640, 360, 30, 300
SEED = 18
# Seven objects: each shape at least twice, in changing colours.
CAST = [*LABELS, *LABELS, "circle"]
RADII = (22, 70)

# One thread and a fixed quality, so that the same encoder writes the same bytes. x264 writes the
# matrix and the range into the stream's VUI from the caps.
ENCODER = (
    "fdsrc fd=0 ! rawvideoparse format=i420 width={width} height={height} framerate={rate}/1 "
    "colorimetry=bt709 ! video/x-raw,colorimetry=bt709,chroma-site=jpeg "
    "! x264enc pass=quant quantizer=30 speed-preset=slow bframes=0 key-int-max=60 threads=1 "
    "! video/x-h264,profile=main ! h264parse ! mp4mux ! filesink location={path}"
)


def encoder(path):
    line = ENCODER.format(width=WIDTH, height=HEIGHT, rate=FRAMES_PER_SECOND, path=path)
    return subprocess.Popen(["gst-launch-1.0", "-q", *line.split()], stdin=subprocess.PIPE)


def clip_scene(seed=SEED):
    return Scene(seed, WIDTH, HEIGHT, len(CAST), CAST, RADII)


def truth_line(scene, index):
    """The picture of a frame, and its line of the ground truth."""
    picture, objects = scene.frame(index / FRAMES_PER_SECOND, index)
    pts_ns = index * 1_000_000_000 // FRAMES_PER_SECOND
    return picture, {"frame": index, "pts_ns": pts_ns, "objects": objects}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("folder", type=Path, help="where shapes.mp4 and shapes.truth.jsonl go")
    options = parser.parse_args()
    scene = clip_scene(options.seed)
    process = encoder(options.folder / "shapes.mp4")
    with open(options.folder / "shapes.truth.jsonl", "w", encoding="utf-8") as truth:
        for index in range(options.frames):
            picture, line = truth_line(scene, index)
            process.stdin.write(b"".join(plane.tobytes() for plane in to_i420(picture)))
            truth.write(json.dumps(line) + "\n")
    process.stdin.close()
    if process.wait() != 0:
        raise SystemExit(f"the encoder ended with {process.returncode}")


if __name__ == "__main__":
    main()
