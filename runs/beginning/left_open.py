"""What an earlier process left open, told to whoever watches the next."""

from __future__ import annotations

from collections.abc import Sequence

from core.events import NodeProposed
from core.storage.repository import RunStore
from runs.facts import RunFacts
from runs.view import View
from utils.logger_system import log_msg
from utils.program import command


def tell_what_is_open(store: RunStore, facts: RunFacts, view: View, withdrawn: Sequence[str]) -> None:
    """What an earlier process began goes on, and whoever watches is told of it as of what begins now.

    What `step` began and did not finish is the user's: the search neither finishes nor counts it.

    Args:
        withdrawn: nodes of proposals that nobody had begun and for which no step is left.
    """
    if withdrawn:
        many = "proposals that nobody had begun are" if len(withdrawn) > 1 else "a proposal that nobody had begun is"
        why = f"search.max_steps={facts.config.search.max_steps}"
        log_msg("WARNING", f"{many} withdrawn ({why}): node {', '.join(withdrawn)}")
    tasks = store.open_tasks()
    left = [task for task in tasks if store.get_fact(f"round/{task.round}/by_hand")]
    for task in tasks:
        if task not in left:
            view.emit(NodeProposed.of(task))
    if left and not facts.offline:
        what = "a step that was begun by hand stays" if len(left) == 1 else "steps that were begun by hand stay"
        named = ", ".join(f"{task.node_id} ({task.operator})" for task in left)
        step = command(facts.config.project.dir, "step", facts.run)
        finish = f"`{step}` finishes {'it' if len(left) == 1 else 'one at a time'}"
        log_msg("WARNING", f"{what} open, and this search does not count it: node {named}; {finish}")
