#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Ends with what failed and what was skipped, if anything, the time of each
# stage, and "N passed, N failed" (and ", N skipped" where some were): every case once, however many stages ran it.
#
# usage: scripts/test.sh [--quick] [STAGE...]
#   setup       install what is missing
#   tests       build with warnings as errors and run every meson test, with the checks of layers and source lists
#   format      clang-format changes nothing
#   sanitizers  the tests again in Debian trixie, built with AddressSanitizer and UBSan by its newer compiler, with its newer Level Zero
#               loader and GStreamer; without root here, with this system's
#   trixie      there without sanitizers: what these cannot run, or would not see (needs root)
#   sid         the same two in Debian sid; only when named, because sid changes every day
#   vm          the tests of suite vm in a guest with real DMA-BUF devices, of the builds here and in trixie (needs root)
#   compiler    Intel's own NPU compiler, without an NPU, takes the graphs that npucore makes (x86-64)
#   tidy        clang-tidy has nothing to say on the library, the plugin, the software NPU and the tools
#   fuzz        the fuzzers of tests/fuzz for a minute
#   coverage    line coverage by file; only when named
#   soak HOURS  pipelines and requests for hours, with lost devices, and all elements in one that never ends; only when named
#   tsan        what has threads, under ThreadSanitizer; only when named
# --quick: setup, the suites that a change breaks most often, and format. Without a stage: all but those that must be named. The next
# stages' builds, clang-tidy and the making of the lanes' chroot and kernel take the processors' idle time beside the stages before theirs.
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

everything=(setup tests format sanitizers fuzz trixie vm compiler tidy)
quick_suites=(checks ir npucore npuvision softnpu tools gst pipelines)
hours=''
beside='' work='' times=() failed_stages=()
leave() {
  pace_beside 0 # else it has no time to end what it runs itself
  end_attended
  [ -z "$work" ] || rm -rf "$work"
}
end_with leave

tally() {
  python3 scripts/tally.py "$@"
}

# note VERDICT CASE [WHY]: one case of the running stage
note() {
  tally note "$results" "$stage" "$@"
}

# counted COMMAND [WORD...] -- FOLDER...: runs it, and counts the cases that its tests have left in the meson-logs of these folders
counted() {
  local command=() folder good=yes
  while [ "$1" != -- ]; do command+=("$1") && shift; done
  shift
  attended "${command[@]}" || good=no
  for folder in "$@"; do tally add "$results" "$stage" "$folder" || good=no; done
  [ $good = yes ]
}

# meson_run [meson test arguments]: the tests of this system's build, which is up to date
meson_run() {
  forget_results build
  counted meson test -C build --no-rebuild --print-errorlogs --num-processes "$tests_at_once" --timeout-multiplier 2 "$@" -- build
}

# build_here [SUITE...]: builds this system's tree, or what these suites need.
build_here() {
  attended configure_here || return 1
  local targets=''
  if [ $# -gt 0 ]; then
    attended ninja -C build build.ninja && targets=$(scripts/test-targets.py build "$@") || return 1
  fi
  # shellcheck disable=SC2086  # words
  attended ninja -C build $targets
}

# Not attended: sudo may ask for a password, which needs the terminal.
stage_setup() {
  scripts/setup.sh --tests && choose_linker
}

stage_tests() {
  build_here || return 1
  start_beside
  meson_run
}

stage_quick() {
  build_here "${quick_suites[@]}" || return 1
  # A suite's bare name may also be the project's: that is all.
  meson_run "${quick_suites[@]/#/--suite=npucore:}"
}

stage_format() {
  attended scripts/format.sh --check && note passed clang-format
}

# What is slow and may wait: it runs one after the other in the processors' idle time, in a process group of its own. A stage that needs a
# build itself waits for the lock of the one that is on its way; what failed here fails there again.
start_beside() {
  [ -z "$beside" ] || return 0
  # Linux shares the processors out between sessions first (autogroups): niceness inside one is nothing to another.
  # shellcheck disable=SC2016  # for the new session's shell
  setsid sh -c 'echo 19 >/proc/self/autogroup; exec nice -n 19 "$@"' sh "$tree/scripts/test.sh" --beside "$work" $$ "${stages[@]}" >/dev/null 2>&1 </dev/null &
  beside=$!
}

# pace_beside NICENESS: for root, who may also take it back
pace_beside() {
  [ -n "$beside" ] && is_running "$beside" || return 0
  echo "$1" >"/proc/$beside/autogroup"
  renice -n "$1" -g "$beside" >/dev/null
} 2>/dev/null

# need COMMAND...: the build that a stage begins with. What runs beside may be at it, and hold its lock: as long as that is waited for it
# shares the processors with all else, or a busy machine would never let it end.
need() {
  local status=0
  pace_beside 0
  attended "$@" || status=$?
  pace_beside 19
  return $status
}

run_beside() {
  local stage
  for stage in "$@"; do
    case $stage in
      sanitizers) sanitizers --build ;;
      fuzz) scripts/fuzz.sh --build ;;
      trixie) [ "$(id -u)" -ne 0 ] || scripts/lane.sh trixie -- scripts/lane-tests.sh --build ;;
      vm) [ "$(id -u)" -ne 0 ] || scripts/lane.sh vm --make ;;
      tidy) scripts/tidy.py build >"$work/tidy" 2>"$work/tidy.findings" && touch "$work/tidy.done" ;;
    esac
  done
}

lane_sanitizers() {
  local lane=$1
  shift
  scripts/lane.sh "$lane" -- scripts/lane-tests.sh --sanitizers "$@"
}

