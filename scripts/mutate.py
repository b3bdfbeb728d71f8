#!/usr/bin/env python3
"""Breaks the product on purpose, in one place at a time, and tells which test notices.

usage: scripts/mutate.py [--list] [--check] [--all] [NAME...]

Works on a copy of the tree (build/mutate) with a build folder of its own, which stays there for the next time. Builds only
what the tests of a mutation need, and runs those; --all runs every test for each. --check only tells whether each mutation
still finds its place. Without names: all mutations. The list is in scripts/mutations.py.
Ends with 0 when all were killed, 1 when one survived, 2 when one could not be tried.
"""
import argparse
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutations import MUTATIONS

# What a mutation leaves unused is no error.
SETUP = ["-Doptimization=0", "-Dcpp_args=-g1", "-Dwerror=false"]


TEXT = r"[^;{}\s]"  # of one statement


class CannotTry(Exception):
    """The mutation says nothing about the tests."""


# ---- Mutations

def pattern_of(code):
    """Finds C++ code however it is wrapped. $name is any text within one statement, the same wherever it is named."""
    parts, seen, before = [], set(), ""
    for token in re.findall(r"\$\w+|\w+|[^\w\s]", code):
        if parts:
            parts.append(r"\s+" if before[-1].isalnum() and token[0].isalnum() else r"\s*")
        if not token.startswith("$"):
            parts.append(re.escape(token))
        elif token in seen:
            parts.append(f"(?P={token[1:]})")
        else:
            parts.append(f"(?P<{token[1:]}>{TEXT}(?:[^;{{}}]*?{TEXT})?)")
            seen.add(token)
        before = token
    return re.compile("".join(parts))


def mutate(mutation, texts):
    """(path, new text) for the one place in `texts` that the mutation changes."""
    pattern = pattern_of(mutation.find)
    found = [(path, match) for path, text in texts.items() if fnmatch.fnmatch(path, mutation.files)
             for match in pattern.finditer(text)]
    if len(found) != 1:
        places = ", ".join(path for path, _ in found) or "no place"
        raise CannotTry(f"no longer applies: \"{mutation.find}\" is in {places} of {mutation.files}; it must be in one")
    path, match = found[0]
    put = re.sub(r"\$(\w+)", lambda name: match.group(name.group(1)), mutation.put)
    return path, texts[path][:match.start()] + put + texts[path][match.end():]


# ---- The copy

def names_in(tree):
    """All but hidden folders and builds."""
    for folder, folders, files in os.walk(tree):
        if Path(folder) == Path(tree):
            folders[:] = [name for name in folders if not name.startswith((".", "build"))]
        yield from (str((Path(folder) / name).relative_to(tree)) for name in files)


def files_of(tree):
    """What git knows or would take, as it is in the work tree; names_in() one that git refuses, or that another clone ignores."""
    command = ["git", "-C", tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True).stdout if shutil.which("git") else ""
    names = listed.split("\0") if listed else names_in(tree)
    return sorted({name for name in names if name and (Path(tree) / name).is_file()})


def texts_of(tree, names):
    """The sources of the product, by their path."""
    return {name: (Path(tree) / name).read_text() for name in names
            if name.endswith((".c", ".cpp", ".h", ".hpp", ".inc")) and not name.startswith("tests/")}


def write_if_other(path, content):
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


