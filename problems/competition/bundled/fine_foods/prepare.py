from pathlib import Path

import pandas as pd
from mlebench.competitions.hiding import hide, numbered


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split the raw table into training rows and hidden rows, and write both sides."""
    train, test = pd.read_csv(raw / "training_data.csv"), pd.read_csv(raw / "testing_data.csv")
    rows = numbered(pd.concat([train, test], ignore_index=True))
    rows["great"] = (rows.pop("score") == "great").astype(int)
    hide(rows, len(train), "great", round(rows["great"][: len(train)].mean(), 4), public, private)
