#!/usr/bin/env python3
"""Fails where the code leaves the project's dialect in what clang-format and clang-tidy do not see.

usage: check-style.py [TREE]
"""
import re
import sys
from pathlib import Path

import rooms

MOST_HEADER_LINES = 1150

ONE_LINE_IF = re.compile(r"^\s*(\} )?(else )?if (constexpr )?\((?P<rest>.*;)(\s*//.*)?$")
LEAVES = re.compile(r"^(\[\[\w+\]\] )?(return|continue|break|throw)\b")
OPEN_IF = re.compile(r"^\s*(\} )?(else )?if (constexpr )?\(.*\)( \[\[\w+\]\])?$")
# Matches new names only; the tests' wrappers of libc's functions have old ones.
RESERVED = re.compile(r"^\s*#\s*define (_[A-Z]\w*|\w*__\w*)|\b(?:struct|class|enum|union|namespace|using|typename) (_[A-Z]\w*|\w*__\w*)")
BARE_ELSE = re.compile(r"^\s*else\b")
# A comment begins with its subject or its verb; these words begin half of a sentence.
HALF_SENTENCE = r"\s*(?P<word>Of|What|Who|Whose|By|Between) [a-z`]"
CXX_COMMENT = re.compile(r"(^\s*\*+|(^|\s)/[/*]+<?)" + HALF_SENTENCE)
HASH_COMMENT = re.compile(r"(^|\s)#+" + HALF_SENTENCE)
COMMENTS = dict.fromkeys((".c", ".h", ".cpp", ".hpp", ".inc"), CXX_COMMENT) | dict.fromkeys((".py", ".sh", ".cmake"), HASH_COMMENT)
COMMENTS_BY_NAME = dict.fromkeys(("meson.build", "meson_options.txt", "CMakeLists.txt"), HASH_COMMENT)


def after_condition(rest):
    """The rest of the line behind a condition. `rest` begins behind its opening parenthesis. None if it does not end on the line."""
    depth = 1
    text = re.sub(r'"(\\.|[^"\\])*"', lambda match: '"' + "_" * (len(match[0]) - 2) + '"', rest)
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return rest[position + 1:].strip()
    return None


def brace_fault(line):
    one_line = ONE_LINE_IF.match(line)
    if one_line:
        statement = after_condition(one_line["rest"])
        if statement and not statement.startswith("{") and not LEAVES.match(statement):
            return "an if without braces that neither returns nor continues"
    if OPEN_IF.match(line) and line.count("(") == line.count(")"):
        return "an if without braces over several lines"
    if BARE_ELSE.match(line):
        return "an else without braces"
    return None


def faults(tree):
    found = []
    for folder in rooms.ALL:
        for path in sorted((tree / folder).rglob("*.[ch]pp")):
            for number, line in enumerate(path.read_text().split("\n"), 1):
                fault = brace_fault(line)
                reserved = RESERVED.search(line)
                if not fault and reserved:
                    fault = f"{reserved[1] or reserved[2]}: a name that is the compiler's"
                if not fault and "std::lock_guard" in line:
                    fault = "std::lock_guard: the lock here is std::scoped_lock"
                if fault:
                    found.append(f"{path.relative_to(tree)}:{number}: {fault}")
    return found + comment_faults(tree) + header_faults(tree)


def comment_faults(tree):
    """Looks at all of the tree but build folders and hidden ones."""
    found = []
    places = [place for place in sorted(tree.iterdir()) if not place.name.startswith((".", "build"))]
    for path in (path for place in places for path in [place, *sorted(place.rglob("*"))]):
        pattern = COMMENTS.get(path.suffix) or COMMENTS_BY_NAME.get(path.name)
        if not pattern or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if half := pattern.search(line):
                found.append(f"{path.relative_to(tree)}:{number}: a comment begins with \"{half['word']}\": begin with its subject or its verb")
    return found


def header_faults(tree):
    """An API that cannot be read in one go is too large. It is what npucore.hpp includes; adapters/ is for who asks for it."""
    lines = sum(len(path.read_text().splitlines()) for path in (tree / "npucore/include/npucore").glob("*.hpp"))
    if lines > MOST_HEADER_LINES:
        return [f"npucore/include/npucore: {lines} lines of public headers, at most {MOST_HEADER_LINES} are allowed"]
    return []


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = faults(tree)
    if found:
        sys.exit("\n".join(found))
    print("style: one dialect")


if __name__ == "__main__":
    main()
