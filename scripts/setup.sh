#!/usr/bin/env bash
# Installs what a build needs and this machine lacks: Debian packages, and OpenVINO from PyPI into .venv.
# A second run finds everything in place and does nothing.
#
# usage: scripts/setup.sh [--tests]    --tests adds what only scripts/test.sh uses
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

packages=(
  ca-certificates g++ meson ninja-build pkg-config cmake make python3 python3-venv
  libglib2.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libpango1.0-dev fonts-dejavu-core libpaho-mqtt-dev librdkafka-dev
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  libze-dev libze1 libpugixml-dev libyaml-cpp-dev libxxhash-dev nlohmann-json3-dev libcli11-dev libgtest-dev libbenchmark-dev
)
test_packages=(
  ccache clang clang-format debian-archive-keyring git mmdebstrap
  gir1.2-gst-rtsp-server-1.0 mosquitto mosquitto-clients openssl python3-gi
  libclang-rt-dev llvm mold busybox-static cpio kmod qemu-system-x86 xz-utils
)

for_tests=no
case ${1:-} in
  '') ;;
  --tests) packages+=("${test_packages[@]}") for_tests=yes ;;
  *) sed -n '5s/^# //p' "$0" >&2; exit 2 ;;
esac

install_packages() {
  local missing
  read -ra missing <<<"$(missing_packages "${packages[@]}")"
  [ ${#missing[@]} -gt 0 ] || return 0
  say "setup: installing ${#missing[@]} packages: ${missing[*]}"
  quietly as_root apt-get -q update ||
    die "apt-get update failed" "Check the network and apt's sources, then run this again."
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}" ||
    die "apt-get could not install the packages" "Its last lines are above. Tried: ${missing[*]}"
}

check_distribution() {
  local ID='' VERSION_ID='' ID_LIKE='' PRETTY_NAME='this system'
  # shellcheck disable=SC1091
  [ ! -r /etc/os-release ] || . /etc/os-release
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    die "$PRETTY_NAME has no apt, and this script knows only Debian's packages" \
      "Install their equals by hand (docs/building.md lists them), then build with meson. The list: ${packages[*]}"
  fi
  if [ "$ID" != debian ] || [ "${VERSION_ID:-0}" -lt 12 ]; then
    say "setup: written for Debian 12, this is $PRETTY_NAME; trying its packages of the same names"
  fi
}

# put WHAT STAMP REQUIREMENTS [pip's options]: into .venv, unless the stamp in it says that these are there
put() {
  local what=$1 stamp=$tree/.venv/$2 requirements=$tree/$3 wanted
  shift 3
  wanted=$(sha256sum <"$requirements")
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  say "setup: putting $what into .venv"
  # The distribution's own python3: another one on PATH may lack what its packages bring.
  "$tree/.venv/bin/python" -m pip --version >/dev/null 2>&1 || quietly /usr/bin/python3 -m venv "$tree/.venv" ||
    die "python3 could not make an environment in $tree/.venv" "Is the disk full, or the folder not yours?"
  quietly "$tree/.venv/bin/python" -m pip install --disable-pip-version-check --no-input "$@" -r "$requirements" ||
    die "pip could not install $(grep -v '^#' "$requirements" | tr '\n' ' ')" \
      "Check the network; behind a mirror, set pip's index-url (pip config) and run this again."
  printf '%s\n' "$wanted" >"$stamp"
}

check_distribution
install_packages
put "OpenVINO (about 280 MB)" npucore-requirements requirements.txt
if [ $for_tests = yes ]; then
  put "networks for tests (about 140 MB)" npucore-networks tests/networks/requirements.txt --no-deps --only-binary :all:
  put "clang-tidy (about 60 MB)" npucore-tidy scripts/tidy-requirements.txt --no-deps --only-binary :all:
fi
say "setup: everything is in place"
