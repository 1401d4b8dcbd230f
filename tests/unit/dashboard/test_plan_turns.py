"""Questions what a run would be: while one is answered, only the newest of the others waits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.processes import eventually

from dashboard.server.catalog import RunCatalog
from dashboard.server.launcher import Launcher
from dashboard.server.schemas.control import StartRequest

MAIN = """
import json, pathlib, time
pathlib.Path("begun").open("a").write("x")
while not pathlib.Path("go").exists():
    time.sleep(0.02)
names = ("writer", "proposals", "usd", "usd_a_proposal", "warnings")
told = dict.fromkeys(names) | {"writer": "rules", "warnings": [], "budget": {"usd": None, "seconds": None}}
told["note"] = "amounts: " + "a, " * 40 + "b; the metric counts 'no' as 1"
print(json.dumps(told))
"""


def test_a_crowd_of_questions_holds_two_threads_not_the_server(tmp_path: Path) -> None:
    """Each waited for all before it, up to a minute each: forty of them were all the threads that the server has."""
    (tmp_path / "main.py").write_text(MAIN)
    launcher = Launcher(RunCatalog(tmp_path), tmp_path / "main.py")
    request = StartRequest(problem="bin_packing", llm="rules")
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(launcher.plan, request)]
        eventually((tmp_path / "begun").exists)
        asked += [pool.submit(launcher.plan, request) for _ in range(19)]
        eventually(lambda: sum(one.done() for one in asked) == 18)
        (tmp_path / "go").touch()
    answers = [one.result() for one in asked]
    assert answers[0] is not None and sum(answer is not None for answer in answers) == 2
    assert answers[0].note[1:] == ["the metric counts 'no' as 1"], "what the terminal says before a run, the form says"
    assert (tmp_path / "begun").read_text() == "xx"
