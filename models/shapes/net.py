"""The detector's layers, written once: train.py runs them with JAX, export.py turns them into an IR.

`ops` does the work: conv (with batch normalisation, ReLU unless told otherwise), add, concat,
max_pool (5x5, stride 1) and double (nearest).
"""

STRIDES = (8, 16)
# Width and height of an untrained box, in strides.
START_SIZE = 2.5


def detector(ops, image):
    """For each stride of STRIDES: (raw boxes with 4 channels, score logits with one channel a class)."""
    x = ops.conv(image, "stem", 16, stride=2)
    x = ops.conv(x, "stage4/down", 24, stride=2)
    x = residual(ops, x, "stage4/a", 24)
    x = ops.conv(x, "stage8/down", 48, stride=2)
    x = residual(ops, x, "stage8/a", 48)
    fine = residual(ops, x, "stage8/b", 48)
    x = ops.conv(fine, "stage16/down", 80, stride=2)
    x = residual(ops, x, "stage16/a", 80)
    coarse = pooled(ops, x, "stage16/pool", 80)
    lifted = ops.double(ops.conv(coarse, "neck/reduce", 48, kernel=1))
    fine = ops.conv(ops.concat([fine, lifted]), "neck/merge", 48)
    return [head(ops, fine, "head8"), head(ops, coarse, "head16")]


def residual(ops, x, name, channels):
    inner = ops.conv(x, f"{name}/1", channels // 2)
    return ops.add(x, ops.conv(inner, f"{name}/2", channels))


def pooled(ops, x, name, channels):
    """Pyramid of maxima over 5, 9 and 13 cells: lets a cell see a whole large shape."""
    levels = [ops.conv(x, f"{name}/reduce", channels // 2, kernel=1)]
    for _ in range(3):
        levels.append(ops.max_pool(levels[-1]))
    return ops.conv(ops.concat(levels), f"{name}/merge", channels, kernel=1)


def head(ops, x, name):
    boxes = ops.conv(x, f"{name}/box", 40)
    scores = ops.conv(x, f"{name}/score", 40)
    return (ops.conv(boxes, f"{name}/box/out", 4, kernel=1, plain=True),
            ops.conv(scores, f"{name}/score/out", 3, kernel=1, plain=True))
