"""Models that OpenVINO brings: where its package is installed, npucore takes what that reads, and its Model objects."""
import contextlib
import io
import mmap
import os
import sys
import tempfile
from pathlib import Path

from ._errors import InvalidArgumentError

# Files for which npucore's own reader names OpenVINO's converter, ovc.
CONVERTED = {".onnx", ".pb", ".tflite"}


def ir_of(source):
    """(text, weights) of the IR that OpenVINO makes of its own Model, of a file, or of an ONNX in memory. None: npucore reads it, or says why not."""
    openvino = sys.modules.get("openvino")
    if openvino is not None and isinstance(source, getattr(openvino, "Model", ())):
        return _saved(openvino.serialize, source)  # as it is: whoever made it has chosen its precision
    if not _is_foreign(source):
        return None
    try:
        import openvino
    except ImportError:
        return None
    model = _converted(openvino, source)
    return _saved(openvino.save_model, model)  # as ovc does: weights of f32 become f16


def _in_memory(source):
    return isinstance(source, (bytes, bytearray)) or (isinstance(source, memoryview) and source.ndim == 1 and source.format == "B")


def _is_foreign(source):
    if _in_memory(source):
        return bytes(source[:1]) == b"\x08"  # the version, with which an ONNX begins
    try:
        path = Path(source)
    except TypeError:
        return False
    return path.suffix.lower() in CONVERTED and path.is_file()


def _converted(openvino, source):
    try:
        return openvino.convert_model(io.BytesIO(source) if _in_memory(source) else os.fspath(source))
    except Exception as error:
        title = "the model in memory" if _in_memory(source) else f'"{os.fspath(source)}"'
        raise InvalidArgumentError(f"OpenVINO {openvino.__version__.split('-')[0]} cannot convert {title}: {error}") from error


def _saved(save, model):
    """Lets OpenVINO write the two files of the IR into memory: it knows paths only."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as files:
        path = Path(folder, "model.xml")
        written = []
        for suffix in (".xml", ".bin"):
            file = files.enter_context(os.fdopen(os.memfd_create("npucore" + suffix), "rb"))
            path.with_suffix(suffix).symlink_to(f"/proc/self/fd/{file.fileno()}")
            written.append(file)
        save(model, path)
        return tuple(_mapped(file) for file in written)


def _mapped(file):
    size = os.fstat(file.fileno()).st_size
    return mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) if size else b""
