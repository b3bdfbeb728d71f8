#!/usr/bin/env python3
"""Compiles a PyTorch module under a name, once: later runs find it in the cache by that name, and need no PyTorch.

usage: from_pytorch.py CACHE    CACHE: the folder of compiled models
"""
import sys

import numpy as np

import npucore


def make_module():
    import torch
    torch.manual_seed(1)
    layers = (torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 10))
    return torch.nn.Sequential(*layers).eval()


def make_model():
    """The module as OpenVINO converts it, with the static shape that an NPU needs. Called only where the cache has no such entry."""
    import openvino
    import torch
    return openvino.convert_model(make_module(), input=[1, 3, 32, 32], example_input=torch.zeros(1, 3, 32, 32))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compiled = npucore.compile(make_model, cache_id="small network, version 1", properties={"CACHE_DIR": sys.argv[1]})
    picture = np.linspace(0, 1, 3 * 32 * 32, dtype=np.float32).reshape(1, 3, 32, 32)
    scores = next(iter(compiled.create_request().infer(picture).values()))
    print(f"from the {compiled.load_stats.source}:", *scores[0].round(3))


if __name__ == "__main__":
    main()
