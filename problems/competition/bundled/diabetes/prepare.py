from pathlib import Path

import pandas as pd

TARGET = "progression"


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split the raw table into training rows and hidden rows, and write both sides."""
    rows = pd.read_csv(raw / "diabetes.csv")
    rows = rows.rename(columns={"target": TARGET})
    rows = rows.sample(frac=1, random_state=0, ignore_index=True)
    rows.insert(0, "id", range(1, len(rows) + 1))  # after shuffling: the old order tells something
    start = round(len(rows) * 0.6)
    write(rows[:start], rows[start:], public, private)


def write(train: pd.DataFrame, test: pd.DataFrame, public: Path, private: Path) -> None:
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGET).to_csv(public / "test.csv", index=False)
    sample = test[["id"]].assign(**{TARGET: round(train[TARGET].mean(), 3)})
    sample.to_csv(public / "sample_submission.csv", index=False)
    test[["id", TARGET]].to_csv(private / "test.csv", index=False)
