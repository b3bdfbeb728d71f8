"""What the demo models mean, computed without the library: OpenVINO's CPU plugin runs them on frames of their clips, and the NumPy
programs of tests/npuvision/reference decode their outputs.

    answers.py <folder of models/shapes/tasks.py> <answers.json>

A frame holds each pixel of the model's input twice across and twice down, without the borders of the letterbox. Whoever halves it has
exactly these pixels again, however he halves, so that differences between two answers are those of decoding.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import openvino as ov

ROOT = Path(__file__).resolve().parents[2]
SHAPES, DIGITS = ROOT / "models" / "shapes", ROOT / "models" / "digits"
sys.path += [str(SHAPES), str(DIGITS), str(ROOT / "tests" / "npuvision" / "reference")]

import classification  # noqa: E402
import clip  # noqa: E402
import digits  # noqa: E402
import generate  # noqa: E402
import pixels  # noqa: E402
import text  # noqa: E402
import yolo  # noqa: E402
from pictures import as_map, shown  # noqa: E402
from reference import case, letterbox, stretch, tensor, write  # noqa: E402
from scenes import noise_texture  # noqa: E402

# Boxes of one object overlap by more than the threshold, or by less. No score and no overlap is within 0.003 of a threshold, where two runs
# of a model might disagree.
THRESHOLDS = {"confidence_threshold": 0.24, "iou_threshold": 0.7}
CLIP_FRAMES = (0, 75, 150, 225)
METER_FRAMES = 6
ENLARGED = 2


@dataclass
class TinyModel:
    """`pictures`: [H, W, 3] u8 each, what the model sees of a frame. `tensor_of` makes its input of one, `meaning` an answer of its
    outputs. `options`: those of DecodeOptions."""

    path: Path
    pictures: list
    tensor_of: Callable
    meaning: Callable
    geometry: Callable = stretch
    options: dict = field(default_factory=dict)

    def frames(self):
        return [picture.repeat(ENLARGED, 0).repeat(ENLARGED, 1) for picture in self.pictures]

    def cases(self):
        model = ov.Core().read_model(self.path)
        compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        info = model.get_rt_info("model_info").value if model.has_rt_info("model_info") else {}
        card = {"path": str(self.path), "model_info": {key: str(value) for key, value in info.items()}}
        return [self.case_of(compiled, card, picture) for picture in self.pictures]

    def case_of(self, compiled, card, picture):
        values = self.tensor_of(picture)
        outputs = [output.copy() for output in compiled(values).values()]
        tensors = [tensor(port.any_name, output) for port, output in zip(compiled.outputs, outputs, strict=True)]
        size, frame = values.shape[:1:-1], (picture.shape[1] * ENLARGED, picture.shape[0] * ENLARGED)
        geometry = self.geometry(size, frame)
        return case(card, tensors, size, frame, self.meaning(outputs, geometry, frame), geometry, **self.options)


def planes(picture):
    return np.ascontiguousarray(picture.astype(np.float32).transpose(2, 0, 1)[None])


def as_shares(picture):
    return planes(picture) / np.float32(255)


def in_letterbox(picture):
    border = (pixels.MODEL_SIZE - picture.shape[0]) // 2
    return as_shares(np.pad(picture, ((border, border), (0, 0), (0, 0)), constant_values=pixels.PAD_VALUE))


def clip_pictures():
    """Frames of the demo clip as the detector sees them, and what is on them."""
    scene = generate.clip_scene()
    for index in CLIP_FRAMES:
        picture, line = generate.truth_line(scene, index)
        content, scale = pixels.shrink(pixels.to_i420(picture))
        yield np.clip(content + 0.5, 0, 255).astype(np.uint8), scale, line["objects"]


def color_pictures():
    """A window of each shape that is whole in the frame, of the classifier's size."""
    size = 32
    for picture, scale, objects in clip_pictures():
        for thing in objects:
            left, top = (int((thing[at] + thing[along] / 2) * scale) - size // 2 for at, along in (("x", "w"), ("y", "h")))
            if left >= 0 and top >= 0 and left + size <= picture.shape[1] and top + size <= picture.shape[0]:
                yield picture[top:top + size, left:left + size]


def meter_pictures():
    """The panel of the meter, of the reader's size."""
    random = np.random.default_rng(clip.SEED)
    texture = noise_texture(random, clip.WIDTH, clip.HEIGHT)
    left, top, width, height = clip.PANEL
    for index in range(METER_FRAMES):
        yield clip.frame(texture, random, index)[top:top + height, left:left + width]


def objects_of(task, classes, key_points=(0, 0)):
    def meaning(outputs, geometry, frame):
        protos = outputs[1][0] if task == "segment" else None
        rows = yolo.Outputs(task, classes, frame, geometry, outputs[0][0].T, protos, key_points, THRESHOLDS)
        return rows.answer(rows.chosen())

    return meaning


def map_of_classes(outputs, geometry, frame):
    return {"class_map": as_map(shown(outputs[0][0].argmax(0), is_boxed=True))}


def best_class(outputs, geometry, frame):
    return {"classes": classification.best(outputs[0][0].astype(np.float64), 0, 1)}


def text_of(outputs, geometry, frame):
    return text.meaning(outputs[0][0], ["", *digits.DOTS])


def models(tasks):
    """By name. `tasks`: the folder of models/shapes/tasks.py."""
    seen = [picture for picture, _, _ in clip_pictures()]

    def yolo_model(path, meaning):
        return TinyModel(path, seen, in_letterbox, meaning, letterbox, THRESHOLDS)

    def of_task(task):
        return Path(tasks).resolve() / f"shapes_{task}_openvino_model" / f"shapes_{task}.xml"

    return {
        "detect": yolo_model(SHAPES / "shapes.xml", objects_of("detect", 3)),
        "segment": yolo_model(of_task("segment"), objects_of("segment", 3)),
        "pose": yolo_model(of_task("pose"), objects_of("pose", 1, (4, 3))),
        "obb": yolo_model(of_task("obb"), objects_of("obb", 1)),
        "semantic": yolo_model(of_task("semantic"), map_of_classes),
        "colors": TinyModel(SHAPES / "colors.xml", list(color_pictures()), as_shares, best_class),
        # PaddleOCR's readers take colours from -1 to 1.
        "digits": TinyModel(DIGITS / "digits.xml", list(meter_pictures()), lambda picture: as_shares(picture) * 2 - 1, text_of),
    }


def main():
    tasks, path = sys.argv[1:]
    write(path, {f"{name} {index}": one for name, model in models(tasks).items() for index, one in enumerate(model.cases())})


if __name__ == "__main__":
    main()
