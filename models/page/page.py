"""What pipelines/read-page.sh needs: two networks that a PyPI package carries, a page for them, and the text on it in reading order.

    page.py networks FOLDER    FOLDER/finder/finder.xml and FOLDER/reader/reader.xml, of rapidocr-onnxruntime's wheel, with what describes them
    page.py page FOLDER        FOLDER/page.png, and FOLDER/page.txt with what stands on it
    page.py lines              reads npupublish's lines, and prints the text that was read, row by row
"""
import importlib.util
import json
import sys
from pathlib import Path

PACKAGE = "rapidocr_onnxruntime"
MISSING = 3  # exit code
# As PaddleOCR writes them beside its models. The finder's settings are the package's.
FINDER_YML = """\
PreProcess:
  transform_ops:
  - DecodeImage: {img_mode: BGR}
  - NormalizeImage: {scale: 1./255., mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5]}
PostProcess: {name: DBPostProcess, thresh: 0.3, box_thresh: 0.5, unclip_ratio: 1.6, use_dilation: true}
"""
READER_YML = """\
PreProcess:
  transform_ops:
  - DecodeImage: {img_mode: BGR}
  - RecResizeImg: {image_shape: [3, 48, 320]}
PostProcess:
  name: CTCLabelDecode
  character_dict:
"""

# Left, top, size, text: single words, because the reader, made for a language without blanks, sees some of them and not others. A right
# column is a line of its own; the rows of page.txt have both.
SIZE, PAPER, INK = (480, 416), (250, 248, 240), (40, 40, 60)
TEXTS = [(166, 26, 34, "BAKERY"), (196, 76, 22, "Receipt"), (48, 132, 24, "Bread"), (360, 132, 24, "3.40"),
         (48, 180, 24, "Cheesecake"), (360, 180, 24, "2.75"), (48, 228, 24, "Coffee"), (360, 228, 24, "1.90"),
         (48, 288, 28, "TOTAL"), (360, 288, 28, "8.05"), (190, 350, 24, "Goodbye!")]


def package():
    """The folder of the wheel's files; its code is not run."""
    found = importlib.util.find_spec(PACKAGE)
    return Path(found.origin).parent if found else None


def networks():
    """The wheel's finder and reader, as ONNX."""
    models = package() / "models"
    return models / "ch_PP-OCRv4_det_infer.onnx", models / "ch_PP-OCRv4_rec_infer.onnx"


def save(network, name, folder, model_info=None, describe=None):
    """The IR of a network in a folder of its own. `describe`: gives the inference.yml that belongs to it."""
    import openvino as ov
    folder = Path(folder) / name
    folder.mkdir(parents=True, exist_ok=True)
    model = ov.convert_model(network)
    for key, value in (model_info or {}).items():
        model.set_rt_info(value, ["model_info", key])
    if describe:
        (folder / "inference.yml").write_text(describe(model), encoding="utf-8")
    ov.save_model(model, folder / f"{name}.xml", compress_to_fp16=True)
    return folder / f"{name}.xml"


def reader_yml(model):
    """The network brings its characters, a line each."""
    characters = model.get_rt_info(["framework", "character"]).astype(str).splitlines()
    return READER_YML + "".join(f"  - {json.dumps(one, ensure_ascii=False)}\n" for one in characters)


def save_networks(folder):
    finder, reader = networks()
    return save(finder, "finder", folder, describe=lambda model: FINDER_YML), save(reader, "reader", folder, describe=reader_yml)


def rows(found):
    """[(left, top, height, text)] as rows from top to bottom, each from left to right."""
    of_page = []
    for one in sorted(found, key=lambda each: each[1]):
        middle = one[1] + one[2] / 2
        if of_page and middle < of_page[-1][0][1] + of_page[-1][0][2]:
            of_page[-1].append(one)
        else:
            of_page.append([one])
    return ["  ".join(text for *_, text in sorted(row)) for row in of_page]


def save_page(folder):
    """In a font that Pillow brings, so that it is the same everywhere."""
    from PIL import Image, ImageDraw, ImageFont
    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    for left, top, size, text in TEXTS:
        draw.text((left, top), text, font=ImageFont.load_default(size=size), fill=INK)
    for top in (118, 272):
        draw.line((40, top, 440, top), fill=INK)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    image.save(folder / "page.png")
    (folder / "page.txt").write_text("".join(row + "\n" for row in rows(TEXTS)), encoding="utf-8")


def print_lines():
    found = [(one["x"], one["y"], one["h"], one["classifications"][0]["label"])
             for line in sys.stdin for one in json.loads(line)["detections"] if one.get("classifications")]
    print("\n".join(rows(found)) if found else "no text was found", file=sys.stdout if found else sys.stderr)


def main():
    command, folder = sys.argv[1], (sys.argv[2:] or [None])[0]
    if command == "lines":
        return print_lines()
    try:
        if package() is None:
            raise ImportError(f"No module named '{PACKAGE}'")
        {"networks": save_networks, "page": save_page}[command](folder)
    except ImportError as missing:
        print(f"{missing}: scripts/setup.sh --tests puts it into .venv; or set FINDER and READER to networks of your own, and name a page",
              file=sys.stderr)
        sys.exit(MISSING)


if __name__ == "__main__":
    main()
