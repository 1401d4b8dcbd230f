import numpy as np
import pandas as pd
from mlebench.grade_helpers import InvalidSubmissionError

TARGET = "Sale_Price"


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    """Root mean squared logarithmic error over the rows of `answers`."""
    if list(submission["Id"].astype(str)) != list(answers["Id"].astype(str)):
        raise InvalidSubmissionError("the submission needs one row for each Id, in the order of test.csv")
    errors = np.log1p(submission[TARGET].to_numpy(float)) - np.log1p(answers[TARGET].to_numpy(float))
    return float(np.sqrt(np.mean(errors**2)))
