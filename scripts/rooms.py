#!/usr/bin/env python3
"""The tree's halls with C and C++ sources, for what formats, checks and measures them.

usage: rooms.py                  all of them, one a line
       rooms.py --check [TREE]   fails when one is missing here, or one named here has no sources
"""
import sys
from pathlib import Path

PRODUCT = ("npu_vcl", "npucore", "npuvision", "softnpu", "gst", "tools")
TESTS = ("tests", "bench")
# ze_npu speaks C with the extension's own names.
ALL = PRODUCT + TESTS + ("examples", "pch", "ze_npu")
SOURCES = (".c", ".h", ".cpp", ".hpp")


def with_sources(tree):
    """The names of the tree's folders that have a source in them; build folders and hidden ones are not the tree's."""
    halls = [path for path in tree.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))]
    return {hall.name for hall in halls if any(path.suffix in SOURCES for path in hall.rglob("*"))}


def check(tree):
    there = with_sources(tree)
    wrong = [f"{name}: has sources, but is not in scripts/rooms.py" for name in sorted(there - set(ALL))]
    wrong += [f"{name}: is in scripts/rooms.py, but has no sources" for name in sorted(set(ALL) - there)]
    print(*wrong or [f"rooms: {len(ALL)} halls with sources"], sep="\n")
    return not wrong


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(not check(Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent.parent).resolve()))
    print(*ALL, sep="\n")
