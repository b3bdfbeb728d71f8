#!/usr/bin/env python3
"""Builds the wheel, installs it into a new environment, and looks at what it brings and what its five lines find.

usage: wheel_test.py
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
# Libraries that any system with glibc has; the others must be inside. OpenVINO is the software NPU's alone, GStreamer video's.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")
OUTSIDE = {"libze_softnpu.so": "libopenvino", "_video.abi3.so": "lib(gst|g(lib|object)-)", "libgst": "lib(gst|g(lib|object)-)"}
PROGRAM = """
import sys, numpy
sys.path.insert(0, sys.argv[1])
import generate, npucore
picture, _ = generate.clip_scene().frame(0)
model = npucore.Model.read(sys.argv[1] + "/shapes.xml")
card = npucore.vision.ModelCard.read(model)
model.preprocess(npucore.Frame("RGB", 640, 360), card)
compiled = npucore.compile(model, "software")
answer = npucore.vision.Decoder(card, compiled)(compiled.create_request().infer(picture))
print(*answer.class_name[:3], answer.xyxy[:3].round().astype(int).tolist(), compiled.device.info.driver_library)
"""
VIDEO = """
import sys, npucore
frames, objects, identities = 0, 0, set()
for frame in npucore.video(sys.argv[1] + "/shapes.mp4", model=sys.argv[1] + "/shapes.xml", track=True):
    frames += 1
    for thing in frame.objects:
        objects += 1
        identities.add(thing.track_id)
print(frames, "frames,", objects, "objects,", len(identities), "identities")
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{command[:4]} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def check_libraries(wheel, folder):
    """Every library inside is found from inside, whatever the machine that built it has."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]
    own = {path.name for path in files}
    if not {"libnpucore.so", "libnpuvision.so", "libze_softnpu.so", "npu-compile-helper", "libgstnpu.so"} <= own:
        sys.exit(f"the wheel lacks a part: it has {sorted(own)}")
    for path in files:
        dynamic = run("readelf", "-d", path)
        for needed in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
            outside = any(path.name.startswith(start) and re.match(libraries, needed) for start, libraries in OUTSIDE.items())
            if not SYSTEM.match(needed) and needed not in own and not outside:
                sys.exit(f"{path.name} needs {needed}, which is not in the wheel")
        for places in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
            if any(not place.startswith("$ORIGIN") for place in places.split(":")):
                sys.exit(f"{path.name} looks for libraries in {places}")


def check_versions():
    """The software NPU needs the OpenVINO that it was built with."""
    for line in (TREE / "requirements.txt").read_text().splitlines():
        if line.startswith("openvino==") and f'"{line}"' not in (TREE / "pyproject.toml").read_text():
            sys.exit(f"pyproject.toml asks for another version than requirements.txt, {line}")


def main():
    check_versions()
    with tempfile.TemporaryDirectory() as folder:
        run(TREE / "scripts/wheel.sh", folder)
        wheel = next(Path(folder).glob("npucore-*.whl"))
        print(wheel.name, wheel.stat().st_size >> 10, "KiB")
        if "-cp311-abi3-" not in wheel.name:
            sys.exit("the wheel is not for the stable ABI of Python 3.11")
        check_libraries(wheel, Path(folder, "unpacked"))
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("PYTHON", "NPUCORE_", "LD_"))}
        run(sys.executable, "-m", "venv", Path(folder, "venv"))
        python = Path(folder, "venv/bin/python")
        before = {path for path in Path(folder, "venv").rglob("*") if "__pycache__" not in path.parts}
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{wheel}[software]", env=environment)
        print(run(python, "-c", PROGRAM, TREE / "models/shapes", env=environment, cwd=folder))
        found = run(python, "-c", PROGRAM, TREE / "models/shapes", env=environment, cwd=folder).splitlines()[-1]
        if not re.match(r"circle circle circle \[\[20\d, 16\d, 31\d, 27\d\]", found) or str(Path(folder, "venv")) not in found:
            sys.exit("these are not the clip's first boxes, or not from the wheel's software NPU")
        found = run(python, "-c", VIDEO, TREE / "models/shapes", env=environment, cwd=folder)
        if not re.search(r"^300 frames, 1920 objects, 15 identities$", found, re.M):
            sys.exit(f"video() finds {found}")
        run(python, "-m", "npucore", env=environment)
        run(python, "-m", "pip", "uninstall", "-q", "-y", "npucore", env=environment)
        left = [path for path in Path(folder, "venv").rglob("*npucore*") if path not in before]
        if left:
            sys.exit(f"pip uninstall leaves {left}")


if __name__ == "__main__":
    main()
