"""The data sets that come along, by the problem that knows them: what `problem.name` may be beside a file."""

from __future__ import annotations

DATA_SETS = {
    "competition": ["ames", "churn", "diamonds", "fine_foods", "chicago", "diabetes", "digits"],
    "bin_packing": [
        "weibull_5k", "weibull_1k", "weibull_10k", "weibull_100k", "u120", "u250", "u500", "u1000",
    ],
}  # fmt: skip


def words_for(name: str) -> str:
    """What somebody means who gives a data set's name for a problem, as words of the command line; '' for any other."""
    kind = next((kind for kind, names in DATA_SETS.items() if name in names), None)
    return f"--problem={kind} --problem.name={name}" if kind else ""
