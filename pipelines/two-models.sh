#!/bin/sh
# Runs two models on one video, each in its own branch, so that neither waits for the other.
# usage: MODEL=one.xml MODEL2=two.xml two-models.sh OUTPUT1.jsonl OUTPUT2.jsonl [VIDEO]
. "$(dirname -- "$0")/common.sh"
first=${1:?usage: two-models.sh OUTPUT1.jsonl OUTPUT2.jsonl [VIDEO]} second=${2:?usage: two-models.sh OUTPUT1.jsonl OUTPUT2.jsonl [VIDEO]}
launch filesrc location="${3:-$shapes/shapes.mp4}" ! decodebin ! tee name=t \
  t. ! queue ! npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! npupublish location="$first" ! fakesink \
  t. ! queue ! npuinfer model="${MODEL2:-$MODEL}" device="$DEVICE" ! nputensordec ! npupublish location="$second" ! fakesink
