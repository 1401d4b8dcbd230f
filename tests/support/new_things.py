"""One small thing of each kind that can be added, as a newcomer writes it. Two of them stand in `docs/plugins.md`."""

from __future__ import annotations

import re

from support.command_line import ROOT

_BLOCKS = re.findall(r"```python\n# more/(\S+)\n(.*?)```", (ROOT / "docs" / "plugins.md").read_text("utf-8"), re.DOTALL)
DOCUMENTED = dict(_BLOCKS)
"""File of the plug-in folder → its text, as the page shows it."""
POLICY, OPERATOR = DOCUMENTED["policies/restarts.py"], DOCUMENTED["operators/simplify.py"]
PROMPT = OPERATOR.partition('"""\\\n')[2].partition('"""')[0]

SELECTOR = '''\
"""Newest: the programs that were found last."""

from __future__ import annotations

from pydantic import Field

from core.contracts import ParentSelector
from core.search.selection import best_last
from utils.strategies import Options, SelectorSpec


class NewestOptions(Options):
    """The programs that were found last."""

    among: int = Field(5, ge=1)
    """How many of them are drawn from."""


class NewestSelector(ParentSelector):
    def __init__(self, options):
        self._options = options

    def select(self, pool, k, rng):
        newest = sorted(pool, key=lambda node: -node.step)[: max(k, self._options.among)]
        return best_last(rng.sample(newest, min(k, len(newest))))


SELECTOR = SelectorSpec(NewestOptions, NewestSelector)
'''

OPERATOR_LINE = (
    '    "simplify": OperatorSpec(meaning="fewer terms", parents=1, rules="change", colour="teal", marker="v"),\n'
)
PROVIDER = '''\
"""Echo: a provider on this machine, which answers every prompt with a function of its length."""

from __future__ import annotations

from core.backend.exchange import Reply, Usage
from core.backend.provider import ProviderSpec


def connect(settings):
    return settings.model


def query(client, request, settings, deadline):
    code = f"def priority(weight, value, room):\\n    return value / (weight + {len(request.user) % 97})\\n"
    return Reply(text=f"Fewer terms.\\n\\n```python\\n{code}```\\n", finish_reason="stop", usage=Usage(3, 4))


PROVIDER = ProviderSpec(connect, query, sends_bills=False, model_name=lambda keys: "parrot")
'''

VERB = '''\
"""`hello`: says how many runs there are."""

from __future__ import annotations

from cli.options import project_dir_of
from runs.run_folder import all_runs


def add_parser(subparsers):
    return subparsers.add_parser("hello", help="say how many runs there are")


def run(args):
    print(f"hello: {len(list(all_runs(project_dir_of(args))))} runs")
    return 0
'''

EVENT = '''\
class PolicyRestarted(EventBase):
    """A policy began anew with a program from nothing."""

    type: Literal["policy.restarted"] = "policy.restarted"
    node_id: str


'''
TELLS = """\
    def tell(self, journal, node):
        if node.operator == "generate":
            self._events.append(PolicyRestarted(node_id=node.id))

    def drain_events(self):
        events, self._events = self._events, []
        return events
"""
"""The policy's other half once there is an event to tell."""

SCHEDULE = '''\
"""One: a proposal at a time, by one thread."""

from __future__ import annotations

from core.loop.round_schedule import RoundSchedule


class OneSchedule(RoundSchedule):
    """Rounds, which a batch of one makes a proposal at a time."""
'''
