#!/bin/sh
# Detects objects and publishes them to an MQTT broker, so that other machines see them: mosquitto_sub -t 'npu/#' shows them. Lines
# that come while the broker is away wait for it.
# usage: [QOS=1] publish-mqtt.sh [VIDEO] [mqtt://HOST:PORT/TOPIC]
. "$(dirname -- "$0")/common.sh"
launch filesrc location="${1:-$shapes/shapes.mp4}" ! decodebin ! \
  npuinfer model="$MODEL" device="$DEVICE" ! nputensordec ! \
  npupublish location="${2:-mqtt://localhost/npu/shapes}" broker-config="qos=${QOS:-1}" wall-clock=true stream-id=shapes
