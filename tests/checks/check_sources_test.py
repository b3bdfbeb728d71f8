#!/usr/bin/env python3
"""Small trees whose meson and CMake lists agree or do not, and what the source-list check says of them."""
import importlib.util
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-sources.py"
spec = importlib.util.spec_from_file_location("check_sources", SCRIPT)
check_sources = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_sources)

A, B = "npucore/src/base/a.cpp", "npucore/src/base/b.cpp"


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name).resolve()

    def write(self, meson, cmake, disk):
        """A tree where meson and CMake build, and the disk holds, these sources of npucore."""
        for path in disk:
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).touch()
        (self.tree / "meson.build").write_text(
            f"project('small', 'cpp')\nstatic_library('npucore-objects', files({meson}))\n")
        (self.tree / "cmake").mkdir()
        (self.tree / "cmake" / "sources.cmake").write_text(f"set(NPUCORE_SOURCES\n  {' '.join(cmake)}\n)\n")

    def test_equal_lists_pass(self):
        self.write(meson=[A, B], cmake=[A, B], disk=[A, B])
        self.assertEqual(check_sources.faults(self.tree), [])

    def test_cmake_lacks_a_file(self):
        self.write(meson=[A, B], cmake=[A], disk=[A, B])
        self.assertEqual(check_sources.faults(self.tree), [f"{B}: meson builds it, CMake does not"])

    def test_meson_lacks_a_file(self):
        self.write(meson=[A], cmake=[A, B], disk=[A, B])
        self.assertEqual(check_sources.faults(self.tree), [f"{B}: CMake builds it, meson does not"])

    def test_both_forgot_a_file(self):
        self.write(meson=[A], cmake=[A], disk=[A, B])
        self.assertEqual(check_sources.faults(self.tree), [f"{B}: nobody builds it"])

    def test_write_mends_the_list(self):
        self.write(meson=[A, B], cmake=[A], disk=[A, B])
        check_sources.write_cmake(self.tree, check_sources.meson_lists(self.tree))
        self.assertEqual(check_sources.faults(self.tree), [])


if __name__ == "__main__":
    unittest.main()
