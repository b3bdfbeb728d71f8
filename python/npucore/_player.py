"""Video: frames with what a model finds in them, by GStreamer and the elements."""
import atexit
import functools
import logging
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from . import _software
from ._errors import InvalidArgumentError, NotFoundError, UnsupportedError

_PACKAGES = "libgstreamer-plugins-base1.0-0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav"
# Sound is not decoded.
_DECODE = 'decodebin name=decoder caps="video/x-raw(ANY)" expose-all-streams=false'
# Numbered pictures get times, which trackers need; GStreamer knows these by their names.
_PICTURES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}
_running = set()


@functools.cache
def _native():
    """The module that is linked to GStreamer. Nothing else of the package needs that."""
    try:
        from . import _video
    except ImportError as error:
        if re.search(r"\blib(gst|g(lib|object|module)-)", str(error)):
            raise UnsupportedError(f"npucore.video needs GStreamer 1.22 or newer ({error}): sudo apt install {_PACKAGES}") from error
        raise UnsupportedError(f"this npucore was built without video ({error}): build it with -Dgst=enabled") from error
    _video.prepare()
    return _video


@atexit.register
def _stop_all():
    """No element's thread runs while the process ends."""
    for player in list(_running):
        player.stop()


class _Columns:
    """The arrays of an answer, each made once."""

    def __init__(self, answer):
        self._answer = answer

    def __getattr__(self, name):
        value = getattr(self._answer, name)
        setattr(self, name, value)
        return value


def _of_arrays(name, what, convert=lambda value: value):
    def get(thing):
        values = getattr(thing._columns, name)
        return None if values is None else convert(values[thing._index])
    return property(get, doc=what)


class VideoObject:
    """An object in a frame, which it outlives. What nobody said is None or empty."""

    __slots__ = ("_columns", "_index", "anomaly", "classes", "embedding", "text", "track_id")

    def __init__(self, columns, index, track_id, classes, text, anomaly, embedding):
        self._columns, self._index = columns, index
        self.track_id = track_id  #: the same in all frames; None: not followed, or not confirmed yet
        self.classes = classes  #: [(name, id, confidence)] by other models
        self.text = text
        self.anomaly = anomaly  #: 0..1
        self.embedding = embedding  #: (n,) float32 of length 1

    class_name = _of_arrays("class_name", "The label, str.", str)
    class_id = _of_arrays("class_id", "The label's number.", int)
    confidence = _of_arrays("confidence", "0..1; None: not known.", lambda value: None if value != value else float(value))
    xyxy = _of_arrays("xyxy", "(left, top, right, bottom) in frame pixels", lambda box: tuple(box.tolist()))
    mask = _of_arrays("mask", "(height, width) bool, in frame pixels, or None")
    key_points = _of_arrays("key_points", "(points, 3) float32: x, y in frame pixels, confidence; or None")
    oriented = _of_arrays("oriented", "(centre x, y, width, height) in frame pixels, radians clockwise; or None", lambda box: tuple(box.tolist()))

    def __repr__(self):
        known = "" if self.confidence is None else f" {self.confidence:.0%}"
        track = "" if self.track_id is None else f" #{self.track_id}"
        return f"<{self.class_name}{known}{track} {' '.join(f'{edge:.0f}' for edge in self.xyxy)}>"


class VideoFrame:
    """A frame with what was found in it. It keeps the decoder's memory: whoever collects frames keeps frame.image and frame.answer instead."""

    def __init__(self, sample, index):
        self._sample = sample
        self.index = index  #: from 0, in the loop

    @property
    def seconds(self):
        """The frame's time in the video; None where it has none."""
        return self._sample.seconds

    @property
    def size(self):
        """(width, height) in pixels"""
        return self._sample.size

    @property
    def is_inferred(self):
        """Whether the model ran on this frame: see npuinfer's inference-interval."""
        return self._sample.is_inferred

    @functools.cached_property
    def image(self):
        """(height, width, 3) uint8, BGR unless video() was asked for RGB. The pixels are read and converted when this is asked for first; then it
        is always the same array, and may be drawn on."""
        return self._sample.image()

    @functools.cached_property
    def answer(self):
        """What was found, as arrays: npucore.vision.Answer. sv.Detections(**frame.answer.detections()) is supervision's."""
        return self._sample.answer()

    @functools.cached_property
    def objects(self):
        """The same as a list of VideoObject, best first."""
        columns = _Columns(self.answer)
        return [VideoObject(columns, index, *details) for index, details in enumerate(self._sample.details())]

    def __repr__(self):
        width, height = self.size
        return f"<npucore.VideoFrame {self.index}, {width}x{height}, {len(self.answer)} objects>"


