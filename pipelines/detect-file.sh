#!/bin/sh
# Detections of a video file of any kind, one JSON line a frame on the standard output.
# usage: detect-file.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npupublish ! fakesink
