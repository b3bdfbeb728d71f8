#!/usr/bin/env python3
"""Draws the JSON lines of the benchmarks: a bar for the subject and one for the peer of every case.

usage: plot.py RESULTS.jsonl [OUT.png]      without OUT or without matplotlib: bars of text
"""
import json
import sys


def rows(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                yield json.loads(line)


def as_text(cases):
    most = max(side["median"] for case in cases for side in (case["subject_cpu"], case["peer_cpu"]))
    for case in cases:
        print(f"{case['case']} ({case['threads']} threads, CPU {case['unit']}), ratio {case['cpu_ratio']:.3f}")
        for label, side in ((case["subject"], case["subject_cpu"]), (case["peer"], case["peer_cpu"])):
            bar = "#" * max(1, round(40 * side["median"] / most))
            print(f"  {label:28} {side['median']:9.3f} (p99 {side['p99']:9.3f}) {bar}")


def as_picture(cases, out):
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(cases), squeeze=False, figsize=(4 * len(cases), 4))
    for axis, case in zip(axes[0], cases):
        sides = (case["subject_cpu"], case["peer_cpu"])
        medians = [side["median"] for side in sides]
        tails = [side["p99"] - side["median"] for side in sides]
        axis.bar([case["subject"], case["peer"]], medians, yerr=[[0, 0], tails])
        axis.set_title(f"{case['case']}: ratio {case['cpu_ratio']:.3f}")
        axis.set_ylabel(f"CPU time, {case['unit']}")
        axis.tick_params(axis="x", labelrotation=15)
    figure.tight_layout()
    figure.savefig(out)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cases = list(rows(sys.argv[1]))
    if not cases:
        sys.exit(f"{sys.argv[1]} holds no JSON line")
    if len(sys.argv) == 3:
        try:
            return as_picture(cases, sys.argv[2])
        except ImportError:
            print("matplotlib is not installed; as text:", file=sys.stderr)
    return as_text(cases)


if __name__ == "__main__":
    main()
