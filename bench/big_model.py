#!/usr/bin/env python3
"""Compiles a model with gigabytes of weights once, then loads it where there is little memory: from a mapped blob, and from the cache by its id.

The model (make_big_model.py) is deleted before it is loaded, and what lies in memory of its files is dropped. Answers are compared with the formula,
of the blob each row's. Prints a JSON line for each step; fails for a wrong answer or a process that did not fit. Ends with 77 where disk or memory do
not suffice.

usage: big_model.py BIG_SIDE [--gigabytes 5] [--memory 2] [--folder .] [--nulled]
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import load_cost
import make_big_model

SKIPPED = 77


class Limit:
    """At most so many GiB of memory for a process, pages of files included. The system's own means, the first that works."""

    def __init__(self, gibibytes):
        self.bytes = int(gibibytes * 2**30)
        self.group, self.prefix, self.by = None, [], "nothing"
        scope = ["systemd-run", "--scope", "--quiet", "-p", f"MemoryMax={self.bytes}", "-p", "MemorySwapMax=0"]
        if self.makes_group("/sys/fs/cgroup", "memory.max", "memory.peak"):
            self.by = "cgroup v2 memory.max"
        elif self.makes_group("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"):
            self.by = "cgroup v1 memory.limit_in_bytes"
        elif shutil.which(scope[0]) and subprocess.run([*scope, "true"], capture_output=True, check=False).returncode == 0:
            self.prefix, self.by = scope, "systemd-run MemoryMax"

    def makes_group(self, root, limit, peak):
        group = pathlib.Path(root) / f"npucore-big-{os.getpid()}"
        try:
            group.mkdir()
            with open(group / limit, "r+", encoding="ascii") as file:  # in any other file system it is not there
                file.write(str(self.bytes))
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            return False
        self.group, self.peak_file = group, group / peak
        return True

    def enter(self):
        if self.group:
            (self.group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def peak(self):
        """Bytes, pages of files included; None if that is not known."""
        return int(self.peak_file.read_text(encoding="ascii")) if self.group and self.peak_file.exists() else None

    def close(self):
        if self.group:
            self.group.rmdir()


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def forget_pages(folder):
    """Pages that lie in memory already would be nobody's in particular."""
    for path in folder.rglob("*"):
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            os.fdatasync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def run(side, folder, words, execution, limit=None):
    trace = folder / "trace.jsonl"
    environment = dict(os.environ, SOFTNPU_EXEC=execution, ZE_INTEL_NPU_CACHE_DIR="", SOFTNPU_TRACE=str(trace))
    command = [*(limit.prefix if limit else []), side, *words, *(["--unchecked"] if execution == "null" else [])]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False,
                          preexec_fn=limit.enter if limit else None)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}" + (", limited by " + limit.by if limit else ""))
    report = json.loads(done.stdout)
    report["anon_entry"] = load_cost.anonymous_at_driver_entry(trace, blobs_only=False)
    trace.unlink(missing_ok=True)
    return report


def load(options, folder, name, words, execution):
    forget_pages(folder)
    limit = Limit(options.memory)
    try:
        report = run(options.side, folder, [*words, "--rows", str(options.rows)], execution, limit)
        report["group_peak"] = limit.peak()
    finally:
        limit.close()
    if report["wrong"]:
        sys.exit(f"{name}: {report['wrong']} answers are wrong")
    return {"case": f"big_{name}", "execution": execution, "limited_by": limit.by, "memory_limit": limit.bytes, **report}


def cut_to_blob(entry, blob):
    """Makes an entry of the cache a blob as export_blob() writes it: the blob comes first (docs/formats.md). Writes no gigabytes again."""
    with open(entry, "r+b") as file:
        file.seek(-32, os.SEEK_END)
        _, size, _, magic = struct.unpack("<QQQ8s", file.read(32))
        assert magic == b"NPUCACH1", magic
        file.truncate(size)
    entry.rename(blob)


def steps(options, folder):
    model, blob, cache = folder / "big.xml", folder / "big.blob", folder / "cache"
    make_big_model.make(model, options.tables, options.rows)
    report = run(options.side, folder, ["--model", str(model), "--cache", str(cache)], "null")
    yield {"case": "big_compile", "weights_bytes": model.with_suffix(".bin").stat().st_size, **report}
    model.unlink()
    model.with_suffix(".bin").unlink()
    # The software NPU computes with OpenVINO, or nothing: the difference is OpenVINO's.
    executions = ["cpu", "null"] if options.nulled else ["cpu"]
    for execution in executions:
        yield load(options, folder, "cached", ["--cache", str(cache)], execution)  # the digest has seen all bytes
    cut_to_blob(next(cache.glob("*.npucache")), blob)
    for execution in executions:
        yield load(options, folder, "import", ["--blob", str(blob), "--all"], execution)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("side", type=lambda path: str(pathlib.Path(path).resolve()))
    arguments.add_argument("--gigabytes", type=float, default=5)
    arguments.add_argument("--memory", type=float, default=2, help="GiB for the process that loads")
    arguments.add_argument("--folder", type=pathlib.Path, default=".")
    arguments.add_argument("--nulled", action="store_true", help="measure also with a device that computes nothing")
    options = arguments.parse_args()
    options.tables, options.rows = make_big_model.size_of(options.gigabytes)
    needed = int(options.gigabytes * 1e9)
    if shutil.disk_usage(options.folder).free < 1.5 * needed or available_bytes() < 1.5 * needed:
        print(f"{options.gigabytes} GB of weights need half as much again of free disk in {options.folder}, and of memory")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for report in steps(options, pathlib.Path(folder)):
            print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
