#!/usr/bin/env python3
"""Runs the tests of suite vm in guests (scripts/lane-vm.sh), one guest for each build, and lists them as meson does.

usage: vm-tests.py [ROOT...]    ROOT: host (the folder build), trixie (build-trixie), sid (build-sid); all that are built

The results are left in build-vm, with a JUnit report. Meson itself is not run in the guest: it takes longer to start
there than most of the tests to run. A test's time limit is the one that its meson.build gives.
"""
import json
import os
import shlex
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
OUT = TREE / "build-vm"
BUILDS = {"host": TREE / "build", "trixie": TREE / "build-trixie", "sid": TREE / "build-sid"}
MODULES = "vgem,vivid,vicodec,visl"
BOOT_LIMIT_S = 120
TIMED_OUT = 124
SKIPPED = 77
printing = threading.Lock()


def tests_of(root):
    rows = json.loads((BUILDS[root] / "meson-info" / "intro-tests.json").read_text())
    return [row for row in rows if any(suite.split(":")[-1] == "vm" for suite in row["suite"])]


def job(root, tests):
    """The guest's command: every test after the other, a line "@ <number> <exit code> <seconds>" after each."""
    lines = ["cd /"]
    for number, test in enumerate(tests):
        results = OUT / "results" / root
        command = list(test["cmd"])
        if test["protocol"] == "gtest":
            command.append(f"--gtest_output=xml:{results}/{number}.xml")
        env = ["SOFTNPU_STRICT=1", "SOFTNPU_KEEP_COMPILED=4"] + [f"{name}={value}" for name, value in test["env"].items()]
        limited = ["env", "-C", test["workdir"] or str(BUILDS[root]), *env, "timeout", str(test["timeout"]), *command]
        lines += ["begin=$(date +%s.%N)",
                  f"{shlex.join(limited)} >{shlex.quote(f'{results}/{number}.log')} 2>&1 </dev/null",
                  f'echo "@ {number} $? $(date +%s.%N) $begin"']
    return "\n".join(lines)


def verdict(code):
    return {0: "OK", SKIPPED: "SKIP", TIMED_OUT: "TIMEOUT"}.get(code, "FAIL")


def output_of(log):
    return log.read_text(errors="replace") if log.exists() else ""


class Log:
    """The list on the screen, and the JUnit report."""

    def __init__(self, total):
        self.total = total
        self.done = self.bad = 0
        self.suites = ET.Element("testsuites")

    def add(self, root, number, test, code, seconds):
        name, result, results = f"{test['name']} ({root})", verdict(code), OUT / "results" / root
        with printing:
            self.done += 1
            print(f"{self.done:3}/{self.total} {name:50} {result:8} {seconds:6.2f}s", flush=True)
            output = output_of(results / f"{number}.log")
            if result not in ("OK", "SKIP"):
                self.bad += 1
                print(output[-8000:] or "it did not run", flush=True)
            self.add_cases(name, results / f"{number}.xml", result, output)

    def add_cases(self, name, report, result, output):
        """A GoogleTest program's cases; one case for any other test, and for a program that did not reach its end."""
        try:
            suites = list(ET.parse(report).getroot().iter("testsuite"))
        except (OSError, ET.ParseError):
            suites = [ET.Element("testsuite", name="vm")]
            case = ET.SubElement(suites[0], "testcase", name=name)
            if result != "OK":
                ET.SubElement(case, "skipped" if result == "SKIP" else "failure", message=result)
            ET.SubElement(case, "system-out").text = output
        for suite in suites:
            suite.set("name", f"npucore.{name}.{suite.get('name')}")
            self.suites.append(suite)


def run_guest(root, tests, log):
    results = OUT / "results" / root
    subprocess.run(["rm", "-rf", str(results)], check=True)
    results.mkdir(parents=True)
    limit = BOOT_LIMIT_S + sum(test["timeout"] for test in tests)
    command = [TREE / "scripts" / "lane-vm.sh", "--modules", MODULES, "--timeout", str(limit)]
    command += [] if root == "host" else ["--root", root]
    guest = subprocess.Popen([*command, "--", "bash", "-c", job(root, tests)], stdout=subprocess.PIPE, text=True,
                             errors="replace")
    missing = dict(enumerate(tests))
    for line in guest.stdout:
        if line.startswith("@ "):
            number, code, end, begin = line.split()[1:]
            log.add(root, int(number), missing.pop(int(number)), int(code), float(end) - float(begin))
        else:
            with printing:
                print(line, end="", flush=True)
    guest.wait()
    for number, test in missing.items():
        log.add(root, number, test, 1, 0)


def main():
    roots = sys.argv[1:] or [root for root, build in BUILDS.items() if (build / "build.ninja").exists()]
    if not roots or not set(roots) <= set(BUILDS):
        sys.exit(__doc__ if roots else "vm-tests.py: nothing is built\n  Run ninja -C build, or scripts/lane.sh trixie.")
    tests = {root: tests_of(root) for root in roots}
    if without := [root for root in roots if not tests[root]]:
        sys.exit(f"vm-tests.py: no test of suite vm in the build of {' '.join(without)}")
    log = Log(sum(map(len, tests.values())))
    with ThreadPoolExecutor(os.cpu_count()) as guests:
        list(guests.map(lambda root: run_guest(root, tests[root], log), roots))
    ET.ElementTree(log.suites).write(OUT / "junit.xml")
    print(f"\n{log.done - log.bad} of {log.total} good; what each wrote is in {OUT / 'results'}")
    sys.exit(log.bad != 0 or not log.done)


if __name__ == "__main__":
    main()
