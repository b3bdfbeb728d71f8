#!/usr/bin/env bash
# Runs README's two commands from nothing, as a newcomer would: a copy of this tree's commit in a folder with blanks below /tmp, a plain user
# who may use sudo, and a bare Debian trixie or RELEASE. Packages, wheels and objects that were fetched or compiled before come out of caches.
#
# usage: [RELEASE=bookworm] scripts/newcomer.sh    the tests' JUnit report is left in build-newcomer; a compiler's warning is a failure too
#        scripts/newcomer.sh COMMAND               another command there, such as bash
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname -- "$0")/common.sh"
cd "$tree"

[ "$(id -u)" -eq 0 ] || die "this needs root (it makes and enters a chroot)" "Run: sudo scripts/newcomer.sh"
release=${RELEASE:-trixie}
bare=$lanes_dir/bare-$release
[ -d "$bare" ] || make_debian "$release" "$bare" ca-certificates ccache git passwd sudo
root=$lanes_dir/newcomer
clone="/tmp/a clone/npucore"
rm -rf --one-file-system "$root"
cp -a --reflink=auto "$bare" "$root"

chroot "$root" /usr/sbin/useradd --create-home --shell /bin/bash me
echo 'me ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/me"
mkdir -p "$root$clone" build-newcomer
git archive HEAD | tar -C "$root$clone" -xf -
# The network as this machine knows it.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
[ ! -f /etc/pip.conf ] || cp -L /etc/pip.conf "$root/etc/pip.conf"
mkdir -p "$root"/home/me/.cache/{pip,npucore/ccache} "$root/var/cache/apt/archives" "$lanes_dir/newcomer-cache"/{"apt-$release",pip} "$lanes_dir/compiled-$release"
echo 'APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/keep"

# Runs in a mount namespace of its own, so every mount ends with it.
enter() {
  set -e
  local root=$1 lanes=$2 release=$3 clone=$4 proxy
  shift 4
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --bind "$lanes/newcomer-cache/apt-$release" "$root/var/cache/apt/archives"
  mount --bind "$lanes/newcomer-cache/pip" "$root/home/me/.cache/pip"
  mount --bind "$lanes/compiled-$release" "$root/home/me/.cache/npucore/ccache"
  chroot "$root" chown -R me:me /home/me /tmp
  for proxy in $(compgen -e | grep -iE '^(https?_proxy|no_proxy|PIP_.*)$'); do set -- "$proxy=${!proxy}" "$@"; done
  exec chroot "$root" setpriv --reuid=me --regid=me --init-groups /usr/bin/env -i -C "$clone" HOME=/home/me USER=me \
    PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 "$@"
}

[ $# -gt 0 ] || set -- sh -c './scripts/demo.sh && ./scripts/test.sh'
status=0
unshare --mount bash -c "$(declare -f enter); enter \"\$@\"" newcomer "$root" "$lanes_dir" "$release" "$clone" "$@" | tee build-newcomer/log || status=$?
cp "$root$clone"/build/meson-logs/*.xml build-newcomer/ 2>/dev/null || true
if grep ' warning: ' build-newcomer/log; then status=1; fi
[ $status -ne 0 ] || rm -rf --one-file-system "$root"
exit $status
