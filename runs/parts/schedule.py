"""In which order proposals are made and judged, and how many at a time, as a configuration says it."""

from __future__ import annotations

from core.loop.plan import lag_of
from core.loop.schedules import Schedule
from core.loop.schedules import schedule_of as named
from utils.config_schema import Config
from utils.strategies import POLICIES


def schedule_of(config: Config) -> type[Schedule]:
    """The class of the schedule that the policy is searched with."""
    policy = POLICIES.get(config.search.policy, config.plugin_folders)
    return named(config.search.schedule, whole_rounds=policy.whole_rounds)


def at_once(config: Config) -> int:
    """How many writers may be asked at the same time."""
    return config.search.lag or lag_of(config.search.batch)
