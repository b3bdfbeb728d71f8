#!/bin/sh
# Finds the key points of each object in a video file: joints of people, or the corners of the demo's squares.
# usage: [SINK=autovideosink] find-key-points.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SINK are words of the line
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$(task_model pose)" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! \
  npuoverlay ! videoconvert ! $SINK
