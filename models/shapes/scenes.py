"""Scenes of moving shapes over a noisy texture: the demo detector is trained and tested on them.

A scene is a pure function of its seed and of time. Positions and sizes are in frame pixels, pixel
edges at whole numbers; colours are R'G'B' 0..255.
"""

from dataclasses import dataclass

import numpy as np

LABELS = ("circle", "square", "triangle")
COLORS = {
    "red": (205, 50, 45),
    "green": (50, 165, 70),
    "blue": (50, 85, 205),
    "yellow": (220, 190, 50),
}
# An object with less of its area in sight is not asked for ("difficult" in PASCAL VOC's words): it
# counts neither as found nor as missed.
MIN_VISIBLE = 0.3
# An object with less than this in sight is not in the ground truth at all.
GONE = 0.02

# Circumradius of each shape's polygon for a nominal radius of 1, so that the areas are alike.
CIRCUMRADIUS = {"circle": 1.0, "square": 1.2, "triangle": 1.35}
CORNERS = {"square": 4, "triangle": 3}


@dataclass(frozen=True)
class Pose:
    x: float
    y: float
    radius: float
    angle: float


@dataclass(frozen=True)
class Wave:
    """middle + swing * sin(rate * t + phase), t in seconds."""

    middle: float
    swing: float
    rate: float
    phase: float

    def at(self, t):
        return self.middle + self.swing * np.sin(self.rate * t + self.phase)


@dataclass(frozen=True)
class Thing:
    label: str
    color: np.ndarray
    x: Wave
    y: Wave
    radius: Wave
    angle: float
    spin: float
    shade: np.ndarray  # change of brightness along x and y, per radius
    rim: float  # brightness of the outline, 1: no outline
    color_name: str = ""  # the one of COLORS it is a shade of

    def pose(self, t):
        return Pose(self.x.at(t), self.y.at(t), self.radius.at(t), self.angle + self.spin * t)


def corners(label, pose):
    """Corner points of a polygon, shape [n, 2], y downwards."""
    count = CORNERS[label]
    turn = pose.angle + 2 * np.pi * np.arange(count) / count
    radius = pose.radius * CIRCUMRADIUS[label]
    return np.stack([pose.x + radius * np.cos(turn), pose.y + radius * np.sin(turn)], axis=1)


def bounds(label, pose):
    """x0, y0, x1, y1 of the whole shape, even if it is partly outside the frame or covered."""
    if label == "circle":
        r = pose.radius
        return np.array([pose.x - r, pose.y - r, pose.x + r, pose.y + r])
    points = corners(label, pose)
    return np.concatenate([points.min(0), points.max(0)])


def area(label, pose):
    r = pose.radius * CIRCUMRADIUS[label]
    if label == "circle":
        return np.pi * r * r
    count = CORNERS[label]
    return 0.5 * count * r * r * np.sin(2 * np.pi / count)


def distance(label, pose, xs, ys):
    """Signed distance to the outline in pixels, negative inside (polygons: of the nearest edge's
    line), for the grid of pixel centres xs by ys."""
    dx, dy = (xs - pose.x)[None, :], (ys - pose.y)[:, None]
    if label == "circle":
        return np.sqrt(dx * dx + dy * dy) - np.float32(pose.radius)
    count = CORNERS[label]
    inradius = pose.radius * CIRCUMRADIUS[label] * np.cos(np.pi / count)
    normals = pose.angle + np.pi / count + 2 * np.pi * np.arange(count) / count
    planes = [dx * np.float32(np.cos(a)) + dy * np.float32(np.sin(a)) for a in normals]
    return np.maximum.reduce(planes) - np.float32(inradius)


def linear_weights(size_in, size_out):
    """[size_out, size_in] matrix of linear resampling with two taps, pixel centres aligned
    (OpenVINO's half_pixel), no antialiasing."""
    centres = (np.arange(size_out) + 0.5) * size_in / size_out - 0.5
    low = np.floor(centres).astype(int)
    part = centres - low
    weights = np.zeros((size_out, size_in), np.float32)
    rows = np.arange(size_out)
    np.add.at(weights, (rows, np.clip(low, 0, size_in - 1)), 1 - part)
    np.add.at(weights, (rows, np.clip(low + 1, 0, size_in - 1)), part)
    return weights


def noise_texture(rng, width, height):
    """Octaves of value noise in muted colours, [height, width, 3] float32."""
    out = np.empty((height, width, 3), np.float32)
    out[:] = rng.uniform(70, 170, 3)
    for cell in (160, 60, 24, 9):
        rows, columns = height // cell + 2, width // cell + 2
        amplitude = rng.uniform(5, 30) * (cell / 160) ** 0.25
        gray = rng.uniform(-1, 1, (rows, columns, 1))
        tint = rng.uniform(-1, 1, (rows, columns, 3))
        grid = (amplitude * (0.75 * gray + 0.5 * tint)).astype(np.float32)
        tall, wide = linear_weights(rows, height), linear_weights(columns, width)
        for channel in range(3):
            out[..., channel] += tall @ grid[..., channel] @ wide.T
    return out


