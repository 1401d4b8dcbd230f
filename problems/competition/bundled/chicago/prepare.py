from pathlib import Path

import pandas as pd
from mlebench.competitions.hiding import hide, numbered


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split the raw table into training rows and hidden rows, and write both sides."""
    rows = numbered(pd.read_csv(raw / "Chicago.csv").sort_values("date", ignore_index=True))
    shown = round(len(rows) * 0.7)
    hide(rows, shown, "ridership", rows["ridership"][:shown].median(), public, private)
