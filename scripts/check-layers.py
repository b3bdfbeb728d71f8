#!/usr/bin/env python3
"""Fails on an #include that the house does not allow: the table of docs/architecture.md, as data. Also on a name of Level Zero
in npucore outside its room ze, on a variable of the software NPU in the library, and on a crowded folder.

usage: check-layers.py [TREE]
"""
import posixpath
import re
import sys
from collections import Counter
from pathlib import Path

# Room -> its folder. The first folder that holds a file decides, so the deeper ones come first.
ROOMS = {
    "include": "npucore/include",
    "base": "npucore/src/base",
    "ir/graph": "npucore/src/ir/graph",
    "ir": "npucore/src/ir",
    "dmabuf": "npucore/src/dmabuf",
    "ze": "npucore/src/ze",
    "properties": "npucore/src/properties",
    "device": "npucore/src/device",
    "memory": "npucore/src/memory",
    "model": "npucore/src/model",
    "compile": "npucore/src/compile",
    "helper": "npucore/helper",
    "npuvision/include": "npuvision/include",
    "npuvision/card": "npuvision/card",
    "npuvision/decode": "npuvision/decode",
    "npuvision/track": "npuvision/track",
    "ze_npu": "ze_npu",
    "npu_vcl": "npu_vcl",
    "softnpu/base": "softnpu/base",
    "softnpu/machine": "softnpu/machine",
    "softnpu/graph": "softnpu/graph",
    "softnpu/abi": "softnpu/abi",
    "softnpu/extensions": "softnpu/extensions",
    "gst/common": "gst/common",
    "gst/meta": "gst/meta",
    "gst/frames": "gst/frames",
    "gst/graphs": "gst/graphs",
    "gst/inference": "gst/inference",
    "gst/analytics": "gst/analytics",
    "gst/publish/clients": "gst/publish/clients",
    "gst/publish/sinks": "gst/publish/sinks",
    "gst/publish": "gst/publish",
    "gst/overlay": "gst/overlay",
    "gst/trace": "gst/trace",
    "gst": "gst",
    "tools": "tools",
    "bench": "bench",
    "examples": "examples",
    "tests/npucore": "tests/npucore",
    "tests/ir": "tests/ir",
    "tests/npuvision": "tests/npuvision",
    "tests/tools": "tests/tools",
    "tests/soak": "tests/soak",
    "tests/softnpu": "tests/softnpu",
    "tests/fuzz": "tests/fuzz",
    "tests/gst": "tests/gst",
    "tests/compiler": "tests/compiler",
    "tests/conformance": "tests/conformance",
    "tests/consumer": "tests/consumer",
    "tests/lanes": "tests/lanes",
    "tests/models": "tests/models",
    "tests/pipelines": "tests/pipelines",
    "tests/support": "tests/support",
    "tests/vm": "tests/vm",
    "tests/zero_copy": "tests/zero_copy",
}

# The plugin's rooms.
GST = tuple(room for room in ROOMS if room.split("/")[0] == "gst")

# Those that know GStreamer.
GST_USERS = tuple(room for room in GST if room not in ("gst/publish/clients", "gst/publish/sinks"))

# The software NPU's rooms.
SOFTNPU = tuple(room for room in ROOMS if room.startswith("softnpu/"))

