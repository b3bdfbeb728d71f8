#!/usr/bin/env python3
"""What scripts/tally.py counts in the logs that meson 1.0 and 1.7 write."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TALLY = Path(__file__).resolve().parents[2] / "scripts" / "tally.py"


def gtest_suite(test, *cases):
    rows = "".join(f'<testcase name="c{i}" status="run">{case}</testcase>' for i, case in enumerate(cases))
    return f'<testsuite name="npucore.{test}.Suite">{rows}</testsuite>'


def skipped(why):
    return f'<skipped message="a.cpp:7&#10;{why}&#10;"/>'


class Tally(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name, "results")
        self.build = Path(folder.name, "build")
        (self.build / "meson-logs").mkdir(parents=True)
        (self.build / "meson-info").mkdir()

    def run_tally(self, command, *words):
        return subprocess.run([sys.executable, str(TALLY), command, str(self.results), *map(str, words)],
                              capture_output=True, text=True, check=False)

    def add(self, rows, suites=(), stage="tests", gtests=()):
        """Adds a run of tests, given as (name, meson's result[, command[, output]]), and GoogleTest suites; its exit code."""
        logs = self.build / "meson-logs"
        known = [{"name": name, "protocol": "gtest"} for name in gtests]
        self.build.joinpath("meson-info/intro-tests.json").write_text(json.dumps(known))
        keys = ("name", "result", "command", "stdout")
        logs.joinpath("testlog.json").write_text("".join(json.dumps(dict(zip(keys, row))) + "\n" for row in rows))
        plain = '<testsuite name="npucore"><testcase name="npucore:checks / plain"/></testsuite>'
        logs.joinpath("testlog.junit.xml").write_text(f"<testsuites>{''.join(suites)}{plain}</testsuites>")
        return self.run_tally("add", stage, self.build).returncode

    def close(self):
        return self.run_tally("close").stdout.splitlines()

    def closing_line(self):
        return self.close()[-1]

    def test_each_gtest_case_counts(self):
        suite = gtest_suite("npucore:ir / reader", "", "", skipped("no device"))
        self.assertEqual(self.add([("npucore:ir / reader", "OK", ["/b/ir-tests"])], [suite]), 0)
        self.assertEqual(self.closing_line(), "2 passed, 0 failed, 1 skipped")

    def test_a_case_that_others_run_is_none(self):
        suite = gtest_suite("npucore:ir / reader", "", "").replace('"c1" status="run"', '"DISABLED_c1" status="notrun"')
        self.add([("npucore:ir / reader", "OK", ["/b/ir-tests"])], [suite.replace(".Suite", ".Child")])
        self.assertEqual(self.closing_line(), "1 passed, 0 failed")

    def test_a_disabled_case_is_skipped(self):
        suite = gtest_suite("npucore:ir / reader", "", "").replace('"c1" status="run"', '"DISABLED_c1" status="notrun"')
        self.add([("npucore:ir / reader", "OK", ["/b/ir-tests"])], [suite])
        self.assertEqual(self.closing_line(), "1 passed, 0 failed, 1 skipped")

    def test_a_failed_case_counts(self):
        suite = gtest_suite("npucore:ir / reader", "", "<failure/>")
        self.assertEqual(self.add([("npucore:ir / reader", "FAIL", ["/b/ir-tests"])], [suite]), 1)
        self.assertEqual(self.closing_line(), "1 passed, 1 failed")

    def test_a_bad_exit_after_good_cases_is_a_failure(self):
        self.add([("npucore:ir / reader", "FAIL", ["/b/ir-tests"])], [gtest_suite("npucore:ir / reader", "", "")])
        self.assertEqual(self.closing_line(), "2 passed, 1 failed")

    def test_a_gtest_program_that_leaves_no_report_is_a_failure(self):
        rows = [("npucore:ir / reader", "OK", ["/b/ir-tests"]), ("vm-devices (host)", "OK"), ("npucore:checks / plain", "OK")]
        self.assertEqual(self.add(rows, gtests=["reader", "vm-devices"]), 1)
        self.assertEqual(self.closing_line(), "1 passed, 2 failed")

    def test_a_time_out_is_a_failure(self):
        self.add([("npucore:ir / reader", "TIMEOUT")])
        self.assertEqual(self.closing_line(), "0 passed, 1 failed")

    def test_an_unexpected_pass_is_a_failure(self):
        self.add([("npucore:checks / catches", "UNEXPECTEDPASS")])
        self.assertEqual(self.closing_line(), "0 passed, 1 failed")

    def test_a_plain_program_counts_once(self):
        self.add([("npucore:checks / plain", "OK"), ("npucore:checks / other", "FAIL"),
                  ("npucore:checks / none", "SKIP", ["sh"], "words\nno device\n")])
        self.assertEqual(self.closing_line(), "1 passed, 1 failed, 1 skipped")
        self.assertIn("      1 no device", self.close())

    def test_names_that_begin_alike_stay_apart(self):
        suites = [gtest_suite("npucore:ir / read", ""), gtest_suite("npucore:ir / reader", "", "")]
        self.add([("npucore:ir / read", "OK", ["a"]), ("npucore:ir / reader", "TIMEOUT", ["b"])], suites)
        self.assertEqual(self.closing_line(), "3 passed, 1 failed")

    def test_a_case_of_several_configurations_counts_once(self):
        rows = [("npucore:c / plain", "OK", ["/b/conformance"]), ("npucore:c / validated", "OK", ["/s/leak_check.py", "/b/conformance"])]
        self.add(rows, [gtest_suite(name, "", "") for name, *_ in rows])
        self.add(rows, [gtest_suite(name, "", "") for name, *_ in rows], stage="trixie")
        self.assertEqual(self.closing_line(), "2 passed, 0 failed")

    def test_a_configuration_may_have_points_in_its_name(self):
        names = ["npucore:conformance / as 1.5 plain", "npucore:conformance / as 1.16 plain"]
        self.add([(name, "OK", ["/b/conformance"]) for name in names], [gtest_suite(name, "") for name in names])
        self.assertEqual(self.closing_line(), "1 passed, 0 failed")

    def test_the_same_case_of_two_programs_counts_twice(self):
        rows = [("npucore:a / x", "OK", ["/b/a-tests"]), ("npucore:b / x", "OK", ["/b/b-tests"])]
        self.add(rows, [gtest_suite(name, "") for name, *_ in rows])
        self.assertEqual(self.closing_line(), "2 passed, 0 failed")

    def test_it_fails_when_it_fails_anywhere(self):
        command = ["/b/conformance"]
        self.add([("npucore:c / plain", "FAIL", command)], [gtest_suite("npucore:c / plain", "<failure/>")])
        self.add([("npucore:c / plain", "OK", command)], [gtest_suite("npucore:c / plain", "")], stage="trixie")
        self.assertEqual(self.closing_line(), "0 passed, 1 failed")

    def test_it_is_skipped_only_when_it_is_skipped_everywhere(self):
        command = ["/b/conformance"]
        self.add([("npucore:c / plain", "OK", command)], [gtest_suite("npucore:c / plain", skipped("old"), skipped("old"))])
        self.add([("npucore:c / plain", "OK", command)], [gtest_suite("npucore:c / plain", "", skipped("older"))], stage="trixie")
        said = self.close()
        self.assertEqual(said[-1], "1 passed, 0 failed, 1 skipped")
        self.assertIn("      1 old", said)

    def test_guests_of_several_systems_run_the_same_test(self):
        self.add([("vm-devices (host)", "OK", ["devices_test.sh"]), ("vm-devices (trixie)", "OK", ["devices_test.sh"])])
        self.assertEqual(self.closing_line(), "1 passed, 0 failed")

    def test_what_failed_is_named_with_its_stage_and_cases(self):
        suite = gtest_suite("npucore:ir / reader", "", '<failure message="a.cpp:1&#10;no"/>', "<error/>")
        self.add([("npucore:ir / reader", "FAIL", ["/b/ir-tests"]), ("npucore:checks / slow", "TIMEOUT")], [suite])
        said = ["failed:", "  tests: ir-tests: Suite.c1 (in npucore:ir / reader)", "    a.cpp:1", "    no",
                "  tests: ir-tests: Suite.c2 (in npucore:ir / reader)", "  tests: npucore:checks / slow", "    TIMEOUT"]
        self.assertEqual(self.close()[1:8], said)

    def test_skips_are_listed_by_reason_the_most_first(self):
        self.add([("t", "OK", ["p"])], [gtest_suite("t", skipped("b"), skipped("a"), skipped("b"))])
        self.assertEqual(self.close()[1:4], ["skipped, because of this machine:", "      2 b", "      1 a"])

    def test_a_single_case_is_noted(self):
        self.run_tally("note", "format", "passed", "clang-format")
        self.run_tally("note", "trixie", "skipped", "the lane trixie", "it needs root")
        self.assertEqual(self.closing_line(), "1 passed, 0 failed, 1 skipped")

    def test_a_run_without_tests_is_a_failure(self):
        self.assertEqual(self.add([]), 1)

    def test_close_tells_by_its_exit_code(self):
        self.run_tally("note", "format", "passed", "clang-format")
        self.assertEqual(self.run_tally("close").returncode, 0)
        self.run_tally("note", "tidy", "failed", "clang-tidy a.cpp")
        self.assertEqual(self.run_tally("close").returncode, 1)

    def test_a_stage_that_failed_counts_where_none_of_its_cases_did(self):
        self.run_tally("note", "tidy", "failed", "clang-tidy a.cpp")
        run = self.run_tally("close", "tidy", "vm")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stdout.splitlines()[-1], "0 passed, 2 failed")
        self.assertIn("  vm: stage vm", run.stdout)

    def test_what_a_full_disk_cut_off_is_a_failure(self):
        self.run_tally("note", "format", "passed", "clang-format")
        self.results.write_text(self.results.read_text() + '{"stage": "te')
        self.assertEqual(self.run_tally("close").returncode, 1)
        self.assertEqual(self.closing_line(), "1 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()
