#!/bin/sh
# The same for H.264 in MP4, decoded on the CPU straight into the NPU's memory: with
# direct-rendering=false libav's decoder takes the buffers that npuinfer offers.
# usage: detect-file-in-place.sh [VIDEO.mp4]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! qtdemux ! h264parse ! avdec_h264 direct-rendering=false ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! fakesink
