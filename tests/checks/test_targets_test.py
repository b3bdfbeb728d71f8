#!/usr/bin/env python3
"""What scripts/test-targets.py has ninja build for some suites."""
import importlib.util
import sys
import unittest
from pathlib import Path
from unittest import mock

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "test-targets.py"
spec = importlib.util.spec_from_file_location("test_targets", SCRIPT)
test_targets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(test_targets)

TARGETS = [{"id": "plugin@sha", "filename": ["/b/libplugin.so"]}, {"id": "tests@exe", "filename": ["/b/gst-tests"]},
           {"id": "model@cus", "filename": ["/b/model.xml", "/b/model.bin"]}, {"id": "other@exe", "filename": ["/b/other"]}]
TESTS = [{"suite": ["npucore:gst"], "depends": ["plugin@sha", "tests@exe"]},
         {"suite": ["npucore:bench"], "depends": ["model@cus", "plugin@sha"]},
         {"suite": ["npucore:ir"], "depends": ["other@exe"]}]


class TestTargets(unittest.TestCase):
    def test_a_suite_needs_what_its_tests_depend_on(self):
        self.assertEqual(test_targets.wanted(TESTS, TARGETS, {"gst"}), ["/b/gst-tests", "/b/libplugin.so"])

    def test_several_suites_need_each_target_once(self):
        self.assertEqual(test_targets.wanted(TESTS, TARGETS, {"gst", "bench"}),
                         ["/b/gst-tests", "/b/libplugin.so", "/b/model.bin", "/b/model.xml"])

    def test_an_unknown_suite_needs_nothing(self):
        self.assertEqual(test_targets.wanted(TESTS, TARGETS, {"gstreamer"}), [])

    def test_an_unknown_suite_beside_a_known_one_is_an_error(self):
        known = {"tests": TESTS, "targets": TARGETS}
        with mock.patch.object(test_targets, "introspect", lambda _, what: known[what]):
            with mock.patch.object(sys, "argv", ["test-targets.py", "/b", "gst", "gstreamer"]):
                with self.assertRaisesRegex(SystemExit, "no test of gstreamer"):
                    test_targets.main()


if __name__ == "__main__":
    unittest.main()
