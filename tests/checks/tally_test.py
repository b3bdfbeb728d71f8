#!/usr/bin/env python3
"""What scripts/tally.py counts in the logs that meson 1.0 and 1.7 write."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TALLY = Path(__file__).resolve().parents[2] / "scripts" / "tally.py"


def gtest_suite(program, *cases):
    rows = "".join(f'<testcase name="c{i}" status="run">{case}</testcase>' for i, case in enumerate(cases))
    return f'<testsuite name="npucore.{program}.Suite">{rows}</testsuite>'


def tally(rows, suites=()):
    """What tally.py prints, line by line, of programs given as (name, meson's result) and GoogleTest suites."""
    with tempfile.TemporaryDirectory() as build:
        logs = Path(build, "meson-logs")
        logs.mkdir()
        logs.joinpath("testlog.json").write_text("".join(json.dumps({"name": n, "result": r}) + "\n" for n, r in rows))
        plain = '<testsuite name="npucore"><testcase name="npucore:checks / plain"/></testsuite>'
        logs.joinpath("testlog.junit.xml").write_text(f"<testsuites>{''.join(suites)}{plain}</testsuites>")
        run = subprocess.run([sys.executable, str(TALLY), build], capture_output=True, text=True, check=True)
        return run.stdout.splitlines()


def counts(rows, suites=()):
    """tally.py's three numbers."""
    return [int(word) for word in tally(rows, suites)[0].split()]


class Tally(unittest.TestCase):
    def test_each_gtest_case_counts(self):
        suite = gtest_suite("npucore:ir / reader", "", "", "<skipped/>")
        self.assertEqual(counts([("npucore:ir / reader", "OK")], [suite]), [2, 0, 1])

    def test_a_failed_case_counts(self):
        suite = gtest_suite("npucore:ir / reader", "", "<failure/>")
        self.assertEqual(counts([("npucore:ir / reader", "FAIL")], [suite]), [1, 1, 0])

    def test_a_bad_exit_after_good_cases_is_a_failure(self):
        suite = gtest_suite("npucore:ir / reader", "", "")
        self.assertEqual(counts([("npucore:ir / reader", "FAIL")], [suite]), [2, 1, 0])

    def test_a_time_out_is_a_failure(self):
        self.assertEqual(counts([("npucore:ir / reader", "TIMEOUT")]), [0, 1, 0])

    def test_a_plain_program_counts_once(self):
        rows = [("npucore:checks / plain", "OK"), ("npucore:checks / other", "FAIL"), ("npucore:checks / none", "SKIP")]
        self.assertEqual(counts(rows), [1, 1, 1])

    def test_names_that_begin_alike_stay_apart(self):
        suites = [gtest_suite("npucore:ir / read", ""), gtest_suite("npucore:ir / reader", "", "")]
        self.assertEqual(counts([("npucore:ir / read", "OK"), ("npucore:ir / reader", "TIMEOUT")], suites), [3, 1, 0])

    def test_what_failed_is_named_with_its_cases(self):
        suite = gtest_suite("npucore:ir / reader", "", '<failure message="a.cpp:1&#10;no"/>', "<error/>")
        rows = [("npucore:ir / reader", "FAIL"), ("npucore:checks / plain", "OK"), ("npucore:checks / slow", "TIMEOUT")]
        said = ["npucore:ir / reader: FAIL", "  c1", "    a.cpp:1", "    no", "  c2", "npucore:checks / slow: TIMEOUT"]
        self.assertEqual(tally(rows, [suite])[1:], said)


if __name__ == "__main__":
    unittest.main()
