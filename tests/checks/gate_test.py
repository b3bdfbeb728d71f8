#!/usr/bin/env python3
"""The scripts that run the tests, in a tree of their own, with programs that stand for meson, ninja and the fuzzers."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
PATIENCE_S = 100
PASSES = """
echo 'Ok:                 1'
mkdir -p "$3/meson-logs" "$3/meson-info"
echo '{"name": "npucore:checks / one", "result": "OK"}' >"$3/meson-logs/testlog.json"
echo '<testsuites/>' >"$3/meson-logs/testlog.junit.xml"
echo '[]' >"$3/meson-info/intro-tests.json"
"""
IGNORES_TERM = "trap '' TERM;"
STUBBORN = IGNORES_TERM + ' echo $$ >"$MARK"; while :; do sleep 1; done'
RUNS_LONG = 'echo $$ >"$MARK" && exec sleep 1000'
ENDS_ITS_FIRST_THREAD = """
import ctypes, os, platform, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=lambda: time.sleep(1) or open(os.environ["MARK"], "w").write(str(os.getpid())) and time.sleep(1000)).start()
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
"""
ONE_PASSED = "1 passed, 0 failed"


def until(holds):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("it did not come to pass")
        time.sleep(0.05)


def is_gone(pid):
    """A process that nobody has waited for yet is gone too, unless only its first thread has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return True
    return stat[0] == "Z" and int(stat[17]) <= 1


