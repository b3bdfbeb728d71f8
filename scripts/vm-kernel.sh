#!/usr/bin/env bash
# Makes the kernel and the start of the initramfs that `scripts/lane.sh vm` boots, once, and prints their folder: Debian trixie's stock
# kernel, whose modules vicodec and visl, which Debian leaves out, are built from its own source package.
#
# usage: scripts/vm-kernel.sh
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

[ $# -eq 0 ] || { sed -n '5s/^# //p' "$0" >&2; exit 2; }

packages=(busybox-static cpio kmod linux-headers-amd64 linux-image-amd64 linux-source make xz-utils)

# Runs in a bare trixie root that has these packages, and leaves /made there.
make_in_root() {
  release=$(basename /boot/vmlinuz-*)
  release=${release#vmlinuz-}
  mkdir /made
  cp "/boot/vmlinuz-$release" /made/vmlinuz
  lay_sources
  make -C "/usr/src/linux-headers-$release" M=/modules -j"$1" CONFIG_DEBUG_INFO_BTF_MODULES= modules
  mkdir "/lib/modules/$release/extra"
  for name in v4l2-mem2mem vicodec visl; do strip -g -o "/lib/modules/$release/extra/$name.ko" "/modules/$name/$name.ko"; done
  depmod "$release"
  make_initramfs
}

# Puts the sources of the modules that Debian leaves out into /modules, a folder each.
lay_sources() {
  media=$(basename /usr/src/linux-source-*.tar.xz .tar.xz)/drivers/media
  tar -C /usr/src -xf /usr/src/linux-source-*.tar.xz "$media/test-drivers/vicodec" "$media/test-drivers/visl" "$media/v4l2-core"
  mkdir -p /modules/v4l2-mem2mem
  cp -r "/usr/src/$media/test-drivers/vicodec" "/usr/src/$media/test-drivers/visl" /modules
  cp "/usr/src/$media/v4l2-core/v4l2-mem2mem.c" /modules/v4l2-mem2mem
  echo 'obj-m := v4l2-mem2mem/ vicodec/ visl/' >/modules/Makefile
  echo 'obj-m := v4l2-mem2mem.o' >/modules/v4l2-mem2mem/Makefile
  sed -i 's/^obj-.*/obj-m := vicodec.o/' /modules/vicodec/Makefile
  # Its trace header names itself by a path in the kernel's tree, seen from a folder three below an include path.
  # shellcheck disable=SC2016  # for make
  sed -i -e 's/^obj-.*/obj-m := visl.o/' -e '1i ccflags-y += -I$(src) -I$(src)/tree/include/trace' /modules/visl/Makefile
  mkdir -p /modules/visl/tree/include/trace /modules/visl/tree/drivers/media/test-drivers
  ln -s ../../../.. /modules/visl/tree/drivers/media/test-drivers/visl
}

# The start of the initramfs: busybox, and every module that may be loaded, unpacked. lane-vm.sh adds the rest for each run.
make_initramfs() {
  root=/initramfs modules=/initramfs/lib/modules/$release
  mkdir -p "$root"/bin "$root"/dev "$root"/proc "$root"/sys "$modules"
  cp /bin/busybox "$root/bin"
  cp "/lib/modules/$release"/modules.order "/lib/modules/$release"/modules.builtin* "$modules"
  modprobe -S "$release" --show-depends -a 9p 9pnet_virtio overlay virtio-rng vgem vivid vicodec visl >/modules/needed
  # shellcheck disable=SC2046  # files
  cp $(sed -n 's/^insmod \([^ ]*\).*/\1/p' /modules/needed | sort -u) "$modules"
  xz -d "$modules"/*.xz
  depmod -b "$root" "$release"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >/made/initramfs.gz
}

dir=$lanes_dir/vm-$(sha256sum <"$0" | cut -c1-12)
if [ ! -d "$dir" ]; then
  [ "$(id -u)" -eq 0 ] || die "the guest's kernel is made in a chroot, which needs root" "Run: sudo scripts/lane.sh vm --make"
  rm -rf --one-file-system "$dir.root"
  make_debian trixie "$dir.root" "${packages[@]}"
  quietly chroot "$dir.root" bash -euc "$(declare -f make_in_root lay_sources make_initramfs); make_in_root \"\$@\"" make "$(nproc)" ||
    die "the guest's kernel could not be made" "The last lines are above."
  mv "$dir.root/made" "$dir"
  rm -rf --one-file-system "$dir.root"
fi
say "$dir"
