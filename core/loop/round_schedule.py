"""`search.schedule: rounds`: a round is written, judged and committed as a whole before the next one is asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from core.loop.search_state import SearchState
from core.state.task import Place


class RoundSchedule:
    """One round after the other; a round that was cut off is finished first."""

    whole_rounds: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True

    @staticmethod
    def waits_for(place: Place, other: Place, *, together: bool) -> bool:
        """A round is written as a whole before it is judged."""
        return other[0] <= place[0]

    def run(self, search: SearchState, pool: ThreadPoolExecutor) -> str:
        """Play rounds until a limit is reached; the reason."""
        tasks = search.open_tasks()
        while True:
            if not tasks:
                reason = search.reason()
                if reason:
                    return reason
                proposals = search.ask(search.batch)
                if not proposals:
                    return "the policy has nothing more to propose"
                tasks = search.open_round(proposals)
            search.play(tasks, pool)
            if search.runner.exhausted:
                return search.runner.exhausted
            tasks = []
