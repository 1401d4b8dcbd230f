"""`verify`: whatever is changed in a run behind its back is found and named; what was not changed is not."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from support.tampering import Tampering, all_tamperings, careless, cut_off, made_anew

from core.contracts import CallRecord
from core.events import GameFinished, NoteAdded, RunStarted
from core.state.task import Task
from core.storage.chain_check import Finding
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.ticket_store import Ticket
from dashboard.server.tailer import EventFile
from reports.html import write_report
from reports.winner import winner_node
from runs.beside.sinks import winner_fields
from runs.proof.bundle import write_bundle
from runs.proof.verification import verify_run
from runs.recorded.files import record_files
from runs.run_folder import hold
from utils.errors import StoreError
from utils.file_utils import write_atomic
from utils.metrics_file import array_end, replace_ends, table_end

ROOT = Path(__file__).parents[2]
SCRIPT = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "verify.md").read_text(), re.S)


@pytest.fixture(scope="module")
def whole(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with rows in every table and a report. Copy it."""
    (source,) = (path.parent for path in (finished_run / "logs").glob("*/run.db"))
    run_dir = tmp_path_factory.mktemp("whole") / source.name
    shutil.copytree(source, run_dir)
    store = RunStore(run_dir)
    tasks = [Task(node_id=f"open{n}", operator="draft", round=90, slot=n, seed=n) for n in range(2)]
    store.open_round(tasks, [{"rule": "test"}] * 2)
    for task in tasks:
        store.save_stage(task.node_id, "prompt", {"n": task.slot})
        store.lease(Ticket(task.node_id, f"{task.slot}" * 64, "open", 1e9, "", 0))
        store.save_call(
            CallRecord(request_hash=task.node_id, sample=task.node_id, node_id=task.node_id, provider="rules",
                       model="rules", system="# a\nb\n", user="# c\n", reply=f"reply {task.slot}")
        )  # fmt: skip
    for key in ("one", "two"):
        game = {"white": "a", "black": key, "result": "1-0"}
        told = GameFinished(game_id=key, game="connect_four", termination="checkmate", plies=9, pgn="", **game)
        store.put(key, game, [told])
    record_files(store)
    store.append([NoteAdded(text="the last record")])
    store.close()
    write_report(run_dir, run_dir / "report.html")
    return run_dir


@pytest.fixture(scope="module")
def head(whole: Path) -> str:
    found = verify_run(whole).journal_head
    assert found is not None
    return found


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / whole.name))


def test_an_untouched_run_is_consistent_and_with_its_head_authentic(whole, head):
    found = verify_run(whole)
    assert (found.verdict, found.findings) == ("consistent", [])
    assert verify_run(whole, head).verdict == "authentic"
    assert min(found.counts.values()) > 1, "the tamperings need rows in every table"


@pytest.mark.long
def test_every_tampering_is_found_and_named(whole, tmp_path):
    """One test over all: they are made from the schema, so that nobody forgets a new table or column."""
    tamperings = all_tamperings(whole)
    assert len(tamperings) >= 100
    missed = [one.name for one in tamperings if not _is_found(one, whole, tmp_path)]
    print(f"{len(tamperings)} tamperings, {len(tamperings) - len(missed)} found and named")
    assert missed == []


def _is_found(one: Tampering, whole: Path, tmp_path: Path) -> bool:
    run_dir = Path(shutil.copytree(whole, tmp_path / "copy" / whole.name))
    one.apply(run_dir)
    found = verify_run(run_dir)
    shutil.rmtree(run_dir)
    return found.verdict == "tampered" and any(
        told.where.startswith(one.where) and told.what for told in found.findings
    )


def test_a_chain_made_anew_holds_by_itself_and_not_against_a_known_head(copied, head):
    made_anew(copied)
    write_report(copied, copied / "report.html")
    metrics = [one for one in verify_run(copied).findings if one.where not in ("metrics.json", "metrics.csv")]
    assert metrics == [], "this is what `consistent` does not exclude"
    found = verify_run(copied, head)
    assert found.verdict == "tampered" and any(one.where == "chain" and head in one.what for one in found.findings)


def test_a_forger_who_forgets_the_events_is_found_without_a_head(copied):
    careless(copied)
    found = verify_run(copied)
    assert any(
        one.where.startswith("nodes/") and "metric_value is not what event" in one.what for one in found.findings
    )


