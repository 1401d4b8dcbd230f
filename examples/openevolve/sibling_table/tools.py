"""Helpers of the evaluator, imported from beside it."""

import csv
from pathlib import Path


def rows():
    with open(Path(__file__).parent / "measured.csv") as file:
        return [(int(row["carbons"]), float(row["celsius"])) for row in csv.DictReader(file)]
