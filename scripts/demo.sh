#!/usr/bin/env bash
# Installs what is missing, builds, and plays a video through a detector on the NPU: once with the model itself, once with a
# blob compiled ahead of time; then draws what was found. Without an NPU the software NPU does the same on the CPU.
#
# usage: scripts/demo.sh
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
[ $# -eq 0 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
cd "$tree"

clip=models/shapes/shapes.mp4
out=build/demo
plugins=$tree/build/gst/plugin
info=build/tools/npu_info/npu-info
export GST_PLUGIN_PATH=$plugins
# Plain messages whatever the user's language: they are read below.
export LC_ALL=C.UTF-8

step() { say "" "[$1/5] $2"; }

# Prints a line for each tenth of what ninja tells.
tenths() {
  local at all tenth=0
  while IFS='[/]' read -r _ at all _; do
    if [ -n "$all" ] && [ $((at * 10 / all)) -gt $tenth ]; then
      tenth=$((at * 10 / all))
      say "  $at of $all"
    fi
  done
}

# The terminal gets ninja's own progress line, a file a line for each tenth.
build() {
  local targets=(gst/plugin/libgstnpu.so gst/plugin/libgstnpupublish.so softnpu/libze_softnpu.so tools/npu_info/npu-info tools/npu_compile/npu-compile)
  quietly configure_here || die "meson could not configure the build" "Its last lines are above."
  if [ -t 1 ]; then
    ninja -C build "${targets[@]}" || die "the build failed" "Its last lines are above."
  elif ! ninja -C build "${targets[@]}" 2>&1 | tee "$out.log" | tenths; then
    tail -n 40 "$out.log" >&2
    die "the build failed" "Its last lines are above."
  fi
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
  say "  \$ $1"
  bash -c "$1" >"$out/log" 2>&1 || {
    cat "$out/log" >&2
    die "this line failed: $1"
  }
}

# found FILE: "1920 detections in 300 frames: 640 circles, ..."
found() {
  local counts
  counts=$(grep -o '"label":"[^"]*"' "$1" | cut -d '"' -f 4 | sort | uniq -c | sort -rn | awk '{ printf "%s%s %ss", sep, $1, $2; sep = ", " }')
  printf '%s' "$(grep -o '"label":' "$1" | wc -l) detections in $(wc -l <"$1") frames: $counts"
}

# play DETECTIONS ELEMENT: plays the clip through one of the two elements and shows what came out.
play() {
  local detections=$1 rate where
  rm -f "$detections"
  run "gst-launch-1.0 filesrc location=$clip ! decodebin ! $2 ! nputensordec ! npupublish location=$detections"
  rate=$(sed -n 's/^Execution ended after \([0-9]*\):\([0-9]*\):\([0-9.]*\)$/\1 \2 \3/p' "$out/log" |
    awk -v frames="$(wc -l <"$detections")" '{ printf "%.0f frames/s", frames / ($1 * 3600 + $2 * 60 + $3) }')
  # The element warns when it falls back on the software NPU.
  if grep -q 'no NPU was found' "$out/log"; then where="the software NPU, as no NPU was found ($info says what is missing)"; else where=$($info | sed -n 1p); fi
  say "  ran at $rate on $where" "  $(found "$detections")"
}

say "The first run takes five to ten minutes: it installs packages, fetches OpenVINO (280 MB) for the software NPU, and builds."
step 1 "Installing what is missing"
scripts/setup.sh
mkdir -p "$out"
step 2 "Building"
build
step 3 "A video through the model itself: npuinfer compiles it for these frames"
play $out/infer.jsonl "npuinfer model=models/shapes/shapes.xml"
say "  one frame's line of $out/infer.jsonl:"
sed -n '150s/.*"detections":/{... "detections":/p' $out/infer.jsonl | cut -c "1-$(($(tput cols 2>/dev/null || echo 100) - 4))" | sed 's/^/    /'
step 4 "The same model compiled ahead of time, played by npuimport"
run "build/tools/npu_compile/npu-compile models/shapes/shapes.xml -o $out/shapes.blob $(frame_options)"
play $out/import.jsonl "npuimport model=$out/shapes.blob"
step 5 "The same, drawn on the frames"
run "gst-launch-1.0 filesrc location=$clip ! decodebin ! npuinfer model=models/shapes/shapes.xml ! nputensordec ! npuoverlay ! queue ! jpegenc ! avimux ! filesink location=$out/shapes.avi"
gst-launch-1.0 -q filesrc location=$out/shapes.avi ! avidemux ! identity eos-after=151 ! multifilesink location=$out/shapes.jpg
say "  the video:     $tree/$out/shapes.avi" "  one frame:     $tree/$out/shapes.jpg"
say "" "To run such lines yourself:  cd $(printf %q "$tree") && export GST_PLUGIN_PATH=\$PWD/build/gst/plugin"
