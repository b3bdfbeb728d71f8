#!/bin/sh
# The same with a model that is compiled once, for frames of one format and size, and then only loaded.
# usage: detect-precompiled.sh [VIDEO [FORMAT:WIDTHxHEIGHT]]
. "$(dirname -- "$0")/common.sh"
frame=${2:-I420:640x360}
blob=${BLOB:-${MODEL%.xml}-$(echo "$frame" | tr ':' '-').blob}
[ -f "$blob" ] && { [ -n "${BLOB-}" ] || [ "$blob" -nt "$MODEL" ]; } || "${NPU_COMPILE:-npu-compile}" "$MODEL" --device "$DEVICE" --frame "$frame" --matrix bt709 -o "$blob" >&2 || exit
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuimport model="$blob" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! fakesink
