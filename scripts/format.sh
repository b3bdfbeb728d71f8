#!/usr/bin/env bash
# Formats C and C++ files with clang-format: all of them, or those named.
#
# usage: scripts/format.sh [--check] [FILE...]    --check: change nothing, fail where something would change
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"

mode=(-i)
if [ "${1:-}" = --check ]; then
  mode=(--dry-run -Werror)
  shift
fi
command -v clang-format >/dev/null || die "clang-format is missing" "Run scripts/setup.sh --all."

# npumeta.h is a C header in GStreamer's own style.
halls=$(scripts/rooms.py)
mapfile -t halls <<<"$halls"
files=$(find "${halls[@]}" \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' \) ! -path gst/meta/npumeta.h | sort)
mapfile -t files <<<"$files"
[ $# -eq 0 ] || files=("$@")
clang-format "${mode[@]}" "${files[@]}"
