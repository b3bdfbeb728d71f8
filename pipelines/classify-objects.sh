#!/bin/sh
# Detects objects and classifies each: a cascade. The demo's second model tells the colours of the shapes apart.
# usage: [MODEL2=CLASSIFIER.xml] classify-objects.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! \
  npuinfer model="${MODEL2:-$shapes/colors.xml}" device="$DEVICE" inference-region=roi-list ! nputensordec ! \
  npupublish location=fd:3 ! fakesink
