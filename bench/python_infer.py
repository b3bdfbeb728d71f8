#!/usr/bin/env python3
"""The cost of Python in one inference: npucore in Python beside C++, and OpenVINO in Python beside C++, in turns on one core. Made for
SOFTNPU_EXEC=null, where the device computes nothing. The model has eight numbers, so what OpenVINO's CPU plugin computes is next to nothing;
its NPU plugin takes part in its place where the Level Zero loader is new enough (1.18).

usage: PYTHONPATH=BUILD/python python_infer.py BUILD/bench/infer_side square.xml [--rounds N] [--calls N] [--cpu N]; prints one JSON line a case
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import time

import numpy as np
import openvino

import npucore

THREES = np.full(9, 3, np.float32)[1:].reshape(1, 8)  # begins on no page, so that npucore copies it


class InPython:
    def __init__(self, name, base, infer):
        self.name, self.base, self.infer = name, base, infer

    def result(self):
        return float(np.ravel(next(iter(self.infer(THREES).values())))[7])

    def times(self, calls, copies):
        infer, arguments, clock, times = self.infer, ((THREES,) if copies else ()), time.perf_counter_ns, []
        for _ in range(calls):
            begin = clock()
            infer(*arguments)
            times.append((clock() - begin) / 1000)
        return times


class InCpp:
    """A process for each way to give the input."""

    def __init__(self, name, command):
        self.name = self.base = name
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.processes = {copies: subprocess.Popen([*command, *(["--copies"] if copies else [])], **pipes) for copies in (False, True)}
        self.results = [float(process.stdout.readline()) for process in self.processes.values()]

    def result(self):
        return self.results[0]

    def times(self, calls, copies):
        process = self.processes[copies]
        process.stdin.write(f"{calls}\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())


def sides_of(program, model):
    device = "NPU" if "NPU" in openvino.Core().available_devices else "CPU"
    request = npucore.compile(model, "software").create_request()
    other = openvino.Core().compile_model(model, device).create_infer_request()
    ours, theirs = "npucore, C++", f"OpenVINO {device}, C++"
    return [InCpp(ours, [program, model, "npucore"]), InPython("npucore, Python", ours, request.infer),
            InCpp(theirs, [program, model, device]), InPython(f"OpenVINO {device}, Python", theirs, other.infer)]


def p99(values):
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def measure(case, copies, sides, options):
    everything, medians = {side.name: [] for side in sides}, {side.name: [] for side in sides}
    for side in sides:
        side.times(options.calls, copies)  # warm-up
    for turn in range(options.rounds):
        for side in sides[turn % len(sides):] + sides[:turn % len(sides)]:
            times = side.times(options.calls, copies)
            everything[side.name] += times
            medians[side.name].append(statistics.median(times))
    rows = []
    for side in sides:
        pairs = list(zip(medians[side.name], medians[side.base]))
        rows.append({"name": side.name, "median": round(statistics.median(everything[side.name]), 3), "p99": round(p99(everything[side.name]), 3),
                     "above_cpp": round(statistics.median(own - base for own, base in pairs), 3),
                     "ratio_to_cpp": round(statistics.median(own / base for own, base in pairs), 2)})
    return {"case": case, "unit": "us per inference", "rounds": options.rounds, "calls": options.calls, "cpu": options.cpu, "sides": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--cpu", type=int, default=min(os.sched_getaffinity(0)), help="the only CPU that all threads use")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.cpu})
    sides = sides_of(options.program, options.model)
    for side in sides:
        nulled = side.name.startswith("npucore") and os.environ.get("SOFTNPU_EXEC") == "null"
        if side.result() != 9 and not nulled:
            raise SystemExit(f"{side.name}: 3 * 3 is {side.result()}")
    for case, copies in (("python_bound", False), ("python_array", True)):
        print(json.dumps(measure(case, copies, sides, options)), flush=True)


if __name__ == "__main__":
    main()
