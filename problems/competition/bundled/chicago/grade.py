import pandas as pd
from mlebench.grade_helpers import InvalidSubmissionError

TARGET = "ridership"


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    """Mean absolute error over the rows of `answers`."""
    if list(submission["id"].astype(str)) != list(answers["id"].astype(str)):
        raise InvalidSubmissionError("the submission needs one row for each id, in the order of test.csv")
    return float((submission[TARGET] - answers[TARGET]).abs().mean())
