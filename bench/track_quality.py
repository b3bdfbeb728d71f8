#!/usr/bin/env python3
"""Quality of nputrack's identities on clips with a known truth, beside GStreamer's own ioutracker, if it is there (1.28), on the same
boxes. Prints one JSON line. Nothing here depends on the machine.

usage: GST_PLUGIN_PATH=... track_quality.py BUILD/bench [--seeds N] [--require] >> results.jsonl
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from track_clips import SCENES, make_clip
from track_measures import measure, overlaps

# Name, element, least score of the boxes it gets. ioutracker knows no scores: it is better without uncertain boxes.
SIDES = [("nputrack", "nputrack", 0),
         ("ioutracker", "ioutracker", 0),
         ("ioutracker, sure boxes", "ioutracker", 0.5),
         ("ioutracker, sure boxes, patient", "ioutracker iou-score-threshold=0.3 min-frame-count-for-lost-track=30", 0.5)]
# The least that nputrack must reach on these clips, on each scene and in the mean.
LEAST_HOTA, LEAST_MEAN_HOTA, LEAST_BETWEEN = 0.8, 0.84, 0.8
MOST_SWITCHES = 6  # per clip
INTERVAL = 3


def is_there(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.0", element], check=False).returncode == 0


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def frames_of(clip, told):
    return [([(one["id"], one["box"]) for one in frame["truth"]], [(box[0], box[1:]) for box in boxes])
            for frame, boxes in zip(clip["frames"], told)]


def between(frames, interval):
    """For true objects in frames without detections: the overlap with the box of the identity that the object had in the last frame with
    detections. Objects without an identity there do not count."""
    found = []
    names = {}
    for index, (truth, told) in enumerate(frames):
        shared = overlaps([box for _, box in truth], [box for _, box in told])
        if index % interval == 0:
            names = {truth[i][0]: told[int(np.argmax(row))][0] for i, row in enumerate(shared) if row.size and row.max() >= 0.5}
            continue
        places = {name: j for j, (name, _) in enumerate(told)}
        found += [shared[i, places[names[name]]] if names[name] in places else 0.0 for i, (name, _) in enumerate(truth) if name in names]
    return found


def summary(scores):
    return {key: round(float(np.mean([score[key] for score in scores])), 4) for key in ("hota", "mota", "idf1")} | {
        "switches": sum(score["switches"] for score in scores)}


def track(folder, seeds):
    """Scores by side, scene and seed; overlaps of nputrack's boxes in frames between."""
    sides = [side for side in SIDES if is_there(side[1].split()[0])]
    scores = {name: {scene: [] for scene in SCENES} for name, _, _ in sides}
    bridged = {scene: [] for scene in SCENES}
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "clip.json"
        for scene in SCENES:
            for seed in range(seeds):
                clip = make_clip(scene, seed)
                file.write_text(json.dumps(clip), encoding="utf-8")
                for name, element, least in sides:
                    told = run(folder / "track_side", element, file, "--least-score", least)["frames"]
                    scores[name][scene].append(measure(frames_of(clip, told)))
                bridged[scene] += between(frames_of(clip, run(folder / "track_side", "nputrack", file, "--interval", INTERVAL)["frames"]), INTERVAL)
    return scores, bridged


def shortcomings(sides, bridged, seeds):
    """The requirements that nputrack misses."""
    ours, *peers = sides
    found = [f"{scene}: HOTA {of['hota']} is below {LEAST_HOTA}" for scene, of in ours["scenes"].items() if of["hota"] < LEAST_HOTA]
    found += [f"{scene}: {of['switches']} switches are more than {MOST_SWITCHES} a clip" for scene, of in ours["scenes"].items()
              if of["switches"] > MOST_SWITCHES * seeds]
    if ours["all"]["hota"] < LEAST_MEAN_HOTA:
        found.append(f"HOTA {ours['all']['hota']} in the mean is below {LEAST_MEAN_HOTA}")
    for peer in peers:
        for scene, of in ours["scenes"].items():
            theirs = peer["scenes"][scene]
            if of["hota"] <= theirs["hota"] or of["switches"] > theirs["switches"]:
                found.append(f"{scene}: {peer['name']} has HOTA {theirs['hota']}, {theirs['switches']} switches; nputrack {of['hota']}, {of['switches']}")
    found += [f"{scene}: boxes between overlap the truth by {value}, below {LEAST_BETWEEN}" for scene, value in bridged.items() if value < LEAST_BETWEEN]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--require", action="store_true", help="fail where nputrack is not as good as it ought to be")
    options = parser.parse_args()
    os.environ.setdefault("GST_REGISTRY_FORK", "no")
    scores, bridged = track(options.folder, options.seeds)
    sides = [{"name": name, "all": summary([one for scene in of.values() for one in scene]),
              "scenes": {scene: summary(values) for scene, values in of.items()}} for name, of in scores.items()]
    means = {scene: round(float(np.mean(values)), 4) for scene, values in bridged.items()}
    print(json.dumps({"case": "track_quality", "seeds": options.seeds, "sides": sides, "interval": INTERVAL, "overlap_between": means}))
    found = shortcomings(sides, means, options.seeds) if options.require else []
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
