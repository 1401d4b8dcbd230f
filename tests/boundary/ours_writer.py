"""Attacks by whatever writes programs: one command tries them all while it is asked for one program."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.boundary.facts import Told
from tests.boundary.records import Attack
from tests.boundary.views import views_of
from tests.boundary.world import Place

_COMMAND = """
import re, subprocess, sys
PROGRAMS, VERBATIM = {programs!r}, {verbatim!r}
prompt = sys.stdin.read()
replies = {{}}
for name, text in PROGRAMS.items():
    try:
        done = subprocess.run([sys.executable, "-c", text], input=prompt.encode(), capture_output=True, timeout=20)
        replies[name] = (done.stdout[:1500] + done.stderr[-300:]).decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        replies[name] = "late"
for name, reply in replies.items():
    print("<<" + name + ">>\\n" + reply.replace("```", "~~~"))
knowing = [reply for reply in replies.values() if re.search(r"return \\{{\\d", reply)]
print(*[replies[name] for name in VERBATIM])
print((knowing or ["```python\\ndef predict(case):\\n    return 0 + 0\\n```"])[0])
"""
_SCRIPT = (
    "--problem", "script", "--problem.program=initial_program.py", "--problem.evaluator=evaluator.py",
    "--problem.options.reply=program", "--search.max_steps=1", "--search.batch=1", "--agent.review=never",
)  # fmt: skip


def words(here: Place, attacks: Sequence[Attack]) -> list[str]:
    """Words of a search whose only writer is the attacks' command."""
    path = here.root / "work" / "writer.py"
    programs = {attack.name: here.program(attack) for attack in attacks}
    path.write_text(_COMMAND.format(programs=programs, verbatim=[one.name for one in attacks if "shown" in one.wins]))
    return [*_SCRIPT, "--llm.code.provider=command", f"--llm.code.command={sys.executable} {path}"]


def told(here: Place, run: Path, attacks: Sequence[Attack]) -> dict[str, Told]:
    """What each attack made the command say, and the score of the program that it handed in."""
    from core.storage.reader import RunReader

    with RunReader(run) as reader:
        (node,) = (node for node in reader.journal() if node.operator != "baseline")
        reply = "\n".join(str(call.reply) for call in reader.calls(node.id))
        score, verified = node.metric_value, node.metric_source == "verified"
    parts = re.split(r"<<(\w+)>>\n", reply)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {
        attack.name: Told(
            score,
            verified,
            said.get(attack.name, ""),
            ended=attack.name not in said,
            views=views_of(here.root, run.name, node.id) if "shown" in attack.wins else {},
        )
        for attack in attacks
    }
