"""Inference on Intel NPUs through Level Zero, and on the CPU with the software NPU.

    import npucore
    compiled = npucore.compile("model.xml")
    outputs = compiled.create_request().infer({"images": array})   # {"output0": array}

Arrays are NumPy's; inputs may also be DLPack's. Devices: devices(), Device. Models: Model, compile(), load(). Many frames: AsyncPool.
Vision models: npucore.vision. Files and cameras: video(). Errors: Error and its classes. `python -m npucore` shows the NPU, or what is missing.
"""
from collections.abc import Mapping as _Mapping

from . import _core
from ._core import (
    BlobInfo,
    CompiledModel,
    Completions,
    Device,
    DeviceInfo,
    Finding,
    Frame,
    LayerProfile,
    LoadStats,
    Model,
    Port,
    Properties,
    Request,
    State,
    Tensor,
    compile,
    diagnose,
    list_devices,
    load,
    load_cached,
    read_blob_info,
)
from ._errors import (
    CancelledError,
    CompileError,
    DeviceLostError,
    Error,
    IncompatibleError,
    InternalError,
    InvalidArgumentError,
    IoError,
    NotFoundError,
    OutOfMemoryError,
    TimeoutError,
    UnsupportedError,
)
from ._player import Video, video
from ._pool import AsyncPool
from ._version import __version__

_Mapping.register(Properties)


def devices():
    """The devices that can be opened, real NPUs first, opened."""
    found = []
    for info in list_devices():
        try:
            found.append(Device("software" if info.is_software else info.pci_address))
        except (NotFoundError, UnsupportedError):
            continue
    return found


from . import vision  # noqa: E402 - it uses the names above

__all__ = [
    "AsyncPool", "BlobInfo", "CancelledError", "CompileError", "CompiledModel", "Completions", "Device", "DeviceInfo", "DeviceLostError", "Error",
    "Finding", "Frame", "IncompatibleError", "InternalError", "InvalidArgumentError", "IoError", "LayerProfile", "LoadStats", "Model",
    "NotFoundError", "OutOfMemoryError", "Port", "Properties", "Request", "State", "Tensor", "TimeoutError", "UnsupportedError", "Video",
    "compile", "devices", "diagnose", "list_devices", "load", "load_cached", "read_blob_info", "video", "vision",
]
