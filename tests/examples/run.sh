#!/bin/sh
# Runs an example in a folder of its own and looks for lines in what it prints.
#
# usage: run.sh EXPECTED PROGRAM ARGUMENT...    EXPECTED: patterns of grep -E, one a line; all must be found, in any order
set -eu
expected=$1
program=$(realpath "$2")
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$program" "$@" >printed
cat printed
while IFS= read -r line; do
  grep -Eq -- "$line" printed || { echo "missing: $line"; exit 1; }
done <<LINES
$expected
LINES
