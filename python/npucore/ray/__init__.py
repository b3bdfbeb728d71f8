"""Recorded video to detections in Parquet, on a Ray cluster: one actor for each NPU.

    python -m npucore.ray s3://archive/2026-11 s3://answers/2026-11 --model model.xml
    npucore.ray.run(["recordings"], "answers", "model.xml")

Videos are split at key frames. Each part becomes one file, OUT/VIDEO/part-00000.parquet, with one row a frame. A part whose file is there is
done: the same command goes on where the last one ended, however that ended. The files do not depend on the number of workers.
"""
import collections
import functools
import json

import npucore

try:
    import fsspec
    import ray
    from . import _video, _worker
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"npucore.ray needs the package {error.name}: pip install 'npucore[ray]'", name=error.name) from None

MOST_TRIES = 3  # of a part whose worker dies or fails
WAIT_SECONDS = 30  # until a run without a worker says so

Summary = collections.namedtuple("Summary", "parts done_before missing_frames failed")
Summary.__doc__ = "parts: of all videos; done_before: by earlier runs; missing_frames: not decodable; failed: {what: why}"


def run(inputs, output, model, *, device="auto", workers=None, part_seconds=60, confidence=None, iou=None, tell=print):
    """Infers every frame of the inputs once and returns a Summary.

    inputs: files, folders and patterns, and output: a folder, as fsspec names them; every node must reach them. model: an .xml.
    device: "npu", "software", or "auto": NPUs if the cluster has the resource NPU, else the software NPU.
    workers: None for one a NPU, or one a CPU. tell(text): told of workers, progress and failures.
    """
    if part_seconds <= 0:
        raise npucore.InvalidArgumentError(f"a part is longer than 0 s, not {part_seconds} s")
    contents = _worker.read_model(model)
    thresholds = {name: value for name, value in (("confidence", confidence), ("iou", iou)) if value is not None}
    _check_settings(output, {"model": _worker.digest(contents), "part_seconds": part_seconds, **thresholds})
    videos = _video.find_videos(inputs)
    if not ray.is_initialized():
        ray.init()
    kind, resources, most = _resources(device)
    actor = ray.remote(_worker.Worker).options(**resources)
    make_worker = functools.partial(actor.remote, ray.put(contents), output, kind, part_seconds, thresholds)
    return _Run(videos, make_worker, workers or most, tell).finish()


def _check_settings(output, settings):
    """One folder holds the answers of one model with one set of options."""
    files, path = fsspec.core.url_to_fs(f"{output}/job.json")
    if not files.exists(path):
        _worker.write_whole(output, "job.json", json.dumps(settings).encode())
        return
    earlier = json.loads(files.cat_file(path))
    other = [name for name in {*earlier, *settings} if earlier.get(name) != settings.get(name)]
    if other:
        raise npucore.InvalidArgumentError(
            f"{output} has answers with another {' and '.join(sorted(other))}: name another folder, or the same options as before")


def _resources(device):
    """(device of each worker, what it asks Ray for, how many the cluster can have)"""
    offered = ray.cluster_resources()
    npus = int(offered.get("NPU", 0))
    if device == "npu" and not npus:
        raise npucore.NotFoundError("no node of the cluster offers an NPU: ray start --resources='{\"NPU\": 1}'")
    if device != "software" and npus:
        return device, {"num_cpus": 1, "resources": {"NPU": 1}}, npus
    return "software", {"num_cpus": 1}, max(int(offered.get("CPU", 0)), 1)


class _Run:
    """Gives each worker one task at a time: a video to plan, or a part to infer. A dead worker's task goes to another one."""

    def __init__(self, videos, make_worker, workers, tell):
        self._make_worker, self._wanted, self._tell = make_worker, workers, tell
        self._videos, self._parts = collections.deque(videos), collections.deque()
        self._running = {}  # reference -> (worker, task); task None: it starts
        self._idle = []
        self._tries = collections.Counter()
        self._starts_failed = 0
        self._devices = set()
        self._all = self._done_before = self._done = self._missing = 0
        self._failed = {}

    def finish(self):
        while self._work_left():
            self._start_workers()
            ready, _ = ray.wait(list(self._running), num_returns=1, timeout=WAIT_SECONDS)
            for reference in ready:
                self._take(reference)
            self._hand_out()
            if not ready and all(task is None for _, task in self._running.values()):
                self._tell(f"{self._work_left()} tasks wait for a worker: no node has a free NPU or CPU yet")
        for worker in [*self._idle, *(worker for worker, _ in self._running.values())]:
            ray.kill(worker)
        return Summary(self._all, self._done_before, self._missing, self._failed)

    def _work_left(self):
        return len(self._parts) + len(self._videos) + sum(task is not None for _, task in self._running.values())

    def _start_workers(self):
        while len(self._running) + len(self._idle) < min(self._wanted, self._work_left()):
            worker = self._make_worker()
            self._running[worker.start.remote()] = worker, None

    def _take(self, reference):
        worker, task = self._running.pop(reference)
        try:
            result = ray.get(reference)
        except ray.exceptions.RayError as error:
            failed = isinstance(error, ray.exceptions.RayTaskError)
            self._again(task, str(error.cause) if failed else f"the worker died: {_last_line(error)}")
            if task is None or not failed:
                ray.kill(worker)
                return
        else:
            self._note(task, result)
        self._idle.append(worker)

    def _hand_out(self):
        while self._idle and (self._parts or self._videos):
            worker = self._idle.pop()
            if self._videos and len(self._parts) < self._wanted:  # so that parts lie ready for all
                task = self._videos.popleft()
                self._running[worker.plan.remote(task)] = worker, task
            else:
                task = self._parts.popleft()
                self._running[worker.infer.remote(task)] = worker, task

    def _note(self, task, result):
        if task is None:
            self._tell("worker {pid} on {host}: {device}".format(**result))
            self._devices.add(result["device"])
            if len(self._devices) == 2:
                self._tell("the workers' devices differ, and so may the last digits of their answers")
        elif isinstance(task, _video.Part):
            self._done += 1
            self._missing += result
            lost = f", {result} frames could not be decoded" if result else ""
            self._tell(f"{task.video.name} {task.name}: {len(task.times)} frames{lost} ({self._done_before + self._done} of {self._all} parts)")
        else:
            parts, left = result
            self._all += parts
            self._done_before += parts - len(left)
            self._parts += left
            self._tell(f"{task.name}: {parts} parts, {parts - len(left)} of them done before")

    def _again(self, task, why):
        if task is None:
            self._start_failed(why)
            return
        name = f"{task.video.name} {task.name}" if isinstance(task, _video.Part) else task.name
        self._tries[name] += 1
        self._tell(f"{name}, try {self._tries[name]} of {MOST_TRIES}: {why}")
        if self._tries[name] == MOST_TRIES:
            self._failed[name] = why
        else:
            (self._parts if isinstance(task, _video.Part) else self._videos).append(task)

    def _start_failed(self, why):
        """Goes on with one worker less after some tries."""
        self._starts_failed += 1
        self._tell(f"a worker does not start: {why}")
        if self._starts_failed % MOST_TRIES == 0:
            self._wanted -= 1
        if self._wanted == 0:
            raise npucore.Error(f"no worker can start: {why}")


def _last_line(error):
    return str(error).strip().splitlines()[-1].split(" Some common causes")[0].strip()
