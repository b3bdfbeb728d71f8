#!/usr/bin/env python3
"""Compiles and runs the C++ snippets of a page as one program, and compares what it prints.

Without a main() they are the body of one, in the order of the page. They find the model as model.xml in their folder. EXPECTED "-": they are
compiled only, for they need what a machine may lack.

usage: snippet_test.py PAGE MODEL EXPECTED LIBRARY COMPILER...    LIBRARY: libnpucore.so
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


HEADERS = "algorithm", "cstdio", "npucore/npucore.hpp"


def program_of(page):
    code = "".join(re.findall(r"^```cpp\n(.*?)^```", page, re.M | re.S))
    if not code:
        sys.exit("the page has no C++ snippet")
    if "int main(" in code:
        return code
    lines = code.splitlines(keepends=True)
    own = [line for line in lines if line.startswith("#include")]
    body = "".join(line for line in lines if line not in own)
    return "".join(f"#include <{header}>\n" for header in HEADERS) + "".join(own) + f"\nint main() {{\n{body}}}\n"


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
        if expected == "-":
            return
        shutil.copy(model, Path(folder, "model.xml"))
        done = subprocess.run([str(program)], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    if done.stdout.strip() != expected:
        sys.exit(f"the snippet printed {done.stdout.strip()!r}, not {expected!r}")


if __name__ == "__main__":
    main()
