"""Where the software NPU's OpenVINO is: the wheel `openvino`, which npucore[software] asks for."""
import ctypes
import functools
import importlib.util
import os
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


@functools.cache
def prepare():
    """Makes OpenVINO known to the software NPU before that is opened; returns a hint for the error if there is none."""
    libraries = openvino_libraries()
    if libraries is None:
        return "; for the software NPU: pip install 'npucore[software]'"
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
