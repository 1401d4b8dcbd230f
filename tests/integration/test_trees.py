"""A repository is searched from end to end: what is scored is what is exported, and equal runs are equal."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tarfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.chat_server import ChatServer
from support.command_line import Cli

from benchmarks.trees import repository as benchmark_repository
from dashboard.server.app import create_app
from runs.tickets.client import ask_the_run

FILES = {
    "src/a.conf": "A=3\nLABEL=x\n",
    "src/b.conf": "B=10\n",
    "score.sh": '. ./src/a.conf\n. ./src/b.conf\n[ -f src/c.conf ] && . ./src/c.conf\n'
    'echo "score: $(( A * B - (C + 0) ))"\necho "2 passed in 0.1s"\n',
    "docs/big.txt": "text\n" * 1000,
}  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@localhost", *words], cwd=folder, check=True)
    return folder


def words(repository: Path, *more: str) -> list[str]:
    return [
        "run", "--problem", "command", f"problem.source={repository}", "problem.editable=src/*.conf",
        "problem.eval=sh score.sh", "problem.metric=score", "problem.direction=max", "problem.require=tests==pass",
        "problem.protected=src/keys.conf", "search.islands.num_islands=1", *more,
    ]  # fmt: skip


@pytest.mark.long
def test_search_stop_go_on_replay_and_export(cli: Cli, repository: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "n@localhost")
    assert cli.here(*words(repository, "search.max_steps=12")).code == 0
    whole = cli.show()
    assert whole["best_metric"] > 30 and whole["metric_source"] == "unisolated"
    assert cli.here("replay", "latest", "--verify").code == 0
    assert "nothing is left to do" in cli.here("resume", "latest").out
    assert cli.here("verify", "latest", f"--head={whole['journal_head']}").out.startswith("authentic: ")

    best = cli.node(whole["best_node_id"])
    shown = cli.here("show", "latest", best["node_id"], "--diff").out
    assert "changed  +" in shown and "diff --git a/src/" in shown

    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as page:
        detail = page.get(f"/api/runs/{cli.run_dir.name}/nodes/{best['node_id']}").json()
    assert [file["kind"] for file in detail["changed"]] == ["changed"] * len(detail["changed"]) != []
    assert all(file["diff"] in best["code"] and file["added"] == file["removed"] > 0 for file in detail["changed"])

    folder, patch = cli.folder / "whole", cli.folder / "best.patch"
    ended = cli.here("export-best", "latest", f"--folder={folder}", f"--patch={patch}", "--branch=found")
    assert ended.code == 0, ended.err
    told = subprocess.run(["sh", "score.sh"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert f"score: {whole['best_metric']:g}\n" in told
    git = ["git", "-C", str(repository)]
    assert subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True).stdout == ""
    subprocess.run([*git, "checkout", "-q", "found"], check=True)
    for name in FILES:
        assert (repository / name).read_bytes() == (folder / name).read_bytes()
    subprocess.run([*git, "checkout", "-q", "-"], check=True)
    subprocess.run([*git, "apply", "--check", str(patch)], check=True)
    assert cli.here("export-best", "latest", "--branch=found").code == 2


def test_a_branch_of_a_folder_without_git_says_what_to_take_instead(cli: Cli, repository: Path):
    assert cli.here(*words(repository, "search.max_steps=1")).code == 0
    nobody = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "", "EMAIL": ""}
    ended = cli.here("export-best", "latest", "--branch=found", **nobody)
    assert ended.code == 2 and "git does not know whose the commit is: `git config --global user.name" in ended.line
    shutil.rmtree(repository / ".git")
    ended = cli.here("export-best", "latest", "--branch=found")
    assert ended.code == 2 and f"{repository} is no git repository with a commit; --patch=FILE or" in ended.line
    shutil.rmtree(repository)
    ended = cli.here("export-best", "latest", "--branch=found")
    assert ended.code == 2 and f"{repository} is no folder here; --patch=FILE or --folder=DIR need none" in ended.line


@pytest.mark.long
def test_a_run_that_is_copied_elsewhere_goes_on_there(cli_at: Any, repository: Path):
    here, there = cli_at("here"), cli_at("there")
    assert here.here(*words(repository, "search.max_steps=3")).code == 0
    shutil.copytree(here.folder / "logs", there.folder / "logs", symlinks=True)
    shutil.rmtree(repository)
    exported = there.here("export-best", "latest", f"--folder={there.folder / 'whole'}", "--i-trust-this-run")
    assert exported.code == 0, exported.err
    assert (there.folder / "whole/docs/big.txt").read_text() == FILES["docs/big.txt"]
    assert there.here("resume", "latest", "search.max_steps=4", "--i-trust-this-run").code == 0
    assert len(there.show()["nodes"]) == 1 + 4
    archive = there.run_dir / "files/base.tar.gz"
    shutil.rmtree(there.folder / "workspaces")
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(there.folder / "whole/score.sh", "score.sh")
    ended = there.here("resume", "latest", "search.max_steps=5", "--i-trust-this-run")
    assert ended.code == 2 and "holds another tree" in ended.line


@pytest.mark.long
def test_a_killed_run_goes_on_as_if_nothing_had_been(cli_at: Any, repository: Path, eventually: Any):
    straight, killed = cli_at("straight"), cli_at("killed")
    more = ("search.max_steps=10", "search.workers=1")
    slow = [word.replace("sh score.sh", "sleep 0.2; sh score.sh") for word in words(repository, *more)]
    child = killed.start(*slow)
    eventually(lambda: killed.runs and _steps(killed.run_dir) > 3, 60)
    child.kill()
    child.wait()
    (repository / "src/a.conf").write_text("A=99\n")  # the run has its own snapshot
    assert killed.here("resume", "latest").code == 0
    (repository / "src/a.conf").write_text(FILES["src/a.conf"])
    assert straight.here(*slow).code == 0
    assert killed.show()["journal_sha256"] == straight.show()["journal_sha256"]


def _steps(run_dir: Path) -> int:
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{run_dir / 'run.db'}?mode=ro", uri=True)) as connection,
    ):
        return int(connection.execute("SELECT COUNT(*) FROM nodes").fetchone()[0])
    return 0


def test_a_given_file_that_is_no_diff_has_no_score(cli: Cli, repository: Path):
    (cli.folder / "other.py").write_text("FACTOR = 7\n")
    assert cli.here(*words(repository, "search.max_steps=1", "initial=other.py")).code == 0
    given = next(row for row in cli.show()["nodes"] if row["operator"] == "user")
    assert given["metric"] is None and cli.node(given["node_id"])["message"].startswith("it is no diff")


def test_a_base_that_no_run_uses_goes_with_the_last_that_did(cli: Cli, repository: Path):
    for _ in range(2):
        assert cli.here(*words(repository, "search.max_steps=1")).code == 0
    first, second = cli.runs
    (base,) = (cli.folder / "workspaces/.bases").iterdir()
    os.utime(base, (0, 0))
    assert base.name not in cli.here("rm", first.name, "--yes").out and base.is_dir()
    ended = cli.here("rm", second.name, "--yes")
    assert ended.code == 0 and base.name in ended.out and not base.exists()


@pytest.mark.long
def test_tickets_hand_out_files_and_take_them_in(cli: Cli, repository: Path, eventually: Any):
    ready = cli.folder / "ready"
    cli.start(*words(repository, "search.max_steps=4", "--writer=external"), "--idle=120", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)

    def call(verb: str, **more: Any) -> dict[str, Any]:
        return ask_the_run(cli.run_dir, {"verb": verb, "seconds": 20, **more})

    asked = call("ask", token="0" * 32)
    assert asked["files"]["src/a.conf"] == FILES["src/a.conf"] and asked["editable"] == ["src/*.conf"]
    assert "score.sh" not in asked["files"]
    ticket = asked["ticket"]
    locked = call("check", ticket=ticket, files={"score.sh": "echo score: 1000\n"})
    assert not locked["ok"] and "locked" in locked["problems"][0]["remedy"]
    files = {"src/a.conf": "A=4\n", "src/c.conf": "C=1\n"}
    assert call("check", ticket=ticket, files=files) == {"ok": True, "problems": [], "warnings": []}
    lost = call("tell", ticket=ticket, code="a file's text, and nobody knows of which\n")
    assert lost["state"] == "refused" and "the reply changes no file; hand in the folder" in lost["message"], "no step"
    assert "`files`, {path: whole text}" in call("tell", ticket=ticket, surface="python", files={"a": 1})["message"]
    told = call("tell", ticket=ticket, files=files)
    while told["state"] == "running":
        told = call("wait", ticket=ticket)
    assert (told["state"], told["metric"]) == ("committed", 39.0)

    ticket = call("ask", token="1" * 32)["ticket"]
    told = call("tell", ticket=ticket, files={"score.sh": "echo score: 1000\n"})
    while told["state"] == "running":
        told = call("wait", ticket=ticket)
    assert (told["failure"], told["metric"]) == ("tampered", None)
    call("close")


def test_a_metric_that_counts_failures_ends_the_search_at_none(cli: Cli, repository: Path):
    told = ["problem.eval=echo 'failed: 0'", "problem.metric=failed", "problem.direction=min", "problem.require="]
    ended = cli.here(*words(repository, *told, "search.max_steps=5"))
    assert ended.code == 0, ended.err
    assert "ended: nothing is better than 0" in ended.out and "the same run goes on" not in ended.out
    assert cli.show()["steps"] == 0


def test_failing_tests_are_a_score_where_they_are_counted(cli: Cli, repository: Path):
    """unittest and pytest end with an exit code where a test fails; until none does, the count steers."""
    (repository / "src/a.conf").write_text("A=3\n")
    eval_ = 'problem.eval=. ./src/a.conf; echo "$A failed, 1 passed in 0.1s"; [ $A -eq 0 ]'
    with ChatServer(lambda request, number: f"src/a.conf\n```\nA={1 - min(1, number)}\n```\n") as server:
        told = ["problem.metric=failed", "problem.direction=min", "problem.require=", "search.max_steps=9"]
        ended = cli.here(*words(repository, eval_, *told, "search.batch=1", *server.words()))
    assert ended.code == 0 and "ended: nothing is better than 0" in ended.out, ended.out
    found = cli.show()
    assert found["baselines"][0]["metric"] == 3 and found["best_metric"] == 0 and found["steps"] == 2


def test_a_score_of_nothing_is_told_to_user_and_writer(cli: Cli, repository: Path):
    told = ["problem.eval=echo 'misses: 0'", "problem.metric=misses", "problem.direction=min", "problem.require="]
    with ChatServer(lambda request, number: "src/a.conf\n```\nA=4\n```\n") as server:
        ended = cli.here(*words(repository, *told, "search.max_steps=1", *server.words()))
        prompt = str(server.requests[0]["messages"])
    assert "nothing is left to gain; budget.target=0 ends a search there" in ended.out
    assert "if the metric is one of these, nothing is left to gain" in prompt
    assert cli.show()["steps"] == 1


@pytest.mark.long
@pytest.mark.parametrize("printed", ["", "echo took: $(date +%N);", "seq 9000;"])
def test_a_failure_that_was_mended_is_replayed(cli: Cli, repository: Path, printed: str):
    """Its writer saw what the command had measured until then, which the record does not hold."""
    replies = ["src/a.conf\n```\nA=\n```\n", "src/a.conf\n```\nA=4\n```\n", "src/a.conf\n```\nA=5\n```\n"]
    told = f"problem.eval={printed} . ./src/a.conf; echo score: $A; echo 7 >&2; [ $A ] && echo 1 passed in 0.1s"
    with ChatServer(lambda request, number: replies[min(number, 2)]) as server:
        more = ("search.max_steps=2", "search.batch=1")
        ended = cli.here(*words(repository, told, *more, *server.words()))
        prompts = [str(request["messages"][-1]["content"]) for request in server.requests]
    assert ended.code == 0 and "The program above failed" in prompts[1], ended.err
    assert ("took: " in prompts[1]) is ("took" in printed)
    replayed = cli.here("replay", "latest", "--verify")
    assert replayed.code == 0, replayed.err


def test_what_is_not_the_same_twice_is_measured_again(cli: Cli, repository: Path):
    """What may be the best is scored three times; its interval tells later writers what a change is worth."""
    noisy = "problem.eval=. ./src/a.conf; echo score: $((A * 1000 + $(od -An -N1 -tu1 /dev/urandom)))"
    told = ["problem.require=", "problem.direction=min", "search.max_steps=4", "search.batch=1"]
    ended = cli.here(*words(repository, noisy, *told))
    assert ended.code == 0, ended.err
    nodes = [cli.node(node["node_id"]) for node in cli.show()["nodes"]]
    measured = [node for node in nodes if node["interval"]]
    assert measured and all(len(node["repeats"]) == 3 for node in measured)


def test_prompts_grow_by_what_a_step_changes_and_show_the_file_to_its_end(cli: Cli, repository: Path):
    lines = [f"part {i} takes {i * 7919 % 1000} of its time\n" for i in range(1000)]
    (repository / "src/long.conf").write_text("".join(lines))

    def script(request: dict[str, Any], number: int) -> str:
        return f"src/long.conf\n<<<<<<< SEARCH\n{lines[number]}=======\npart {number} is fast\n>>>>>>> REPLACE\n"

    told = ["problem.eval=echo score: $(grep -c fast src/long.conf)", "problem.require=", "search.max_steps=6"]
    with ChatServer(script) as server:
        ended = cli.here(*words(repository, *told, "search.batch=1", "search.policy=three_phase",
                                "search.three_phase.num_drafts=1", *server.words()))  # fmt: skip
        prompts = [str(request["messages"][-1]["content"]) for request in server.requests]
    assert ended.code == 0, ended.err
    assert all(lines[-1] in prompt for prompt in prompts), "the whole file, longer than 24 KB"
    assert max(map(len, prompts)) < len(prompts[0]) + 6 * 1000
    assert cli.show()["best_metric"] >= 3


@pytest.mark.long
def test_a_step_takes_little_of_the_store(cli: Cli, tmp_path: Path):
    """At most the changed file's bytes and 2 KB, which pages of 8 KB round."""
    source = benchmark_repository(tmp_path / "small", 10)
    sizes = []
    for steps in (60, 180):
        told = ["problem.editable=src/**", "problem.require=", "search.workers=1", "budget.repeats=null"]
        verb = words(source, *told) if steps == 60 else ["resume", "latest"]
        assert cli.here(*verb, f"search.max_steps={steps}").code == 0
        with closing(sqlite3.connect(cli.run_dir / "run.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes.append((cli.run_dir / "run.db").stat().st_size)
    changed = (source / "src/a.sh").stat().st_size
    assert sizes[1] - sizes[0] <= 120 * (changed + 2048) + 4 * 8192


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("problem.editable=", "problem.editable is needed"),
        ("problem.editable=none/**", "no text file"),
        ("problem.metric_from=xml", "problem.metric_from=xml: allowed: output"),
        ("problem.require=tests", "problem.require=tests: write NAME==VALUE"),
        ("problem.options.reply=diff", "problem.options.reply"),
        ("problem.program=x.py", "does not read it"),
    ],
)
def test_what_is_wrong_is_one_line(cli: Cli, repository: Path, change: str, says: str):
    ended = cli.here(*words(repository, change))
    assert ended.code == 2 and says in ended.line and not cli.runs


