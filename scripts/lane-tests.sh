#!/usr/bin/env bash
# Runs inside a lane (scripts/lane.sh): builds what a set of tests needs with the lane's compiler and libraries, and runs them there.
# LANE names it; outside a lane it may be any name.
#
# usage: lane-tests.sh                 the tests that another loader or GStreamer may change, without sanitizers
#        lane-tests.sh --sanitizers    the tests, with AddressSanitizer and UBSan
#        lane-tests.sh --build SUITE   only builds what the tests of a suite need
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"
build=build-$LANE
reports=$build-reports

# build_suites SUITE...
build_suites() {
  local targets
  ninja -C "$build" build.ninja # with what the meson.build files list now
  targets=$(scripts/test-targets.py "$build" "$@")
  # shellcheck disable=SC2086  # one argument each
  ninja -C "$build" $targets
}

# run_suites PATIENCE SUITE...
run_suites() {
  local patience=$1 status=0
  shift
  # shellcheck disable=SC2046  # a suite's bare name may also be the project's, which is all
  meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "$tests_at_once" --timeout-multiplier "$patience" \
    $(printf -- '--suite npucore:%s ' "$@") || status=$?
  cp "$build/meson-logs/testlog.junit.xml" "$reports/$1.xml"
  return $status
}

# The options of this system's build: ccache has its objects from the stage newcomer.
plain() {
  configure "$build" -Dc_args=-g1 -Dcpp_args=-g1
}

sanitizers() {
  local status=0
  build=$build-sanitizers
  # Unoptimised, with line numbers and no more: nothing is optimised out of the sanitizers' sight.
  configure "$build" -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0 -Ddebug=false -Dcpp_args=-g1 -Dc_args=-g1
  build_suites ir npucore npuvision softnpu conformance tools lanes gst
  export TBB_ENABLE_SANITIZERS=1 # else TBB opens a library in a way that AddressSanitizer refuses
  export LSAN_OPTIONS="suppressions='$tree/tests/sanitizers/lsan.supp':print_suppressions=0" # a path may have blanks
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
  # Up to g++ 13 LeakSanitizer guesses from an address where a library's thread-local memory begins, and reads wild when the
  # guess is wrong. Without the guess it finds that memory as any other block of the heap.
  [ "$(c++ -dumpversion | cut -d. -f1)" -ge 14 ] || ASAN_OPTIONS=$ASAN_OPTIONS:intercept_tls_get_addr=0
  run_suites 8 ir npucore npuvision softnpu conformance tools lanes || status=$?
  # GLib and GStreamer keep types, strings and plugins until the process ends, out of LeakSanitizer's sight; the tests count what
  # the elements leave behind. One function of each allocation's stack takes a quarter less time than all.
  ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:malloc_context_size=1 run_suites 8 gst || status=$?
  return $status
}

rm -rf "$reports" && mkdir "$reports"
case ${1:-} in
  '') plain && build_suites conformance lanes npuvision pipelines zero-copy && run_suites 3 conformance lanes npuvision pipelines zero-copy ;;
  --sanitizers) sanitizers ;;
  --build) plain && build_suites "${@:2}" ;;
  *) sed -n '5,7s/^# //p' "$0" >&2; exit 2 ;;
esac
