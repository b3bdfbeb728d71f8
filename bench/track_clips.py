"""Clips for trackers, without pictures: the places of things, frame by frame, and the boxes that an imperfect detector finds.

A clip is {"name", "rate", "width", "height", "frames"}. A frame is {"truth": objects, "found": objects}; an object is {"id", "label", "box",
"confidence"}, without the id where it was found. Boxes are [left, top, width, height] in pixels. Times are frames.
"""
import math
import random

WIDTH, HEIGHT, RATE = 1280, 720, 30
LEAST_VISIBLE = 0.1  # of an object: below it the object is hidden, and not counted
NOISE = 0.02         # deviation of an edge, of the object's size
MISSED = 0.03        # chance to miss an object in full view
FALSE = 0.15         # boxes a frame at places without objects


class Walker:
    """Walks straight from `begin` on, and sways across its way."""

    def __init__(self, name, place, velocity, size, *, depth=0.0, begin=0, end=math.inf, sway=(0.0, 60.0)):
        self.name, self.place, self.velocity, self.size = name, place, velocity, size
        self.depth, self.begin, self.end, self.sway = depth, begin, end, sway

    def box(self, at):
        """Nothing while it is not in the clip; else a box that may lie outside of the frame."""
        if not self.begin <= at < self.end:
            return None
        passed = at - self.begin
        reach, period = self.sway
        side = reach * math.sin(2 * math.pi * passed / period)
        along = math.hypot(*self.velocity) or 1.0
        x = self.place[0] + self.velocity[0] * passed - self.velocity[1] / along * side
        y = self.place[1] + self.velocity[1] * passed + self.velocity[0] / along * side
        return [x - self.size[0] / 2, y - self.size[1] / 2, *self.size]


def crossing(rng):
    """Pairs that come towards each other and pass, at several distances."""
    walkers = []
    for row in range(5):
        y, size = 90 + 130 * row, (50 + 6 * row, 95 + 8 * row)
        for side in (0, 1):
            begin = row * 20 + rng.randrange(15)
            speed = rng.uniform(4, 8) * (-1 if side else 1)
            walkers.append(Walker(f"{row}{side}", (-20 if not side else WIDTH + 20, y + rng.uniform(-12, 12)), (speed, rng.uniform(-0.3, 0.3)),
                                  size, depth=side, begin=begin))
    return walkers, []


def occlusion(rng):
    """Walkers that pass behind pillars, hidden for up to 0.8 s."""
    pillars = [[300, 0, 90, HEIGHT], [760, 0, 140, HEIGHT]]
    walkers = [Walker(str(i), (-40 if i % 2 else WIDTH + 40, 80 + 70 * i), ((1 if i % 2 else -1) * rng.uniform(5, 9), rng.uniform(-0.4, 0.4)),
                      (rng.uniform(40, 60), rng.uniform(55, 68)), begin=12 * i, sway=(rng.uniform(0, 6), 90)) for i in range(9)]
    return walkers, pillars


