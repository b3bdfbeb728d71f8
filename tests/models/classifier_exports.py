"""Folders with a classifier as Hugging Face's and Geti's tools export it: the demo classifier of colours, made to want what theirs want.

    classifier_exports.py <folder>

writes below it:

    hugging_face/          openvino_model.xml, config.json, preprocessor_config.json, as `optimum-cli export openvino` does for a vision
                           transformer: the sizes of the input are open, the IR says nothing of pictures
    hugging_face_cropped/  the same of a residual network: the picture's middle
    geti/                  model.xml, with all that is known in its model_info
    bare/                  model.xml, of which nothing is known

The input is normalised as that of most such models, channel by channel, and the output is logits: their softmax is what colors.xml says of a picture.
"""

import json
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
SIDE = 32
LABELS = ["red", "green", "blue", "yellow"]  # of colors.xml
# ImageNet's, from 0 to 1.
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
# The shorter side of the picture that the cropped model's input is the middle of.
CROPPED_FROM = 40

CONFIG = {
    "image_size": SIDE,
    "model_type": "vit",
    "num_channels": 3,
    "id2label": {str(index): label for index, label in enumerate(LABELS)},
    "label2id": {label: index for index, label in enumerate(LABELS)},
    "torch_dtype": "float32",
    "transformers_version": "4.53.3",
}
PREPROCESSING = {
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": MEAN,
    "image_std": DEVIATION,
    "resample": 2,
    "rescale_factor": 1 / 255,
}
# Keys of Geti's own tools that no card reads are among them.
MODEL_INFO = {
    "model_type": "Classification",
    "task_type": "classification",
    "labels": " ".join(LABELS),
    "label_ids": " ".join(str(index) for index in range(len(LABELS))),
    "mean_values": " ".join(f"{255 * value:.6g}" for value in MEAN),
    "scale_values": " ".join(f"{255 * value:.6g}" for value in DEVIATION),
    "reverse_input_channels": "True",
    "resize_type": "standard",
    "pad_value": "0",
    "multilabel": "False",
    "hierarchical": "False",
    "output_raw_scores": "True",
    "confidence_threshold": "0.0",
}


def per_channel(values):
    return op.constant(np.asarray(values, np.float32).reshape(1, 3, 1, 1))


def classifier(name, shape):
    """The demo classifier with a normalised input of that name, and logits."""
    source = ov.Core().read_model(SHAPES / "colors.xml")
    probabilities = source.get_results()[0].input_value(0)
    probabilities.set_names(set())
    image = source.get_parameters()[0]
    image.output(0).set_names({name})
    image.set_partial_shape(ov.PartialShape(shape))
    users = image.output(0).get_target_inputs()
    colors = op.add(op.multiply(image, per_channel(DEVIATION)), per_channel(MEAN))
    for user in users:
        user.replace_source_output(colors.output(0))
    logits = op.log(op.add(probabilities, op.constant(np.float32(1e-12))))
    logits.output(0).set_names({"logits"})
    return ov.Model([op.result(logits)], [image], "classifier")


def write(model, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    ov.save_model(model, folder / name, compress_to_fp16=False)


def write_hugging_face(folder, architecture, **preprocessing):
    write(classifier("pixel_values", [-1, 3, -1, -1]), folder, "openvino_model.xml")
    (folder / "config.json").write_text(json.dumps({"architectures": [architecture], **CONFIG}, indent=2))
    (folder / "preprocessor_config.json").write_text(json.dumps({**PREPROCESSING, **preprocessing}, indent=2))


def write_geti(folder):
    model = classifier("image", [1, 3, SIDE, SIDE])
    for key, value in MODEL_INFO.items():
        model.set_rt_info(value, ["model_info", key])
    write(model, folder, "model.xml")


def main():
    folder = Path(sys.argv[1])
    square = {"height": SIDE, "width": SIDE}
    write_hugging_face(folder / "hugging_face", "ViTForImageClassification", image_processor_type="ViTImageProcessor", size=square)
    write_hugging_face(folder / "hugging_face_cropped", "ResNetForImageClassification", image_processor_type="ConvNextImageProcessor",
                       do_center_crop=True, crop_size=square, size={"shortest_edge": CROPPED_FROM})
    write_geti(folder / "geti")
    write(classifier("image", [1, 3, SIDE, SIDE]), folder / "bare", "model.xml")
    folder.touch()  # a build asks when it was made


if __name__ == "__main__":
    main()
