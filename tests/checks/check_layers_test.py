#!/usr/bin/env python3
"""Small trees, good and bad, and what the layers check says of them."""
import importlib.util
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-layers.py"
spec = importlib.util.spec_from_file_location("check_layers", SCRIPT)
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)


def faults(files):
    """Faults in a tree of the given files: path -> the headers it includes."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, includes in files.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"#include {include}\n" for include in includes))
        return check_layers.check(tree)


BASE = {"npucore/include/npucore/error.hpp": ["<string>"], "npucore/src/base/text.hpp": ["<string_view>"],
        "npucore/src/ir/reader.hpp": ["<pugixml.hpp>", '"base/text.hpp"'], "ze_npu/include/ze_npu/ze_npu.h": []}

ALLOWED = {
    "base may use the public headers": ("npucore/src/base/a.cpp", "<npucore/error.hpp>"),
    "core may use ir": ("npucore/src/core/a.cpp", '"ir/reader.hpp"'),
    "softnpu may use the shared ABI": ("softnpu/a.cpp", "<ze_npu/ze_npu.h>"),
    "gst may use GLib": ("gst/plugin/a.cpp", "<glib.h>"),
    "a unit test may use its internal header": ("tests/ir/a.cpp", '"ir/reader.hpp"'),
    "dmabuf may use the kernel's header": ("npucore/src/dmabuf/a.cpp", "<linux/dma-buf.h>"),
    "everyone may use POSIX": ("gst/plugin/a.cpp", "<sys/stat.h>"),
}

REFUSED = {
    "base must not use ir": ("npucore/src/base/a.cpp", '"ir/reader.hpp"', "base may not include ir"),
    "dmabuf must not use ir": ("npucore/src/dmabuf/a.cpp", '"ir/reader.hpp"', "dmabuf may not include ir"),
    "gst must not use private headers": ("gst/plugin/a.cpp", '"base/text.hpp"', "gst may not include base"),
    "gst must not reach in by a path": ("gst/plugin/a.cpp", '"../../npucore/src/ir/reader.hpp"', "gst may not include ir"),
    "softnpu must not use npucore": ("softnpu/a.cpp", "<npucore/error.hpp>", "softnpu may not include include"),
    "public headers must not use Level Zero": ("npucore/include/npucore/a.hpp", "<level_zero/ze_api.h>", "only ze_npu"),
    "core must not use pugixml": ("npucore/src/core/a.cpp", "<pugixml.hpp>", "only ir, softnpu may"),
    "npucore must not use GLib": ("npucore/src/core/a.cpp", "<glib.h>", "only gst may"),
    "npucore must not use OpenVINO": ("npucore/src/core/a.cpp", "<openvino/openvino.hpp>", "only softnpu may"),
    "tools must not use private headers": ("tools/npu_info/a.cpp", '"base/text.hpp"', "tools may not include base"),
    "an unknown library needs a room": ("npucore/src/core/a.cpp", "<boost/any.hpp>", "no room may use it"),
    "a new folder of npucore needs a room": ("npucore/src/extra/a.cpp", "<string>", "stands in no room"),
}


class Layers(unittest.TestCase):
    def test_allowed(self):
        for name, (path, include) in ALLOWED.items():
            with self.subTest(name):
                self.assertEqual(faults({**BASE, path: [include]}), [])

    def test_refused(self):
        for name, (path, include, message) in REFUSED.items():
            with self.subTest(name):
                found = faults({**BASE, path: ["<vector>", include]})
                self.assertEqual(len(found), 1)
                self.assertIn(path, found[0])
                self.assertIn(message, found[0])


if __name__ == "__main__":
    unittest.main()
