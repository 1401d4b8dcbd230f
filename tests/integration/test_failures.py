"""Promise 3: a candidate's failure is data. Scripted replies, a real server, the real sandbox and grader."""

from __future__ import annotations

import json
import socket
from dataclasses import asdict

import pytest
from support.chat_server import ChatServer
from support.command_line import Cli, Ended, toy_words
from support.once import made_once

HEAD = """\
import numpy as np
import pandas as pd
sample = pd.read_csv("input/sample_submission.csv")
target = sample.columns[1]
"""
WRITE = 'sample.to_csv("submission/submission.csv", index=False)\n'

PROGRAMS: dict[str, tuple[str, str | None]] = {
    "no code": ("I would rather not write a program today.", "no_code"),
    "syntax error": (HEAD + "def f(:\n    pass\n" + WRITE, "syntax"),
    "exception": (HEAD + "raise KeyError('no such column')\n" + WRITE, "runtime"),
    "os._exit": (HEAD + "import os\nos._exit(7)\n" + WRITE, "exit"),
    "sys.exit": (HEAD + "import sys\nsys.exit(3)\n" + WRITE, "exit"),
    "signal": (HEAD + "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n" + WRITE, "signal"),
    "timeout": (HEAD + "import time\ntime.sleep(60)\n" + WRITE, "timeout"),
    "no submission": (HEAD + "print('all done, nothing written')\n", "no_submission"),
    "wrong column": (HEAD + "sample.columns = ['id', 'guess']\n" + WRITE, "bad_submission"),
    "missing rows": (HEAD + "sample = sample.head(10)\n" + WRITE, "bad_submission"),
    "duplicate ids": (HEAD + "sample.iloc[1, 0] = sample.iloc[0, 0]\n" + WRITE, "bad_submission"),
    "not numbers": (HEAD + "sample[target] = 'high'\n" + WRITE, "bad_submission"),
    "NaN": (HEAD + "sample[target] = np.nan\n" + WRITE, "bad_submission"),
    "infinite": (HEAD + "sample[target] = 1e308\nsample.loc[0, target] = -1e308\n" + WRITE, "non_finite"),
    "integers": (HEAD + "sample[target] = 150\n" + WRITE, None),
}


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """How one search ended whose steps are these replies (made once for all workers); what `show` tells of it, its
    nodes by name, what the model was asked, and the folder."""
    cli = Cli(made_once(tmp_path_factory, "failures", _search))
    ended = Ended(**json.loads((cli.folder / "ended.json").read_text()))
    requests = json.loads((cli.folder / "requests.json").read_text())
    shown = cli.show()
    nodes = {name: cli.node(row["node_id"]) for name, row in zip(PROGRAMS, shown["nodes"], strict=False)}
    yield ended, shown, nodes, requests, cli
    cli.close()


def _search(folder):
    cli = Cli(folder)
    replies = list(PROGRAMS.items())

    def script(request, number):
        index = min(script.written, len(replies) - 1)
        script.written += 1
        name, (program, _) = replies[index]
        return program if name == "no code" else f"Case {name}.\n```python\n{program}```\n"

    script.written = 0
    with ChatServer(script) as server:
        ended = cli.here(
            "--problem.name=diabetes", *server.words(), f"search.max_steps={len(replies)}", "search.batch=1",
            "agent.repairs=0", "agent.repair_crashes=false", "execution.timeout=15", "search.num_drafts=99",
            "llm.cache=false", "logging.report=true", SWARM_EVO_TEST_NO_NETWORK="1",
        )  # fmt: skip
        (folder / "requests.json").write_text(json.dumps(server.requests))
    (folder / "ended.json").write_text(json.dumps(asdict(ended)))
    cli.close()


def test_the_run_ends_normally_and_keeps_the_one_good_program(run):
    ended, shown, nodes, _, cli = run
    assert ended.code == 0, ended.err
    assert shown["status"] == "finished"
    assert shown["steps"] == len(PROGRAMS)
    assert shown["best_of_search"]["node_id"] == nodes["integers"]["node_id"]
    assert shown["best_of_search"]["metric"] == pytest.approx(nodes["integers"]["metric"])
    assert shown["winner"]["role"] == "baseline", "the mean of the labels beats the one program that runs"
    assert "Traceback" not in ended.err
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    assert [row["failure"] for row in rows] == [failure for _, failure in PROGRAMS.values()]
    assert (cli.run_dir / "failures.png").stat().st_size > 1000


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_becomes_its_kind(run, name):
    _, _, nodes, _, _ = run
    failure = PROGRAMS[name][1]
    node = nodes[name]
    assert node["failure"] == failure, node["message"]
    assert node["is_buggy"] is (failure is not None)
    if failure is None:
        assert node["metric"] > 0 and node["metric_source"] == "verified"
    else:
        assert node["metric"] is None and node["metric_source"] is None
        assert node["message"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("syntax error", "line 5"), ("exception", "no such column"), ("os._exit", "7"), ("signal", "SIGSEGV"),
        ("timeout", "15"), ("no submission", "submission/submission.csv"), ("wrong column", "guess"),
        ("missing rows", "10"), ("not numbers", "high"), ("NaN", "NaN"),
    ],
)  # fmt: skip
def test_the_message_says_what_is_wrong(run, name, words):
    _, _, nodes, _, _ = run
    assert words in nodes[name]["message"]


def test_failures_are_told_to_the_next_prompt(run):
    _, _, nodes, requests, _ = run
    later = requests[-1]["messages"][-1]["content"] + requests[-2]["messages"][-1]["content"]
    assert "bad_submission" in later
    assert nodes["NaN"]["message"][:40] in "".join(r["messages"][-1]["content"] for r in requests)


def test_a_claim_that_disagrees_is_shown_and_never_steers(cli):
    """A program prints another score than it has: kept beside the evaluator's, not obeyed."""
    programs = [
        HEAD + "sample[target] = 150\n" + WRITE + "print('cv: 900')\n",
        HEAD + "sample[target] = 0\n" + WRITE + "print('cv: 0.001')\n",
    ]
    with ChatServer(lambda request, number: f"```python\n{programs[number]}```") as server:
        ended = cli.here(
            "--problem.name=diabetes", *server.words(), "search.max_steps=2", "search.batch=1", "search.num_drafts=9",
        )  # fmt: skip
    assert ended.code == 0, ended.err
    shown = cli.show()
    assert shown["direction"] == "min"
    first, second = (cli.node(node["node_id"]) for node in shown["nodes"])
    assert (first["claimed_metric"], second["claimed_metric"]) == (900.0, 0.001)
    assert first["metric"] < second["metric"] and shown["best_of_search"]["node_id"] == first["node_id"]
    assert "claimed 0.001" in ended.out


def test_after_a_model_that_does_not_answer_the_way_on_is_told(cli):
    """The run is kept and can go on: who reads the terminal need not know where runs lie."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        model = [f"llm.code.base_url=http://127.0.0.1:{closed.getsockname()[1]}/v1", "llm.code.provider=openai"]
        price = ["llm.code.model=m", "llm.code.price.input=1", "llm.code.price.output=2", "llm.code.attempts=1"]
        ended = cli.here(*toy_words(3), *model, *price, "llm.cache=false", "logging.view=plain")
    assert ended.code not in (0, 2) and cli.run_dir
    assert "broken off, everything is saved; " in ended.out
    assert f"Go on with: python main.py resume {cli.run_dir.name}" in ended.out
