#!/usr/bin/env python3
"""Runs the Python snippets of a page as one program, in the order of the page.

It runs in a folder that has the models of examples/ and models/ beside a model.xml, y = x * x; `frames` are inputs of that.

usage: pages_test.py PAGE
"""
import ast
import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import tiny

TREE = Path(__file__).resolve().parents[2]


def program_of(page):
    code = "".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    if not code:
        sys.exit("the page has no Python snippet")
    return compile(code, "the page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def main():
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("models", "examples"):
            Path(folder, name).symlink_to(TREE / name)
        for kind in (".xml", ".bin"):
            source = (tiny.EXAMPLES / "square").with_suffix(kind)
            if source.exists():
                Path(folder, "model" + kind).symlink_to(source)
        os.chdir(folder)
        values = {"__name__": "page", "frames": [np.full((1, 8), number, np.float32) for number in range(8)]}
        values["frame"] = values["frames"][0]
        result = eval(program_of(page), values)  # noqa: S307 - our own page
        if result is not None:
            asyncio.run(result)
        os.chdir("/")


if __name__ == "__main__":
    main()
