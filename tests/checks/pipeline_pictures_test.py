"""scripts/pipeline-pictures.py ends the right branch of a launch line in pictures, and leaves the others as they are."""
import importlib.util
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "pipeline-pictures.py"
spec = importlib.util.spec_from_file_location("pipeline_pictures", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
CAPTURE = script.CAPTURE.format("out")


class Captured(unittest.TestCase):
    def assert_becomes(self, line, expected):
        self.assertEqual(" ".join(script.captured(line.split(), "out")), expected)

    def test_a_line_that_draws_nothing(self):
        self.assert_becomes("filesrc location=a ! npuinfer model=b device=c ! nputensordec ! npupublish location=d ! fakesink sync=false",
                            f"filesrc location=a ! npuinfer model=b device=c ! nputensordec ! npupublish location=d ! npuoverlay ! {CAPTURE}")

    def test_a_line_that_draws(self):
        self.assert_becomes("filesrc location=a ! nputensordec ! npuoverlay ! queue ! jpegenc ! filesink location=b",
                            f"filesrc location=a ! nputensordec ! npuoverlay ! {CAPTURE}")

    def test_the_first_of_two_branches(self):
        self.assert_becomes("filesrc location=a ! tee name=t t. ! nputensordec ! fakesink t. ! nputensordec ! fakesink",
                            f"filesrc location=a ! tee name=t t. ! nputensordec ! npuoverlay ! {CAPTURE} t. ! nputensordec ! fakesink")

    def test_the_branch_that_shows_several(self):
        self.assert_becomes("compositor name=m sink_1::xpos=3 ! fakesink filesrc location=a ! nputensordec ! video/x-raw,width=3 ! m.",
                            f"compositor name=m sink_1::xpos=3 ! {CAPTURE} filesrc location=a ! nputensordec ! video/x-raw,width=3 ! m.")


if __name__ == "__main__":
    unittest.main(verbosity=2)
