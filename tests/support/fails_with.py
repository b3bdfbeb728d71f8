#!/usr/bin/env python3
"""Passes when a command fails for the expected reason: it exits by itself, not with 0, and a line that it writes matches.

usage: fails_with.py PATTERN COMMAND...    PATTERN: a regular expression, searched in each line
"""
import re
import subprocess
import sys


def fault(pattern, command):
    """What is wrong with how the command ended; None for nothing."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    sys.stdout.write(run.stdout)
    if run.returncode == 0:
        return "it did not fail"
    if run.returncode < 0:
        return f"signal {-run.returncode} ended it"
    if not any(re.search(pattern, line) for line in run.stdout.splitlines()):
        return f"it failed without a line like: {pattern}"
    return None


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wrong = fault(sys.argv[1], sys.argv[2:])
    if wrong:
        sys.exit(f"fails_with: {wrong}")
