#!/usr/bin/env bash
# Prints line coverage by file: a build of its own in build-coverage, whose tests run first.
#
# usage: scripts/coverage.sh [meson test arguments]    for example --suite npucore
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

build=build-coverage
quietly configure "$build" -Db_coverage=true -Doptimization=0 -Ddebug=false -Dcpp_args=-g1 -Dc_args=-g1 ||
  die "$build could not be configured"
ninja -C "$build" || die "the build for coverage failed"
find "$build" -name '*.gcda' -delete
# A failing test is the other stages' business; it is told, and the table comes all the same.
meson test -C "$build" --no-rebuild --timeout-multiplier 3 --no-suite checks --no-suite consumer --no-suite bench "$@" ||
  say "coverage: some tests failed; see $build/meson-logs/testlog.txt"
scripts/coverage.py "$build"