# Room -> the rooms whose headers it may include, besides its own.
MAY_INCLUDE = {
    "include": (),
    "base": ("include",),
    "ir/graph": ("base", "include"),
    "ir": ("ir/graph", "base", "include"),
    "dmabuf": ("base", "include"),
    "ze": ("ze_npu", "base", "include"),
    "properties": ("ze", "ir", "dmabuf", "base", "include"),
    "device": ("properties", "ze", "ir", "dmabuf", "base", "include"),
    "memory": ("device", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "model": ("memory", "device", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "compile": ("npu_vcl", "model", "memory", "device", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "helper": ("compile",),
    "npuvision/include": ("include",),
    "npuvision/card": ("npuvision/include", "include"),
    "npuvision/decode": ("npuvision/include", "include"),
    "npuvision/track": ("npuvision/decode", "npuvision/include", "include"),
    "ze_npu": (),
    "npu_vcl": (),
    "softnpu/base": ("ze_npu",),
    "softnpu/machine": ("softnpu/base",),
    "softnpu/graph": ("softnpu/machine", "softnpu/base", "ze_npu"),
    "softnpu/abi": ("softnpu/machine", "softnpu/base", "ze_npu"),
    "softnpu/extensions": ("softnpu/abi", "softnpu/graph", "softnpu/machine", "softnpu/base", "ze_npu", "npu_vcl"),
    "gst/common": ("include",),
    "gst/meta": (),
    "gst/frames": ("gst/common", "gst/meta", "include"),
    "gst/graphs": ("gst/frames", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/inference": ("gst/graphs", "gst/frames", "gst/common", "gst/meta", "include"),
    "gst/analytics": ("gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/publish/clients": ("include",),
    "gst/publish/sinks": ("gst/publish/clients", "include"),
    "gst/publish": ("gst/publish/sinks", "gst/analytics", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/overlay": ("gst/analytics", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/trace": ("gst/common", "include"),
    "gst": ("gst/common", "include"),
    "tools": ("npuvision/include", "include"),
    "bench": ("include", "npuvision/include", "gst/meta", "ze_npu", "tests/zero_copy"),
    "examples": ("include",),
    "tests/npucore": ("include", "npu_vcl", "base", "dmabuf", "ir", "ze", "properties", "device", "memory", "model", "compile", "ze_npu",
                      "tests/support"),
    "tests/ir": ("include", "npuvision/include", "base", "ir", "ir/graph", "tests/support"),
    "tests/tools": ("include", "npuvision/include", "tools", "tests/ir", "tests/support"),
    "tests/soak": ("include", "tests/npucore", "tests/support"),
    "tests/softnpu": (*SOFTNPU, "ze_npu", "npu_vcl", "tests/support"),
    "tests/fuzz": ("include", "npu_vcl", "base", "ir", "properties", "compile", "npuvision/include", "npuvision/card", "npuvision/decode", "gst/graphs", "tools", "softnpu/base",
                   "softnpu/graph", "ze_npu"),
    "tests/npuvision": ("npuvision/card", "npuvision/decode", "npuvision/track", "npuvision/include", "include", "tests/support"),
    "tests/gst": ("include", "npuvision/include", *GST, "tests/support"),
    "tests/compiler": ("include", "ir", "ze", "properties", "compile", "tests/ir", "tests/support", "tests/tools"),
    "tests/conformance": ("ze_npu",),
    "tests/consumer": ("include",),
    "tests/lanes": ("ze_npu", "include", "tests/support"),
    "tests/models": ("include",),
    "tests/pipelines": ("include", *GST, "tests/support"),
    "tests/support": ("include",),
    "tests/vm": ("include", "dmabuf", *GST, "tests/gst", "tests/npucore", "tests/support", "tests/zero_copy"),
    "tests/zero_copy": ("include", *GST, "tests/gst", "tests/support"),
}

# Third-party headers -> the rooms that may use them; tests, bench and tools choose their own.
THIRD_PARTY = {
    r"level_zero/": ("ze_npu", "ze", "softnpu/base", "softnpu/machine", "softnpu/abi", "softnpu/extensions"),
    r"pugixml\.hpp$": ("ir", "ir/graph", "softnpu/graph"),
    r"xxhash\.h$": ("base", "softnpu/graph"),
    r"openvino/": ("softnpu/graph",),
    r"(linux/(dma-buf|udmabuf|dma-heap)\.h|(lib)?(drm/)?drm(_fourcc|_mode)?\.h)$": ("dmabuf", "softnpu/machine"),
    r"(gst|glib|gobject|gio)/|glib(-object|-unix)?\.h$|gmodule\.h$": (*GST_USERS, "npuvision/card"),
    r"(pango/|cairo\.h)": ("gst/overlay",),
    r"(MQTTClient\.h|librdkafka/)": ("gst/publish/clients",),
    r"nlohmann/": (*GST_USERS, "npuvision/card"),
    r"yaml-cpp/": ("npuvision/card",),
    r"windows\.h$": ("npu_vcl",),
    r"(gtest|gmock|benchmark|CLI)/": (),
}
CHOOSES_ITS_OWN = ("tools", "bench", "examples", "tests/")

STANDARD = re.compile(r"[a-z_0-9]+$")  # <vector>: no dot, no slash
C_AND_POSIX = re.compile(
    r"((sys|linux|asm|arpa|netinet)/.*|"
    r"(assert|ctype|dirent|dlfcn|elf|endian|errno|fcntl|fnmatch|getopt|glob|grp|inttypes|libgen|limits|link|locale|malloc|"
    r"math|memory|netdb|poll|pthread|pwd|sched|semaphore|setjmp|signal|spawn|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|"
    r"strings|syscall|time|unistd|wchar)\.h|[a-z0-9]*intrin\.h)$")

# Level Zero's types, constants, calls and variables and the extensions' functions, in code or in a comment.
DRIVER_NAME = re.compile(r"\bze_[a-z]\w*|\bZES?_\w+|\bzes?[A-Z]\w*|(?:->|\.)pfn\w*")
DRIVER_ROOM = "ze"

# The software NPU's variables, which only its own driver reads: the library asks what the driver says.
SOFTNPU_VARIABLE = re.compile(r"\bSOFTNPU_\w+")
NO_SOFTNPU_VARIABLES = "npucore/src/"

SOURCES = (".c", ".cc", ".cpp", ".h", ".hpp", ".inc")

# A module is a source file with its header: a folder has at most so many of the one and of the other. Examples and tests are
# one by one by their nature.
MOST_MODULES = 20
HEADERS = (".h", ".hpp", ".inc")
MAY_BE_CROWDED = ("bench", "examples", "tests/")

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


def driver_names(line, path):
    """What npucore may only say in the room ze."""
    in_npucore = path.startswith("npucore/") and room_of(path) != DRIVER_ROOM
    return DRIVER_NAME.findall(line) if in_npucore else []


def software_variables(line, path):
    """What of the software NPU's variables the library must not name."""
    return SOFTNPU_VARIABLE.findall(line) if path.startswith(NO_SOFTNPU_VARIABLES) else []


def crowded_folders(files):
    """One line for each folder with too many modules."""
    counted = Counter((posixpath.dirname(path), "headers" if path.endswith(HEADERS) else "sources")
                      for path in files if not path.startswith(MAY_BE_CROWDED))
    return [f"{folder}: {count} {kind}, at most {MOST_MODULES}: give it rooms"
            for (folder, kind), count in sorted(counted.items()) if count > MOST_MODULES]


def check(tree):
    """All faults in the tree, one line each."""
    files = files_of(tree)
    known = set(files)
    faults = crowded_folders(files)
    for path in files:
        if room_of(path) is None:
            faults.append(f"{path}: stands in no room")
            continue
        for number, line in enumerate((tree / path).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            name = match and (match.group(2) or match.group(3))
            if name:
                fault = fault_of(name, path, known)
                faults += [f"{path}:{number}: {name}: {fault}"] if fault else []
                continue
            for word in driver_names(line, path):
                faults.append(f"{path}:{number}: {word}: only npucore's room {DRIVER_ROOM} may say this")
            for word in software_variables(line, path):
                faults.append(f"{path}:{number}: {word}: only the software NPU reads its variables; ask for an extension")
    return faults


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    faults = check(tree)
    print("\n".join(faults) if faults
          else f"layers: {len(files_of(tree))} files, every include is allowed, only {DRIVER_ROOM} names the driver's parts, "
               "no folder is crowded")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
