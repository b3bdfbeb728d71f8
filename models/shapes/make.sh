#!/usr/bin/env bash
# Makes the demo model and its clip again from nothing: pictures, training, IR, clip, figures. About 20 minutes on 2 cores.
#
# usage: models/shapes/make.sh [WORK_FOLDER]    default: build-shapes/, kept, so that a second run trains at once
# Needs scripts/setup.sh to have run, and GStreamer's x264enc (Debian: gstreamer1.0-plugins-ugly).
set -euo pipefail
cd "$(dirname -- "$0")"
tree=$(cd ../.. && pwd)
work=$(realpath -m -- "${1:-$tree/build-shapes}")
python=$tree/.venv/bin/python
mkdir -p "$work"

[ -x "$python" ] || { echo "make.sh: $python is missing: run scripts/setup.sh first" >&2; exit 1; }
gst-inspect-1.0 --exists x264enc || { echo "make.sh: x264enc is missing: install gstreamer1.0-plugins-ugly" >&2; exit 1; }

if [ ! -x "$work/venv/bin/python" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q -r requirements-train.txt
fi

"$python" generate.py .
[ -f "$work/pictures.npz" ] || OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" dataset.py "$work/pictures.npz"
"$work/venv/bin/python" train.py "$work/pictures.npz" "$work/weights.npz"
"$python" export.py "$work/weights.npz" .
"$python" colors.py .
"$python" predict.py --png "$work/detections.png" shapes.xml shapes.mp4 "$work/detections.jsonl"
"$python" evaluate.py --minimum 0.9 shapes.truth.jsonl "$work/detections.jsonl"
ls -l shapes.xml shapes.bin shapes.mp4
