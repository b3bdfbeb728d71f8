# shellcheck shell=bash
# What the scripts here share; sourced, never run.

tree=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this file
cache_dir=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/npucore
# shellcheck disable=SC2034
lanes_dir=$cache_dir/lanes

# Takes the fastest linker of this machine, unless the user chose one; meson reads these when it configures a build.
choose_linker() {
  if command -v mold >/dev/null && [ -z "${CC_LD:-}${CXX_LD:-}" ]; then
    export CC_LD=mold CXX_LD=mold
  fi
}
choose_linker

# Keeps what was compiled outside the tree, for the next clean clone too. What the user has set of it stays.
choose_compiler_cache() {
  command -v ccache >/dev/null || return 0
  export CCACHE_DIR=${CCACHE_DIR:-$cache_dir/ccache} CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
  # A clone in another folder finds it: paths count from the build folder, and line numbers are all that anybody reads of them.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$tree} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
  # Else ccache passes over what has a precompiled header, and takes none of another locale's.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,locale}
  # meson asks for it by itself, CMake does not.
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache} CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
}
choose_compiler_cache

# What the user has set for tests of his own leaves some of these out, or assertions, and git's hooks name a repository to all that they run.
for name in $(compgen -e GTEST_) TESTBRIDGE_TEST_ONLY PYTHONOPTIMIZE $(git rev-parse --local-env-vars 2>/dev/null); do unset "$name"; done

