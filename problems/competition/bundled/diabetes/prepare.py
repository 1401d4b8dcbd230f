from pathlib import Path

import pandas as pd
from mlebench.competitions.hiding import hide, shuffled


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split the raw table into training rows and hidden rows, and write both sides."""
    rows = shuffled(pd.read_csv(raw / "diabetes.csv").rename(columns={"target": "progression"}))
    shown = round(len(rows) * 0.6)
    hide(rows, shown, "progression", round(rows["progression"][:shown].mean(), 3), public, private)
