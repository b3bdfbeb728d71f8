"""scripts/check-pipelines.py finds a pipeline without its row, its picture or its line for an NPU, and what nobody shows."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts" / "check-pipelines.py"
ROW = "| ![boxes](pictures/find.jpg) | [find.sh](../pipelines/find.sh) | `DEVICE=npu pipelines/find.sh a.mp4` |"


class CheckPipelines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        for name in ("pipelines", "docs/pictures"):
            (self.tree / name).mkdir(parents=True)
        for name in ("find.sh", "common.sh"):
            (self.tree / "pipelines" / name).touch()
        self.picture = self.tree / "docs/pictures/find.jpg"
        self.picture.write_bytes(b"\xff\xd8\xff\xe0")

    def check(self, page=ROW):
        (self.tree / "docs/pipelines.md").write_text(page, encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, self.tree], stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0 if "each has its row" in done.stdout else 1)
        return done.stdout

    def test_a_row_with_all_passes(self):
        self.assertIn("each has its row", self.check())

    def test_each_needs_one_row(self):
        (self.tree / "pipelines" / "new.py").touch()
        self.assertIn("new.py: has 0 rows", self.check())
        self.assertIn("find.sh: has 2 rows", self.check(f"{ROW}\n{ROW}"))

    def test_a_row_needs_its_picture_and_its_line(self):
        self.assertIn("shows no pictures/find.jpg", self.check(ROW.replace("find.jpg", "other.jpg")))
        self.assertIn("has no line for an NPU", self.check(ROW.replace("npu", "software")))
        self.assertIn("has no line for an NPU", self.check(ROW.replace("find.sh a.mp4", "find.shx")))

    def test_a_picture_must_be_one(self):
        self.picture.write_bytes(b"text")
        self.assertIn("find.jpg is no JPEG", self.check())
        self.picture.write_bytes(b"\xff\xd8\xff" + bytes(100_000))
        self.assertIn("find.jpg is no JPEG", self.check())
        self.picture.unlink()
        self.assertIn("find.jpg is missing", self.check())

    def test_what_nobody_shows_is_named(self):
        (self.tree / "docs/pictures/old.jpg").touch()
        self.assertIn("old.jpg is on no page", self.check())
        self.assertIn("links pipelines/gone.sh", self.check(ROW + " [gone](../pipelines/gone.sh)"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
