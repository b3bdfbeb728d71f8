#!/bin/sh
# Runs inside a lane (scripts/lane.sh): builds the tree with the lane's compiler and libraries and runs its tests there.
#
# usage: lane-tests.sh [--build]    --build: build only
set -eu
build=build-$LANE
# -O1 still finds what warnings need a flow analysis, in two thirds of the time.
[ -f "$build/build.ninja" ] || meson setup "$build" -Doptimization=1 -Ddebug=false
ninja -C "$build"
[ "${1:-}" != --build ] || exit 0
# The models' tests and the checks need Python packages and tools of the outer system, and prove nothing new here.
exec meson test -C "$build" --no-rebuild --print-errorlogs --no-suite checks --no-suite consumer --no-suite models
