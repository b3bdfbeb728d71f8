#!/usr/bin/env python3
"""Commands that fail as expected, otherwise, or not at all, and what tests/support/fails_with.py says of them."""
import subprocess
import sys
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[1] / "support" / "fails_with.py"


def run(script):
    return subprocess.run([sys.executable, RUNNER, "^leak: [0-9]+ bytes", "sh", "-c", script], capture_output=True, text=True, check=False)


class FailsWith(unittest.TestCase):
    def test_the_expected_failure_passes(self):
        self.assertEqual(run("echo leak: 40 bytes >&2; exit 3").returncode, 0)

    def test_another_failure_fails(self):
        self.assertIn("without a line like", run("echo no such file; exit 3").stderr)
        self.assertEqual(run("echo no such file; exit 3").returncode, 1)

    def test_success_fails(self):
        self.assertIn("did not fail", run("echo leak: 40 bytes").stderr)

    def test_a_signal_fails(self):
        self.assertIn("signal 9", run("echo leak: 40 bytes; kill -9 $$").stderr)


if __name__ == "__main__":
    unittest.main()
