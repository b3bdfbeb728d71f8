"""Classifications: logits, probabilities, questions of their own. usage: classification.py JSON

Softmax unless the values are probabilities, sigmoid where each class is a question of its own: Model API's
ClassificationModel (open-edge-platform/model_api, models/classification.py)."""
import sys

import numpy as np

from reference import case, tensor, write

MODEL, FRAME = (32, 32), (64, 48)


def softmax(values):
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def best(scores, threshold, most):
    order = np.argsort(-scores, kind="stable")[:most]
    return [{"label_id": int(i), "confidence": float(scores[i])} for i in order if scores[i] >= threshold]


def classification(card, values, scores, threshold, most, **layout):
    return case({"task": "classify", **card}, [tensor("out", values, **layout)], MODEL, FRAME,
                {"classes": best(scores, threshold, most)}, confidence_threshold=threshold, max_classes=most)


def main():
    random = np.random.default_rng(1)
    logits = random.normal(0, 3, 1000).astype(np.float32)
    few = random.normal(0, 3, 7).astype(np.float32)
    halves = random.normal(0, 3, 20).astype(np.float16)
    already = softmax(few.astype(np.float64)).astype(np.float32)
    write(sys.argv[1], {
        "logits": classification({}, logits[None], softmax(logits.astype(np.float64)), 0, 5),
        "logits in halves": classification({"labels": 20}, halves[None], softmax(halves.astype(np.float64)), 0.01, 5),
        "four dimensions": classification({"labels": 7}, few.reshape(1, 7, 1, 1), softmax(few.astype(np.float64)), 0, 7, row_padding=3),
        "three dimensions": classification({"labels": 7}, few.reshape(1, 1, 7), softmax(few.astype(np.float64)), 0, 3),
        "probabilities": classification({}, already[None], already, 0, 7),
        "raw scores": classification({"raw_scores": True}, np.array([[0.5, 0.9, 0.1]], np.float32), np.array([0.5, 0.9, 0.1]), 0.2, 9),
        "multilabel": classification({"multilabel": True}, few[None], 1 / (1 + np.exp(-few.astype(np.float64))), 0.5, 7),
    })


main()
