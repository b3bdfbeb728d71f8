#!/usr/bin/env python3
"""npu-stream's REST, its guards and its descriptions: rest_test.py NPU_STREAM [FOLDER]

FOLDER: of the environment with the validators of OpenAPI and OpenMetrics, made if this Python lacks them; without it their tests are skipped."""

import os
import random
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from service import PATIENCE, Service

sys.path.append(str(Path(__file__).resolve().parents[2] / "support"))
import with_packages  # noqa: E402

if len(sys.argv) > 2:
    with_packages.need(sys.argv[2], openapi_spec_validator="openapi-spec-validator", prometheus_client="prometheus-client")

PROGRAM = os.path.abspath(sys.argv[1])
TOKEN = "0123456789abcdef0123"


class Rest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(PROGRAM).start()

    @classmethod
    def tearDownClass(cls):
        cls.service.stop()

    def ask(self, *arguments, **headers):
        return self.service.ask(*arguments, **headers)

    def refused(self, status, *arguments, **headers):
        reply = self.ask(*arguments, **headers)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def test_pictures_and_objects_come(self):
        self.service.wait("frames", lambda: self.ask("GET", "/api/streams/door").json()["width"] > 0)
        self.service.wait("a picture", lambda: self.ask("GET", "/api/streams/door/picture.jpg?width=320").body[:2] == b"\xff\xd8")
        self.service.wait("objects", lambda: self.ask("GET", "/api/streams/door/objects").json().get("detections"))

    def test_a_stream_is_added_changed_and_removed(self):
        added = self.ask("POST", "/api/streams", {"id": "new", "source": {"file": "shapes.mp4", "loop": True}})
        self.assertEqual((added.status, added.headers["Location"]), (201, "/api/streams/new"))
        self.assertIn("id: new", self.service.file.read_text().replace('"', ""))
        line = {"name": "gate", "points": [[0, 0.5], [1, 0.5]]}
        self.assertEqual(self.ask("PATCH", "/api/streams/new", {"lines": [line], "model": "strict"}).status, 200)
        self.service.wait("a count", lambda: any(sum(p["counts"].values()) for p in self.ask("GET", "/api/streams/new").json()["lines"]))
        self.assertEqual(self.ask("PATCH", "/api/streams/new", {"paused": True}).status, 200)
        self.service.wait("the pause", lambda: self.ask("GET", "/api/streams/new").json()["state"] == "paused")
        self.assertEqual(self.ask("DELETE", "/api/streams/new").status, 204)
        self.refused(404, "GET", "/api/streams/new")
        self.assertIn("# Kept by edits.", self.service.file.read_text())

    def test_what_is_wrong_is_named(self):
        self.assertIn("modle", str(self.refused(400, "PATCH", "/api/streams/door", {"modle": "shapes"})))
        self.refused(400, "PATCH", "/api/streams/door", {"model": "none"})
        self.refused(400, "POST", "/api/streams", b"{")
        self.refused(400, "POST", "/api/streams", b"{}", Content_Type="text/plain")
        self.refused(400, "POST", "/api/streams", b"[" * 60000)
        self.refused(400, "GET", "/api/events?after=-1")
        self.refused(404, "DELETE", "/api/streams/none")
        self.refused(404, "GET", "/api/streams/none/video.mjpeg")
        self.refused(413, "POST", "/api/streams", b" " * 70000)
        self.assertEqual(self.ask("PUT", "/api/streams").headers["Allow"], "GET, POST")

    def test_no_path_of_the_disk_is_reachable(self):
        for path in ("/../cameras.yaml", "/%2e%2e/cameras.yaml", "/cameras.yaml", "//etc/passwd", "/api/streams/..%2f..%2fetc%2fpasswd"):
            self.assertIn(self.ask("GET", path).status, (400, 404), path)
        for source in ({"file": "/etc/passwd"}, {"file": "../x.mp4"}, {"launch": "videotestsrc"}, {"v4l2": "/dev/mem"}, {"v4l2": "/dev/video0/../mem"}):
            self.assertTrue(self.refused(400, "POST", "/api/streams", {"id": "x", "source": source})["path"].startswith("source"), source)
        self.assertEqual(self.refused(400, "PATCH", "/api/streams/door", {"publish": "/tmp/x"})["path"], "publish")
        self.assertEqual(self.refused(400, "PATCH", "/api/streams/door", {"record": {"folder": "/tmp"}})["path"], "record")
        link = self.service.folder / "link.mp4"
        link.symlink_to("/etc/passwd")
        self.refused(400, "POST", "/api/streams", {"id": "x", "source": {"file": "link.mp4"}})

    def test_an_edit_of_a_file_that_has_changed_is_a_conflict(self):
        text = self.service.file.read_text()
        self.service.file.write_text(text.replace("min-fps: 30", "min-fps: 29"))
        self.assertIn("reload it first", self.refused(409, "PATCH", "/api/streams/door", {"priority": 1})["error"])
        self.service.file.write_text(text)
        self.assertEqual(self.ask("POST", "/api/reload").status, 204)

    def test_other_sites_are_refused(self):
        port = self.service.url.rsplit(":", 1)[1]
        for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Host": "127.0.0.1.evil.example"}, {"Origin": "http://evil.example"},
                        {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"Origin": f"http://127.0.0.1:{int(port) % 65535 + 1}"}):
            for method, path in (("GET", "/api/streams"), ("DELETE", "/api/streams/door"), ("POST", "/api/reload"), ("GET", "/metrics")):
                self.refused(403, method, path, **headers)
        self.assertEqual(self.ask("GET", "/healthz", Host="10.0.0.7:8080").status, 200)
        self.assertEqual(self.ask("POST", "/api/reload", Origin=self.service.url).status, 204)

    def test_idle_connections_shut_nobody_out(self):
        address = self.service.url.removeprefix("http://").split(":")
        idle = []
        for _ in range(200):
            connection = socket.create_connection(address, timeout=PATIENCE)
            self.addCleanup(connection.close)
            idle.append(connection)
        self.assertEqual(self.ask("GET", "/healthz").status, 200)
        self.assertEqual(idle[0].recv(1), b"", "the longest idle one is closed")
        idle[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.assertTrue(idle[-1].recv(100).startswith(b"HTTP/1.1 200"), "a young one is not")

    def test_a_clip_can_be_had(self):
        text = self.service.file.read_text()
        self.service.file.write_text(text.replace("  - id: yard\n", "  - id: yard\n    record: {before: 1, after: 1, longest: 10}\n"))
        self.assertEqual(self.ask("POST", "/api/reload").status, 204)

        def recorded():
            return [e for e in self.ask("GET", "/api/events").json()["events"] if e["kind"] == "recorded"]

        event = self.service.wait("a clip", recorded)[0]
        path = f"/api/events/{event['number']}/clip.mkv"
        clip = self.ask("GET", path)
        self.assertEqual(clip.headers["Content-Type"], "video/x-matroska")
        self.assertEqual(clip.body, (self.service.folder / event["clip"]).read_bytes())
        self.assertEqual(clip.body[:4], b"\x1a\x45\xdf\xa3")
        part = self.ask("GET", path, Range="bytes=4-9")
        self.assertEqual((part.status, part.body), (206, clip.body[4:10]))
        self.refused(404, "GET", "/api/events/1000000/clip.mkv")
        (self.service.folder / event["clip"]).unlink()
        self.refused(404, "GET", path)
        self.service.file.write_text(text)
        self.assertEqual(self.ask("POST", "/api/reload").status, 204)

    def test_rubbish_leaves_it_alive(self):
        generator = random.Random(37)
        seed = b'{"id": "fuzz", "source": {"file": "gone.mp4"}, "zones": [{"name": "a", "points": [[0, 0.5], [1, 0.5], [1, 1]]}], "interval": 2}'
        for _ in range(400):
            body = bytearray(seed)
            for _ in range(generator.randrange(1, 6)):
                at = generator.randrange(len(body))
                body[at:at + generator.randrange(3)] = generator.randbytes(generator.randrange(3))
            reply = self.ask("POST", "/api/streams", bytes(body))
            self.assertIn(reply.status, (201, 400), body)
            if reply.status == 201:
                self.assertEqual(self.ask("DELETE", reply.headers["Location"].encode().decode("latin-1")).status, 204)
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_openapi_is_valid_and_names_every_route(self):
        try:
            from openapi_spec_validator import validate
        except ImportError:
            self.skipTest("openapi-spec-validator of PyPI is not installed")
        document = self.ask("GET", "/api/openapi.json").json()
        validate(document)
        self.assertIn("patch", document["paths"]["/api/streams/{id}"])

    def test_answers_are_as_openapi_describes_them(self):
        try:
            from jsonschema import Draft202012Validator
        except ImportError:
            self.skipTest("jsonschema of PyPI is not installed")
        document = self.ask("GET", "/api/openapi.json").json()
        self.service.wait("frames", lambda: self.ask("GET", "/api/streams/door").json()["width"] > 0)
        for path in ("/api/streams", "/api/streams/{id}", "/api/device", "/api/events", "/api/models"):
            answer = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            Draft202012Validator(answer | {"components": document["components"]}).validate(self.ask("GET", path.replace("{id}", "door")).json())
        self.assertIn("latency_ms", document["components"]["schemas"]["StreamState"]["properties"])

    def test_metrics_are_open_metrics(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("prometheus_client of PyPI is not installed")
        self.service.wait("inferences", lambda: self.ask("GET", "/api/streams/door").json()["frames"]["inferred"] > 0)
        families = {f.name: f for f in text_string_to_metric_families(self.ask("GET", "/metrics").body.decode())}
        counts = {(s.labels["stream"], s.labels["result"]): s.value for s in families["npu_frames"].samples}
        self.assertGreater(counts["door", "inferred"], 0)
        for name in ("npu_inference_seconds", "npu_queue_seconds"):
            samples = {(s.name, s.labels.get("le")): s.value for s in families[name].samples if s.labels["stream"] == "door"}
            self.assertEqual(samples[name + "_bucket", "+Inf"], samples[name + "_count", None])
            self.assertGreater(samples[name + "_count", None], 0)
            self.assertGreater(samples[name + "_sum", None], 0)
            self.assertIn((name + "_bucket", "0.025"), samples)
        self.assertGreater({s.labels["model"]: s.value for s in families["npu_compile_seconds"].samples}["shapes"], 0)
        build = families["npu_build"].samples[0].labels
        self.assertRegex(build["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(build["driver"], r"^\d+$")


class Token(unittest.TestCase):
    def service(self, server, mode=0o600, token=TOKEN):
        service = Service(PROGRAM, server)
        self.addCleanup(service.stop)
        (service.folder / "token").write_text(token + "\n")
        (service.folder / "token").chmod(mode)
        return service

    def test_it_opens(self):
        service = self.service(", token-file: token").start()
        self.assertEqual(service.ask("GET", "/api/streams").status, 401)
        self.assertEqual(service.ask("GET", "/api/streams", Authorization="Bearer wrong").status, 401)
        self.assertEqual(service.ask("GET", "/metrics", Authorization="Bearer " + TOKEN, Host="10.0.0.7:8080").status, 200)
        self.assertEqual(service.ask("POST", "/api/login", {"token": "wrong"}).status, 401)
        self.assertEqual(service.ask("POST", "/api/login", {"token": TOKEN}, Origin="http://evil.example").status, 403)
        cookie = service.ask("POST", "/api/login", {"token": TOKEN}).headers["Set-Cookie"]
        self.assertIn("HttpOnly; SameSite=Strict", cookie)
        self.assertNotIn(TOKEN, cookie)
        self.assertEqual(service.ask("GET", "/api/streams", Cookie=cookie.split(";")[0]).status, 200)

    def test_its_group_may_read_it(self):
        for mode in (0o640, 0o440):
            service = self.service(", token-file: token", mode).start()
            self.assertEqual(service.ask("GET", "/api/streams", Authorization="Bearer " + TOKEN).status, 200)

    def test_without_a_safe_one_it_does_not_start(self):
        for server, mode, token, words in ((", address: 0.0.0.0", 0o600, TOKEN, "needs server.token-file"), (", token-file: token", 0o644, TOKEN, "chmod 600"),
                                           (", token-file: token", 0o660, TOKEN, "chmod 600"),
                                           (", token-file: token", 0o600, "short", "at least 16")):
            service = self.service(server, mode, token)
            done = subprocess.run([PROGRAM, "cameras.yaml"], cwd=service.folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
