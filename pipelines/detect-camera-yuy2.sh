#!/bin/sh
# Detects objects in a camera that sends YUY2 pictures. The model takes them as they are: nothing converts them.
# usage: SOURCE="v4l2src device=/dev/video1 io-mode=dmabuf" detect-camera-yuy2.sh [WIDTH HEIGHT]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SOURCE are the words of the line
launch ${SOURCE:-v4l2src io-mode=dmabuf} ! video/x-raw,format=YUY2,width="${1:-640}",height="${2:-480}" ! \
  npuinfer model="$MODEL" device="$DEVICE" drop=late ! nputensordec ! npupublish location=fd:3 ! fakesink sync=false
