"""The errors of npucore. Each message says what failed, with which numbers, and what to do next."""
import builtins


class Error(Exception):
    """Any error of npucore. code: 'invalid argument', 'not found', ...; driver_log: the driver's words, if any."""

    code = "internal error"
    driver_log = ""


class InvalidArgumentError(Error, ValueError):
    """The caller's value is wrong; the message names it."""

    code = "invalid argument"


class NotFoundError(Error, LookupError):
    """A file, a device, an input or an output does not exist."""

    code = "not found"


class UnsupportedError(Error):
    """The device, the driver or the model's operators cannot do it."""

    code = "unsupported"


class IncompatibleError(Error):
    """A blob was made for another device, driver or runtime."""

    code = "incompatible"


class CompileError(Error):
    """The driver's compiler refused the model: see driver_log."""

    code = "compile failed"


class OutOfMemoryError(Error, MemoryError):
    """The device or this machine has no memory left for it."""

    code = "out of memory"


class DeviceLostError(Error):
    """The device hung or its context broke. The inference is lost; the next one loads the model again."""

    code = "device lost"


class TimeoutError(Error, builtins.TimeoutError):  # noqa: A001 - npucore.TimeoutError
    """It took longer than allowed."""

    code = "timeout"


class CancelledError(Error):
    """The caller cancelled it."""

    code = "cancelled"


class IoError(Error, OSError):
    """A file could not be read or written."""

    code = "i/o error"


class InternalError(Error):
    """The driver's answer breaks its specification."""

    code = "internal error"
