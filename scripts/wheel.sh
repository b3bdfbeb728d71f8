#!/usr/bin/env bash
# Builds the wheel of the Python package npucore, for Python 3.11 and newer.
#
# usage: scripts/wheel.sh [FOLDER]    FOLDER: where the wheel goes; default dist
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

folder=$(realpath -m -- "${1:-$tree/dist}")
cd "$tree"
# The oldest Python that the wheel is for builds it: its name says from which on it can be installed.
python=$tree/.venv/bin/python
[ -x "$python" ] || die "there is no environment in $tree/.venv" "Run scripts/setup.sh."
rm -f "$folder"/npucore-*.whl
export CC_LD=bfd CXX_LD=bfd # mold 1.10 takes all memory for --exclude-libs of archives
"$python" -m pip wheel --disable-pip-version-check --no-deps -w "$folder" \
  --config-settings=builddir=build-wheel --config-settings=setup-args=-Dcpp_link_args=-s . ||
  die "pip could not build the wheel" "Its last lines are above; it needs the network for meson-python and nanobind."
