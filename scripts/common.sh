# shellcheck shell=bash
# Shared by the scripts here; sourced, never run.

tree=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this file
cache_dir=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/npucore
# shellcheck disable=SC2034
lanes_dir=$cache_dir/lanes

# The fastest linker of this machine, unless the user chose one; meson reads these when it configures a build.
if command -v mold >/dev/null && [ -z "${CC_LD:-}${CXX_LD:-}" ]; then
  export CC_LD=mold CXX_LD=mold
fi

# ccache keeps its objects outside the tree, so that the next clean clone finds them too: paths count from the build folder, and
# line numbers are all that anybody reads of them. The user's own settings stay. Meson finds ccache by itself, CMake does not.
if command -v ccache >/dev/null; then
  export CCACHE_DIR=${CCACHE_DIR:-$cache_dir/ccache} CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$tree} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
  export CCACHE_DEPEND=${CCACHE_DEPEND:-1} # the compiler's own list of headers, else each file is preprocessed once more
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,locale} # else it passes over precompiled headers
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache} CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
fi

# Settings for a user's own tests would leave some of these out, and git's hooks name a repository to all that they run.
for name in $(compgen -e GTEST_) TESTBRIDGE_TEST_ONLY PYTHONOPTIMIZE $(git rev-parse --local-env-vars 2>/dev/null); do unset "$name"; done

# configure BUILD [OPTION...]: sets a build folder up; anew where the options, the compiler or what the scripts install have changed,
# because meson remembers what it has not found.
configure() {
  local build=$1 wanted
  shift
  set -- -Dgst=enabled -Dsoftnpu=enabled -Dtests=enabled -Doverlay=enabled -Dpublish=enabled -Dmqtt=enabled -Dkafka=enabled "$@"
  wanted=$( (${CXX:-c++} --version | head -n 1 && printf '%s\n' "$@" && cat "$tree/scripts/setup.sh" "$tree/scripts/lane.sh") | sha256sum)
  [ "$(cat "$build/.configured" 2>/dev/null)" != "$wanted" ] || return 0
  # A first try that was interrupted, or refused, leaves a folder that meson takes for neither an old build nor a new one.
  if [ -f "$build/meson-private/cmd_line.txt" ]; then set -- --wipe "$@"; else rm -rf "$build/meson-private"; fi
  meson setup "$build" "$@" && printf '%s\n' "$wanted" >"$build/.configured"
}

# The build of this system. Line numbers are all that a backtrace needs, and compile in two thirds of the time.
configure_here() {
  configure build -Dpython=enabled -Dc_args=-g1 -Dcpp_args=-g1
}

# Many tests sleep: as many at once keep the processors busy.
# shellcheck disable=SC2034
tests_at_once=$(($(nproc) * 3))

# The programs that make models and references multiply small matrices; on a busy machine numpy's threads were seen to wait for ever.
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}

say() { printf '%s\n' "$@"; }

# die MESSAGE [NEXT STEP]
die() {
  printf '%s: %s\n' "$(basename -- "$0")" "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

# Prints the packages of the list that dpkg does not have.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s ' "$name"
  done
}

# Runs a command as root: as it is, or through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    say "this needs root, and there is no sudo: $*" >&2
    return 1
  fi
}

# Installs the packages of the list that this machine lacks, and says which those are.
install_packages() {
  local missing
  read -ra missing <<<"$(missing_packages "$@")"
  [ ${#missing[@]} -gt 0 ] || return 0
  say "  installing ${#missing[@]} packages: ${missing[*]}" >&2
  as_root true || die "installing packages needs root" \
    "As root: apt-get install --no-install-recommends ${missing[*]}  Then run this again as yourself."
  quietly as_root apt-get -q update ||
    die "apt-get update failed" "Check the network and apt's sources, then run this again."
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}" ||
    die "apt-get could not install the packages" "Its last lines are above. Tried: ${missing[*]}"
}

# Runs a command that takes long; its output is shown only when it fails.
quietly() {
  local log status=0
  log=$(mktemp) || die "there is no folder for what is printed" "Set TMPDIR to one that can be written."
  ("$@") >"$log" 2>&1 || status=$?
  [ $status -eq 0 ] || tail -n 40 "$log" >&2
  rm -f "$log"
  return $status
}

# The Debian archive that this machine itself uses (never the security archive, which has no full release).
debian_archive() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1
}

# The folders that a lane sees at the same paths as here: the tree, and its environment when that is a link out of it.
shared_folders() {
  local venv
  printf '%s\n' "$tree"
  venv=$(realpath "$tree/.venv")
  case "$venv/" in "$tree"/*) ;; *) printf '%s\n' "$venv" ;; esac
}

# make_debian RELEASE FOLDER PACKAGE...: a root of that release with these packages, from this machine's archive. A mirror's copy of sid may
# be older than sid's own lists allow; the signature is checked all the same.
make_debian() {
  local release=$1 root=$2 archive keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  shift 2
  [ -f "$keyring" ] && command -v mmdebstrap >/dev/null || die "mmdebstrap or $keyring is missing" "Run scripts/setup.sh --all."
  archive=$(debian_archive)
  [ -n "$archive" ] || die "apt knows no Debian archive on this machine" "Run apt-get update, then try again."
  say "making Debian $release in $root (up to 2 GB, some minutes; only once)" >&2
  mkdir -p "$lanes_dir"
  rm -rf --one-file-system "$root.new"
  quietly mmdebstrap --variant=apt --mode=root \
    --aptopt='APT::Install-Recommends "false"' \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='force-unsafe-io' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --include="$(IFS=,; echo "$*")" \
    "$release" "$root.new" "deb [signed-by=$keyring] $archive $release main" ||
    die "mmdebstrap could not make Debian $release from this machine's archive" "Its last lines are above."
  rm -rf --one-file-system "$root.new/var/cache/apt/archives" "$root.new/var/lib/apt/lists"
  mv "$root.new" "$root"
}
