#!/bin/sh
# Reads the line of digits that a camera always sees at the same place: LEFT, TOP, RIGHT and BOTTOM pixels of the frame are not looked at.
# usage: [LEFT=N TOP=N RIGHT=N BOTTOM=N] read-meter.sh [VIDEO]
. "$(dirname -- "$0")/common.sh"
digits=$here/../models/digits
: "${READER:=$digits/digits.xml}"
launch filesrc location="${1:-$digits/meter.mp4}" ! decodebin ! \
  videocrop left="${LEFT:-72}" top="${TOP:-72}" right="${RIGHT:-72}" bottom="${BOTTOM:-72}" ! \
  npuinfer model="$READER" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! fakesink
