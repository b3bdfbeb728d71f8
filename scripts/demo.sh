#!/usr/bin/env bash
# Installs what is missing, builds, and plays a video through a detector on the NPU: once with the model itself, once with a
# blob compiled ahead of time; then draws what was found. Without an NPU the software NPU does the same on the CPU.
#
# usage: scripts/demo.sh
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"
end_with end_attended

model=models/shapes/shapes.xml
clip=models/shapes/shapes.mp4
out=build/demo
blob=$out/shapes.blob
plugins=$tree/build/gst/plugin
export GST_PLUGIN_PATH=$plugins
# Plain messages whatever the user's language: they are read below.
export LC_ALL=C.UTF-8

build() {
  [ -f build/build.ninja ] || attended quietly configure_here || die "meson could not configure the build" "Its last lines are above."
  [ -e "$plugins/libgstnpu.so" ] || say "building: this takes a few minutes, the first time only"
  attended quietly ninja -C build gst/plugin/libgstnpu.so softnpu/libze_softnpu.so tools/npu_info/npu-info tools/npu_compile/npu-compile || die "the build failed" "Its last lines are above."
}

# field CAPS NAME
field() { sed -n "s/.*[, ]$2=([a-z]*)\([^,]*\).*/\1/p" <<<"$1"; }

# Prints npu-compile's options for the frames that the clip's decoder gives.
frame_options() {
  local caps matrix range=limited
  gst-launch-1.0 -v filesrc location=$clip ! decodebin ! fakesink num-buffers=1 >"$out/log" 2>&1 &&
    caps=$(grep -m 1 'GstFakeSink.*sink: caps = video/x-raw' "$out/log") ||
    die "this machine's GStreamer cannot decode $clip" "Run scripts/setup.sh."
  case $(field "$caps" colorimetry) in
    bt709) matrix=bt709 ;;
    bt2020*) matrix=bt2020 ;;
    1:*) matrix=bt601 range=full ;;
    *) matrix=bt601 ;;
  esac
  printf '%s' "--frame $(field "$caps" format):$(field "$caps" width)x$(field "$caps" height) --matrix $matrix --range $range"
}

# Runs a line of the demo as it stands, keeping what it prints.
run() {
  say "    $1"
  attended bash -c "$1" >"$out/log" 2>&1 || {
    cat "$out/log" >&2
    die "this line failed: $1"
  }
}

# play DETECTIONS ELEMENT: plays the clip through one of the two elements and shows what came out.
play() {
  local detections=$1 element=$2 frames seconds
  rm -f "$detections"
  run "gst-launch-1.0 filesrc location=$clip ! decodebin ! $element ! nputensordec ! npupublish location=$detections"
  frames=$(wc -l <"$detections")
  seconds=$(sed -n 's/^Execution ended after \([0-9]*\):\([0-9]*\):\([0-9.]*\)$/\1 \2 \3/p' "$out/log" |
    awk '{ print $1 * 3600 + $2 * 60 + $3 }')
  say "" "    ran on      $(where_it_ran)"
  say "    rate        $(awk -v n="$frames" -v s="$seconds" 'BEGIN { printf "%.1f frames/s (%d frames in %.2f s)", n / s, n, s }')"
  say "    detections  $(grep -o '"label"' "$detections" | wc -l) in $detections, one line per frame:"
  # Some of the short ones.
  awk 'NR % 10 == 0 { line = $0; if (gsub(/"label":/, "") <= 5 && shown++ < 2) print "      " line }' "$detections"
  say ""
}

# The element warns when it falls back on the software NPU.
where_it_ran() {
  if grep -q 'no NPU was found' "$out/log"; then
    say "software NPU: no NPU found (build/tools/npu_info/npu-info says what is missing)"
  else
    build/tools/npu_info/npu-info | head -n 1
  fi
}

scripts/setup.sh
mkdir -p "$out"
build

say "" "To paste the lines below, first:" "" "    cd $tree && export GST_PLUGIN_PATH=$plugins" ""
say "1. A video through the model itself: npuinfer compiles it for these frames" ""
play $out/infer.jsonl "npuinfer model=$model"
say "2. The same model compiled ahead of time to a blob, played by npuimport" ""
options=$(frame_options)
run "build/tools/npu_compile/npu-compile $model -o $blob $options"
play $out/import.jsonl "npuimport model=$blob"
say "3. What was found, drawn on the frames" ""
video=$out/shapes.avi
run "gst-launch-1.0 filesrc location=$clip ! decodebin ! npuinfer model=$model ! nputensordec ! npuoverlay ! queue ! jpegenc ! avimux ! filesink location=$video"
say "" "    $video shows the clip with boxes and labels; any video player plays it"
