#!/usr/bin/env bash
# Installs what a build needs and this machine lacks: Debian packages, and OpenVINO from PyPI into .venv.
# A second run finds everything in place and does nothing.
#
# usage: scripts/setup.sh [--tests | --all]    --tests: for scripts/test.sh, too; --all: for scripts/test.sh --all
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

packages=(
  ca-certificates g++ meson ninja-build pkg-config cmake make python3 python3-dev python3-venv
  libglib2.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libpango1.0-dev fonts-dejavu-core libmosquitto-dev librdkafka-dev
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  libze-dev libze1 libpugixml-dev libyaml-cpp-dev libsoup-3.0-dev libxxhash-dev nlohmann-json3-dev libcli11-dev libgtest-dev libbenchmark-dev
)
test_packages=(gir1.2-gst-plugins-base-1.0 gir1.2-gst-rtsp-server-1.0 libgirepository1.0-dev mold mosquitto mosquitto-clients openssl python3-gi)
all_packages=(
  ccache chromium chromium-driver clang clang-format debian-archive-keyring git libclang-rt-dev llvm mmdebstrap
  cpio qemu-system-x86
)

case ${1:-} in
  '') ;;
  --tests) packages+=("${test_packages[@]}") ;;
  --all) packages+=("${test_packages[@]}" "${all_packages[@]}") ;;
  *) sed -n '5s/^# //p' "$0" >&2; exit 2 ;;
esac

check_distribution() {
  local ID='' VERSION_ID='' PRETTY_NAME='this system'
  # shellcheck disable=SC1091
  [ ! -r /etc/os-release ] || . /etc/os-release
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    die "$PRETTY_NAME has no apt, and this script knows only Debian's packages" \
      "Install their equals by hand (docs/building.md lists them), then build with meson. The list: ${packages[*]}"
  fi
  case $ID:${VERSION_ID%%.*} in
    debian:12 | debian:13) ;;
    *) say "  tried on Debian 12 and 13, this is $PRETTY_NAME: packages of the same names are taken" ;;
  esac
}

pip() {
  "$tree/.venv/bin/python" -m pip "$@"
}

# put WHAT STAMP REQUIREMENTS COMMAND [OPTION...]: has a command put these into .venv, unless a stamp says that they are there
put() {
  local what=$1 stamp=$tree/.venv/$2 requirements=$tree/$3 wanted
  wanted=$(sha256sum <"$requirements")
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  say "  putting $what into .venv"
  # The distribution's own python3: another one on PATH may lack what its packages bring.
  pip --version >/dev/null 2>&1 || quietly /usr/bin/python3 -m venv "$tree/.venv" ||
    die "python3 could not make an environment in $tree/.venv" "Is the disk full, or the folder not yours?"
  "$4" "$requirements" "${@:5}"
  printf '%s\n' "$wanted" >"$stamp"
}

install_wheels() {
  quietly pip install --disable-pip-version-check --no-input "${@:2}" -r "$1" ||
    die "pip could not install $(grep -v '^#' "$1" | tr '\n' ' ')" \
      "Check the network; behind a mirror, set pip's index-url (pip config) and run this again."
}

# Wheels that tests read, one by one: a wheel that this Python or machine cannot have only skips its tests. Their files serve whatever
# Python the package asks for.
install_test_wheels() {
  local wheel
  while read -r wheel; do
    pip install -q --disable-pip-version-check --no-input --no-deps --only-binary :all: --ignore-requires-python "$wheel" >/dev/null 2>&1 ||
      say "  no wheel of $wheel is to be had here: its tests are skipped"
  done < <(grep -v '^#' "$1")
}

check_distribution
install_packages "${packages[@]}"
put "OpenVINO (about 280 MB)" npucore-requirements requirements.txt install_wheels
put "nanobind" npucore-python python/requirements.txt install_wheels
case ${1:-} in --*) put "networks for tests (about 190 MB)" npucore-networks tests/networks/requirements.txt install_test_wheels ;; esac
case ${1:-} in --all) put "clang-tidy (about 60 MB)" npucore-tidy scripts/tidy-requirements.txt install_wheels --no-deps --only-binary :all: ;; esac
say "setup: everything is in place"
