"""What competitions import from `mlebench.competitions.utils`: the same names and meanings, written anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

Refusal = Callable[[str], Exception]


def df_to_one_hot(df: Any, id_column: str, target_column: str, classes: list[str]) -> Any:
    """One row an id, one column a class: 1 for the row's label, 0 elsewhere."""
    flags = {name: (df[target_column] == name).astype(int) for name in classes}
    return pd.DataFrame({id_column: df[id_column], **flags}, index=df.index)


def is_one_hot_encoded(xs: Any) -> bool:
    """True if every row is a single 1 among zeros."""
    return bool(np.isin(xs, (0, 1)).all() and np.allclose(xs.sum(axis=-1), 1))


def rle_encode(x: Any, fg_val: int = 1) -> list[int]:
    """Runs of `fg_val` down the columns: start (from 1), length, start, length, …"""
    flat = np.concatenate([[False], x.T.flatten() == fg_val, [False]])
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    return [int(n) for start, end in zip(edges[::2], edges[1::2], strict=True) for n in (start + 1, end - start)]


def rle_decode(rle_string: str, height: int, width: int) -> Any:
    """The mask of `rle_encode`'s runs as an array of booleans. Runs must be positive, sorted and apart."""
    numbers = np.array(rle_string.split(), dtype=int)
    starts, lengths = numbers[0::2] - 1, numbers[1::2]
    assert (starts >= 0).all() and (lengths > 0).all(), "RLE starts and lengths must be positive"
    assert (starts[1:] >= (starts + lengths)[:-1]).all(), "RLE runs must be sorted and must not overlap"
    mask = np.zeros(height * width, dtype=bool)
    for start, length in zip(starts, lengths, strict=True):
        mask[start : start + length] = True
    return mask.reshape((width, height)).T


def rles_to_masks(rl_encodings: Sequence[str], image_heights: Sequence[int], image_widths: Sequence[int]) -> list[Any]:
    return [rle_decode(*each) for each in zip(rl_encodings, image_heights, image_widths, strict=True)]


def helpers(refusal: Refusal) -> dict[str, Any]:
    """All helpers by name. `refusal` makes the exception for a submission that cannot be graded."""

    def aligned(submission: Any, answers: Any, id_column: str, columns: Sequence[str]) -> tuple[Any, Any]:
        """Both tables sorted by id; refuses missing columns, other ids and another number of rows."""
        missing = [name for name in (id_column, *columns) if name not in submission.columns]
        if missing:
            raise refusal(f"Submission is missing the columns {missing}.")
        if len(submission) != len(answers):
            raise refusal("Submission must have the same length as the answers.")
        submission, answers = (t.sort_values(id_column).reset_index(drop=True) for t in (submission, answers))
        if submission[id_column].tolist() != answers[id_column].tolist():
            raise refusal(f"Submission and answers do not have the same values in `{id_column}`.")
        return submission, answers

    def prepare_for_accuracy_metric(
        submission: Any, answers: Any, target_column: str, id_column: str
    ) -> dict[str, Any]:
        submission, answers = aligned(submission, answers, id_column, [target_column])
        return {"y_true": answers[target_column].to_numpy(), "y_pred": submission[target_column].to_numpy()}

    def prepare_for_auroc_metric(submission: Any, answers: Any, id_col: str, target_col: str) -> dict[str, Any]:
        submission, answers = aligned(submission, answers, id_col, [target_col])
        chances = pd.to_numeric(submission[target_col], errors="coerce")
        if not chances.between(0, 1).all():
            raise refusal(f"Submission column {target_col} must hold probabilities between 0 and 1.")
        return {"y_true": answers[target_col].to_numpy(), "y_score": chances.to_numpy()}

    def one_hot_dfs_to_log_loss_inputs(
        submission_one_hot: Any, answers_one_hot: Any, id_column: str = "id", apply_softmax: bool = True
    ) -> dict[str, Any]:
        names = [name for name in answers_one_hot.columns if name != id_column]
        submission, answers = aligned(submission_one_hot, answers_one_hot, id_column, names)
        truth, chances = answers[names].to_numpy(), submission[names].to_numpy()
        if apply_softmax and not is_one_hot_encoded(chances):
            from scipy.special import softmax

            chances = softmax(chances, axis=-1)
        return {"y_true": truth, "y_pred": chances}

    return {
        "df_to_one_hot": df_to_one_hot, "is_one_hot_encoded": is_one_hot_encoded, "rle_encode": rle_encode,
        "rle_decode": rle_decode, "rles_to_masks": rles_to_masks,
        "prepare_for_accuracy_metric": prepare_for_accuracy_metric,
        "prepare_for_auroc_metric": prepare_for_auroc_metric,
        "one_hot_dfs_to_log_loss_inputs": one_hot_dfs_to_log_loss_inputs,
    }  # fmt: skip
