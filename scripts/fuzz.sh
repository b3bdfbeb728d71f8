#!/usr/bin/env bash
# Fuzzes all that reads what others wrote: models, blobs, cache files, properties. Built by clang with AddressSanitizer and UBSan in
# build-fuzz, started from tests/fuzz/corpus: files with names, and an archive of inputs that earlier runs found. An input that makes a reader
# fail is left in build-fuzz.found/crashes. Real blobs that scripts/lane.sh compiler left in npucore's cache folder are seeds too.
#
# usage: scripts/fuzz.sh [SECONDS [TARGET...]]    SECONDS for all targets together, 60 when not given
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"

seconds=${1:-60}
case $seconds in *[!0-9]* | 0*) sed -n '6s/^# //p' "$0" >&2; exit 2 ;; esac
[ $# -eq 0 ] || shift
build=build-fuzz
found=$build.found # a build folder may be emptied
seeds=$cache_dir/fuzz-seeds
command -v clang++ >/dev/null || die "the fuzzers need clang" "Run scripts/setup.sh --all."

CC=clang CXX=clang++ quietly configure "$build" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
  -Doptimization=1 -Ddebug=false -Dc_args=-g1 '-Dcpp_args=-g1 -fsanitize=fuzzer-no-link -fno-sanitize-recover=all' ||
  die "$build could not be configured"
ninja -C "$build" fuzzers

# softnpu by its name only: clang 14's AddressSanitizer sees stale marks on its stack, in libFuzzer's own code.
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd "$build/tests/fuzz" && find . -maxdepth 1 -type f -perm -u+x -name 'fuzz-*' ! -name fuzz-softnpu | sed 's/^..fuzz-//' | sort)
share=$(((seconds * $(nproc) + ${#targets[@]} - 1) / ${#targets[@]}))

# fuzz TARGET: runs one for its share of the time. What it finds on the way stays in build-fuzz.found/inputs, for longer runs.
fuzz() {
  local name=$1 log=$build/fuzz-$1.log length=16384 folders=("$found/inputs/$1" "tests/fuzz/corpus/$1")
  mkdir -p "$found/crashes/$name" "$found/inputs/$name"
  if [ -f "tests/fuzz/corpus/$name.tar.xz" ]; then
    folders+=("$build/corpus/$name")
    mkdir -p "$build/corpus/$name" && tar -xf "tests/fuzz/corpus/$name.tar.xz" -C "$build/corpus/$name" || return 1
  fi
  if [ -d "$seeds/$name" ]; then
    folders+=("$seeds/$name")
    length=131072 # real blobs are of this size, and none is cut
  fi
  if timeout -k 10 $((share + 300)) "$build/tests/fuzz/fuzz-$name" -max_total_time="$share" -max_len=$length \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$found/crashes/$name/" "${folders[@]}" >"$log" 2>&1; then
    say "  $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, $(grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
  else
    say "  $name FAILED"
    tail -n 40 "$log" | sed 's/^/    /'
    say "  again: $build/tests/fuzz/fuzz-$name FILE, with the newest of:" "$(find "$found/crashes/$name" -type f -printf '    %p\n')"
    return 1
  fi
}

# TBB looks for its malloc in a way that AddressSanitizer refuses; the readers run no OpenVINO.
export TBB_ENABLE_SANITIZERS=1 UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1
export -f fuzz say
export build found seeds share
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I '{}' bash -c 'fuzz {}'