def test_an_end_that_was_cut_off_is_found_by_a_known_head(copied, head):
    cut_off(copied)
    assert any(one.where == "chain" for one in verify_run(copied, head).findings)


def test_a_run_that_went_on_is_extended(copied, head):
    store = RunStore(copied)
    store.put_fact("more", 1)
    store.close()
    write_report(copied, copied / "report.html")
    found = verify_run(copied, head)
    assert (found.verdict, found.holds) == ("extended", False)
    assert f"Up to link {found.links - 1}" in found.sentence


@pytest.mark.parametrize("names", [["metrics.json"], ["metrics.json", "metrics.csv"]], ids=len)
def test_a_run_that_was_killed_while_it_told_its_end_or_took_it_back_is_not_tampered_with(copied, names):
    """A resume takes back in all rows who had won, first in one file and then in the other, and its end tells it anew;
    of a process that was killed on the way it was said that the rows are not those of the journal."""
    row = json.loads((copied / "metrics.json").read_text())[-1]
    won = {key: row[key] for key in winner_fields(None)}
    assert row["winner_node_id"]
    store = RunStore(copied)
    store.put_facts({"status": "running"}, [RunStarted(run=copied.name, problem="toy", lower_is_better=True)])
    for name in names:
        end = array_end if name.endswith("json") else table_end
        assert replace_ends(copied / name, end(won), end(winner_fields(None)))
    assert [one.where for one in verify_run(copied).findings if one.where.startswith("metrics")] == []
    detail = copied / "best_solution" / "node.json"
    detail.write_text(
        "{}"
    )  # a process that goes on writes it, and keeps what newer programs left: a kill is no tampering
    write_atomic(copied / "files" / "arena_sessions", "2")
    found = verify_run(copied)
    assert found.findings == []
    assert "best_solution: the run has gone on since it recorded its files" in found.unchecked
    config = (copied / "config.yaml").read_text()
    (copied / "config.yaml").write_text("")
    assert [one.where for one in verify_run(copied).findings] == ["config.yaml"], "no process of a run changes it"
    (copied / "config.yaml").write_text(config)
    store.put_facts({"status": "finished"})  # it was killed while it wrote them
    store.close()
    found = verify_run(copied)
    assert found.findings == []
    assert "best_solution: the run was killed at its end, before it recorded its files" in found.unchecked


