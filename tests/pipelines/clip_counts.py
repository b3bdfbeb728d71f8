"""What a counter should say of the demo clip, by its ground truth: who crosses an upright line, and who is right of it.

Of an object with less than MIN_VISIBLE in sight the truth asks nothing (models/shapes/README.md): what happens to it
meanwhile happens at some time until it is seen again. An object that leaves the picture has left when it was seen last.
"""

import json
from typing import NamedTuple

MIN_VISIBLE = 0.3


class Span(NamedTuple):
    """The frames in one of which something happens."""
    first: int
    last: int


class Stay(NamedTuple):
    begins: Span
    ends: Span


def read_visits(path):
    """Of each time that an object is in the picture: its middles, [(frame, x), ...], where the truth asks for it."""
    visits, listed = {}, {}
    for frame, line in enumerate(path.read_text().splitlines()):
        for thing in json.loads(line)["objects"]:
            identity = thing["id"]
            if listed.get(identity) != frame - 1:
                visits.setdefault(identity, []).append([])
            listed[identity] = frame
            if thing["visible"] >= MIN_VISIBLE:
                visits[identity][-1].append((frame, thing["x"] + thing["w"] / 2))
    return [visit for of_one in visits.values() for visit in of_one]


def changes(visit, line):
    """When it comes to be on the other side: (span, is_right)."""
    for (before, old), (after, new) in zip(visit, visit[1:]):
        if (old >= line) != (new >= line):
            yield Span(before + 1, after), new >= line


def crossings(visits, line):
    """The spans of those to the right, and of those to the left."""
    found = [change for visit in visits for change in changes(visit, line)]
    return [span for span, is_right in found if is_right], [span for span, is_right in found if not is_right]


def stays(visits, line):
    """Of those that are right of the line. One that goes on ends with the clip."""
    found = []
    for visit in visits:
        begins = Span(visit[0][0], visit[0][0]) if visit and visit[0][1] >= line else None
        for span, is_right in changes(visit, line):
            if not is_right:
                found.append(Stay(begins, span))
            begins = span if is_right else None
        if begins is not None:
            found.append(Stay(begins, Span(visit[-1][0], visit[-1][0])))
    return found
