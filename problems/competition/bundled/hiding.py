"""How the bundled competitions hide rows. MLE-bench's folders share `mlebench.competitions.utils` in the same way."""

from pathlib import Path

import pandas as pd


def shuffled(rows: pd.DataFrame, key: str = "id") -> pd.DataFrame:
    """`rows` in a drawn order, numbered by `key` after shuffling: the old order may tell something."""
    return numbered(rows.sample(frac=1, random_state=0, ignore_index=True), key)


def numbered(rows: pd.DataFrame, key: str = "id") -> pd.DataFrame:
    """`rows` with their numbers, from 1, as the first column `key`."""
    rows.insert(0, key, range(1, len(rows) + 1))
    return rows


def hide(rows: pd.DataFrame, shown: int, target: str, guess: object, public: Path, private: Path) -> None:
    """Show the first `shown` rows with their label and the others without; `guess` is what the sample hands in."""
    train, test, key = rows[:shown], rows[shown:], rows.columns[0]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=target).to_csv(public / "test.csv", index=False)
    test[[key]].assign(**{target: guess}).to_csv(public / "sample_submission.csv", index=False)
    test[[key, target]].to_csv(private / "test.csv", index=False)
