#!/usr/bin/env bash
# Runs inside a lane (scripts/lane.sh): builds what a set of tests needs with the lane's compiler and libraries, and runs them there.
# LANE names it; outside a lane it may be any name.
#
# usage: lane-tests.sh [--sanitizers] [--build]
#   without a word   what another loader, GStreamer or compiler may change and no sanitizer sees, without sanitizers
#   --sanitizers     the tests, with AddressSanitizer and UBSan
#   --build          build only
set -eu
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"
build=build-$LANE
suites='conformance lanes npuvision pipelines zero-copy'
for_guests=vm # stage vm runs its tests of this build
# -O1 still finds what warnings need a flow analysis, in two thirds of the time.
options='-Doptimization=1 -Ddebug=false'
run=yes
for word in "$@"; do
  case $word in
    --sanitizers)
      build=build-$LANE-sanitizers
      suites='ir npucore npuvision softnpu conformance tools zero-copy lanes gst'
      for_guests=''
      # Unoptimised, with line numbers and no more: nothing is optimised out of the sanitizers' sight.
      options='-Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0 -Ddebug=false -Dcpp_args=-g1 -Dc_args=-g1'
      ;;
    --build) run=no ;;
  esac
done

(
  flock 9 # a build that is on its way beside other stages comes first
  # shellcheck disable=SC2086  # words
  configure "$build" $options
  ninja -C "$build" build.ninja # with what the meson.build files list now
  # shellcheck disable=SC2086
  targets=$(scripts/test-targets.py "$build" $suites $for_guests)
  # shellcheck disable=SC2086
  ninja -C "$build" $targets
) 9>"$build.lock" # beside the folder: who empties it would lose its lock
[ $run = yes ] || exit 0

# run_suites NAME SUITE... : a run of its own, whose results get that name. A suite's bare name may also be the project's: that is all.
run_suites() {
  name=$1
  shift
  status=0
  forget_results "$build"
  # shellcheck disable=SC2046
  meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "$tests_at_once" --timeout-multiplier "$patience" \
    $(printf -- '--suite npucore:%s ' "$@") || status=1
  keep_results "$build" "$build/runs/$name"
  [ $status -eq 0 ] || failed=yes
  case $status${ASAN_OPTIONS-} in 1*malloc_context_size=1) show_stacks "$build/runs/$name/meson-logs/testlog.json" ;; esac
}

# show_stacks TESTLOG: what failed runs again, for whoever reads it: its reports then have the whole stacks of allocations.
show_stacks() {
  echo "what failed, again, with the whole stacks of allocations; the verdict is the one above:"
  python3 - "$1" <<'PYTHON' | ASAN_OPTIONS=$ASAN_OPTIONS:malloc_context_size=30 xargs -r -d '\n' \
    meson test -C "$build" --no-rebuild --print-errorlogs --logbase stacks --timeout-multiplier "$patience" || true
import json, sys
for test in map(json.loads, open(sys.argv[1])):
    if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL", "TIMEOUT"):
        print(test["name"].split(" / ")[-1])
PYTHON
}

failed=no patience=1
rm -rf "$build/runs"
case $build in
  *-sanitizers)
    patience=4
    export TBB_ENABLE_SANITIZERS=1 # else TBB opens a library in a way that AddressSanitizer refuses
    export LSAN_OPTIONS="suppressions='$tree/tests/sanitizers/lsan.supp':print_suppressions=0" # a path may have blanks
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    export NPU_SWEEP_RESULTS=1 # the sweep of driver faults makes each result of a call fail in the other stages
    export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
    # Up to g++ 13 LeakSanitizer guesses from an address where a library's thread-local memory begins, and reads wild when the
    # guess is wrong. Without the guess it finds that memory as any other block of the heap.
    [ "$(c++ -dumpversion | cut -d. -f1)" -ge 14 ] || ASAN_OPTIONS=$ASAN_OPTIONS:intercept_tls_get_addr=0
    run_suites library ir npucore npuvision softnpu conformance tools zero-copy lanes
    # GLib and GStreamer keep types, strings and plugins until the process ends, out of LeakSanitizer's sight. What the
    # elements leave behind is counted by the tests themselves and by GStreamer's own leaks tracer. One function of each allocation's
    # stack then is enough, and takes a quarter less time than all.
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:malloc_context_size=1
    run_suites plugin gst
    ;;
  *)
    # shellcheck disable=SC2086
    run_suites all $suites
    ;;
esac
[ $failed = no ]
