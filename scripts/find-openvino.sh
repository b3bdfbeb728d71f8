#!/bin/sh
# Prints the folder of the openvino Python package in this tree's .venv, or nothing.
tree=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
for dir in "$tree"/.venv/lib/python3*/site-packages/openvino; do
  [ -f "$dir/include/openvino/openvino.hpp" ] && { echo "$dir"; exit 0; }
done
exit 0
