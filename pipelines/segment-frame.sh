#!/bin/sh
# Finds which class each place of a video file is of: a map of the whole frame.
# usage: [SINK=autovideosink] segment-frame.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SINK are words of the line
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$(task_model semantic)" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! \
  npuoverlay ! videoconvert ! $SINK
