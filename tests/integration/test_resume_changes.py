"""What a resume changes of a run: another model writes, and nothing is accepted that changes nothing."""

from __future__ import annotations

import json
import signal
import sqlite3

import pytest
from support.synthetic_runs import competition

from runs.session import RunSession
from runs.stored.config import stored_config
from utils.config import load_config, to_plain
from utils.errors import ConfigError

OLD = ("llm.code.provider=command", "llm.code.command=cat", "llm.code.model=m1", "llm.code.attempts=1")


@pytest.fixture
def begun(cli, toy):
    """A run of a command that echoes its prompt: no program in it."""
    ended = cli.here(*toy(1, *OLD))
    assert ended.code in (0, 3), ended.err
    return cli


def writer(cli):
    """Of the newest node."""
    return cli.node(cli.show()["nodes"][-1]["node_id"])["writer"]


@pytest.mark.parametrize("words", [("--llm=rules",), ("--llm", "rules"), ("--presets.llm=rules",)])
def test_another_model_writes_from_here_on(begun, words):
    ended = begun.here("resume", "latest", *words, "--search.max_steps=3")
    assert ended.code in (0, 3), ended.err
    shown = begun.show()
    assert shown["config"]["presets"]["llm"] == "rules" and shown["config"]["llm"]["code"]["command"] is None
    assert writer(begun) == "rules"
    again = begun.here("step", "latest")
    assert again.code == 0, again.err
    assert writer(begun) == "rules"


def test_a_step_and_a_fork_take_a_model_too(begun):
    assert begun.here("step", "latest", "--llm=rules").code == 0
    assert writer(begun) == "rules"
    ended = begun.here("fork", "latest", "--node", begun.show()["nodes"][-1]["node_id"], "--llm=rules")
    assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("resume", "latest", "--presets.problem=tsp"), "cannot be compared; start a new run"),
        (("resume", "latest", "--data.test=new.csv"), "has none, and what it scored cannot be compared"),
        (("resume", "latest", "--presets.llm=nonsense"), "--llm: unknown preset 'nonsense'"),
        (("step", "latest", "--problem=tsp"), "--problem tsp: step RUN goes on with a stored run"),
        (("step", "latest", "--config=x.yaml"), "--config x.yaml: step RUN goes on with a stored run"),
        (("resume", "latest", "--llm.code.provider=rules"), "set llm.code.model=rules"),
        (("resume", "latest", "--execution.sandbox=none", "--i-accept-unsandboxed"), "beside verified ones"),
    ],
)
def test_what_a_run_keeps_is_refused(begun, words, said):
    ended = begun.here(*words)
    assert ended.code == 2 and said in ended.line


def test_a_preset_by_its_key_is_the_preset(cli):
    assert cli.here("run", "--plan", "--presets.problem=tsp").json["problem"] == "tsp/euclidean"
    assert cli.here("run", "--plan", SWARM_EVO__PRESETS__PROBLEM="tsp").json["problem"] == "tsp/euclidean"
    both = cli.here("run", "--plan", "--presets.problem=tsp", "--problem=bin_packing")
    assert both.json["problem"].startswith("bin_packing")


@pytest.mark.parametrize("said", ["kappa", "weighted_kappa"])
def test_a_stored_run_whose_metric_says_kappa_goes_on_with_the_quadratic_one(tmp_path, said):
    """It was that one before the two were told apart, and a run's metric cannot be given anew."""
    made = competition(tmp_path / "logs", 2, run="old")
    made.finish()
    with sqlite3.connect(tmp_path / "logs" / "old" / "run.db") as store:
        (text,) = store.execute("SELECT value FROM facts WHERE key = 'config'").fetchone()
        plain = json.loads(text)
        plain |= to_plain(load_config(None, ["data.metric=qwk"]))
        plain["data"]["metric"] = said
        store.execute("UPDATE facts SET value = ? WHERE key = 'config'", (json.dumps(plain),))
    config = stored_config(tmp_path / "logs" / "old", [], str(tmp_path), trusted=True)
    assert config.data.metric == "qwk"


def test_what_decides_a_game_stays_as_it_was(tmp_path):
    """All rated games of a run make one rating: those under another limit would be rated beside them."""
    made = competition(tmp_path / "logs", 2, run="old")
    made.finish()
    with sqlite3.connect(tmp_path / "logs" / "old" / "run.db") as store:
        store.execute("UPDATE facts SET value = ? WHERE key = 'config'", (json.dumps(to_plain(load_config(None, []))),))

    def gone_on_with(*words):
        return stored_config(tmp_path / "logs" / "old", list(words), str(tmp_path), trusted=True).arena

    for word in ("limit=nodes:9", "plies=2", "draw_adjudication=true", "resign_adjudication=true"):
        with pytest.raises(
            ConfigError, match=rf"^arena\.{word.partition('=')[0]}=.* cannot be compared; start a new run"
        ):
            gone_on_with(f"arena.{word}")
    assert gone_on_with("arena.limit=depth:4", "arena.deadline=60", "arena.openings=9").openings == 9


@pytest.mark.parametrize("section", ["ray", "modal"])
def test_a_stored_key_of_a_runner_that_nobody_reads_is_left_out_and_told(tmp_path, section):
    """It was taken once, and did nothing: the run goes on as it began. Given now it is refused, as in a new run."""
    made = competition(tmp_path / "logs", 2, run="old")
    made.finish()
    known = {"ray": {"num_cpus": 2}, "modal": {"containers": 2}}[section]
    with sqlite3.connect(tmp_path / "logs" / "old" / "run.db") as store:
        plain = to_plain(load_config(None, []))
        plain["execution"][section] = {**known, "adress": "10.0.0.1:6379"}
        store.execute("UPDATE facts SET value = ? WHERE key = 'config'", (json.dumps(plain),))
    told = []
    config = stored_config(tmp_path / "logs" / "old", [], str(tmp_path), told.append, trusted=True)
    assert getattr(config.execution, section).model_dump(exclude_unset=True) == known
    assert told == [f"run old: nobody reads execution.{section}.adress; it goes on without"]
    with pytest.raises(ConfigError, match=f"unknown key 'execution.{section}.adress'"):
        stored_config(
            tmp_path / "logs" / "old", [f"execution.{section}.adress=x"], str(tmp_path), told.append, trusted=True
        )


STOP = '{"kind": "stop"}\n'


def test_a_stop_is_for_the_process_that_was_there(cli, toy):
    """One that nobody had read, of a process that was killed or said to nobody, ended the next resume at once."""
    assert cli(*toy(200), SWARM_EVO_FAULT="after:commit:1").code == -signal.SIGKILL
    (cli.run_dir / "control.jsonl").write_text(STOP)
    ended = cli.here("resume", "latest", "--search.max_steps=210")
    assert ended.code == 0, ended.err
    assert cli.show()["steps"] == 210


def test_a_stop_to_a_resume_that_is_starting_counts(cli, toy):
    assert cli(*toy(200), SWARM_EVO_FAULT="after:commit:1").code == -signal.SIGKILL
    config = stored_config(cli.run_dir, [], str(cli.folder))
    session = RunSession(config, cli.run_dir)
    (cli.run_dir / "control.jsonl").write_text(STOP)  # it has not taken hold of the run yet
    with session:
        assert session.run() == 130
