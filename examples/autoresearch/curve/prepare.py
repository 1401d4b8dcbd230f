"""Fixed: the data and how a model is judged. Do not change."""

import math

POINTS = [(x / 10, math.sin(x / 10) + x / 40) for x in range(-30, 31)]


def evaluate(model):
    """Mean squared error over the points that training leaves out."""
    held_out = POINTS[::3]
    return sum((model(x) - y) ** 2 for x, y in held_out) / len(held_out)
