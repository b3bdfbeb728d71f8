#!/usr/bin/env python3
"""Reads what npuinfer and nputensordec found, with PyGObject: by a probe on a pad, or from an appsink.

usage: read_answers.py probe|appsink LAUNCH_LINE   its last element is called "end":
  read_answers.py appsink "filesrc location=clip.mp4 ! decodebin ! npuinfer model=model.xml ! nputensordec ! appsink name=end sync=false"
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstNpuMeta", "1.0")
from gi.repository import Gst, GstApp, GstNpuMeta  # noqa: E402


def each(read, *arguments):
    """All that a function gives for the indices 0, 1, ...; its first result is whether there is one."""
    index = 0
    while True:
        there, item = read(*arguments, index)
        if not there:
            return
        yield item
        index += 1


def object_line(buffer, index, thing):
    box = thing.box
    words = [f"{thing.found.label} {thing.found.confidence:.3f} at {box.x:.2f},{box.y:.2f} {box.w:.2f}x{box.h:.2f}"]
    if thing.is_tracked:
        words.append(f"id {thing.tracking_id}")
    words += [f"is {found.label}" for found in each(GstNpuMeta.buffer_get_class, buffer, index)]
    words += [f"point {point.x:.2f},{point.y:.2f}" for point in each(GstNpuMeta.buffer_get_key_point, buffer, index)]
    there, mask = GstNpuMeta.buffer_get_mask(buffer, index)
    if there:
        pixels = mask.get_bytes().get_data()
        words.append(f"mask of {mask.columns}x{mask.rows} with {len(pixels) - pixels.count(0)} inside")
    return " ".join(words)


def print_answer(buffer):
    print(f"frame at {buffer.pts} ns")
    for index, thing in enumerate(each(GstNpuMeta.buffer_get_object, buffer)):
        print(object_line(buffer, index, thing))
    for tensor in each(GstNpuMeta.buffer_get_tensor, buffer):
        kind = GstNpuMeta.data_type_name(tensor.type)
        print("tensor", tensor.name, kind, *tensor.get_dims(), f"of {tensor.memory.get_sizes()[0]} bytes")


def on_frame(_pad, info):
    """Runs in the thread that streams: the frame waits meanwhile."""
    print_answer(info.get_buffer())
    return Gst.PadProbeReturn.OK


def pull_all(sink):
    while (sample := sink.pull_sample()) is not None:
        print_answer(sample.get_buffer())


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("probe", "appsink"):
        sys.exit(__doc__)
    Gst.init(None)
    pipeline = Gst.parse_launch(sys.argv[2])
    end = pipeline.get_by_name("end")
    if sys.argv[1] == "probe":
        end.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_frame)
    pipeline.set_state(Gst.State.PLAYING)
    if sys.argv[1] == "appsink":
        pull_all(end)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(message.parse_error()[0].message)


if __name__ == "__main__":
    main()
