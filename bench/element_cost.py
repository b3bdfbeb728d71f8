#!/usr/bin/env python3
"""CPU cost of npuinfer in a pipeline where the device computes nothing, beside GStreamer's own onnxinference with a network of next to
nothing (it copies three bytes), a bare queue and identity: CPU time of the whole process per frame of 256x256 RGB.

usage: SOFTNPU_EXEC=null GST_PLUGIN_PATH=... ZE_ENABLE_ALT_DRIVERS=... element_cost.py MODEL.xml [--rounds N] >> results.jsonl
"""
import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FEW, MANY = 500, 10500  # frames: the difference of two runs leaves the start out
SOURCE = "videotestsrc num-buffers={} pattern=black ! video/x-raw,format=RGB,width=256,height=256,framerate=30/1"
FLOAT, UINT8, INT64 = 1, 2, 7  # ONNX's element types

MODEL_INFO = """[modelinfo]
version=1.0
group-id=corner-out

[input]
dir=input
type=uint8
dims=1,256,256,3
ranges=0.0,255.0

[output]
dir=output
id=corner-out
type=float32
dims=1,1,1,3
"""


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, *parts):
    data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def port(field, name, kind, dims):
    shape = block(2, *(block(1, number(1, dim)) for dim in dims))
    return block(field, block(1, name), block(2, block(1, number(1, kind), shape)))


def constant(name, values):
    return block(5, number(1, len(values)), number(2, INT64), block(8, name), block(9, *(value.to_bytes(8, "little") for value in values)))


def corner_model():
    """An ONNX model, opset 13, that returns the colours of the upper left pixel."""
    cut = block(1, block(1, "input"), block(1, "starts"), block(1, "ends"), block(2, "pixel"), block(4, "Slice"))
    cast = block(1, block(1, "pixel"), block(2, "output"), block(4, "Cast"), block(5, block(1, "to"), number(3, FLOAT), number(20, 2)))
    graph = [cut, cast, block(2, "corner"), constant("starts", [0, 0, 0, 0]), constant("ends", [1, 1, 1, 3]),
             port(11, "input", UINT8, [1, 256, 256, 3]), port(12, "output", FLOAT, [1, 1, 1, 3])]
    return number(1, 8) + block(7, *graph) + block(8, block(1, ""), number(2, 13))


def cpu_seconds(frames, element, on_one_cpu):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    pinned = ["taskset", "-c", "0"] if on_one_cpu else []
    run = subprocess.run([*pinned, "gst-launch-1.0", "-q", *f"{SOURCE.format(frames)} ! {element} ! fakesink sync=false".split()],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0 or "ERROR" in run.stderr:
        sys.exit(f"{element}: {run.stderr.strip()}")
    return used() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        onnx = Path(folder, "corner.onnx")
        onnx.write_bytes(corner_model())
        Path(folder, "corner.onnx.modelinfo").write_text(MODEL_INFO, encoding="ascii")
        elements = {"identity": "identity", "queue": "queue", "npuinfer": f"npuinfer model={options.model}",
                    "onnxinference": f"onnxinference execution-provider=cpu model-file={onnx}"}
        for on_one_cpu in (True, False):
            found = {name: [] for name in elements}
            for _ in range(options.rounds):
                for name, element in elements.items():
                    cost = cpu_seconds(MANY, element, on_one_cpu) - cpu_seconds(FEW, element, on_one_cpu)
                    found[name].append(cost / (MANY - FEW) * 1e6)
            medians = {name: round(statistics.median(values), 2) for name, values in found.items()}
            print(json.dumps({"case": "element_cost", "one_cpu": on_one_cpu, "cpu_us_per_frame": medians}), flush=True)


if __name__ == "__main__":
    main()