# configure BUILD [OPTION...]: sets a build folder up, and again when the options, or what the scripts install, have changed. Other options
# that the folder was set up with stay. Meson remembers what it has not found: where that is in the way, and a new folder would do, the
# folder is emptied, and so are one that was set up half, and one for another compiler.
configure() {
  local build=$1 stamp=$1/.configured wanted compiler
  shift
  set -- -Dgst=enabled -Dsoftnpu=enabled -Dtests=enabled -Doverlay=enabled -Dmqtt=enabled -Dkafka=enabled "$@"
  # shellcheck disable=SC2086  # words
  compiler=$(${CXX:-c++} --version | head -n 1)
  wanted=$(printf '%s\n' "$compiler" "$@" && cat "$tree/scripts/setup.sh" "$tree/scripts/lane.sh" | sha256sum)
  if [ ! -f "$build/build.ninja" ]; then
    if [ -d "$build/meson-private" ]; then set -- --wipe "$@"; fi
    meson setup "$build" "$@" || return 1
  elif [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return 0
  elif [ -f "$stamp" ] && ! grep -qxF -- "$compiler" "$stamp"; then
    meson setup --wipe "$build" "$@" || return 1
  else
    meson setup --reconfigure "$build" "$@" || { could_be_new "$build" "$@" && meson setup --wipe "$build" "$@"; } || return 1
  fi
  printf '%s\n' "$wanted" >"$stamp"
}

# could_be_new BUILD OPTION...: whether that folder could be set up anew with these and its own options; tried in one that is gone then
could_be_new() (
  probe=$(mktemp -d) || exit 1
  trap 'rm -rf "$probe"' EXIT
  mkdir "$probe/meson-private" && cp "$1/meson-private/cmd_line.txt" "$probe/meson-private" || exit 1
  shift
  meson setup --wipe "$probe" "$@" >/dev/null
)

# The build of this system, in the folder build. Line numbers are all that a backtrace needs, and compile in two thirds of the time.
configure_here() {
  configure build -Dc_args=-g1 -Dcpp_args=-g1
}

# forget_results BUILD [LOG]: a test that does not get as far as writing its own would leave those of the run before it.
forget_results() {
  rm -f "$1"/meson-logs/"${2:-testlog}".{json,junit.xml} "$1"/*.xml
}

# keep_results BUILD FOLDER [LOG]: what scripts/tally.py reads of a run, in a folder of its own
keep_results() {
  mkdir -p "$2"/meson-{logs,info}
  cp "$1/meson-logs/${3:-testlog}.json" "$2/meson-logs/testlog.json"
  cp "$1/meson-logs/${3:-testlog}.junit.xml" "$2/meson-logs/testlog.junit.xml"
  cp "$1/meson-info/intro-tests.json" "$2/meson-info"
}

# end_with COMMAND: what a script does when it ends, by itself or by a signal. Another one does not cut that short.
end_with() {
  # shellcheck disable=SC2064  # the command's name
  trap "trap '' HUP INT TERM; $1" EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# is_running PID: one of this shell's own jobs, which may be stopped. The number of one that has ended may be another's by now.
is_running() {
  local known # a pipe would end the list early
  known=" $(jobs -pr) $(jobs -ps) "
  [[ ${known//$'\n'/ } == *" $1 "* ]]
}

# end_group PID: with all that this job has started
end_group() {
  is_running "$1" || return 0
  kill -TERM -- "-$1" 2>/dev/null || kill -TERM "$1" 2>/dev/null || true # whose group is not there yet
  kill -CONT -- "-$1" 2>/dev/null || kill -CONT "$1" 2>/dev/null || true
}

# is_child_of PID OF: a process of another number may be OF's zombie
is_child_of() {
  local parent
  read -r _ _ _ parent _ <"/proc/$1/stat" && [ "$parent" = "$2" ]
} 2>/dev/null

# attended COMMAND...: runs it in a process group of its own and waits, so that a signal is heeded at once; who calls this ends with
# end_attended. Of a command that was killed nothing stays either.
attended=''
attended() {
  set -m
  "$@" &
  attended=$!
  set +m
  wait "$attended"
  local status=$?
  [ $status -lt 128 ] || end_rest "$attended"
  attended=''
  return $status
}

# All that this script has started.
end_attended() {
  # shellcheck disable=SC2046  # numbers
  end_jobs $(jobs -p)
  [ -z "$attended" ] || end_rest "$attended"
}

# is_left GROUP: whether one of that process group runs. Who has ended, and only was not waited for yet, does not.
is_left() {
  kill -0 -- "-$1" 2>/dev/null || return 1
  local file stat=''
  for file in /proc/[0-9]*/stat; do
    { read -r -d '' stat <"$file" || [ -n "$stat" ]; } 2>/dev/null || continue # its name may be of several lines
    # shellcheck disable=SC2086  # its state, parent and group; the 19th is how many threads run
    set -- "$1" ${stat##*) }
    [ "${4-}" != "$1" ] || { [ "$2" = Z ] && [ "${19}" -le 1 ]; } || return 0
  done
  return 1
}

# A script that another one ends has half of that one's time for what it runs itself.
ends_within=${NPUCORE_ENDS_WITHIN:-100} # tenths of a second
export NPUCORE_ENDS_WITHIN=$((ends_within / 2))

# end_jobs PID...: with all that they have started, and waits. Who does not heed a signal is killed, also where the job itself has heeded
# it: the number of a group is nobody else's as long as one is left in it.
end_jobs() {
  local job running=()
  for job in "$@"; do ! is_running "$job" || running+=("$job"); done
  for job in "${running[@]}"; do end_group "$job"; done
  kill_stubborn "${running[@]}"
  for job in "${running[@]}"; do wait "$job" 2>/dev/null || true; done
}

# end_rest GROUP: what a job that has ended has left behind
end_rest() {
  ! kill -TERM -- "-$1" 2>/dev/null || kill_stubborn "$1"
}

# kill_stubborn GROUP...: what has not ended in time
kill_stubborn() {
  local group tenths=0 left=("$@") still
  while true; do
    still=()
    for group in "${left[@]}"; do ! is_left "$group" || still+=("$group"); done
    left=("${still[@]}")
    [ ${#left[@]} -gt 0 ] && [ $((tenths += 1)) -le "$ends_within" ] || break
    sleep 0.1
  done
  for group in "${left[@]}"; do kill -KILL -- "-$group" 2>/dev/null || true; done # a caller may end at what fails
}

# As many tests at once keep the processors busy: many of them sleep.
# shellcheck disable=SC2034
tests_at_once=$(($(nproc) * 3))

say() { printf '%s\n' "$@"; }

# die MESSAGE [NEXT STEP]
die() {
  printf '%s: %s\n' "$(basename -- "$0")" "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

# The packages of the list that dpkg does not have.
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
    die "this needs root: $*" "Run it as root, or install sudo and let your user use it."
  fi
}

# Runs a command that takes long, quietly; its output is shown only when it fails, or dies.
quietly() (
  log=$(mktemp) || die "there is no folder for what is printed" "Set TMPDIR to one that can be written."
  trap 'rm -f "$log"' EXIT
  if ! ("$@") >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 1
  fi
)

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
