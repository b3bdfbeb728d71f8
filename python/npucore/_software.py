"""Where the software NPU's OpenVINO is: the wheel `openvino`, which npucore[software] asks for."""
import ctypes
import functools
import importlib.metadata
import importlib.util
import os
import re
from pathlib import Path


def openvino_libraries():
    """The folder of OpenVINO's libraries, or None. Does not import openvino."""
    try:
        spec = importlib.util.find_spec("openvino")
    except (ImportError, ValueError):
        return None
    for place in (spec and spec.submodule_search_locations) or []:
        if (Path(place) / "libs").is_dir():
            return Path(place) / "libs"
    return None


def _other_version():
    """A hint where another OpenVINO is installed than the one that the software NPU was linked to, and so cannot load."""
    try:
        installed = importlib.metadata.version("openvino")
        needed = [found[1] for line in importlib.metadata.requires("npucore") or [] if (found := re.match(r"openvino==([\w.]+)", line))]
    except importlib.metadata.PackageNotFoundError:
        return ""  # npucore in a build tree
    if not needed or needed[0] == installed:
        return ""
    return f"; the software NPU needs OpenVINO {needed[0]}, and {installed} is installed: pip install 'npucore[software]'"


@functools.cache
def prepare():
    """Makes OpenVINO known to the software NPU before that is opened; returns a hint for the error if there is none."""
    libraries = openvino_libraries()
    if libraries is None:
        return "; for the software NPU: pip install 'npucore[software]'"
    if wrong := _other_version():
        return wrong
    if libraries.parent.parent == Path(__file__).resolve().parent.parent:
        return ""  # beside this package: the software NPU's own search path leads there
    for library in sorted(libraries.glob("libopenvino.so.*")):
        try:
            ctypes.CDLL(str(library))
        except OSError as error:
            return f"; OpenVINO for the software NPU cannot be loaded: {error}"
    # The compile helper is a process of its own, which would not find it.
    os.environ.setdefault("NPUCORE_COMPILE", "in-process")
    return ""
