#!/usr/bin/env python3
"""Compiles and runs the first C++ snippet of a page, and compares what it prints.

A snippet without a main() is the body of one. It finds the model as model.xml in its folder.

usage: snippet_test.py PAGE MODEL EXPECTED LIBRARY COMPILER...    LIBRARY: libnpucore.so
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def program_of(page):
    snippet = re.search(r"^```cpp\n(.*?)^```", page, re.M | re.S)
    if not snippet:
        sys.exit("the page has no C++ snippet")
    code = snippet.group(1)
    if "int main(" in code:
        return code
    return f"#include <npucore/npucore.hpp>\n\nint main() {{\n{code}}}\n"


def main():
    page, model, expected, library = sys.argv[1:5]
    compiler = sys.argv[5:]
    library = Path(library).resolve()
    include = Path(__file__).resolve().parents[2] / "npucore/include"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "snippet.cpp"), Path(folder, "snippet")
        source.write_text(program_of(Path(page).read_text(encoding="utf-8")), encoding="utf-8")
        subprocess.run([*compiler, "-std=c++20", "-Wall", "-Werror", f"-I{include}", str(source), str(library),
                        f"-Wl,-rpath,{library.parent}", "-o", str(program)], check=True)
        shutil.copy(model, Path(folder, "model.xml"))
        done = subprocess.run([str(program)], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    if done.stdout.strip() != expected:
        sys.exit(f"the snippet printed {done.stdout.strip()!r}, not {expected!r}")


if __name__ == "__main__":
    main()
