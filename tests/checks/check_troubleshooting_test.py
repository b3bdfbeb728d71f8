"""scripts/check-troubleshooting.py finds an error text that the page does not explain, and only that."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts" / "check-troubleshooting.py"
SOURCE = '''
[[noreturn]] void refuse(const std::string& why);
void f(int n) {
  // throw Error(ErrorCode::kIo, "only a comment speaks of this");
  if (n == 1) throw Error(ErrorCode::kIo, text("the disk \\"", n, "\\" is full: make"
                                               " room"));
  if (n == 2) refuse(text(n, " is an even number"));
}
'''


def check(page):
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in ("npucore/src", "tools", "gst", "docs"):
            (tree / name).mkdir(parents=True)
        (tree / "npucore/src/f.cpp").write_text(SOURCE, encoding="utf-8")
        (tree / "docs/troubleshooting.md").write_text(page, encoding="utf-8")
        return subprocess.run([sys.executable, CHECK, tree], stdout=subprocess.PIPE, text=True)


class CheckTroubleshooting(unittest.TestCase):
    def test_a_page_with_all_texts_passes(self):
        done = check("| `the disk ... is full: make room`<br>`... is an even number` | buy another |")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_missing_text_is_named(self):
        done = check("| `is an even number` | use another |")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is full: make room", done.stdout)
        self.assertNotIn("even number", done.stdout)
        self.assertNotIn("comment", done.stdout)


unittest.main()
