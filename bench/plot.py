#!/usr/bin/env python3
"""Draws the JSON lines of the benchmarks: a bar for every side of every case.

usage: plot.py RESULTS.jsonl [OUT.png]      without OUT or without matplotlib: bars of text
"""
import json
import sys


def rows(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                yield json.loads(line)


def sides(case):
    """[(name, median, p99)] of a case with any number of sides, or of a subject and its peer."""
    if "sides" in case:
        return [(side["name"], side["median"], side["p99"]) for side in case["sides"]]
    return [(case[who], case[who + "_cpu"]["median"], case[who + "_cpu"]["p99"]) for who in ("subject", "peer")]


def title(case):
    text = f"{case['case']}, {case['unit']}"
    if "cpu_ratio" in case:
        text = f"{case['case']}, CPU {case['unit']}, ratio {case['cpu_ratio']:.3f}"
    return text


def as_text(cases):
    for case in cases:
        print(title(case))
        most = max(median for _, median, _ in sides(case)) or 1
        for name, median, p99 in sides(case):
            bar = "#" * max(1, round(40 * median / most))
            print(f"  {name:32} {median:10.3f} (p99 {p99:10.3f}) {bar}")
        for name, reason in case.get("skipped", {}).items():
            print(f"  {name:32} left out: it {reason}")


def as_picture(cases, out):
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(cases), squeeze=False, figsize=(4 * len(cases), 4))
    for axis, case in zip(axes[0], cases):
        names, medians, tails = zip(*sides(case))
        over = [tail - median for tail, median in zip(tails, medians)]
        axis.bar(names, medians, yerr=[[0] * len(over), over])
        axis.set_title(title(case), fontsize="small")
        axis.set_ylabel(case["unit"])
        axis.tick_params(axis="x", labelrotation=15)
    figure.tight_layout()
    figure.savefig(out)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cases = list(rows(sys.argv[1]))
    if not cases:
        sys.exit(f"{sys.argv[1]} has no JSON line")
    if len(sys.argv) == 3:
        try:
            return as_picture(cases, sys.argv[2])
        except ImportError:
            print("matplotlib is not installed; as text:", file=sys.stderr)
    return as_text(cases)


if __name__ == "__main__":
    main()
