#!/usr/bin/env python3
"""How many cameras an NPU serves, which frames to drop when it cannot, and what a broker adds: a simulation, not a measurement.

usage: fleet_simulation.py [--seed N] [--seconds S] [--fps F] [--p99 MS]    prints one JSON line a result; the same seed prints the same

Time in seconds. A camera takes a frame each 1/fps from a random phase on. The frame arrives after transport and decoding, later by a random jitter,
and rarely by a stall, behind which the next ones pile up. An NPU does one inference at a time, in the order of submission; SLOTS frames are with the
device and cannot be dropped any more. What else has arrived waits as the policy says. Each answer is a message to one broker, which handles one at a
time.
"""
import argparse
import collections
import heapq
import json
import math
import random

# Microseconds of one YOLOv8n-like inference with a 1920x1080 NV12 frame: the estimates of Intel's compiler, bench/README.md. That hardware meets them
# is assumed.
COST_US = {"3720": 9172, "4000": 4366, "5010": 1115}
# All of these but BROKER_US are assumptions.
OVERHEAD_US = 150  # of an inference between fence and next start: driver, firmware
COST_SPREAD = 0.03  # standard deviation of a service time, of its mean
TRANSPORT = 0.030  # camera's encoder, network and decoder
JITTER = 0.005  # mean of the exponential part of a frame's delay
STALL_EVERY, STALL = 100, 0.200  # a camera is held up once in so many seconds, and for how long
SLOTS = 2
WAITING_LIMIT = 64  # frames, for policies with one bounded queue
BROKER_US = 36  # of a message of 0.8 kB at QoS 1, one subscriber: mosquitto 2.0 on a busy virtual machine, docs/scale.md
GOVERNOR_LOAD = 0.85  # the load that lowered rates aim at

Frame = collections.namedtuple("Frame", "arrival taken camera")
Result = collections.namedtuple("Result", "answers arrived dropped waiting")  # answers: (time, Frame)


class Fifo:
    """One queue for all cameras; a full one drops `drops`: "none" (it is endless), "new" or "old"."""

    def __init__(self, drops):
        self._drops, self._queue = drops, collections.deque()

    def __len__(self):
        return len(self._queue)

    def add(self, frame):
        """Returns how many frames this costs."""
        if self._drops == "none" or len(self._queue) < WAITING_LIMIT:
            self._queue.append(frame)
            return 0
        if self._drops == "old":
            self._queue.popleft()
            self._queue.append(frame)
        return 1

    def take(self):
        return self._queue.popleft()


class Latest:
    """The newest frame of each camera; the camera that has waited longest is next."""

    def __init__(self):
        self._frames = {}

    def __len__(self):
        return len(self._frames)

    def add(self, frame):
        lost = frame.camera in self._frames
        self._frames[frame.camera] = frame  # a dict keeps a key's place
        return int(lost)

    def take(self):
        return self._frames.pop(next(iter(self._frames)))


POLICIES = {"block": lambda: Fifo("none"), "drop-new": lambda: Fifo("new"), "drop-old": lambda: Fifo("old"), "latest": Latest, "governed": Latest}


def camera_frames(chance, camera, fps, seconds):
    """The frames of one camera, in order of arrival. Frames do not overtake each other."""
    phase, arrival = chance.random() / fps, 0.0
    for number in range(int(seconds * fps)):
        taken = phase + number / fps
        stall = STALL if chance.random() < 1 / (fps * STALL_EVERY) else 0.0
        arrival = max(arrival, taken + TRANSPORT + chance.expovariate(1 / JITTER) + stall)
        yield Frame(arrival, taken, camera)


def served(frames, policy, service):
    """Runs one NPU over frames in order of arrival. service(): seconds of the next inference."""
    answers, flying, free_at, dropped, arrived = [], collections.deque(), 0.0, 0, 0

    def submit(now):
        nonlocal free_at
        while len(policy) and len(flying) < SLOTS:
            free_at = max(free_at, now) + service()
            flying.append((free_at, policy.take()))

    for frame in frames:
        while flying and flying[0][0] <= frame.arrival:
            answers.append(flying.popleft())
            submit(answers[-1][0])
        arrived += 1
        dropped += policy.add(frame)
        submit(frame.arrival)
    waiting = len(policy) + len(flying)
    return Result(answers, arrived, dropped, waiting)


