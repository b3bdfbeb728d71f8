#!/usr/bin/env python3
"""Counts the cases in the JUnit reports that the stages of scripts/test.sh leave in a folder, as STAGE-*.xml.

usage: tally.py note FOLDER STAGE passed|skipped [WHY]   adds a stage that is one case
       tally.py close FOLDER [FAILED-STAGE...]           prints failures, reasons for skips, and the closing line

A case that several stages ran counts once: it failed when it failed anywhere, and is skipped when every stage skipped it. A stage that
failed without a failed case is a failure of its own. Exits with 1 when something failed, or nothing passed.
"""
import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

RANK = ("skipped", "passed", "failed")
LINES_OF_A_FAILURE = 8


def lines_of(text):
    """GoogleTest puts a place in the source before a skipped case's reason."""
    lines = [line.strip() for line in (text or "").splitlines()]
    return [line for line in lines if line and not re.fullmatch(r".+\.\w+:\d+|Skipped", line)]


def reason(case, skipped):
    """A GoogleTest case's own words, or the last line that another test printed."""
    words = lines_of(skipped.get("message") or skipped.text)[:1] or lines_of(case.findtext("system-out"))[-1:]
    return words[0] if words else "no reason given"


def read_case(case):
    bad = case.find("failure") if case.find("failure") is not None else case.find("error")
    skipped = case.find("skipped")
    if bad is not None:
        return "failed", "\n".join((bad.get("message") or bad.text or "").splitlines()[:LINES_OF_A_FAILURE])
    if skipped is not None:
        return "skipped", reason(case, skipped)
    return "passed", ""


def read_report(path):
    """Rows (stage, name, verdict, why); cases that GoogleTest did not run are others' helpers."""
    for suite in ET.parse(path).getroot().iter("testsuite"):
        for case in suite.findall("testcase"):
            if case.get("status") != "notrun":
                yield path.stem.rsplit("-", 1)[0], f"{suite.get('name')}: {case.get('name')}", *read_case(case)


def note(folder, stage, verdict, why=""):
    suites = ET.Element("testsuites")
    case = ET.SubElement(ET.SubElement(suites, "testsuite", name="stage"), "testcase", name=stage)
    if verdict == "skipped":
        ET.SubElement(case, "skipped", message=why)
    ET.ElementTree(suites).write(Path(folder) / f"{stage}-note.xml")


def close(folder, *failed_stages):
    rows = [row for path in sorted(Path(folder).glob("*.xml")) for row in read_report(path)]
    told = {stage for stage, _, verdict, _ in rows if verdict == "failed"}
    rows += [(stage, f"stage: {stage}", "failed", "see its output above") for stage in failed_stages if stage not in told]
    cases = {}
    for stage, name, verdict, why in rows:
        if verdict == "failed":
            print(f"failed in {stage}: {name}", *(f"    {line}" for line in why.splitlines()), sep="\n")
        if name not in cases or RANK.index(verdict) > RANK.index(cases[name][0]):
            cases[name] = verdict, why
    counts = Counter(verdict for verdict, _ in cases.values())
    reasons = Counter(why for verdict, why in cases.values() if verdict == "skipped")
    print(*(f"skipped: {count:4} {why}" for why, count in reasons.most_common()), sep="\n")
    print(f"\n{counts['passed']} passed, {counts['failed']} failed" + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return counts["passed"] > 0 and not counts["failed"]


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("note", "close"):
        sys.exit(__doc__)
    if sys.argv[1] == "note":
        note(*sys.argv[2:])
    else:
        sys.exit(not close(*sys.argv[2:]))
