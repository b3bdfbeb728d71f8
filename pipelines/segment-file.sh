#!/bin/sh
# Finds the outline of each object in a video file: every detection has a mask.
# usage: [SINK=autovideosink] segment-file.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SINK are words of the line
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$(task_model segment)" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! \
  npuoverlay ! videoconvert ! $SINK
