#!/usr/bin/env python3
"""Runs clang-tidy on the project's own sources; findings go to stderr, and it fails when there are any.

usage: tidy.py BUILDDIR [--all] [--deep] [--minutes N]
  --all    the tests and benchmarks too
  --deep   three times as many paths through each function, which takes twice the time
  --minutes N   begins no further file after that time, and names how many are left to the next run

A file that was clean is not looked at again while it, the headers of the tree that it includes, its compile command, the configuration
and clang-tidy stay as they were. The stamps that know it are kept outside the tree.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import rooms

TREE = Path(__file__).resolve().parent.parent
# States of the static analyzer in a function, of its usual 225000. Who needs more rarely ends with those either, and takes twice the time.
NODES = 75000
CLANG_TIDY = str(TREE / ".venv/bin/clang-tidy")  # of scripts/tidy-requirements.txt
STAMPS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "npucore" / "tidy"
# Headers are named as the compile command's -I spells them: from the build folder. The system has folders named alike.
OWN_HEADERS = r"^(\.\.|%s(/build[^/]*/\.\.)?)/(%s)/" % (re.escape(str(TREE)), "|".join(rooms.PRODUCT))


def without_precompiled(command):
    """The command without the header that the build compiles once: each file has to include what it uses."""
    return re.sub(r" -fpch-preprocess| -include \S+| --param=\S+", "", command)


def parts(path):
    """The files of one compilation: itself, or those that meson put into it."""
    return [Path(name).resolve() for name in re.findall(r"#include<(.+)>", path.read_text())] if "-unity" in path.name else [path]


def sources(build, with_tests):
    """Source path -> (its compile command, the folder to run it in), one for each file of the tree."""
    halls = rooms.PRODUCT + (rooms.TESTS if with_tests else ())
    found = {}
    for row in json.loads((build / "compile_commands.json").read_text()):
        for path in parts((Path(row["directory"]) / row["file"]).resolve()):
            if path.is_relative_to(TREE) and path.relative_to(TREE).parts[0] in halls and path.suffix == ".cpp":
                command = without_precompiled(row["command"]).replace(f" -c {row['file']}", f" -c {path}")
                found.setdefault(path, (command, row["directory"]))
    return found


def write_commands(folder, found):
    """A compilation database of what sources() found, for clang-tidy."""
    folder.mkdir(exist_ok=True)
    rows = [{"file": str(path), "command": command, "directory": directory} for path, (command, directory) in found.items()]
    (folder / "compile_commands.json").write_text(json.dumps(rows))


def common_state(options):
    """What every file's verdict depends on: the configuration, clang-tidy itself and its options."""
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    return hashlib.sha256((TREE / ".clang-tidy").read_bytes() + version + Path(__file__).read_bytes() + repr(options).encode()).hexdigest()


def included(command, folder):
    """The tree's files that a source includes, itself among them, as the compiler finds them."""
    words = shlex.split(command)
    for flag in ("-o", "-MF", "-MQ", "-MT"):
        while flag in words:
            at = words.index(flag)
            del words[at:at + 2]
    words = [word for word in words if word not in ("-c", "-MD", "-MMD", "-MP")]
    rule = subprocess.run([*words, "-MM"], cwd=folder, capture_output=True, text=True, check=True).stdout
    names = rule.replace("\\\n", " ").split(":", 1)[1].split()
    paths = {(Path(folder) / name).resolve() for name in names}
    return sorted(str(path.relative_to(TREE)) for path in paths if path.is_relative_to(TREE))


def digest(name):
    path = TREE / name
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


class Stamp:
    """Knows what a source and all that it includes were when it was clean."""

    def __init__(self, path, command, common):
        name = str(path.relative_to(TREE))
        key = hashlib.sha256("\n".join((common, name, command.replace(str(TREE), "."))).encode()).hexdigest()
        self.path = STAMPS / key

    def holds(self):
        try:
            known = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return False
        return bool(known) and all(digest(name) == was for name, was in known.items())

    def write(self, files):
        new = self.path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(files))
        new.replace(self.path)


def tidy(path, options, command, folder, stamp, end):
    """True when the file is clean, None when there was no time to look."""
    if stamp.holds():
        return True
    if time.monotonic() > end:
        return None
    files = {name: digest(name) for name in included(command, folder)}
    run = subprocess.run([CLANG_TIDY, "--quiet", f"--header-filter={OWN_HEADERS}", *options, str(path)],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        # The count of warnings that were not shown is no finding.
        print(run.stdout.strip() or re.sub(r"(?m)^\d+ warnings.*\n?", "", run.stderr).strip(), file=sys.stderr)
        return False
    stamp.write(files)
    return True


def main():
    build = Path(sys.argv[1]).resolve()
    STAMPS.mkdir(parents=True, exist_ok=True)
    limit = [] if "--deep" in sys.argv else [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={NODES}")]
    common = common_state(limit)
    minutes = float(sys.argv[sys.argv.index("--minutes") + 1]) if "--minutes" in sys.argv else float("inf")
    end = time.monotonic() + 60 * minutes
    found = sources(build, "--all" in sys.argv)
    write_commands(build / "tidy", found)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {path: pool.submit(tidy, path, [*limit, "-p", str(build / "tidy")], command, folder, Stamp(path, command, common), end)
                for path, (command, folder) in found.items()}
        bad = [str(path.relative_to(TREE)) for path, job in jobs.items() if job.result() is False]
        left = sum(job.result() is None for job in jobs.values())
    print(f"tidy: {len(found) - len(bad) - left} of {len(found)} files are clean, {left} are left to the next run", *bad, sep="\n  ")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
