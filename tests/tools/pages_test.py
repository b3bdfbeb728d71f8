"""The man page and the bash completion of a tool: both name every option of --help, and both work.

usage: pages_test.py TOOL PAGE COMPLETION
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

TOOL, PAGE, COMPLETION = sys.argv[1:4]
del sys.argv[1:4]
NAME = os.path.basename(TOOL)
FUNCTION = "_" + NAME.replace("-", "_")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def help_options():
    text = subprocess.run([TOOL, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return sorted(set(re.findall(r"(?m)^\s+(?:-\w, *)?(--[\w-]+)", text)))


def complete(*words):
    """What the completion offers for the last of the words."""
    script = (f'source "$1"; shift; COMP_WORDS=({NAME} "$@"); COMP_CWORD=$#; {FUNCTION}; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", COMPLETION, *words], stdout=subprocess.PIPE, check=True,
                          text=True)
    return done.stdout.split()


# Letters that begin no other option of the tool.
START, OPTION = ("--dry", "--dry-run") if NAME == "npu-stream" else ("--dev", "--device")


class Pages(unittest.TestCase):
    def test_help_has_options(self):
        self.assertIn(OPTION, help_options())

    def test_the_page_names_every_option(self):
        page = read(PAGE).replace("\\-", "-")
        for option in help_options():
            self.assertIn(f"\\fB{option}\\fR", page)

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_the_page_is_good_roff(self):
        done = subprocess.run(["man", "--warnings", "-l", PAGE], capture_output=True, text=True, check=True,
                              env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="100"))
        self.assertEqual(done.stderr, "")
        self.assertIn("EXIT STATUS", done.stdout)

    def test_the_completion_offers_every_option(self):
        self.assertLessEqual(set(help_options()), set(complete("--")))

    def test_the_completion_offers_the_values_of_a_choice(self):
        if OPTION != "--device":
            self.skipTest("the tool has no choices")
        self.assertEqual(complete("--device", "s"), ["software"])
        self.assertEqual(complete("--device", "=", "s"), ["software"])

    def test_the_completion_offers_files_for_an_operand(self):
        self.assertIn(TOOL, complete(TOOL[:-1]))

    def test_the_completion_offers_properties(self):
        if "--property" not in help_options():
            self.skipTest("the tool takes no properties")
        self.assertEqual(complete("--property", "NPU_TURB"), ["NPU_TURBO="])

    def test_tab_completes_in_a_real_bash(self):
        child, terminal = pty.fork()
        if child == 0:
            os.environ["TERM"] = "dumb"
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        os.write(terminal, f"source {COMPLETION}\n{NAME} {START}\t".encode())
        seen, deadline = "", time.monotonic() + 20
        while f"{NAME} {OPTION} " not in seen and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096).decode(errors="replace")
        os.write(terminal, b"\x15exit\n")  # ^U: an empty line again
        os.waitpid(child, 0)
        os.close(terminal)
        self.assertIn(f"{NAME} {OPTION} ", seen)


unittest.main()