def exits(rng):
    """One goes out, and another comes in at the same place a little later."""
    walkers = []
    for i in range(24):
        is_right = i % 2 == 0
        begin = 12 * i + rng.randrange(8)
        x, y = (WIDTH - 260, 120 + 50 * (i % 10)) if is_right else (260, 120 + 50 * (i % 10))
        speed = rng.uniform(5, 10) * (1 if i // 2 % 2 == 0 else -1) * (1 if is_right else -1)
        if speed * (1 if is_right else -1) < 0:  # it comes in
            x = WIDTH + 40 if is_right else -40
        walkers.append(Walker(str(i), (x, y), (speed, rng.uniform(-0.5, 0.5)), (rng.uniform(45, 70), rng.uniform(90, 120)), depth=rng.random(),
                              begin=begin, end=begin + 90 if abs(x - WIDTH / 2) < WIDTH / 2 else math.inf))
    return walkers, []


def crowd(rng):
    """Forty who walk as they like, in front of each other and behind a pillar, in and out."""
    walkers = []
    for i in range(40):
        angle, speed = rng.uniform(0, 2 * math.pi), rng.uniform(1.5, 5)
        scale = rng.uniform(0.7, 1.2)
        begin = 0 if i < 25 else rng.randrange(200)
        place = (rng.uniform(0, WIDTH), rng.uniform(60, HEIGHT - 60)) if begin == 0 else (rng.choice([-30, WIDTH + 30]), rng.uniform(60, HEIGHT - 60))
        velocity = (speed * math.cos(angle), 0.4 * speed * math.sin(angle))
        if begin:
            velocity = (abs(velocity[0]) * (1 if place[0] < 0 else -1), velocity[1])
        walkers.append(Walker(str(i), place, velocity, (42 * scale, 100 * scale), depth=rng.random(), begin=begin,
                              sway=(rng.uniform(0, 15), rng.uniform(60, 150))))
    return walkers, [[600, 0, 60, HEIGHT]]


SCENES = {"crossing": (crossing, 300), "occlusion": (occlusion, 360), "exits": (exits, 400), "crowd": (crowd, 300)}


def clipped(box, frame=(WIDTH, HEIGHT)):
    left, top = max(box[0], 0), max(box[1], 0)
    return [left, top, min(box[0] + box[2], frame[0]) - left, min(box[1] + box[3], frame[1]) - top]


def seen_part(box, fronts, steps=10):
    """The visible share of the box, by samples: hidden by boxes in front of it and by the frame's edges."""
    left, top, width, height = box
    fronts = [f for f in fronts if f[0] < left + width and left < f[0] + f[2] and f[1] < top + height and top < f[1] + f[3]]
    if not fronts and 0 <= left and left + width <= WIDTH and 0 <= top and top + height <= HEIGHT:
        return 1.0
    seen = 0
    for row in range(steps):
        y = top + (row + 0.5) * height / steps
        for column in range(steps):
            x = left + (column + 0.5) * width / steps
            is_inside = 0 <= x < WIDTH and 0 <= y < HEIGHT
            seen += is_inside and not any(f[0] <= x < f[0] + f[2] and f[1] <= y < f[1] + f[3] for f in fronts)
    return seen / steps ** 2


def truth_of(walkers, pillars, at):
    """The visible objects, with their visible share as confidence."""
    boxes = [(walker, box) for walker in walkers if (box := walker.box(at)) is not None]
    objects = []
    for walker, box in boxes:
        fronts = pillars + [other for one, other in boxes if one.depth > walker.depth]
        seen = seen_part(box, fronts)
        if seen >= LEAST_VISIBLE:
            objects.append({"id": walker.name, "label": "person", "box": clipped(box), "confidence": seen})
    return objects


def found_of(truth, rng, frame=(WIDTH, HEIGHT)):
    """A detector's boxes: noise, less confidence for partly hidden objects, misses, and a few false ones."""
    objects = []
    for one in truth:
        seen = one["confidence"]
        confidence = min(max(0.25 + 0.65 * seen + rng.gauss(0, 0.06), 0.05), 0.99)
        is_missed = rng.random() < MISSED + max(0.0, 0.5 - seen)
        left, top, width, height = one["box"]
        off = [rng.gauss(0, NOISE) for _ in range(4)]
        box = [left + off[0] * width, top + off[1] * height, width * (1 + off[2] - off[0]), height * (1 + off[3] - off[1])]
        if not is_missed:
            objects.append({"label": one["label"], "box": clipped(box, frame), "confidence": confidence})
    if rng.random() < FALSE:
        box = [rng.uniform(0, WIDTH - 80), rng.uniform(0, HEIGHT - 140), rng.uniform(30, 80), rng.uniform(60, 140)]
        objects.append({"label": "person", "box": box, "confidence": rng.uniform(0.2, 0.65)})
    rng.shuffle(objects)
    return objects


def make_clip(name, seed):
    scene, frames = SCENES[name]
    rng = random.Random(f"{name} {seed}")
    walkers, pillars = scene(rng)
    clip = {"name": name, "rate": RATE, "width": WIDTH, "height": HEIGHT, "frames": []}
    for at in range(frames):
        truth = truth_of(walkers, pillars, at)
        clip["frames"].append({"truth": truth, "found": found_of(truth, rng)})
    return clip
