"""The actor: it has one NPU, and turns parts of videos into files of detections."""
import collections
import hashlib
import io
import json
import os
import socket
import tempfile
import uuid
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

import npucore

from . import _video

CLASS = [("label", pa.string()), ("label_id", pa.int32()), ("confidence", pa.float32())]
BOX = [(edge, pa.float32()) for edge in "xywh"]
# One row a frame, with the names of npupublish's JSON.
SCHEMA = pa.schema([
    ("video", pa.string()), ("frame", pa.int64()), ("pts", pa.int64()), ("width", pa.int32()), ("height", pa.int32()),
    ("detections", pa.list_(pa.struct(CLASS + BOX))), ("classifications", pa.list_(pa.struct(CLASS)))])
CARD_FILES = ("metadata.yaml", "config.json", "labels.txt")


def read_model(path):
    """The files of a model, {name: bytes}: .xml, .bin, and what is beside them for its card."""
    files, path = fsspec.core.url_to_fs(str(path))
    if files.isdir(path):
        found = sorted(name for name in files.ls(path, detail=False) if name.endswith(".xml"))
        if len(found) != 1:
            raise npucore.NotFoundError(f"{path} has {len(found)} .xml files: name the model itself")
        path = found[0]
    if not path.endswith(".xml"):
        raise npucore.UnsupportedError(f"{path}: an .xml, an OpenVINO IR, is needed, because frames of any size are built into it")
    stem = path.removesuffix(".xml")
    beside = {path, stem + ".bin", stem + ".modelinfo"} | {f"{os.path.dirname(path)}/{name}" for name in CARD_FILES}
    return {os.path.basename(name): files.cat_file(name) for name in sorted(beside) if name == path or files.exists(name)}


def digest(contents):
    total = hashlib.sha256()
    for name, content in sorted(contents.items()):
        total.update(f"{name} {len(content)} ".encode() + content)
    return total.hexdigest()


def write_whole(folder, name, content):
    """A file is there whole or not at all. Object stores do so by themselves."""
    files, path = fsspec.core.url_to_fs(f"{folder}/{name}")
    if "file" not in (files.protocol if isinstance(files.protocol, tuple) else (files.protocol,)):
        files.pipe_file(path, content)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unfinished = f"{path}.{uuid.uuid4().hex}"
    Path(unfinished).write_bytes(content)
    os.replace(unfinished, path)


class Worker:
    def __init__(self, model, output, device, part_seconds, thresholds):
        """model: of read_model(); thresholds: of Decoder. start() does what may fail."""
        self._files, self._output, self._kind, self._part_seconds, self._thresholds = model, output, device, part_seconds, thresholds
        self._compiled = {}

    def start(self):
        """Opens the device and reads the model; returns what to tell of this worker."""
        self._device = npucore.Device(self._kind)
        with tempfile.TemporaryDirectory(prefix="npucore-ray-") as folder:  # Ray ends an actor without a word: it must leave nothing
            for name, content in self._files.items():
                Path(folder, name).write_bytes(content)
            path = next(Path(folder, name) for name in self._files if name.endswith(".xml"))
            self._model, self._card = npucore.Model.read(path), npucore.vision.ModelCard.read(path)
        del self._files
        info = self._device.info
        return {"host": socket.gethostname(), "pid": os.getpid(), "device": f"{info.name}, driver {info.driver_version}"}

    def plan(self, video):
        """(how many parts a video has, those whose file is not there). The plan is kept, so that every run cuts at the same places."""
        files, folder = fsspec.core.url_to_fs(f"{self._output}/{video.name}")
        there = set()
        if files.exists(f"{folder}/plan.json"):
            parts = _planned(video, json.loads(files.cat_file(f"{folder}/plan.json")), folder)
            there = {name.rsplit("/", 1)[-1] for name in files.ls(folder, detail=False)}
        else:
            parts = _video.split(video, self._part_seconds)
            plan = {"size": video.size, "origin": parts[0].origin, "parts": [[part.first_frame, part.times] for part in parts]}
            write_whole(self._output, f"{video.name}/plan.json", json.dumps(plan).encode())
        return len(parts), [part for part in parts if f"{part.name}.parquet" not in there]

    def infer(self, part):
        """Writes the part's file; returns how many frames could not be decoded."""
        rows, missing = [], set(range(len(part.times)))
        frames = _video.frames(part)
        head = next(frames, None)
        # One pool serves frames of one layout; a stream that changes its size goes on with the next.
        while head is not None:
            head = self._infer_run(part, _video.layout(head[2]), head, frames, rows, missing)
        table = pa.Table.from_pylist(rows, SCHEMA.with_metadata({"npucore.missing_frames": str(len(missing))}))
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="zstd")
        write_whole(self._output, f"{part.video.name}/{part.name}.parquet", sink.getvalue())
        return len(missing)

    def _infer_run(self, part, layout, head, frames, rows, missing):
        """Infers frames from `head` on while they have this layout; returns the first that has not."""
        compiled, decoder = self._for(layout)
        waiting, left = collections.deque(), []

        def inputs():
            current = head
            while current is not None:
                index, nanoseconds, frame = current
                if _video.layout(frame) != layout:
                    left.append(current)
                    return
                waiting.append((index, nanoseconds))
                yield _video.pixels(frame, layout[0])
                current = next(frames, None)

        with npucore.AsyncPool(compiled) as pool:
            for outputs in pool.map(inputs()):
                index, nanoseconds = waiting.popleft()
                missing.discard(index)
                rows.append(_row(part, index, nanoseconds, decoder(outputs)))
        return left[0] if left else None

    def _for(self, layout):
        """The model compiled for frames like these, and its decoder."""
        if layout not in self._compiled:
            model = self._model.copy()
            format, width, height, matrix, value_range = layout
            model.preprocess(npucore.Frame(format, width, height, matrix=matrix, range=value_range), self._card)
            compiled = npucore.compile(model, self._device, properties={"PERFORMANCE_HINT": "THROUGHPUT"})
            self._compiled[layout] = compiled, npucore.vision.Decoder(self._card, compiled, **self._thresholds)
        return self._compiled[layout]


def _planned(video, plan, folder):
    if plan["size"] != video.size:
        raise npucore.InvalidArgumentError(f"{video.url} has {video.size} bytes; when {folder} was begun, it had {plan['size']}: "
                                           "remove that folder to infer it anew")
    return [_video.Part(video, number, first, times, plan["origin"]) for number, (first, times) in enumerate(plan["parts"])]


def _row(part, index, nanoseconds, answer):
    width, height = answer.frame_size
    names, ids, scores = answer.class_name.tolist(), answer.class_id.tolist(), answer.confidence.tolist()
    detections = [{"label": name, "label_id": number, "confidence": score, "x": left, "y": top, "w": right - left, "h": bottom - top}
                  for name, number, score, (left, top, right, bottom) in zip(names, ids, scores, answer.xyxy.tolist())]
    classes = [{"label": name, "label_id": number, "confidence": score} for name, number, score in answer.classes]
    return {"video": part.video.name, "frame": part.first_frame + index, "pts": nanoseconds, "width": width, "height": height,
            "detections": detections, "classifications": classes}
