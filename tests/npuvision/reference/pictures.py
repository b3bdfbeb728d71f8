"""What covers the whole picture: segmentation, anomaly, depth, embedding. usage: pictures.py JSON

Class maps and anomalies: open-edge-platform/model_api, models/segmentation.py and anomaly.py; those of Anomalib 2 are normalised in
the graph. Letterbox borders belong to no frame."""
import sys

import numpy as np

from reference import case, letterbox, stretch, tensor, write

MODEL, FRAME = (64, 64), (160, 90)  # a letterbox has 14 rows above and below


def shown(values, is_boxed, rows_per_pixel=1):
    """The part of a map that shows the frame."""
    border = 14 // rows_per_pixel if is_boxed else 0
    return values[border:values.shape[0] - border]


def as_map(values):
    return {"width": values.shape[1], "height": values.shape[0], "values": values.reshape(-1).tolist()}


def one(card, tensors, answer, is_boxed=False, **options):
    geometry = letterbox(MODEL, FRAME) if is_boxed else stretch(MODEL, FRAME)
    return case(card, tensors, MODEL, FRAME, answer, geometry, **options)


def main():
    random = np.random.default_rng(1)
    scores = random.normal(0, 1, (5, 64, 64)).astype(np.float32)
    halves = random.normal(0, 1, (3, 32, 32)).astype(np.float16)
    ids = random.integers(0, 5, (64, 64))
    anomalies = random.uniform(10, 30, (64, 64)).astype(np.float32)
    shares = random.uniform(0, 1, (32, 32)).astype(np.float32)
    depth = random.uniform(0, 9, (64, 64)).astype(np.float32)
    vector = random.normal(0, 2, 256).astype(np.float32)
    semantic, anomaly = {"task": "semantic", "labels": 5}, {"task": "anomaly"}
    thresholds = {"image_threshold": 24.0, "pixel_threshold": 22.0, "normalization_scale": 12.0}

    def normalised(values, threshold):
        return np.clip((values.astype(np.float64) - threshold) / 12 + 0.5, 0, 1)

    of_anomalies = {"anomaly": float(normalised(anomalies.max(), 24)), "value_map": as_map(normalised(anomalies, 22))}
    write(sys.argv[1], {
        "classes": one(semantic, [tensor("out", scores[None])], {"class_map": as_map(scores.argmax(0))}),
        "classes in a letterbox": one(semantic, [tensor("out", scores[None], row_padding=9)],
                                      {"class_map": as_map(shown(scores.argmax(0), True))}, True),
        "classes in halves, at half the size": one({"task": "semantic"}, [tensor("out", halves[None])],
                                                   {"class_map": as_map(shown(halves.argmax(0), True, 2))}, True),
        "class ids": one(semantic, [tensor("out", ids[None])], {"class_map": as_map(ids)}),
        "class ids of one byte": one(semantic, [tensor("out", ids[None, None].astype(np.uint8))],
                                     {"class_map": as_map(shown(ids, True))}, True),
        "class ids as numbers": one(semantic, [tensor("out", ids[None].astype(np.float32))], {"class_map": as_map(ids)}),
        "anomaly": one({**anomaly, **thresholds}, [tensor("out", anomalies[None, None])], of_anomalies),
        "anomaly of Anomalib 2": one(anomaly, [tensor("pred_score", np.array([0.75], np.float32)), tensor("pred_label", np.array([1])),
                                               tensor("anomaly_map", shares[None, None])],
                                     {"anomaly": 0.75, "value_map": as_map(shown(shares, True, 2))}, True),
        "depth": one({"task": "depth"}, [tensor("out", depth[None])], {"value_map": as_map(depth)}),
        "depth in a letterbox": one({"task": "depth"}, [tensor("out", depth[None, None], row_padding=1)],
                                    {"value_map": as_map(shown(depth, True))}, True),
        "embedding": one({"task": "embed"}, [tensor("out", vector[None])],
                         {"embedding": vector.astype(np.float64) / np.linalg.norm(vector.astype(np.float64))}),
        "embedding in halves": one({"task": "embed"}, [tensor("out", vector.astype(np.float16).reshape(1, 256, 1, 1))],
                                   {"embedding": vector.astype(np.float64) / np.linalg.norm(vector.astype(np.float64))}),
    })


if __name__ == "__main__":
    main()
