#!/usr/bin/env python3
"""check-hardening.py passes a hardened library and names what another one lacks.

usage: check_hardening_test.py COMPILER [ARGUMENTS]
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts/check-hardening.py"
SOURCE = """
#include <cstdarg>
#include <cstdio>
#include <vector>
void fill(char* text);
int at(const std::vector<int>& numbers, int index) { return numbers[index]; }
int print(int count) { char text[64]; fill(text); return std::fprintf(stderr, text, count); }
"""
HARDENED = {
    "shared": "-shared", "optimised": "-O2", "code": "-fPIC", "stack": "-fstack-protector-strong", "warnings": "-w",
    "fortify": "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2", "assertions": "-D_GLIBCXX_ASSERTIONS", "relro": "-Wl,-z,relro", "now": "-Wl,-z,now",
    "data": "-Wl,-z,noexecstack", "undefined": "-Wl,--unresolved-symbols=ignore-all",
}


class Hardening(unittest.TestCase):
    def found(self, **changes):
        """What the check says of a file that is built so, but for the changes."""
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "a.cpp", Path(folder) / "a.so"
            source.write_text(SOURCE)
            flags = " ".join((HARDENED | changes).values()).split()
            subprocess.run([*sys.argv[1:], *flags, source, "-o", library], check=True)
            run = subprocess.run([CHECK, "--fortified", "--asserting", library], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1 if "a.so: " in run.stdout else 0, run.stderr)
            return run.stdout

    def test_a_hardened_library_passes(self):
        self.assertIn("1 files are built as they should be", self.found())

    def test_lazy_binding(self):
        self.assertIn("binds its functions lazily", self.found(now="-Wl,-z,lazy"))

    def test_no_relro(self):
        self.assertIn("has no RELRO segment", self.found(relro="-Wl,-z,norelro"))

    def test_an_executable_stack(self):
        self.assertIn("has an executable stack", self.found(data="-Wl,-z,execstack"))

    def test_no_stack_protector(self):
        self.assertIn("has no stack protector", self.found(stack="-fno-stack-protector"))

    def test_plain_functions_of_the_c_library(self):
        self.assertIn("calls fprintf without glibc's checks", self.found(fortify="-U_FORTIFY_SOURCE"))

    def test_no_assertions(self):
        self.assertIn("has no checks of the standard library", self.found(assertions=""))

    def test_a_program_at_a_fixed_address(self):
        changes = {"shared": "-no-pie", "code": "-fno-pie", "undefined": "-Wl,--unresolved-symbols=ignore-all -nostartfiles"}
        self.assertIn("is not position independent", self.found(**changes))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
