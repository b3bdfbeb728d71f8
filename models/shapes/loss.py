"""Assigns cells to objects, and computes the cost of wrong answers.

Task-aligned assignment as in TOOD (arXiv:2108.07755): the cells that already find an object best are
trained on it, with the quality of their box as the score's target. Boxes by GIoU (arXiv:1902.09630).
"""

import jax
import jax.numpy as jnp

CELLS_PER_OBJECT = 8
BOX_WEIGHT = 2.5


def corners_of(boxes):
    half = boxes[..., 2:] / 2
    return jnp.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1)


def overlap(a, b):
    """IoU and GIoU of corner boxes that broadcast."""
    inner = jnp.minimum(a[..., 2:], b[..., 2:]) - jnp.maximum(a[..., :2], b[..., :2])
    outer = jnp.maximum(a[..., 2:], b[..., 2:]) - jnp.minimum(a[..., :2], b[..., :2])
    common = jnp.prod(jnp.maximum(inner, 0), -1)
    union = (jnp.prod(a[..., 2:] - a[..., :2], -1) + jnp.prod(b[..., 2:] - b[..., :2], -1) - common)
    hull = jnp.prod(outer, -1)
    iou = common / (union + 1e-6)
    return iou, iou - (hull - union) / (hull + 1e-6)


def assign(boxes, scores, cells, truth, labels):
    """For one picture: per cell the object's index, and its score target (0: background)."""
    present = labels >= 0
    iou, _ = overlap(truth[:, None], corners_of(boxes)[None])  # [M, N]
    score = jax.nn.sigmoid(scores)[:, jnp.maximum(labels, 0)].T
    centre, size = (truth[:, :2] + truth[:, 2:]) / 2, truth[:, 2:] - truth[:, :2]
    off = jnp.abs(cells[None, :, :2] - centre[:, None])
    reach = jnp.maximum(size[:, None] / 2, cells[None, :, 2:])
    near = (off < reach).all(-1) & present[:, None]
    prior = jnp.exp(-2 * jnp.sum((off / reach) ** 2, -1))
    fit = jnp.where(near, prior * jnp.sqrt(score) * (iou + 0.01) ** 3, 0)
    least = jax.lax.top_k(fit, CELLS_PER_OBJECT)[0][:, -1:]
    fit = jnp.where((fit >= least) & (fit > 0), fit, 0)
    owner = fit.argmax(0)
    mine = (jnp.arange(len(labels))[:, None] == owner[None]) & (fit > 0)
    fit, iou = jnp.where(mine, fit, 0), jnp.where(mine, iou, 0)
    target = fit / (fit.max(1, keepdims=True) + 1e-9) * iou.max(1, keepdims=True)
    return owner, target.max(0)


def detection_loss(boxes, scores, cells, truth, labels):
    """boxes [B, N, 4] cx cy w h, scores [B, N, C] logits, truth [B, M, 4] corners, labels [B, M]."""
    fixed = jax.lax.stop_gradient((boxes, scores))
    owner, quality = jax.vmap(assign, (0, 0, None, 0, 0))(*fixed, cells, truth, labels)
    label = jnp.take_along_axis(labels, owner, 1)
    target = jax.nn.one_hot(label, scores.shape[-1]) * quality[..., None]
    total = jnp.maximum(quality.sum(), 1.0)
    score_cost = jnp.maximum(scores, 0) - scores * target + jnp.log1p(jnp.exp(-jnp.abs(scores)))
    iou, giou = overlap(jnp.take_along_axis(truth, owner[..., None], 1), corners_of(boxes))
    score_loss = score_cost.sum() / total
    box_loss = ((1 - giou) * quality).sum() / total
    found = (quality > 0).astype(jnp.float32)
    parts = {"score": score_loss, "box": box_loss, "iou": (iou * found).sum() / found.sum()}
    return score_loss + BOX_WEIGHT * box_loss, parts
