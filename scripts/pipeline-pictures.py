#!/usr/bin/env python3
"""Makes the pictures of docs/pipelines.md: runs each line of pipelines/ on the software NPU, with what it finds drawn on its frames, and
keeps one of them in docs/pictures; and README's, shapes.jpg.

usage: pipeline-pictures.py BUILDDIR [NAME...]    NAME such as detect-file, or readme; all where none is given
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PIPELINES = TREE / "pipelines"
CLIP = TREE / "models" / "shapes" / "shapes.mp4"
PICTURES = TREE / "docs" / "pictures"
FRAME = 216  # of the clip: an inferred one of every third, with all shapes in it
DECODED = f"filesrc location={CLIP} ! decodebin"
CAPTURE = "videoconvert ! jpegenc quality=95 ! multifilesink location={}/%05d.jpg"
# README's first picture: masks, boxes, labels and the ways of the last two seconds, in a frame where few shapes cover each other.
README_FRAME = 120
README_LINE = (f"gst-launch-1.0 -q {DECODED} ! npuinfer model={{model}} device=software ! nputensordec ! nputrack ! "
               "npuoverlay trail-length=2000 trail-anchor=center ! videoconvert ! jpegenc quality=75 ! multifilesink location={folder}/%05d.jpg")
SMALLER = "gst-launch-1.0 -q filesrc location={} ! jpegdec ! videoconvert ! videoscale ! video/x-raw,format=I420,colorimetry=1:4:0:0,width=480,pixel-aspect-ratio=1/1 ! jpegenc quality=75 ! filesink location={}"


# ---- A line, drawn

def branches(words):
    """A launch line as lists of elements, which are lists of words."""
    found, element, follows = [], [], False
    for word in words:
        if word == "!":
            follows = True
            continue
        if element and not follows and ("=" in word or "," in word):
            element.append(word)
            continue
        element = [word]
        if follows:
            found[-1].append(element)
        else:
            found.append([element])
        follows = False
    return found


def captured(words, folder):
    """The same line with a branch that ends in pictures: the one that shows several, else the first with objects."""
    lines = branches(words)
    names = [[element[0] for element in branch] for branch in lines]
    kept = next((i for i, of in enumerate(names) if "compositor" in of), None)
    if kept is None:
        kept = next(i for i, of in enumerate(names) if "nputensordec" in of)
        last = max(i for i, name in enumerate(names[kept]) if name in ("nputensordec", "nputrack", "npucount", "npupublish", "npuoverlay"))
        lines[kept] = lines[kept][:last + 1] + ([] if "npuoverlay" in names[kept] else [["npuoverlay"]])
    else:
        lines[kept] = lines[kept][:-1]
    lines[kept] += [part.split() for part in CAPTURE.format(folder).split(" ! ")]
    return [word for branch in lines for word in " ! ".join(" ".join(element) for element in branch).split()]


def launch(folder, words):
    """In place of gst-launch-1.0."""
    path = os.environ["PATH"].split(":", 1)[1]
    options, line = [word for word in words if word.startswith("-")], [word for word in words if not word.startswith("-")]
    os.execve(shutil.which("gst-launch-1.0", path=path), ["gst-launch-1.0", *options, *captured(line, folder)], os.environ | {"PATH": path})


# ---- The lines

def environment(build, folder):
    wrapper = folder / "bin" / "gst-launch-1.0"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} --launch {folder / "frames"} "$@"\n')
    wrapper.chmod(0o755)
    (folder / "frames").mkdir()
    libraries = ":".join(str(build / room) for room in ("npucore", "npuvision", "gst/meta", "gst/plugin", "softnpu"))
    return os.environ | {"PATH": f"{wrapper.parent}:{os.environ['PATH']}", "DEVICE": "software", "GST_PLUGIN_PATH": str(build / "gst/plugin"),
                         "GST_REGISTRY": str(folder / "registry.bin"), "LD_LIBRARY_PATH": libraries,
                         "NPU_COMPILE": str(build / "tools/npu_compile/npu-compile"), "BLOB": str(folder / "model.blob")}


def run(words, env):
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        sys.exit(f"{words[0]}: {done.stderr[-1000:]}")


def run_camera(name, source, folder, env):
    run([PIPELINES / name, 640, 360], env | {"SOURCE": source})


def run_images(folder, env):
    run(f"gst-launch-1.0 -q {DECODED} ! jpegenc ! multifilesink location={folder}/%05d.jpg".split(), os.environ)
    run([PIPELINES / "detect-images.sh", f"{folder}/%05d.jpg"], env)


def run_rtsp(folder, env):
    stream = f"( {DECODED} ! videoconvert ! video/x-raw,format=I420 ! jpegenc ! rtpjpegpay name=pay0 )"
    server = subprocess.Popen([TREE / "tests/pipelines/rtsp_server.py", "0", stream], stdout=subprocess.PIPE, text=True)
    script = subprocess.Popen([PIPELINES / "detect-rtsp.sh", f"rtsp://127.0.0.1:{int(server.stdout.readline())}/camera", folder / "out.jsonl"],
                              env=env, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if (folder / "frames" / f"{FRAME - 20:05}.jpg").exists():
            break
        time.sleep(0.1)
    for process in (script, server):
        process.terminate()
        process.wait()


def run_record(folder, env):
    run([PIPELINES / "record-on-event.py", folder / "events"],
        env | {"EVENT": "forward", "PLACES": str(PIPELINES / "middle.json"), "ENCODER": "npuoverlay ! jpegenc", "AFTER": "1"})
    recording = sorted((folder / "events").iterdir())[-2]
    run(f"gst-launch-1.0 -q filesrc location={recording} ! matroskademux ! jpegdec ! {CAPTURE.format(folder / 'frames')}".split(), os.environ)


SPECIAL = {
    "detect-camera-mjpg": lambda folder, env: run_camera("detect-camera-mjpg.sh", DECODED + " ! jpegenc", folder, env),
    "detect-camera-yuy2": lambda folder, env: run_camera("detect-camera-yuy2.sh", DECODED + " ! videoconvert", folder, env),
    "detect-images": run_images,
    "detect-live": lambda folder, env: run_camera("detect-live.sh", DECODED, folder, env),
    "detect-rtsp": run_rtsp,
    # Into files: no broker is needed to see the boxes.
    "publish-kafka": lambda folder, env: run([PIPELINES / "publish-kafka.sh", CLIP, folder / "out.jsonl"], env),
    "publish-mqtt": lambda folder, env: run([PIPELINES / "publish-mqtt.sh", CLIP, folder / "out.jsonl"], env),
    "record-on-event": run_record,
}
# The lines that need a place to write to get one.
OUTPUTS = {"annotate-file": ["out.avi"], "detect-and-record": ["out.avi"], "four-streams": ["."], "read-page": ["out.jpg"], "two-models": ["1.jsonl", "2.jsonl"]}


def make(path, build):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = environment(build, folder)
        if path.stem in SPECIAL:
            SPECIAL[path.stem](folder, env)
        else:
            run([path, *(folder / output for output in OUTPUTS.get(path.stem, []))], env)
        frames = sorted((folder / "frames").glob("*.jpg"))
        if not frames:
            sys.exit(f"{path.name} gave no picture")
        run(SMALLER.format(frames[min(FRAME, len(frames) * 3 // 4)], PICTURES / f"{path.stem}.jpg").split(), os.environ)
        print(f"{path.name}: one of {len(frames)} frames", flush=True)


def make_readme(build):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = environment(build, folder) | {"PATH": os.environ["PATH"]}
        model = build / "models/shapes/shapes_segment_openvino_model/shapes_segment.xml"
        run(README_LINE.format(model=model, folder=folder).split(), env)
        shutil.copyfile(folder / f"{README_FRAME:05}.jpg", PICTURES / "shapes.jpg")
        print(f"README: frame {README_FRAME}", flush=True)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--launch":
        launch(sys.argv[2], sys.argv[3:])
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    if not wanted or "readme" in wanted:
        make_readme(build)
    for path in sorted(PIPELINES.iterdir()):
        if path.suffix in (".sh", ".py") and path.name not in ("common.sh", "detect-va.sh") and (not wanted or path.stem in wanted):
            make(path, build)


if __name__ == "__main__":
    main()
