#!/usr/bin/env python3
"""The tree's halls with C and C++ sources, for what formats, checks and measures them; check-layers.py fails on sources in any other.

usage: rooms.py    all of them, one a line
"""
PRODUCT = ("unwinding", "npu_vcl", "npucore", "npuvision", "softnpu", "gst", "tools", "stream", "python")
TESTS = ("tests", "bench")
# ze_npu speaks C with the extension's own names.
ALL = PRODUCT + TESTS + ("examples", "pch", "ze_npu")

if __name__ == "__main__":
    print(*ALL, sep="\n")
