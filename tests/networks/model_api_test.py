"""Model API's wrappers (PyPI's openvino-model-api) and npuvision, on the same tensors: the same answers.

    model_api_test.py <npuvision-tests> <work folder> [unittest's arguments]

Each test writes small IRs whose model_info says what Model API needs. Its wrapper runs them on random pictures by OpenVINO's CPU plugin;
npuvision gets the outputs, and a card of the same model_info. Skipped where scripts/setup.sh --tests has not installed the packages.
"""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

SKIPPED = 77
try:
    import numpy as np
    import openvino as ov
    from model_api.models import Model
    from openvino import opset13 as op
except ImportError as missing:
    print("skipped: scripts/setup.sh --tests installs what is missing:", missing)
    sys.exit(SKIPPED)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "npuvision" / "reference"))  # its pictures, not those of this folder
import classification  # noqa: E402
from pictures import as_map  # noqa: E402
from reference import case, letterbox, mask, objects, stretch, tensor, write  # noqa: E402

PROGRAM = WORK = None
WIDTH, HEIGHT = SIZE = 96, 64
ENLARGED = 2
PICTURES = 5
LABELS = "square circle triangle star"


def picture_input():
    return op.parameter([1, 3, HEIGHT, WIDTH], np.float32, name="image")


def shares(image, count):
    """`count` blue values of the picture's middle row, from 0 to 1."""
    row = op.slice(image, [0, 0, HEIGHT // 2, 0], [1, 1, HEIGHT // 2 + 1, count], [1, 1, 1, 1])
    return op.divide(op.reshape(row, [count], False), np.float32(255))


def scored(image, edges):
    """[N, 5]: the edges, and scores that the picture decides."""
    scores = op.reshape(shares(image, len(edges)), [len(edges), 1], False)
    return op.concat([op.constant(edges), scores], 1)


def whole_boxes(random, count, model, frame, offset=(0, 0)):
    """Boxes of model pixels whose edges are whole pixels of a frame, as Model API rounds them."""
    corners = np.stack([random.integers(0, size + 1, (count, 2)) for size in frame], 2).astype(np.float32)
    edges = np.concatenate([corners.min(1), corners.max(1)], 1)
    scale = np.float32(max(frame[0] / model[0], frame[1] / model[1]))
    return edges / scale + np.tile(np.asarray(offset, np.float32), 2)


def levels():
    """Those of the NumPy program, with what Model API looks up beside them."""
    heads = classification.LEVELS["cls_heads_info"]
    places = {label: [group, at] for group, labels in enumerate(heads["all_groups"]) for at, label in enumerate(labels)}
    return json.dumps({**classification.LEVELS, "cls_heads_info": {**heads, "class_to_group_idx": places}})


def by_score(scores):
    return np.argsort(-np.asarray(scores, np.float64), kind="stable")


class Wrapped:
    """One IR on the disk, and Model API's wrapper of it."""

    def __init__(self, name, image, outputs, info):
        self.path = WORK / f"{name}.xml"
        results = []
        for key, node in outputs.items():
            node.output(0).get_tensor().set_names({key})
            results.append(op.result(node.output(0)))
        model = ov.Model(results, [image], name)
        for key, value in info.items():
            model.set_rt_info(value, ["model_info", key])
        ov.save_model(model, self.path, compress_to_fp16=False)
        self.info = info
        self.wrapper = Model.create_model(str(self.path), device="CPU", configuration={})

    def case(self, picture, meaning, geometry=stretch):
        """`meaning`: the answer, of the wrapper's result."""
        inputs, meta = self.wrapper.base_preprocess(picture)
        outputs = {name: values.copy() for name, values in self.wrapper.infer_sync(inputs).items()}
        tensors = [tensor(name, values.astype(np.uint8) if values.dtype == bool else values) for name, values in outputs.items()]
        answer = meaning(self.wrapper.postprocess(outputs, meta))
        frame = picture.shape[1::-1]
        return case({"path": str(self.path), "model_info": self.info}, tensors, SIZE, frame, answer, geometry(SIZE, frame))


def classes(result):
    order = by_score([one.confidence for one in result.top_labels])
    found = [result.top_labels[i] for i in order]
    return {"classes": [{"label_id": int(one.id), "confidence": float(one.confidence)} for one in found]}


def boxes(result):
    order = by_score(result.scores)
    return {"objects": objects(result.bboxes[order], result.scores[order], result.labels[order])}


def boxes_and_masks(result):
    return {**boxes(result), "masks": [mask(result.masks[i] > 0) for i in by_score(result.scores)]}


def classes_of_map(result):
    """The model's own places, of which the frame has each several times."""
    return {"class_map": as_map(result.resultImage[::ENLARGED, ::ENLARGED])}


def anomaly(result):
    """Model API says of a normal picture how normal it is."""
    is_normal = result.pred_label == "Normal"
    return {"anomaly": 1 - result.pred_score if is_normal else result.pred_score, "value_map": as_map(result.anomaly_map / 255)}


class ModelApi(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def pictures(self, enlarged=ENLARGED, size=SIZE):
        shape = (PICTURES, size[1], size[0], 3)
        return self.random.integers(0, 256, shape, np.uint8).repeat(enlarged, 1).repeat(enlarged, 2)

    def assert_same(self, cases, part):
        """npuvision decodes the cases to their answers. Some have this part."""
        cases = {str(number): one for number, one in enumerate(cases)}
        self.assertGreaterEqual(sum(bool(one["answer"].get(part)) for one in cases.values()), PICTURES - 1, cases)
        folder = WORK / self._testMethodName
        folder.mkdir(exist_ok=True)
        write(folder / "model_api.json", cases)
        run = subprocess.run([PROGRAM, "decode/model_api_test.cpp"], env={**os.environ, "NPUVISION_REFERENCES": str(folder)}, timeout=280,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("[  PASSED  ] 1 test.", run.stdout)

    def logits(self, count, name, info):
        """Values around 0 from the mean of each colour."""
        image = picture_input()
        means = op.subtract(op.reduce_mean(image, [2, 3], False), np.float32(127.5))
        weights = self.random.normal(0, 1, (3, count)).astype(np.float32)
        return Wrapped(name, image, {"logits": op.matmul(means, weights, False, False)},
                       {"model_type": "Classification", "confidence_threshold": "0.5", **info})

    def test_best_class(self):
        model = self.logits(4, "best-class", {"labels": LABELS})
        self.assert_same([model.case(one, classes) for one in self.pictures()], "classes")

    def test_classes_from_a_threshold_on(self):
        model = self.logits(4, "multilabel", {"labels": LABELS, "multilabel": "True"})
        self.assert_same([model.case(one, classes) for one in self.pictures()], "classes")

    def test_classes_of_levels(self):
        for resolver in ("greedy", "probabilistic"):
            model = self.logits(7, f"levels-{resolver}", {
                "labels": "nobody reads these seven but counts them", "hierarchical": "True", "hierarchical_postproc": resolver,
                "hierarchical_config": levels()})
            self.assert_same([model.case(one, classes) for one in self.pictures()], "classes")

    def detector(self, name, info, outputs):
        """`outputs`: by name, of the picture input."""
        image = picture_input()
        return Wrapped(name, image, outputs(image), {"labels": LABELS, "confidence_threshold": "0.4", "nms_execute": "False", **info})

    def boxes_in(self, frame, offset=(0, 0), count=40):
        return whole_boxes(self.random, count, SIZE, frame, offset), self.random.integers(0, 4, count)

    def test_rows_of_ssd(self):
        places, labels = self.boxes_in((WIDTH * ENLARGED, HEIGHT * ENLARGED))
        places = places / np.float32([WIDTH, HEIGHT, WIDTH, HEIGHT])

        def rows(image):
            of_image = np.stack([np.zeros(len(labels)), labels], 1).astype(np.float32)
            scores = op.reshape(shares(image, len(labels)), [len(labels), 1], False)
            return {"detection_out": op.reshape(op.concat([op.constant(of_image), scores, op.constant(places)], 1), [1, 1, -1, 7], False)}

        model = self.detector("rows", {"model_type": "ssd"}, rows)
        self.assert_same([model.case(one, boxes) for one in self.pictures()], "objects")

    def scored_boxes(self, name, info, frame, offset=(0, 0)):
        places, labels = self.boxes_in(frame, offset)
        return self.detector(name, {"model_type": "ssd", **info}, lambda image: {
            "boxes": op.unsqueeze(scored(image, places), 0), "labels": op.constant(labels[None])})

    def test_boxes_and_labels(self):
        model = self.scored_boxes("boxes-labels", {}, (WIDTH * ENLARGED, HEIGHT * ENLARGED))
        self.assert_same([model.case(one, boxes) for one in self.pictures()], "objects")

    def test_boxes_and_labels_in_a_letterbox(self):
        content, border = (WIDTH, HEIGHT // 2), (0, HEIGHT // 4)
        model = self.scored_boxes("letterbox", {"resize_type": "fit_to_window_letterbox"}, [side * ENLARGED for side in content], border)
        self.assert_same([model.case(one, boxes, letterbox) for one in self.pictures(size=content)], "objects")

    def test_boxes_labels_and_scores_by_name(self):
        places, labels = self.boxes_in((WIDTH * ENLARGED, HEIGHT * ENLARGED))
        places = places / np.float32([WIDTH, HEIGHT, WIDTH, HEIGHT])
        model = self.detector("three", {"model_type": "ssd"}, lambda image: {
            "bboxes": op.constant(places[None]), "labels": op.constant(labels[None]), "scores": op.unsqueeze(shares(image, len(labels)), 0)})
        self.assert_same([model.case(one, boxes) for one in self.pictures()], "objects")

    def test_maps_of_classes(self):
        image = picture_input()
        weights = self.random.normal(0, 1, (4, 3, 1, 1)).astype(np.float32)
        logits = op.convolution(op.subtract(image, np.float32(127.5)), weights, [1, 1], [0, 0], [0, 0], [1, 1])
        model = Wrapped("classes", image, {"logits": logits}, {
            "model_type": "Segmentation", "labels": LABELS, "blur_strength": "-1", "return_soft_prediction": "True"})
        self.assert_same([model.case(one, classes_of_map) for one in self.pictures()], "class_map")

    def test_anomalies(self):
        """Model API rounds to 255 steps, so the model says only these; some of them lie below 0 and above 1."""
        image, scale, threshold = picture_input(), 8, 3.5
        steps = op.subtract(op.multiply(op.slice(image, [0], [1], [1], [1]), np.float32(2)), np.float32(128))
        values = op.add(op.multiply(op.subtract(op.divide(steps, np.float32(255)), np.float32(0.5)), np.float32(scale)), np.float32(threshold))
        model = Wrapped("anomaly", image, {"anomaly_map": values}, {
            "model_type": "AnomalyDetection", "labels": "Normal Anomaly", "image_threshold": "4.25",
            "pixel_threshold": str(threshold), "normalization_scale": str(scale)})
        for brightest in (255, 160, 120):
            pictures = np.minimum(self.pictures(1), brightest).astype(np.uint8)
            self.assert_same([model.case(one, anomaly) for one in pictures], "value_map")

    def test_anomalies_of_four_outputs(self):
        image = picture_input()
        values = op.divide(op.slice(image, [0], [1], [1], [1]), np.float32(255))
        score = op.reshape(op.reduce_mean(values, [1, 2, 3], False), [1], False)
        model = Wrapped("four", image, {
            "pred_score": score, "pred_label": op.greater(score, np.float32(0.5)), "anomaly_map": values,
            "pred_mask": op.greater(values, np.float32(0.5))}, {"model_type": "AnomalyDetection", "labels": "Normal Anomaly"})
        self.assert_same([model.case(one, anomaly) for one in self.pictures(1)], "value_map")

    def test_masks(self):
        places, labels = self.boxes_in((WIDTH * ENLARGED, HEIGHT * ENLARGED), count=20)
        masks = np.kron(self.random.uniform(0, 1, (len(labels), 7, 7)), np.ones((4, 4))).astype(np.float32)
        image = picture_input()
        model = Wrapped("masks", image, {
            "boxes": scored(image, places), "labels": op.constant(labels), "masks": op.constant(masks)}, {
            "model_type": "MaskRCNN", "labels": "none " + LABELS, "confidence_threshold": "0.4", "nms_execute": "False"})
        self.assert_same([model.case(one, boxes_and_masks) for one in self.pictures()], "masks")


if __name__ == "__main__":
    PROGRAM, WORK = sys.argv.pop(1), Path(sys.argv.pop(1))
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(verbosity=2)
