#!/usr/bin/env python3
"""A program with more rights than who starts it takes no library's name from its environment.

usage: secure_environment_test.py PROGRAM
"""
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
NAMED = "/nowhere/libown.so"


def run(program):
    environment = dict(os.environ, NPUCORE_ZE_LOADER=NAMED, ZE_ENABLE_ALT_DRIVERS=NAMED)
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=True).stdout


def main():
    plain = run(sys.argv[1])
    if plain != f"secure 0: loader {NAMED}\nthe loader sees {NAMED}\n":
        sys.exit(f"without more rights the variable must count: {plain}")
    if os.getuid() != 0:
        print("only root can make a program that runs as another user")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(sys.argv[1], folder)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        told = run(program)
    if told.startswith("secure 0"):
        print("set-user-id programs have no effect here (nosuid)")
        sys.exit(SKIPPED)
    if told != "secure 1: loader libze_loader.so.1\nthe loader sees nothing\n":
        sys.exit(f"with more rights it must not: {told}")


if __name__ == "__main__":
    main()
