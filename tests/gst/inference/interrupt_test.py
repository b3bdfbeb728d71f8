#!/usr/bin/env python3
"""Ctrl-C while npuinfer or npu-compile compiles: both end cleanly and leave nothing, or a whole blob.

usage: interrupt_test.py WRITE_LONG_MODEL NPU_COMPILE
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = 10
STEPS = 200  # half a second of compiling


def interrupted(command, until, wait_s):
    """Starts the command, interrupts it `wait_s` after it printed `until`, tells its exit code and output."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if until in line:
            break
    time.sleep(wait_s)
    process.send_signal(signal.SIGINT)
    lines.append(process.communicate()[0])
    return process.returncode, "".join(lines)


def check(condition, what, output):
    if not condition:
        sys.exit(f"{what}\n{output}")


def pipeline_ends_cleanly(model):
    command = ["gst-launch-1.0", "videotestsrc", "!", "video/x-raw,format=RGB,width=64,height=64", "!", "npuinfer",
               f"model={model}", "device=software", "!", "fakesink"]
    for number in range(ROUNDS):
        code, output = interrupted(command, "compiling long.xml", number * 0.05)
        check(code == 0 and "Freeing pipeline" in output, f"round {number}: gst-launch-1.0 ended with {code}", output)
        check("ERROR" not in output and "CRITICAL" not in output, f"round {number}: an error was told", output)


def tool_leaves_nothing_or_all(tool, model, folder):
    blob = folder / "out.blob"
    command = [tool, "--device", "software", model, "-o", blob]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    whole_bytes = blob.stat().st_size
    blob.unlink()
    for number in range(ROUNDS):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(0.02 + number * 0.05)
        process.send_signal(signal.SIGINT)
        output = process.communicate()[0]
        left = sorted(path.name for path in folder.iterdir() if "out" in path.name)
        ended_early = process.returncode in (130, -signal.SIGINT) and left == []
        # Once the blob is being written the signal waits until it is whole.
        done = process.returncode in (0, -signal.SIGINT) and left == ["out.blob"] and blob.stat().st_size == whole_bytes
        check(ended_early or done, f"round {number}: npu-compile ended with {process.returncode} and left {left}",
              output)
        blob.unlink(missing_ok=True)


def main():
    write_long_model, tool = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([write_long_model, folder, str(STEPS)], check=True)
        model = folder / "long.xml"
        pipeline_ends_cleanly(model)
        tool_leaves_nothing_or_all(tool, model, folder)


if __name__ == "__main__":
    main()
