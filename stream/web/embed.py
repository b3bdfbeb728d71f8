#!/usr/bin/env python3
"""embed.py FILE OUTPUT: the file's bytes as the numbers of a C++ array."""
import pathlib
import sys

data = pathlib.Path(sys.argv[1]).read_bytes()
pathlib.Path(sys.argv[2]).write_text(",\n".join(", ".join(map(str, data[i:i + 40])) for i in range(0, len(data), 40)) + "\n")
