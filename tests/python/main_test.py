#!/usr/bin/env python3
"""`python -m npucore` prints what npu-info prints.

usage: main_test.py NPU_INFO
"""
import subprocess
import sys


def output_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.returncode, done.stdout


for device in ("auto", "software", "npu"):
    wanted = output_of([sys.argv[1], "--device", device])
    found = output_of([sys.executable, "-m", "npucore", "--device", device])
    if wanted != found:
        sys.exit(f"--device {device}: npu-info ended with {wanted[0]} and printed\n{wanted[1]}\nPython with {found[0]}\n{found[1]}")
