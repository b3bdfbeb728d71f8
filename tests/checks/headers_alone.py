#!/usr/bin/env python3
"""Fails when a public header does not compile by itself, included twice and in strict C++20.

usage: headers_alone.py INCLUDE COMPILER...    INCLUDE: the folder with npucore/; COMPILER: a command, such as: ccache c++
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]


def fault(compiler, include, header):
    """What the compiler says of the header; None for nothing."""
    run = subprocess.run([*compiler, *STRICT, "-I", str(include), "-x", "c++", "-"], input=f"#include <{header}>\n" * 2,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return f"<{header}> does not compile alone:\n{run.stdout}" if run.returncode else None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    include, compiler = Path(sys.argv[1]), sys.argv[2:]
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*.hpp"))
    if not headers:
        sys.exit(f"{include}: no headers")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [found for found in pool.map(lambda header: fault(compiler, include, header), headers) if found]
    if faults:
        sys.exit("\n".join(faults))
    print(f"headers: each of {len(headers)} compiles alone")


if __name__ == "__main__":
    main()
