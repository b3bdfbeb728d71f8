#!/usr/bin/env python3
"""Fails when a library copies 4 KiB or more with the processor's own instruction (rep movs): the counter of copies sees calls
only. GCC puts such a copy in the place of memcpy where it knows the size and that is 8 KiB at most; where it does not know the
size (the characters of a short string), the number is no constant and is passed over here.

usage: inlined_copies.py LIBRARY...      a library named with "+" in front must contain such a copy: the control
"""
import re
import subprocess
import sys

COUNTED_BYTES = 4096
NEGATIVE = 1 << 31
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
COPY = re.compile(r"\brep[a-z]* movs([bwlqd]?)\b")
WIDTH = {"b": 1, "w": 2, "l": 4, "d": 4, "q": 8}
CHANGE = r"\b(\w+) +(?:\$0x([0-9a-f]+)|%(\w+)|.+),%[er]?{}[dl]?$"  # instruction; number, register or else


def constant_in(register, before):
    """(the instruction, the number) that set a register last, also by way of another register; None where it is no constant."""
    change = re.compile(CHANGE.format(register))
    for position in range(len(before) - 1, -1, -1):
        found = change.search(before[position])
        if not found or found[1] in ("shr", "cmp", "test", "movabs"):
            continue
        if found[2]:
            number = int(found[2], 16)
            # A mask ("and"), or a negative number that is added, belongs to a size that is not known.
            return (found[1], number) if found[1].startswith(("mov", "add")) and number < NEGATIVE else None
        from_register = found[3] and found[1].startswith("mov")
        return constant_in(found[3].lstrip("er").rstrip("d"), before[:position]) if from_register else None
    return None


def size_of(copy, before):
    """The bytes that a copy moves, None where they are not a constant in sight."""
    count = constant_in("cx", before)
    if count is None:
        return None
    # "add" is what remains of a number of bytes after the first few; the others load a number of units.
    return count[1] * (1 if count[0].startswith("add") else WIDTH.get(copy[1], 1))


def large_copies(library):
    """[(function, bytes)]"""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-C", library], stdout=subprocess.PIPE, text=True, check=True)
    found, name, before = [], "?", []
    for line in listing.stdout.splitlines():
        if function := FUNCTION.match(line):
            name, before = function[1], []
        elif copy := COPY.search(line):
            size = size_of(copy, before)
            if size is not None and size >= COUNTED_BYTES:
                found.append((name, size))
        before.append(line)
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    faults = []
    for argument in sys.argv[1:]:
        library = argument.removeprefix("+")
        found = large_copies(library)
        if argument.startswith("+") and not found:
            faults.append(f"{library}: the copy that is in it was not found")
        elif not argument.startswith("+"):
            faults += [f"{library}: {name} copies {size} bytes with rep movs" for name, size in found]
    print("\n".join(faults) if faults else f"no large copy with rep movs in {len(sys.argv) - 1} libraries")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
