#!/usr/bin/env bash
# Runs what has threads under ThreadSanitizer: npucore's requests, recovery and compilations, the software NPU's engine, the
# plugin's queue, its watch of fences, and the thread that publishes. OpenVINO, TBB, GLib and GStreamer are not instrumented:
# tests/sanitizers/tsan.supp names what they hide. librdkafka's threads end a process under it.
#
# usage: scripts/tsan.sh [TEST...]
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"

build=build-tsan
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(npucore-callback npucore-request npucore-recovery npucore-import-window engine gst-fifo gst-fence_watch
  gst-publisher gst-publish-socket)
quietly configure "$build" -Db_sanitize=thread -Db_lundef=false -Doptimization=1 -Ddebug=false -Dcpp_args=-g1 -Dc_args=-g1 ||
  die "$build could not be configured"
export TSAN_OPTIONS="suppressions='$tree/tests/sanitizers/tsan.supp' second_deadlock_stack=1 halt_on_error=0 exitcode=66"
export TBB_ENABLE_SANITIZERS=1 # else TBB opens a library in a way that the sanitizer refuses
# meson builds what these tests need, and no more.
meson test -C "$build" --timeout-multiplier 10 --print-errorlogs "${tests[@]}"
