#!/usr/bin/env python3
"""Runs a program under the Level Zero loader's leak checker and fails when the checker's table shows a leak.

usage: leak_check.py PROGRAM [ARGUMENTS]

The checker (ZEL_ENABLE_BASIC_LEAK_CHECKER, loaders from 1.20.3 on) prints at the end of the process how often every kind of
object was created and destroyed; behind a pair that does not balance it prints "---> LEAK = n". The program's own exit
status goes first. A run without the table fails too: then nothing was checked.
"""

import os
import re
import subprocess
import sys

TABLE = "Check balance of create/destroy calls"
PAIR = re.compile(r"(\w+) = (\d+) .*\\--->")
LEAK = re.compile(r"LEAK = (-?\d+)")


def verdict(output):
    """What is wrong with a program's output, in one sentence; None for nothing."""
    lines = output.splitlines()
    if TABLE not in output:
        return "the loader printed no table of created and destroyed objects"
    table = lines[max(i for i, line in enumerate(lines) if TABLE in line):]
    leaks = [line.strip() for line in table if (found := LEAK.search(line)) and int(found[1]) != 0]
    if leaks:
        return "the loader's leak checker found: " + "; ".join(leaks)
    if not any(int(pair[2]) for line in table if (pair := PAIR.search(line))):
        return "the loader's table counts no object at all"
    return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    checks = {"ZE_ENABLE_VALIDATION_LAYER": "1", "ZEL_ENABLE_BASIC_LEAK_CHECKER": "1"}
    run = subprocess.run(sys.argv[1:], env=os.environ | checks, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         errors="replace", check=False)
    sys.stdout.write(run.stdout)
    if run.returncode != 0:
        sys.exit(run.returncode if run.returncode > 0 else 128 - run.returncode)
    if problem := verdict(run.stdout):
        sys.exit("leak_check: " + problem)


if __name__ == "__main__":
    main()
