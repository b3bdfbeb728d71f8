#!/usr/bin/env python3
"""As much of an MQTT broker (3.1.1 and 5) as a publisher needs, on the loopback interface. It keeps sessions as long as it runs.

usage: mqtt_broker.py PORT FOLDER [--mute] [--hold N] [--hold-releases] [--cut-releases N] [--cut-at-release N] [--only-5]
       [--refuse-silently] [--cut-connect N] [--mute-connect N] [--slow-connect SECONDS] [--end-connection N]
       [--late-connect-at N] [--forget-at N] [--receive-maximum N]

FOLDER/messages has the payload of each message, FOLDER/taken a line for each that came, FOLDER/releases one for each PUBREL,
FOLDER/connects one for each CONNECT. With --mute it confirms nothing, but gives signs of life. With --hold it does not answer the first N
messages of quality 2. With --hold-releases it answers no PUBREL, and no message of quality 2 is out; with --cut-releases the first N are
out, and the connection ends without the answer. With --cut-at-release the first N are not out, and the connection ends at the Nth. With
--only-5 it refuses clients of 3.1.1, with --refuse-silently without a word. With --cut-connect it ends the connection instead of answering
the Nth CONNECT, with --mute-connect it leaves that without an answer, with --slow-connect it answers the first so late, with
--end-connection it ends the Nth right behind its answer. With --late-connect-at the very first comes once more, behind the Nth PUBREL, and
is given up at once. With --forget-at it has lost all sessions at the Nth CONNECT. With --receive-maximum it tells clients of MQTT 5 how
many messages it takes at once.
"""
import argparse
import socketserver
import struct
import time
import typing
from pathlib import Path

import broker_parts

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, PINGREQ, PINGRESP, DISCONNECT = 1, 2, 3, 4, 5, 6, 7, 12, 13, 14
UNACCEPTABLE_PROTOCOL, NOT_FOUND = 1, 0x92
SESSION_EXPIRY, RECEIVE_MAXIMUM = 0x11, 0x21  # properties of CONNECT and CONNACK
CLEAN = 2  # of CONNECT's flags


class Reader(broker_parts.Reader):
    def number(self):
        return struct.unpack(">H", self.take(2))[0]

    def text(self):
        return self.take(self.number()).decode()

    def skip_properties(self):
        size = shift = 0
        while True:
            byte = self.take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return self.take(size)


class Wish(typing.NamedTuple):
    """What a CONNECT says of its session."""

    client: str
    is_clean: bool
    expires: bool  # with its connection


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        self.session, self.is_version_5 = {}, False
        try:
            while self.handle_packet():
                pass
        except (OSError, struct.error, IndexError):
            pass  # it was cut

    def handle_packet(self):
        """False: the connection ends."""
        first, size, shift = self.rfile.read(1)[0], 0, 0
        while True:
            byte = self.rfile.read(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        packet = Reader(self.rfile.read(size))
        kind = first >> 4
        if kind == PINGREQ:
            self.answer(PINGRESP)
        answers = {CONNECT: self.connect, PUBLISH: lambda packet: self.take_message(packet, first >> 1 & 3), PUBREL: self.release}
        return kind != DISCONNECT and answers.get(kind, lambda packet: True)(packet)

    def answer(self, kind, data=b""):
        self.wfile.write(bytes((kind << 4, len(data))) + data)

    def connect(self, packet):
        packet.text()
        level, flags = packet.take(2)
        packet.number()
        self.is_version_5 = level == 5
        expires = bool(flags & CLEAN)
        if self.is_version_5:
            properties = packet.skip_properties()
            expires = not (properties and properties[0] == SESSION_EXPIRY)
        options = self.server.options
        self.server.write("connects", str(level))
        if options.only_5 and not self.is_version_5:
            if not options.refuse_silently:
                self.answer(CONNACK, bytes((0, UNACCEPTABLE_PROTOCOL)))
            return False
        if self.server.is_among_first("slow connects", 1):
            time.sleep(options.slow_connect)
        is_there, number, self.session = self.server.session_of(Wish(packet.text(), bool(flags & CLEAN), expires))
        if number == options.cut_connect:
            return False
        if number == options.mute_connect:
            return True
        self.answer(CONNACK, bytes((is_there, 0)) + (self.properties() if self.is_version_5 else b""))
        return number != options.end_connection

    def properties(self):
        most = self.server.options.receive_maximum
        return b"\0" if most is None else struct.pack(">BBH", 3, RECEIVE_MAXIMUM, most)

    def take_message(self, packet, quality):
        packet.text()
        number = packet.take(2) if quality else None
        if self.is_version_5:
            packet.skip_properties()
        line = packet.data[packet.at:].decode()
        self.server.write("taken", line)
        if self.server.options.mute:
            return True
        if quality == 2:
            self.session.setdefault(number, line)
            if not self.server.is_among_first("messages", self.server.options.hold):
                self.answer(PUBREC, number)
            return True
        self.server.write("messages", line)
        if quality == 1:
            self.answer(PUBACK, number)
        return True

    def release(self, packet):
        number = packet.take(2)
        self.server.write("releases", str(number))
        if self.server.options.hold_releases:
            return True
        if self.server.is_late_connect():
            return False
        if self.server.is_among_first("cut-off releases", self.server.options.cut_at_release):
            return self.server.counts["cut-off releases"] < self.server.options.cut_at_release
        line = self.session.pop(number, None)
        if line is not None:
            self.server.write("messages", line)
        if self.server.is_among_first("releases", self.server.options.cut_releases):
            return False
        self.answer(PUBCOMP, number + (bytes((NOT_FOUND,)) if line is None and self.is_version_5 else b""))
        return True


class Broker(broker_parts.Server):
    def __init__(self, options):
        self.options, self.sessions, self.connects, self.first_wish = options, {}, 0, None
        super().__init__(options.port, Connection)

    def session_of(self, wish):
        """(whether it was there, number of the CONNECT, messages that wait for their PUBREL)."""
        with self.lock:
            self.connects += 1
            self.first_wish = self.first_wish or wish
            if self.connects == self.options.forget_at:
                self.sessions.clear()
            kept = self.sessions.pop(wish.client, None)
            is_there = kept is not None and not wish.is_clean
            session = kept if is_there else {}
            if not wish.expires:  # else nobody finds it later
                self.sessions[wish.client] = session
            return is_there, self.connects, session

    def is_late_connect(self):
        """Whether it has come now, and has put out who is connected."""
        with self.lock:
            self.counts["releases before a late connect"] += 1
            if self.counts["releases before a late connect"] != self.options.late_connect_at:
                return False
        self.session_of(self.first_wish)
        return True

    def write(self, name, line):
        broker_parts.append_lines(Path(self.options.folder) / name, [line])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("folder")
    parser.add_argument("--mute", action="store_true")
    parser.add_argument("--hold", type=int, default=0)
    parser.add_argument("--hold-releases", action="store_true")
    parser.add_argument("--cut-releases", type=int, default=0)
    parser.add_argument("--cut-at-release", type=int, default=0)
    parser.add_argument("--only-5", action="store_true")
    parser.add_argument("--refuse-silently", action="store_true")
    parser.add_argument("--cut-connect", type=int)
    parser.add_argument("--mute-connect", type=int)
    parser.add_argument("--slow-connect", type=float, default=0)
    parser.add_argument("--end-connection", type=int)
    parser.add_argument("--late-connect-at", type=int)
    parser.add_argument("--forget-at", type=int)
    parser.add_argument("--receive-maximum", type=int)
    with Broker(parser.parse_args()) as broker:
        broker.serve_forever()


if __name__ == "__main__":
    main()
