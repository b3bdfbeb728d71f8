#!/usr/bin/env python3
"""Small trees, good and bad, and what the layers check says of them."""
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-layers.py"
sys.path.insert(0, str(SCRIPT.parent))
spec = importlib.util.spec_from_file_location("check_layers", SCRIPT)
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)


def faults_of_text(files):
    """Faults in a tree of the given files: path -> text."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, text in files.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layers.check(tree)


def faults(files):
    """Faults in a tree of the given files: path -> the headers it includes."""
    return faults_of_text({name: "".join(f"#include {include}\n" for include in includes) for name, includes in files.items()})


BASE = {"npucore/include/npucore/error.hpp": ["<string>"], "npucore/src/base/text.hpp": ["<string_view>"],
        "npucore/src/ir/reader.hpp": ["<pugixml.hpp>", '"base/text.hpp"'], "npucore/src/ir/repair/tail.hpp": [], "ze_npu/include/ze_npu/ze_npu.h": [],
        "npuvision/decode/boxes.hpp": [], "npuvision/decode/yolo/head.hpp": ['"../boxes.hpp"'],
        "softnpu/base/failure.hpp": ["<level_zero/ze_api.h>"], "softnpu/machine/job.hpp": ['"base/failure.hpp"'],
        "softnpu/graph/graph.hpp": ['"machine/job.hpp"'], "softnpu/abi/entry.hpp": ['"machine/job.hpp"']}

ALLOWED = {
    "base may use the public headers": ("npucore/src/base/a.cpp", "<npucore/error.hpp>"),
    "model may use ir": ("npucore/src/model/a.cpp", '"ir/reader.hpp"'),
    "a room may use one inside it that its row names": ("npucore/src/ir/model.cpp", '"ir/repair/tail.hpp"'),
    "a room without a row may use the one above": ("npuvision/decode/text/a.cpp", '"boxes.hpp"'),
    "softnpu may use the shared ABI": ("softnpu/graph/a.cpp", "<ze_npu/ze_npu.h>"),
    "a room of softnpu may use those to its left": ("softnpu/extensions/a.cpp", '"graph/graph.hpp"'),
    "softnpu's graphs may use OpenVINO": ("softnpu/graph/a.cpp", "<openvino/openvino.hpp>"),
    "gst may use GLib": ("gst/frames/a.cpp", "<glib.h>"),
    "a unit test may use its internal header": ("tests/ir/a.cpp", '"ir/reader.hpp"'),
    "dmabuf may use the kernel's header": ("npucore/src/dmabuf/a.cpp", "<linux/dma-buf.h>"),
    "everyone may use POSIX": ("gst/frames/a.cpp", "<sys/stat.h>"),
}

REFUSED = {
    "base must not use ir": ("npucore/src/base/a.cpp", '"ir/reader.hpp"', "base may not include ir"),
    "dmabuf must not use ir": ("npucore/src/dmabuf/a.cpp", '"ir/reader.hpp"', "dmabuf may not include ir"),
    "a room inside another must not use it back": ("npucore/src/ir/repair/a.cpp", '"ir/reader.hpp"', "ir/repair may not include ir"),
    "rooms inside one must not use each other": ("npuvision/decode/text/a.cpp", '"yolo/head.hpp"',
                                                 "npuvision/decode/text may not include npuvision/decode/yolo"),
    "gst must not use private headers": ("gst/frames/a.cpp", '"base/text.hpp"', "gst/frames may not include base"),
    "gst must not reach in by a path": ("gst/frames/a.cpp", '"../../npucore/src/ir/reader.hpp"', "gst/frames may not include ir"),
    "softnpu must not use npucore": ("softnpu/graph/a.cpp", "<npucore/error.hpp>", "softnpu/graph may not include include"),
    "softnpu must not use npucore's rooms": ("softnpu/graph/a.cpp", '"base/text.hpp"', "softnpu/graph may not include base"),
    "softnpu's machine knows no graphs": ("softnpu/machine/a.cpp", '"graph/graph.hpp"',
                                          "softnpu/machine may not include softnpu/graph"),
    "softnpu's graphs know no entry points": ("softnpu/graph/a.cpp", '"abi/entry.hpp"',
                                              "softnpu/graph may not include softnpu/abi"),
    "softnpu's machine must not use OpenVINO": ("softnpu/machine/a.cpp", "<openvino/openvino.hpp>", "only softnpu/graph may"),
    "a file of softnpu needs a room": ("softnpu/a.cpp", "<string>", "stands in no room"),
    "public headers must not use Level Zero": ("npucore/include/npucore/a.hpp", "<level_zero/ze_api.h>", "only ze_npu"),
    "model must not use pugixml": ("npucore/src/model/a.cpp", "<pugixml.hpp>", "only ir, ir/graph, ir/repair, softnpu/graph may"),
    "npucore must not use GLib": ("npucore/src/model/a.cpp", "<glib.h>", "only gst/"),
    "npucore must not use OpenVINO": ("npucore/src/model/a.cpp", "<openvino/openvino.hpp>", "only softnpu/graph may"),
    "tools must not use private headers": ("tools/npu_info/a.cpp", '"base/text.hpp"', "tools/npu_info may not include base"),
    "an unknown library needs a room": ("npucore/src/model/a.cpp", "<boost/any.hpp>", "no room may use it"),
    "a new folder of npucore needs a room": ("npucore/src/extra/a.cpp", "<string>", "stands in no room"),
    "a new hall needs a room": ("attic/a.cpp", "<string>", "stands in no room"),
}


# A line, and its words that only the rooms of the driver may say.
DRIVER_NAMES = {
    "a type": ("ze_graph_handle_t graph_ = nullptr;", ["ze_graph_handle_t"]),
    "a constant": ("return ZE_RESULT_SUCCESS;", ["ZE_RESULT_SUCCESS"]),
    "a function of the table": ("device.graph->pfnCreate(context, device);", ["->pfnCreate"]),
    "a variable of the loader": ('::getenv("ZE_ENABLE_ALT_DRIVERS");', ["ZE_ENABLE_ALT_DRIVERS"]),
    "a function of a table": ("(*table).pfnDestroy(graph);", [".pfnDestroy"]),
    "a call": ("loader.zeMemFree(context, address);", ["zeMemFree"]),
    "a call of sysman": ("/// Needs zesInit.", ["zesInit"]),
    "a variable of sysman": ('::setenv("ZES_ENABLE_SYSMAN", "1", 0);', ["ZES_ENABLE_SYSMAN"]),
    "a comment": ("/// The ze_context_handle_t of the device.", ["ze_context_handle_t"]),
    "two of them": ("ze_result_t result = ZE_RESULT_SUCCESS;", ["ze_result_t", "ZE_RESULT_SUCCESS"]),
    "our own names": ('const ze::Queue queue; set("NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD", SIZE_T, maze_at);', []),
}


class Layers(unittest.TestCase):
    def test_driver_names_outside_their_room(self):
        for name, (line, words) in DRIVER_NAMES.items():
            for path in ("npucore/src/model/a.cpp", "npucore/src/device/a.hpp", "npucore/include/npucore/a.hpp", "gst/frames/a.cpp"):
                with self.subTest(name, path=path):
                    wanted = [f"{path}:2: {word}: only ze, ze_npu and softnpu may say this" for word in words]
                    self.assertEqual(faults_of_text({path: f"\n{line}\n"}), wanted)

    def test_driver_names_in_their_room(self):
        for name, (line, _) in DRIVER_NAMES.items():
            for path in ("npucore/src/ze/a.cpp", "softnpu/machine/a.cpp", "tests/npucore/a.cpp", "bench/a.cpp"):
                with self.subTest(name, path=path):
                    self.assertEqual(faults_of_text({path: line}), [])

    def test_variables_of_the_software_npu(self):
        line = '::getenv("SOFTNPU_ALLOW_MEMFD");  // and SOFTNPU_EXEC'
        for path in ("npucore/src/memory/a.cpp", "npucore/src/ze/a.hpp", "tools/npu_info/a.cpp"):
            with self.subTest(path):
                wanted = [f"{path}:1: {word}: only the software NPU reads its variables; ask for an extension"
                          for word in ("SOFTNPU_ALLOW_MEMFD", "SOFTNPU_EXEC")]
                self.assertEqual(faults_of_text({path: line}), wanted)
        for path in ("softnpu/base/a.cpp", "tests/npucore/a.cpp", "bench/a.cpp"):
            with self.subTest(path):
                self.assertEqual(faults_of_text({path: line}), [])
        others = 'has(ZE_SOFTNPU_MEMFD_IMPORT_EXT_NAME); ::getenv("NPUCORE_SOFTNPU");'
        self.assertEqual(faults_of_text({"npucore/src/ze/a.cpp": others}), [])

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

    def test_modules_must_not_include_each_other(self):
        ring = {"gst/frames/a.hpp": [], "gst/frames/a.cpp": ['"a.hpp"', '"b.hpp"'], "gst/frames/b.hpp": ['"c.hpp"'], "gst/frames/c.hpp": []}
        self.assertEqual(faults(ring), [])
        found = faults({**ring, "gst/frames/c.cpp": ['"a.hpp"']})
        self.assertEqual(len(found), 1)
        self.assertIn("gst/frames/a -> gst/frames/b -> gst/frames/c -> gst/frames/a: a cycle", found[0])

    def test_folders_must_not_include_each_other(self):
        folder = "npucore/include/npucore"
        one_way = {f"{folder}/error.hpp": [], f"{folder}/adapters/a.hpp": ["<npucore/error.hpp>"]}
        self.assertEqual(faults(one_way), [])
        found = faults({**one_way, f"{folder}/model.hpp": ["<npucore/adapters/a.hpp>"]})
        self.assertEqual(len(found), 1)
        self.assertIn(f"{folder} -> {folder}/adapters -> {folder}: a cycle", found[0])

    def test_a_folder_may_have_twenty_modules(self):
        modules = {f"gst/frames/m{i}{suffix}": [] for i in range(20) for suffix in (".cpp", ".hpp")}
        self.assertEqual(faults(modules), [])
        for one_more, kind in {"gst/frames/m20.cpp": "sources", "gst/frames/m20.hpp": "headers"}.items():
            with self.subTest(one_more):
                found = faults({**modules, one_more: []})
                self.assertEqual(len(found), 1)
                self.assertIn(f"gst/frames: 21 {kind}, at most 20", found[0])

    def test_rooms_are_counted_alone_and_tests_not_at_all(self):
        rooms = ("softnpu/base", "softnpu/machine", "tools/npu_info", "tools/npu_bench", "npucore/src/ir", "npucore/src/ir/graph")
        self.assertEqual(faults({f"{room}/m{i}.cpp": [] for room in rooms for i in range(20)}), [])
        self.assertEqual(faults({f"tests/softnpu/m{i}.cpp": [] for i in range(40)}), [])


if __name__ == "__main__":
    unittest.main()