def test_a_folder_has_no_notebook(cli: Cli, repository: Path):
    assert cli.here(*words(repository, "search.max_steps=1")).code == 0
    ended = cli.here("export-best", "latest", "--notebook")
    assert ended.code == 2 and ended.line == "swarm-evo: --notebook: only in competitions"


def test_a_command_that_misses_what_lies_above_is_told_how_to_show_it(cli: Cli):
    """A package was suggested, which no interpreter has."""
    task = cli.folder / "checkout" / "examples" / "ruler"
    task.mkdir(parents=True)
    (task / "initial.py").write_text("MARKS = [0, 1, 3]\n")
    (task / "judge.py").write_text("import initial, scale\nprint('score:', scale.SCALE * len(initial.MARKS))\n")
    (cli.folder / "checkout" / "scale.py").write_text("SCALE = 2\n")
    more = ["problem.metric=score", "problem.direction=max", "search.max_steps=1", "logging.report=false"]
    run = ["run", "--problem", "command"]
    ended = cli.here(
        *run, f"problem.source={task}", "problem.editable=initial.py", "problem.eval=python3 judge.py", *more
    )
    whole = cli.folder / "checkout"
    told = ended.out + ended.err
    assert ended.code == 3 and f"scale.py lies in {whole}, of which programs see examples/ruler/ alone" in told
    assert "names an interpreter" not in told
    source = [f"problem.source={whole}", "problem.editable=examples/ruler/initial.py"]
    ended = cli.here(*run, *source, "problem.eval=cd examples/ruler && PYTHONPATH=../.. python3 judge.py", *more)
    assert ended.code == 0 and cli.show()["baselines"][0]["metric"] == 6, ended.err
