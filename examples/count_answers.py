#!/usr/bin/env python3
"""Counts objects a stream, class and minute from npupublish's JSON lines.

usage: mosquitto_sub -h BROKER -q 1 -i counts -c -t 'npu/+/+' | count_answers.py
"""
import collections
import json
import sys

counts, minute = collections.Counter(), None
for line in sys.stdin:
    answer = json.loads(line)
    now = answer["time"][:16]  # needs wall-clock=true
    if minute is not None and now > minute:
        for (when, stream, label), seen in sorted(counts.items()):
            print(when, stream, label, seen, sep="\t", flush=True)
        counts.clear()
    minute = max(now, minute or now)
    counts.update((now, answer["stream"], thing["label"]) for thing in answer["detections"])
