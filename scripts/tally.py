#!/usr/bin/env python3
"""Counts what the stages of scripts/test.sh have run: every distinct case once, however many configurations ran it.

usage: tally.py add RESULTS STAGE BUILDDIR              the cases of a `meson test` run
       tally.py note RESULTS STAGE VERDICT CASE [WHY]   one case; VERDICT is passed, failed or skipped
       tally.py close RESULTS [STAGE...]                what failed, why what was skipped, and the closing line; STAGE: one that
                                                        failed, which counts as a failure where none of its cases does

RESULTS collects JSON lines. A case has failed when it failed anywhere, and is skipped when it was skipped everywhere. The cases of a
GoogleTest program are told apart by the program, any other test by its name. Meson's own verdict on a program rules: one that ends
badly (a crash, a time-out, a leak found at exit) without a failed case is a failure of its own, and so is a GoogleTest program that
ends well but leaves no report.

add exits with 1 when something failed, or nothing ran; close when something failed.
"""
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

GOOD = ("OK", "EXPECTEDFAIL")
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
RANK = {SKIPPED: 0, PASSED: 1, FAILED: 2}
LINES_OF_A_FAILURE = 8
SCRIPTS = (".py", ".sh")
INTERPRETERS = ("python3", "sh", "bash")
GUEST = re.compile(r" \((host|trixie|sid)\)$")


def row(stage, case, verdict, why=""):
    return {"stage": stage, "case": case, "verdict": verdict, "why": why or ""}


def program_of(command):
    """The name of the program that a test runs, past wrappers written in Python or shell."""
    names = [Path(word).name for word in command]
    return next((name for name in names if not name.endswith(SCRIPTS) and name not in INTERPRETERS), "")


def reason_of(message):
    """What a skipped case says: GoogleTest puts the place in the source before it."""
    lines = [line.strip() for line in (message or "").splitlines()]
    return next((line for line in lines if line and not re.match(r"\S+:\d+$", line) and line != "Skipped"), "no reason given")


def read_case(case):
    """The verdict on one of a GoogleTest program's cases, and why."""
    bad = [part for part in case if part.tag in ("failure", "error")]
    if bad:
        return FAILED, "\n".join((bad[0].get("message") or "").splitlines()[:LINES_OF_A_FAILURE])
    skipped = case.find("skipped")
    if skipped is not None:
        return SKIPPED, reason_of(skipped.get("message") or skipped.text)
    return (SKIPPED, "disabled") if case.get("status") == "notrun" else (PASSED, "")


def gtest_cases(junit):
    """[("<project>.<test>.<suite>", case, verdict, why)] of all GoogleTest programs."""
    found = []
    for suite in ET.parse(junit).getroot().iter("testsuite"):
        name = suite.get("name", "")
        if "." not in name:
            continue  # meson's own suite: tests that are not GoogleTest's
        for case in suite.iter("testcase"):
            if name.endswith(".Child") and case.get("name").startswith("DISABLED_"):
                continue  # another case's process, which runs it by name
            found.append((name, case.get("name"), *read_case(case)))
    return found


def last_line(text):
    lines = (text or "").strip().splitlines()
    return lines[-1].strip() if lines else "no reason given"


def gtest_names(build):
    """The names of the tests that are GoogleTest programs."""
    rows = json.loads((Path(build) / "meson-info" / "intro-tests.json").read_text())
    return {one["name"] for one in rows if one["protocol"] == "gtest"}


def test_rows(stage, test, cases, is_gtest):
    """The rows of one test: its cases (suite, case, verdict, why), or itself where it has none."""
    name = GUEST.sub("", test["name"])
    program = program_of(test.get("command", [])) or name
    rows = [row(stage, f"{program}: {suite}.{case}", verdict, why) for suite, case, verdict, why in cases]
    for one in rows:
        one["test"] = test["name"]
    if test["result"] == "SKIP":
        return rows or [row(stage, name, SKIPPED, last_line(test.get("stdout")))]
    if test["result"] in GOOD:
        if is_gtest and not rows:
            return [row(stage, name, FAILED, "it ended well, but left no report of its cases")]
        return rows or [row(stage, name, PASSED)]
    if all(one["verdict"] != FAILED for one in rows):
        rows.append(row(stage, name, FAILED, test["result"]))
    return rows


def read_run(stage, build):
    """The rows of a `meson test` run."""
    logs = Path(build) / "meson-logs"
    if not (logs / "testlog.json").exists():
        sys.exit(f"tally: no test was run in {build}")
    cases = gtest_cases(logs / "testlog.junit.xml")
    gtests = gtest_names(build)
    rows = []
    for line in (logs / "testlog.json").read_text().splitlines():
        test = json.loads(line)
        before = f".{test['name']}."  # which may have points itself
        mine = [(name.split(before, 1)[1], *case) for name, *case in cases if before in name]
        rows += test_rows(stage, test, mine, GUEST.sub("", test["name"]).split(" / ")[-1] in gtests)
    return rows


def judge(rows):
    """Case -> its row with the verdict that rules: failed before passed before skipped."""
    cases = {}
    for one in rows:
        known = cases.get(one["case"])
        if known is None or RANK[one["verdict"]] > RANK[known["verdict"]]:
            cases[one["case"]] = one
    return cases


def failure_lines(rows):
    """Each failure where it happened: a case that failed in two stages is told twice."""
    for one in rows:
        if one["verdict"] != FAILED:
            continue
        yield f"  {one['stage']}: {one['case']}" + (f" (in {one['test']})" if "test" in one else "")
        yield from (f"    {line}" for line in one["why"].splitlines())


def print_report(rows):
    cases = judge(rows)
    counts = Counter(one["verdict"] for one in cases.values())
    if counts[FAILED]:
        print("\nfailed:", *failure_lines(rows), sep="\n")
    if counts[SKIPPED]:
        reasons = Counter(one["why"] for one in cases.values() if one["verdict"] == SKIPPED)
        print("\nskipped, because of this machine:", *(f"  {count:5} {why}" for why, count in reasons.most_common()), sep="\n")
    tail = f", {counts[SKIPPED]} skipped" if counts[SKIPPED] else ""
    print(f"\n{counts[PASSED]} passed, {counts[FAILED]} failed{tail}")
    return counts[FAILED] == 0


def read_results(results):
    """What was collected; a damaged line is a failure of its own."""
    rows = []
    for line in Path(results).read_text().splitlines() if Path(results).exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            rows.append(row("close", "a line of the results", FAILED, "it is damaged; is the disk full?"))
    return rows


def close(results, failed_stages):
    rows = read_results(results)
    told = {one["stage"] for one in rows if one["verdict"] == FAILED}
    rows += [row(stage, f"stage {stage}", FAILED, "it broke before it could count") for stage in failed_stages if stage not in told]
    return print_report(rows)


def append(results, rows):
    with open(results, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in rows)


def main(command, results, *rest):
    if command == "add":
        rows = read_run(*rest)
        append(results, rows)
        return bool(rows) and all(one["verdict"] != FAILED for one in rows)
    if command == "note":
        stage, verdict, case, *why = rest
        append(results, [row(stage, case, verdict, *why)])
        return True
    return close(results, rest)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("add", "note", "close"):
        sys.exit(__doc__)
    sys.exit(0 if main(*sys.argv[1:]) else 1)
