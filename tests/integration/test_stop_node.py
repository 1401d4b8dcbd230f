"""The user stops one program while it runs: the search goes on, and a replay does the same."""

from __future__ import annotations

import json
import time

import pytest

from core.state.live_work import read_live_work
from core.storage.reader import RunReader

SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n"


def sleeping(cli) -> str:
    """Id of the node whose program has told that it began."""
    told = cli.folder.glob("logs/*/live/*.out")
    return next((path.stem for path in told if "begun" in path.read_text()), "")


@pytest.mark.long
def test_one_program_is_stopped_and_the_search_goes_on(cli, eventually):
    (cli.folder / "slow.py").write_text(SLOW)
    child = cli.start(
        "problem.name=diabetes", "initial=slow.py", "search.max_steps=2", "search.batch=1", "search.workers=2"
    )
    node = eventually(lambda: sleeping(cli), 60)
    with RunReader(cli.run_dir) as reader:  # what the page lists as running, with a button to stop it
        assert [(e.node_id, e.operator) for e in reader.events(types=["node.proposed"])] == [(node, "user")]
    work = eventually(lambda: (told := read_live_work(cli.run_dir)) and node in told.nodes and told.running and told)
    assert work.nodes[node].state == "runs" and time.time() - work.nodes[node].since < 60
    began = time.monotonic()
    with (cli.run_dir / "control.jsonl").open("a") as file:
        file.write(json.dumps({"kind": "stop", "node_id": "0" * 12}) + "\n")  # nothing runs under that name
        file.write(json.dumps({"kind": "stop", "node_id": node}) + "\n")
    out, err = child.communicate(timeout=400)
    assert child.returncode == 0, err
    assert time.monotonic() - began < 100
    with RunReader(cli.run_dir) as reader:
        stopped = reader.node(node)
        events = reader.events(types=["node.stopped"])
    assert stopped is not None and str(stopped.failure) == "stopped"
    assert [event.node_id for event in events] == [node]
    assert cli.show()["status"] == "finished" and cli.show()["steps"] == 2
    assert "stopped" in out + err

    verified = cli.here("replay", "latest", "--verify")
    assert verified.code == 0, verified.err
