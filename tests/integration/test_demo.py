"""`demo`: a recorded run's replies come from the record, every program runs and is scored anew."""

from __future__ import annotations

import json

import pytest
from support.chat_server import ChatServer

PROGRAM = """\
import pandas as pd
sample = pd.read_csv("input/sample_submission.csv")
sample[sample.columns[1]] = {value}
sample.to_csv("submission/submission.csv", index=False)
"""


def script(request, number):
    return f"A constant.\n```python\n{PROGRAM.format(value=100 + number)}```\n"


@pytest.mark.long
@pytest.mark.usefixtures("inline")
def test_a_recording_is_made_and_replayed_without_a_call(cli, cli_at, tmp_path):
    with ChatServer(script) as server:
        ended = cli.here(
            "--problem.name=diabetes", *server.words(), "search.max_steps=3", "search.batch=1",
            "agent.review=never", "llm.cache=false",
        )  # fmt: skip
        assert ended.code == 0, ended.err
        asked = len(server.requests)
    recorded = cli.show()
    folder = tmp_path / "recording"
    made = cli.here("export-best", "latest", "--recording", str(folder))
    assert made.code == 0, made.err
    assert json.loads((folder / "manifest.json").read_text())["calls"] == asked == 3

    elsewhere = cli_at(tmp_path / "elsewhere")
    shown = elsewhere.here("demo", "--recording", str(folder))  # the server is gone: nothing can be asked
    assert shown.code == 0, shown.err
    assert "every program runs and is scored now" in shown.out
    assert elsewhere.show()["journal_sha256"] == recorded["journal_sha256"]


@pytest.mark.long
def test_a_recording_of_ones_own_evaluator_is_played_by_who_trusts_it(cli, cli_at, tmp_path):
    (tmp_path / "p.py").write_text("def f():\n    return 1\n")
    (tmp_path / "e.py").write_text(
        "def evaluate(path):\n    ns = {}\n    exec(open(path).read(), ns)\n    return {'score': ns['f']()}\n"
    )
    with ChatServer(lambda request, number: f"```python\ndef f():\n    return {number + 2}\n```") as server:
        ended = cli.here(
            f"--problem.program={tmp_path / 'p.py'}", f"--problem.evaluator={tmp_path / 'e.py'}", *server.words(),
            "--problem.kind=script", "search.max_steps=2", "search.batch=1", "agent.review=never", "llm.cache=false",
        )  # fmt: skip
    assert ended.code == 0, ended.err
    folder = tmp_path / "recording"
    assert cli.here("export-best", "latest", "--recording", str(folder)).code == 0
    elsewhere = cli_at("elsewhere")
    refused = elsewhere.here("demo", "--recording", str(folder))
    assert refused.code == 2 and "problem.evaluator=" in refused.line and "--i-trust-this-run" in refused.line
    played = elsewhere.here("demo", "--recording", str(folder), "--i-trust-this-run")
    assert played.code == 0 and "all 3 scores are those that were recorded" in played.out, played.err


@pytest.mark.long
def test_a_run_without_a_valid_program_is_recorded_too(cli, cli_at, tmp_path):
    """What a weak model gives: no code, and a program that is none of those that were asked for."""
    with ChatServer(
        lambda request, number: "I cannot." if number else "```python\n" + "x = 1\n" * 20 + "```"
    ) as server:
        ended = cli.here(
            "--problem=bin_packing", "--problem.name=u120", *server.words(), "search.max_steps=2", "search.batch=1",
            "agent.review=never", "llm.cache=false",
        )  # fmt: skip
    assert ended.code == 0, ended.err
    shown = " ".join(cli.here("show", "latest").out.split())
    assert "signature 1" in shown and "no_code 1" in shown and "None" not in shown
    folder = tmp_path / "recording"
    made = cli.here("export-best", "latest", "--recording", str(folder))
    assert made.code == 0, made.err
    played = cli_at("elsewhere").here("demo", "--recording", str(folder))
    assert played.code == 0, played.err
    assert "signature" in played.out and "no_code" in played.out


def test_without_a_recording_one_line_and_exit_2(cli, tmp_path):
    ended = cli.here("demo", "--recording", str(tmp_path / "nothing"))
    assert ended.code == 2 and "manifest.json" in ended.line


def test_a_run_of_rules_cannot_be_recorded(cli, finished, tmp_path):
    ended = cli.here("export-best", "latest", "--recording", str(tmp_path / "nothing"))
    assert ended.code == 2 and "no model was asked" in ended.line


