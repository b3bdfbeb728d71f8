#!/usr/bin/env python3
"""Runs clang-tidy on the project's own sources and prints "<passed> <failed> <skipped>" files; findings go to stderr.

usage: tidy.py BUILDDIR [--all]    --all: the tests and benchmarks too

A file that was clean is not looked at again while it, the tree's headers and the configuration stay as they were.
"""
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOMS = ("npucore", "softnpu", "gst", "tools")
TREE = Path(__file__).resolve().parent.parent
# Headers are named as the compile command's -I spells them: from the build folder. The system has folders named alike.
# ze_npu is left out: it speaks C with the extension's own names.
OWN_HEADERS = r"^(\.\.|%s(/build[^/]*/\.\.)?)/(npucore|softnpu|gst|tools)/" % TREE


def sources(build, with_tests):
    """Source path -> its compile command, one for each file of the tree."""
    rooms = ROOMS + (("tests", "bench") if with_tests else ())
    found = {}
    for row in json.loads((build / "compile_commands.json").read_text()):
        path = (Path(row["directory"]) / row["file"]).resolve()
        if path.is_relative_to(TREE) and path.relative_to(TREE).parts[0] in rooms and path.suffix == ".cpp":
            found.setdefault(path, row["command"])
    return found


def common_state():
    """What every file's verdict depends on: the configuration and all headers."""
    digest = hashlib.sha256((TREE / ".clang-tidy").read_bytes())
    for room in ROOMS + ("ze_npu",):
        for path in sorted((TREE / room).rglob("*.h*")):
            digest.update(path.read_bytes())
    return digest.digest()


def tidy(path, build, stamp):
    """True when the file is clean."""
    if stamp.exists():
        return True
    command = ["clang-tidy", "--quiet", f"--header-filter={OWN_HEADERS}", "-p", str(build), str(path)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(run.stdout.strip(), file=sys.stderr)
        return False
    stamp.touch()
    return True


def main():
    build = Path(sys.argv[1]).resolve()
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    common = common_state()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for path, command in sources(build, "--all" in sys.argv).items():
            key = hashlib.sha256(common + command.encode() + path.read_bytes()).hexdigest()
            jobs.append(pool.submit(tidy, path, build, stamps / key))
        verdicts = [job.result() for job in jobs]
    print(sum(verdicts), len(verdicts) - sum(verdicts), 0)


if __name__ == "__main__":
    main()
