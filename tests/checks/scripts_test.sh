#!/bin/sh
# The scripts parse, and test.sh's closing line counts what JUnit reports say.
# usage: scripts_test.sh TREE
set -eu
cd "$1"
for script in scripts/*.sh pipelines/*.sh; do bash -n "$script"; done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/tests-1.xml" <<'XML'
<testsuites>
  <testsuite name="npucore.one.Suite">
    <testcase name="Passes"/>
    <testcase name="IsSkippedHere"><skipped message="a_test.cpp:7&#10;no device&#10;"/></testcase>
    <testcase name="DISABLED_Helper" status="notrun"/>
  </testsuite>
  <testsuite name="npucore"><testcase name="script"><skipped/><system-out>some words&#10;no OpenCV</system-out></testcase></testsuite>
</testsuites>
XML
cat >"$work/sanitizers-2.xml" <<'XML'
<testsuites>
  <testsuite name="npucore.one.Suite"><testcase name="IsSkippedHere"/><testcase name="Fails"><failure message="1 is not 2"/></testcase></testsuite>
</testsuites>
XML

# counts EXPECTED-LINE [FAILED-STAGE...]
counts() {
  expected=$1
  shift
  status=0
  python3 scripts/tally.py close "$work" "$@" >"$work/out" || status=$?
  [ "$(tail -n 1 "$work/out")" = "$expected" ] || { cat "$work/out"; echo "scripts: expected the closing line $expected"; exit 1; }
}

counts "2 passed, 1 failed, 1 skipped"
[ "$status" = 1 ]
grep -qx 'skipped:    1 no OpenCV' "$work/out"
grep -qx 'failed in sanitizers: npucore.one.Suite: Fails' "$work/out"
counts "2 passed, 2 failed, 1 skipped" vm # broke before it could count
counts "2 passed, 1 failed, 1 skipped" sanitizers
rm "$work/sanitizers-2.xml"
counts "1 passed, 0 failed, 2 skipped"
[ "$status" = 0 ]
rm "$work"/*.xml
counts "0 passed, 0 failed"
[ "$status" = 1 ]
