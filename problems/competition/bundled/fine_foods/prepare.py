from pathlib import Path

import pandas as pd

TARGET = "great"


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split the raw table into training rows and hidden rows, and write both sides."""
    train, test = pd.read_csv(raw / "training_data.csv"), pd.read_csv(raw / "testing_data.csv")
    rows = pd.concat([train, test], ignore_index=True)
    rows["great"] = (rows.pop("score") == "great").astype(int)
    rows.insert(0, "id", range(1, len(rows) + 1))
    write(rows[: len(train)], rows[len(train) :], public, private)


def write(train: pd.DataFrame, test: pd.DataFrame, public: Path, private: Path) -> None:
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGET).to_csv(public / "test.csv", index=False)
    sample = test[["id"]].assign(**{TARGET: round(train[TARGET].mean(), 4)})
    sample.to_csv(public / "sample_submission.csv", index=False)
    test[["id", TARGET]].to_csv(private / "test.csv", index=False)