sanitizers() {
  if [ "$(id -u)" -eq 0 ]; then
    lane_sanitizers trixie "$@"
  else
    LANE=here scripts/lane-tests.sh --sanitizers "$@"
  fi
}

stage_sanitizers() {
  start_beside
  local runs=build-trixie-sanitizers/runs
  [ "$(id -u)" -eq 0 ] || runs=build-here-sanitizers/runs
  rm -rf "$runs"
  need sanitizers --build || return 1
  counted sanitizers -- "$runs"/{library,plugin}
}

# A lane needs root: where there is none it is skipped.
may_enter() {
  [ "$(id -u)" -ne 0 ] || return 0
  note skipped "the lane $1" "a lane makes a chroot, which needs root"
  return 1
}

# run_lane NAME: the tests without sanitizers
run_lane() {
  rm -rf "build-$1/runs"
  counted scripts/lane.sh "$1" -- "build-$1/runs/all"
}

stage_trixie() {
  may_enter trixie || return 0
  need scripts/lane.sh trixie -- scripts/lane-tests.sh --build || return 1
  run_lane trixie
}

stage_sid() {
  may_enter sid || return 0
  local good=yes
  run_lane sid || good=no
  rm -rf build-sid-sanitizers/runs
  counted lane_sanitizers sid -- build-sid-sanitizers/runs/{library,plugin} && [ $good = yes ]
}

stage_vm() {
  may_enter vm || return 0
  build_here && need scripts/lane.sh trixie -- scripts/lane-tests.sh --build && need scripts/lane.sh vm --make || return 1
  forget_results build-vm
  counted scripts/lane.sh vm host trixie -- build-vm
}

# What it installs needs root, once, and is not attended either.
stage_compiler() {
  if [ "$(uname -m)" != x86_64 ]; then
    note skipped "the lane compiler" "Intel's compiler runs on x86-64"
    return 0
  fi
  rm -rf build/runs/compiler
  scripts/setup-compiler.sh >/dev/null || return 1
  counted scripts/lane.sh compiler -- build/runs/compiler
}

# The one that runs beside is waited for; a run of its own then takes what that one has left.
stage_tidy() {
  attended configure_here || return 1
  pace_beside 0
  [ -z "$beside" ] || wait "$beside"
  beside=''
  [ -f "$work/tidy.done" ] || attended scripts/tidy.py build >"$work/tidy" 2>"$work/tidy.findings" || {
    cat "$work/tidy.findings" >&2
    return 1
  }
  cat "$work/tidy.findings"
  cat "$work/tidy" >>"$results"
  ! grep -q '"verdict": "failed"' "$work/tidy"
}

show_fuzzers() {
  scripts/fuzz.sh 60 | tee "$work/fuzz"
}

# Each fuzzer is a case.
stage_fuzz() {
  local good=0 name
  need scripts/fuzz.sh --build || return 1
  attended show_fuzzers || good=$?
  while read -r name; do note passed "fuzz-$name"; done < <(sed -n 's/^  \([^ ]*\): [0-9][0-9]* inputs.*/\1/p' "$work/fuzz")
  while read -r name; do note failed "fuzz-$name" "what it found is above"; done < <(sed -n 's/^  \([^ ]*\) FAILED$/\1/p' "$work/fuzz")
  return "$good"
}

stage_tsan() {
  counted scripts/tsan.sh -- build-tsan
}

stage_coverage() {
  attended scripts/coverage.sh && note passed coverage
}

stage_soak() {
  attended scripts/soak.sh "$hours" && note passed soak
}

# A stage that has looked at nothing says nothing. Setup only installs.
has_counted() {
  [ "$stage" = setup ] || grep -q "\"stage\": \"$stage\"" "$results" || ! say "the stage $stage has counted nothing" >&2
}

run_stage() {
  local start=$SECONDS verdict=good
  say "== $stage"
  if ! "stage_$stage" || ! has_counted; then
    verdict=FAILED
    failed_stages+=("$stage")
  fi
  say "== $stage: $((SECONDS - start)) s, $verdict"
  times+=("$(printf '%-12s %6d s  %s' "$stage" $((SECONDS - start)) $verdict)")
  [ $verdict = good ]
}

if [ "${1:-}" = --beside ]; then
  trap - EXIT HUP INT TERM
  # Not longer than the script that it is beside, however that ends.
  (
    while is_child_of $$ "$3"; do sleep 1; done
    kill -TERM 0
  ) &
  work=$2
  shift 3
  run_beside "$@"
  kill $!
  exit
fi

work=$(mktemp -d) || die "there is no folder for what is collected" "Set TMPDIR to one that can be written."
results=$work/results
# Of the tests too: one whose process is killed, as some are on purpose, leaves its own behind.
mkdir "$work/tmp" && export TMPDIR=$work/tmp

stages=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) stages+=(setup quick format) ;;
    setup | tests | format | sanitizers | fuzz | trixie | sid | vm | compiler | tidy | coverage | tsan) stages+=("$1") ;;
    soak) stages+=(soak) hours=${2:-} && shift ;;
    *) sed -n '5,21s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  [ $# -eq 0 ] || shift
done
[ ${#stages[@]} -gt 0 ] || stages=("${everything[@]}")

for stage in "${stages[@]}"; do
  # Without what setup installs nothing else can run; every later stage is worth its own verdict.
  run_stage || [ "$stage" != setup ] || break
done
say "" "stages:" "${times[@]/#/  }"
tally close "$results" "${failed_stages[@]}" && [ ${#failed_stages[@]} -eq 0 ]
