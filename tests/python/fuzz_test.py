#!/usr/bin/env python3
"""Calls everything public with arguments of every kind, right and wrong, alive and dead: each call is a result or an exception.

The calls run in a process of their own, which notes each one first: after a crash the test shows the last ones, and the seed.
NPUCORE_FUZZ_SEED, NPUCORE_FUZZ_CALLS: other calls, and how many; default 1 and 6000.
"""
import asyncio
import collections
import faulthandler
import gc
import inspect
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import tiny

import npucore

SEED = int(os.environ.get("NPUCORE_FUZZ_SEED", "1"))
CALLS = int(os.environ.get("NPUCORE_FUZZ_CALLS", "6000"))
# Dunder methods that do something of ours; the others are Python's.
SPECIAL = {"__call__", "__getitem__", "__setitem__", "__contains__", "__len__", "__iter__", "__eq__", "__hash__", "__repr__", "__array__",
           "__dlpack__", "__dlpack_device__", "__enter__", "__exit__"}
FUNCTIONS = ["compile", "devices", "diagnose", "list_devices", "load", "load_cached", "read_blob_info"]
SLOW = {"compile": 0.05, "devices": 0.2, "diagnose": 0.2, "dmabuf_sources": 0.1, "AsyncPool": 0.2}  # how many of those calls are made
# A programmer's faults, not a caller's.
NEVER = (SystemError, npucore.InternalError, RecursionError, UnicodeDecodeError)


class Hostile:
    """Has all the hooks that npucore looks for, and each one lies."""

    def __init__(self, generator):
        self.generator = generator

    def answer(self, *_, **__):
        if self.generator.random() < 0.3:
            raise ZeroDivisionError("hostile")
        return self.generator.choice([None, -1, "text", b"x", (), {}, 2**70, float("nan"), self])
    items = keys = get = view = __dlpack__ = __dlpack_device__ = __array__ = __fspath__ = __getitem__ = __iter__ = __len__ = __str__ = answer
    __index__ = __float__ = __bool__ = __call__ = __enter__ = answer

    def __repr__(self):
        return "<hostile>"

    @property
    def dtype(self):
        return self.answer()

    @property
    def __array_interface__(self):
        return self.answer()


def names_of(function):
    """The arguments' names, and whether each must be there, and goes by its name alone."""
    function = function.__init__ if isinstance(function, type) else function
    signature = getattr(function, "__nb_signature__", None)
    if signature is None:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):  # a method of Python's own
            return {}
        return {one.name: (one.default is one.empty, one.kind is one.KEYWORD_ONLY) for one in parameters if one.name != "self"}
    text = signature[0][0].split(" -> ")[0].partition("(")[2]
    while "[" in text:
        text = re.sub(r"\[[^][]*\]", "", text)
    names, is_keyword = {}, False
    for part in text.rpartition(")")[0].split(","):
        name = re.match(r"\s*(\**)(\w*)", part)
        is_keyword = is_keyword or bool(name[1])
        if name[2] and name[2] != "self":
            names[name[2]] = ("=" not in part, is_keyword)
    return names


