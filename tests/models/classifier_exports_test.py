"""Classifiers as Hugging Face's and Geti's tools export them, with nothing but model= set: what the model says when every property is set.

    classifier_exports_test.py <folder of classifier_exports.py> <work folder> [unittest's arguments]
"""

import json
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

SHAPES = Path(__file__).resolve().parents[2] / "models" / "shapes"

# All that the files of the folders say, as properties.
PROPERTIES = "mean=123.675,116.28,103.53 scale=58.395,57.12,57.375 channel-order=rgb resize-mode=stretch"
DECODED = "model-task=classify labels=red,green,blue,yellow"
FRAMES, INTERVAL = 100, 5  # of the demo clip; versions of identity let through one more or less
# 640x360: 32/40 of the shorter side, in the middle.
MIDDLE = "videocrop left=176 right=176 top=36 bottom=36 !"
# Difference of confidences.
ROUNDING = 2e-3
EXPORTS = WORK = None


def answers(name, model, settings="", decoder="", before=""):
    """The classes of every fifth frame: {label: confidence} of each."""
    location = WORK / f"classifier-{name}.jsonl"
    location.unlink(missing_ok=True)
    line = (f"gst-launch-1.0 -q filesrc location='{SHAPES / 'shapes.mp4'}' ! decodebin ! identity eos-after={FRAMES + 1} ! {before} "
            f"npuinfer model='{model}' device=software inference-interval={INTERVAL} {settings} ! nputensordec {decoder} ! npupublish location='{location}' "
            "! fakesink sync=false")
    print(line, flush=True)
    subprocess.run(shlex.split(line), check=True, timeout=280)
    lines = [json.loads(text) for text in location.read_text().splitlines()[:FRAMES]]
    assert len(lines) == FRAMES, len(lines)
    return [{one["label"]: one["confidence"] for one in line["classifications"]} for line in lines if "classifications" in line]


class ClassifierExports(unittest.TestCase):
    def assert_same(self, some, others):
        self.assertEqual(len(some), FRAMES / INTERVAL)
        for one, other in zip(some, others, strict=True):
            self.assertEqual(one.keys(), other.keys())
            for label, confidence in one.items():
                self.assertAlmostEqual(confidence, other[label], delta=ROUNDING)

    def largest_difference(self, some, others):
        return max(abs(one.get(label, 0) - other.get(label, 0)) for one, other in zip(some, others, strict=True) for label in {*one, *other})

    @classmethod
    def setUpClass(cls):
        cls.explicit = answers("explicit", EXPORTS / "bare/model.xml", PROPERTIES, DECODED)
        cls.unprepared = answers("unprepared", EXPORTS / "bare/model.xml", "", DECODED)

    def test_properties_give_what_the_demo_model_says(self):
        self.assert_same(self.explicit, answers("colors", SHAPES / "colors.xml", "", DECODED))

    def test_without_pre_processing_it_would_be_something_else(self):
        self.assertGreater(self.largest_difference(self.explicit, self.unprepared), 50 * ROUNDING)

    def test_hugging_faces_folder(self):
        self.assert_same(self.explicit, answers("hugging-face", EXPORTS / "hugging_face/openvino_model.xml"))

    def test_hugging_faces_folder_of_the_pictures_middle(self):
        middle = answers("middle", EXPORTS / "bare/model.xml", PROPERTIES, DECODED, MIDDLE)
        self.assertGreater(self.largest_difference(self.explicit, middle), 10 * ROUNDING)
        self.assert_same(middle, answers("cropped", EXPORTS / "hugging_face_cropped/openvino_model.xml"))

    def test_getis_folder(self):
        self.assert_same(self.explicit, answers("geti", EXPORTS / "geti/model.xml"))


if __name__ == "__main__":
    EXPORTS, WORK = (Path(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