def _text(value):
    """A property's value as its element reads it: a list with commas, a mapping as NAME="VALUE" pairs."""
    if isinstance(value, dict):
        return " ".join(f'{name}="{_text(one)}"' for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(value):
    """The same in a launch line."""
    text = _text(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _element(factory, name, properties):
    return " ".join([factory, f"name={name}", *(f"{key.replace('_', '-')}={_quoted(value)}" for key, value in properties.items() if value is not None)])


def _pictures(path, before, digits, after, properties):
    """Numbered pictures, from the first one that is there."""
    kind = _PICTURES.get(path.suffix.lower())
    if kind is None:
        raise InvalidArgumentError(f"{path}: numbered pictures end in {', '.join(_PICTURES)}")
    name = re.compile(re.escape(before) + (rf"(\d{{{digits}}})" if digits else r"(\d+)") + re.escape(after))
    numbers = sorted(int(found[1]) for file in (path.parent.iterdir() if path.parent.is_dir() else ()) if (found := name.fullmatch(file.name)))
    if not numbers:
        raise NotFoundError(f"{path}: there is no picture with such a name")
    first, last = numbers[0], numbers[-1]
    if last - first >= len(numbers):
        missing = next(number for number in range(first, last) if number not in numbers)
        warnings.warn(f"{path}: number {missing} is not there; the video ends before it", RuntimeWarning, stacklevel=4)
    location = str(path.parent).replace("%", "%%") + "/" + path.name
    return _element("multifilesrc", "source", {"location": location, "start-index": first, "caps": f"{kind},framerate=30/1"} | properties)


def _file(path, properties):
    path = Path(path).expanduser()
    number = re.fullmatch(r"([^%]*)%(0(\d+))?d([^%]*)", path.name)
    if number and not path.exists():
        return _pictures(path, *number.group(1, 3, 4), properties)
    if not path.is_file():
        raise NotFoundError(f"{path}: " + ("is a folder, not a video: numbered pictures are named as folder/%05d.jpg" if path.is_dir()
                                           else "there is no such file"))
    return _element("filesrc", "source", {"location": path} | properties)


def _source(source, properties):
    """The front of the pipeline, for the source that the caller named, and whether its frames come in their own time."""
    if isinstance(source, bool) or not isinstance(source, (int, str, os.PathLike)):
        raise InvalidArgumentError(f"a source is a file, a URI or a camera's number, not {source!r}")
    if isinstance(source, int):
        if not os.path.exists(f"/dev/video{source}"):
            raise NotFoundError(f"/dev/video{source}: there is no such camera")
        return f"{_element('v4l2src', 'source', {'device': f'/dev/video{source}'} | properties)} ! {_DECODE}", True
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", str(source))
    if scheme is None:
        return f"{_file(source, properties)} ! {_DECODE}", False
    if scheme[1].startswith("rtsp"):
        # TCP passes firewalls, and 200 ms stay near the camera.
        defaults = {"location": source, "protocols": "tcp", "latency": 200, "tcp-timeout": 5000000}
        return f"{_element('rtspsrc', 'source', defaults | properties)} ! application/x-rtp,media=video ! {_DECODE}", True
    return f"{_element('uridecodebin', 'source', {'uri': source, 'expose-all-streams': False} | properties)} caps=\"video/x-raw(ANY)\"", False


class Video:
    """Frames of a video: `for frame in video`. Each loop starts it anew; leaving the loop stops it and frees all."""

    def __init__(self, native, launch, is_file, is_rgb, hint=""):
        """hint: for the error where there is no device."""
        self._new_player = functools.partial(native.Player, launch, is_file, is_rgb)
        self._hint = hint
        self._players = set()

    def __iter__(self) -> Iterator[VideoFrame]:
        player = self._new_player()
        self._players.add(player)
        _running.add(player)
        index = 0
        try:
            player.start()
            while True:
                sample = player.pull()
                for is_warning, words in player.take_notes():
                    if is_warning:
                        warnings.warn(words, RuntimeWarning, stacklevel=2)
                    else:
                        logging.getLogger("npucore").info("%s", words)
                if sample is not None:
                    yield VideoFrame(sample, index)
                    index += 1
                elif player.is_over():
                    return
        except NotFoundError as error:
            if not self._hint or "softnpu" not in str(error):
                raise
            raise NotFoundError(f"{error}{self._hint}") from error
        finally:
            player.stop()
            self._players.discard(player)
            _running.discard(player)

    def close(self):
        """Ends the loops that run, from any thread."""
        for player in list(self._players):
            player.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def video(source=None, *, model, track=False, confidence=None, device="auto", drop=None, color="BGR", launch=None, properties=None) -> Video:
    """Frames with what a model finds in them.

        for frame in npucore.video("clip.mp4", model="yolo11n.xml", track=True):
            for thing in frame.objects:
                print(frame.seconds, thing.class_name, thing.confidence, thing.xyxy, thing.track_id)

    source: a file, a URI ("rtsp://..."), a camera's number (0 is /dev/video0) or numbered pictures ("photos/%05d.jpg").
    model: an OpenVINO IR (.xml) with its files beside it, or a blob (.blob).
    track: gives objects identities.
    confidence: lowest score, 0..1, instead of the model's own.
    device: 'auto', 'npu', 'software', an NPU's PCI address or UUID, or a Device. color: 'BGR' or 'RGB', of frame.image.
    drop: leaves out frames that come too late, and keeps only the newest one for a slow loop; None: for cameras and RTSP.
    launch: a fragment of a GStreamer pipeline instead of a source: "videotestsrc num-buffers=30".
    properties: of elements, by their names, and of the source: {"npuinfer": {"inference-interval": 3}, "source": {"latency": 100}}. A list
        stands for texts with commas, a dict for NAME="VALUE" pairs, None for what is not set.

    Elements' warnings become RuntimeWarning, their other words go to the logger "npucore", their errors are npucore.Error.
    """
    if color not in ("BGR", "RGB"):
        raise InvalidArgumentError(f"color is 'BGR' or 'RGB', not {color!r}")
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidArgumentError(f"confidence is 0 to 1, not {confidence!r}")
    if (source is None) == (launch is None):
        raise InvalidArgumentError("give video() a source, or launch= with a fragment of a GStreamer pipeline for it")
    model = Path(model).expanduser()
    if not model.exists():
        raise NotFoundError(f"{model}: there is no such model")
    properties = dict(properties or {})
    of_source = properties.pop("source", {})
    if launch is None:
        launch, is_live = _source(source, of_source)
    elif of_source:
        raise InvalidArgumentError("write the source's properties into launch=")
    else:
        is_live = False
    drop = is_live if drop is None else drop
    if not isinstance(device, str):
        info = getattr(device, "info", device)
        device = "software" if info.is_software else info.pci_address
    elements = {"npuimport" if model.suffix == ".blob" else "npuinfer": {"model": model, "device": device} | ({"drop": "late"} if drop else {}),
                "nputensordec": {} if confidence is None else {"threshold": confidence}}
    if track:
        elements["nputrack"] = {}
    for name, given in properties.items():
        if name not in elements:
            raise InvalidArgumentError(f"properties are given for {name!r}: this pipeline has {', '.join(elements)} and source")
        elements[name] |= {key.replace("_", "-"): value for key, value in given.items()}
    # Frames that wait while the caller looks at one.
    sink = _element("appsink", "frames", {"sync": False, "enable-last-sample": False, "max-buffers": 1 if drop else 2, "drop": drop})
    native = _native()
    hint = "" if device == "npu" else _software.prepare()
    chain = " ! ".join(_element(name, name, given) for name, given in elements.items())
    return Video(native, f"{launch} ! {chain} ! {sink}", launch.startswith("filesrc name=source"), color == "RGB", hint)
