#!/bin/sh
# Detects objects with boxes that are turned as the objects are.
# usage: detect-turned.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$(task_model obb)" device="$DEVICE" ! nputensordec ! npupublish ! fakesink
