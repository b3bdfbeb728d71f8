#!/bin/sh
# Detects objects in four videos with one copy of the model, which they share by model-instance-id, and shows them side by side.
# usage: [SINK=autovideosink] four-streams.sh OUTPUT_FOLDER [VIDEO VIDEO VIDEO VIDEO]
. "$(dirname -- "$0")/common.sh"
folder=${1:?usage: four-streams.sh OUTPUT_FOLDER [VIDEO VIDEO VIDEO VIDEO]}
video=$shapes/shapes.mp4
infer="npuinfer device=$DEVICE model-instance-id=shared"
small="npuoverlay ! videoscale ! video/x-raw,width=320,height=180 ! queue"
# shellcheck disable=SC2086 # the words of SINK, infer and small are words of the line
launch compositor name=mosaic sink_1::xpos=320 sink_2::ypos=180 sink_3::xpos=320 sink_3::ypos=180 ! videoconvert ! $SINK \
  filesrc location="${2:-$video}" ! decodebin ! $infer model="$MODEL" ! nputensordec ! npupublish location="$folder/1.jsonl" ! $small ! mosaic. \
  filesrc location="${3:-$video}" ! decodebin ! $infer model="$MODEL" ! nputensordec ! npupublish location="$folder/2.jsonl" ! $small ! mosaic. \
  filesrc location="${4:-$video}" ! decodebin ! $infer model="$MODEL" ! nputensordec ! npupublish location="$folder/3.jsonl" ! $small ! mosaic. \
  filesrc location="${5:-$video}" ! decodebin ! $infer model="$MODEL" ! nputensordec ! npupublish location="$folder/4.jsonl" ! $small ! mosaic.
