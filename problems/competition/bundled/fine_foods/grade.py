import pandas as pd
from mlebench.grade_helpers import InvalidSubmissionError
from sklearn.metrics import roc_auc_score

TARGET = "great"


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    """Area under the ROC curve over the rows of `answers`."""
    if list(submission["id"].astype(str)) != list(answers["id"].astype(str)):
        raise InvalidSubmissionError("the submission needs one row for each id, in the order of test.csv")
    if answers[TARGET].nunique() != 2:
        raise ValueError("AUC needs rows of both classes")
    return float(roc_auc_score(answers[TARGET], submission[TARGET]))
