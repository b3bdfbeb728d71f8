#!/usr/bin/env python3
"""Measures npu-stream with many streams on a software NPU that only waits: one JSON line.

usage: streams.py BUILD [--streams 100] [--seconds 20] [--delay-us 300] [--edits 200]    BUILD: a finished build folder
Each stream plays the demo clip at 15 frames a second, over and over. CPU is of one processor; memory is the process's resident set.
With --edits the last ten streams are then changed, paused, removed and added so often at random, and `edits` says what that did to the others.
"""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--delay-us", type=int, default=300)
    parser.add_argument("--edits", type=int, default=0)
    return parser.parse_args()


def make_clip(path, *elements):
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={TREE}/models/shapes/shapes.mp4", "!", "decodebin", "!", "videorate", "!",
                    "video/x-raw,framerate=15/1", "!", *elements, "jpegenc", "!", "matroskamux", "!", "filesink", f"location={path}"], check=True)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def line_counts(folder, streams):
    return [(folder / f"s{i}.jsonl").read_bytes().count(b'"model":"') if (folder / f"s{i}.jsonl").exists() else 0 for i in range(streams)]


def holds(pid):
    return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": len(os.listdir(f"/proc/{pid}/task")), "memory_mb": round(resident_mb(pid))}


def ask(address, method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    urllib.request.urlopen(urllib.request.Request(address + path, data, {"Content-Type": "application/json"}, method=method), timeout=60).close()


def edit(address, count, ids):
    """Changes, pauses, removes and adds these streams; in the end all are there, and play."""
    pick, there, source = random.Random(37), set(ids), {"file": "clip.mkv", "loop": True}
    for _ in range(count):
        name = pick.choice(ids)
        if name not in there:
            ask(address, "POST", "/api/streams", {"id": name, "source": source})
            there.add(name)
        elif pick.random() < 0.3:
            ask(address, "DELETE", f"/api/streams/{name}")
            there.remove(name)
        else:
            change = pick.choice(({"interval": pick.randrange(1, 4)}, {"paused": pick.random() < 0.5}, {"priority": pick.randrange(3)}))
            ask(address, "PATCH", f"/api/streams/{name}", change)
        time.sleep(pick.choice((0, 0.05, 0.2)))
    for name in ids:
        if name in there:
            ask(address, "DELETE", f"/api/streams/{name}")
        ask(address, "POST", "/api/streams", {"id": name, "source": source})


def losses(path, first):
    """Of the lines from `first` on: frames that are missing between two, and frames that were not inferred."""
    lines = [json.loads(line) for line in path.read_text().splitlines(keepends=True)[first:] if line.endswith("\n")]
    steps = [round((b["pts"] - a["pts"]) * 15 / 1e9) for a, b in zip(lines, lines[1:])]
    return sum(step - 1 for step in steps if step > 1) + sum(line["model"] is None for line in lines), len(lines)


def measure_edits(options, folder, pid):
    address = re.search(r"page: (http://\S+)/\n", (folder / "out").read_text())[1]
    others = [folder / f"s{i}.jsonl" for i in range(options.streams - 10)]
    before, firsts = holds(pid), [path.read_bytes().count(b"\n") for path in others]
    began = time.monotonic()
    edit(address, options.edits, [f"s{i}" for i in range(options.streams - 10, options.streams)])
    seconds = time.monotonic() - began
    time.sleep(20)  # until idle threads have ended
    lost = [losses(path, first) for path, first in zip(others, firsts)]
    return {"edits": options.edits, "seconds": round(seconds, 1), "before": before, "after": holds(pid),
            "frames_of_others": sum(frames for _, frames in lost), "lost_by_others": sum(missing for missing, _ in lost)}


def compilations(trace):
    calls = [json.loads(line) for line in trace.read_text().splitlines() if '"pfnCreate' in line]
    return sum(call.get("input") in ("classic", "weightless") for call in calls)


def measure(options, folder):
    make_clip(folder / "clip.mkv")
    streams = "".join(f"- {{id: s{i}, source: {{file: clip.mkv, loop: true}}}}\n" for i in range(options.streams))
    (folder / "cameras.yaml").write_text(
        "server: {port: 0}\n"
        f"models: {{shapes: {{model: {TREE}/models/shapes/shapes.xml, device: software}}}}\n"
        'defaults: {model: shapes, publish: "{id}.jsonl"}\n'
        f"streams:\n{streams}")
    environment = os.environ | {"GST_PLUGIN_PATH": os.environ.get("GST_PLUGIN_PATH", str(options.build / "gst" / "plugin")),
                                "SOFTNPU_EXEC": f"delay:{options.delay_us}", "SOFTNPU_TRACE": str(folder / "trace")}
    began = time.monotonic()
    with open(folder / "out", "w") as out, open(folder / "errors", "w") as errors:
        process = subprocess.Popen([options.build / "stream" / "npu-stream", "cameras.yaml"], cwd=folder, env=environment,
                                   stdout=out, stderr=errors)
    try:
        while min(line_counts(folder, options.streams)) == 0 and time.monotonic() - began < 120:
            time.sleep(0.1)
        start_up = time.monotonic() - began
        time.sleep(3)
        before, cpu, at = line_counts(folder, options.streams), cpu_seconds(process.pid), time.monotonic()
        time.sleep(options.seconds)
        after, cpu, seconds = line_counts(folder, options.streams), cpu_seconds(process.pid) - cpu, time.monotonic() - at
        memory = resident_mb(process.pid)
        edits = measure_edits(options, folder, process.pid) if options.edits else None
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
            "fps_least": round(min(rates), 2), "fps_most": round(max(rates), 2), "errors": (folder / "errors").read_text().count("\n"),
            "edits": edits}


def main():
    options = arguments()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(options, Path(folder))))


if __name__ == "__main__":
    main()
