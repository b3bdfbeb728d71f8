#!/usr/bin/env python3
"""Writes a tool's man page and its completion for bash from the tool's own description of its options.

usage: make_pages.py TOOL TEXT VERSION OUT.1 OUT-COMPLETION
TOOL --describe-options gives the options (tools/common/describe_options.hpp), TEXT the page's other sections: lines
"# NAME OF A SECTION", paragraphs with empty lines between them, examples between ".code" and ".end".
help2man reads --help, where CLI11 runs options such as "--input TEXT Needs: --frame" and their texts together, and writes no completion.
"""
import re
import subprocess
import sys

FILE_VALUES = {"--weights", "--reference-weights", "--input", "--output", "--cache-dir"}


def describe(tool):
    lines = subprocess.run([tool, "--describe-options"], stdout=subprocess.PIPE, check=True, text=True).stdout
    data = {"option": [], "operand": [], "property": []}
    for line in lines.splitlines():
        kind, *fields = line.split("\t")
        if kind in data:
            data[kind].append(fields)
        else:
            data[kind] = fields[0]
    return data


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def bold(text):
    return f"\\fB{roff(text)}\\fR"


def options_section(data):
    lines = [".SH OPTIONS"]
    for name, text in data["operand"]:
        lines += [".TP", f"\\fI{roff(name)}\\fR", roff(text)]
    for names, value, choices, text in data["option"]:
        head = ", ".join(bold(name) for name in names.split(","))
        if value:
            head += f" \\fI{roff(value)}\\fR"
        lines += [".TP", head, roff(text)]
        if choices and not all(choice in text for choice in choices.split(",")):
            lines += [f"One of {roff(choices.replace(',', ', '))}."]
    return lines


def text_sections(text):
    """Section name -> lines of roff."""
    sections, lines = {}, []
    code = False
    for line in text.splitlines():
        if line.startswith("# "):
            lines = sections.setdefault(line[2:], [])
        elif line == ".code":
            code = True
            lines += [".PP", ".nf", ".RS"]
        elif line == ".end":
            code = False
            lines += [".RE", ".fi"]
        elif line or code:
            lines.append(roff(line))
        elif lines:
            lines.append(".PP")
    return {name: trimmed(found) for name, found in sections.items()}


def trimmed(lines):
    while lines and lines[-1] == ".PP":
        lines = lines[:-1]
    return lines


def man_page(data, text, version):
    name = data["name"]
    operands = " ".join(f"[\\fI{roff(operand)}\\fR]" for operand, _ in data["operand"])
    about = data["about"].rstrip(".")
    sections = text_sections(text)
    lines = [f'.TH {name.upper()} 1 "" "npucore {version}"',
             ".SH NAME", f"{roff(name)} \\- {roff(about[0].lower() + about[1:])}",
             ".SH SYNOPSIS", f"{bold(name)} [\\fIoptions\\fR] {operands}",
             ".SH DESCRIPTION", *sections.pop("DESCRIPTION"), *options_section(data)]
    for section, found in sections.items():
        lines += [f".SH {section}", *found]
    return "\n".join(lines) + "\n"


def cases_of(data):
    """Lines of bash: the words to offer behind an option."""
    for names, value, choices, _ in data["option"]:
        if not value:
            continue
        pattern = "|".join(names.split(","))
        if choices:
            yield f'    {pattern}) COMPREPLY=($(compgen -W "{choices.replace(",", " ")}" -- "$word")) ;;'
        elif "--property" in names:
            words = " ".join(f"{name}=" for name, in data["property"])
            yield (f'    {pattern})\n      COMPREPLY=($(compgen -W "{words}" -- "$word"))\n'
                   '      compopt -o nospace 2>/dev/null ;;')
        elif set(names.split(",")) & FILE_VALUES:
            yield f"    {pattern}) _npucore_files ;;"
        else:
            yield f"    {pattern}) ;;"


def completion(data):
    name = data["name"]
    function = "_" + re.sub(r"\W", "_", name)
    words = " ".join(name for names, *_ in data["option"] for name in names.split(","))
    cases = "\n".join(cases_of(data))
    return f"""# bash completion for {name}
_npucore_files() {{
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$word"))
}}

{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  COMPREPLY=()
  [[ $word != = ]] || word=
  [[ $before != = ]] || before=${{COMP_WORDS[COMP_CWORD - 2]}} # --option=word is three words here
  case $before in
{cases}
    *)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "{words}" -- "$word"))
      else
        _npucore_files
      fi ;;
  esac
}}
complete -F {function} {name}
"""


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    tool, text, version, page, completions = sys.argv[1:]
    data = describe(tool)
    with open(text, encoding="utf-8") as file:
        page_text = man_page(data, file.read(), version)
    with open(page, "w", encoding="utf-8") as file:
        file.write(page_text)
    with open(completions, "w", encoding="utf-8") as file:
        file.write(completion(data))


if __name__ == "__main__":
    main()
