#!/usr/bin/env python3
"""Runs a reader of answers, and compares what it prints with what npupublish writes of the same frames, object by object.

usage: answers_test.py MODEL CLIP READER...    READER: the program and what starts it
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NEAR = 0.011  # npupublish rounds to hundredths of a pixel
OBJECT = re.compile(r"(\S+) ([\d.]+) at (\S+),(\S+) ([\d.]+)x([\d.]+)(?: id (\d+))?(?: mask of (\d+)x(\d+) with (\d+) inside)?$")


def published(line):
    """An object of npupublish's as a reader prints it."""
    mask = line.get("mask")
    inside = sum(mask["counts"][1::2]) if mask else None
    return (line["label"], [line["confidence"], *(line[key] for key in "xywh")], line.get("tracking_id"),
            mask and [*reversed(mask["size"]), inside])


def printed(line):
    label, *numbers, identity, columns, rows, inside = OBJECT.match(line).groups()
    return (label, [float(number) for number in numbers], identity and int(identity), columns and [int(columns), int(rows), int(inside)])


def are_equal(left, right):
    return left[0] == right[0] and left[2:] == right[2:] and all(abs(a - b) <= NEAR for a, b in zip(left[1], right[1]))


def check(model, clip, reader, way):
    end = "appsink name=end sync=false" if way == "appsink" else "fakesink name=end"
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "lines.jsonl")
        done = subprocess.run([*reader, way, f"filesrc location=\"{clip}\" ! decodebin ! identity eos-after=13 ! "
                               f"npuinfer device=software model=\"{model}\" ! "
                               f"nputensordec ! nputrack ! npupublish tensors=true location=\"{lines}\" ! {end}"],
                              check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{way}: the reader ended with {done.returncode}")
        frames = [json.loads(line) for line in lines.read_text().splitlines()]
    parts = re.split(r"^frame at (\d+) ns\n", done.stdout, flags=re.M)[1:]
    times, texts = [int(time) for time in parts[::2]], [text.splitlines() for text in parts[1::2]]
    if len(frames) < 10 or times != [frame["pts"] for frame in frames]:
        sys.exit(f"{way}: frames at {times}, published {[frame['pts'] for frame in frames]}")
    objects, tracked = 0, 0
    for frame, text in zip(frames, texts):
        found = [printed(line) for line in text if not line.startswith("tensor ")]
        wanted = [published(one) for one in frame["detections"]]
        if len(found) != len(wanted) or not all(map(are_equal, found, wanted)):
            sys.exit(f"{way}: printed {found}, published {wanted}")
        tensors = [line.split()[1:-3] for line in text if line.startswith("tensor ")]
        if tensors != [[one["name"], one["type"], *map(str, one["shape"])] for one in frame["tensors"]]:
            sys.exit(f"{way}: printed {tensors}, published {frame['tensors']}")
        objects += len(found)
        tracked += sum(one[2] is not None for one in found)
    if objects < 10 or tracked < 10:
        sys.exit(f"{way}: only {objects} objects, {tracked} with an identity")
    print(f"{way}: {objects} objects of {len(frames)} frames")


def main():
    model, clip, *reader = sys.argv[1:]
    for way in ("probe", "appsink"):
        check(model, clip, reader, way)


if __name__ == "__main__":
    main()
