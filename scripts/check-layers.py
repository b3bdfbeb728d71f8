#!/usr/bin/env python3
"""Fails on an #include that the house does not allow: the table of docs/architecture.md, as data.

usage: check-layers.py [TREE]
"""
import posixpath
import re
import sys
from pathlib import Path

# Room -> its folder. The first folder that holds a file decides, so the deeper ones come first.
ROOMS = {
    "include": "npucore/include",
    "base": "npucore/src/base",
    "ir": "npucore/src/ir",
    "dmabuf": "npucore/src/dmabuf",
    "ze": "npucore/src/ze",
    "core": "npucore/src/core",
    "ze_npu": "ze_npu",
    "softnpu": "softnpu",
    "gst": "gst",
    "tools": "tools",
    "bench": "bench",
    "examples": "examples",
    "tests/npucore": "tests/npucore",
    "tests/ir": "tests/ir",
    "tests/tools": "tests/tools",
    "tests/softnpu": "tests/softnpu",
    "tests/gst": "tests/gst",
    "tests/conformance": "tests/conformance",
    "tests/consumer": "tests/consumer",
    "tests/lanes": "tests/lanes",
    "tests/models": "tests/models",
    "tests/pipelines": "tests/pipelines",
    "tests/support": "tests/support",
    "tests/vm": "tests/vm",
    "tests/zero_copy": "tests/zero_copy",
}

# Room -> the rooms whose headers it may include, besides its own.
MAY_INCLUDE = {
    "include": (),
    "base": ("include",),
    "ir": ("base", "include"),
    "dmabuf": ("base", "include"),
    "ze": ("ze_npu", "base", "include"),
    "core": ("ze", "ir", "dmabuf", "base", "include"),
    "ze_npu": (),
    "softnpu": ("ze_npu",),
    "gst": ("include",),
    "tools": ("include",),
    "bench": ("include", "ze_npu", "tests/zero_copy"),
    "examples": ("include",),
    "tests/npucore": ("include", "base", "dmabuf", "ir", "ze", "core", "ze_npu", "tests/support"),
    "tests/ir": ("include", "base", "ir", "tests/support"),
    "tests/tools": ("include", "tools", "tests/ir", "tests/support"),
    "tests/softnpu": ("softnpu", "ze_npu", "tests/support"),
    "tests/gst": ("include", "gst", "tests/support"),
    "tests/conformance": ("ze_npu",),
    "tests/consumer": ("include",),
    "tests/lanes": ("ze_npu", "include", "tests/support"),
    "tests/models": ("include",),
    "tests/pipelines": ("include", "gst", "tests/support"),
    "tests/support": ("include",),
    "tests/vm": ("include", "dmabuf", "gst", "tests/gst", "tests/npucore", "tests/support", "tests/zero_copy"),
    "tests/zero_copy": ("include", "gst", "tests/gst", "tests/support"),
}

# Third-party headers -> the rooms that may use them; tests, bench and tools choose their own.
THIRD_PARTY = {
    r"level_zero/": ("ze_npu", "ze", "softnpu"),
    r"pugixml\.hpp$": ("ir", "softnpu"),
    r"xxhash\.h$": ("base", "softnpu"),
    r"openvino/": ("softnpu",),
    r"(linux/(dma-buf|udmabuf|dma-heap)\.h|(lib)?(drm/)?drm(_fourcc|_mode)?\.h)$": ("dmabuf", "softnpu"),
    r"(gst|glib|gobject|gio)/|glib(-object|-unix)?\.h$|gmodule\.h$": ("gst",),
    r"nlohmann/": ("softnpu", "gst"),
    r"(gtest|gmock|benchmark|CLI)/": (),
}
CHOOSES_ITS_OWN = ("tools", "bench", "examples", "tests/")

STANDARD = re.compile(r"[a-z_0-9]+$")  # <vector>: no dot, no slash
C_AND_POSIX = re.compile(
    r"((sys|linux|asm|arpa|netinet)/.*|"
    r"(assert|ctype|dirent|dlfcn|elf|endian|errno|fcntl|fnmatch|getopt|glob|grp|inttypes|libgen|limits|link|locale|malloc|"
    r"math|memory|poll|pthread|pwd|sched|semaphore|setjmp|signal|spawn|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|"
    r"strings|syscall|time|unistd|wchar)\.h|[a-z0-9]*intrin\.h)$")

SOURCES = (".c", ".cc", ".cpp", ".h", ".hpp", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')


def room_of(path):
    return next((room for room, folder in ROOMS.items() if path.startswith(folder + "/")), None)


def files_of(tree):
    """The paths of all C and C++ files in the rooms, relative to the tree."""
    found = set()
    for top in {folder.split("/")[0] for folder in ROOMS.values()}:
        found.update(str(path.relative_to(tree)) for path in (tree / top).rglob("*") if path.suffix in SOURCES)
    return sorted(found)


def resolve(name, including, files):
    """The tree's files that an include may mean: its neighbour, else those of its own room, else any whose path ends so."""
    beside = posixpath.normpath(f"{Path(including).parent}/{name}")
    if beside in files:
        return [beside]
    ending = [path for path in files if path.endswith("/" + name)]
    own = [path for path in ending if room_of(path) == room_of(including)]
    return own or ending


def third_party_fault(name, room):
    if room.startswith(CHOOSES_ITS_OWN) or room in CHOOSES_ITS_OWN:
        return None
    for pattern, allowed in THIRD_PARTY.items():
        if re.match(pattern, name):
            return None if room in allowed else f"only {', '.join(allowed) or 'tests and tools'} may use it"
    if STANDARD.match(name) or C_AND_POSIX.match(name):
        return None
    return "no room may use it: add it to THIRD_PARTY with the room that it belongs to"


def fault_of(name, including, files):
    """Why this include is not allowed, or None."""
    room = room_of(including)
    targets = [room_of(path) for path in resolve(name, including, files)]
    if not targets:
        return third_party_fault(name, room)
    if any(target == room or target in MAY_INCLUDE[room] for target in targets):
        return None
    return f"{room} may not include {' or '.join(sorted(set(map(str, targets))))}"


def check(tree):
    """All faults in the tree, one line each."""
    files = files_of(tree)
    known = set(files)
    faults = []
    for path in files:
        if room_of(path) is None:
            faults.append(f"{path}: stands in no room")
            continue
        for number, line in enumerate((tree / path).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            name = match and (match.group(2) or match.group(3))
            fault = name and fault_of(name, path, known)
            if fault:
                faults.append(f"{path}:{number}: {name}: {fault}")
    return faults


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    faults = check(tree)
    print("\n".join(faults) if faults else f"layers: {len(files_of(tree))} files, every include is allowed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
