#!/usr/bin/env bash
# Fuzzes all that reads what others wrote: models, blobs, cache files, properties. Built by clang with AddressSanitizer and
# UBSan in build-fuzz, started from tests/fuzz/corpus. An input that makes a reader fail is left in build-fuzz.found/crashes.
# Real blobs that scripts/lane.sh compiler left in npucore's cache folder are seeds too.
#
# usage: scripts/fuzz.sh [SECONDS [TARGET...]]    SECONDS for all targets together, 60 when not given
#        scripts/fuzz.sh --build                  only build them
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

case ${1:-60} in
  --build) ;;
  *[!0-9]* | 0*) sed -n '6,7s/^# //p' "$0" >&2; exit 2 ;;
esac
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=build-fuzz
found=$build.found # a build folder may be emptied
crashes=$found/crashes
corpus=tests/fuzz/corpus
seeds=$cache_dir/fuzz-seeds
largest=16384
largest_with_seeds=131072 # real blobs are of this size, and none is cut
longer=300                # seconds, beside its share, after which a fuzzer stands still

command -v clang++ >/dev/null || die "the fuzzers need clang" "Run scripts/setup.sh --tests."

build_fuzzers() {
  exec 9>"$build.lock"
  flock 9 # a build that is on its way beside other stages comes first
  CC=clang CXX=clang++ quietly configure "$build" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
    -Doptimization=1 -Ddebug=false -Dc_args=-g1 '-Dcpp_args=-g1 -fsanitize=fuzzer-no-link -fno-sanitize-recover=all' ||
    die "$build could not be configured"
  ninja -C "$build" fuzzers || die "the fuzzers do not build"
}

# fuzz TARGET: runs one for its share of the time. What it finds on the way stays in build-fuzz.found/inputs, for longer runs.
fuzz() {
  local name=$1 log=$build/fuzz-$1.log length=$largest inputs folders=("$found/inputs/$1" "$corpus/$1")
  mkdir -p "$crashes/$name" "$found/inputs/$name"
  if [ -d "$seeds/$name" ]; then
    folders+=("$seeds/$name")
    length=$largest_with_seeds
  fi
  if timeout --foreground -k 10 $((share + longer)) "$build/tests/fuzz/fuzz-$name" -max_total_time="$share" -max_len=$length \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$crashes/$name/" "${folders[@]}" >"$log" 2>&1 &&
    inputs=$(grep -x 'stat::number_of_executed_units: *[1-9][0-9]*' "$log"); then
    say "  $name: ${inputs##* } inputs, $(grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
    return 0
  fi
  say "  $name FAILED"
  tail -n 40 "$log" | sed 's/^/    /'
  say "  again: $build/tests/fuzz/fuzz-$name FILE, with the newest of:" "$(find "$crashes/$name" -type f -printf '    %p\n')"
  return 1
}

end_with end_attended
attended build_fuzzers || exit 1
[ "$seconds" != --build ] || exit 0
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for folder in "$corpus"/*/; do targets+=("$(basename -- "$folder")"); done
for target in "${targets[@]}"; do
  [ -x "$build/tests/fuzz/fuzz-$target" ] || die "no fuzzer is called $target" "There are: $(ls "$corpus" | tr '\n' ' ')"
done
jobs=$(nproc)
[ "$jobs" -le ${#targets[@]} ] || jobs=${#targets[@]}
share=$((seconds * jobs / ${#targets[@]}))
[ "$share" -gt 0 ] || share=1

# TBB looks for its malloc in a way that AddressSanitizer refuses; the readers run no OpenVINO.
export TBB_ENABLE_SANITIZERS=1 UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1
running=0 failed=0
set -m # each fuzzer in a process group of its own, which a signal ends
for target in "${targets[@]}"; do
  if [ "$running" -ge "$jobs" ]; then
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
  fi
  fuzz "$target" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=$((failed + 1))
  running=$((running - 1))
done
say "fuzz: $((${#targets[@]} - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
