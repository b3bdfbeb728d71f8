#!/usr/bin/env bash
# Runs tests again and again on a machine that is kept busy by a loop on each processor: what fails once in ten runs is a failure.
# Uses the builds that scripts/test.sh has left. Ends with what failed, and how often.
#
# usage: scripts/repeat.sh [TIMES [STAGE...]]    10 times the stages tests, sanitizers and trixie, when not given
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

times=${1:-10}
case $times in *[!0-9]* | 0*) sed -n '5s/^# //p' "$0" >&2; exit 2 ;; esac
[ $# -eq 0 ] || shift
stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(tests sanitizers trixie)
for stage in "${stages[@]}"; do
  case $stage in tests | sanitizers | trixie) ;; *) die "the stage $stage runs no tests" "There are: tests sanitizers trixie" ;; esac
done

failed=0
failures=$(mktemp) || die "there is no folder for what is collected" "Set TMPDIR to one that can be written."
leave() {
  end_attended
  rm -f "$failures"
}
end_with leave
set -m # in a process group of its own each
for _ in $(seq "$(nproc)"); do
  while is_child_of "$BASHPID" $$; do :; done & # as long as this script
done
set +m

run_stage() {
  case $1 in
    tests) meson test -C build --no-rebuild --print-errorlogs --num-processes "$tests_at_once" --timeout-multiplier 3 ;;
    sanitizers) scripts/lane.sh trixie -- scripts/lane-tests.sh --sanitizers ;;
    trixie) scripts/lane.sh trixie -- scripts/lane-tests.sh ;;
  esac
}

# Meson is content where it finds none, and its exit code counts failures: 256 of them are 0.
all_have_passed() {
  grep -q '^Ok: *[1-9]' "$log" && ! grep -qE '^(Fail|Timeout|Unexpected Pass): *[1-9]' "$log"
}

mkdir -p build
log=build/repeat.log
for ((round = 1; round <= times; round++)); do
  for stage in "${stages[@]}"; do
    start=$SECONDS
    attended run_stage "$stage" >"$log" 2>&1 && all_have_passed && verdict=good || verdict=FAILED
    say "$round of $times: $stage $verdict, $((SECONDS - start)) s"
    [ "$verdict" != good ] || continue
    failed=$((failed + 1))
    cp "$log" "build/repeat-$stage-$round.log"
    say "  build/repeat-$stage-$round.log"
    # A stage that fails without a failing test has failed itself.
    grep -qE ' (FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS) ' "$log" || echo "stage $stage" | tee -a "$failures"
    sed -n 's/^ *[0-9]*\/[0-9]* \(.*[^ ]\) *\(FAIL\|TIMEOUT\|ERROR\|UNEXPECTEDPASS\) .*/\1/p' "$log" | sort -u | tee -a "$failures" | sed 's/^/  /'
  done
done
say "" "failed in $((times * ${#stages[@]})) runs:"
sort "$failures" | uniq -c
[ $failed -eq 0 ]
