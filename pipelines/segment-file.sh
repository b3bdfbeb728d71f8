#!/bin/sh
# Finds the outline of each object in a video file: every detection has a mask.
# usage: segment-file.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$(task_model segment)" device="$DEVICE" ! nputensordec ! npupublish ! fakesink
