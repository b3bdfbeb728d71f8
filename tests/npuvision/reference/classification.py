"""Classifications: logits, probabilities, questions of their own. usage: classification.py JSON

Softmax unless the values are probabilities, sigmoid where each class is a question of its own: Model API's
ClassificationModel (open-edge-platform/model_api, models/classification.py)."""
import json
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


# As Geti writes it: two heads whose labels exclude each other, of which the second is about animals, and two questions.
LEVELS = {
    "cls_heads_info": {
        "num_multiclass_heads": 2, "num_multilabel_classes": 2, "num_single_label_classes": 5,
        "head_idx_to_logits_range": {"0": [0, 2], "1": [2, 5]},
        "all_groups": [["animal", "plant"], ["big cat", "dog", "bird"], ["is wet"], ["has wings"]],
        "label_to_idx": {"plant": 0, "dog": 1, "bird": 2, "animal": 3, "big cat": 4, "has wings": 5, "is wet": 6},
    },
    "label_tree_edges": [["big cat", "animal"], ["dog", "animal"], ["bird", "animal"], ["has wings", "bird"]],
}


def of_levels(values, threshold):
    """ClassificationModel.get_hierarchical_predictions, and what its resolvers make of it, both the same: labels whose
    ancestors are all predicted."""
    heads, parents = LEVELS["cls_heads_info"], dict(LEVELS["label_tree_edges"])
    predicted = {}
    for head in range(heads["num_multiclass_heads"]):
        begin, end = heads["head_idx_to_logits_range"][str(head)]
        scores = softmax(values[begin:end].astype(np.float64))
        predicted[heads["all_groups"][head][int(scores.argmax())]] = scores.max()
    for i, value in enumerate(values[heads["num_single_label_classes"]:].astype(np.float64)):
        score = 1 / (1 + np.exp(-value))
        if score > threshold:
            predicted[heads["all_groups"][heads["num_multiclass_heads"] + i][0]] = score

    def is_resolved(label):
        return label in predicted and (label not in parents or is_resolved(parents[label]))

    found = sorted((label for label in predicted if is_resolved(label)), key=lambda label: -predicted[label])
    return [{"label_id": heads["label_to_idx"][label], "confidence": float(predicted[label])} for label in found]


def levels(values, threshold):
    info = {"model_type": "Classification", "hierarchical": "True", "labels": "nobody reads these",
            "hierarchical_config": json.dumps(LEVELS), "confidence_threshold": str(threshold)}
    values = np.asarray(values, np.float32)
    outputs = [tensor("logits", values[None]), tensor("feature_vector", np.zeros((1, 64), np.float32)),
               tensor("saliency_map", np.zeros((1, 7, 4, 4), np.uint8))]
    return case({"model_info": info}, outputs, MODEL, FRAME, {"classes": of_levels(values, threshold)})


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
        "levels": levels([2, 1, 0.5, 3, -1, 1, -2], 0.5),
        "levels, a child of a label that is not there": levels([1, 2, 0.5, 3, -1, 1, 4], 0.5),
        "levels, a grandchild": levels([2, 1, 0.5, 3, 6, -1, 4], 0.5),
        "levels, a low threshold": levels([2, 1, 0.5, 3, 6, -1, -0.9], 0.2),
        "multilabel": classification({"multilabel": True}, few[None], 1 / (1 + np.exp(-few.astype(np.float64))), 0.5, 7),
    })


if __name__ == "__main__":
    main()
