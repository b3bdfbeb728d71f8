#!/usr/bin/env python3
"""As much of a Kafka broker as a producer needs: one node with one partition of any topic, on the loopback interface. It knows what goes
out again by the numbers of idempotent producers, as real ones do, and remembers it where it is killed and started again.

usage: kafka_broker.py PORT FOLDER [--tls CERTIFICATE KEY [--client-ca CA]] [--user NAME PASSWORD] [--cut-every N]
       [--cut-logins N] [--cut-handshakes N] [--refuse-first N] [--leader PORT] [--busy SECONDS] [--confirm N]

FOLDER/messages has KEY<tab>VALUE of each message, FOLDER/repeated a line for each batch that came again, FOLDER/refused one for each login
that was refused, FOLDER/told one for each time that it told who the brokers are, FOLDER/batches what is remembered. With --user it wants a
login with SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512). With --cut-every it ends the connection instead of confirming every Nth batch that it
takes, with --cut-logins instead of answering the first N that would log in, with --cut-handshakes behind the first words of the first N.
With --refuse-first it refuses the first N logins. With --leader it names the broker at that port as the one that takes lines, with --busy
it takes none for so long. With --confirm it confirms N requests, and no more.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import secrets
import socket
import socketserver
import ssl
import struct
import threading
import time
from pathlib import Path

import broker_parts

PRODUCE, FETCH, METADATA, SASL_HANDSHAKE, API_VERSIONS, INIT_PRODUCER_ID, SASL_AUTHENTICATE = 0, 1, 3, 17, 18, 22, 36
# The newest version of each, all before those with variable lengths. Nobody fetches, but a broker of today can.
VERSIONS = {PRODUCE: 7, FETCH: 11, METADATA: 4, SASL_HANDSHAKE: 1, API_VERSIONS: 0, INIT_PRODUCER_ID: 1, SASL_AUTHENTICATE: 0}
NOT_ENOUGH_REPLICAS, UNSUPPORTED_MECHANISM, UNSUPPORTED_VERSION, OUT_OF_ORDER, LOGIN_FAILED, UNKNOWN_PRODUCER = 19, 33, 35, 45, 58, 59
REMEMBERED = 5  # batches of a producer that may come again
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class Reader(broker_parts.Reader):
    def number(self, code):
        return struct.unpack(">" + code, self.take(struct.calcsize(">" + code)))[0]

    def text(self):
        size = self.number("h")
        return None if size < 0 else self.take(size).decode()

    def data_block(self):
        return self.take(max(self.number("i"), 0))

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def varint_block(self):
        return self.take(max(self.varint(), 0))


def text(value):
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value.encode())) + value.encode()


def block(data):
    return struct.pack(">i", len(data)) + data


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)


class Batch:
    """A record batch of version 2."""

    def __init__(self, data):
        reader = Reader(data)
        reader.take(21 + 2 + 4 + 8 + 8)
        self.producer, self.epoch, self.first = reader.number("q"), reader.number("h"), reader.number("i")
        self.messages = [self.read_record(reader) for _ in range(reader.number("i"))]

    @staticmethod
    def read_record(reader):
        record = Reader(reader.varint_block())
        record.take(1)
        record.varint()
        record.varint()
        return record.varint_block().decode(), record.varint_block().decode()

    def numbers(self):
        return [self.producer, self.epoch, self.first, len(self.messages)]


class Log:
    """The one partition, and what was taken of each producer."""

    def __init__(self, folder):
        self.folder, self.lock, self.size, self.taken = folder, threading.Lock(), 0, {}
        messages = []
        for line in self.lines_of("batches"):
            numbers, more = json.loads(line)
            self.remember(numbers)
            messages += more
        # Killed behind the batch that it has remembered.
        self.write("messages", messages[len(self.lines_of("messages")):])

    def lines_of(self, name):
        path = self.folder / name
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def remember(self, numbers):
        producer, epoch = numbers[:2]
        self.taken.setdefault((producer, epoch), []).append((*numbers[2:], self.size))
        self.size += numbers[3]

    def write(self, name, lines):
        broker_parts.append_lines(self.folder / name, lines)

    def append(self, batch):
        """(error, offset of the first message, whether it was new)."""
        with self.lock:
            taken = self.taken.get((batch.producer, batch.epoch), [])
            for first, count, offset in taken[-REMEMBERED:] if batch.producer >= 0 else []:
                if (first, count) == (batch.first, len(batch.messages)):
                    self.write("repeated", [str(count)])
                    return 0, offset, False
            expected = sum(taken[-1][:2]) if taken else 0
            if batch.producer >= 0 and batch.first != expected:  # below zero: it is not idempotent
                return (OUT_OF_ORDER if taken else UNKNOWN_PRODUCER), -1, False
            offset = self.size
            self.remember(batch.numbers())
            messages = [f"{key}\t{value}" for key, value in batch.messages]
            self.write("batches", [json.dumps([batch.numbers(), messages])])
            self.write("messages", messages)
            return 0, offset, True


class Scram:
    """The server's side of RFC 5802, of one password."""

    def __init__(self, mechanism, user, password):
        self.hash, self.user, self.password = HASHES[mechanism], user, password
        self.salt, self.first = secrets.token_bytes(16), None

    def mac(self, key, data):
        return hmac.new(key, data.encode(), self.hash).digest()

    def answer(self, said):
        """(whether the login goes on or is done, answer, whether it is done)."""
        fields = dict(field.split("=", 1) for field in said.decode().split(",") if "=" in field)
        if self.first is None:
            return self.begin(said.decode(), fields)
        salted = hashlib.pbkdf2_hmac(self.hash, self.password.encode(), self.salt, 4096)
        whole = ",".join((self.first, said.decode().rsplit(",p=", 1)[0]))
        key = self.mac(salted, "Client Key")
        mask = self.mac(hashlib.new(self.hash, key).digest(), whole)
        proof = bytes(one ^ other for one, other in zip(key, mask))
        # Old librdkafka says its own nonce twice, which brokers took until they were mended.
        is_right = fields.get("r", "").endswith(self.nonce) and base64.b64decode(fields["p"]) == proof
        return is_right, b"v=" + base64.b64encode(self.mac(self.mac(salted, "Server Key"), whole)), True

    def begin(self, said, fields):
        self.nonce = fields["r"] + secrets.token_hex(8)
        answer = f"r={self.nonce},s={base64.b64encode(self.salt).decode()},i=4096"
        self.first = said.split(",", 2)[2] + "," + answer
        return fields["n"] == self.user, answer.encode(), False


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        self.is_in, self.login = self.server.options.user is None, None
        try:
            while self.handle_request():
                pass
        except (OSError, struct.error, IndexError):
            pass  # it was cut

    def handle_request(self):
        size = self.rfile.read(4)
        if len(size) < 4:
            return False
        request = Reader(self.rfile.read(struct.unpack(">i", size)[0]))
        key, version, number = request.number("h"), request.number("h"), request.number("i")
        request.text()
        answer = self.answer(key, version, request)
        if answer is None:
            return False
        if key == PRODUCE and not self.server.is_confirming():
            return True
        self.wfile.write(block(struct.pack(">i", number) + answer))
        return True

    def answer(self, key, version, request):
        """None: the connection ends."""
        if key == API_VERSIONS:
            error = UNSUPPORTED_VERSION if version > VERSIONS[key] else 0
            return struct.pack(">h", error) + array([struct.pack(">hhh", key, 0, newest) for key, newest in VERSIONS.items()])
        if key == SASL_HANDSHAKE:
            return None if self.server.is_among_first("logins", self.server.options.cut_logins) else self.choose_login(request.text())
        if key == SASL_AUTHENTICATE:
            return self.authenticate(request.data_block())
        if not self.is_in:
            return None
        return {METADATA: self.tell_topics, INIT_PRODUCER_ID: self.number_producer, PRODUCE: self.take_batches}[key](version, request)

    def choose_login(self, mechanism):
        user = self.server.options.user
        is_known = bool(user) and (mechanism == "PLAIN" or mechanism in HASHES)
        self.login = Scram(mechanism, *user) if mechanism in HASHES and user else None
        return struct.pack(">h", 0 if is_known else UNSUPPORTED_MECHANISM) + array([text(name) for name in ("PLAIN", *HASHES)])

    def authenticate(self, said):
        if self.login:
            is_right, answer, is_done = self.login.answer(said)
        else:
            is_right, answer, is_done = said.decode().split("\0")[1:] == self.server.options.user, b"", True
        is_right = is_right and not (is_done and self.server.is_among_first("finished logins", self.server.options.refuse_first))
        self.is_in = is_right and is_done
        if not is_right:
            self.server.log.write("refused", [self.server.options.user[0]])
        error = 0 if is_right else LOGIN_FAILED
        return struct.pack(">h", error) + text(None if is_right else "Authentication failed") + block(answer if is_right else b"")

    def tell_topics(self, version, request):
        topics = [request.text() for _ in range(max(request.number("i"), 0))]
        self.server.log.write("told", ["brokers"])
        node = struct.pack(">i", 1)
        broker = node + text("localhost") + struct.pack(">i", self.server.options.leader or self.server.server_address[1]) + text(None)
        partition = struct.pack(">hi", 0, 0) + node + array([node]) + array([node])
        found = [struct.pack(">h", 0) + text(topic) + b"\0" + array([partition]) for topic in topics]
        return struct.pack(">i", 0) + array([broker]) + text("test") + node + array(found)

    def number_producer(self, version, request):
        return struct.pack(">ihqh", 0, 0, secrets.randbits(40), 0)

    def take_batches(self, version, request):
        request.text()
        request.number("h"), request.number("i")
        topics = []
        for _ in range(request.number("i")):
            topic, partitions = request.text(), []
            for _ in range(request.number("i")):
                index, batch = request.number("i"), Batch(request.data_block())
                if time.monotonic() < self.server.busy_until:
                    partitions.append(struct.pack(">ihqqq", index, NOT_ENOUGH_REPLICAS, -1, -1, 0))
                    continue
                error, offset, is_new = self.server.log.append(batch)
                if is_new and self.server.is_cut():
                    return None
                partitions.append(struct.pack(">ihqqq", index, error, offset, -1, 0))
            topics.append(text(topic) + array(partitions))
        return array(topics) + struct.pack(">i", 0)


