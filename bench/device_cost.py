#!/usr/bin/env python3
"""Cost of frames on the device, by the estimate of Intel's compiler: the model alone, with each kind of frame in npucore's form, and in
that of OpenVINO's PrePostProcessor, through the same compiler.

Prints a JSON line for each platform and frame. With --table LINES.jsonl it prints the lines of a run as a table instead. Needs
NPUCORE_COMPILER_LIBRARY (scripts/setup-compiler.sh) and OpenVINO's Python.
"""
import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

PLATFORMS = ["3720", "4000", "5010"]
FRAMES = ["NV12:1920x1080", "NV12:1280x720", "NV12:640x640", "I420:1920x1080", "RGB:1920x1080", "RGB:640x640", "BGRx:1920x1080"]
# PrePostProcessor has no step from grey to colour, and does not know the others.
ONLY_OURS = ["GRAY8", "P010_10LE", "YUY2"]
FRAMES_OF_THESE = ["GRAY8:1920x1080", "P010_10LE:1920x1080", "YUY2:1280x720"]
# Sections of a blob that hold tasks, by engine; the 3720's names, then those of later platforms.
TASKS = {"dma": r"\.text\.dmaTasks|task\.dma", "dpu": r"\.text\.DPU|task\.dpu", "shave": r"\.text\.ActKernelInvo|task\.shave\.invocation"}


def sections(elf):
    """[(name, bytes)] of a 64-bit ELF."""
    offset, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + i * size) for i in range(count)]
    text = headers[names][4]
    return [(elf[text + h[0]:elf.index(b"\0", text + h[0])].decode(), h[5]) for h in headers]


def task_bytes(blob):
    found = sections(blob.read_bytes())
    return {engine: sum(size for name, size in found if re.match(pattern, name)) for engine, pattern in TASKS.items()}


def cost(program, name, model, platform, folder, *options):
    """One compilation: a side of a case."""
    blob = folder / "out.blob"
    command = [program, model, "-o", blob, "--raw", "--target", platform, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"name": name, "refused": (done.stderr or done.stdout).strip()}
    latency = re.search(r"latency +([\d.]+) us at [\d.]+ MHz[^\n]*?(?:, without (.*))?$", done.stdout, re.MULTILINE)
    seconds = re.search(r"time +([\d.]+) (s|ms)", done.stdout)
    return {"name": name, "median": float(latency[1]), "left_out": latency[2].split(", ") if latency[2] else [],
            "task_bytes": task_bytes(blob), "blob_bytes": blob.stat().st_size,
            "compile_s": float(seconds[1]) / (1 if seconds[2] == "s" else 1000)}


def with_pre_post_processor(model, frame, out):
    """A model with OpenVINO's own pre-processing of the same frames; it converts NV12 and I420 by BT.601 only."""
    import openvino
    from openvino.preprocess import ColorFormat, PrePostProcessor, ResizeAlgorithm
    kind, size = frame.split(":")
    width, height = map(int, size.split("x"))
    colours = {"NV12": (ColorFormat.NV12_TWO_PLANES, ["y", "uv"]), "I420": (ColorFormat.I420_THREE_PLANES, ["y", "u", "v"]),
               "RGB": (ColorFormat.RGB, []), "BGRx": (ColorFormat.BGRX, [])}
    steps = PrePostProcessor(openvino.Core().read_model(model))
    picture = steps.input()
    tensor = picture.tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC"))
    tensor.set_spatial_static_shape(height, width)
    tensor.set_color_format(*colours[kind])
    preprocess = picture.preprocess()
    if kind != "RGB":
        preprocess.convert_color(ColorFormat.RGB)
    preprocess.convert_element_type(openvino.Type.f32).resize(ResizeAlgorithm.RESIZE_LINEAR)
    preprocess.scale(255.0)
    picture.model().set_layout(openvino.Layout("NCHW"))
    openvino.save_model(steps.build(), out, compress_to_fp16=False)


def run(options):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for platform in options.platform:
            alone = cost(options.npu_compile, "model alone", options.model, platform, folder)
            for frame in options.frame:
                for resize in ("stretch", "letterbox"):
                    ours = cost(options.npu_compile, "npucore", options.model, platform, folder, "--frame", frame, "--resize", resize,
                                "--scale", "255", "--matrix", "bt601")
                    case = {"case": f"device_cost {platform} {frame} {resize}", "unit": "us", "sides": [alone, ours]}
                    if resize == "stretch" and frame.split(":")[0] not in ONLY_OURS:
                        peer = folder / "peer.xml"
                        with_pre_post_processor(options.model, frame, peer)
                        case["sides"].append(cost(options.npu_compile, "OpenVINO PrePostProcessor", peer, platform, folder))
                    print(json.dumps(case), flush=True)


def cell(side, alone):
    if "refused" in side:
        return "refused"
    kinds = sorted(set(side["left_out"]) - set(alone["left_out"]))
    more = " + " + ", ".join(kinds) if kinds else ""
    return f"{side['median']:.0f} ({side['median'] / alone['median'] - 1:+.1%}){more}"


def table(lines):
    """One row: | frame | a pair of columns for each platform |"""
    rows, platforms = {}, []
    for line in lines:
        _, platform, frame, resize = json.loads(line)["case"].split()
        sides = json.loads(line)["sides"]
        platforms += [] if platform in platforms else [platform]
        rows.setdefault((frame, resize), {})[platform] = [cell(side, sides[0]) for side in sides[1:]]
    print("| frame |" + "".join(f" {p}: npucore | PrePostProcessor |" for p in platforms))
    print("|---|" + "---|---|" * len(platforms))
    for (frame, resize), cells in rows.items():
        columns = [(cells.get(p, []) + ["", ""])[:2] for p in platforms]
        print(f"| {frame.replace(':', ' ')} {resize} |" + "".join(f" {ours} | {theirs} |" for ours, theirs in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("npu_compile", nargs="?", type=pathlib.Path, help="the program, build/tools/npu_compile/npu-compile")
    parser.add_argument("model", nargs="?", type=pathlib.Path, help="IR with one picture as input")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="default: all")
    parser.add_argument("--frame", action="append", help="FORMAT:WIDTHxHEIGHT; default: a list")
    parser.add_argument("--table", type=argparse.FileType(), metavar="LINES.jsonl", help="print a run's lines as a table")
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    if not options.model:
        parser.error("npu_compile and model are needed")
    options.platform = options.platform or PLATFORMS
    options.frame = options.frame or FRAMES + FRAMES_OF_THESE
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
