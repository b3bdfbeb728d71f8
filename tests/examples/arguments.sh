#!/bin/sh
# Starts an example without arguments, with one too many, and with a model that does not exist: it must say how to use it (exit
# code 2), or name the file (exit code 1).
#
# usage: arguments.sh PROGRAM ARGUMENT...    ARGUMENT: what it takes; the first is the model
set -eu
program=$(realpath "$1")
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect CODE PATTERN ARGUMENT...
expect() {
  code=$1 pattern=$2
  shift 2
  answer=0
  "$program" "$@" >printed 2>said || answer=$?
  [ "$answer" = "$code" ] || { cat said; echo "exit code $answer, not $code, for: $*"; exit 1; }
  grep -Eq -- "$pattern" said || { cat said; echo "not on stderr: $pattern"; exit 1; }
}

usage="^usage: $(basename "$program") "
expect 2 "$usage"
expect 2 "$usage" absent.xml "$@" 1 2
expect 1 'absent\.xml.*No such file or directory' absent.xml "$@"
