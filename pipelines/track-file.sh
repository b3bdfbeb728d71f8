#!/bin/sh
# Follows objects through a video: each has an identity that lasts, and a box on every frame though only every third is inferred.
# usage: [SINK=autovideosink] track-file.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SINK are words of the line
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" inference-interval=3 ! nputensordec threshold=0.2 ! nputrack ! npupublish location=fd:3 ! \
  npuoverlay ! videoconvert ! $SINK
