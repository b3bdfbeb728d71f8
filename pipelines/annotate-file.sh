#!/bin/sh
# Draws on each frame of a video what was found in it, and records that.
# usage: annotate-file.sh OUTPUT.avi [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${2:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npuoverlay ! \
  queue ! jpegenc ! avimux ! filesink location="${1:?usage: annotate-file.sh OUTPUT.avi [VIDEO]}"
