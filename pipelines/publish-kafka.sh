#!/bin/sh
# Detects objects and publishes them to a topic of Kafka, each line once and in order: kcat -b localhost -t shapes shows them. Lines
# that come while the brokers are away wait for them.
# usage: [BROKERS=HOST:PORT,HOST:PORT] publish-kafka.sh [VIDEO] [kafka://HOST:PORT/TOPIC]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! \
  npupublish location="${2:-kafka://${BROKERS:-localhost}/shapes}" wall-clock=true stream-id=shapes
