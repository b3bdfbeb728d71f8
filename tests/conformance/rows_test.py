#!/usr/bin/env python3
"""The table of rows in README.md: every row from 1 to 70, each with tests that the suite has, or the reason for none.

usage: rows_test.py CONFORMANCE README.md
"""

import re
import subprocess
import sys

ROWS = 70


def suite_tests(program):
    """Names as the table spells them: "Suite.Test", without the parameter of a parametrised one."""
    listing = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names, suite = set(), ""
    for line in listing.splitlines():
        word = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = word
        elif word:
            names.add(suite + word.split("/")[0])
    return names


def problems(readme, tests):
    rows = re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \|$", readme, re.MULTILINE)
    numbers = [int(number) for number, _, _ in rows]
    if numbers != list(range(1, ROWS + 1)):
        yield f"the table's rows are {numbers}, not 1 to {ROWS}"
    for number, _, shown in rows:
        named = re.findall(r"`([^`]+)`", shown)
        if not named and not shown.startswith("not tested: "):
            yield f"row {number} names no test and gives no reason"
        for name in named:
            if name not in tests:
                yield f"row {number} names {name}, which the suite does not have"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tests = suite_tests(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        found = list(problems(file.read(), tests))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
