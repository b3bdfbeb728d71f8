#!/usr/bin/env bash
# Sets Intel's NPU compiler up on any x86-64 Debian, for compiling without an NPU: the library for Windows that OpenVINO's wheel carries
# (the one for Linux carries none), served by a program that Wine starts. About 250 MB, kept outside the tree; a second run does nothing.
# Ends with the line that makes npucore use it.
#
# usage: scripts/setup-compiler.sh [FOLDER]    default: compiler in npucore's cache folder
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"

# The newest that carries the compiler and was tried.
openvino=2026.4.1
packages=(wine wine64 g++-mingw-w64-x86-64-posix python3 python3-venv)

case ${1:-} in -*) sed -n '6s/^# //p' "$0" >&2; exit 2 ;; esac
folder=$(realpath -m -- "${1:-$cache_dir/compiler}")
program=$folder/intel-npu-compiler

# unpack WHEEL: the compiler and what it needs, beside the program that serves it
unpack() {
  /usr/bin/python3 - "$1" "$folder" <<'PYTHON'
import sys, zipfile
wheel, folder = sys.argv[1:]
names = ["openvino_intel_npu_compiler.dll", "openvino_intel_npu_compiler_loader.dll", "tbb12.dll"]
with zipfile.ZipFile(wheel) as files:
    for name in names:
        with open(f"{folder}/{name}", "wb") as out:
            out.write(files.read(f"openvino/libs/{name}"))
PYTHON
}

fetch_library() {
  [ "$(cat "$folder/openvino-version" 2>/dev/null)" != "$openvino" ] || return 0
  local work
  work=$(mktemp -d)
  say "setup-compiler: getting the compiler out of OpenVINO $openvino for Windows (50 MB)" >&2
  quietly /usr/bin/python3 -m venv "$work/env" || die "python3 could not make an environment" "Is the disk full?"
  quietly "$work/env/bin/python" -m pip download --disable-pip-version-check --no-input --no-deps --only-binary=:all: \
    --python-version 3.12 --platform win_amd64 -d "$work" "openvino==$openvino" ||
    die "pip could not download openvino $openvino for Windows" "Check the network; behind a mirror, set pip's index-url (pip config)."
  unpack "$work"/openvino-*.whl || die "OpenVINO's wheel has no NPU compiler in it" "Use another version."
  rm -rf "$work"
  printf '%s\n' "$openvino" >"$folder/openvino-version"
}

# Built again when its sources have changed.
build_program() {
  local wanted
  wanted=$(cat "$tree"/npu_vcl/include/npu_vcl/*.hpp "$tree"/npu_vcl/src/*.cpp "$tree"/npu_vcl/windows/main.cpp | sha256sum)
  [ "$(cat "$folder/program-sources" 2>/dev/null)" != "$wanted" ] || return 0
  quietly x86_64-w64-mingw32-g++-posix -std=c++20 -O1 -static -I"$tree/npu_vcl/include" \
    "$tree"/npu_vcl/src/*.cpp "$tree/npu_vcl/windows/main.cpp" -o "$folder/npu-compile-helper.exe" ||
    die "the program that serves the compiler does not build" "The compiler's words are above."
  printf '%s\n' "$wanted" >"$folder/program-sources"
}

# The program that npucore starts. Wine has no display and asks nothing here.
write_launcher() {
  cat >"$program.new" <<'SH'
#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
export WINEPREFIX="$here/prefix" WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
unset DISPLAY WAYLAND_DISPLAY
# With fewer, Wine's server hangs, and with it every program that comes to it.
files=$(ulimit -n)
if [ "$files" != unlimited ] && [ "$files" -lt 1024 ] && ! ulimit -Sn 1024 2>/dev/null; then
  echo "Wine needs 1024 open files, and the limit is $files: raise it (ulimit -n)" >&2
  exit 1
fi
exec /usr/lib/wine/wine64 "$here/npu-compile-helper.exe" "$@"
SH
  chmod +x "$program.new"
  mv "$program.new" "$program"
}

make_prefix() {
  [ ! -f "$folder/prefix/system.reg" ] || return 0
  say "setup-compiler: preparing Wine" >&2
  WINEPREFIX="$folder/prefix" WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= quietly /usr/lib/wine/wine64 wineboot --init 9>&- ||
    die "Wine could not be prepared in $folder/prefix" "Is the folder on a disk with room, and yours?"
  WINEPREFIX="$folder/prefix" /usr/lib/wine/wineserver64 --wait
}

[ "$(uname -m)" = x86_64 ] || die "Intel's compiler runs on x86-64, this is $(uname -m)"
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
install_packages "${packages[@]}"
fetch_library
build_program
write_launcher
make_prefix
say "export NPUCORE_COMPILER_LIBRARY=$program"
