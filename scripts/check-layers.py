#!/usr/bin/env python3
"""Fails on an #include that the house does not allow: the table of docs/architecture.md, as data. Also on modules or folders that
include each other, on a name of Level Zero outside its rooms, on a variable of the software NPU outside its own, and on a crowded folder.

usage: check-layers.py [TREE]
"""
import fnmatch
import functools
import graphlib
import posixpath
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import rooms

# Room -> the rooms whose headers it may include, besides its own; * is any. A room is a folder, named as room_of() says. One that is
# not named here has the row of the next one above, and may include that one's headers.
MAY_INCLUDE = {
    "include": (),
    "base": ("include",),
    "ir/graph": ("base", "include"),
    "ir/repair": ("ir/graph", "base", "include"),
    "ir": ("ir/repair", "ir/graph", "base", "include"),
    "dmabuf": ("base", "include"),
    "ze": ("ze_npu/include", "base", "include"),
    "properties": ("ze", "ir", "dmabuf", "base", "include"),
    "device": ("unwinding", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "memory": ("device", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "model": ("memory", "device", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "compile/cache": ("properties", "base", "include"),
    "compile": ("compile/cache", "npu_vcl/include", "model", "memory", "device", "properties", "ze", "ir", "dmabuf", "base", "include"),
    "helper": ("compile",),
    "npuvision/include": ("include",),
    "npuvision/card": ("npuvision/include", "include"),
    "npuvision/decode": ("npuvision/include", "include"),
    "npuvision/track": ("npuvision/decode", "npuvision/card", "npuvision/include", "include"),
    "unwinding": (),
    "ze_npu/include": (),
    "npu_vcl/include": (),
    "npu_vcl/src": ("npu_vcl/include",),
    "npu_vcl/posix": ("npu_vcl/include",),
    "npu_vcl/windows": ("npu_vcl/include",),
    "softnpu/base": ("ze_npu/include",),
    "softnpu/machine": ("softnpu/base",),
    "softnpu/graph": ("softnpu/machine", "softnpu/base", "ze_npu/include"),
    "softnpu/abi": ("softnpu/machine", "softnpu/base", "ze_npu/include"),
    "softnpu/extensions": ("softnpu/abi", "softnpu/graph", "softnpu/machine", "softnpu/base", "ze_npu/include", "npu_vcl/include"),
    "gst/common": ("gst/meta", "npuvision/include", "include"),
    "gst/meta": (),
    "gst/answers": ("gst/meta", "npuvision/include", "include"),
    "gst/bridges": ("gst/answers", "gst/meta", "npuvision/include", "include"),
    "gst/frames": ("gst/common", "gst/meta", "include"),
    "gst/graphs": ("gst/frames", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/inference": ("gst/graphs", "gst/frames", "gst/bridges", "gst/answers", "gst/common", "gst/meta", "include"),
    "gst/analytics": ("gst/bridges", "gst/answers", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/publish/sinks": ("gst/common", "include"),
    "gst/publish": ("gst/publish/sinks", "gst/bridges", "gst/answers", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/overlay": ("gst/bridges", "gst/answers", "gst/common", "gst/meta", "npuvision/include", "include"),
    "gst/trace": ("gst/common", "include"),
    "gst/plugin": ("gst/common", "include"),
    "tools": ("tools/common", "npuvision/include", "include"),
    "stream/config": (),
    "stream/run": ("stream/config", "gst/meta", "npuvision/include", "include"),
    "stream/web": ("stream/run", "stream/config"),
    "stream": ("stream/web", "stream/run", "stream/config", "tools/common", "include"),
    "python": ("npuvision/include", "include"),
    "python/video": ("python/src", "gst/meta", "npuvision/include", "include"),
    "bench": ("include", "npuvision/include", "gst/answers", "gst/meta", "tests/support/bare", "tests/zero_copy"),
    "examples": ("include", "npuvision/include", "gst/meta"),
    "pch": (),
    "tests/npucore": ("include", "npu_vcl/include", "base", "dmabuf", "ir", "ze", "properties", "device", "memory", "model", "compile", "compile/cache",
                      "ze_npu/include", "tests/support", "tests/support/bare"),
    "tests/ir": ("include", "npuvision/include", "base", "ir", "ir/graph", "tests/support", "tests/support/bare"),
    "tests/tools": ("include", "npuvision/include", "tools/*", "tests/ir", "tests/support"),
    "tests/soak": ("include", "tests/npucore", "tests/support"),
    "tests/softnpu": ("softnpu/*", "ze_npu/include", "npu_vcl/include", "tests/support", "tests/support/bare"),
    "tests/fuzz": ("include", "npu_vcl/include", "base", "ir", "properties", "compile", "compile/cache", "npuvision/include", "npuvision/card",
                   "npuvision/decode", "gst/graphs", "tools/*", "softnpu/base", "softnpu/graph", "ze_npu/include"),
    "tests/npuvision": ("npuvision/*", "include", "tests/support"),
    "tests/gst": ("include", "npuvision/include", "gst/*", "tests/gst/publish/sinks", "tests/support"),
    "tests/compiler": ("include", "ir", "ze", "properties", "compile", "tests/ir", "tests/support", "tests/tools"),
    "tests/conformance": ("ze_npu/include", "tests/support/bare"),
    "tests/consumer": ("include",),
    "tests/lanes": ("ze_npu/include", "include", "tests/support"),
    "tests/models": ("include",),
    "tests/python": ("include",),
    "tests/pipelines": ("include", "gst/*", "tests/support"),
    "tests/stream": ("stream", "stream/*", "tests/support"),
    "tests/support/bare": ("ze_npu/include",),
    "tests/support": ("include", "tests/support/bare"),
    "tests/vm": ("include", "dmabuf", "gst/*", "tests/gst", "tests/npucore", "tests/support", "tests/zero_copy"),
    "tests/zero_copy": ("include", "gst/*", "tests/gst", "tests/support"),
}

# The plugin's rooms that know GStreamer.
GST_USERS = tuple(room for room in MAY_INCLUDE if room.startswith("gst/"))

# Third-party headers -> the rooms that may use them; tests, bench and tools choose their own.
THIRD_PARTY = {
    r"level_zero/": ("ze_npu/include", "ze", "softnpu/base", "softnpu/machine", "softnpu/abi", "softnpu/extensions"),
    r"unwind\.h$": ("unwinding",),
    r"pugixml\.hpp$": ("ir", "ir/graph", "ir/repair", "softnpu/graph"),
    r"xxhash\.h$": ("base", "softnpu/graph"),
    r"openvino/": ("softnpu/graph",),
    r"(linux/(dma-buf|udmabuf|dma-heap)\.h|(lib)?(drm/)?drm(_fourcc|_mode)?\.h)$": ("dmabuf", "softnpu/machine"),
    r"gst/": (*GST_USERS, "python/video", "pch", "stream", "stream/run"),
    r"gio/": ("gst/publish", "gst/publish/sinks"),
    r"(glib|gobject)/|glib(-object|-unix)?\.h$|gmodule\.h$": (*GST_USERS, "npuvision/card", "pch",
                                                                   "stream", "stream/config", "stream/run", "stream/web"),
    r"(pango/|cairo\.h)": ("gst/overlay",),
    r"(mosquitto|mqtt_protocol)\.h|librdkafka/": ("gst/publish/sinks",),
    r"nlohmann/": ("gst/publish", "npuvision/card", "pch", "stream/config", "stream/run", "stream/web"),
    r"yaml-cpp/": ("npuvision/card", "stream/config"),
    r"libsoup/": ("stream/web",),
    r"page\.inc$": ("stream/web",),  # the page as text, made by the build
    r"nanobind/": ("python", "python/src", "python/video"),
    r"windows\.h$": ("npu_vcl/src", "npu_vcl/windows"),
    r"CLI/": ("stream",),
    r"(gtest|gmock|benchmark)/": (),
}
CHOOSE_THEIR_OWN = ("tools", "bench", "examples", "tests/")

STANDARD = re.compile(r"[a-z_0-9]+$")  # <vector>: no dot, no slash
C_AND_POSIX = re.compile(
    r"((sys|linux|asm|arpa|netinet)/.*|"
    r"(assert|ctype|dirent|dlfcn|elf|endian|errno|fcntl|fnmatch|getopt|glob|grp|inttypes|libgen|limits|link|locale|malloc|"
    r"math|memory|netdb|poll|pthread|pwd|sched|semaphore|setjmp|signal|spawn|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|"
    r"strings|syscall|time|unistd|wchar)\.h|[a-z0-9]*intrin\.h)$")

# Names, in code or in a comment -> the rooms that may say them, and what to tell the others.
NAMES = {
    # Level Zero's types, constants, calls and variables and the extensions' functions.
    r"\bze_[a-z]\w*|\bZES?_\w+|\bzes?[A-Z]\w*|(?:->|\.)pfn\w*":
        (r"(ze|ze_npu/.*|softnpu/.*|bench|examples|tests/.*)$", "only ze, ze_npu and softnpu may say this"),
    # The software NPU's variables, which only its own driver reads: the library asks what the driver says.
    r"\bSOFTNPU_\w+":
        (r"(softnpu/.*|bench|examples|tests/.*)$", "only the software NPU reads its variables; ask for an extension"),
}

SOURCES = (".c", ".cc", ".cpp", ".h", ".hpp", ".inc")
HEADERS = (".h", ".hpp", ".inc")

# A module is a source file with its header: a folder has at most so many of the one and of the other. Examples and tests are
# one by one by their nature.
MOST_MODULES = 20
MAY_BE_CROWDED = ("bench", "examples", "tests/")

INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')


@functools.cache
def room_of(path):
    """The file's folder; public headers are one room, and npucore's have short names."""
    folder = re.sub(r"^npucore/(src/)?", "", posixpath.dirname(path))
    return re.sub(r"\binclude/.*", "include", folder)


@functools.cache
def row_of(room):
    """The room of MAY_INCLUDE whose row holds for this one, or None."""
    return next((str(above) for above in (Path(room), *Path(room).parents) if str(above) in MAY_INCLUDE), None)


def files_of(tree):
    """The paths of all C and C++ files, relative to the tree; build folders and hidden ones are not the tree's."""
    halls = [path for path in tree.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))]
    return sorted(str(path.relative_to(tree)) for hall in halls for path in hall.rglob("*") if path.suffix in SOURCES)


def resolve(name, including, by_name):
    """The tree's files that an include may mean: its neighbour, else those of its own room, else any whose path ends so."""
    known = by_name[posixpath.basename(name)]
    beside = posixpath.normpath(f"{posixpath.dirname(including)}/{name}")
    if beside in known:
        return [beside]
    ending = [path for path in known if f"/{path}".endswith("/" + name)]
    own = [path for path in ending if room_of(path) == room_of(including)]
    return own or ending


def may_include(room, target):
    row = row_of(room)
    return any(fnmatch.fnmatchcase(target, allowed) for allowed in (room, row, *MAY_INCLUDE[row]))


def third_party_fault(name, row):
    if row.startswith(CHOOSE_THEIR_OWN):
        return None
    for pattern, allowed in THIRD_PARTY.items():
        if re.match(pattern, name):
            return None if row in allowed else f"only {', '.join(allowed) or 'tests and tools'} may use it"
    if STANDARD.match(name) or C_AND_POSIX.match(name):
        return None
    return "no room may use it: add it to THIRD_PARTY with the room that it belongs to"


def include_fault(name, room, targets):
    """Why an include of these files, or of a header that is not the tree's, is not allowed; or None."""
    if not targets:
        return third_party_fault(name, row_of(room))
    rooms_there = sorted({room_of(path) for path in targets})
    if any(may_include(room, target) for target in rooms_there):
        return None
    return f"{room} may not include {' or '.join(rooms_there)}"


def name_faults(line, room):
    """What the line says that this room must not."""
    return [f"{word}: {advice}" for pattern, (allowed, advice) in NAMES.items() if not re.match(allowed, room)
            for word in re.findall(pattern, line)]


def crowded_folders(files):
    """One line for each folder with too many modules."""
    counted = Counter((posixpath.dirname(path), "headers" if path.endswith(HEADERS) else "sources")
                      for path in files if not path.startswith(MAY_BE_CROWDED))
    return [f"{folder}: {count} {kind}, at most {MOST_MODULES}: give it rooms"
            for (folder, kind), count in sorted(counted.items()) if count > MOST_MODULES]


def module_of(path):
    return posixpath.splitext(path)[0]


def cycle(includes, part_of):
    """A line for one cycle of the parts that the files of these pairs, including and included, belong to."""
    sorter = graphlib.TopologicalSorter()
    for including, included in sorted({(part_of(one), part_of(other)) for one, other in includes}):
        if including != included:
            sorter.add(including, included)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        return [" -> ".join(reversed(error.args[1])) + ": a cycle: move what both need to where neither includes the other"]
    return []


def check(tree):
    """All faults in the tree, one line each."""
    files = files_of(tree)
    by_name = defaultdict(list)
    for path in files:
        by_name[posixpath.basename(path)].append(path)
    faults, includes = crowded_folders(files), []
    for path in files:
        room = room_of(path)
        if path.split("/")[0] not in rooms.ALL or row_of(room) is None:
            faults.append(f"{path}: stands in no room")
            continue
        for number, line in enumerate((tree / path).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                faults += [f"{path}:{number}: {fault}" for fault in name_faults(line, room)]
                continue
            name = match[2] or match[3]
            targets = resolve(name, path, by_name)
            fault = include_fault(name, room, targets)
            faults += [f"{path}:{number}: {name}: {fault}"] if fault else []
            includes += [(path, target) for target in targets if may_include(room, room_of(target))]
    return faults + cycle(includes, module_of) + cycle(includes, posixpath.dirname)


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    faults = check(tree)
    print("\n".join(faults) if faults
          else f"layers: {len(files_of(tree))} files, every include is allowed, no modules or folders include each other, "
               "only the driver's rooms name its parts, no folder is crowded")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
