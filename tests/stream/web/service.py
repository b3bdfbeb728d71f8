"""npu-stream on two endless clips, for the tests of its page and REST."""

import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

SHAPES = Path(__file__).resolve().parents[3] / "models" / "shapes"
PATIENCE = 120  # seconds: for a busy machine

CAMERAS = """# Kept by edits.
server: {{port: 0{server}}}
models:
  shapes: {{model: {shapes}/shapes.xml, device: software, threshold: 0.2}}
  strict: {{model: {shapes}/shapes.xml, device: software, threshold: 0.5}}
defaults: {{model: shapes, drop: none, min-fps: 30}}  # each frame, on a busy machine too
streams:
  - id: door
    source: {{file: shapes.mp4, loop: true}}
  - id: yard
    source: {{file: shapes.mp4, loop: true}}
"""


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Usage(NamedTuple):
    """What the process holds."""
    descriptors: int
    threads: int
    memory_mb: float  # resident and anonymous


class Service:
    """`cameras`: the file, where {server} and {shapes} are filled in."""

    def __init__(self, program, server="", cameras=CAMERAS, **environment):
        self.environment = os.environ | environment
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        (self.folder / "shapes.mp4").write_bytes((SHAPES / "shapes.mp4").read_bytes())
        self.file = self.folder / "cameras.yaml"
        self.file.write_text(cameras.format(server=server, shapes=SHAPES))
        self.errors = open(self.folder / "errors", "w")
        self.process = None
        self.program = program

    def start(self):
        out = self.folder / "out"
        with open(out, "w") as output:
            self.process = subprocess.Popen([self.program, "cameras.yaml"], cwd=self.folder, stdout=output, stderr=self.errors, env=self.environment)
        found = self.wait("the page's address", lambda: re.search(r"page: (http://\S+)/\n", out.read_text()))
        self.url = found[1]
        return self

    def said(self):
        return Path(self.errors.name).read_text()

    def wait(self, what, happened):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := happened():
                return value
            if self.process.poll() is not None:
                raise AssertionError(f"npu-stream ended with {self.process.returncode} before {what}: {self.said()}")
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come: {self.usage()}, {self.said()}")

    def ask(self, method, path, body=None, **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        if body is not None:
            names.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(self.url + path, data=body, headers=names, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return Reply(reply.status, reply.headers, reply.read())
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.headers, error.read())

    def stream(self, name):
        return self.ask("GET", f"/api/streams/{name}").json()

    def lines(self, name):
        """The whole lines that the stream has published."""
        path = self.folder / f"{name}.jsonl"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def usage(self):
        process = Path(f"/proc/{self.process.pid}")
        anonymous = re.search(r"RssAnon:\s+(\d+) kB", (process / "status").read_text())
        return Usage(len(os.listdir(process / "fd")), len(os.listdir(process / "task")), int(anonymous[1]) / 1000)

    def wait_for_release(self, before, slack):
        """Until no more descriptors and threads are in use than before: idle ones end after some seconds. Returns the usage."""
        def is_released():
            now = self.usage()
            return now if now.descriptors <= before.descriptors + slack and now.threads <= before.threads + slack else None
        return self.wait(f"the release of what is more than {before}", is_released)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.errors.close()
        self.temporary.cleanup()
