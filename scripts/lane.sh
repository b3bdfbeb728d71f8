#!/usr/bin/env bash
# Builds the tree and runs its tests inside another Debian release, whose Level Zero loader and GStreamer are newer than
# those of Debian 12. The release lives in a chroot that is made once and kept outside the tree.
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
  libpaho-mqtt-dev librdkafka-dev mosquitto mosquitto-clients openssl
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  libze-dev libze1 libpugixml-dev libyaml-cpp-dev libxxhash-dev nlohmann-json3-dev libcli11-dev libgtest-dev libbenchmark-dev
)

usage() {
  sed -n '5,9s/^# //p' "$0" >&2
  exit 2
}

# A mirror's copy of sid may be older than sid's own lists allow; the signature is checked all the same.
make_chroot() {
  local root=$1 archive work keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -f "$keyring" ] || die "$keyring is missing" "Install debian-archive-keyring."
  archive=$(debian_archive)
  [ -n "$archive" ] || die "apt knows no Debian archive on this machine" "Run apt-get update, then try again."
  say "lane $suite: making a chroot in $root (about 2 GB, some minutes; only once)" >&2
  work=$root.new
  rm -rf --one-file-system "$work"
  quietly mmdebstrap --variant=apt --mode=root \
    --aptopt='APT::Install-Recommends "false"' \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='force-unsafe-io' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --include="$(IFS=,; echo "${packages[*]}")" \
    "$suite" "$work" "deb [signed-by=$keyring] $archive $suite main" ||
    die "mmdebstrap could not make Debian $suite from this machine's archive" "Its last lines are above."
  rm -rf --one-file-system "$work/var/cache/apt/archives" "$work/var/lib/apt/lists"
  rm -rf --one-file-system "$root"
  mv "$work" "$root"
  remove_unused_chroots
}

# A changed package list makes a new folder. Another clone of the tree may still use the one before it: it goes after a week without use.
remove_unused_chroots() {
  find "$lanes_dir" -mindepth 1 -maxdepth 1 -name "$suite-*" -mtime +7 -exec rm -rf --one-file-system {} +
}

enter() {
  local root=$1
  shift
  if unshare --mount true 2>/dev/null && unshare --mount mount --bind "$tree" /mnt 2>/dev/null; then
    unshare --mount bash -c "$(declare -f enter_mounted); enter_mounted \"\$@\"" enter \
      "$suite" "$root" "$tree" "$lanes_dir/compiled-$suite" "$(shared_folders | tr '\n' ':')" "$@"
  else
    say "lane $suite: mounts are not allowed here; running on a copy of the tree"
    enter_copied "$root" "$@"
  fi
}

# Runs in a mount namespace of its own, so every mount ends with it.
enter_mounted() {
  local suite=$1 root=$2 tree=$3 compiled=$4 folder folders
  IFS=: read -ra folders <<<"$5"
  shift 5
  for folder in "${folders[@]}"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
  done
  mkdir -p "$compiled" "$root/root/.cache/npucore/ccache"
  mount --bind "$compiled" "$root/root/.cache/npucore/ccache"
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs tmpfs "$root/tmp"
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 LANE="$suite" \
    /bin/sh -c 'cd "$1" && shift && exec "$@"' lane "$tree" "$@"
}

enter_copied() {
  local root=$1 folder
  shift
  # The cache may lie in the tree, by whatever name.
  mkdir -p "$cache_dir/ccache"
  touch "$lanes_dir/.not-for-lanes" "$cache_dir/ccache/.not-for-lanes"
  while read -r folder; do
    mkdir -p "$root$folder"
    tar -C "$folder" --exclude=./build --exclude='./build-*' --exclude-tag-all=.not-for-lanes -cf - . | tar -C "$root$folder" -xf -
  done < <(shared_folders)
  [ -e "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
  local status=0
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 LANE="$suite" \
    /bin/sh -c 'cd "$1" && shift && exec "$@"' lane "$tree" "$@" || status=$?
  # What the tests have left is counted here.
  (cd "$root$tree" && find build-"$suite"* -path '*/runs/*' -type f -print0 | tar --null -T - -cf -) | tar -C "$tree" -xf - || true
  return $status
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
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing" "Run scripts/setup.sh --tests."
[ -e "$tree/.venv" ] || die "$tree/.venv is missing" "Run scripts/setup.sh first."

mkdir -p "$lanes_dir"
root=$lanes_dir/$suite-$(printf '%s\n' "${packages[@]}" | sha256sum | cut -c1-12)
exec 9>"$lanes_dir/$suite.lock"
flock 9 # one maker at a time
[ -d "$root" ] || make_chroot "$root"
touch "$root" # used today
flock --unlock 9

case ${1:-} in
  '') enter "$root" scripts/lane-tests.sh ;;
  --make) say "$root" ;;
  --) shift && enter "$root" "$@" ;;
  *) usage ;;
esac
