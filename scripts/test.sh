#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Ends with what failed, if anything, and "N passed, N failed"
# (and ", N skipped" where some were).
#
# usage: scripts/test.sh [--quick] [STAGE...]
#   setup       install what is missing
#   tests       build with warnings as errors and run every meson test, with the checks of layers and source lists
#   format      clang-format changes nothing
#   sanitizers  the tests again, built with AddressSanitizer and UBSan
#   trixie      the tests again in Debian trixie: a newer compiler, Level Zero loader and GStreamer (needs root)
#   sid         the same in Debian sid; only when named, because sid changes every day
#   vm          the tests of suite vm in a guest with real DMA-BUF devices, of the builds here and in trixie (needs root)
#   tidy        clang-tidy has nothing to say on the library, the plugin, the software NPU and the tools
# --quick: setup, tests and format. Without a stage: all but sid. clang-tidy and the making of the lanes' chroot and kernel run
# beside the stages before theirs.
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

passed=0 failed=0 skipped=0
work=$(mktemp -d)
tidy_pid=''
trap '[ -z "$tidy_pid" ] || kill "$tidy_pid"; rm -rf "$work"' EXIT

count() {
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

closing_line() {
  local tail=''
  [ ! -s "$work/failures" ] || { say && say "failed:" && cat "$work/failures" && say; }
  [ "$skipped" -eq 0 ] || tail=", $skipped skipped"
  say "$passed passed, $failed failed$tail"
}

# count_left BUILDDIR: counts what a run of tests has left in its meson-logs, if it came that far, and notes what failed.
count_left() {
  [ -f "$1/meson-logs/testlog.json" ] || return 1
  python3 scripts/tally.py "$1" >"$work/tally" || return 1
  # shellcheck disable=SC2046  # three numbers
  count $(head -n 1 "$work/tally")
  sed "1d; s|^\([^ ]\)|$1: \1|; s|^|  |" "$work/tally" >>"$work/failures"
}

# meson_run BUILDDIR [meson test arguments]: runs the tests of a build that is up to date and counts them.
meson_run() {
  local build=$1
  shift
  rm -f "$build"/meson-logs/testlog.json "$build"/meson-logs/testlog.junit.xml
  meson test -C "$build" --no-rebuild --print-errorlogs "$@"
  count_left "$build" || count 0 1 0
}

# configure_and_build BUILDDIR [meson setup arguments]
configure_and_build() {
  local build=$1
  shift
  [ -f "$build/build.ninja" ] || meson setup "$build" "$@" || return 1
  ninja -C "$build"
}

stage_setup() {
  scripts/setup.sh --tests
}

stage_tests() {
  configure_and_build build || return 1
  meson_run build
}

stage_format() {
  scripts/format.sh --check && count 1 0 0
}

# clang-tidy takes the processors' idle time from here on; its stage waits for it.
start_tidy() {
  [ -f build/compile_commands.json ] || meson setup build || return 1
  nice -n 19 scripts/tidy.py build >"$work/tidy.counts" 2>"$work/tidy.findings" &
  tidy_pid=$!
}

stage_tidy() {
  [ -n "$tidy_pid" ] || start_tidy || return 1
  local ended=0
  wait "$tidy_pid" || ended=$?
  tidy_pid=''
  cat "$work/tidy.findings"
  [ $ended -eq 0 ] || return 1
  # shellcheck disable=SC2046  # three numbers
  count $(cat "$work/tidy.counts")
}

stage_sanitizers() {
  # Unoptimised, with line numbers and no more: a third of the time to build, and nothing is optimised out of the sanitizers' sight.
  configure_and_build build-asan -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0 -Ddebug=false \
    -Dcpp_args=-g1 -Dc_args=-g1 || return 1
  export TBB_ENABLE_SANITIZERS=1 # else TBB opens a library in a way that AddressSanitizer refuses
  # Up to g++ 13 LeakSanitizer guesses from an address where a library's thread-local memory begins, and reads wild when the
  # guess is wrong ("Tracer caught signal 11"). Without the guess it finds that memory as any other block of the heap.
  local options=detect_stack_use_after_return=1:strict_string_checks=1:intercept_tls_get_addr=0
  export LSAN_OPTIONS=suppressions=$tree/tests/sanitizers/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export NPU_SWEEP_RESULTS=1 # the sweep of driver faults makes each result of a call fail in the other stages
  export ASAN_OPTIONS=$options
  meson_run build-asan --timeout-multiplier 4 --no-suite checks --no-suite consumer --no-suite pipelines \
    --no-suite models --no-suite bench --no-suite gst
  # GLib and GStreamer keep types, strings and plugins until the process ends, out of LeakSanitizer's sight. What the
  # elements leave behind is counted by the tests themselves and by GStreamer's own leaks tracer.
  export ASAN_OPTIONS=$options:detect_leaks=0
  meson_run build-asan --timeout-multiplier 4 --suite gst
  unset TBB_ENABLE_SANITIZERS ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS NPU_SWEEP_RESULTS
}

# The chroot and the kernel are mostly downloaded and unpacked: that goes on beside other stages. A failure shows in the lane's stage.
start_lane() {
  [ "$(id -u)" -ne 0 ] || scripts/lane.sh "$1" --make >/dev/null 2>&1 &
}

# A lane needs root: where there is none it counts as skipped.
may_enter() {
  [ "$(id -u)" -ne 0 ] || return 0
  say "skipped: the lane $1 makes a chroot, which needs root"
  count 0 0 1
  return 1
}

run_lane() {
  may_enter "$1" || return 0
  rm -f "build-$1"/meson-logs/testlog.json "build-$1"/meson-logs/testlog.junit.xml
  scripts/lane.sh "$1"
  count_left "build-$1"
}

stage_trixie() {
  run_lane trixie
}

stage_sid() {
  run_lane sid
}

stage_vm() {
  may_enter vm || return 0
  configure_and_build build && scripts/lane.sh trixie -- scripts/lane-tests.sh --build || return 1
  rm -f build-vm/meson-logs/testlog.json
  scripts/lane.sh vm host trixie
  count_left build-vm
}

run_stage() {
  local name=$1 start=$SECONDS before=$failed
  say "== $name"
  if ! "stage_$name" && [ "$failed" -eq "$before" ]; then
    count 0 1 0 # it broke before it could count
  fi
  local verdict=good
  [ "$failed" -eq "$before" ] || verdict=FAILED
  [ $verdict = good ] || say "  stage $name, $((failed - before)) in all" >>"$work/failures"
  say "== $name: $((SECONDS - start)) s, $verdict"
  [ $verdict = good ]
}

stages=()
for argument in "$@"; do
  case $argument in
    --quick) stages+=(setup tests format) ;;
    setup | tests | format | sanitizers | trixie | sid | vm | tidy) stages+=("$argument") ;;
    *) sed -n '5,15s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
done
[ ${#stages[@]} -gt 0 ] || stages=(setup tests format sanitizers trixie vm tidy)

beside_started=no
start_beside() {
  [ $beside_started = no ] || return 0
  beside_started=yes
  local stage
  for stage in "${stages[@]}"; do
    case $stage in
      trixie | sid | vm) start_lane "$stage" ;;
      tidy) start_tidy ;;
    esac
  done
}

for stage in "${stages[@]}"; do
  [ "$stage" = setup ] || start_beside
  # Without what setup installs nothing else can run; every later stage is worth its own verdict.
  run_stage "$stage" || [ "$stage" != setup ] || break
done
closing_line
[ "$failed" -eq 0 ]
