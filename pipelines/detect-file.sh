#!/bin/sh
# Detects objects in a video file of any kind and prints one JSON line per frame.
# usage: detect-file.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! fakesink
