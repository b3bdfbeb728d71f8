#!/usr/bin/env bash
# Prints line coverage by file (gcovr): a build of its own in build-coverage, whose tests run first.
#
# usage: scripts/coverage.sh [meson test arguments]    for example --suite npucore
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"

build=build-coverage
install_packages gcovr
quietly configure "$build" -Db_coverage=true -Doptimization=0 -Ddebug=false -Dcpp_args=-g1 -Dc_args=-g1 ||
  die "$build could not be configured"
ninja -C "$build"
find "$build" -name '*.gcda' -delete
# A failing test is another stage's business; the table comes all the same.
meson test -C "$build" --no-rebuild --timeout-multiplier 3 --no-suite checks --no-suite consumer --no-suite bench "$@" ||
  say "coverage: some tests failed; see $build/meson-logs/testlog.txt"
# A killed program may have left a counter file half written.
gcovr --root . --gcov-ignore-parse-errors --exclude tests --exclude bench --exclude examples --exclude 'build.*' --sort-uncovered "$build"
