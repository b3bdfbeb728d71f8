#!/usr/bin/env python3
"""The simulation of a fleet against queueing theory and its own books."""
import itertools
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import fleet_simulation as fleet  # noqa: E402


class Simulation(unittest.TestCase):
    def test_random_arrivals_wait_as_pollaczek_and_khinchine_say(self):
        """M/D/1: the mean wait is load * service / (2 * (1 - load))."""
        for load in (0.5, 0.8):
            chance, now, frames = random.Random(3), 0.0, []
            for _ in range(200_000):
                now += chance.expovariate(load)
                frames.append(fleet.Frame(now, now, 0))
            result = fleet.served(frames, fleet.POLICIES["block"](), lambda: 1.0)
            waits = [time - frame.arrival - 1.0 for time, frame in result.answers]
            self.assertAlmostEqual(sum(waits) / len(waits) / (load / (2 * (1 - load))), 1, delta=0.05)

    def test_every_frame_is_answered_dropped_or_waits(self):
        for policy, cameras in itertools.product(fleet.POLICIES, (5, 30)):
            result, interval = fleet.simulate("4000", cameras, 15, 10, policy, 7)
            with self.subTest(policy, cameras=cameras):
                self.assertEqual(result.arrived, sum(len(range(camera % interval, 150, interval)) for camera in range(cameras)))
                self.assertEqual(result.arrived, len(result.answers) + result.dropped + result.waiting)
                self.assertEqual(len({frame for _, frame in result.answers}), len(result.answers))
                times = [time for time, _ in result.answers]
                self.assertEqual(times, sorted(times))

    def test_policies_keep_what_they_say(self):
        frames = [fleet.Frame(number, number, number % 2) for number in range(fleet.WAITING_LIMIT + 3)]
        kept = {}
        for name, make in fleet.POLICIES.items():
            policy = make()
            lost = sum(policy.add(frame) for frame in frames)
            kept[name] = [policy.take().arrival for _ in range(len(policy))]
            self.assertEqual(lost + len(kept[name]), len(frames))
        numbers = list(range(len(frames)))
        self.assertEqual(kept, {"block": numbers, "drop-new": numbers[:-3], "drop-old": numbers[3:],
                                "latest": [numbers[-1], numbers[-2]], "governed": [numbers[-1], numbers[-2]]})

    def test_the_same_seed_gives_the_same(self):
        one, other, another = (fleet.describe("4000", 18, 15, 10, "latest", seed) for seed in (1, 1, 2))
        self.assertEqual(one, other)
        self.assertNotEqual(one, another)

    def test_no_npu_serves_more_than_its_time(self):
        most = {platform: fleet.most_cameras(platform, 15, 100, 10, 1) for platform in fleet.COST_US}
        for platform, cameras in most.items():
            self.assertLess(fleet.describe(platform, cameras, 15, 10, "latest", 1)["load"], 1.05)
            self.assertLessEqual(fleet.most_cameras(platform, 30, 100, 10, 1), cameras)
        self.assertLess(most["3720"], most["4000"])
        self.assertLess(most["4000"], most["5010"])


if __name__ == "__main__":
    unittest.main()
