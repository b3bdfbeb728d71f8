#!/bin/sh
# Detects objects in a camera that sends JPEG pictures, as most USB cameras do at their full size.
# usage: SOURCE="v4l2src device=/dev/video1" detect-camera-mjpg.sh [WIDTH HEIGHT]
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SOURCE are the words of the line
launch ${SOURCE:-v4l2src} ! image/jpeg,width="${1:-1280}",height="${2:-720}" ! jpegdec ! \
  npuinfer model="$MODEL" device="$DEVICE" drop=late ! nputensordec ! npupublish location=fd:3 ! fakesink sync=false
