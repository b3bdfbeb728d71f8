"""Recorded video: where it can be cut, and the frames between two cuts."""
import bisect
import dataclasses
import os

import av
import fsspec

import npucore

VIDEO_NAMES = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpg", ".mts", ".ts", ".webm")
MATRICES = {1: "bt709", 5: "bt601", 6: "bt601", 9: "bt2020", 10: "bt2020"}  # AVColorSpace
FULL_RANGE = 2  # AVColorRange
SEEK_BACK_SECONDS = (0, 2, 10)  # from the key frame; then from the beginning


@dataclasses.dataclass(frozen=True)
class Video:
    name: str  # unique in the job, below the output folder
    url: str
    size: int  # bytes


@dataclasses.dataclass(frozen=True)
class Part:
    """The frames of a video from one key frame up to another."""
    video: Video
    number: int
    first_frame: int  # the number of times[0] in the video
    times: list  # of all frames, the key frame's first, in order of presentation, in units of the stream's time base
    origin: int  # the time of the video's first frame

    @property
    def name(self):
        return f"part-{self.number:05}"


def find_videos(inputs):
    """The videos that fsspec finds: files, patterns, and all in folders."""
    videos = {}
    for given in inputs:
        files, path = fsspec.core.url_to_fs(given)
        if any(letter in path for letter in "*?["):
            found, root = files.glob(path), os.path.dirname(path[:min(path.find(letter) for letter in "*?[" if letter in path)] + "x")
        elif files.isdir(path):
            found, root = [file for file in files.find(path) if file.lower().endswith(VIDEO_NAMES)], path
        elif files.exists(path):
            found, root = [path], os.path.dirname(path)
        else:
            found, root = [], path
        if not found:
            raise npucore.NotFoundError(f"{given}: no video there; a folder is searched for {' '.join(VIDEO_NAMES)}")
        for file in found:
            video = Video(os.path.relpath(file, root or "."), files.unstrip_protocol(file), files.size(file))
            if videos.setdefault(video.name, video) != video:
                raise npucore.InvalidArgumentError(
                    f"{video.url} and {videos[video.name].url} would both be called {video.name}: give the folder above them")
    return sorted(videos.values(), key=lambda video: video.name)


def split(video, seconds):
    """The parts of a video. Each is at least `seconds` long, but the last, and begins with a key frame. Reads all packets, decodes none."""
    keys, times = [], set()
    with fsspec.open(video.url) as file, av.open(file) as container:
        stream = _video_stream(container, video)
        for packet in container.demux(stream):
            if packet.pts is None and not packet.size:
                continue  # the end
            if packet.pts is None:
                raise npucore.UnsupportedError(f"{video.url}: its frames have no time stamps; copy it into MP4 or Matroska first")
            if packet.is_discard:
                continue  # before the start in an edit list
            times.add(packet.pts)
            if packet.is_keyframe:
                keys.append(packet.pts)
        least = seconds / stream.time_base
    if not keys:
        raise npucore.UnsupportedError(f"{video.url}: {len(times)} frames and no key frame to start at")
    return _cut(video, sorted(keys), sorted(times), least)


def _cut(video, keys, times, least):
    starts = [keys[0]]
    for key in keys:
        if key - starts[-1] >= least:
            starts.append(key)
    parts, position = [], bisect.bisect_left(times, starts[0])
    for number, end in enumerate([*starts[1:], times[-1] + 1]):
        first, position = position, bisect.bisect_left(times, end)
        parts.append(Part(video, number, first, times[first:position], times[0]))
    return parts


def frames(part):
    """The frames of a part that can be decoded, in order: (index into part.times, nanoseconds from the video's first frame, av.VideoFrame)."""
    index_of = {time: index for index, time in enumerate(part.times)}
    with fsspec.open(part.video.url) as file, av.open(file) as container:
        stream = _video_stream(container, part.video)
        stream.thread_type = "AUTO"
        _seek(container, stream, part)
        for frame in container.decode(stream):
            if frame.pts is not None and frame.pts > part.times[-1]:
                return
            index = index_of.pop(frame.pts, None)
            if index is not None:
                yield index, round((frame.pts - part.origin) * stream.time_base * 10**9), frame


def _video_stream(container, video):
    if not container.streams.video:
        raise npucore.UnsupportedError(f"{video.url} has no video stream")
    return container.streams.video[0]


def _seek(container, stream, part):
    """Goes to the part's key frame or before it. Few formats seek exactly."""
    for back in SEEK_BACK_SECONDS:
        target = part.times[0] - round(back / stream.time_base)
        try:
            container.seek(target, stream=stream)
            key = next((packet for packet in container.demux(stream) if packet.is_keyframe), None)
            if key is not None and key.pts <= part.times[0]:
                container.seek(target, stream=stream)
                return
        except av.FFmpegError:
            pass
    container.seek(0)


def layout(frame):
    """How npucore shall read frames like this one: (format, width, height, matrix, range)."""
    if frame.width % 2 or frame.height % 2:
        return "RGB", frame.width, frame.height, "bt601", "limited"
    matrix = MATRICES.get(frame.colorspace, "bt709" if frame.height >= 720 else "bt601")
    is_full = frame.color_range == FULL_RANGE or frame.format.name.startswith("yuvj")
    return "I420", frame.width, frame.height, matrix, "full" if is_full else "limited"


def pixels(frame, format):
    """The inputs of a model that was compiled for layout(frame)."""
    if format == "RGB":
        return [frame.to_ndarray(format="rgb24")]
    array = (frame if frame.format.name in ("yuv420p", "yuvj420p") else frame.reformat(format="yuv420p")).to_ndarray().reshape(-1)
    luma, width, height = frame.width * frame.height, frame.width, frame.height
    chroma = (1, height // 2, width // 2, 1)
    return [array[:luma].reshape(1, height, width, 1), array[luma:luma * 5 // 4].reshape(chroma), array[luma * 5 // 4:].reshape(chroma)]
