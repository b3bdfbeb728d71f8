#!/usr/bin/env python3
"""Fails when a built library needs a library it must not, or shows a symbol it must not.

usage: check-libraries.py LIBRARY...
"""
import re
import subprocess
import sys
from pathlib import Path

SYSTEM = r"(libstdc\+\+|libm|libgcc_s|libc|ld-linux.*)\.so.*"

# File name -> the libraries it may need besides the system's, the names it may define for others.
# Weak symbols are not looked at: templates of the standard library are in every C++ library.
RULES = {
    # Level Zero's loader is opened at run time, and the software NPU only by that loader.
    "libnpucore.so": (r"libpugixml\.so.*", r"(typeinfo (name )?for |vtable for )?npu::(?!internal::).*"),
    "libnpuvision.so": (r"lib(npucore|yaml-cpp|glib-2\.0)\.so.*", r"(typeinfo (name )?for |vtable for )?npu::vision::.*"),
    # The C++ is for the plugins of the same build.
    "libgstnpumeta-1.0.so": (r"lib(gst.*-1\.0|glib-2\.0|gobject-2\.0)\.so.*", r"gst_.*|gstnpu::.*"),
    "libgstnpupublish.so": (r"lib(npucore|npuvision|gst.*-1\.0|glib-2\.0|gobject-2\.0|gio-2\.0|mosquitto|rdkafka)\.so.*", r"gst_plugin_npupublish_(get_desc|register)"),
    "libgstnpu.so": (r"lib(npucore|npuvision|gst.*-1\.0|glib-2\.0|gobject-2\.0|cairo|pango(cairo)?-1\.0)\.so.*", r"gst_plugin_npu_(get_desc|register)"),
    "libze_softnpu.so": (r"lib(openvino|pugixml)\.so.*", r"ze[st]?Get\w+ProcAddrTable|softnpu\w+|vcl\w+"),
}


def needed(library):
    text = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def defined(library):
    """The library's strong symbols, demangled."""
    text = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^[0-9a-f]+ ([A-Z]) (.+)$", text, re.MULTILINE)
    return [re.sub(r"@@?[\w.]+$", "", name) for kind, name in rows if kind not in "WVA"]


def faults(library):
    libraries, symbols = RULES[re.sub(r"\.so[.\d]*$", ".so", Path(library).name)]
    for name in needed(library):
        if not re.fullmatch(f"{SYSTEM}|{libraries}", name):
            yield f"{library}: must not need {name}"
    for name in defined(library):
        if not re.fullmatch(symbols, name):
            yield f"{library}: must not show {name}"


def main():
    found = [fault for library in sys.argv[1:] for fault in faults(library)]
    print("\n".join(found) if found else f"libraries: {len(sys.argv) - 1} need and show only what they may")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
