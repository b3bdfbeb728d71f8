#!/usr/bin/env python3
"""Counts a `meson test` run: prints "<passed> <failed> <skipped>", then each program that failed, with its cases.

usage: tally.py BUILDDIR

Every case of a GoogleTest program counts; any other program counts as one. Meson's own verdict on a program rules: one that
ends badly (a crash, a time-out, a leak found at exit) counts at least one failure, whatever its cases said.
"""
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

GOOD = ("OK", "EXPECTEDFAIL")
LINES_OF_A_FAILURE = 8


def indented(message):
    return [f"    {line}" for line in (message or "").splitlines()[:LINES_OF_A_FAILURE]]


def gtest_cases(junit):
    """GoogleTest suite, "<project>.<program>.<suite>" -> [passed, failed, skipped], and what its failed cases said."""
    cases = {}
    for suite in ET.parse(junit).getroot().iter("testsuite"):
        if "." not in suite.get("name", ""):
            continue  # meson's own suite: programs that are not GoogleTest's
        counts, failures = cases.setdefault(suite.get("name"), ([0, 0, 0], []))
        for case in suite.iter("testcase"):
            failure = next((part for part in case if part.tag in ("failure", "error")), None)
            if failure is not None:
                counts[1] += 1
                failures.append("\n".join([f"  {case.get('name')}", *indented(failure.get("message"))]))
            elif case.find("skipped") is not None or case.get("status") == "notrun":
                counts[2] += 1
            else:
                counts[0] += 1
    return cases


def count_program(result, suites):
    """[passed, failed, skipped] of one program from meson's verdict and the counts of its GoogleTest suites, if it has any."""
    passed, failed, skipped = (sum(column) for column in zip([0, 0, 0], *suites))
    if result not in GOOD and result != "SKIP":
        return passed, max(failed, 1), skipped
    if suites:
        return passed, failed, skipped
    return (0, 0, 1) if result == "SKIP" else (1, 0, 0)


def read_run(build):
    """The totals of a run, and what to say of each program that failed."""
    logs = Path(build) / "meson-logs"
    cases = gtest_cases(logs / "testlog.junit.xml")
    totals, failed = [0, 0, 0], []
    for line in (logs / "testlog.json").read_text().splitlines():
        row = json.loads(line)
        mine = [cases.pop(name) for name in list(cases) if f".{row['name']}." in name]
        counts = count_program(row["result"], [suite for suite, _ in mine])
        totals = [total + one for total, one in zip(totals, counts)]
        if counts[1]:
            failed += [f"{row['name']}: {row['result']}", *(failure for _, failures in mine for failure in failures)]
    return totals, failed


if __name__ == "__main__":
    counted, bad = read_run(sys.argv[1])
    print(*counted)
    print(*bad, sep="\n", end="\n" if bad else "")
