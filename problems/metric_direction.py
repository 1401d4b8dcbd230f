"""What the name of a user's own metric says: which way it goes, and whether it is a time."""

from __future__ import annotations

import re

from utils.errors import ConfigError

_ERROR_NAME = re.compile(
    r"(?<![a-z])(r?mse|mae|rmsle|s?mape|(log)?loss|errors?|costs?|latency|runtime|seconds|regret|perplexity|makespan"
    r"|tardiness|lateness|delays?|penalty|violations?|deviation|waste|(optimality_|mip_)?gap)(?![a-z])",
    re.IGNORECASE,
)
"""Names something to be made small."""
_TIME_NAME = re.compile(
    r"(?<![a-z])(seconds|secs?|m?s|millis(econds)?|micros(econds)?|(run|wall|cpu|elapsed|exec)?_?time|latency|runtime"
    r"|duration|elapsed)(?![a-z])",
    re.IGNORECASE,
)
ASKED = "is it to be made small? say problem.direction=min (or max)"


def is_error(metric: str) -> bool:
    """Whether a metric is called like something to be made small."""
    return _ERROR_NAME.search(metric) is not None


def is_minimised(direction: str | None, metric: str | None, *, begins: bool = True) -> bool:
    """True where lower is better. Without a direction, higher is.

    Args:
        begins: False for a run that is stored, which goes on as it began.
    Raises:
        ConfigError: no direction, and a metric whose name says that it is an error: a search the wrong way round would
            look as good as one the right way.
    """
    if begins and direction is None and metric and is_error(metric):
        raise ConfigError(f"problem.metric={metric}: {ASKED}")
    return direction == "min"


def is_time(metric: str) -> bool:
    """True for a name that a time has: what else the machine does then is in the score."""
    return bool(_TIME_NAME.search(metric))
