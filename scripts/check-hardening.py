#!/usr/bin/env python3
"""Fails when a built library or program lacks what makes a memory error harder to use.

All: RELRO with BIND_NOW, no executable stack, nothing both writable and executable, no text relocations, position independent, and a stack
protector. With --fortified: glibc's checked functions where their plain forms would be. With --asserting: the standard library's checks.
With --layout: no stack protector, for a program that is too small to have anything to protect.

usage: check-hardening.py [--fortified] [--asserting] [--layout] FILE...
"""
import re
import subprocess
import sys

# Functions that -D_FORTIFY_SOURCE replaces wherever they are called (memcpy and others only where the size is known).
FORTIFIED = {"printf", "fprintf", "vfprintf", "snprintf", "vsnprintf", "sprintf", "vsprintf"}


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def undefined(file):
    return set(re.findall(r" UND ([\w.]+)", readelf("--dyn-syms", file)))


def segments(file):
    """Type -> flags, as in ("GNU_STACK", "RW")."""
    return re.findall(r"^  ([A-Z_]+) +(?:0x[0-9a-f]+ +){5}([RWE ]{3})", readelf("-l", file), re.MULTILINE)


def layout_faults(file):
    found, dynamic = segments(file), readelf("-d", file)
    if "DYN" not in re.search(r"Type: +(\w+)", readelf("-h", file)).group(1):
        yield "is not position independent"
    if "GNU_RELRO" not in [kind for kind, flags in found]:
        yield "has no RELRO segment"
    if not re.search(r"\((BIND_NOW)\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW", dynamic):
        yield "binds its functions lazily, so their table stays writable"
    if "TEXTREL" in dynamic:
        yield "has text relocations"
    for kind, flags in found:
        if kind == "GNU_STACK" and "E" in flags:
            yield "has an executable stack"
        if kind == "LOAD" and "W" in flags and "E" in flags:
            yield "has memory that is writable and executable"


def faults(file, options):
    yield from layout_faults(file)
    symbols = undefined(file)
    if "--layout" not in options and "__stack_chk_fail" not in symbols:
        yield "has no stack protector"
    plain = sorted(FORTIFIED & symbols)
    if "--fortified" in options and plain:
        yield "calls " + ", ".join(plain) + " without glibc's checks"
    if "--asserting" in options and not any("glibcxx_assert_fail" in name for name in symbols):
        yield "has no checks of the standard library"


def main():
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    files = [argument for argument in sys.argv[1:] if argument not in options]
    found = [f"{file}: {fault}" for file in files for fault in faults(file, options)]
    print("\n".join(found) if found else f"hardening: {len(files)} files are built as they should be")
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
