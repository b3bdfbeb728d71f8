#!/usr/bin/env python3
"""Counts the calls that go from the plugin into npucore for one frame, and fails where there are more than four.

Inline functions cross nothing.

usage: calls_test.py AUDITOR RUN
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 4
FRAMES = 60


def calls(auditor, run, path):
    """How often each exported function of npucore was called for FRAMES frames."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "calls"
        env = {**os.environ, "LD_AUDIT": auditor, "CALL_AUDIT": str(report)}
        env.pop("LD_BIND_NOW", None)
        subprocess.run([run, path, str(FRAMES)], env=env, check=True, timeout=120)
        lines = [line.split(" ", 1) for line in report.read_text().splitlines()]
    return {symbol: int(count) for count, symbol in lines}


def demangled(symbols):
    names = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout
    return dict(zip(symbols, names.splitlines()))


def check(auditor, run, path):
    """Whether a frame that goes in this way costs few enough calls."""
    counts = calls(auditor, run, path)
    names = demangled(list(counts))
    for symbol, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{path}: {count / FRAMES:5.2f}  {names[symbol]}")
    total = sum(counts.values()) / FRAMES
    print(f"{path}: {total:.2f} calls a frame, at most {MOST} may be")
    if not counts:
        print(f"{path}: no call was seen at all: is the plugin linked to bind all symbols at once?")
    return 0 < total <= MOST


def main():
    auditor, run = sys.argv[1:]
    results = [check(auditor, run, path) for path in ("offered", "imported")]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