class Gate(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.tree = Path(temp.name)
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        for folder in ("scripts", "bin", "build/meson-logs", "tmp"):
            (self.tree / folder).mkdir(parents=True)
        for name in ("test.sh", "repeat.sh", "fuzz.sh", "soak.sh", "tsan.sh", "demo.sh", "setup.sh", "lane.sh", "common.sh", "tally.py"):
            shutil.copy(SCRIPTS / name, self.tree / "scripts")
        self.mark = self.tree / "mark"
        self.environment = {**os.environ, "PATH": f"{self.tree}/bin:{os.environ['PATH']}", "TMPDIR": f"{self.tree}/tmp",
                            "HOME": f"{self.tree}", "XDG_CACHE_HOME": cache.name, "MARK": str(self.mark)}
        (self.tree / "build/build.ninja").touch()
        self.script("bin/ninja", "exit 0")
        self.meson(PASSES)

    def script(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def meson(self, test):
        """A meson whose `meson test -C BUILD` does that."""
        self.script("bin/meson", f"[ \"$1\" = test ] || exit 0\n{test}")

    def command(self, script, *words, before=""):
        return ["sh", "-c", before + 'exec "$@"', "sh", str(self.tree / "scripts" / script), *words]

    def run_script(self, script, *words, before="", **environment):
        run = subprocess.run(self.command(script, *words, before=before), capture_output=True, text=True, check=False, cwd=self.tree,
                             timeout=PATIENCE_S, env={**self.environment, **environment})
        return run.returncode, run.stdout.splitlines()[-1:], run.stdout + run.stderr

    def full_disk(self, script, *words):
        return self.run_script(script, *words, before="trap '' XFSZ; ulimit -f 0; ")

    def start(self, script, *words):
        """Starts it and waits until the program that it runs has said who it is; both processes."""
        process = subprocess.Popen(self.command(script, *words), cwd=self.tree, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # these tests may run under nohup
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until(lambda: self.mark.exists() and self.mark.read_text().strip())
        return process, int(self.mark.read_text())

    def assert_that_a_signal_ends(self, *command):
        self.mark.unlink(missing_ok=True)
        process, program = self.start(*command)
        process.terminate()
        self.assertEqual(process.wait(PATIENCE_S), 128 + signal.SIGTERM, command)
        until(lambda: is_gone(program))

    def test_what_passes_is_counted(self):
        self.assertEqual(self.run_script("test.sh", "tests")[:2], (0, [ONE_PASSED]))

    def test_tests_that_pass_do_not_hide_that_meson_failed(self):
        self.meson(PASSES + "exit 3")
        self.assertEqual(self.run_script("test.sh", "tests")[:2], (1, ["1 passed, 1 failed"]))

    def test_tests_that_pass_do_not_hide_that_the_stage_tsan_failed(self):
        self.script("scripts/tsan.sh", f"set -- test -C build-tsan\n{PASSES}\nexit 3")
        self.assertEqual(self.run_script("test.sh", "tsan")[:2], (1, ["1 passed, 1 failed"]))

    def test_what_tests_leave_of_temporary_files_is_removed(self):
        self.meson(PASSES + "mktemp -d")
        self.assertEqual(self.run_script("test.sh", "tests")[0], 0)
        self.assertEqual(os.listdir(self.tree / "tmp"), [])

    def test_results_of_an_earlier_run_are_not_counted(self):
        subprocess.run(["sh", "-c", PASSES, "meson", "test", "-C", "build"], cwd=self.tree, check=True)
        (self.tree / "build/reader.xml").touch()
        self.meson('[ ! -e build/reader.xml ] || touch "$MARK"; exit 1')
        self.assertEqual(self.run_script("test.sh", "tests")[:2], (1, ["0 passed, 1 failed"]))
        self.assertFalse(self.mark.exists(), "the report of a program's earlier run was still there")

    def test_a_stage_that_counts_nothing_is_a_failure(self):
        self.script("scripts/tidy.py", "exit 0")
        self.assertEqual(self.run_script("test.sh", "tidy")[:2], (1, ["0 passed, 1 failed"]))

    def test_a_round_without_tests_is_a_failure(self):
        self.assertEqual(self.run_script("repeat.sh", "1", "tests")[0], 0)
        self.meson("echo 'No suitable tests defined.'")
        self.assertEqual(self.run_script("repeat.sh", "1", "tests")[0], 1)

    def test_a_round_ends_where_nobody_heeds_a_signal(self):
        self.assertEqual(self.run_script("repeat.sh", "1", "tests", before="trap '' TERM; ")[0], 0)

    def test_failures_that_are_too_many_for_an_exit_code_are_failures(self):
        self.meson("echo 'Ok:                 9'; echo 'Fail:               256'")
        self.assertEqual(self.run_script("repeat.sh", "1", "tests")[0], 1)

    def test_what_the_user_has_set_for_other_tests_leaves_none_out(self):
        own = {"GTEST_FILTER": "One*", "GTEST_TOTAL_SHARDS": "2", "TESTBRIDGE_TEST_ONLY": "One", "PYTHONOPTIMIZE": "1", "GIT_DIR": "/none"}
        self.meson("".join(f'[ -z "${{{name}-}}" ] || exit 1\n' for name in own) + PASSES)
        run = self.run_script("test.sh", "tests", **own)
        self.assertEqual(run[:2], (0, [ONE_PASSED]))

    def test_a_wrong_word_is_refused_where_nothing_can_be_said(self):
        for command in ("test.sh frmat format", "repeat.sh 0", "fuzz.sh x", "soak.sh x"):
            self.assertEqual(self.shell(f"scripts/{command} 2>/dev/full").returncode, 2, command)

    def test_a_name_of_no_test_is_a_failure_under_the_sanitizer_of_threads(self):
        (self.tree / "build-tsan").mkdir()
        self.meson(PASSES)
        self.assertEqual(self.run_script("tsan.sh", "one")[0], 0)
        self.assertEqual(self.run_script("tsan.sh", "one", "another")[0], 1)

    @unittest.skipUnless(os.geteuid() == 0 and KEYRING.exists(), "a lane needs root and debian-archive-keyring")
    def test_a_lane_without_mounts_counts(self):
        shutil.copy(SCRIPTS / "lane-tests.sh", self.tree / "scripts")
        (self.tree / ".venv").mkdir()
        for name, text in (("test-targets.py", "exit 0"), ("../bin/unshare", "exit 1"), ("../bin/apt-get", "echo http://archive"),
                           ("../bin/mmdebstrap", 'while [ $# -gt 2 ]; do shift; done; mkdir -p "$1/dev"; touch "$1/dev/null"'),
                           ("../bin/chroot", 'root=$1; while [ "$1" != lane ]; do shift; done; cd "$root$2" && shift 2 && LANE=trixie exec "$@"')):
            self.script(f"scripts/{name}", text)
        self.script("bin/meson", f'case $1 in setup) mkdir -p "$2" ;; test) {PASSES} ;; esac')
        (self.tree / "link").symlink_to("cache")
        # Of CI it may be in the tree.
        for cache in (self.environment["XDG_CACHE_HOME"], *(f"{self.tree}/{name}" for name in ("cache", "cache/", "scripts/../cache", "link"))):
            (Path(cache) / "npucore/ccache").mkdir(parents=True, exist_ok=True)
            (Path(cache) / "npucore/ccache/compiled").touch()
            code, last, said = self.run_script("test.sh", "trixie", XDG_CACHE_HOME=cache)
            self.assertEqual((code, last), (0, [ONE_PASSED]), said)
            self.assertEqual(list(Path(cache).glob(f"npucore/lanes/trixie-*{self.tree}/cache/npucore/*/*")), [])

    def test_a_full_disk_is_a_failure(self):
        self.script("scripts/format.sh", "exit 0")
        self.assertEqual(self.full_disk("test.sh", "format")[:2], (1, ["0 passed, 1 failed"]))

    def test_a_full_disk_does_not_hide_a_failed_round(self):
        self.meson("exit 1")
        self.assertEqual(self.full_disk("repeat.sh", "1", "tests")[0], 1)

    def test_no_folder_for_temporary_files_is_an_error(self):
        for command in (["test.sh", "tests"], ["repeat.sh", "1", "tests"]):
            code, _, said = self.run_script(*command, TMPDIR=str(self.tree / "none"))
            self.assertEqual(code, 1, command)
            self.assertIn("TMPDIR", said)

    def test_a_signal_ends_the_tests_at_once(self):
        self.meson(RUNS_LONG)
        self.assert_that_a_signal_ends("test.sh", "tests")
        self.assert_that_a_signal_ends("repeat.sh", "1", "tests")

    def test_a_signal_ends_what_runs_no_tests(self):
        for stage in (["format"], ["coverage"], ["soak", "1"]):
            self.script(f"scripts/{stage[0]}.sh", RUNS_LONG)
            self.assert_that_a_signal_ends("test.sh", *stage)

    def test_what_runs_beside_ends_with_a_killed_script(self):
        self.script("scripts/fuzz.sh", RUNS_LONG)
        self.meson(PASSES + "exec sleep 10")
        process, beside = self.start("test.sh", "tests", "fuzz")
        process.kill()  # and is a zombie, for nobody waits
        until(lambda: is_gone(beside))

    def test_a_signal_ends_what_configures_and_what_builds(self):
        (self.tree / "tests/fuzz/corpus").mkdir(parents=True)
        (self.tree / "build-fuzz").mkdir()
        self.script("bin/clang++", "exit 0")
        for program, *command in (("meson", "test.sh", "tests"), ("ninja", "test.sh", "tests"), ("meson", "fuzz.sh"), ("ninja", "fuzz.sh")):
            self.meson(PASSES)
            self.script("bin/ninja", "exit 0")
            self.script(f"bin/{program}", RUNS_LONG)
            self.assert_that_a_signal_ends(*command)

    def test_signals_end_what_does_not_heed_them_or_is_stopped(self):
        for stubborn, first, second in ((IGNORES_TERM, signal.SIGTERM, signal.SIGTERM), (IGNORES_TERM, signal.SIGHUP, signal.SIGHUP),
                                        ("kill -STOP $$;", signal.SIGTERM, signal.SIGHUP)):
            self.meson(f'echo $$ >"$MARK"; {stubborn} while :; do sleep 1; done')
            self.mark.unlink(missing_ok=True)
            process, meson = self.start("test.sh", "tests")
            time.sleep(0.5)
            process.send_signal(first)
            time.sleep(0.5)
            process.send_signal(second)
            self.assertEqual(process.wait(PATIENCE_S), 128 + first)
            until(lambda: is_gone(meson))  # pylint: disable=cell-var-from-loop
            self.assertEqual(os.listdir(self.tree / "tmp"), [])

    def test_a_signal_ends_what_ignores_it_behind_one_who_heeds_it(self):
        self.script("bin/stubborn", STUBBORN)
        self.script("scripts/coverage.sh", "stubborn; exit 0")
        self.assert_that_a_signal_ends("test.sh", "coverage")
        self.script("scripts/fuzz.sh", "stubborn; exit 0")
        self.meson(PASSES + "exec sleep 10")
        self.assert_that_a_signal_ends("test.sh", "tests", "fuzz")  # beside
        self.script("build/tests/soak/soak", "exec stubborn")
        self.assert_that_a_signal_ends("test.sh", "soak", "1")  # of a script that ends its own

    def test_a_signal_ends_what_ignores_it_beside_on_a_busy_machine(self):
        self.fuzzer("exit 0")
        self.script("bin/ninja", f"case $* in *fuzzers) {STUBBORN} ;; esac")
        self.meson(PASSES + "exec sleep 1000")
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True) for _ in range(4 * os.cpu_count())]
        for process in busy:
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        self.assert_that_a_signal_ends("test.sh", "tests", "fuzz")

    def test_a_signal_ends_a_program_whose_first_thread_has_ended(self):
        self.script("ends", f'exec "{sys.executable}" -c \'{ENDS_ITS_FIRST_THREAD}\'')
        for command in (f"exec {self.tree}/ends", f"{self.tree}/ends; exit 0"):
            self.script("scripts/coverage.sh", command)
            self.assert_that_a_signal_ends("test.sh", "coverage")

    def test_a_signal_ends_what_has_no_group_of_its_own_yet(self):
        self.script("bin/setsid", 'echo $$ >"$MARK"; exec sleep 1000')
        self.meson(PASSES + "exec sleep 1000")
        self.assert_that_a_signal_ends("test.sh", "tests", "fuzz")

    def test_who_has_ended_and_is_a_zombie_is_not_waited_for(self):
        """As where the process 1 waits for nobody."""
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os._exit(0)
        self.addCleanup(os.waitpid, child, 0)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        os.kill(child, 0)  # is there
        shutil.copy("/bin/sleep", self.tree / "a\nb")
        stranger = subprocess.Popen([self.tree / "a\nb", "1000"])
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        run = self.shell(f"set -u; . scripts/common.sh; kill -0 -- -{child} && is_left {child}")
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertEqual(self.shell('. scripts/common.sh; is_left "$(cut -d" " -f5 /proc/$$/stat)"').returncode, 0)

    def test_builds_go_on_beside_wherever_it_is_called_from(self):
        self.script("scripts/fuzz.sh", '[ "$1" != --build ] || touch "$MARK"; echo "  ir: 1 inputs"')
        self.meson(PASSES + 'for _ in $(seq 300); do [ ! -e "$MARK" ] || exit 0; sleep 0.1; done; exit 1')
        run = subprocess.run(["./test.sh", "tests", "fuzz"], cwd=self.tree / "scripts", env=self.environment, check=False,
                             capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(run.stdout.splitlines()[-1], "2 passed, 0 failed", run.stdout)

    def test_the_number_of_a_process_that_has_ended_is_not_used(self):
        tries = '. scripts/common.sh; kill() { touch "$MARK"; }; true & job=$!; wait "$job"; end_group "$job"'
        subprocess.run(["bash", "-c", tries], cwd=self.tree, env=self.environment, check=True)
        self.assertFalse(self.mark.exists())

    def fuzzer(self, text):
        (self.tree / "tests/fuzz/corpus/ir").mkdir(parents=True, exist_ok=True)
        self.script("bin/clang++", "exit 0")
        self.script("build-fuzz/tests/fuzz/fuzz-ir", text)
        (self.tree / "build-fuzz/build.ninja").touch()

    def test_a_signal_ends_the_fuzzers(self):
        for text in (RUNS_LONG, STUBBORN):
            self.fuzzer(text)
            self.assert_that_a_signal_ends("fuzz.sh", "60")

    def test_a_fuzzer_that_tries_nothing_is_a_failure(self):
        self.script("scripts/fuzz.sh", "echo '  ir_2: 12 inputs, cov: 1'")
        self.assertEqual(self.run_script("test.sh", "fuzz")[:2], (0, [ONE_PASSED]))
        shutil.copy(SCRIPTS / "fuzz.sh", self.tree / "scripts")
        for said, passes in (("", False), ("stat::number_of_executed_units: 0", False), ("stat::number_of_executed_units: 12", True)):
            self.fuzzer(f"echo '{said}'")
            self.assertEqual(self.run_script("test.sh", "fuzz")[:2], (0, [ONE_PASSED]) if passes else (1, ["0 passed, 1 failed"]), said)

    def test_a_fuzzer_that_stands_still_is_a_failure(self):
        self.fuzzer("kill -STOP $$")
        self.script("bin/timeout", 'while [ "$1" != build-fuzz/tests/fuzz/fuzz-ir ]; do shift; done; exec /usr/bin/timeout --foreground -k 1 1 "$@"')
        self.assertEqual(self.run_script("test.sh", "fuzz")[:2], (1, ["0 passed, 1 failed"]))

    def test_a_signal_ends_what_other_scripts_run(self):
        self.script("build/tests/soak/soak", RUNS_LONG)
        self.assert_that_a_signal_ends("soak.sh", "1")
        self.meson(RUNS_LONG)
        (self.tree / "build-tsan").mkdir()
        self.assert_that_a_signal_ends("tsan.sh")
        self.script("scripts/setup.sh", "exit 0")
        self.script("bin/ninja", RUNS_LONG)
        self.assert_that_a_signal_ends("demo.sh")
        until(lambda: not os.listdir(self.tree / "tmp"))

    def test_what_a_killed_program_has_started_ends(self):
        for program in (RUNS_LONG, STUBBORN):
            self.script("scripts/fuzz.sh", '[ "$1" != --build ] || exit 0; echo $PPID >"$MARK.leader"; ' + program)
            for is_ended_too in (False, True):  # as by who ends all of a group, one after the other
                self.mark.unlink(missing_ok=True)
                process, program_id = self.start("test.sh", "fuzz")
                os.kill(int((self.tree / "mark.leader").read_text()), signal.SIGKILL)
                if is_ended_too:
                    time.sleep(0.05)
                    process.terminate()
                self.assertIn(process.wait(PATIENCE_S), (1, 128 + signal.SIGTERM) if is_ended_too else (1,))
                until(lambda: is_gone(program_id))  # pylint: disable=cell-var-from-loop

    @unittest.skipUnless(os.uname().machine == "x86_64", "the compiler runs on x86-64")
    def test_who_installs_the_compiler_may_ask_for_a_password(self):
        """Who has no process group of his own reads the terminal."""
        self.script("scripts/setup-compiler.sh", '[ "$(cut -d" " -f5 /proc/$$/stat)" = "$(cut -d" " -f5 /proc/$PPID/stat)" ] && touch "$MARK"')
        self.script("scripts/lane.sh", f'[ -e "$MARK" ] || exit 1; set -- test -C build/runs/compiler; {PASSES}')
        self.assertEqual(self.run_script("test.sh", "compiler")[:2], (0, [ONE_PASSED]))

    def test_what_dies_quietly_says_why(self):
        run = self.shell('. scripts/common.sh; quietly die "no root" "Install sudo."; echo "$?"; ls "$TMPDIR"')
        self.assertEqual(run.stdout, "1\n")
        self.assertIn("no root", run.stderr)
        run = self.shell(f". scripts/common.sh; TMPDIR={self.tree}/none quietly true")
        self.assertIn("Set TMPDIR", run.stderr)

    def test_what_clang_tidy_breaks_with_is_shown(self):
        self.script("scripts/tidy.py", "echo 'clang-tidy is missing' >&2; exit 1")
        self.assertIn("clang-tidy is missing", self.run_script("test.sh", "tidy")[2])

    def test_to_format_no_files_is_a_failure(self):
        shutil.copy(SCRIPTS / "format.sh", self.tree / "scripts")
        self.script("bin/clang-format", "exit 0")
        (self.tree / "hall").mkdir()
        (self.tree / "hall/a.cpp").touch()
        for halls, passes in (("echo hall", True), ("echo hall; echo none", False), ("echo hall; exit 1", False)):
            self.script("scripts/rooms.py", halls)
            self.assertEqual(self.run_script("test.sh", "format")[0] == 0, passes, halls)

    def test_a_lane_stays_locked_while_its_folder_is_emptied(self):
        shutil.copy(SCRIPTS / "lane-tests.sh", self.tree / "scripts")
        self.script("scripts/test-targets.py", "exit 0")
        self.script("bin/meson", 'case $* in *--reconfigure*) exit 1 ;; esac; rm -rf build-x; mkdir build-x; touch build-x/build.ninja')
        self.script("bin/ninja", 'mkdir "$MARK" || exit 1; sleep 2; rmdir "$MARK"')
        (self.tree / "build-x/meson-private").mkdir(parents=True)
        (self.tree / "build-x/meson-private/cmd_line.txt").touch()
        (self.tree / "build-x/build.ninja").touch()
        builds = []
        for _ in range(2):
            builds.append(subprocess.Popen(self.command("lane-tests.sh", "--build"), cwd=self.tree, env={**self.environment, "LANE": "x"}))
            until(self.mark.exists)
        self.assertEqual([build.wait(PATIENCE_S) for build in builds], [0, 0])

    @unittest.skipUnless(os.geteuid() == 0, "only root may take niceness back")
    def test_what_a_stage_waits_for_is_not_left_to_idle_time(self):
        """The build beside ends only with the niceness of all else; the stage waits for it."""
        self.script("scripts/fuzz.sh", """
if mkdir "$MARK" 2>/dev/null; then
  while [ "$(cut -d' ' -f19 /proc/$$/stat)" -ne 0 ]; do sleep 0.1; done
  mktemp -d && touch "$MARK/built"
else
  while [ ! -e "$MARK/built" ]; do sleep 0.1; done
  echo '  ir: 1 inputs'
fi""")
        self.meson(PASSES + 'while [ ! -d "$MARK" ]; do sleep 0.1; done')
        self.assertEqual(self.run_script("test.sh", "tests", "fuzz")[:2], (0, ["2 passed, 0 failed"]))

    def test_what_keeps_the_machine_busy_ends_with_a_killed_script(self):
        self.meson(RUNS_LONG)
        process, meson = self.start("repeat.sh", "1", "tests")
        process.kill()
        process.wait()
        os.kill(meson, signal.SIGTERM)
        ours = str(self.tree).encode()

        def busy():
            found = []
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    found += [path] if ours in path.read_bytes() else []
                except OSError:
                    pass
            return found

        until(lambda: not busy())

    def test_an_environment_without_pip_gets_it(self):
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", self.tree / ".venv"], check=True)
        (self.tree / "requirements.txt").write_text("# none\n")
        self.script("bin/dpkg-query", "printf installed")
        code, _, said = self.run_script("setup.sh")
        self.assertEqual(code, 0, said)

    def project(self):
        """A project for meson itself, which wants a header of include/."""
        (self.tree / "bin/meson").unlink()
        (self.tree / "bin/ninja").unlink()
        shutil.rmtree(self.tree / "build")
        (self.tree / "include").mkdir()
        parts = ("gst", "softnpu", "tests", "overlay", "mqtt", "kafka")
        (self.tree / "meson_options.txt").write_text("".join(f"option('{name}', type: 'feature')\n" for name in parts) +
                                                     "option('sdk', type: 'string')\n")
        (self.tree / "meson.build").write_text(
            "project('p', 'c')\n"
            "assert(get_option('sdk') == '' or import('fs').is_dir(get_option('sdk')))\n"
            "message('gst:', get_option('gst').enabled())\n"
            "message('werror:', get_option('werror'), 'found:', meson.get_compiler('c').has_header('kafka.h', required: get_option('kafka')))\n")

    def shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.tree, capture_output=True, text=True, check=False,
                              env={**self.environment, "CPATH": f"{self.tree}/include"})

    @unittest.skipUnless(shutil.which("ccache"), "ccache is not installed")
    def test_what_was_compiled_in_another_locale_is_found(self):
        (self.tree / "a.c").write_text("int a;\n")
        compiles = "ccache cc -c a.c -o a.o"
        run = self.shell(f"unset CCACHE_DIR; . scripts/common.sh; LC_ALL=C {compiles}; LC_ALL=C.UTF-8 {compiles}; ccache --print-stats")
        self.assertIn("direct_cache_hit\t1\n", run.stdout, run.stderr)

    def test_a_header_that_was_not_there_is_looked_for_again(self):
        self.project()
        self.shell("meson setup build -Dkafka=auto -Dwerror=true")
        (self.tree / "include/kafka.h").touch()
        run = self.shell(". scripts/common.sh && configure build")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("werror: true found: true", run.stdout)  # the folder's own options stay

    def test_what_was_configured_half_is_configured_anew(self):
        self.project()
        (self.tree / "include/kafka.h").touch()
        self.shell("meson setup build && rm build/build.ninja")
        run = self.shell(". scripts/common.sh && configure build && ninja -C build")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_what_another_compiler_has_built_does_not_stay(self):
        self.project()
        (self.tree / "include/kafka.h").touch()
        self.script("bin/c++", 'echo "c++ of $YEAR"')
        run = self.shell(". scripts/common.sh; for YEAR in 2025 2026; do export YEAR; configure build && touch build/of-$YEAR; done; configure build; ls build")
        self.assertNotIn("of-2025", run.stdout.split(), run.stdout + run.stderr)
        self.assertIn("of-2026", run.stdout.split(), run.stdout + run.stderr)

    def test_what_is_built_stays_where_nothing_can_be_configured(self):
        self.project()
        (self.tree / "include/kafka.h").touch()
        self.shell(". scripts/common.sh && configure build && touch build/built")
        with open(self.tree / "meson.build", "a") as text:
            text.write("error('a slip')\n")
        run = self.shell(". scripts/common.sh && configure build -Dwerror=true")
        self.assertNotEqual(run.returncode, 0)
        self.assertTrue((self.tree / "build/built").exists())
        self.assertEqual(os.listdir(self.tree / "tmp"), [])

    def test_what_is_built_stays_where_a_folder_that_it_needs_is_away(self):
        self.project()
        (self.tree / "include/kafka.h").touch()
        (self.tree / "sdk").mkdir()
        self.shell('meson setup build -Dsdk="$PWD/sdk" && . scripts/common.sh && configure build && touch build/built')
        (self.tree / "sdk").rename(self.tree / "away")
        self.assertNotEqual(self.shell(". scripts/common.sh && configure build -Dwerror=true").returncode, 0)
        self.assertTrue((self.tree / "build/built").exists())

    def test_a_part_that_the_folder_was_set_up_without_is_built(self):
        self.project()
        (self.tree / "include/kafka.h").touch()
        self.shell("meson setup build -Dgst=disabled")
        self.assertIn("gst: true", self.shell(". scripts/common.sh && configure build").stdout)

    def test_what_is_built_stays_when_an_option_changes(self):
        self.project()
        (self.tree / "include/kafka.h").touch()
        self.shell("meson setup build && touch build/built")
        run = self.shell(". scripts/common.sh && configure build -Dwerror=true")
        self.assertIn("werror: true", run.stdout)
        self.assertTrue((self.tree / "build/built").exists())


if __name__ == "__main__":
    sys.exit(unittest.main())