class Fuzzer:
    def __init__(self, seed, note):
        self.random = random.Random(seed)
        self.note = note
        self.compiled = [tiny.square(), npucore.compile(tiny.EXAMPLES / "running_sum.xml", properties={"NPUCORE_COMPILE": "in-process"}),
                         tiny.compiled(inputs=("a", "b"), element="f16", shape=(2, 3)), npucore.compile(tiny.SHAPES / "shapes.xml")]
        self.card = npucore.vision.ModelCard.read(tiny.SHAPES / "shapes.xml")
        self.compiled[0].save("square.blob")
        Path("model.xml").write_bytes((tiny.EXAMPLES / "square.xml").read_bytes())
        self.pick = self.random.choice
        self.made = collections.deque(maxlen=50)  # results of earlier calls, which become arguments

    # Values

    def number(self):
        return self.pick([0, 1, 2, 3, 7, 8, -1, 2**31, 2**32, 2**63, 2**64, -2**63, 10**30, 0.0, 0.5, -1.5, 1e300, float("inf"),
                          float("nan"), True, 1j])

    def text(self):
        return self.pick(["x", "y", "a", "b", "sum", "", "images", "output0", "f32", "float32", "bfloat16", "i4", "NV12", "RGB", "letterbox", "input",
                          "output", "software", "auto", "square.blob", "model.xml", "missing.onnx", "CACHE_DIR", "NPU_TURBO", "YES", "\0", "\udc80",
                          "x" * 5000, "../..", "NPU_TILES=2", "=", "PERFORMANCE_HINT", "LATENCY"])

    def data(self):
        released = memoryview(b"12345678")
        released.release()
        return self.pick([b"", b"\x08\x07", b"nonsense", bytearray(b"<net/>"), memoryview(b"12345678")[::2], released, tiny.ir().encode(),
                          memoryview(np.zeros((2, 3))), Path("square.blob").read_bytes()[:self.random.randrange(3000)]])

    def array(self):
        shape = self.pick([(1, 8), (8,), (2, 3), (1, 3, 256, 256), (1, 7, 1280), (), (0,), (1, 0, 8), (9,), (1,) * 20,
                           tuple(self.random.randrange(4) for _ in range(self.random.randrange(6)))])
        array = np.zeros(shape, self.pick(["f4", "f4", "f4", "f2", "f8", "i4", "u1", "u2", "?", "c8", "S4", "O", "M8[s]", ">f4", [("a", "f4")]]))
        if array.ndim and array.size and self.random.random() < 0.3:
            array = self.pick([array[::-1], array[::2], array.T, np.broadcast_to(array[:1], array.shape), np.asfortranarray(array)])
        if self.random.random() < 0.2:
            array.flags.writeable = False
        return array

    def tensor(self):
        return npucore.Tensor.allocate(self.pick([(1, 8), (1, 4), (2, 3), (3,)]), self.pick(["float32", "float16", "bfloat16", "uint8"]),
                                       use=self.pick(["input", "output"]), shareable=self.random.random() < 0.2)

    def container(self):
        values = [self.value(2) for _ in range(self.random.randrange(4))]
        return self.pick([values, tuple(values), iter(values), {"x": self.array()}, {"a": self.array(), "b": self.array()},
                          {self.number(): self.array()}, {"CACHE_DIR": "cache"}, {"PERF_COUNT": True}, {"x": (1, 4)},
                          {"left": [(0, 0), (1, 0), (1, 1)]}, {"cut": ((0, 0), (1, 1))},
                          dict(zip(map(str, range(4)), values)), (1, 8), (2**40, 2**40), (-1, 8), (640, 360), range(3)])

    def instance(self):
        """An object of npucore's: new, used, in flight, closed or half made."""
        compiled = self.pick(self.compiled)
        kind = self.random.randrange(16)
        if kind == 0:
            return self.pick([npucore.Device("software"), compiled])
        if kind in (1, 2, 3):
            request = compiled.create_request(self.pick([1, 1, 3]), allow_copies=self.random.random() < 0.8)
            if kind > 1:
                request.submit()
            if kind > 2:
                request.wait()
            return request
        if kind == 4:
            return next(iter(self.compiled[1].create_request().states().values()))
        if kind == 5:
            return self.tensor()
        if kind == 6:
            return self.pick([npucore.Model.read(tiny.EXAMPLES / "square.xml"), npucore.Model.read(tiny.SHAPES / "shapes.xml"),
                              tiny.model(shape=(1, 3, 16, 16))])
        if kind == 7:
            return self.pick([npucore.Completions(), npucore.read_blob_info("square.blob"), compiled.load_stats, compiled.properties])
        if kind == 8:
            return self.pick([npucore.Frame("RGB", 640, 360), compiled.inputs[0], self.card, npucore.vision.ModelCard()])
        if kind == 9:
            return npucore.vision.Decoder(self.card, self.compiled[3])
        if kind == 10:
            answer = npucore.vision.Decoder(self.card, self.compiled[3])({"output0": self.scores()})
            return answer if self.random.random() < 0.5 else npucore.vision.Tracker().update(answer, 0)
        if kind == 11:
            return self.pick([npucore.vision.Tracker(), npucore.vision.Counter({"left": [(0, 0), (.5, 0), (.5, 1)]}, {"cut": ((0, 0), (1, 1))})])
        if kind == 12:
            pool = npucore.AsyncPool(compiled, 2)
            if self.random.random() < 0.3:
                pool.close()
            return pool
        if kind == 13:
            name = self.pick([name for name in npucore.__all__ if isinstance(getattr(npucore, name), type) and name != "Video"])
            kind = getattr(npucore, name)
            return kind if issubclass(kind, BaseException) else kind.__new__(kind)
        if kind == 14 and self.made:
            return self.pick(self.made)
        return self.tensor().cpu_access(write=True)

    def scores(self):
        scores = np.random.default_rng(3).random((1, 7, 1280), np.float32)
        scores[:, :4] *= 256
        return scores

    def value(self, depth=0):
        kinds = [self.number, self.text, self.data, self.array, self.tensor, lambda: None, lambda: Hostile(self.random), lambda: np.float32,
                 lambda: Path("model.xml"), lambda: lambda *_: "model.xml", self.instance]
        return self.pick(kinds if depth > 1 else [*kinds, self.container])()

    def likely(self, name):
        """A value that an argument of this name may take, so that calls get past the check of its type."""
        likely = {
            "inputs": [self.array, self.container, self.tensor], "outputs": [self.container, lambda: {"output0": self.scores()}],
            "array": [self.array, self.tensor], "value": [self.array, self.tensor, self.number, self.text], "name": [self.text, self.number],
            "shape": [self.container], "shapes": [self.container], "dtype": [self.text], "properties": [self.container], "config": [self.container],
            "frame_size": [self.container], "seconds": [self.number], "timeout": [lambda: self.pick([0, 0.001, None, -1, float("nan"), 1e30])],
            "fd": [self.number], "path": [self.text], "blob": [self.data, self.text], "model": [self.instance, self.text, self.data],
            "device": [lambda: "software", lambda: None], "source": [self.data, self.text], "key": [self.number],
            "weights": [self.data, self.array, self.text], "card": [lambda: self.card, self.instance],
            "frame": [lambda: npucore.Frame("RGB", 16, 16), self.array], "request": [lambda: self.pick(self.compiled).create_request()],
            "frames": [self.container], "answer": [self.instance], "cache_id": [self.text, lambda: None], "resize": [self.text, lambda: None],
            "format": [self.text], "width": [self.number], "height": [self.number], "zones": [self.container], "lines": [self.container],
            "layer": [self.text], "text": [self.text, lambda: self.card.to_json()], "other": [lambda: self.card],
            "compiled": [lambda: self.pick(self.compiled)], "size": [lambda: self.pick([None, 1, 3])],
            "requirements": [lambda: self.compiled[0].properties["RUNTIME_REQUIREMENTS"], self.text],
        }.get(name)
        return self.pick(likely)() if likely else self.value()

    # Calls

    def arguments(self, function):
        """Positional and named ones; mostly those that the function's own signature has."""
        names = names_of(function)
        if self.random.random() < 0.2:
            return [self.value() for _ in range(self.random.randrange(4))], {self.pick([*names, "nonsense"]): self.value()}
        positional, named = [], {}
        for name, (is_required, is_keyword) in names.items():
            if self.random.random() < (0.02 if is_required else 0.7):
                is_keyword = True  # left out: the next ones go by their names
            elif is_keyword or named or self.random.random() < 0.1:
                named[name] = self.likely(name)
            elif len(positional) == list(names).index(name):
                positional.append(self.likely(name))
        return positional, named

    def call(self, function, title):
        name = title.rpartition(".")[2]
        if self.random.random() > SLOW.get(name, 1):
            return None
        positional, named = self.arguments(function)
        if name in ("allocate", "AsyncPool", "create_request"):  # absurd sizes fail at once; those in between only take memory and time
            positional = [value if not isinstance(value, int) or value < 100 else 2**62 for value in positional]
            named = {key: value if not isinstance(value, int) or value < 100 else 2**62 for key, value in named.items()}
        self.note(f"{title}(*{positional!r:.500}, **{named!r:.500})")
        return self.used(name, function(*positional, **named))

    def used(self, name, result):
        if name == "export_dmabuf":
            os.close(result)
        elif asyncio.iscoroutine(result):
            return asyncio.run(asyncio.wait_for(result, 100))
        elif hasattr(result, "__next__"):
            return [next(result, None) for _ in range(3)]
        return result

    def step(self):
        if self.random.random() < 0.2:
            name = self.pick(FUNCTIONS)
            return self.call(getattr(npucore, name), name)
        thing = self.instance()
        kind = thing if isinstance(thing, type) else type(thing)
        name = self.pick([name for name in dir(thing) if not name.startswith("_") or name in SPECIAL] or ["missing"])
        title = f"{kind.__name__}.{name}"
        if self.random.random() < 0.1:
            value = self.value()
            self.note(f"{title} = {value!r:.500}")
            setattr(thing, name, value)
            return None
        self.note(title)
        member = getattr(thing, name)
        if self.random.random() < 0.1 and kind.__module__.startswith("npucore"):
            return self.call(kind, kind.__name__)
        return self.call(member, title) if callable(member) else member

    def run(self, calls):
        outcomes = collections.Counter()
        for _ in range(calls):
            try:
                result = self.step()
                outcomes["results"] += 1
                if type(result).__module__.startswith("npucore"):  # a Path, say, could remove files
                    self.made.append(result)
            except NEVER:
                raise
            except Exception as error:  # noqa: BLE001 - any is right
                outcomes[type(error).__name__] += 1
        return outcomes


def in_child(seed, calls, log):
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(log, "w", encoding="utf-8", errors="backslashreplace", buffering=1) as notes:
        outcomes = Fuzzer(seed, lambda line: notes.write(line + "\n")).run(calls)
    gc.collect()
    request = tiny.square().create_request()
    assert request.infer(np.full((1, 8), 3, np.float32))["y"][0, 0] == 9
    print(*(f"{count} {name}" for name, count in outcomes.most_common()), sep=", ")


class Fuzz(unittest.TestCase):
    def test_every_call_is_a_result_or_an_exception(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "LOG_LEVEL": "NONE", "NPU_LOG_LEVEL": "none", "PYTHONWARNINGS": "ignore"}
            done = subprocess.run([sys.executable, __file__, "--child", str(SEED), str(CALLS), "log"], cwd=folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
            calls = Path(folder, "log").read_text(encoding="utf-8").splitlines()[-5:]
            self.assertEqual(done.returncode, 0, f"seed {SEED}: {done.stdout[-3000:]}\nthe last calls:\n" + "\n".join(calls))
            print(done.stdout.splitlines()[-1])
            self.assertGreater(int(re.search(r"(\d+) results", done.stdout)[1]), CALLS / 10)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        in_child(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        tiny.main()
