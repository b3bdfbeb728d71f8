#!/bin/sh
# Detects objects in a camera's live video; late frames are published too. SOURCE is any live source:
#   v4l2src io-mode=dmabuf      its buffers are imported, not copied (the default)
#   libcamerasrc
#   rtspsrc location=rtsp://... latency=0 ! decodebin
# usage: SOURCE="v4l2src device=/dev/video1" detect-live.sh
. "$(dirname -- "$0")/common.sh"
# shellcheck disable=SC2086 # the words of SOURCE are the words of the line
launch ${SOURCE:-v4l2src io-mode=dmabuf} ! videoconvertscale ! video/x-raw,format=NV12 ! \
  npuinfer model="$MODEL" device="$DEVICE" nireq=2 ! nputensordec ! npupublish location=fd:3 ! fakesink sync=false
