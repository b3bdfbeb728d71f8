#!/usr/bin/env python3
"""scripts/vm-tests.py in a tree of its own, whose guest is this machine."""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
GUEST = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
REPORT = """<testsuites><testsuite name="Rows" tests="2"><testcase name="a" status="run"/>
<testcase name="b" status="run"><failure/></testcase></testsuite></testsuites>"""
WRITES_REPORT = 'for a; do case $a in --gtest_output=xml:*) echo "$REPORT" >"${a#*:}" ;; esac; done; exit 1'


def row(name, script, suite="vm", protocol="exitcode", timeout=20, **env):
    return {"name": name, "cmd": ["sh", "-c", script, name], "env": env, "workdir": None, "timeout": timeout,
            "suite": ["npucore:" + suite], "protocol": protocol}


class VmTests(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.tree = Path(temp.name)
        (self.tree / "scripts").mkdir()
        for name in ("vm-tests.py", "tally.py"):
            shutil.copy(SCRIPTS / name, self.tree / "scripts")
        self.guest(GUEST)

    def guest(self, script):
        path = self.tree / "scripts" / "lane-vm.sh"
        path.write_text(script)
        path.chmod(0o755)

    def run_rows(self, *rows, build="build"):
        info = self.tree / build / "meson-info"
        info.mkdir(parents=True)
        (self.tree / build / "build.ninja").touch()
        (info / "intro-tests.json").write_text(json.dumps(rows))
        return subprocess.run([sys.executable, self.tree / "scripts" / "vm-tests.py"], capture_output=True, text=True)

    def counts(self):
        """The closing line of what was run."""
        results = self.tree / "results"
        results.unlink(missing_ok=True)
        tally = [sys.executable, self.tree / "scripts" / "tally.py"]
        subprocess.run([*tally, "add", results, "vm", self.tree / "build-vm"], check=False)
        return subprocess.run([*tally, "close", results], capture_output=True, text=True, check=False).stdout.splitlines()[-1]

    def test_all_good(self):
        run = self.run_rows(row("one", "true"), row("two", '[ "$WORD" = "a b" ]', WORD="a b"), row("other", "false", suite="gst"))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(self.counts(), "2 passed, 0 failed")

    def test_a_failing_one_shows_its_output(self):
        run = self.run_rows(row("bad", "echo the reason; exit 3"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("the reason", run.stdout)
        self.assertEqual(self.counts(), "0 passed, 1 failed")

    def test_a_gtest_program_without_a_report_fails(self):
        self.run_rows(row("quiet", "true", protocol="gtest"), row("plain", "true"))
        self.assertEqual(self.counts(), "1 passed, 1 failed")

    def test_a_late_one_is_ended(self):
        run = self.run_rows(row("late", "sleep 60", timeout=1))
        self.assertIn("TIMEOUT", run.stdout)
        self.assertEqual(self.counts(), "0 passed, 1 failed")

    def test_a_skipped_one_is_good(self):
        self.assertEqual(self.run_rows(row("skipped", "exit 77")).returncode, 0)
        self.assertEqual(self.counts(), "0 passed, 0 failed, 1 skipped")

    def test_a_googletest_programs_cases_count(self):
        self.assertEqual(self.run_rows(row("cases", WRITES_REPORT, protocol="gtest", REPORT=REPORT)).returncode, 1)
        self.assertEqual(self.counts(), "1 passed, 1 failed")

    def test_what_a_dead_guest_did_not_run_has_failed(self):
        self.guest("#!/bin/sh\nexit 1\n")
        self.assertEqual(self.run_rows(row("one", "true"), row("two", "true")).returncode, 1)
        self.assertEqual(self.counts(), "0 passed, 2 failed")

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.run_rows(row("other", "true", suite="gst")).returncode, 1)

    def test_no_test_of_one_build_is_a_failure(self):
        self.run_rows(row("one", "true"), build="build-trixie")
        run = self.run_rows(row("other", "true", suite="gst"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("the build of host", run.stderr)

    def test_every_build_runs(self):
        self.run_rows(row("one", "true"), build="build-trixie")
        shutil.rmtree(self.tree / "build-vm")
        run = self.run_rows(row("one", "true"))
        self.assertIn("one (host)", run.stdout)
        self.assertIn("one (trixie)", run.stdout)
        self.assertEqual(self.counts(), "1 passed, 0 failed")  # the same test twice


if __name__ == "__main__":
    unittest.main()
