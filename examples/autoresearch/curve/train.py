"""The file that is searched: fits a curve and prints what it is worth."""

from prepare import POINTS, evaluate

DEGREE = 1
STEPS = 200
RATE = 0.01
SCALE = 3.0


def train(points):
    weights = [0.0] * (DEGREE + 1)
    for _ in range(STEPS):
        slopes = [0.0] * len(weights)
        for x, y in points:
            powers = [(x / SCALE) ** k for k in range(len(weights))]
            error = sum(w * p for w, p in zip(weights, powers, strict=True)) - y
            slopes = [s + error * p for s, p in zip(slopes, powers, strict=True)]
        weights = [w - RATE * s for w, s in zip(weights, slopes, strict=True)]
    return lambda x: sum(w * (x / SCALE) ** k for k, w in enumerate(weights))


model = train([point for place, point in enumerate(POINTS) if place % 3])
print("---")
print(f"val_loss: {evaluate(model):.6f}")
