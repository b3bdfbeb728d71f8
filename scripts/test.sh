#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Ends with "N passed, N failed" (and ", N skipped" where some were).
#
# usage: scripts/test.sh [--quick] [STAGE...]
#   setup       install what is missing
#   tests       build with warnings as errors and run every meson test, with the checks of layers and source lists
#   format      clang-format changes nothing
#   tidy        clang-tidy has nothing to say on the library, the plugin, the software NPU and the tools
#   sanitizers  the tests again, built with AddressSanitizer and UBSan
#   lane        the tests again in Debian trixie: a newer Level Zero loader and GStreamer (needs root)
# --quick: setup, tests and format.
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

passed=0 failed=0 skipped=0

count() {
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

closing_line() {
  local tail=''
  [ "$skipped" -eq 0 ] || tail=", $skipped skipped"
  say "$passed passed, $failed failed$tail"
}

# meson_run BUILDDIR [meson test arguments]: runs the tests of a build that is up to date and counts them.
meson_run() {
  local build=$1 counts
  shift
  rm -f "$build"/meson-logs/testlog.json "$build"/meson-logs/testlog.junit.xml
  meson test -C "$build" --no-rebuild --print-errorlogs "$@"
  counts=$(python3 scripts/tally.py "$build") || counts='0 1 0'
  # shellcheck disable=SC2086  # three numbers
  count $counts
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

stage_tidy() {
  [ -f build/compile_commands.json ] || configure_and_build build || return 1
  local counts
  counts=$(scripts/tidy.py build) || return 1
  # shellcheck disable=SC2086  # three numbers
  count $counts
}

stage_sanitizers() {
  configure_and_build build-asan -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 || return 1
  export TBB_ENABLE_SANITIZERS=1 # else TBB opens a library in a way that AddressSanitizer refuses
  local options=detect_stack_use_after_return=1:strict_string_checks=1
  export LSAN_OPTIONS=suppressions=$tree/tests/sanitizers/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export ASAN_OPTIONS=$options
  meson_run build-asan --timeout-multiplier 4 --no-suite checks --no-suite consumer --no-suite pipelines \
    --no-suite models --no-suite bench --no-suite gst
  # GLib and GStreamer keep types, strings and plugins until the process ends, out of LeakSanitizer's sight. What the
  # elements leave behind is counted by the tests themselves and by GStreamer's own leaks tracer.
  export ASAN_OPTIONS=$options:detect_leaks=0
  meson_run build-asan --timeout-multiplier 4 --suite gst
  unset TBB_ENABLE_SANITIZERS ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS
}

stage_lane() {
  if [ "$(id -u)" -ne 0 ]; then
    say "skipped: the lane makes a chroot, which needs root"
    count 0 0 1
    return 0
  fi
  rm -f build-trixie/meson-logs/testlog.json build-trixie/meson-logs/testlog.junit.xml
  scripts/lane.sh trixie
  local counts
  counts=$(python3 scripts/tally.py build-trixie 2>/dev/null) || return 1
  # shellcheck disable=SC2086  # three numbers
  count $counts
}

run_stage() {
  local name=$1 start=$SECONDS before=$failed
  say "== $name"
  if ! "stage_$name" && [ "$failed" -eq "$before" ]; then
    count 0 1 0 # it broke before it could count
  fi
  say "== $name: $((SECONDS - start)) s, $([ "$failed" -eq "$before" ] && echo good || echo FAILED)"
  [ "$failed" -eq "$before" ]
}

stages=()
for argument in "$@"; do
  case $argument in
    --quick) stages+=(setup tests format) ;;
    setup | tests | format | tidy | sanitizers | lane) stages+=("$argument") ;;
    *) sed -n '4,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
done
[ ${#stages[@]} -gt 0 ] || stages=(setup tests format tidy sanitizers lane)

for stage in "${stages[@]}"; do
  # Without what setup installs nothing else can run; every later stage is worth its own verdict.
  run_stage "$stage" || [ "$stage" != setup ] || break
done
closing_line
[ "$failed" -eq 0 ]
