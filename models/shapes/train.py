"""Trains the detector with JAX on the CPU. Reads dataset.py's file, writes folded weights (.npz)."""

import argparse
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from loss import detection_loss
from net import START_SIZE, STRIDES, detector

BN_EPSILON = 1e-3
BATCH = 16
# Height of the letterboxed picture in the first and in the last part of the training: thin borders
# are cheaper, those of the real input come last.
CANVAS_HEIGHTS = (160, 256)
LAST_PART = 0.25


class Initialiser:
    """Runs the layers on shapes only, to collect start values."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.params, self.stats = {}, {}

    def conv(self, channels_in, name, channels, kernel=3, stride=1, plain=False):
        fan_in = kernel * kernel * channels_in
        spread = 0.01 if plain else np.sqrt(2 / fan_in)
        shape = (kernel, kernel, channels_in, channels)
        layer = {"w": (spread * self.rng.standard_normal(shape)).astype(np.float32)}
        layer["b"] = np.zeros(channels, np.float32)
        if plain:
            layer["b"][:] = -4.0 if "score" in name else [0, 0, *np.log([START_SIZE] * 2)]
        else:
            layer["g"] = np.ones(channels, np.float32)
            self.stats[name] = {"mean": np.zeros(channels, np.float32),
                                "var": np.ones(channels, np.float32)}
        self.params[name] = layer
        return channels

    def add(self, a, b):
        return a

    def concat(self, parts):
        return sum(parts)

    def max_pool(self, x):
        return x

    def double(self, x):
        return x


class JaxOps:
    """NHWC float32. With `stats` None, normalises by the batch and collects its statistics."""

    def __init__(self, params, stats=None):
        self.params, self.stats, self.seen = params, stats, {}

    def conv(self, x, name, channels, kernel=3, stride=1, plain=False):
        layer = self.params[name]
        pad = [(kernel // 2, kernel // 2)] * 2
        x = lax.conv_general_dilated(x, layer["w"], (stride, stride), pad,
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
        if plain:
            return x + layer["b"]
        if self.stats is None:
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            self.seen[name] = {"mean": mean, "var": var}
        else:
            mean, var = self.stats[name]["mean"], self.stats[name]["var"]
        gain = layer["g"] * lax.rsqrt(var + BN_EPSILON)
        return jax.nn.relu(x * gain + (layer["b"] - mean * gain))

    def add(self, a, b):
        return a + b

    def concat(self, parts):
        return jnp.concatenate(parts, axis=-1)

    def max_pool(self, x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 5, 5, 1), (1, 1, 1, 1), "SAME")

    def double(self, x):
        return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)


def decode(levels):
    """Boxes [B, N, 4] cx cy w h in model pixels, score logits [B, N, 3], cells [N, 3] x y stride."""
    boxes, scores, cells = [], [], []
    for stride, (raw, score) in zip(STRIDES, levels):
        batch, height, width, _ = raw.shape
        y, x = jnp.mgrid[0:height, 0:width]
        centre = (jnp.stack([x, y], -1).reshape(-1, 2) + 0.5) * stride
        raw = raw.reshape(batch, -1, 4)
        boxes.append(jnp.concatenate([centre + raw[..., :2] * stride,
                                      jnp.exp(raw[..., 2:]) * stride], -1))
        scores.append(score.reshape(batch, -1, score.shape[-1]))
        cells.append(jnp.concatenate([centre, jnp.full((len(centre), 1), stride)], -1))
    return (jnp.concatenate(boxes, 1), jnp.concatenate(scores, 1), jnp.concatenate(cells, 0))


def vary(key, pictures, boxes, height):
    """Mirrors, swaps colour channels, changes contrast, and puts the pictures into a canvas of the
    given height somewhere between its upper and lower edge. Returns 0..1 pictures and boxes."""
    keys = jax.random.split(key, 6)
    batch, rows, columns, _ = pictures.shape
    x = pictures.astype(jnp.float32)
    flip_x = jax.random.bernoulli(keys[0], 0.5, (batch,))
    x = jnp.where(flip_x[:, None, None, None], x[:, :, ::-1], x)
    swapped = columns - boxes[..., (2, 1, 0, 3)] * jnp.array([1, 0, 1, 0])
    swapped = swapped.at[..., 1].set(boxes[..., 1]).at[..., 3].set(boxes[..., 3])
    boxes = jnp.where(flip_x[:, None, None], swapped, boxes)
    orders = jnp.array([[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0], [2, 0, 1]])
    order = orders[jax.random.randint(keys[1], (batch,), 0, len(orders))]
    x = jnp.take_along_axis(x, order[:, None, None, :], axis=-1)
    gain = jax.random.uniform(keys[2], (batch, 1, 1, 1), minval=0.8, maxval=1.15)
    shift = jax.random.uniform(keys[3], (batch, 1, 1, 1), minval=-15, maxval=15)
    x = jnp.clip(x * gain + shift, 0, 255)
    middle = (height - rows) // 2
    top = jnp.where(jax.random.bernoulli(keys[4], 0.5), middle,
                    jax.random.randint(keys[5], (), 0, height - rows + 1))
    canvas = jnp.full((batch, height, columns, 3), 114.0)
    canvas = lax.dynamic_update_slice(canvas, x, (0, top, 0, 0))
    return canvas / 255, boxes + jnp.array([0, 1, 0, 1]) * top


def make_step(optimizer):
    @partial(jax.jit, static_argnames="height", donate_argnums=(0, 1))
    def step(params, state, key, pictures, boxes, labels, height):
        images, truth = vary(key, pictures, boxes, height)

        def objective(weights):
            ops = JaxOps(weights)
            total, parts = detection_loss(*decode(detector(ops, images)), truth, labels)
            return total, (parts, ops.seen)

        (_, (parts, seen)), slope = jax.value_and_grad(objective, has_aux=True)(params)
        updates, state = optimizer.update(slope, state, params)
        return optax.apply_updates(params, updates), state, parts, seen

    return step


@jax.jit
def blend(old, new, keep):
    return jax.tree.map(lambda a, b: keep * a + (1 - keep) * b, old, new)


def fold(params, stats):
    """Folds batch normalisation into the convolutions: {name/w: OIHW, name/b}."""
    folded = {}
    for name, layer in params.items():
        weights, bias = np.asarray(layer["w"]), np.asarray(layer["b"])
        if "g" in layer:
            gain = np.asarray(layer["g"]) / np.sqrt(np.asarray(stats[name]["var"]) + BN_EPSILON)
            weights, bias = weights * gain, bias - np.asarray(stats[name]["mean"]) * gain
        folded[f"{name}/w"] = weights.transpose(3, 2, 0, 1)
        folded[f"{name}/b"] = bias
    return folded


def settled_stats(params, data, batches=40):
    """Statistics of whole letterboxed pictures under the final weights."""
    @jax.jit
    def look(key, pictures, boxes):
        ops = JaxOps(params)
        detector(ops, vary(key, pictures, boxes, CANVAS_HEIGHTS[-1])[0])
        return ops.seen

    sums = None
    for index in range(batches):
        rows = np.arange(index * BATCH, (index + 1) * BATCH) % len(data["labels"])
        seen = look(jax.random.key(index), data["pictures"][rows], data["boxes"][rows])
        sums = seen if sums is None else jax.tree.map(jnp.add, sums, seen)
    return jax.tree.map(lambda v: v / batches, sums)


def train(options):
    with np.load(options.data) as file:
        data = {name: file[name] for name in file.files}
    rng = np.random.default_rng(options.seed)
    begin = Initialiser(options.seed)
    detector(begin, 3)
    params = jax.tree.map(jnp.asarray, begin.params)
    print(f"{sum(v.size for v in jax.tree.leaves(params))} parameters", flush=True)
    rate = optax.warmup_cosine_decay_schedule(1e-4, options.rate, options.steps // 25,
                                              options.steps, options.rate / 50)
    optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adamw(rate, weight_decay=1e-3))
    state, step = optimizer.init(params), make_step(optimizer)
    average = jax.tree.map(jnp.array, params)
    sums, started = None, time.time()
    for index in range(1, options.steps + 1):
        last_part = index > options.steps * (1 - LAST_PART)
        rows = rng.integers(0, len(data["labels"]), BATCH)
        batch = (data[name][rows] for name in ("pictures", "boxes", "labels"))
        params, state, parts, _ = step(params, state, jax.random.key(index), *batch,
                                       height=CANVAS_HEIGHTS[last_part])
        average = blend(average, params, min(0.998, index / (index + 20)))
        sums = parts if sums is None else jax.tree.map(jnp.add, sums, parts)
        if index % 50 == 0:
            text = " ".join(f"{name} {float(value) / 50:.3f}" for name, value in sums.items())
            print(f"{index:6d} {time.time() - started:6.0f}s {text}", flush=True)
            sums = None
        if index % 500 == 0 or index == options.steps:
            np.savez(options.out, **fold(average, settled_stats(average, data)))
    print(f"{options.out}: {time.time() - started:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2600)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("data")
    parser.add_argument("out")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