def test_a_store_that_cannot_be_read_now_is_not_called_tampered(copied, monkeypatch):
    """A lock of another program's, or a process that may open no more files, was held against the run."""
    monkeypatch.setattr("core.storage.connection.BUSY_SECONDS", 0.01)
    with closing(sqlite3.connect(copied / "run.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="database is locked; nothing was checked"):
            verify_run(copied)


def test_a_run_that_is_taken_up_while_it_is_verified_is_not_called_tampered(copied, monkeypatch):
    with ExitStack() as begun:

        def meanwhile(run_dir, unchecked):
            begun.enter_context(hold(run_dir))
            yield Finding("metrics.json", "its end is just being taken back")

        monkeypatch.setattr("runs.proof.verification.check_files", meanwhile)
        found = verify_run(copied)
    assert found.holds and found.unchecked == ["the files beside the store: a process works on the run"]


def mounted(place: Path, *words: str) -> None:
    done = subprocess.run(["mount", *words, "none", str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def on_a_read_only_disk(whole, tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mounted(place, "-t", "tmpfs")
    try:
        copy = Path(shutil.copytree(whole, place / whole.name))
        mounted(place, "-o", "remount,ro")
        yield copy
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_run_on_a_read_only_disk_is_read_by_all_that_look_at_it(on_a_read_only_disk, head, tmp_path):
    """SQLite makes an index beside a store where it is not told that nobody writes: of an archived run `verify` said
    that it was tampered with, and a bundle of it was a traceback."""
    found = verify_run(on_a_read_only_disk, head)
    assert (found.verdict, found.findings) == ("authentic", [])
    with RunReader(on_a_read_only_disk) as reader:
        node = winner_node(reader, reader.facts())
        assert node is not None and write_bundle(reader, node, tmp_path / "bundle")
        told = reader.last_seq()
    file = EventFile(on_a_read_only_disk)
    assert file.last_seq() == told
    file.close()


def test_a_run_of_an_older_version_is_unchained_until_it_is_resumed(cli, finished, toy):
    known = cli.show()["journal_head"]
    with closing(sqlite3.connect(cli.run_dir / "run.db")) as db:
        db.execute("DROP TABLE chain")
        db.execute("PRAGMA user_version=2")
        db.commit()
    told = cli.here("verify", "latest")
    assert (told.code, told.out.split(":")[0]) == (1, "unchained") and cli.show()["journal_head"] is None
    metrics = cli.run_dir / "metrics.json"
    metrics.write_text(metrics.read_text().replace('"winner_metric"', '"another_name"'))
    told = cli.here("verify", "latest")
    assert told.out.startswith("unchained") and "metrics.json: not what this version makes" in told.out, told.out
    assert cli.here("verify", "latest", "--head", known, "--json").json["verdict"] == "tampered"
    assert "no chain" in cli.here("export-best", "latest", "--bundle", "b").line
    assert cli.here("resume", "latest", "search.max_steps=10").code == 0
    told = cli.here("verify", "latest")
    assert told.code == 0 and "Chained from link 1: the rows before it lay there unchained, in schema 2." in told.out


def test_garbage_instead_of_a_store_is_a_finding(copied):
    (copied / "run.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert any(one.where == "run.db" for one in verify_run(copied).findings)


def test_a_run_that_was_killed_before_it_began_is_none_and_no_tampered_one(cli, copied, head):
    """It was called tampered with. Where a head is known somebody has emptied the store."""
    for name in ("run.db", "run.db-wal", "run.db-shm"):
        (copied / name).unlink(missing_ok=True)
    sqlite3.connect(copied / "run.db").close()
    told = cli.here("verify", str(copied))
    assert told.code == 2 and "killed before it began" in told.line
    known = cli.here("verify", str(copied), "--head", head)
    assert known.code == 1 and known.out.startswith("tampered")


@pytest.mark.parametrize(
    "value", ['["a"]', "[1]", '[{"link": "x", "schema": 2}]', "[{}]", '{"link": 1}', "null", "[" * 9999]
)
def test_a_fact_that_the_sentence_quotes_may_be_anything(copied, value):
    """Which rows were chained later stands in the store, where a stranger may have written."""
    with sqlite3.connect(copied / "run.db") as store:
        store.execute("INSERT OR REPLACE INTO facts (key, value) VALUES ('chained_from', ?)", (value,))
    found = verify_run(copied)
    assert found.verdict == "tampered" and any(one.where == "facts/chained_from" for one in found.findings)


# ------------------------------------------------------------ the verb


def test_the_verb_tells_verdict_sentence_and_exit_code(cli, finished):
    told = cli.here("verify", "latest", "--json")
    found = told.json
    assert (told.code, found["verdict"], found["findings"]) == (0, "consistent", [])
    assert found["journal_head"] == cli.show()["journal_head"]
    assert cli.here("verify", "latest", "--head", found["journal_head"]).out.startswith("authentic: ")
    assert cli.here("verify", str(cli.run_dir), "--json").json["verdict"] == "consistent"
    assert cli.here("verify", "latest", "--head", "0" * 64).code == 1
    other = cli.here("verify", "latest", "--head", cli.show()["journal_sha256"])
    assert other.code == 2 and "hash of the run's nodes" in other.line and found["journal_head"] in other.line
    refused = cli.here("verify", "latest", "--head", "abc")
    assert (refused.code, refused.line) == (
        2, "swarm-evo: --head=abc: a head is 64 hex digits, as `show RUN --json` tells it"
    )  # fmt: skip
    assert cli.here("verify", "nobody").code == 2


def test_a_run_whose_scores_are_zeros_below_zero_is_untouched(cli):
    """What `-error` comes to at the optimum; the store keeps no such sign, and the run's hash was made with it."""
    (cli.folder / "program.py").write_text("x = 1\n")
    words = [
        "problem.source=program.py",
        "problem.eval=echo score: -0.0",
        "problem.metric=score",
        "problem.direction=max",
    ]
    quiet = ["search.max_steps=1", "logging.view=quiet", "logging.report=false"]
    assert cli.here("run", "--problem=command", *words, *quiet).code == 0
    found = cli.here("verify", "latest", "--json").json
    assert (found["verdict"], found["findings"]) == ("consistent", [])


def test_a_plain_export_says_what_it_is_and_how_to_get_what_can_be_verified(cli, finished):
    run = cli.run_dir.name
    assert cli.here("export-best", "latest", "--out", "plain").code == 0
    ended = cli.here("verify", "plain")
    assert ended.code == 2 and "plain: a solution that export-best wrote, node " in ended.line and run in ended.line
    assert f"export-best {run} --bundle DIR`" in ended.line
    own = f"logs/{run}/best_solution"
    assert cli.here("verify", own).out.startswith(f"consistent: {run}"), "the run recorded the hashes of these files"
    (cli.folder / own / "solution.py").write_text("x = 3\n")
    assert cli.here("verify", own).code == 1
    (cli.folder / "other").mkdir()
    assert "neither a run's folder" in cli.here("verify", "other").line
    assert "unknown run 'nowhere'" in cli.here("verify", "nowhere").line


def test_what_a_stranger_wrote_is_cleaned_before_it_is_shown(cli, finished):
    with closing(sqlite3.connect(cli.run_dir / "run.db")) as db:
        db.execute("INSERT INTO facts VALUES (?, '1')", ("\x1b[2Jx",))
        db.commit()
    told = cli.here("verify", "latest")
    assert told.code == 1 and "\x1b" not in told.out and "facts/" in told.out


def test_an_export_into_the_runs_own_folder_is_recorded(cli, finished, monkeypatch):
    """Killed on the way, it was tampering, until the run was exported once more."""
    detail = cli.run_dir / "best_solution" / "node.json"
    heads = [cli.show()["journal_head"] for _ in range(2) if cli.here("export-best", "latest").code == 0]
    assert len(heads) == 2 and heads[0] == heads[1], "the second time nothing has changed"
    known = detail.read_text()
    detail.unlink()
    assert cli.here("verify", "latest").code == 1

    def killed(store):
        raise RecursionError

    with monkeypatch.context() as until:
        until.setattr("runs.recorded.files.record_files", killed)
        with pytest.raises(RecursionError):
            cli.here("export-best", "latest")
    detail.write_text("{}")
    found = verify_run(cli.run_dir)
    assert found.verdict == "consistent" and any("killed at its end" in told for told in found.unchecked)
    with ExitStack() as other:
        other.enter_context(hold(cli.run_dir))
        threading.Timer(0.1, other.pop_all().close).start()  # another export: both are recorded
        assert cli.here("export-best", "latest").code == 0 and detail.read_text() == known
    assert cli.here("verify", "latest").out.startswith("consistent") and verify_run(cli.run_dir).unchecked == []


# ------------------------------------------------------------ bundles


@pytest.fixture
def bundle(cli, finished, tmp_path) -> Path:
    folder = tmp_path / "bundle"
    assert cli.here("export-best", "latest", "--bundle", str(folder)).code == 0
    return folder


def script(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The lines of the documentation, isolated from everything of ours."""
    assert SCRIPT is not None and SCRIPT[1].count("\n") <= 30
    command = [sys.executable, "-I", "-c", SCRIPT[1], str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder.parent)


def test_a_bundle_of_a_baseline_that_won_is_as_it_was_written(cli, toy):
    """It was `tampered`: the choice judges a baseline once more, and the bundle's check asked for the row before."""
    assert cli.here(*toy(4, "project.seed=1")).code == 0
    assert cli.show()["winner"]["role"] == "baseline"
    assert cli.here("export-best", "latest", "--bundle", "b").code == 0
    assert cli.here("verify", "b", "--json").json["findings"] == []


def test_a_stranger_verifies_a_bundle_with_the_lines_of_the_documentation(cli, bundle):
    head = cli.show()["journal_head"]
    assert script(bundle).stdout.startswith("consistent ")
    told = script(bundle, head)
    assert told.stdout.split()[0] == "authentic" and cli.show()["best_node_id"] in told.stdout, told.stderr
    assert "another journal" in script(bundle, "0" * 64).stderr
    found = cli.here("verify", str(bundle), "--head", head, "--json")
    assert (found.code, found.json["verdict"]) == (0, "authentic")


def _with_line(folder: Path, name: str, place: int, change: Any) -> None:
    lines = (folder / name).read_text().splitlines()
    lines[place] = json.dumps(change(json.loads(lines[place])))
    (folder / name).write_text("\n".join(lines) + "\n")


def _more(value: Any) -> Any:
    return [f"{value[0]}00"] if isinstance(value, list) else value + 7


def bundle_tamperings(folder: Path) -> dict[str, Any]:
    """Name → what it does to a bundle."""
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    first: dict[str, tuple[int, list[Any]]] = {}
    for place, (table, _, values) in enumerate(rows):
        first.setdefault(table, (place, values))
    made: dict[str, Any] = {}
    for table, (place, values) in first.items():
        for column, value in enumerate(values):
            new = f"{value}x" if isinstance(value, str) or value is None else _more(value)
            made[f"{table}[{column}]"] = lambda at, p=place, c=column, n=new: _with_line(
                at, "rows.jsonl", p, lambda line: [*line[:2], [*line[2][:c], n, *line[2][c + 1 :]]]
            )
    made["row left out"] = lambda at: (at / "rows.jsonl").write_text(
        "".join((at / "rows.jsonl").read_text().splitlines(keepends=True)[1:])
    )
    made["link changed"] = lambda at: _with_line(at, "chain.jsonl", 2, lambda link: [link[0], "[]", link[2]])
    made["chain cut off"] = lambda at: (at / "chain.jsonl").write_text(
        "".join((at / "chain.jsonl").read_text().splitlines(keepends=True)[:-1])
    )
    made["program"] = lambda at: (at / "program.txt").write_text("forged = 1\n")
    made["solution"] = lambda at: (at / "solution" / "solution.py").write_text("forged = 1\n")
    made["file inserted"] = lambda at: (at / "solution" / "more.py").write_text("forged = 1\n")
    manifest = json.loads((folder / "bundle.json").read_text())
    for name in ("metric", "node_id", "metric_source", "journal_head"):
        made[f"claimed {name}"] = lambda at, n=name: (at / "bundle.json").write_text(
            json.dumps({**manifest, n: 0.123 if n == "metric" else "unisolated" if n == "metric_source" else "0" * 64})
        )
    return made


def test_every_tampering_with_a_bundle_is_found_by_us_and_by_the_lines(cli, bundle, tmp_path):
    tamperings = bundle_tamperings(bundle)
    assert len(tamperings) > 40
    missed = []
    for number, (name, apply) in enumerate(tamperings.items()):
        copy = Path(shutil.copytree(bundle, tmp_path / f"copy{number}"))
        apply(copy)
        if cli.here("verify", str(copy)).code != 1:
            missed.append(name)
        if number % 6 == 0 or "[" not in name:
            told = script(copy)
            if told.returncode == 0:
                missed.append(f"{name} (by the lines)")
    assert missed == []


def test_a_bundle_names_no_place_of_this_machine(cli, bundle):
    text = "".join(path.read_text(errors="replace") for path in bundle.glob("*.json*"))
    assert str(cli.folder) not in text and str(ROOT) not in text


def test_a_bundle_needs_an_empty_folder(cli, bundle):
    refused = cli.here("export-best", "latest", "--bundle", str(bundle))
    assert refused.code == 2 and "empty or new folder" in refused.line


@pytest.mark.parametrize(
    "words",
    [("export-best", "--out"), ("export-best", "--bundle"), ("report", "--out"), ("export", "--format=csv", "--out")],
)
def test_a_place_that_cannot_be_written_is_one_line(cli, finished, words):
    verb, *more = words
    ended = cli.here(verb, "latest", *more, "/proc/x/y")
    assert ended.code == 2 and f"{more[-1]} /proc/x/y: cannot be written" in ended.line


def test_a_head_that_was_noted_holds_after_a_report_was_written(cli, finished):
    """It was called extended: the report that somebody made later was an event of the run."""
    head = cli.show()["journal_head"]
    for words in ([], ["--format=md"]):
        assert cli.here("report", "latest", *words).code == 0
        verified = cli.here("verify", "latest", f"--head={head}")
        assert verified.code == 0 and verified.out.startswith("authentic: "), verified.out


def test_a_run_that_was_renamed_is_bundled_and_verified(cli, finished, tmp_path):
    shutil.copytree(cli.run_dir, cli.folder / "logs" / "renamed")
    assert cli.here("export-best", "renamed", "--bundle", str(tmp_path / "bundle")).code == 0
    assert cli.here("verify", str(tmp_path / "bundle")).code == 0
