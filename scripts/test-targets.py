#!/usr/bin/env python3
"""Prints what ninja must build for the tests of some suites, one target a line.

usage: test-targets.py BUILDDIR SUITE...
"""
import json
import subprocess
import sys
from pathlib import Path


def introspect(build, what):
    run = subprocess.run(["meson", "introspect", f"--{what}", str(build)], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def suites_of(tests):
    return {suite.split(":")[-1] for test in tests for suite in test["suite"]}


def wanted(tests, targets, suites):
    """The files of the targets that tests of these suites depend on; a test's own program is among them."""
    files = {target["id"]: target["filename"] for target in targets}
    needed = set()
    for test in tests:
        if suites & suites_of([test]):
            needed.update(test["depends"])
    return sorted(file for one in needed for file in files[one])


def main():
    build = Path(sys.argv[1]).resolve()
    tests, suites = introspect(build, "tests"), set(sys.argv[2:])
    if missing := suites - suites_of(tests):
        sys.exit(f"test-targets.py: no test of {' '.join(sorted(missing))}")
    files = wanted(tests, introspect(build, "targets"), suites)
    print(*(Path(file).relative_to(build) for file in files), sep="\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
