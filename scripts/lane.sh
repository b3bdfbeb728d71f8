#!/usr/bin/env bash
# Runs commands for this tree in another Debian release, whose compiler, Level Zero loader and GStreamer are newer than those of
# Debian 12. The release lives in a chroot that is made once and kept outside the tree.
#
# usage: scripts/lane.sh trixie|sid            build and run the tests there (scripts/lane-tests.sh)
#        scripts/lane.sh trixie|sid --make     only make the chroot, and print its folder
#        scripts/lane.sh trixie|sid -- COMMAND run a command there, in the tree
#        scripts/lane.sh vm ...                the same in a guest with real DMA-BUF devices (scripts/lane-vm.sh)
#        scripts/lane.sh compiler [all]        ask Intel's own NPU compiler what it takes (scripts/lane-compiler.sh)
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

packages=(
  ccache g++ mold meson ninja-build pkg-config python3 python3-gi python3-numpy gir1.2-gst-rtsp-server-1.0
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libpango1.0-dev fonts-dejavu-core
  libmosquitto-dev librdkafka-dev mosquitto mosquitto-clients openssl
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  libze-dev libze1 libpugixml-dev libyaml-cpp-dev libxxhash-dev nlohmann-json3-dev libcli11-dev libgtest-dev libbenchmark-dev
)

usage() {
  sed -n '5,9s/^# //p' "$0" >&2
  exit 2
}

# A changed package list makes a new folder. Another clone of the tree may still use the one before it: it goes after a week without use.
make_chroot() {
  make_debian "$suite" "$1" "${packages[@]}"
  find "$lanes_dir" -mindepth 1 -maxdepth 1 -name "$suite-*" -mtime +7 -exec rm -rf --one-file-system {} +
}

enter() {
  local root=$1
  shift
  unshare --mount true 2>/dev/null || die "mounting folders is not allowed here, and a lane needs it" "In a container: docker run --privileged."
  unshare --mount bash -c "$(declare -f enter_mounted); enter_mounted \"\$@\"" enter \
    "$suite" "$root" "$tree" "$lanes_dir/compiled-$suite" "$(shared_folders | tr '\n' ':')" "$@"
}

# Runs in a mount namespace of its own, so every mount ends with it. The tree may lie below /tmp.
enter_mounted() {
  local suite=$1 root=$2 tree=$3 compiled=$4 folder folders
  IFS=: read -ra folders <<<"$5"
  shift 5
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs tmpfs "$root/tmp"
  mkdir -p "$compiled" "$root/root/.cache/npucore/ccache"
  mount --bind "$compiled" "$root/root/.cache/npucore/ccache"
  for folder in "${folders[@]}"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
  done
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 LANE="$suite" \
    /bin/sh -c 'cd "$1" && shift && exec "$@"' lane "$tree" "$@"
}

[ $# -ge 1 ] || usage
suite=$1
shift
case $suite in
  trixie | sid) ;;
  vm) exec "$tree/scripts/lane-vm.sh" "$@" ;;
  compiler) exec "$tree/scripts/lane-compiler.sh" "$@" ;;
  *) usage ;;
esac
[ "$(id -u)" -eq 0 ] || die "a lane needs root (it makes and enters a chroot)" "Run: sudo scripts/lane.sh $suite"
[ -e "$tree/.venv" ] || die "$tree/.venv is missing" "Run scripts/setup.sh first."

root=$lanes_dir/$suite-$(printf '%s\n' "${packages[@]}" | sha256sum | cut -c1-12)
[ -d "$root" ] || make_chroot "$root"
touch "$root" # used today

case ${1:-} in
  '') enter "$root" scripts/lane-tests.sh ;;
  --make) say "$root" ;;
  --) shift && enter "$root" "$@" ;;
  *) usage ;;
esac