class Broker(broker_parts.Server):
    def __init__(self, options):
        self.options, self.log, self.accepted = options, Log(Path(options.folder)), 0
        self.busy_until = time.monotonic() + options.busy
        self.tls = None
        if options.tls:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*options.tls)
        if options.client_ca:
            self.tls.load_verify_locations(options.client_ca)
            self.tls.verify_mode = ssl.CERT_REQUIRED
        super().__init__(options.port, Connection)

    def finish_request(self, request, client_address):
        """In the connection's own thread."""
        if self.is_among_first("handshakes", self.options.cut_handshakes):
            request.recv(1)
            request.shutdown(socket.SHUT_WR)  # an end, not a reset
            while request.recv(4096):
                pass
            return
        try:
            secure = self.tls.wrap_socket(request, server_side=True) if self.tls else request
        except (OSError, ssl.SSLError):
            return
        super().finish_request(secure, client_address)
        secure.close()

    def is_confirming(self):
        return self.options.confirm is None or self.is_among_first("requests", self.options.confirm)

    def is_cut(self):
        with self.lock:
            self.accepted += 1
            return self.options.cut_every > 0 and self.accepted % self.options.cut_every == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("folder")
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--client-ca")
    parser.add_argument("--user", nargs=2)
    parser.add_argument("--cut-every", type=int, default=0)
    parser.add_argument("--cut-logins", type=int, default=0)
    parser.add_argument("--cut-handshakes", type=int, default=0)
    parser.add_argument("--refuse-first", type=int, default=0)
    parser.add_argument("--leader", type=int)
    parser.add_argument("--busy", type=float, default=0)
    parser.add_argument("--confirm", type=int)
    os.environ.pop("SSLKEYLOGFILE", None)
    with Broker(parser.parse_args()) as broker:
        broker.serve_forever()


if __name__ == "__main__":
    main()
