"""Pictures that real networks know: pages of text, a page with title, texts, figure and table, and faces. Drawn without a random
number, in a font that Pillow brings, so that they are the same everywhere."""
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

# Left, top, size, text, colour; sides are multiples of 32, as text detectors want them.
NOTES = ((960, 736), "white", [
    (80, 60, 44, "Neural networks", (20, 20, 60)), (90, 170, 32, "read 1234567890", (20, 20, 60)),
    (140, 260, 36, "from left to right", (0, 0, 0)), (500, 350, 40, "Order 66-B", (120, 0, 0)),
    (120, 480, 34, "Hello, world!", (60, 60, 60)), (480, 600, 40, "The end", (0, 70, 30))])
BOARD = ((736, 960), (30, 50, 40), [
    (60, 70, 52, "DEPARTURES", (250, 250, 240)), (60, 220, 36, "07:45", (250, 220, 90)), (260, 220, 36, "Lisbon", (250, 250, 240)),
    (60, 330, 36, "08:10", (250, 220, 90)), (260, 330, 36, "Copenhagen", (250, 250, 240)), (60, 440, 36, "11:32", (250, 220, 90)),
    (260, 440, 36, "Amsterdam", (250, 250, 240)), (60, 620, 30, "Platform 9", (250, 250, 240)),
    (380, 620, 30, "Gate C-17", (250, 250, 240)), (60, 800, 28, "Please wait behind the line", (200, 210, 200))])
WORDS = ("the quick brown fox jumps over a lazy dog while rain falls on the old stone bridge near our town and nobody sees it").split()
TABLE = [["Name", "Size", "Weight", "Price"], ["Anvil", "1204", "5877", "310"], ["Bell", "77", "1930", "45"],
         ["Chair", "860", "4105", "129"], ["Drum", "418", "2260", "98"]]


def font(size):
    return ImageFont.load_default(size=size)


def page(design):
    size, paper, lines = design
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    for left, top, height, text, colour in lines:
        draw.text((left, top), text, font=font(height), fill=colour)
    return image


def draw_paragraph(draw, left, top, width, lines, first_word=0):
    word = first_word
    for line in range(lines):
        text = ""
        while draw.textlength(text + WORDS[word % len(WORDS)] + " ", font=font(15)) < width:
            text += WORDS[word % len(WORDS)] + " "
            word += 1
        draw.text((left, top + line * 22), text, font=font(15), fill="black")


def draw_figure(image, draw):
    y, x = np.mgrid[0:240, 0:400]
    sky = np.stack([80 + y // 3, 120 + x // 5, 200 - y // 3], axis=2).astype(np.uint8)
    image.paste(Image.fromarray(sky), (180, 370))
    draw.ellipse((300, 430, 380, 510), fill=(250, 220, 60))
    draw.polygon([(200, 600), (330, 480), (460, 600)], fill=(60, 110, 50))
    draw.rectangle((460, 500, 540, 600), fill=(150, 60, 40))
    draw.text((240, 620), "Figure 1: A hill, a house and the sun", font=font(14), fill="black")


def draw_table(draw, left, top):
    for row in range(len(TABLE) + 1):
        draw.line((left, top + row * 25, left + 560, top + row * 25), fill="black")
    for column in range(len(TABLE[0]) + 1):
        draw.line((left + column * 140, top, left + column * 140, top + 125), fill="black")
    for row, cells in enumerate(TABLE):
        for column, text in enumerate(cells):
            draw.text((left + 15 + column * 140, top + 4 + row * 25), text, font=font(15), fill="black")


def article():
    image = Image.new("RGB", (760, 1000), "white")
    draw = ImageDraw.Draw(image)
    draw.text((140, 50), "On drawing pages for machines", font=font(36), fill="black")
    draw_paragraph(draw, 60, 130, 640, 9)
    draw_figure(image, draw)
    draw_paragraph(draw, 60, 670, 640, 5, first_word=5)
    draw_table(draw, 100, 800)
    return image


def draw_face(draw, x, y, size, skin, hair):
    """Sizes in halves of a face's width, from its middle."""
    def oval(across, down, half_width, half_height, colour):
        draw.ellipse((x + (across - half_width) * size, y + (down - half_height) * size,
                      x + (across + half_width) * size, y + (down + half_height) * size), fill=colour)

    shade, shadow = (tuple(int(value * part) for value in skin) for part in (0.93, 0.8))
    thin = max(1, int(0.03 * size))
    draw.rectangle((x - 0.35 * size, y + 0.8 * size, x + 0.35 * size, y + 1.6 * size), fill=shadow)  # neck
    oval(0, 2.42, 1.5, 1.08, (50, 70, 120))  # shoulders
    oval(0, -0.2, 0.98, 1.15, hair)
    for side in (-1, 1):
        oval(side * 0.86, 0.1, 0.13, 0.25, shadow)  # ear
    oval(0, 0.08, 0.84, 1.08, skin)
    draw.chord((x - 0.84 * size, y - 1.1 * size, x + 0.84 * size, y + 0.4 * size), 200, 340, fill=hair)
    for eye in (-0.36, 0.36):
        for half_width, half_height, colour in ((0.2, 0.1, (245, 245, 245)), (0.09, 0.09, (70, 45, 30)), (0.045, 0.045, (10, 10, 10))):
            oval(eye, -0.05, half_width, half_height, colour)
        draw.arc((x + (eye - 0.25) * size, y - 0.4 * size, x + (eye + 0.25) * size, y - 0.05 * size), 205, 335, fill=hair,
                 width=max(2, int(0.07 * size)))
        draw.arc((x + (eye - 0.21) * size, y - 0.17 * size, x + (eye + 0.21) * size, y + 0.08 * size), 190, 350, fill=(60, 40, 35), width=thin)
    draw.polygon([(x, y - 0.02 * size), (x - 0.15 * size, y + 0.4 * size), (x + 0.15 * size, y + 0.4 * size)], fill=shade)  # nose
    for nostril in (-0.07, 0.07):
        oval(nostril, 0.4, 0.05, 0.03, (120, 80, 70))
    oval(0, 0.66, 0.28, 0.1, (180, 80, 80))
    draw.line((x - 0.28 * size, y + 0.66 * size, x + 0.28 * size, y + 0.66 * size), fill=(110, 40, 40), width=thin)


PAIR = ((640, 480), [(180, 180, 70, (224, 180, 150), (60, 40, 30)), (460, 220, 60, (170, 120, 90), (20, 20, 20))])
TRIO = ((640, 360), [(150, 120, 45, (224, 180, 150), (60, 40, 30)), (330, 150, 50, (200, 150, 120), (90, 60, 20)),
                     (520, 110, 42, (240, 200, 175), (160, 120, 60))])
ALONE = ((480, 640), [(240, 280, 110, (224, 180, 150), (60, 40, 30))])


def faces(design):
    size, people = design
    image = Image.new("RGB", size, (150, 170, 180))
    draw = ImageDraw.Draw(image)
    for person in people:
        draw_face(draw, *person)
    return image.filter(ImageFilter.GaussianBlur(1.5))
