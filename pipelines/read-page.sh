#!/bin/sh
# Reads a page: a network finds the lines of text, another reads each of them. Prints the text, and writes a picture of what was read.
# Both networks, and a page, are made in build/models/page at the first run, of rapidocr-onnxruntime's wheel: scripts/setup.sh --tests
# puts it into .venv.
# usage: [FINDER=FINDER.xml READER=READER.xml] read-page.sh OUT.jpg [PAGE.png]
. "$(dirname -- "$0")/common.sh"
out=${1:?usage: read-page.sh OUT.jpg [PAGE.png]}
page=$here/../models/page/page.py made=${MADE:-$here/../build/models/page} python=$here/../.venv/bin/python
[ -x "$python" ] || python=python3
if [ -z "$FINDER" ] || [ -z "$READER" ]; then
  [ -e "$made/reader/reader.xml" ] || "$python" "$page" networks "$made" || exit
fi
[ -n "$2" ] || "$python" "$page" page "$made" || exit
found=$(launch filesrc location="${2:-$made/page.png}" ! decodebin ! videoconvert ! \
  npuinfer model="${FINDER:-$made/finder/finder.xml}" device="$DEVICE" ! nputensordec ! \
  npuinfer model="${READER:-$made/reader/reader.xml}" device="$DEVICE" inference-region=roi-list input-shape=1,3,48,640 ! nputensordec ! \
  npupublish location=fd:3 ! npuoverlay ! videoconvert ! jpegenc ! filesink location="$out") || exit
printf '%s\n' "$found" | "$python" "$page" lines
