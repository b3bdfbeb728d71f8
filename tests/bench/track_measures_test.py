"""What the benchmark of trackers measures with, on cases small enough to work out by hand, and the clips that it measures on."""
import itertools
import random
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from track_clips import LEAST_VISIBLE, make_clip, seen_part  # noqa: E402
from track_measures import best_pairs, measure, overlaps  # noqa: E402

HERE, THERE = [0, 0, 10, 10], [100, 0, 10, 10]


def frames(*pairs):
    """Of (truth, told), each a dictionary of identities and boxes."""
    return [(list(truth.items()), list(told.items())) for truth, told in pairs]


class Pairs(unittest.TestCase):
    def test_the_best_sum_is_not_the_best_pair_first(self):
        self.assertEqual(best_pairs([[0.9, 0.8], [0.8, 0.1]]), [(0, 1), (1, 0)])

    def test_what_has_no_worth_is_left_alone(self):
        self.assertEqual(best_pairs([[0, 0.5], [0, 0.6], [0, 0]]), [(1, 1)])
        self.assertEqual(best_pairs(np.zeros((0, 3))), [])

    def test_as_good_as_every_choice(self):
        rng = random.Random(1)
        for _ in range(200):
            rows, columns = rng.randrange(1, 6), rng.randrange(1, 6)
            worth = np.array([[max(rng.uniform(-0.5, 1), 0) for _ in range(columns)] for _ in range(rows)])
            wide = worth if rows <= columns else worth.T
            best = max(sum(wide[i, j] for i, j in enumerate(choice)) for choice in itertools.permutations(range(wide.shape[1]), wide.shape[0]))
            self.assertAlmostEqual(sum(worth[i, j] for i, j in best_pairs(worth)), best)


class Overlaps(unittest.TestCase):
    def test_of_boxes(self):
        self.assertTrue(np.allclose(overlaps([HERE], [HERE, [5, 0, 10, 10], THERE]), [[1, 1 / 3, 0]]))
        self.assertEqual(overlaps([], [HERE]).shape, (0, 1))


class Measures(unittest.TestCase):
    def test_all_right(self):
        self.assertEqual(measure(frames(*[({"a": HERE, "b": THERE}, {7: HERE, 9: THERE})] * 4)), {"hota": 1, "mota": 1, "switches": 0, "idf1": 1})

    def test_nothing_found(self):
        self.assertEqual(measure(frames(({"a": HERE}, {}))), {"hota": 0, "mota": 0, "switches": 0, "idf1": 0})

    def test_an_identity_that_changes_once(self):
        # Four boxes, two by each identity. Detection 1; of each the association is 2 / (4 + 2 - 2).
        got = measure(frames(*[({"a": HERE}, {1: HERE})] * 2, *[({"a": HERE}, {2: HERE})] * 2))
        self.assertAlmostEqual(got["hota"], np.sqrt(0.5))
        self.assertAlmostEqual(got["mota"], 1 - 1 / 4)
        self.assertEqual(got["switches"], 1)
        self.assertAlmostEqual(got["idf1"], 2 * 2 / 8)

    def test_two_that_are_exchanged(self):
        got = measure(frames(({"a": HERE, "b": THERE}, {1: HERE, 2: THERE}), ({"a": HERE, "b": THERE}, {2: HERE, 1: THERE})))
        self.assertEqual(got["switches"], 2)
        self.assertAlmostEqual(got["hota"], np.sqrt(1 / 3))  # each association: 1 / (2 + 2 - 1)

    def test_one_that_is_hidden_between_keeps_its_identity_or_not(self):
        hidden = ({}, {})
        self.assertEqual(measure(frames(({"a": HERE}, {1: HERE}), hidden, ({"a": HERE}, {1: HERE})))["switches"], 0)
        self.assertEqual(measure(frames(({"a": HERE}, {1: HERE}), hidden, ({"a": HERE}, {2: HERE})))["switches"], 1)

    def test_boxes_of_nothing_and_misses(self):
        got = measure(frames(({"a": HERE}, {1: HERE}), ({"a": HERE}, {1: THERE})))
        self.assertAlmostEqual(got["mota"], 1 - 2 / 2)
        self.assertAlmostEqual(got["idf1"], 0.5)
        self.assertAlmostEqual(got["hota"], 1 / 3)  # detection and association are 1 / 3 each

    def test_loose_boxes_count_at_low_overlaps_only(self):
        # An overlap of 1/3: right at 0.05 to 0.30, six of nineteen.
        got = measure(frames(({"a": HERE}, {1: [5, 0, 10, 10]})))
        self.assertAlmostEqual(got["hota"], 6 / 19)
        self.assertEqual(got["mota"], -1)


class Clips(unittest.TestCase):
    def test_are_the_same_each_time(self):
        self.assertEqual(make_clip("crossing", 3), make_clip("crossing", 3))
        self.assertNotEqual(make_clip("crossing", 3), make_clip("crossing", 4))

    def test_what_is_in_front_hides(self):
        self.assertEqual(seen_part([0, 0, 40, 40], [[20, 0, 40, 40]]), 0.5)
        self.assertEqual(seen_part([-20, 0, 40, 40], []), 0.5)

    def test_have_what_they_are_named_for(self):
        passed, _ = self.look_at("crossing")
        self.assertGreaterEqual(len(passed), 5)
        _, hidden = self.look_at("occlusion")
        self.assertGreaterEqual(hidden, 8)
        clip = make_clip("exits", 0)
        last = {one["id"]: at for at, frame in enumerate(clip["frames"]) for one in frame["truth"]}
        self.assertGreaterEqual(sum(at < len(clip["frames"]) - 60 for at in last.values()), 10)

    def look_at(self, scene):
        """Pairs that were in front of each other; how often one was hidden for a third of a second and seen again."""
        seen, passed, hidden = {}, set(), 0
        for at, frame in enumerate(make_clip(scene, 0)["frames"]):
            names = [one["id"] for one in frame["truth"]]
            hidden += sum(at - seen[name] > 10 for name in names if name in seen)
            seen.update((name, at) for name in names)
            shared = overlaps(*[[one["box"] for one in frame["truth"]]] * 2)
            passed.update((names[i], names[j]) for i, j in zip(*np.where(np.triu(shared, 1) > 0.3)))
            self.assertTrue(all(one["confidence"] >= LEAST_VISIBLE for one in frame["truth"]))
        return passed, hidden


if __name__ == "__main__":
    unittest.main()
