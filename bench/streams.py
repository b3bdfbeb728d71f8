#!/usr/bin/env python3
"""Measures npu-stream with many streams on a software NPU that only waits: one JSON line.

usage: streams.py BUILD [--streams 100] [--seconds 20] [--delay-us 300]    BUILD: a finished build folder
Each stream plays the demo clip at 15 frames a second, over and over. CPU is of one processor; memory is the process's resident set.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--delay-us", type=int, default=300)
    return parser.parse_args()


def make_clip(path):
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={TREE}/models/shapes/shapes.mp4", "!", "decodebin", "!", "videorate", "!",
                    "video/x-raw,framerate=15/1", "!", "jpegenc", "!", "matroskamux", "!", "filesink", f"location={path}"], check=True)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def line_counts(folder, streams):
    return [(folder / f"s{i}.jsonl").read_bytes().count(b'"model":"') if (folder / f"s{i}.jsonl").exists() else 0 for i in range(streams)]


def compilations(trace):
    calls = [json.loads(line) for line in trace.read_text().splitlines() if '"pfnCreate' in line]
    return sum(call.get("input") in ("classic", "weightless") for call in calls)


def measure(options, folder):
    make_clip(folder / "clip.mkv")
    streams = "".join(f"- {{id: s{i}, source: {{file: clip.mkv, loop: true}}}}\n" for i in range(options.streams))
    (folder / "cameras.yaml").write_text(
        "server: {enabled: false}\n"
        f"models: {{shapes: {{model: {TREE}/models/shapes/shapes.xml, device: software}}}}\n"
        'defaults: {model: shapes, publish: "{id}.jsonl"}\n'
        f"streams:\n{streams}")
    environment = os.environ | {"GST_PLUGIN_PATH": os.environ.get("GST_PLUGIN_PATH", str(options.build / "gst" / "plugin")),
                                "SOFTNPU_EXEC": f"delay:{options.delay_us}", "SOFTNPU_TRACE": str(folder / "trace")}
    began = time.monotonic()
    with open(folder / "errors", "w") as errors:
        process = subprocess.Popen([options.build / "stream" / "npu-stream", "cameras.yaml"], cwd=folder, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=errors)
    try:
        while min(line_counts(folder, options.streams)) == 0 and time.monotonic() - began < 120:
            time.sleep(0.1)
        start_up = time.monotonic() - began
        time.sleep(3)
        before, cpu, at = line_counts(folder, options.streams), cpu_seconds(process.pid), time.monotonic()
        time.sleep(options.seconds)
        after, cpu, seconds = line_counts(folder, options.streams), cpu_seconds(process.pid) - cpu, time.monotonic() - at
        memory = resident_mb(process.pid)
        process.terminate()
        stopping = time.monotonic()
        process.wait(30)
        stop = time.monotonic() - stopping
    finally:
        process.kill()
        process.wait()
    rates = [(b - a) / seconds for a, b in zip(before, after)]
    return {"bench": "streams", "streams": options.streams, "delay_us": options.delay_us, "seconds": round(seconds, 1),
            "start_up_s": round(start_up, 2), "stop_s": round(stop, 2), "compilations": compilations(folder / "trace"),
            "cpu_percent_per_stream": round(100 * cpu / seconds / options.streams, 2), "memory_mb": round(memory),
            "memory_mb_per_stream": round(memory / options.streams, 2), "inferred_fps": round(sum(rates), 1),
            "fps_least": round(min(rates), 2), "fps_most": round(max(rates), 2), "errors": (folder / "errors").read_text().count("\n")}


def main():
    options = arguments()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(options, Path(folder))))


if __name__ == "__main__":
    main()
