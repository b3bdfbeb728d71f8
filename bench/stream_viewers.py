#!/usr/bin/env python3
"""Measures what viewers of npu-stream's page cost: one JSON line.

usage: stream_viewers.py BUILD [--streams 4] [--viewers 0 1 20] [--seconds 15]    BUILD: a finished build folder
Each stream plays the demo clip at 1280x720 and 15 frames a second, over and over, on a software NPU that only waits. A viewer reads
the large picture's stream over loopback as fast as it comes; all look at one stream, then they spread over all. CPU is of one processor.
"""
import argparse
import json
import os
import re
import selectors
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from streams import TREE, cpu_seconds, make_clip, resident_mb

PART = b"Content-Type: image/jpeg"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--viewers", type=int, nargs="+", default=[0, 1, 20])
    parser.add_argument("--seconds", type=float, default=15)
    return parser.parse_args()


class Viewers:
    def __init__(self, address, ids):
        self.selector = selectors.DefaultSelector()
        self.pictures, self.bytes, self.tails = [0] * len(ids), 0, [b""] * len(ids)
        host, port = address
        for number, stream in enumerate(ids):
            connection = socket.create_connection((host, port))
            connection.sendall(f"GET /api/streams/{stream}/video.mjpeg?width=1280 HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            self.selector.register(connection, selectors.EVENT_READ, number)

    def read_until(self, end):
        while (left := end - time.monotonic()) > 0:
            if not self.pictures:
                time.sleep(left)
            for key, _ in self.selector.select(left):
                data = key.fileobj.recv(1 << 20)
                self.bytes += len(data)
                whole = self.tails[key.data] + data
                self.pictures[key.data] += whole.count(PART)
                self.tails[key.data] = whole[-len(PART) + 1:]

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


def frames_of(folder, streams):
    texts = [(folder / f"s{i}.jsonl").read_text() for i in range(streams)]
    lines = [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return len(lines), sum(line["model"] is None for line in lines)


def watch(options, folder, pid, address, ids):
    viewers = Viewers(address, ids)
    viewers.read_until(time.monotonic() + 3)
    frames, missed = frames_of(folder, options.streams)
    pictures, sent, cpu, at = sum(viewers.pictures), viewers.bytes, cpu_seconds(pid), time.monotonic()
    viewers.read_until(at + options.seconds)
    cpu, seconds = cpu_seconds(pid) - cpu, time.monotonic() - at
    now, missed_now = frames_of(folder, options.streams)
    result = {"viewers": len(ids), "streams_seen": len(set(ids)), "cpu_percent": round(100 * cpu / seconds, 1),
              "pictures_per_viewer_s": round((sum(viewers.pictures) - pictures) / max(1, len(ids)) / seconds, 2),
              "mb_s": round((viewers.bytes - sent) / seconds / 1e6, 2), "frames_s": round((now - frames) / seconds, 1),
              "frames_not_inferred": missed_now - missed, "memory_mb": round(resident_mb(pid))}
    viewers.close()
    return result


def measure(options, folder):
    make_clip(folder / "clip.mkv", "videoscale", "!", "video/x-raw,width=1280,height=720", "!")
    streams = "".join(f"- {{id: s{i}, source: {{file: clip.mkv, loop: true}}}}\n" for i in range(options.streams))
    (folder / "cameras.yaml").write_text(
        "server: {port: 0}\n"
        f"models: {{shapes: {{model: {TREE}/models/shapes/shapes.xml, device: software}}}}\n"
        'defaults: {model: shapes, publish: "{id}.jsonl"}\n'
        f"streams:\n{streams}")
    environment = os.environ | {"GST_PLUGIN_PATH": os.environ.get("GST_PLUGIN_PATH", str(options.build / "gst" / "plugin")),
                                "SOFTNPU_EXEC": "delay:300"}
    with open(folder / "out", "w") as out, open(folder / "errors", "w") as errors:
        process = subprocess.Popen([options.build / "stream" / "npu-stream", "cameras.yaml"], cwd=folder, env=environment, stdout=out, stderr=errors)
    try:
        while not (found := re.search(r"page: http://(\S+):(\d+)/\n", (folder / "out").read_text())):
            if process.poll() is not None:
                raise SystemExit((folder / "errors").read_text())
            time.sleep(0.1)
        time.sleep(5)
        address = found[1], int(found[2])
        sides = []
        for count in options.viewers:
            sides.append(watch(options, folder, process.pid, address, ["s0"] * count))
            if count > 1:
                sides.append(watch(options, folder, process.pid, address, [f"s{i % options.streams}" for i in range(count)]))
    finally:
        process.terminate()
        process.wait()
    return {"bench": "stream_viewers", "streams": options.streams, "sides": sides}


def main():
    options = arguments()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(options, Path(folder))))


if __name__ == "__main__":
    main()
