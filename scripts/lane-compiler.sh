#!/usr/bin/env bash
# Asks Intel's own NPU compiler, for every platform, whether it takes what npucore makes: sets the compiler up (scripts/setup-compiler.sh)
# and runs the tests of suite compiler in the build of stage tests. Needs no NPU.
#
# usage: scripts/lane.sh compiler          a sample of the graphs, and all other tests
#        scripts/lane.sh compiler all      every graph, which takes an hour
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"

case ${1:-} in
  '') ;;
  all) export NPU_COMPILER_GRAPHS=all ;;
  *) sed -n '5,6s/^# //p' "$0" >&2; exit 2 ;;
esac

configure_here
NPUCORE_COMPILER_LIBRARY=$(scripts/setup-compiler.sh | sed -n 's/^export NPUCORE_COMPILER_LIBRARY=//p')
[ -n "$NPUCORE_COMPILER_LIBRARY" ] || die "the compiler could not be set up" "What went wrong is above."
export NPUCORE_COMPILER_LIBRARY SOFTNPU_COMPILER_LIBRARY=$NPUCORE_COMPILER_LIBRARY
# Networks out of packages, where OpenVINO's Python can convert them: one, or all. Not beside a folder of one's own.
python=$(scripts/find-openvino.sh)/../../../../bin/python3
if [ -z "${NPU_COMPILER_NETWORKS-}" ] && "$python" -c 'import openvino' 2>/dev/null; then
  export NPU_COMPILER_NETWORKS=$cache_dir/public-networks${1:+-all}
  "$python" tests/compiler/fetch_networks.py "$NPU_COMPILER_NETWORKS" ${1:+--all}
fi
# The blobs of the compiler are seeds for scripts/fuzz.sh.
export NPU_FUZZ_SEEDS=$cache_dir/fuzz-seeds
ninja -C build build.ninja
targets=$(scripts/test-targets.py build compiler)
# shellcheck disable=SC2086  # words
ninja -C build $targets
exec meson test -C build --no-rebuild --print-errorlogs --num-processes 2 --setup compiler --suite npucore:compiler
