#!/bin/sh
# Runs the model on every third frame and records the whole video to a file, with the detections beside it.
# usage: detect-and-record.sh OUTPUT.avi [VIDEO]
. "$(dirname -- "$0")/common.sh"
output=${1:?usage: detect-and-record.sh OUTPUT.avi [VIDEO]}
launch filesrc location="${2:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" inference-interval=3 ! nputensordec ! npupublish location="$output.jsonl" ! \
  queue ! jpegenc ! avimux ! filesink location="$output"
