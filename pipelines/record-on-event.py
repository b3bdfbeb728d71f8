#!/usr/bin/python3
"""Records what leads to an event and what follows: someone crosses a line, comes into a zone, or is seen at all.

usage: record-on-event.py FOLDER [VIDEO]

Writes a Matroska file for each event into FOLDER, and tells of it in a JSON line. An event during a recording makes that one
longer. It reads from the environment what the other lines here do (common.sh), and
    EVENT     forward, backward, entered or left; empty: any of them    (entered)
    PLACES    a file with the zones and lines of npucount               (one zone, which is the whole frame)
    CLASS     the label of those that make an event; empty: all         (empty)
    BEFORE    seconds that are recorded before an event                 (3)
    AFTER     seconds that are recorded behind it                       (3)
    SOURCE    what gives the frames, such as v4l2src                    (VIDEO, else the demo clip)
    ENCODER   such as "x264enc tune=zerolatency key-int-max=30 ! h264parse"    (jpegenc)
Ctrl+C ends it, and what is being recorded is whole. Where the disk is slower than the frames, they wait: a file is read more slowly
then, and a camera drops frames.
"""

import json
import math
import os
import signal
import sys
from collections import deque
from pathlib import Path

try:
    import gi
except ImportError:
    sys.exit("record-on-event.py: python3 has no gi. Install python3-gi (apt-get install python3-gi)")

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

HERE = Path(__file__).resolve().parent
EVENTS = ("forward", "backward", "entered", "left")
MOST_WAITING = 32 << 20  # bytes of a recording that are not written yet
WHOLE_FRAME = '{"zones": [{"name": "picture", "points": [[0, 0], [1, 0], [1, 1], [0, 1]]}]}'


def setting(name, default):
    return os.environ.get(name) or default


def seconds(name):
    text = setting(name, "3")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e6:
        sys.exit(f"{name}={text}: write seconds, from 0 to a million")
    return number


def event_to_record():
    event = os.environ.get("EVENT", "entered")
    if event and event not in EVENTS:
        sys.exit(f"EVENT={event}: write one of {', '.join(EVENTS)}, or nothing for any of them")
    return event


class Recording:
    """One file, from its first frame on."""

    def __init__(self, path, caps):
        self.path, self.first, self.last, self.events, self.is_open = path, None, None, [], True
        self.pipeline = Gst.parse_launch(
            "appsrc name=frames format=time ! matroskamux offset-to-zero=true ! filesink name=file")
        self.frames = self.pipeline.get_by_name("frames")
        self.frames.set_property("caps", caps)
        self.pipeline.get_by_name("file").set_property("location", str(path))
        self.pipeline.set_state(Gst.State.PLAYING)

    def add(self, frame):
        self.wait_for_room()
        self.first = frame.pts if self.first is None else self.first
        self.last = frame.pts
        self.frames.emit("push-buffer", frame)

    def wait_for_room(self):
        """A disk that is slower than the frames holds them back: else they would fill the memory."""
        is_full = True
        while is_full:
            is_full = self.frames.get_property("current-level-bytes") >= MOST_WAITING
            self.look_for_failure(self.pipeline.get_bus().timed_pop_filtered(
                20 * Gst.MSECOND if is_full else 0, Gst.MessageType.ERROR))

    def look_for_failure(self, message):
        if message and message.type == Gst.MessageType.ERROR:
            self.close()
            raise OSError(f"{self.path} cannot be written: {message.parse_error()[0].message}")

    def close(self):
        self.is_open = False
        self.pipeline.set_state(Gst.State.NULL)

    def end(self):
        if not self.is_open:
            return  # it has failed, and that is told
        self.frames.emit("end-of-stream")
        self.look_for_failure(self.pipeline.get_bus().timed_pop_filtered(
            Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR))
        self.close()
        print(json.dumps({"file": str(self.path), "from": self.first / Gst.SECOND, "to": self.last / Gst.SECOND,
                          "events": self.events}), flush=True)