class Scene:
    PAN = 48  # the background moves by up to this many pixels each way

    def __init__(self, seed, width=640, height=360, count=None, labels=None, radii=(14, 80)):
        """`radii`: nominal radius in pixels of a frame 360 high."""
        self.rng = np.random.default_rng(seed)
        self.width, self.height, self.seed = width, height, seed
        self.texture = noise_texture(self.rng, width + 2 * self.PAN, height + 2 * self.PAN)
        self.pan = [self._wave(self.PAN, self.PAN - 1, 0.3) for _ in range(2)]
        self.grain = self.rng.uniform(2, 9)
        count = count or int(self.rng.integers(1, 9))
        labels = labels or [LABELS[i] for i in self.rng.integers(0, len(LABELS), count)]
        scale = height / 360
        self.things = [self._thing(i, label, radii, scale) for i, label in enumerate(labels)]

    def _wave(self, middle, swing, fastest):
        rate = self.rng.uniform(0.25, 1) * fastest * 2 * np.pi
        return Wave(middle, swing, rate, self.rng.uniform(0, 2 * np.pi))

    def _thing(self, index, label, radii, scale):
        rng = self.rng
        low, high = np.log(radii)
        small, large = np.sort(np.exp(rng.uniform(low, high, 2))) * scale
        color_name = list(COLORS)[(index + rng.integers(0, 4)) % 4]
        color = np.array(COLORS[color_name], np.float32)
        return Thing(
            label=label,
            color=color + rng.uniform(-22, 22, 3),
            x=self._wave(self.width * rng.uniform(0.3, 0.7), self.width * rng.uniform(0.1, 0.5), 0.25),
            y=self._wave(self.height * rng.uniform(0.3, 0.7), self.height * rng.uniform(0.1, 0.5), 0.3),
            radius=self._wave((small + large) / 2, (large - small) / 2, 0.2),
            angle=rng.uniform(0, 2 * np.pi),
            spin=rng.uniform(-1.5, 1.5),
            shade=rng.uniform(-0.18, 0.18, 2),
            rim=rng.choice([1.0, 1.0, 0.6, 1.35]),
            color_name=color_name,
        )

    def frame(self, t, noise_seed=0):
        """The picture [height, width, 3] u8 and the objects in it, both at t seconds."""
        left, top = (int(wave.at(t)) for wave in self.pan)
        picture = self.texture[top : top + self.height, left : left + self.width].copy()
        owner = np.full((self.height, self.width), -1, np.int8)
        poses = [thing.pose(t) for thing in self.things]
        for index, (thing, pose) in enumerate(zip(self.things, poses)):
            self._paint(picture, owner, index, thing, pose)
        rng = np.random.default_rng((self.seed, noise_seed))
        grain = rng.standard_normal((self.height, self.width, 1), np.float32)
        picture += np.float32(self.grain) * grain
        return np.clip(picture + 0.5, 0, 255).astype(np.uint8), self._objects(owner, poses)

    def _paint(self, picture, owner, index, thing, pose):
        x0, y0, x1, y1 = bounds(thing.label, pose) + (-1, -1, 2, 2)
        x0, x1 = (int(np.clip(x, 0, self.width)) for x in (x0, x1))
        y0, y1 = (int(np.clip(y, 0, self.height)) for y in (y0, y1))
        if x0 >= x1 or y0 >= y1:
            return
        xs = np.arange(x0, x1, dtype=np.float32) + 0.5
        ys = np.arange(y0, y1, dtype=np.float32) + 0.5
        depth = distance(thing.label, pose, xs, ys)
        cover = np.clip(0.5 - depth, 0, 1)[..., None]
        light = 1 + thing.shade[0] * (xs - pose.x)[None, :] / pose.radius
        light = light + thing.shade[1] * (ys - pose.y)[:, None] / pose.radius
        rim_width = max(1.5, 0.08 * pose.radius)
        light = np.where(depth > -rim_width, light * thing.rim, light)
        window = picture[y0:y1, x0:x1]
        window += cover * (light[..., None].astype(np.float32) * thing.color - window)
        owner[y0:y1, x0:x1][cover[..., 0] > 0.5] = index

    def _objects(self, owner, poses):
        counts = np.bincount(owner.ravel() + 1, minlength=len(poses) + 1)[1:]
        objects = []
        for identity, (thing, pose, seen) in enumerate(zip(self.things, poses, counts)):
            visible = min(1.0, seen / area(thing.label, pose))
            if visible < GONE:
                continue
            limit = [self.width, self.height] * 2
            x0, y0, x1, y1 = np.clip(bounds(thing.label, pose), 0, limit)
            objects.append({
                "id": identity,
                "label": thing.label,
                "color": thing.color_name,
                "x": round(float(x0), 2),
                "y": round(float(y0), 2),
                "w": round(float(x1 - x0), 2),
                "h": round(float(y1 - y0), 2),
                "visible": round(float(visible), 3),
            })
        return objects
