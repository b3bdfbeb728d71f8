#!/usr/bin/env python3
"""Fails on an error text of the libraries, the tools or the elements that docs/troubleshooting.md does not explain.

An error text is known by its stable phrase: the longest piece of literal text in the call that makes it. The page must
hold each phrase as it is (line breaks aside), in a table row with a cure.

usage: check-troubleshooting.py [TREE] [--list]
"""
import re
import sys
from pathlib import Path

FOLDERS = ("npu_vcl/src", "npucore/src", "npuvision", "tools", "gst")
PAGE = "docs/troubleshooting.md"
# The calls that make an error's text, by what opens them; functions that are [[noreturn]] are more of them.
MAKERS = (r"\bthrow\s+[\w:]+\s*[({]", r"\bmake_error\s*\(", r"\bGST_ELEMENT_(?:ERROR|WARNING)\s*\(")
NORETURN = re.compile(r"\[\[noreturn\]\]\s+(?:static\s+)?void\s+(\w+)\s*\(")
TOKEN = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)*\'|[(){}]|\s+|[^\s"\'(){}]+')
SHORTEST = 12  # characters of a phrase that says something


def without_comments(text):
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda match: match.group(1) or " ", text, flags=re.S)


def literals_of_call(text, start):
    """The literal texts of the call that starts there; those that stand side by side are one."""
    literals, depth, beside = [], 0, False
    for match in TOKEN.finditer(text, start):
        token = match.group()
        if match.group(1) is not None:
            piece = re.sub(r"\\(.)", r"\1", match.group(1))
            literals = literals[:-1] + [literals[-1] + piece] if beside else literals + [piece]
        beside = match.group(1) is not None or (beside and token.isspace())
        depth += (token in ("(", "{")) - (token in (")", "}"))
        if token in (")", "}") and depth == 0:
            break
    return literals


def phrase_of(literals):
    pieces = (piece.strip(" ,;:.(')\"") for literal in literals for piece in re.split(r"%\w", literal))
    best = max(pieces, key=len, default="")
    return best if len(best) >= SHORTEST else None


def phrases(tree):
    """Phrase -> the files that use it."""
    texts = {path: without_comments(path.read_text(encoding="utf-8"))
             for folder in FOLDERS for path in sorted((tree / folder).rglob("*.[ch]pp"))}
    helpers = {rf"\b{name}\s*\(" for text in texts.values() for name in NORETURN.findall(text)}
    makers = re.compile("|".join([*MAKERS, *sorted(helpers)]))
    found = {}
    for path, text in texts.items():
        for match in makers.finditer(text):
            phrase = phrase_of(literals_of_call(text, match.start()))
            if phrase:
                found.setdefault(phrase, set()).add(str(path.relative_to(tree)))
    return found


def plain(text):
    return re.sub(r"\s+", " ", text.replace("\\|", "|").replace("`", ""))


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    tree = Path(arguments[0] if arguments else Path(__file__).resolve().parent.parent)
    found = phrases(tree)
    if "--list" in sys.argv:
        for phrase, files in sorted(found.items(), key=lambda item: (sorted(item[1]), item[0])):
            print(f"{', '.join(sorted(files))}: {phrase}")
        return 0
    page = plain((tree / PAGE).read_text(encoding="utf-8"))
    missing = {phrase: files for phrase, files in found.items() if plain(phrase) not in page}
    for phrase, files in sorted(missing.items()):
        print(f"{PAGE} does not explain \"{phrase}\" ({', '.join(sorted(files))})")
    print(f"troubleshooting: {len(found)} error texts, {len(missing)} not explained")
    return 1 if missing or not found else 0


if __name__ == "__main__":
    sys.exit(main())
