#!/usr/bin/env python3
"""Fails when a test is given less than two minutes: on a busy machine one of a few seconds takes as long as that.

usage: check-test-limits.py BUILDDIR
"""
import json
import sys
from pathlib import Path

LEAST_S = 120


def main():
    tests = json.loads((Path(sys.argv[1]) / "meson-info" / "intro-tests.json").read_text())
    short = [test for test in tests if 0 < test["timeout"] < LEAST_S]
    for test in short:
        print(f"{test['name']}: {test['timeout']} s")
    if short:
        sys.exit(f"a test has at least {LEAST_S} s; meson's default is less: write timeout: {LEAST_S}")
    print(f"test limits: {len(tests)} tests have {LEAST_S} s and more")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
