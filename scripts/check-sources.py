#!/usr/bin/env python3
"""Fails when meson and CMake build different sources, or when a source file is in neither list.

usage: check-sources.py [--write] [TREE]    --write: make cmake/sources.cmake what meson.build says
"""
import json
import re
import subprocess
import sys
from pathlib import Path

# CMake's list -> meson's target, and the folders where every .cpp must be in that list.
LISTS = {
    "UNWINDING_SOURCES": ("unwinding", ["unwinding"]),
    "NPU_VCL_SOURCES": ("npu-vcl", ["npu_vcl/posix", "npu_vcl/src"]),
    "NPUCORE_SOURCES": ("npucore-objects", ["npucore/src"]),
    "NPUVISION_CARD_SOURCES": ("npuvision-card", []),
    "NPUVISION_SOURCES": ("npuvision-objects", ["npuvision"]),
    "GSTNPUMETA_SOURCES": ("gstnpumeta-1.0", ["gst/meta"]),
    "GSTNPU_COMMON_SOURCES": ("gstnpu-common", []),
    "GSTNPU_ELEMENT_SOURCES": ("gstnpu-elements", []),
    "GSTNPU_SOURCES": ("gstnpu-objects", ["gst/analytics", "gst/common", "gst/frames", "gst/graphs", "gst/inference", "gst/plugin",
                                          "gst/trace"]),
    "GSTNPU_OVERLAY_SOURCES": ("gstnpu-overlay", ["gst/overlay"]),
    "GSTNPU_PUBLISH_SOURCES": ("gstnpu-publish", ["gst/publish"]),
    "GSTNPU_PUBLISH_PLUGIN_SOURCES": ("gstnpupublish", []),
    "GSTNPU_MQTT_SOURCES": ("gstnpu-mqtt", []),
    "GSTNPU_KAFKA_SOURCES": ("gstnpu-kafka", []),
}


def meson_lists(tree):
    """Each of CMake's lists as meson.build has it; read without a configured build."""
    run = subprocess.run(["meson", "introspect", "--targets", str(tree / "meson.build")],
                         capture_output=True, text=True, check=True)
    targets = {target["name"]: target for target in json.loads(run.stdout)}
    lists = {}
    for name, (target, _) in LISTS.items():
        groups = targets[target]["target_sources"] if target in targets else []
        lists[name] = sorted(str(Path(path).relative_to(tree)) for group in groups for path in group["sources"])
    return lists


def cmake_lists(tree):
    path = tree / "cmake" / "sources.cmake"
    text = path.read_text() if path.exists() else ""
    return {name: body.split() for name, body in re.findall(r"set\((\w+)\s([^)]*)\)", text)}


def write_cmake(tree, lists):
    blocks = ["# Written by scripts/check-sources.py --write from the meson.build files.\n"]
    for name, paths in lists.items():
        blocks.append(f"set({name}\n" + "".join(f"  {path}\n" for path in paths) + ")\n")
    (tree / "cmake" / "sources.cmake").write_text("\n".join(blocks))


def faults(tree):
    meson, cmake = meson_lists(tree), cmake_lists(tree)
    listed = {path for lists in (meson, cmake) for paths in lists.values() for path in paths}
    found = []
    for name, (_, folders) in LISTS.items():
        ours, theirs = set(meson[name]), set(cmake.get(name, []))
        on_disk = {str(path.relative_to(tree)) for folder in folders for path in (tree / folder).rglob("*.cpp")}
        found += [f"{path}: meson builds it, CMake does not" for path in sorted(ours - theirs)]
        found += [f"{path}: CMake builds it, meson does not" for path in sorted(theirs - ours)]
        found += [f"{path}: nobody builds it" for path in sorted(on_disk - listed)]
    return found


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    tree = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    if "--write" in sys.argv:
        write_cmake(tree, meson_lists(tree))
    found = faults(tree)
    if found:
        print("\n".join(found))
        sys.exit("source lists differ; scripts/check-sources.py --write makes CMake's what meson.build says")
    print(f"sources: meson and CMake agree on {sum(map(len, meson_lists(tree).values()))} files")


if __name__ == "__main__":
    main()
