#!/bin/sh
# The devices that the tests here need: without them nothing else of suite vm can say anything.
for device in /dev/udmabuf /dev/dma_heap/system /dev/dri/renderD128 /dev/media0; do
  [ -r "$device" ] && [ -w "$device" ] && continue
  echo "no $device: run these tests with scripts/lane.sh vm"
  exit 1
done
