#!/usr/bin/env python3
"""Writes a picture of a disc as a PPM.

usage: picture.py PICTURE.ppm
"""
import sys

WIDTH, HEIGHT, CENTER, RADIUS = 320, 240, (200, 100), 25


def color(x, y):
    inside = (x - CENTER[0]) ** 2 + (y - CENTER[1]) ** 2 < RADIUS**2
    return (220, 60, 40) if inside else (90, 100, 110)


with open(sys.argv[1], "wb") as file:
    file.write(b"P6 %d %d 255\n" % (WIDTH, HEIGHT))
    file.write(bytes(value for y in range(HEIGHT) for x in range(WIDTH) for value in color(x, y)))
