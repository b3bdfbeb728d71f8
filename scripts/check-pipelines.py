#!/usr/bin/env python3
"""Says which file of pipelines/ has no row in docs/pipelines.md with its picture and its line for an NPU, and which row has no
file, and which picture no page. usage: check-pipelines.py [TREE]"""
import re
import sys
from pathlib import Path

LARGEST = 60_000  # bytes of a picture
JPEG = b"\xff\xd8\xff"
HELPERS = {"common.sh"}  # no pipeline
WITHOUT_PICTURE = {"detect-va.sh"}  # needs a GPU


def is_pipeline(path):
    return path.suffix in (".sh", ".py") and path.name not in HELPERS


def faults_of_row(row, name):
    if name not in WITHOUT_PICTURE and f"(pictures/{Path(name).stem}.jpg)" not in row:
        yield f"{name}: its row shows no pictures/{Path(name).stem}.jpg"
    if not re.search(rf"`DEVICE=npu [^`]*pipelines/{re.escape(name)}\b[^`]*`", row):
        yield f"{name}: its row has no line for an NPU, `DEVICE=npu ... pipelines/{name} ...`"


def faults_of_picture(path):
    if not path.exists():
        yield f"docs/pictures/{path.name} is missing: scripts/pipeline-pictures.py makes it"
    elif not path.read_bytes().startswith(JPEG) or path.stat().st_size > LARGEST:
        yield f"docs/pictures/{path.name} is no JPEG of at most {LARGEST} bytes"


def faults(tree):
    text = (tree / "docs" / "pipelines.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    files = sorted(path for path in (tree / "pipelines").iterdir() if path.is_file() and path.name not in HELPERS)
    for path in files:
        link = f"(../pipelines/{path.name})"
        of_it = [row for row in rows if link in row]
        if len(of_it) != 1:
            yield f"{path.name}: has {len(of_it)} rows in docs/pipelines.md instead of one"
        elif is_pipeline(path):
            yield from faults_of_row(of_it[0], path.name)
            if path.name in WITHOUT_PICTURE:
                continue
            yield from faults_of_picture(tree / "docs" / "pictures" / f"{path.stem}.jpg")
    names = {path.name for path in files}
    for name in sorted(set(re.findall(r"\(\.\./pipelines/([^)]+)\)", text)) - names):
        yield f"docs/pipelines.md links pipelines/{name}, which is not there"
    pages = "".join(page.read_text(encoding="utf-8") for page in [*tree.glob("*.md"), *tree.glob("docs/*.md")])
    for picture in sorted(path.name for path in (tree / "docs" / "pictures").iterdir()):
        if f"pictures/{picture})" not in pages:
            yield f"docs/pictures/{picture} is on no page"


def main():
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(faults(tree))
    print("\n".join(found) if found else "pipelines: each has its row and its picture")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
