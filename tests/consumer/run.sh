#!/bin/sh
# Installs npucore below WORKDIR, builds the consumer against what was installed, and runs it.
#
# usage: run.sh pkg-config TREE WORKDIR BUILDDIR   what meson installs, found by pkg-config
#        run.sh cmake TREE WORKDIR                 what CMake builds and installs, found by find_package
set -eu
way=$1 tree=$2 work=$3

use_pkg_config() {
  build=$1
  rm -rf "$work/root"
  DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet
  library=$(find "$work/root" -name libnpucore.so)
  libdir=$(dirname "$library")
  export PKG_CONFIG_PATH="$libdir/pkgconfig"
  prefix=$work/root$(pkg-config --variable=prefix npucore)
  eval "set -- $(pkg-config --define-variable=prefix="$(printf %s "$prefix" | sed 's/ /\\ /g')" --cflags --libs npucore)" # paths may have blanks
  c++ -std=c++20 -Wall -Wextra -Werror "$tree/tests/consumer/consumer.cpp" -o "$work/consumer" "$@" "-Wl,-rpath,$libdir"
  "$work/consumer"
}

use_cmake() {
  cmake -S "$tree" -B "$work/npucore" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O0 -fpch-preprocess' \
    -DCMAKE_PROJECT_npucore_INCLUDE="$tree/tests/consumer/precompile.cmake" -DCMAKE_INSTALL_PREFIX="$work/prefix" \
    -DNPUCORE_PUBLISH=ON -DNPUCORE_MQTT=ON -DNPUCORE_KAFKA=ON
  cmake --build "$work/npucore"
  find "$work/npucore" -name 'lib*.so' -exec "$tree/scripts/check-hardening.py" {} +
  rm -rf "$work/prefix"
  cmake --install "$work/npucore"
  cmake -S "$tree/tests/consumer" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
  cmake --build "$work/consumer"
  "$work/consumer/consumer"
  # The plugin that CMake built loads, and finds its libraries where they were installed.
  GST_REGISTRY=$work/registry.bin GST_PLUGIN_PATH=$work/prefix/lib/gstreamer-1.0 gst-inspect-1.0 npu
  GST_REGISTRY=$work/registry.bin GST_PLUGIN_PATH=$work/prefix/lib/gstreamer-1.0 gst-inspect-1.0 npupublish
  use_cmake_with_and_without_brokers
}

# lacks BROKER FOLDER-OF-THE-PLUGIN
lacks() {
  GST_REGISTRY=$work/registry-of-brokers.bin GST_PLUGIN_PATH=$2 gst-launch-1.0 fakesrc num-buffers=1 ! \
    npupublish location="$1://localhost/t" policy=drop-new drain-time=0 2>&1 | grep "this plugin was built without"
}

# With the libraries of their clients the plugin speaks to brokers; without, it still loads, and says what it lacks.
use_cmake_with_and_without_brokers() {
  for broker in mqtt:libmosquitto kafka:rdkafka; do
    if pkg-config --exists "${broker#*:}" && lacks "${broker%:*}" "$work/prefix/lib/gstreamer-1.0"; then exit 1; fi
  done
  cmake -S "$tree" -B "$work/npucore" -DNPUCORE_MQTT=OFF -DNPUCORE_KAFKA=OFF
  cmake --build "$work/npucore"
  lacks mqtt "$work/npucore"
  lacks kafka "$work/npucore"
}

mkdir -p "$work"
case $way in
  pkg-config) use_pkg_config "$4" ;;
  cmake) use_cmake ;;
esac
