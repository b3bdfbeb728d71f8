#!/usr/bin/env python3
"""Small trees in and out of the project's dialect, and what the style check says of them."""
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-style.py"
sys.path.insert(0, str(SCRIPT.parent))
spec = importlib.util.spec_from_file_location("check_style", SCRIPT)
check_style = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_style)

ONE_LINE = "an if without braces that neither returns nor continues"
SEVERAL_LINES = "an if without braces over several lines"


class Style(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name).resolve()

    def faults_of(self, text, path="npucore/src/base/a.cpp"):
        file = self.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return check_style.faults(self.tree)

    def test_what_leaves_needs_no_braces(self):
        for line in ["if (a) return;", "if (a(b)) continue;", "if (a) break;", 'if (a == ")") throw b;', "if (a) [[unlikely]] return;"]:
            self.assertEqual(self.faults_of(f"  {line}\n"), [], line)

    def test_what_goes_on_needs_braces(self):
        for line in ["if (a) b();", "} else if (a) b();", "if (a) b();  // why", "if (a) [[unlikely]] b();", "if constexpr (a) b();"]:
            self.assertEqual(self.faults_of(f"\n  {line}\n"), [f"npucore/src/base/a.cpp:2: {ONE_LINE}"], line)

    def test_braces_pass(self):
        self.assertEqual(self.faults_of("if (a) {\n  b();\n} else if (c) {\n  d();\n} else {\n  e();\n}\nif (a) { b(); }\n"), [])

    def test_a_statement_on_the_next_line_needs_braces(self):
        self.assertEqual(self.faults_of("if (a)\n  return b;\n"), [f"npucore/src/base/a.cpp:1: {SEVERAL_LINES}"])
        self.assertEqual(self.faults_of("if (a(b)) [[unlikely]]\n  return b;\n"), [f"npucore/src/base/a.cpp:1: {SEVERAL_LINES}"])

    def test_else_needs_braces(self):
        self.assertEqual(self.faults_of("  else\n    b();\n"), ["npucore/src/base/a.cpp:1: an else without braces"])

    def test_reserved_names(self):
        for line in ["#define _NPU_A", "#define NPU__A 1", "struct _A {};", "namespace a__b {", "using __a = int;"]:
            self.assertEqual(len(self.faults_of(f"{line}\n")), 1, line)
        for line in ["#define NPU_A_ __func__", "struct A_ {};", "__builtin_trap();"]:
            self.assertEqual(self.faults_of(f"{line}\n"), [], line)

    def test_one_lock(self):
        self.assertEqual(len(self.faults_of("std::lock_guard lock(mutex);\n")), 1)
        self.assertEqual(self.faults_of("std::scoped_lock lock(mutex);\n"), [])

    def test_comments_begin_with_subject_or_verb(self):
        comments = {"gst/a/a.cpp": "  /// {} the frame", "npucore/src/a.hpp": "int a;  ///< {} the frame", "ze_npu/a.h": " * {} the frame",
                    "softnpu/a.inc": "/* {} `frame` */", "tests/a_test.py": "a = 1  # {} the frame", "scripts/a.sh": "# {} the frame",
                    "meson.build": "  # {} the frame", "cmake/a.cmake": "## {} the frame"}
        for path, comment in comments.items():
            for word in ["Of", "What", "Who", "Whose", "By", "Between"]:
                self.assertEqual(self.faults_of(f"\n{comment.format(word)}\n", path),
                                 [f"{path}:2: a comment begins with \"{word}\": begin with its subject or its verb"])
            for word in ["Tells", "The state of", "Offers", "BY", "Of NV12:"]:
                self.assertEqual(self.faults_of(f"{comment.format(word)}\n", path), [], word)
        self.assertEqual(self.faults_of('a("By the way");\nb(c, "What a day # it is");\n', "gst/a/a.cpp"), [])
        self.assertEqual(self.faults_of("// Of the frame\n", "build/a.cpp"), [])

    def test_public_headers_stay_small(self):
        header, most = "npucore/include/npucore/a.hpp", check_style.MOST_HEADER_LINES
        self.assertEqual(self.faults_of("\n" * most, header), [])
        self.assertEqual(self.faults_of("\n" * (most + 1), header),
                         [f"npucore/include/npucore: {most + 1} lines of public headers, at most {most} are allowed"])


if __name__ == "__main__":
    unittest.main()
