#!/bin/sh
# Detects objects with boxes that are turned as the objects are.
# usage: [SINK=autovideosink] detect-turned.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SINK are words of the line
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$(task_model obb)" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! \
  npuoverlay ! videoconvert ! $SINK
