"""Promise 5: same seed, same run, for any number of workers and across kill -9 and resume."""

from __future__ import annotations

import time

import pytest
from support.chat_server import ChatServer


def test_one_two_and_four_workers_make_the_same_journal(cli_at, toy):
    found = {}
    for workers in (1, 2, 4):
        cli = cli_at(str(workers))
        ended = cli(*toy(12, seconds=0.02), f"search.workers={workers}", "search.batch=4")
        assert ended.code == 0, ended.err
        found[workers] = cli.show()
    assert found[1]["journal_sha256"] == found[2]["journal_sha256"] == found[4]["journal_sha256"]
    assert found[1]["nodes"] == found[4]["nodes"]


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
            ended = cli(*toy(8), *words)
        assert ended.code == 0, ended.err
        return cli.show()["journal_sha256"]

    assert run("one", lambda n: 0.05 * (n % 4)) == run("two", lambda n: 0.05 * (3 - n % 4))


@pytest.mark.slow
def test_a_real_competition_with_one_and_two_workers(cli_at):
    words = ["--problem.name=diabetes", "--search.max_steps=4", "--search.num_drafts=3", "--execution.timeout=100"]
    one, two = cli_at("one"), cli_at("two")
    assert one(*words, "search.workers=1", timeout=200).code == 0
    assert two(*words, "search.workers=2", timeout=200).code == 0
    a, b = one.show(), two.show()
    for name in ("nodes", "journal_sha256", "best_node_id", "final_metric", "final_interval"):
        assert a[name] == b[name], name
