#!/usr/bin/env bash
# Builds this tree and runs its tests. Ends with each failure, the reasons for what was skipped, the time of each stage,
# and the line "N passed, N failed, N skipped".
#
# usage: scripts/test.sh [--all | STAGE...] [--minutes N]
#   setup       installs what the tests need and this machine lacks
#   tests       builds, and runs every test of this system
# These two run by default. --all adds the suites bench and gate to the tests, warnings as errors, and:
#   format      clang-format changes nothing
#   compiler    Intel's own NPU compiler, without an NPU, takes the graphs that npucore makes (x86-64)
#   vm          suite vm, in a guest with real DMA-BUF devices (needs root)
#   fuzz        each fuzzer of tests/fuzz for some seconds
#   newcomer    README's two commands from nothing in a bare Debian trixie, by a plain user (needs root)
#   sanitizers  the tests again, built with AddressSanitizer and UBSan, in Debian trixie; without root, in this system
#   tidy        clang-tidy finds nothing in the files that changed, as far as ten minutes go
# With --minutes no stage begins after so many minutes: the rest is skipped. These run only by name:
#   wheel       builds the Python package's wheel, installs it into a new environment and uses it
#   ray         npucore.ray on a cluster of this machine's; pip fetches Ray
#   packages    the Python package beside supervision, which pip fetches, and PyTorch
#   samples     the tests that try a sample of their rows, with every row
#   sid         sanitizers in Debian sid, and without them what sanitizers cannot see (needs root)
#   tsan        threaded code under ThreadSanitizer
#   coverage    line coverage by file
#   soak HOURS  pipelines and requests for hours, with lost devices
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

default=(setup tests)
all=(setup tests format compiler vm fuzz newcomer sanitizers tidy) # what takes longest last
hours=''

# counted FOLDER COMMAND...: runs a command that leaves JUnit reports in that folder.
counted() {
  local folder=$1 status=0 report
  shift
  rm -f "$folder"/*.xml
  "$@" || status=$?
  for report in "$folder"/*.xml; do [ ! -f "$report" ] || cp "$report" "$work/$stage-$((++reports)).xml"; done
  return $status
}

# Runs a command as one case of its stage.
case_of_its_own() {
  "$@" && tally note passed
}

skip() {
  tally note skipped "$1"
}

tally() {
  scripts/tally.py "$1" "$work" "$stage" "${@:2}"
}

# run_tests BUILD [meson test's arguments]
run_tests() {
  local build=$1
  shift
  counted "$build/meson-logs" meson test -C "$build" --print-errorlogs \
    --num-processes "$tests_at_once" --timeout-multiplier 3 "$@"
}

# With --all a warning fails the stage. It is found in the output, not by -Werror, so that both ways to build share what ccache has.
build_here() {
  configure_here || return 1
  if [ "$setup" != gate ]; then
    # Not what only tests need: meson test builds that for the tests it runs.
    # shellcheck disable=SC2046  # one argument each
    ninja -C build $(ninja -C build -t query all | sed -n '/outputs:/q; s/^    //p' | grep -v -- -prereq)
  else
    ninja -C build all meson-test-prereq | tee "$work/build.log" && ! grep -q ' warning: ' "$work/build.log"
  fi
}

# A lane needs root, and rights that containers withhold.
may_enter_lanes() {
  if [ "$(id -u)" -ne 0 ]; then
    skip "the stage $stage makes a chroot, which needs root"
  elif ! unshare --mount true 2>/dev/null; then
    skip "the stage $stage mounts folders, which is not allowed here"
  else
    return 0
  fi
  return 1
}

stage_setup() { scripts/setup.sh "$setup_for"; }

stage_tests() { build_here && run_tests build --setup "$setup"; }

stage_ray() { build_here && run_tests build --suite ray; }
stage_packages() { build_here && run_tests build --suite packages; }
stage_wheel() { case_of_its_own .venv/bin/python3 tests/python/wheel_test.py; }

stage_samples() { build_here && NPU_TEST_SAMPLES=all run_tests build --suite npucore:samples; }

stage_format() { case_of_its_own scripts/format.sh --check; }

# run_lane NAME [lane-tests.sh's arguments]
run_lane() {
  counted "build-$1-reports" scripts/lane.sh "$1" -- scripts/lane-tests.sh "${@:2}"
}

stage_sanitizers() {
  if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    run_lane trixie --sanitizers
  else
    LANE=here counted build-here-reports scripts/lane-tests.sh --sanitizers
  fi
}

stage_sid() {
  may_enter_lanes || return 0
  local status=0
  run_lane sid --sanitizers || status=1
  run_lane sid && return $status
}

stage_newcomer() {
  may_enter_lanes || return 0
  counted build-newcomer scripts/newcomer.sh
}

stage_vm() {
  may_enter_lanes || return 0
  build_here && scripts/lane.sh trixie -- scripts/lane-tests.sh --build vm && counted build-vm scripts/lane.sh vm host trixie
}

stage_compiler() {
  if [ "$(uname -m)" != x86_64 ]; then
    skip "Intel's compiler runs on x86-64"
    return 0
  fi
  build_here && counted build/meson-logs scripts/lane.sh compiler
}

stage_fuzz() { case_of_its_own scripts/fuzz.sh 60; }

stage_tidy() { configure_here && case_of_its_own scripts/tidy.py build --minutes 10; }

stage_tsan() { counted build-tsan/meson-logs scripts/tsan.sh; }

stage_coverage() { case_of_its_own scripts/coverage.sh; }

stage_soak() { case_of_its_own scripts/soak.sh "$hours"; }

usage() {
  sed -n '5,24s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

work=$(mktemp -d) || die "there is no folder for temporary files" "Set TMPDIR to one that can be written."
mkdir "$work/tmp" && export TMPDIR=$work/tmp # with what tests leave behind
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

setup_for=--tests setup=everywhere stages=() times=() failed=() reports=0 minutes=''
while [ $# -gt 0 ]; do
  case $1 in
    --all) stages=("${all[@]}") setup_for=--all setup=gate ;;
    --minutes) [[ ${2:-} =~ ^[0-9]+$ ]] || usage && minutes=$2 && shift ;;
    soak) stages+=(soak) hours=${2:?usage: scripts/test.sh soak HOURS} && shift ;;
    -*) usage ;;
    *) declare -F "stage_$1" >/dev/null && stages+=("$1") || usage ;;
  esac
  shift
done
[ ${#stages[@]} -gt 0 ] || stages=("${default[@]}")

for stage in "${stages[@]}"; do
  say "== $stage"
  start=$SECONDS verdict=good
  if [ -n "$minutes" ] && [ $SECONDS -ge $((minutes * 60)) ]; then
    verdict='not run' && skip "the stage $stage would have begun after more than $minutes minutes"
  else
    "stage_$stage" || verdict=FAILED failed+=("$stage")
  fi
  times+=("$(printf '%-12s %6d s  %s' "$stage" $((SECONDS - start)) $verdict)")
  say "==${times[-1]}"
  # Without what setup installs nothing else can run; every later stage is worth its own verdict.
  [ "$stage$verdict" != setupFAILED ] || break
done
result=$(scripts/tally.py close "$work" "${failed[@]}") && status=0 || status=$?
say "" "${result%$'\n'*}" "stages, on $(nproc) processors:" "${times[@]/#/  }" "" "${result##*$'\n'}"
exit "$status"