class Copy:
    """A copy of the tree that is built by itself."""

    def __init__(self, tree, folder, setup):
        self.tree, self.source, self.build = tree, folder, folder / "build"  # compiled by the same paths as the tree
        self.setup = setup
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("GTEST_", "TESTBRIDGE_"))}
        self.environment.update(CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")

    def update(self):
        self.names = names = files_of(self.tree)
        for name in names:
            write_if_other(self.source / name, (self.tree / name).read_bytes())
            shutil.copymode(self.tree / name, self.source / name)
        for folder, folders, files in os.walk(self.source):
            if Path(folder) == self.source:
                folders[:] = [name for name in folders if name != "build"]
            for path in (Path(folder) / name for name in files):
                if not path.is_symlink() and str(path.relative_to(self.source)) not in names:
                    path.unlink()
        packages = self.source / ".venv"
        if (self.tree / ".venv").exists() and not packages.is_symlink():
            packages.symlink_to((self.tree / ".venv").resolve())
        if not (self.build / "build.ninja").exists():
            self.run(["meson", "setup", self.build, self.source, *self.setup], "cannot be configured")

    def run(self, command, why_not):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            errors = [line for line in done.stdout.splitlines() if "error" in line] or done.stdout.splitlines()[-5:]
            raise CannotTry(why_not + ": " + " | ".join(errors[:3] + done.stderr.splitlines()[-2:]))

    def introspect(self, what):
        command = ["meson", "introspect", f"--{what}", self.build]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def all_tests(self):
        """Those of suite vm need devices that few machines have."""
        return [test["name"] for test in self.introspect("tests") if not any(suite.endswith(":vm") for suite in test["suite"])]

    def tests_named(self, names):
        """The build's tests by name. A name may end with ":" and a filter of cases, which counts when they run."""
        tests = {test["name"]: test for test in self.introspect("tests")}
        chosen = {}
        for name in names:
            matching = fnmatch.filter(tests, name.split(":")[0])
            if not matching:
                raise CannotTry(f"there is no test {name}")
            chosen.update({match: tests[match] for match in matching})
        return chosen

    def build_for(self, tests):
        outputs = {target["id"]: target["filename"] for target in self.introspect("targets")}
        wanted = {name for test in tests.values() for target in test["depends"] for name in outputs.get(target, [])}
        wanted |= {part for test in tests.values() for part in test["cmd"]}.intersection(sum(outputs.values(), []))
        wanted = [os.path.relpath(name, self.build) for name in sorted(wanted)]
        self.run(["nice", "-n", "5", "ninja", "-C", self.build, *wanted], "does not build")

    def run_tests(self, names):
        """The names of the tests that fail, and of the cases in them where they can be told."""
        failed, cases = [], []
        for cases_filter in sorted({name.partition(":")[2] for name in names}):
            group = [name.partition(":")[0] for name in names if name.partition(":")[2] == cases_filter]
            more = self.run_group(sorted(self.tests_named(group)), cases_filter)
            failed, cases = failed + more[0], cases + more[1]
        return failed, cases

    def run_group(self, tests, cases_filter):
        logs = self.build / "meson-logs"
        for name in ("testlog.json", "testlog.junit.xml"):
            (logs / name).unlink(missing_ok=True)
        for name in tests:  # a program that crashes leaves the cases of its last run
            (self.build / f"{name}.xml").unlink(missing_ok=True)
        arguments = [f"--test-args=--gtest_filter={cases_filter}"] if cases_filter else []
        command = ["meson", "test", "-C", self.build, "--no-rebuild", *arguments, *tests]
        subprocess.run(command, env=self.environment, capture_output=True)
        lines = (logs / "testlog.json").read_text().splitlines() if (logs / "testlog.json").exists() else []
        results = [json.loads(line) for line in lines]
        if len(results) != len(tests):
            raise CannotTry(f"{len(results)} of {len(tests)} tests ran")
        passed = ("OK", "SKIP", "EXPECTEDFAIL")
        failed = [result["name"].split(" / ")[-1] for result in results if result["result"] not in passed]
        cases = cases_in(logs / "testlog.junit.xml") if failed else []
        return failed, [case for case in cases if case.split(".")[-1] not in failed]  # a test of one case


def cases_in(junit):
    """The failed cases of gtest programs, by the name that a filter takes."""
    if not junit.exists():
        return []
    cases = []
    for case in xml.parse(junit).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            cases.append(".".join(filter(None, [case.get("classname"), case.get("name")])))
    return sorted(set(cases))


# ---- Trying

def summary(failed, cases):
    shown = cases or failed
    more = f" and {len(shown) - 2} more" if len(shown) > 2 else ""
    return f"killed by {', '.join(shown[:2])}{more}" + (f" ({failed[0]})" if cases else "")


def attempt(copy, mutation, names):
    """How it ended: killed, survived or error, and by what."""
    path, texts = None, texts_of(copy.source, copy.names)
    try:
        path, text = mutate(mutation, texts)
        tests = copy.tests_named(names)
        write_if_other(copy.source / path, text.encode())
        copy.build_for(tests)
        failed, cases = copy.run_tests(names)
        return ("killed", summary(failed, cases)) if failed else ("survived", f"{', '.join(names)} passed")
    except CannotTry as why:
        return "error", str(why)
    finally:
        if path:
            write_if_other(copy.source / path, texts[path].encode())


def check_unchanged(copy, names):
    """Tests that fail without a mutation kill nothing."""
    copy.build_for(copy.tests_named(names))
    failed, cases = copy.run_tests(names)
    if failed:
        raise CannotTry(f"fails without a mutation: {', '.join(failed + cases)}")


def check(tree, mutations):
    """Prints what no longer applies; how many those are."""
    faults, texts = 0, texts_of(tree, files_of(tree))
    for mutation in mutations:
        try:
            mutate(mutation, texts)
        except CannotTry as why:
            faults += 1
            print(f"{mutation.name}: {why}")
    print(f"mutations: {len(mutations)} in the list, {faults} no longer apply")
    return faults


def choose(mutations, names):
    known = {mutation.name: mutation for mutation in mutations}
    for name in names:
        if name not in known:
            raise CannotTry(f"there is no mutation {name}; --list tells which there are")
    return [known[name] for name in names] or list(mutations)


def try_all(copy, mutations, every_test=False):
    """Tries each and prints how it ended; the outcomes in order."""
    copy.update()
    names_of = {mutation.name: copy.all_tests() if every_test else mutation.tests for mutation in mutations}
    every_name = sorted({name for names in names_of.values() for name in names})
    check_unchanged(copy, every_name)
    outcomes = []
    for mutation in mutations:
        outcome, words = attempt(copy, mutation, names_of[mutation.name])
        outcomes.append(outcome)
        print(f"{outcome:8}  {mutation.name}: {mutation.meaning}\n          {words}", flush=True)
    if "killed" in outcomes:
        check_unchanged(copy, every_name)  # what broke meanwhile would have killed them too
    counts = ", ".join(f"{outcomes.count(kind)} {kind}" for kind in ("killed", "survived", "error"))
    print(f"mutations: {len(mutations)} tried, {counts}")
    return outcomes


def main():
    parser = argparse.ArgumentParser(description="Breaks the product in one place and tells which test notices.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the mutations and the tests that are to notice")
    parser.add_argument("--check", action="store_true", help="only tell whether each still finds its place")
    parser.add_argument("--all", action="store_true", help="run every test for each mutation")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what it runs ends with it
    tree = Path(__file__).resolve().parent.parent
    try:
        mutations = choose(MUTATIONS, arguments.names)
        if arguments.list:
            for mutation in mutations:
                print(f"{mutation.name}: {mutation.meaning} [{', '.join(mutation.tests)}]")
            return 0
        if arguments.check:
            return 2 if check(tree, mutations) else 0
        outcomes = try_all(Copy(tree, tree / "build" / "mutate", SETUP), mutations, arguments.all)
    except CannotTry as why:
        print(f"mutate: {why}", file=sys.stderr)
        return 2
    return 2 if "error" in outcomes else 1 if "survived" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
