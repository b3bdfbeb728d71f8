#!/bin/sh
# Counts who crosses a line, here the middle of the frame, and who is in its right half.
# usage: [PLACES=places.json] count-at-line.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec threshold=0.2 ! nputrack ! \
  npucount anchor=center location="${PLACES:-$here/middle.json}" ! npupublish location=fd:3 ! fakesink
