"""What the reference programs beside this file share: each computes tensors and what they mean with NumPy, by the formulas of
the models' authors, and knows nothing of the library. tests/npuvision/reference.hpp reads what they write.

A program ends with `write(sys.argv[1], {"case": case(...), ...})`.
"""
import json
import math

import numpy as np


def stretch(model, frame):
    """From the model's pixels to the frame's, both [width, height]: frame = (model - offset) * scale."""
    return {"model_width": model[0], "model_height": model[1], "offset_x": 0.0, "offset_y": 0.0,
            "scale_x": frame[0] / model[0], "scale_y": frame[1] / model[1]}


def letterbox(model, frame):
    """The same with the aspect ratio kept and the picture in the middle."""
    scale = max(frame[0] / model[0], frame[1] / model[1])
    return {"model_width": model[0], "model_height": model[1],
            "offset_x": (model[0] - frame[0] / scale) / 2, "offset_y": (model[1] - frame[1] / scale) / 2,
            "scale_x": scale, "scale_y": scale}


def into_frame(points, geometry, frame):
    """Pairs of x and y in the last dimension, or twice as many, from model pixels to frame pixels; clipped to the frame."""
    points = np.asarray(points, np.float64)
    pairs = points.reshape(*points.shape[:-1], -1, 2)
    offset = np.array([geometry["offset_x"], geometry["offset_y"]])
    scale = np.array([geometry["scale_x"], geometry["scale_y"]])
    return np.clip((pairs - offset) * scale, 0, np.asarray(frame, np.float64)).reshape(points.shape)


def tensor(name, values, row_padding=0):
    """`values` is an array of float32, float16, int64, int32 or uint8. NaN and infinity are written as null and "inf"."""
    kind = {"float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "uint8": "u8"}[str(values.dtype)]
    flat = values.reshape(-1).tolist()
    flat = [value if math.isfinite(value) else None if math.isnan(value) else "inf" if value > 0 else "-inf" for value in flat]
    return {"name": name, "type": kind, "shape": list(values.shape), "values": flat, "row_padding": row_padding}


def objects(boxes, scores, labels, oriented=None):
    """`boxes`: left, top, right, bottom in the frame. `oriented`: x and y of the centre, width, height, angle of each."""
    found = [{"left": box[0], "top": box[1], "right": box[2], "bottom": box[3], "confidence": float(score), "label_id": int(label)}
             for box, score, label in zip(np.asarray(boxes, np.float64).tolist(), scores, labels)]
    for one, turned in zip(found, oriented if oriented is not None else []):
        one["oriented"] = [float(value) for value in turned]
    return found


def mask(pixels):
    """A mask of a whole frame, of booleans [height, width], as the rectangle that holds its pixels."""
    rows, columns = np.nonzero(pixels)
    if rows.size == 0:
        return {"x": 0, "y": 0, "width": 0, "height": 0, "pixels": ""}
    top, bottom, left, right = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    text = "".join("#" if value else "." for value in pixels[top:bottom, left:right].reshape(-1))
    return {"x": int(left), "y": int(top), "width": int(right - left), "height": int(bottom - top), "pixels": text}


def case(card, tensors, model, frame, answer, geometry=None, **options):
    """`card`: task, family, labels (a list, or how many) and the other fields of ModelCard by their names. `answer`: the fields
    of Answer by their names; those that are not there must be empty. `options`: those of DecodeOptions."""
    return {"card": card, "tensors": tensors, "input": list(model), "frame": list(frame),
            "geometry": geometry or stretch(model, frame), "options": options, "answer": answer}


def write(path, cases):
    def plain(value):
        return value.tolist()  # NumPy's numbers and arrays

    with open(path, "w", encoding="utf-8") as file:
        json.dump(cases, file, default=plain, allow_nan=False)
