"""The generator: its truth is true, and the clip's truth file is what it makes."""

import json
import sys
import unittest
from pathlib import Path

import numpy as np

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"
sys.path.insert(0, str(SHAPES))

import generate  # noqa: E402
import pixels  # noqa: E402
import scenes  # noqa: E402

FULL_TURN = 2 * np.pi


def lone_scene(label, x, y, radius=40.0, angle=0.3):
    """A scene of one still, bright object on a black background without noise."""
    scene = scenes.Scene(1, count=1, labels=[label])
    still = [scenes.Wave(value, 0, 0, 0) for value in (x, y, radius)]
    scene.things = [scenes.Thing(label, np.full(3, 250.0), *still, angle, 0.0, np.zeros(2), 1.0)]
    scene.texture[:], scene.grain = 0, 0
    return scene


def lit_box(picture):
    rows, columns = np.nonzero(picture[..., 0] > 125)
    return columns.min(), rows.min(), columns.max() + 1, rows.max() + 1


class Truth(unittest.TestCase):
    def check_box(self, scene):
        picture, [thing] = scene.frame(0)
        x, y, w, h = (thing[key] for key in "xywh")
        # Sharp corners of a polygon cover less than half of their last pixels.
        np.testing.assert_allclose(lit_box(picture), (x, y, x + w, y + h), atol=2)
        return thing

    def test_boxes_hug_the_lit_pixels(self):
        for label in scenes.LABELS:
            for angle in np.linspace(0, FULL_TURN, 7):
                with self.subTest(label=label, angle=angle):
                    thing = self.check_box(lone_scene(label, 320.5, 170.25, angle=angle))
                    self.assertGreater(thing["visible"], 0.98)

    def test_boxes_end_at_the_frame(self):
        thing = self.check_box(lone_scene("circle", 0.0, 360.0))
        self.assertEqual((thing["x"], thing["y"] + thing["h"]), (0.0, 360.0))
        self.assertAlmostEqual(thing["visible"], 0.25, delta=0.01)

    def test_object_outside_the_frame_is_not_listed(self):
        self.assertEqual(lone_scene("square", -100.0, 50.0).frame(0)[1], [])

    def test_covered_part_is_not_visible(self):
        scene = lone_scene("circle", 300.0, 180.0)
        lower, [upper] = scene.things[0], lone_scene("square", 340.0, 180.0, 60.0, np.pi / 4).things
        scene.things = [lower, upper]
        _, [below, above] = scene.frame(0)
        self.assertEqual(above["visible"], 1.0)
        # The square begins at 340 - 60 * 1.2 / sqrt 2 = 289.09: 10.91 left of the circle's middle.
        cut = 10.91 / 40
        left = (np.arccos(cut) - cut * np.sqrt(1 - cut * cut)) / np.pi
        self.assertAlmostEqual(below["visible"], left, delta=0.01)

    def test_area_is_that_of_the_drawn_pixels(self):
        for label in scenes.LABELS:
            with self.subTest(label=label):
                scene = lone_scene(label, 320.0, 180.0)
                lit = (scene.frame(0)[0][..., 0] > 125).sum()
                pose = scene.things[0].pose(0)
                self.assertAlmostEqual(scenes.area(label, pose) / lit, 1, delta=0.02)


class Seeds(unittest.TestCase):
    def test_same_seed_same_picture(self):
        pictures = [scenes.Scene(5).frame(1.5, 3)[0] for _ in range(2)]
        np.testing.assert_array_equal(*pictures)

    def test_other_seed_other_picture(self):
        pictures = [scenes.Scene(seed).frame(1.5, 3)[0] for seed in (5, 6)]
        self.assertFalse(np.array_equal(*pictures))

    def test_truth_file_is_what_the_generator_makes(self):
        lines = (SHAPES / "shapes.truth.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), generate.FRAMES)
        scene = generate.clip_scene()
        for index in range(0, generate.FRAMES, 23):
            with self.subTest(frame=index):
                self.assertEqual(json.loads(lines[index]), generate.truth_line(scene, index)[1])


class Pixels(unittest.TestCase):
    def test_primaries_of_bt709(self):
        # ITU-R BT.709 limited range, 8 bits: red 63/102/240, green 173/42/26, blue 32/240/118.
        for rgb, yuv in (((255, 0, 0), (63, 102, 240)), ((0, 255, 0), (173, 42, 26)),
                         ((0, 0, 255), (32, 240, 118)), ((255, 255, 255), (235, 128, 128))):
            with self.subTest(rgb=rgb):
                planes = pixels.to_i420(np.full((2, 2, 3), rgb, np.uint8))
                self.assertEqual(tuple(int(plane[0, 0]) for plane in planes), yuv)

    def test_letterbox_centres_with_grey_borders(self):
        canvas, place = pixels.letterbox(pixels.to_i420(np.full((360, 640, 3), 255, np.uint8)))
        self.assertEqual(place, (0, 56, 0.4))
        self.assertTrue((canvas[:56] == 114).all() and (canvas[200:] == 114).all())
        np.testing.assert_allclose(canvas[56:200], 255, atol=0.01)

    def test_linear_weights_sum_to_one(self):
        for sizes in ((360, 144), (180, 144), (5, 12)):
            with self.subTest(sizes=sizes):
                np.testing.assert_allclose(scenes.linear_weights(*sizes).sum(1), 1, atol=1e-6)

    def test_fine_quantisation_changes_nothing(self):
        plane = np.random.default_rng(0).integers(0, 255, (30, 42)).astype(np.uint8)
        np.testing.assert_allclose(pixels.quantise(plane, 1e-3), plane, atol=0.01)


if __name__ == "__main__":
    unittest.main()
