#!/bin/sh
# Runs inside a lane (scripts/lane.sh): builds the tree with the lane's compiler and libraries and runs its tests there.
set -eu
build=build-$(. /etc/os-release && echo "$VERSION_CODENAME")
[ -f "$build/build.ninja" ] || meson setup "$build"
ninja -C "$build"
# The models' tests and the checks need Python packages and tools of the outer system, and prove nothing new here.
exec meson test -C "$build" --no-rebuild --print-errorlogs --no-suite checks --no-suite consumer --no-suite models
