#!/bin/sh
# The tree configures without each of its optional parts, and their tests are then left out.
# usage: configure_test.sh TREE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configure NAME SUITE-OR-TESTS-THAT-MUST-BE-GONE [options]
configure() {
  name=$1 gone=$2
  shift 2
  if ! meson setup "$work/$name" "$tree" "$@" >"$work/log" 2>&1; then
    tail -n 5 "$work/log"
    echo "configure: the tree does not configure with $*"
    exit 1
  fi
  if meson introspect --tests "$work/$name" | grep -Eq "\"(npucore:)?($gone)\""; then
    echo "configure: with $* there are still tests of $gone"
    exit 1
  fi
  meson introspect --tests "$work/$name" | grep -q '"npucore:ir"'
}

tree=$1
configure without-gst gst -Dgst=disabled
configure without-softnpu softnpu -Dsoftnpu=disabled
configure without-openvino bench -Dsoftnpu=disabled -Dgst=disabled -Dopenvino_dir=/nowhere
configure without-brokers "publish-mqtt|publish-kafka" -Dmqtt=disabled -Dkafka=disabled
configure without-publish "publish|publish-mqtt|publish-kafka|publish-failure|gst-publisher" -Dpublish=disabled
