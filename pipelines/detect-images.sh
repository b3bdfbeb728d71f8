#!/bin/sh
# Detects objects in numbered JPEG files.
# usage: [FIRST=1] detect-images.sh 'photos/%05d.jpg'
. "$(dirname -- "$0")/common.sh"
launch multifilesrc location="${1:?usage: detect-images.sh 'photos/%05d.jpg'}" start-index="${FIRST:-0}" caps=image/jpeg,framerate=1/1 ! \
  jpegdec ! npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npupublish location=fd:3 ! fakesink sync=false
