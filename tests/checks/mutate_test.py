"""scripts/mutate.py on a tree of one function and one test, and its way of finding C++ however it is wrapped."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))

import mutate
from mutations import MUTATIONS, Mutation

SOURCE = """int most(int left, int right) {
  return left > right
             ? left : right;
}
"""
TEST = """int most(int left, int right);
int main(void) { return most(1, 2) == 2 ? 0 : 1; }
"""
BUILD = """project('tiny', 'c')
foreach name : ['notices', 'sleeps']
  # Scripts and folders among the arguments are nothing to build.
  test(name, executable(name, name == 'notices' ? ['most.c', 'test.c'] : ['asleep.c']), args: [files('script.py'), meson.current_build_dir()])
endforeach
"""


for name in [name for name in os.environ if name.startswith("GIT_")]:  # a hook's repository is not to be made anew
    del os.environ[name]


def changed(find, put, source=SOURCE, files="*"):
    return mutate.mutate(Mutation("m", "", files, find, put, []), {"most.c": source, "other/most.c": ""})[1]


class Finding(unittest.TestCase):
    def test_takes_any_wrapping(self):
        self.assertIn("return left < right ? left : right;",
                      changed("return left>right ? left : right;", "return left < right ? left : right;"))

    def test_keeps_what_it_names(self):
        self.assertIn("? right : left;", changed("? $a : $b;", "? $b : $a;"))

    def test_takes_the_same_name_for_the_same_text(self):
        self.assertEqual(changed("$a > $a", "0", "a > b; c > c;"), "a > b; 0;")

    def test_does_not_join_words(self):
        with self.assertRaises(mutate.CannotTry):
            changed("int left", "", "intleft;")

    def test_refuses_what_is_nowhere_or_in_two_places(self):
        for find in ("return left >= right", "left"):
            with self.assertRaisesRegex(mutate.CannotTry, "no longer applies"):
                changed(find, "")
        with self.assertRaisesRegex(mutate.CannotTry, "no place of gst/"):
            changed("return", "", files="gst/*")


class Trying(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name) / "tree"
        self.tree.mkdir()
        for name, text in {"most.c": SOURCE, "test.c": TEST, "asleep.c": "int main(void) { return 0; }\n",
                           "script.py": "", "meson.build": BUILD, ".gitignore": "/build*/\n"}.items():
            (self.tree / name).write_text(text)
        subprocess.run(["git", "init", "-q", self.tree], check=True)

    def outcomes(self, *mutations):
        copy = mutate.Copy(self.tree, self.tree / "build" / "mutate", [])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            outcomes = mutate.try_all(copy, mutations)
        return outcomes, printed.getvalue()

    def test_tells_killed_survived_and_what_could_not_be_tried(self):
        swapped = ("the smaller one", "*.c", "left > right", "left < right")
        outcomes, printed = self.outcomes(
            Mutation("noticed", *swapped, ["notices"]),
            Mutation("unnoticed", *swapped, ["sleeps"]),
            Mutation("gone", "", "*.c", "left <= right", "", ["notices"]),
            Mutation("broken", "", "*.c", "left > right", "left >", ["notices"]),
            Mutation("harmless", "", "*.c", "left > right", "right < left", ["notices"]))
        self.assertEqual(outcomes, ["killed", "survived", "error", "error", "survived"])
        self.assertIn("killed by notices", printed)
        self.assertIn("no longer applies", printed)
        self.assertIn("does not build", printed)
        self.assertIn("5 tried, 1 killed, 2 survived, 2 error", printed)
        self.assertEqual((self.tree / "most.c").read_text(), SOURCE)
        self.assertEqual((self.tree / "build/mutate/most.c").read_text(), SOURCE)

    def test_refuses_tests_that_fail_without_a_mutation(self):
        (self.tree / "test.c").write_text("int main(void) { return 1; }\n")
        with self.assertRaisesRegex(mutate.CannotTry, "fails without a mutation: notices"):
            self.outcomes(Mutation("m", "", "*.c", "left > right", "0", ["notices"]))

    def test_refuses_tests_that_fail_without_a_mutation_since_it_began(self):
        mark = self.tree.parent / "mark"
        (self.tree / "test.c").write_text(
            f'#include <stdio.h>\nint main(void) {{ if (fopen("{mark}", "r")) return 1; return fopen("{mark}", "w") == 0; }}\n')
        with self.assertRaisesRegex(mutate.CannotTry, "fails without a mutation: notices"):
            self.outcomes(Mutation("harmless", "", "*.c", "left > right", "right < left", ["notices"]))

    def test_finds_the_files_of_a_tree_that_git_does_not_know(self):
        known = mutate.files_of(self.tree)
        shutil.rmtree(self.tree / ".git")
        (self.tree / "build-x").mkdir()
        (self.tree / "build-x/made.c").touch()
        (self.tree / ".#most.c").symlink_to("nowhere")
        self.assertEqual(mutate.files_of(self.tree), known)
        subprocess.run(["git", "init", "-q", self.tree.parent], check=True)
        (self.tree.parent / ".gitignore").write_text("/tree/\n")
        self.assertEqual(mutate.files_of(self.tree), known)
        with mock.patch.dict(os.environ, PATH=""):
            self.assertEqual(mutate.files_of(self.tree), known)

    def test_refuses_tests_that_are_not_there(self):
        with self.assertRaisesRegex(mutate.CannotTry, "there is no test elsewhere"):
            self.outcomes(Mutation("m", "", "*.c", "left > right", "0", ["elsewhere"]))


class List(unittest.TestCase):
    def test_names_each_once_and_has_a_test_for_it(self):
        names = [mutation.name for mutation in MUTATIONS]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(mutation.tests and mutation.meaning for mutation in MUTATIONS))

    def test_choosing_refuses_unknown_names(self):
        with self.assertRaisesRegex(mutate.CannotTry, "there is no mutation nothing"):
            mutate.choose(MUTATIONS, ["nothing"])


if __name__ == "__main__":
    unittest.main()
