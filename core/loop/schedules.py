"""What a schedule is, and which there are: one file each in this folder, and one line in `SCHEDULES`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Protocol

from core.loop.async_schedule import AsyncSchedule
from core.loop.pipeline_schedule import PipelineSchedule
from core.loop.round_schedule import RoundSchedule
from core.loop.search_state import SearchState
from core.state.task import Place
from utils.errors import ConfigError


class Schedule(Protocol):
    """Decides when proposals are asked for, written, judged and committed. One object serves one run."""

    whole_rounds: ClassVar[bool]
    """True: a round is committed before the next is asked for, as policies that compare whole rounds need it."""
    repeatable: ClassVar[bool]
    """True: the same seed gives the same run for any number of workers."""

    @staticmethod
    def waits_for(place: Place, other: Place, *, together: bool) -> bool:
        """True if what stands at `place` is committed only when what stands at `other` is written, or will not be.

        Args:
            together: the evaluator judges a round together.
        """

    def run(self, search: SearchState, pool: ThreadPoolExecutor) -> str:
        """Search until a limit is reached and nothing is under way any more; return the reason.

        Args:
            pool: threads that write and wait for results; `search` itself is used by the calling thread only.
        """


SCHEDULES: Mapping[str, type[Schedule]] = {
    "pipeline": PipelineSchedule,
    "rounds": RoundSchedule,
    "async": AsyncSchedule,
}


def schedule_of(name: str, *, whole_rounds: bool = False) -> type[Schedule]:
    """The schedule of that name.

    Args:
        whole_rounds: the policy compares the members of a round, so that no schedule may take one apart. Then
            `pipeline`, the default, stands for `rounds`: both give the same run for any number of workers.

    Raises:
        ConfigError: there is no such schedule, or it cannot keep rounds whole.
    """
    if name not in SCHEDULES:
        raise ConfigError(f"search.schedule={name}: unknown schedule; allowed: {', '.join(SCHEDULES)}")
    found = SCHEDULES[name]
    if not whole_rounds or found.whole_rounds:
        return found
    if found.repeatable:
        return RoundSchedule
    raise ConfigError(f"search.schedule={name}: this policy needs whole rounds; allowed: rounds")
