#!/usr/bin/env bash
# Runs pipelines and requests for hours, with state changes, seeks and lost devices, and for as long one pipeline with every
# element that never ends and whose brokers are away. Fails when one of them fails, and when memory, descriptors, threads or
# the driver's objects have grown since they had warmed up.
#
# usage: scripts/soak.sh HOURS    0.1 is six minutes, half of them for each
set -uo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree" || exit 1

case ${1:-} in '' | *[!0-9.]*) sed -n '6s/^# //p' "$0" >&2; exit 2 ;; esac
seconds=$(awk -v hours="$1" 'BEGIN { printf "%d", hours * 1800 }')
[ "$seconds" -ge 30 ] || die "$1 hours are too short to tell anything" "Give at least 0.02."
[ -f build/build.ninja ] || quietly configure_here || die "build could not be configured"
ninja -C build tests/soak/soak gst/plugin/libgstnpu.so gst/plugin/libgstnpupublish.so softnpu/libze_softnpu.so || die "the soak does not build"
export GST_PLUGIN_PATH=$tree/build/gst/plugin GST_REGISTRY=$tree/build/gst-registry.bin GST_REGISTRY_FORK=no NPU_SHAPES_FOLDER=$tree/models/shapes
env SOFTNPU_EXEC=null build/tests/soak/soak "$seconds" && build/tests/soak/soak "$seconds" chain
