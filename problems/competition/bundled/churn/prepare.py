from pathlib import Path

import pandas as pd
from mlebench.competitions.hiding import hide, shuffled


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split the raw table into training rows and hidden rows, and write both sides."""
    rows = pd.read_csv(raw / "wa_churn.csv")
    rows["churn"] = (rows["churn"] == "Yes").astype(int)
    rows, shown = shuffled(rows), round(len(rows) * 0.6)
    hide(rows, shown, "churn", round(rows["churn"][:shown].mean(), 4), public, private)