@pytest.mark.long
def test_a_strong_models_search_is_played_with_the_scores_that_were_recorded(cli):
    """If it asks for a call that is not in it, the agents read replies otherwise than when it was made: record anew."""
    played = cli("demo", timeout=400)
    assert played.code == 0, played.err
    assert "replies by openai/claude" in played.out and "cost: none" in played.out
    shown = cli.show()
    assert shown["best_metric"] == pytest.approx(2.634292, abs=1e-5) and shown["steps"] == 8
    assert shown["metric_source"] == "verified" and shown["cost_usd"] == 0
    assert "record: " in played.out


@pytest.mark.long
def test_the_weak_recording_plays_without_a_model(cli):
    played = cli("demo", "--recording", "weak", timeout=400)
    assert played.code == 0, played.err
    assert "replies by openai/SmolLM2-135M-Instruct" in played.out and "far too small" in played.out
    assert "cost: none" in played.out and "nothing answers" not in played.out
    shown = cli.show()
    written = [node for node in shown["nodes"] if node["operator"] != "baseline"]
    assert len(written) == shown["steps"] > 5 and shown["cost_usd"] == 0 and shown["tokens"] > 1000
    assert len(shown["failures"]) >= 3, "failed in several ways, all told"
    assert any(node["duplicate_of"] or node["metric"] is not None for node in written), "and some ran"


@pytest.mark.long
@pytest.mark.usefixtures("inline")
def test_a_recording_whose_scores_drift_plays_on_and_says_where(cli, tmp_path):
    with ChatServer(script) as server:
        made = cli.here(
            "--problem.name=diabetes", *server.words(), "search.max_steps=3", "search.batch=1", "llm.cache=false"
        )
        assert made.code == 0, made.err
    folder = tmp_path / "recording"
    assert cli.here("export-best", "latest", "--recording", str(folder)).code == 0
    same = cli.here("demo", "--recording", str(folder))
    assert "record: all 3 scores are those that were recorded" in same.out, same.out
    manifest = json.loads((folder / "manifest.json").read_text())
    second = [node for node, score in manifest["scores"].items() if score is not None][1]
    manifest["scores"][second] *= 1.01
    (folder / "manifest.json").write_text(json.dumps(manifest))
    drifted = cli.here("demo", "--recording", str(folder))
    assert drifted.code == 0 and f"record: left at {second}" in drifted.out, drifted.out
    assert cli.show()["steps"] == 3


def test_a_recording_whose_files_are_elsewhere_says_which_and_takes_them(cli, cli_at, tmp_path):
    """As on another machine: the problem's folder lies in another place there."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    theirs.mkdir()
    (theirs / "initial_program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1\n# EVOLVE-BLOCK-END\n")
    (theirs / "evaluator.py").write_text(
        "def evaluate(path):\n    ns = {}\n    exec(open(path).read(), ns)\n    return {'score': ns['f']()}\n"
    )
    with ChatServer(lambda request, number: f"```python\ndef f():\n    return {number + 2}\n```") as server:
        ended = cli.here(
            "--problem=script", f"--problem.path={theirs}", *server.words(), "search.max_steps=2", "search.batch=1",
            "agent.review=never", "llm.cache=false", "search.islands.tune_interval=0", "search.control=0",
        )  # fmt: skip
    assert ended.code == 0, ended.err
    folder = tmp_path / "recording"
    assert cli.here("export-best", "latest", "--recording", str(folder)).code == 0
    theirs.rename(mine)
    elsewhere = cli_at("elsewhere")
    demo = ("demo", "--recording", str(folder))
    refused = elsewhere.here(*demo, "--i-trust-this-run")
    assert refused.code == 2 and not elsewhere.runs
    keys = [
        key for key in ("problem.path", "problem.program", "problem.evaluator") if f"{key}={theirs}" in refused.line
    ]
    assert keys and all(f"--{key}=PATH" in refused.line for key in keys), refused.line
    given = [word.replace(str(theirs), str(mine)) for word in _named_in(refused.line, keys)]
    played = elsewhere.here(*demo, *given)
    assert played.code == 0 and "all 3 scores are those that were recorded" in played.out, played.err
    verified = cli.here("replay", "latest", "--verify")
    assert verified.code == 2 and "is not here; give it: replay " in verified.err and f"{keys[0]}=PATH" in verified.err
    assert cli.here("replay", "latest", "--verify", *given).code == 0


def _named_in(line, keys):
    """`key=value` words of a line that lists them."""
    return [word.strip(",") for word in line.split() if word.partition("=")[0] in keys]
