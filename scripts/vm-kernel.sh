#!/usr/bin/env bash
# Makes the kernel and the start of the initramfs that `scripts/lane.sh vm` boots, once, and prints their folder: Debian trixie's stock
# kernel, whose modules vicodec and visl, which Debian leaves out, are built from its own source package.
#
# usage: scripts/vm-kernel.sh
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

[ $# -eq 0 ] || { sed -n '5s/^# //p' "$0" >&2; exit 2; }
for tool in busybox cpio depmod modprobe xz; do
  command -v "$tool" >/dev/null || die "$tool is missing" "Run scripts/setup.sh --all."
done

# The modules that the guest needs to come up, and those that `--modules` may name.
boot_modules=(9p 9pnet_virtio overlay virtio-rng)
device_modules=(vgem vivid)
built_modules=(v4l2-mem2mem vicodec visl)

# An apt of its own for trixie, beside the machine's: apt's settings, lists and packages end with the folder.
make_apt() {
  local dir=$1 archive
  archive=$(debian_archive)
  [ -n "$archive" ] || die "apt knows no Debian archive on this machine" "Run apt-get update, then try again."
  mkdir -p "$dir"/{etc/apt.conf.d,etc/preferences.d,lists/partial,cache/archives/partial,debs}
  : >"$dir/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive trixie main" >"$dir/etc/sources.list"
  cat >"$dir/apt.conf" <<END
Dir::Etc "$dir/etc";
Dir::Etc::sourcelist "$dir/etc/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
END
  export APT_CONFIG=$dir/apt.conf
  quietly apt-get -q update || die "apt could not read trixie's package lists" "Check the network."
}

# dependencies PACKAGE PATTERN: those of its dependencies that match.
dependencies() {
  apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p"
}

download_packages() {
  local image=$1 headers=${1/image/headers} source
  source=linux-source-$(expr "$image" : 'linux-image-\([0-9]*\.[0-9]*\)')
  mapfile -t packages < <(printf '%s\n' "$image" "$headers" "$source" make \
    && dependencies "$headers" 'linux-headers-.*-common' && dependencies "$headers" 'linux-kbuild-.*')
  (cd "$work/apt/debs" && quietly apt-get -q download "${packages[@]}") ||
    die "apt could not download ${packages[*]}" "Its last lines are above."
}

# Kernel and modules, from their package.
unpack_kernel() {
  mkdir "$work/kernel"
  dpkg-deb -x "$work"/apt/debs/linux-image-*.deb "$work/kernel"
  cp "$work/kernel/boot/vmlinuz-$release" "$work/vmlinuz"
}

# The sources of the modules that Debian leaves out, each in a folder of its own below $1.
lay_sources() {
  local out=$1 media archive
  dpkg-deb --fsys-tarfile "$work"/apt/debs/linux-source-*.deb | tar -C "$work" -xf - --wildcards './usr/src/*.tar.xz'
  archive=$(echo "$work"/usr/src/linux-source-*.tar.xz)
  media=$(basename "${archive%.tar.xz}")/drivers/media
  xz -dcT2 "$archive" | tar -C "$work" -xf - "$media/test-drivers/vicodec" "$media/test-drivers/visl" "$media/v4l2-core"
  mkdir -p "$out"
  cp -r "$work/$media/test-drivers/vicodec" "$work/$media/test-drivers/visl" "$out"
  mkdir "$out/v4l2-mem2mem"
  cp "$work/$media/v4l2-core/v4l2-mem2mem.c" "$out/v4l2-mem2mem"
  echo 'obj-m := v4l2-mem2mem/ vicodec/ visl/' >"$out/Makefile"
  echo 'obj-m := v4l2-mem2mem.o' >"$out/v4l2-mem2mem/Makefile"
  sed -i 's/^obj-.*/obj-m := vicodec.o/' "$out/vicodec/Makefile"
  # Its trace header names itself by a path in the kernel's tree, seen from a folder three below an include path.
  sed -i -e 's/^obj-.*/obj-m := visl.o/' -e '1i ccflags-y += -I$(src) -I$(src)/tree/include/trace' "$out/visl/Makefile"
  mkdir -p "$out/visl/tree/include/trace" "$out/visl/tree/drivers/media/test-drivers"
  ln -s ../../../.. "$out/visl/tree/drivers/media/test-drivers/visl"
}

# Debian's headers name their parts by absolute paths, so they are unpacked into the chroot and taken out again.
build_modules() {
  local build=$chroot/opt/npucore-modules name
  rm -rf "$build"
  lay_sources "$build"
  mkdir -p "$work/tools"
  for name in "$work"/apt/debs/{linux-headers,linux-kbuild,make}*.deb; do dpkg-deb -x "$name" "$work/tools"; done
  mapfile -t unpacked < <(cd "$work/tools" && ls -d usr/src/* usr/lib/linux-kbuild-* usr/bin/make)
  tar -C "$work/tools" -cf - "${unpacked[@]}" | tar -C "$chroot" -xf -
  quietly chroot "$chroot" make -C "/usr/src/linux-headers-$release" M=/opt/npucore-modules -j"$(nproc)" \
    CONFIG_DEBUG_INFO_BTF_MODULES= modules || die "the modules ${built_modules[*]} did not build" "The compiler's words are above."
  mkdir -p "$work/built"
  for name in "${built_modules[@]}"; do strip -g -o "$work/built/$name.ko" "$build/$name/$name.ko"; done
  (cd "$chroot" && rm -rf "${unpacked[@]}")
  rm -rf "$build"
}

# The start of the initramfs: busybox, and every module that may be loaded, unpacked. The rest is added for each run.
make_initramfs() {
  local root=$work/initramfs modules=lib/modules/$release file name
  mkdir -p "$root"/{bin,dev,proc,sys} "$root/$modules" "$work/kernel/usr/$modules/extra"
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$work/kernel/usr/$modules"/modules.{order,builtin,builtin.modinfo} "$root/$modules"
  cp "$work"/built/*.ko "$work/kernel/usr/$modules/extra"
  [ -e "$work/kernel/lib" ] || ln -s usr/lib "$work/kernel/lib"
  depmod -b "$work/kernel" "$release"
  for name in "${boot_modules[@]}" "${device_modules[@]}" "${built_modules[@]}"; do
    modprobe -d "$work/kernel" -S "$release" --show-depends "$name"
  done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u | while read -r file; do
    case $file in
      *.xz) xz -dc "$file" >"$root/$modules/$(basename "$file" .xz)" ;;
      *) cp "$file" "$root/$modules" ;;
    esac
  done
  depmod -b "$root" "$release"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs.gz"
}

dir=$lanes_dir/vm-$(sha256sum <"$0" | cut -c1-12)
if [ ! -d "$dir" ]; then
  say "lane vm: making the guest's kernel in $dir (about 300 MB to download; only once)" >&2
  work=$dir.new
  rm -rf "$work"
  chroot=$("$tree/scripts/lane.sh" trixie --make) # for its compiler
  make_apt "$work/apt"
  image=$(dependencies linux-image-amd64 'linux-image-[0-9].*')
  release=${image#linux-image-}
  download_packages "$image"
  unpack_kernel
  build_modules
  make_initramfs
  rm -rf "$dir.made"
  mkdir "$dir.made"
  mv "$work/vmlinuz" "$work/initramfs.gz" "$dir.made"
  rm -rf "$work"
  mv "$dir.made" "$dir"
fi
say "$dir"
