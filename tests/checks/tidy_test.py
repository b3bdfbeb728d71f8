#!/usr/bin/env python3
"""Which files scripts/tidy.py looks at again, in a tree of its own with a clang-tidy that writes down what it is given."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "tidy.py"
CLANG_TIDY = """#!/bin/sh
[ "$1" != --version ] || { cat "$VERSION"; exit; }
for file; do :; done
echo "$(basename "$file")" >>"$SEEN"
! grep -q BAD "$file" || { echo "$file: bad"; exit 1; }
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.root = Path(temp.name).resolve()
        self.tree = self.root / "tree"
        self.build = self.tree / "build"
        for folder in (self.tree / "scripts", self.tree / "npucore", self.build, self.tree / ".venv" / "bin"):
            folder.mkdir(parents=True)
        for name in ("tidy.py", "rooms.py"):
            shutil.copy(SCRIPT.with_name(name), self.tree / "scripts")
        (self.root / "version").write_text("14")
        tool = self.tree / ".venv" / "bin" / "clang-tidy"
        tool.write_text(CLANG_TIDY)
        tool.chmod(0o755)
        (self.tree / ".clang-tidy").write_text("Checks: '*'")
        self.write("a.cpp", '#include "a.hpp"\n')
        self.write("b.cpp", "int b;\n")
        self.write("a.hpp", '#include "inner.hpp"\n')
        self.write("inner.hpp", "int a;\n")
        rows = [{"directory": str(self.build), "file": f"../npucore/{name}.cpp",
                 "command": f"c++ -I../npucore -MD -MQ {name}.o -MF {name}.d -o {name}.o -c ../npucore/{name}.cpp"} for name in "ab"]
        (self.build / "compile_commands.json").write_text(json.dumps(rows))

    def write(self, name, text):
        (self.tree / "npucore" / name).write_text(text)

    def run_tidy(self, *options):
        """The files that clang-tidy was given, and each file's verdict."""
        seen = self.root / "seen"
        seen.write_text("")
        env = os.environ | {"SEEN": str(seen), "VERSION": str(self.root / "version"), "XDG_CACHE_HOME": str(self.root / "cache")}
        run = subprocess.run([sys.executable, self.tree / "scripts" / "tidy.py", self.build, *options], capture_output=True, text=True, env=env,
                             check=True)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        return sorted(seen.read_text().split()), {row["case"].rsplit("/", 1)[-1]: row["verdict"] for row in rows}

    def test_knows_its_own_headers_wherever_the_tree_is(self):
        for name in ("tree", "c++", "a b (1)"):
            scripts = self.root / name / "scripts"
            scripts.mkdir(parents=True, exist_ok=True)
            for script in ("tidy.py", "rooms.py"):
                shutil.copy(SCRIPT.with_name(script), scripts)
            prints = "import tidy; print(tidy.OWN_HEADERS)"
            own = subprocess.run([sys.executable, "-c", prints], cwd=scripts, capture_output=True, text=True, check=True).stdout.strip()
            self.assertRegex(str(self.root / name / "npucore/a.hpp"), own)

    def test_leaves_out_the_precompiled_header(self):
        rows = json.loads((self.build / "compile_commands.json").read_text())
        for row in rows:
            row["command"] = row["command"].replace("c++ ", "c++ -fpch-preprocess -include nowhere.hpp ")
        (self.build / "compile_commands.json").write_text(json.dumps(rows))
        self.assertEqual(self.run_tidy(), (["a.cpp", "b.cpp"], {"a.cpp": "passed", "b.cpp": "passed"}))
        self.assertNotIn("-include", (self.build / "tidy" / "compile_commands.json").read_text())

    def test_looks_at_all_files_once(self):
        self.assertEqual(self.run_tidy(), (["a.cpp", "b.cpp"], {"a.cpp": "passed", "b.cpp": "passed"}))
        self.assertEqual(self.run_tidy(), ([], {"a.cpp": "passed", "b.cpp": "passed"}))

    def test_a_deeper_look_is_another(self):
        self.run_tidy()
        self.assertEqual(self.run_tidy("--deep")[0], ["a.cpp", "b.cpp"])
        self.assertEqual(self.run_tidy("--deep")[0], [])

    def test_a_changed_source_is_looked_at_alone(self):
        self.run_tidy()
        self.write("b.cpp", "int c;\n")
        self.assertEqual(self.run_tidy()[0], ["b.cpp"])

    def test_a_changed_header_brings_those_that_include_it(self):
        self.run_tidy()
        self.write("inner.hpp", "int c;\n")
        self.assertEqual(self.run_tidy()[0], ["a.cpp"])

    def test_a_header_that_is_gone_is_a_change(self):
        self.run_tidy()
        self.write("a.hpp", "")
        (self.tree / "npucore" / "inner.hpp").unlink()
        self.assertEqual(self.run_tidy()[0], ["a.cpp"])

    def test_a_changed_configuration_brings_all(self):
        self.run_tidy()
        (self.tree / ".clang-tidy").write_text("Checks: '-*'")
        self.assertEqual(self.run_tidy()[0], ["a.cpp", "b.cpp"])

    def test_another_clang_tidy_brings_all(self):
        self.run_tidy()
        (self.root / "version").write_text("19")
        self.assertEqual(self.run_tidy()[0], ["a.cpp", "b.cpp"])

    def test_a_bad_file_is_looked_at_again(self):
        self.write("a.cpp", "BAD\n")
        # Not C++: only the compiler's list of includes must not mind.
        self.assertEqual(self.run_tidy()[1], {"a.cpp": "failed", "b.cpp": "passed"})
        self.assertEqual(self.run_tidy()[0], ["a.cpp"])


if __name__ == "__main__":
    unittest.main()