def simulate(platform, cameras, fps, seconds, policy, seed):
    """(what one NPU does with its cameras, every how many frames of a camera one is inferred)"""
    chance = random.Random(f"{seed} {platform} {cameras} {fps}")
    mean = (COST_US[platform] + OVERHEAD_US) / 1e6
    interval = max(1, math.ceil(cameras * fps * mean / GOVERNOR_LOAD)) if policy == "governed" else 1
    streams = [list(camera_frames(chance, camera, fps, seconds))[camera % interval::interval] for camera in range(cameras)]
    frames = heapq.merge(*streams)
    return served(frames, POLICIES[policy](), lambda: max(mean / 2, chance.gauss(mean, COST_SPREAD * mean))), interval


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.inf


def ages(answers, cameras, seconds, step=0.02):
    """How old the newest answer of a camera is, looked at every `step` after a start of 2 s."""
    newest, found, position = [None] * cameras, [], 0
    for tick in range(int(seconds / step)):
        now = tick * step
        while position < len(answers) and answers[position][0] <= now:
            frame = answers[position][1]
            newest[frame.camera] = max(newest[frame.camera] or 0.0, frame.taken)
            position += 1
        if now >= 2:
            found += [now - (taken if taken is not None else 0.0) for taken in newest]
    return found


def describe(platform, cameras, fps, seconds, policy, seed):
    result, interval = simulate(platform, cameras, fps, seconds, policy, seed)
    by_camera = collections.Counter(frame.camera for _, frame in result.answers)
    shares = [by_camera[camera] / (fps * seconds) for camera in range(cameras)]
    delays = [1e3 * (time - frame.taken) for time, frame in result.answers]
    old = ages(result.answers, cameras, seconds)
    return {
        "platform": platform, "cameras": cameras, "fps": fps, "policy": policy, "interval": interval,
        "load": round(cameras * fps * (COST_US[platform] + OVERHEAD_US) / 1e6, 2),
        "inferred_fps": round(sum(shares) / cameras * fps, 2), "least_share": round(min(shares), 3), "greatest_share": round(max(shares), 3),
        "latency_ms": {"p50": round(percentile(delays, 0.5), 1), "p99": round(percentile(delays, 0.99), 1)},
        "age_ms": {"p50": round(1e3 * percentile(old, 0.5)), "p99": round(1e3 * percentile(old, 0.99))},
        "dropped": round(result.dropped / result.arrived, 3)}


def most_cameras(platform, fps, limit_ms, seconds, seed):
    """The most cameras whose latency has its 99th percentile within the limit while at most one frame in a hundred is dropped."""
    def fits(cameras):
        result, _ = simulate(platform, cameras, fps, seconds, "latest", seed)
        delays = [1e3 * (time - frame.taken) for time, frame in result.answers]
        return result.dropped <= result.arrived / 100 and percentile(delays, 0.99) <= limit_ms
    low, high = 0, 2 * int(1e6 / (COST_US[platform] + OVERHEAD_US) / fps) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def broker(platform, cameras, npus, fps, seconds, seed):
    """What one broker adds to the answers of many NPUs; its queue in the end tells whether it keeps up."""
    results = (simulate(platform, cameras, fps, seconds, "latest", f"{seed} {npu}")[0] for npu in range(npus))
    times = heapq.merge(*([time for time, _ in result.answers] for result in results))
    free_at, delays = 0.0, []
    for time in times:
        free_at = max(free_at, time) + BROKER_US / 1e6
        delays.append(1e3 * (free_at - time))
    return {"broker_of_npus": npus, "cameras": npus * cameras, "messages_per_second": round(len(delays) / seconds),
            "load": round(len(delays) / seconds * BROKER_US / 1e6, 2),
            "adds_ms": {"p50": round(percentile(delays, 0.5), 2), "p99": round(percentile(delays, 0.99), 2)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="simulated time (60)")
    parser.add_argument("--fps", type=float, default=15, help="frames a second of each camera (15)")
    parser.add_argument("--p99", type=float, default=100, help="limit in ms from the camera to the answer (100)")
    options = parser.parse_args()
    most = {}
    for platform in COST_US:
        most[platform] = most_cameras(platform, options.fps, options.p99, options.seconds, options.seed)
        print(json.dumps({"most_cameras": most[platform], "platform": platform, "fps": options.fps, "p99_ms": options.p99,
                          "load": describe(platform, max(most[platform], 1), options.fps, options.seconds, "latest", options.seed)["load"]}))
    for overload in (0.9, 1.2, 2):
        cameras = round(overload * 1e6 / (COST_US["4000"] + OVERHEAD_US) / options.fps)
        for policy in POLICIES:
            print(json.dumps(describe("4000", cameras, options.fps, options.seconds, policy, options.seed)))
    for npus in (1, 10, 100, 125, 140):
        print(json.dumps(broker("4000", most["4000"], npus, options.fps, min(options.seconds, 10), options.seed)))


if __name__ == "__main__":
    main()
