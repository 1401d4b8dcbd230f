import numpy as np
import pandas as pd
from mlebench.grade_helpers import InvalidSubmissionError

TARGET = "price"


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    """Root mean squared logarithmic error over the rows of `answers`."""
    if list(submission["id"].astype(str)) != list(answers["id"].astype(str)):
        raise InvalidSubmissionError("the submission needs one row for each id, in the order of test.csv")
    errors = np.log1p(submission[TARGET].to_numpy(float)) - np.log1p(answers[TARGET].to_numpy(float))
    return float(np.sqrt(np.mean(errors**2)))
