"""Promise 5: same seed, same run, for any number of workers and across kill -9 and resume."""

from __future__ import annotations

import signal
import time

import pytest
from support.chat_server import ChatServer


def test_one_two_and_four_workers_make_the_same_journal(cli_at, toy):
    found = {}
    for workers in (1, 2, 4):
        cli = cli_at(str(workers))
        ended = cli.here(*toy(12, seconds=0.02), f"search.workers={workers}", "search.batch=4")
        assert ended.code == 0, ended.err
        found[workers] = cli.show()
    assert found[1]["journal_sha256"] == found[2]["journal_sha256"] == found[4]["journal_sha256"]
    assert found[1]["nodes"] == found[4]["nodes"]


@pytest.mark.long
def test_the_order_of_a_models_answers_does_not_matter(cli_at, toy):
    """Answers come back in another order in each run: slots are committed in slot order all the same."""

    def run(name, delay):
        def script(request, number):
            text = request["messages"][-1]["content"]
            time.sleep(delay(number))
            return f"```python\nx = {len(text) % 17}.{len(request['messages'][-1]['content']) % 10}\n```"

        with ChatServer(script) as server:
            cli = cli_at(name)
            words = [*server.words(), "search.workers=4", "search.batch=4", "agent.review=never", "llm.cache=false"]
            ended = cli.here(*toy(8), *words)
        assert ended.code == 0, ended.err
        return cli.show()["journal_sha256"]

    assert run("one", lambda n: 0.05 * (n % 4)) == run("two", lambda n: 0.05 * (3 - n % 4))


EXTENDED = {
    "pipeline": (),
    "pipeline of four": ("search.batch=4", "search.workers=4"),
    "rounds": ("search.batch=4", "search.schedule=rounds"),
    "islands": ("search.policy=islands", "search.islands.per_island=2", "search.batch=4", "search.workers=4"),
}


def assert_replays(cli, nodes):
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and f"equal: {nodes} nodes" in ended.out, ended.out + ended.err


@pytest.mark.parametrize("words", EXTENDED.values(), ids=EXTENDED)
def test_a_run_that_ended_and_was_given_more_replays_as_it_was(cli, toy, words):
    """Twice: what the second end held back does not hide what the first did."""
    assert cli.here(*toy(6), *words).code == 0
    for steps in (9, 21):
        assert cli.here("resume", "latest", f"--search.max_steps={steps}").code == 0
        assert_replays(cli, steps)


def test_a_run_that_was_given_more_generations_replays_as_it_was(cli, toy):
    words = ("search.policy=islands", "search.islands.num_islands=2", "search.islands.per_island=3")
    assert cli.here(*toy(100), *words, "search.max_generations=2").code == 0
    assert cli.here("resume", "latest", "--search.max_generations=4").code == 0
    assert_replays(cli, 24)


def test_a_model_is_told_the_same_steps_left_in_a_replay(cli, toy):
    """A prompt that is not the recorded one would have no answer."""
    with ChatServer(lambda request, number: f"```python\nx = {number}.5\n```") as server:
        words = [*server.words(), "search.batch=2", "search.workers=2", "agent.review=never", "llm.cache=false"]
        assert cli.here(*toy(3), *words).code == 0
        assert cli.here("resume", "latest", "--search.max_steps=6").code == 0
        assert_replays(cli, 6)


def test_a_run_that_was_given_more_and_killed_is_the_one_that_was_not(cli_at, toy):
    whole, killed = cli_at("whole"), cli_at("killed")
    words = ("search.batch=4", "search.workers=4")
    for cli in (whole, killed):
        assert cli.here(*toy(6), *words).code == 0
    assert whole.here("resume", "latest", "--search.max_steps=20").code == 0
    for boundary in ("after:round:2", "after:commit:1", "before:commit:2", "after:stage:3"):
        ended = killed("resume", "latest", "--search.max_steps=20", SWARM_EVO_FAULT=boundary)
        assert ended.code == -signal.SIGKILL, f"{boundary}: {ended.err}"
    assert killed.here("resume", "latest", "--search.max_steps=20").code == 0
    assert killed.show()["nodes"] == whole.show()["nodes"]
    assert killed.show()["journal_sha256"] == whole.show()["journal_sha256"]
    assert_replays(killed, 20)


FAMILIES = {
    "competition": ["--problem.name=diabetes", "search.max_steps=4", "search.num_drafts=3", "search.batch=4"],
    "bin_packing": ["--problem=bin_packing", "--problem.name=u120", "search.max_generations=2", "search.per_island=3"],
    "connect_four": [
        "--problem=connect_four", "search.max_generations=1", "search.questions=4", "arena.openings=1",
        "arena.gauntlet=2", "arena.limit=nodes:100",
    ],
    "chess_engines": [
        "--problem=chess_engines", "search.max_generations=1", "search.questions=3", "arena.openings=1",
        "arena.gauntlet=2", "arena.limit=nodes:20",
    ],
}  # fmt: skip
RESULTS = ("nodes", "journal_sha256", "best_node_id", "best_metric", "final_metric", "final_interval")


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_with_one_and_four_workers(cli_at, family):
    """Printed with `-s`: the table of the hashes."""
    found = {}
    for workers in (1, 4):
        cli = cli_at(str(workers))
        ended = cli(*FAMILIES[family], f"search.workers={workers}", "--execution.timeout=100", timeout=300)
        assert ended.code == 0, ended.err
        found[workers] = cli.show()
        scored = sum(node["metric"] is not None for node in found[workers]["nodes"])
        assert scored >= 2, "nothing was judged, so nothing is compared"
        print(f"{family:14s} {workers} workers  {scored:2d} nodes scored  {found[workers]['journal_sha256']}")
    for name in RESULTS:
        assert found[1][name] == found[4][name], name
