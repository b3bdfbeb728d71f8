#!/bin/sh
# Detects objects in an H.264 video that an Intel GPU decodes, and prints one JSON line a frame. The GPU writes YU12 in lines into DMA-BUFs, which
# the NPU reads in place. Needs the plugin "va" (gstreamer1.0-plugins-bad) and GStreamer 1.24.
# usage: detect-va.sh [VIDEO.mp4]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! qtdemux ! h264parse ! vah264dec ! vapostproc ! \
  'video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=YU12' ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! fakesink
