#!/bin/sh
# Detects objects in a network camera, and connects again whenever the stream ends or fails. Lines are added to OUTPUT. Ctrl+C ends it.
# usage: [WAIT=SECONDS DROP=none] detect-rtsp.sh rtsp://... OUTPUT.jsonl
. "$(dirname -- "$0")/common.sh"
url=${1:?usage: detect-rtsp.sh rtsp://... OUTPUT.jsonl} output=${2:?usage: detect-rtsp.sh rtsp://... OUTPUT.jsonl}
stop() {
  kill "$player" 2>/dev/null
  wait "$player"
  exit 0
}
trap stop INT TERM
while :; do
  launch rtspsrc location="$url" protocols=tcp latency=100 tcp-timeout=5000000 ! decodebin ! \
    npuinfer model="$MODEL" device="$DEVICE" drop="${DROP:=late}" ! nputensordec ! \
    npupublish location="$output" append=true ! fakesink sync=false &
  player=$!
  wait "$player"
  echo "the stream ended; connecting again in ${WAIT:=2} s" >&2
  sleep "$WAIT" &
  player=$!
  wait "$player"
done
