#!/usr/bin/env bash
# Runs in a guest that has what this machine's kernel may lack: udmabuf, dma-heaps, and, when asked for, DRM and V4L2 devices
# without hardware. The guest sees this machine's files at their own paths and can change none but $VM_OUT, the tree's build-vm.
#
# usage: scripts/lane.sh vm [host|trixie|sid]...    run the tests of suite vm there, of those builds (scripts/vm-tests.py)
#        scripts/lane.sh vm --make                  only make the kernel
#        scripts/lane.sh vm [OPTION...] -- COMMAND  run a command there, in the tree
#   --root trixie|sid   in that lane's chroot
#   --modules LIST      load these too, of vgem, vivid, vicodec, visl (comma-separated)
#   --plugins LIST      the GStreamer plugins of the system to offer, or all; scanning all takes half a minute
#   --timeout SECONDS   end the guest after that time, with exit code 124 (600)
#   --memory MIB        the guest's memory (2048)
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

usage() {
  sed -n '5,12s/^# //p' "$0" >&2
  exit 2
}

lane='' modules='' limit_s=600 memory_mib=2048
plugins=app,coreelements,jpeg,openh264,typefindfunctions,v4l2codecs,video4linux2,videoconvert,videoconvertscale,videocrop,videoparsersbad,videoscale,videotestsrc
make_only=no
builds=() command=()
while [ $# -gt 0 ]; do
  case $1 in
    --make) make_only=yes && shift ;;
    --) shift && command=("$@") && break ;;
    --root | --modules | --plugins | --timeout | --memory)
      [ $# -ge 2 ] || usage
      case $1 in
        --root) lane=$2 ;;
        --modules) modules=$2 ;;
        --plugins) plugins=$2 ;;
        --timeout) limit_s=$2 ;;
        --memory) memory_mib=$2 ;;
      esac
      shift 2
      ;;
    host | trixie | sid) builds+=("$1") && shift ;;
    *) usage ;;
  esac
done
case $lane in '' | trixie | sid) ;; *) usage ;; esac

for tool in cpio qemu-system-x86_64; do command -v "$tool" >/dev/null || die "$tool is missing" "Run scripts/setup.sh --all."; done
kernel=$("$tree/scripts/vm-kernel.sh")
if [ $make_only = yes ]; then
  say "$kernel"
  exit
fi
[ ${#command[@]} -gt 0 ] || exec "$tree/scripts/vm-tests.py" "${builds[@]}"
[ ${#builds[@]} -eq 0 ] || usage

root=''
[ -z "$lane" ] || root=$("$tree/scripts/lane.sh" "$lane" --make)
out=$tree/build-vm
mkdir -p "$out"
job=$(mktemp -d "$out/job-XXXXXX")
trap 'rm -rf "$job"' EXIT

# Writes the settings that tests/vm/init reads, and the command itself, with a plugin folder whose scan is quick.
write_job() {
  mkdir -p "$job/initramfs/job" "$job/initramfs/etc/modprobe.d"
  cp "$tree/tests/vm/init" "$job/initramfs/init"
  cp "$tree/tests/vm/modules.conf" "$job/initramfs/etc/modprobe.d"
  printf '%s=%q\n' modules "${modules//,/ }" root "$root" out "$out" job "$(basename "$job")" \
    folders "$(shared_folders)" >"$job/initramfs/job/settings"
  {
    if [ "$plugins" != all ]; then
      printf 'mkdir /run/gst-plugins\nfor name in %s; do\n  ' "${plugins//,/ }"
      # shellcheck disable=SC2016  # for the guest's shell; not every release has every plugin
      echo '[ -e /usr/lib/*/gstreamer-1.0/libgst$name.so ] && ln -s /usr/lib/*/gstreamer-1.0/libgst$name.so /run/gst-plugins; done'
      echo 'export GST_PLUGIN_SYSTEM_PATH_1_0=/run/gst-plugins'
    fi
    echo 'export GST_REGISTRY=/run/gst-registry.bin GST_REGISTRY_FORK=no'
    printf 'cd %q && exec' "$tree"
    printf ' %q' "${command[@]}"
    echo
  } >"$job/initramfs/job/command"
  (cd "$job/initramfs" && find . | cpio -o -H newc --quiet | gzip -1 | cat "$kernel/initramfs.gz" -) >"$job/initramfs.gz"
}

# KVM is left alone: nested in another guest it may hang. A busy machine is late with the emulated timer's ticks, which the kernel
# would take for a broken timer (no_timer_check). In this process group, for a signal to it.
# virtme-ng would pass output and exit code through ports that udev names: each root would need udev, whose start under emulation costs
# many times this guest's boot.
run_guest() {
  timeout --foreground --kill-after=10 "$limit_s" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m "$memory_mib" \
    -M q35 -nodefaults -no-user-config -display none -no-reboot -device virtio-rng-pci \
    -kernel "$kernel/vmlinuz" -initrd "$job/initramfs.gz" \
    -append 'console=ttyS0 quiet loglevel=4 panic=-1 no_timer_check mitigations=off nokaslr tsc=reliable random.trust_cpu=on cma=64M' \
    -serial "file:$job/console" -serial stdio \
    -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev local,id=out,path="$out",security_model=none -device virtio-9p-pci,fsdev=out,mount_tag=out </dev/null
}

write_job
status=0
run_guest || status=$?
[ ! -s "$job/exit-code" ] || exit "$(cat "$job/exit-code")"
tail -n 20 "$job/console" >&2
if [ "$status" -eq 124 ]; then
  (die "the guest did not end within $limit_s s" "Its console's last lines are above; --timeout gives it longer.") || exit 124
fi
die "the guest ended without the command's exit code" "Its console's last lines are above."