class Recorder:
    """Keeps the frames of the last seconds, encoded, and writes them where something has happened. npucount tells of an event
    while its frame passes, so that frame and all behind it are still to come here."""

    def __init__(self, folder, event, before, after):
        self.folder, self.event = folder, event
        self.before, self.after = (round(one * Gst.SECOND) for one in (before, after))
        self.kept, self.caps = deque(), None
        self.happened = deque()  # events whose frame is to come
        self.recording, self.until, self.count = None, 0, 0

    def note(self, happening):
        """In the thread of the frames that pass npucount."""
        if self.event in ("", happening["event"]):
            self.happened.append(happening)

    def take(self, frame, caps):
        """In the thread of the encoded frames."""
        self.caps = caps
        self.kept.append(frame)
        self.drop_old(frame.pts - self.before)
        while self.happened and self.happened[0]["pts"] <= frame.pts:
            self.begin_or_go_on(self.happened.popleft())
        if self.recording and frame.pts > self.until:
            self.end()
        if self.recording and self.recording.last != frame.pts:
            self.recording.add(frame)

    def drop_old(self, begin):
        """All before the last key frame that is not after `begin`."""
        keys = [i for i, frame in enumerate(self.kept) if not frame.has_flags(Gst.BufferFlags.DELTA_UNIT) and frame.pts <= begin]
        for _ in range(keys[-1] if keys else 0):
            self.kept.popleft()

    def begin_or_go_on(self, happening):
        if self.recording and happening["pts"] > self.until:
            self.end()
        if not self.recording:
            self.count += 1
            name = "".join(letter if letter.isalnum() else "-" for letter in f"{happening['place']}-{happening['event']}")
            self.recording = Recording(self.folder / f"{self.count:04}-{name}.mkv", self.caps)
            for frame in self.kept:
                self.recording.add(frame)
        self.until = happening["pts"] + self.after
        happened_at = happening.pop("pts") / Gst.SECOND
        self.recording.events.append(happening | {"seconds": happened_at})

    def end(self):
        if self.recording:
            self.recording.end()
        self.recording = None


def line():
    """Everything up to the encoded frames."""
    model = setting("MODEL", HERE / ".." / "models" / "shapes" / "shapes.xml")
    video = sys.argv[2] if len(sys.argv) > 2 else HERE / ".." / "models" / "shapes" / "shapes.mp4"
    source = setting("SOURCE", f'filesrc location="{video}" ! decodebin')
    return (f'{source} ! npuinfer model="{model}" device={setting("DEVICE", "auto")} ! nputensordec threshold=0.2 ! nputrack ! '
            f'npucount name=count anchor=center ! queue ! videoconvert ! {setting("ENCODER", "jpegenc")} ! '
            "appsink name=encoded sync=false emit-signals=true")


def set_places(count):
    count.set_property("object-class", setting("CLASS", ""))
    if os.environ.get("PLACES"):
        count.set_property("location", os.environ["PLACES"])
    else:
        count.set_property("places", WHOLE_FRAME)


def on_element_message(_bus, message, recorder):
    structure = message.get_structure()
    if structure.get_name() == "npu-count":
        recorder.note({"event": structure.get_value("event"), "place": structure.get_value("place"),
                       "tracking_id": structure.get_value("id"), "pts": structure.get_value("pts")})


class Player:
    """The pipeline, until its end or a failure."""

    def __init__(self, recorder):
        self.pipeline, self.loop, self.failure = Gst.parse_launch(line()), GLib.MainLoop(), None
        set_places(self.pipeline.get_by_name("count"))
        bus = self.pipeline.get_bus()
        bus.enable_sync_message_emission()
        bus.connect("sync-message::element", on_element_message, recorder)
        bus.add_signal_watch()
        bus.connect("message::eos", lambda *_: self.loop.quit())
        bus.connect("message::warning", lambda _, message: print(message.parse_warning()[0].message, file=sys.stderr))
        bus.connect("message::error", lambda _, message: self.fail(message.parse_error()[0].message))
        self.pipeline.get_by_name("encoded").connect("new-sample", self.on_frame, recorder)
        for number in (signal.SIGINT, signal.SIGTERM):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, lambda: self.pipeline.send_event(Gst.Event.new_eos()))

    def fail(self, text):
        self.failure = self.failure or text
        self.loop.quit()

    def on_frame(self, encoded, recorder):
        sample = encoded.emit("pull-sample")
        try:
            recorder.take(sample.get_buffer(), sample.get_caps())
        except OSError as error:
            self.fail(str(error))
            return Gst.FlowReturn.ERROR
        return Gst.FlowReturn.OK

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: record-on-event.py FOLDER [VIDEO]")
    Gst.init(None)
    folder = Path(sys.argv[1])
    recorder = Recorder(folder, event_to_record(), seconds("BEFORE"), seconds("AFTER"))
    print(f"gst-launch-1.0 -q {line()}", file=sys.stderr)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        player = Player(recorder)
    except (OSError, GLib.Error) as error:
        sys.exit(str(error))
    player.run()
    try:
        recorder.end()
    except OSError as error:
        player.fail(str(error))
    if player.failure:
        sys.exit(player.failure)


if __name__ == "__main__":
    main()
