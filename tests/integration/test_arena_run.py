"""The arena through the command line: a run without a key, kill -9 in a tournament, resume, the verb `arena`."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.command_line import Cli
from support.once import made_once

from cli.arena import engine_label
from core.arena.uci_options import split_options
from core.storage.reader import RunReader
from runs.mcp import reading_tools
from runs.proof.verification import verify_run
from runs.stored.explain import why
from runs.stored.reading import node_facts

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ROOT / "problems" / "connect_four" / "engines"
SMALL = ["arena.openings=3", "arena.gauntlet=4", "arena.limit=nodes:100", "search.max_generations=2"]
RUN = ["run", "--problem", "connect_four", *SMALL]


def rows(run_dir: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{run_dir / 'run.db'}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def count_games(run_dir: Path) -> int:
    """Finished games so far; 0 while the store is being made."""
    try:
        return rows(run_dir, "select count(*) from games")[0][0]
    except sqlite3.OperationalError:
        return 0


def events(run_dir: Path, kind: str) -> list[dict]:
    return [json.loads(body) for (body,) in rows(run_dir, f"select body from events where type='{kind}' order by seq")]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A whole run, and what `show` says of it."""

    def search(folder: Path) -> None:
        made = Cli(folder)
        ended = made(*RUN, timeout=400)
        assert ended.code == 0, ended.err
        (folder / "printed").write_text(ended.out)
        made.close()

    cli = Cli(made_once(tmp_path_factory, "arena", search))
    yield cli.run_dir, cli.show(), (cli.folder / "printed").read_text()
    cli.close()


def test_a_run_without_a_key_ends_with_standings_and_a_claim(finished):
    run_dir, shown, printed = finished
    assert shown["status"] == "finished" and shown["steps"] >= 4
    assert shown["final_interval"][0] <= shown["final_metric"] <= shown["final_interval"][1]
    assert [event["generation"] for event in events(run_dir, "generation.finished")] == [0, 1, 2]
    assert [event["generation"] for event in events(run_dir, "generation.started")] == [1, 2]
    questions = events(run_dir, "strategist.question")
    assert [(q["generation"], q["index"]) for q in questions] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    last = events(run_dir, "generation.finished")[-1]
    assert len(last["promoted"]) == 2 and {row["node_id"] for row in last["ratings"]} >= set(last["promoted"])
    assert "rules" in printed and "not a language model" in printed
    assert "standings of the last tournament" in printed and "above the starting champion" in printed
    for row in last["ratings"]:
        assert f"{row['name']:<32} {row['elo']:>+7.0f}" in printed


def test_every_surface_has_the_newest_rating(finished, cli):
    """The first one, which the search went by, differs for those that played on."""
    run_dir, shown, printed = finished
    told = [
        {row["node_id"]: row["elo"] for row in event["ratings"]} for event in events(run_dir, "generation.finished")
    ]
    newest = {name: elo for ratings in told for name, elo in ratings.items()}
    first = {name: elo for ratings in reversed(told) for name, elo in ratings.items()}
    assert newest != first
    assert {node["node_id"]: node["metric"] for node in shown["nodes"] if node["node_id"] in newest} == newest
    for row in shown["baselines"]:
        assert row["metric"] == newest[row["node_id"]]
        assert f"\nbaseline {row['name']}: {row['metric']:.6g}, final" in printed
    solution = json.loads((run_dir / "best_solution" / "node.json").read_text())
    assert solution["metric"] == solution["metric_value"] == newest[solution["id"]]
    project = str(run_dir.parent.parent)
    top = reading_tools.top(project, {"run": run_dir.name, "k": 20})["nodes"]
    assert [row["metric"] for row in top] == sorted(newest.values(), reverse=True)
    with RunReader(run_dir) as reader:
        for name, elo in newest.items():
            assert node_facts(reader, name)["metric"] == elo
            assert reading_tools.node(project, {"run": run_dir.name, "node": name})["metric"] == elo
            why_ = why(reader, name)
            assert all(parent["metric"] == newest[parent["node_id"]] for parent in why_["parents"])
        assert [row["metric"] for row in why_["best"]["top"]] == sorted(newest.values(), reverse=True)[:5]


def test_its_records_agree_with_each_other(finished):
    found = verify_run(finished[0])
    assert (found.verdict, found.findings, found.unchecked) == ("consistent", [], [])


def test_the_best_solution_holds_the_engine_and_every_game_it_played(finished):
    run_dir, shown, _ = finished
    best = run_dir / "best_solution"
    played = [e for e in events(run_dir, "game.finished") if shown["best_node_id"] in (e["white"], e["black"])]
    pgn = (best / "games.pgn").read_text()
    assert len(played) == pgn.count("[White ") > 10 and 'WhiteElo "' in pgn and '[Date "20' in pgn
    assert all(event["pgn"].partition("\n\n")[2] in pgn for event in played)


def test_every_game_is_told_from_its_start_to_its_end(finished):
    run_dir, _, _ = finished
    moves: dict[str, list[int]] = {}
    for event in events(run_dir, "game.move"):
        moves.setdefault(event["game_id"], []).append(event["ply"])
    ended = events(run_dir, "game.finished")
    assert len(ended) == len({event["game_id"] for event in ended}) > 30
    for event in ended:
        assert moves.get(event["game_id"], []) == list(range(1, event["plies"] + 1))
        assert f'[Result "{event["result"]}"]' in event["pgn"]


@pytest.mark.long
def test_kill_in_a_tournament_then_resume_plays_no_finished_game_again(cli, finished, eventually):
    _, whole, _ = finished
    child = cli.start(*RUN, "search.workers=1")
    eventually(lambda: cli.runs and count_games(cli.run_dir) >= 25, seconds=60)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    before = {key for (key,) in rows(cli.run_dir, "select key from games")}
    ids_before = {event["game_id"] for event in events(cli.run_dir, "game.finished")}
    assert before and not events(cli.run_dir, "run.finished")
    resumed = cli.here("resume", "latest")
    assert resumed.code == 0, resumed.err
    ids = [event["game_id"] for event in events(cli.run_dir, "game.finished")]
    keys = [key for (key,) in rows(cli.run_dir, "select key from games")]
    assert len(ids) == len(set(ids)) == len(keys) == len(set(keys)) and before < set(keys) and ids_before < set(ids)
    replayed = {game_id.partition(".")[0] for game_id in ids if "." in game_id}
    assert not replayed & before
    assert [event["generation"] for event in events(cli.run_dir, "generation.finished")] == [0, 1, 2]
    assert cli.show()["journal_sha256"] == whole["journal_sha256"]
    assert cli.here("replay", "latest", "--verify").code == 0


def test_the_exported_engine_plays_itself_as_a_file_and_as_a_uci_program(cli, finished):
    run_dir, _, _ = finished
    exported = run_dir / "best_solution" / "engine.py"
    pgn = cli.folder / "games.pgn"
    words = ["arena", str(exported), f"{sys.executable} {exported}", str(ENGINES / "random_mover.py")]
    ended = cli.here(*words, "--openings", "2", "--pgn", str(pgn), "--json", "arena.limit=nodes:200")
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["games"] == 12 and pgn.read_text().count("[White ") == 12
    by_id = {row["node_id"]: row for row in found["standings"]}
    assert all(row["forfeits"] == {} for row in by_id.values())
    # the same program by either way plays the same moves: from each opening one game each
    pair = next(p for p in found["pairs"] if {p["a"], p["b"]} == {"engine-1", "engine-2"})
    assert pair["pentanomial"] == [0, 0, 2, 0, 0]
    assert by_id["engine-3"]["score"] < 0.3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["random_mover.py"], "at least two engines"),
        (["random_mover.py", "no-such-program"], "no-such-program"),
        (["random_mover.py", "greedy.py", "--games", "3"], "--games 3"),
        (["random_mover.py", "greedy.py", "--openings", "0"], "--openings: 0: a whole number from 1 on"),
        (["random_mover.py", "greedy.py", "arena.limit=soon"], "arena.limit='soon'"),
        (["random_mover.py", "greedy.py", "--problem", "bin_packing"], "chess_engines"),
    ],
)
def test_wrong_words_are_one_line_and_exit_code_2(cli, words, said):
    ended = cli.here("arena", *[str(ENGINES / word) if word.endswith(".py") else word for word in words])
    assert ended.code == 2 and said in ended.line


SPEAKS = """
import sys
for line in sys.stdin:
    word, plies = line.split()[0], len(line.split()) - 3
    if word == "uci": print("uciok", flush=True)
    if word == "isready": print("readyok", flush=True)
    if word == "position": made = plies
    if word == "go":
"""
"""A UCI program up to what it does when it is to move."""


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, "no uciok within 0.5 s (arena.deadline=0.5)"),
        ("import sys\nsys.exit(3)", "it ended with code 3"),
        ("print('a log line')\nraise ValueError('no board here')", "standard error: ValueError: no board here"),
        (f"{SPEAKS}        print('bestmove e2e4', flush=True)", "'e2e4' is not a legal move"),
        (
            f"{SPEAKS}        print('no such column', file=sys.stderr, flush=True); print('bestmove e2', flush=True)",
            "; the last line of its standard error: no such column",
        ),
        (f"{SPEAKS}        sys.exit('cannot think')", "standard error: cannot think"),
        (f"{SPEAKS}        print('bestmove', flush=True)", "'' is not a legal move"),
    ],
)
def test_a_program_that_is_no_engine_of_the_game_is_refused_before_any_game(cli, monkeypatch, program, said):
    from core.arena import uci

    deadline = 0.5 if program is None else 10.0
    monkeypatch.setattr(uci, "LOAD_SECONDS", deadline)
    path = cli.folder / "program.py"
    path.write_text(program or "")
    word = "/bin/cat" if program is None else f"{sys.executable} {path}"
    for words in ((word, str(ENGINES / "greedy.py")), (str(ENGINES / "greedy.py"), word)):
        ended = cli.here("arena", *words, "--games", "2", "arena.limit=depth:1", f"arena.deadline={deadline}")
        assert (ended.code, ended.out) == (2, "")
        assert ended.line.startswith(f"swarm-evo: engine '{word}': it does not play connect_four by UCI: "), ended.err
        assert said in ended.line


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("python my_engine.py --fast", "my_engine"),
        ("/usr/bin/python3.12 -u folder/my_engine.py --depth 5", "my_engine"),
        ("java -jar mine.jar net=weights.bin", "mine"),
        ("nice -n 5 ./stockfish-16.1 option.UCI_Elo=1400", "stockfish-16.1 1400"),
        ("stockfish bench", "stockfish"),
        ("./engine 5", "engine"),
        ("python -i", "python"),
    ],
)
def test_an_engine_by_a_command_is_called_by_its_program(word, name):
    command, options = split_options(word.split())
    assert engine_label(command, options) == name


def test_a_program_that_is_slow_to_start_plays_where_the_deadline_lets_it(cli, monkeypatch):
    from core.arena import uci

    monkeypatch.setattr(uci, "LOAD_SECONDS", 0.2)
    path = cli.folder / "slow.py"
    path.write_text(f"import time\ntime.sleep(0.6)\n{SPEAKS}        print('bestmove', 7 - made % 7, flush=True)\n")
    words = ["arena", f"{sys.executable} {path}", str(ENGINES / "greedy.py"), "--games", "2", "arena.limit=depth:1"]
    refused = cli.here(*words, "arena.deadline=0.3")
    assert refused.code == 2 and "no uciok within 0.3 s (arena.deadline=0.3)" in refused.line
    assert cli.here(*words, "arena.deadline=20").code == 0


def test_the_standings_call_a_program_with_options_by_its_name(cli):
    path = cli.folder / "my_engine.py"
    path.write_text(f"{SPEAKS}        print('bestmove', 7 if made < 40 else 1, flush=True)\n")
    words = [f"{sys.executable} {path} --fast", str(ENGINES / "greedy.py"), "--games", "2", "arena.limit=depth:1"]
    found = cli.here("arena", *words, "--json").json
    assert {row["name"] for row in found["standings"]} >= {"my_engine"}


def test_a_forfeited_game_says_why(cli):
    """In its line, and for programs as `forfeits`: who, when and with which words."""
    path = cli.folder / "tires.py"
    path.write_text(f"{SPEAKS}        sys.exit('out of ideas') if made > 0 else print('bestmove 7', flush=True)\n")
    words = ["arena", f"{sys.executable} {path}", str(ENGINES / "greedy.py"), "--games", "2", "arena.limit=depth:1"]
    shown = cli.here(*words)
    why = "it ended with code 1; the last line of its standard error: out of ideas"
    lost = [line for line in shown.out.splitlines() if re.search(r" (?:ply|plies): ", line)]
    assert len(lost) == 2 and all(line.endswith(why) for line in lost), shown.out
    found = cli.here(*words, "--json").json["forfeits"]
    assert [(one["node_id"], one["name"], one["opponent"]) for one in found] == [("engine-1", "tires", "engine-2")] * 2
    assert {one["termination"] for one in found} == {"crash"} and {one["message"] for one in found} == {why}
    sound = cli.here("arena", *[str(ENGINES / f"{name}.py") for name in ("greedy", "alpha_beta")], *words[3:], "--json")
    assert sound.json["forfeits"] == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("        return '9'", "illegal move: '9' is not a legal move in"),
        ("        raise RuntimeError('no weights')", "crash: RuntimeError: no weights"),
        ("        return position.legal_moves[0]\n    weights = {}['none']", "crash: KeyError: 'none'"),
    ],
)
def test_an_engine_file_that_cannot_play_is_refused_before_the_tournament(cli, body, why):
    """It was looked at alone, and lost every game."""
    path = cli.folder / "wrong.py"
    path.write_text(f"class Wrong:\n    def select_move(self, position, time_left_ms):\n{body}\nengine = Wrong()\n")
    ended = cli.here("arena", str(ENGINES / "greedy.py"), str(path), "--games", "2", "arena.limit=depth:1")
    assert ended.code == 2 and not ended.out, ended.out
    assert ended.line.startswith(f"swarm-evo: engine '{path}': it does not play connect_four: {why}")


def test_games_alone_are_played_from_as_many_openings_as_they_need(cli):
    words = ["arena", str(ENGINES / "greedy.py"), str(ENGINES / "alpha_beta.py"), "--games", "6", "--json"]
    ended = cli.here(*words, "arena.limit=depth:1")
    assert ended.code == 0 and ended.json["games"] == 6, "no game is a copy of another"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind_of_a_tournament_however_it_ends(cli, eventually, number):
    engine, left = str(ENGINES / "greedy.py"), cli.folder / "workspaces"
    assert cli.here("arena", engine, engine, "--games", "2").code == 0
    assert not list(left.glob("swarm-evo-arena-*"))
    child = cli.start("arena", engine, str(ENGINES / "alpha_beta.py"), "--openings", "200", "arena.limit=depth:6")
    eventually(lambda: list(left.glob("swarm-evo-arena-*")), 60)
    child.send_signal(number)
    assert child.wait(30) == 130
    assert not list(left.glob("swarm-evo-arena-*"))


def test_an_interrupted_tournament_says_how_the_games_that_are_over_ended(cli, eventually):
    """Hours of games were forgotten by one Ctrl-C: neither their standings nor their PGN were told."""
    engine, pgn = str(ENGINES / "greedy.py"), cli.folder / "games.pgn"
    words = ["--openings", "200", "arena.limit=depth:1", "--pgn", str(pgn)]
    child = cli.start("arena", engine, engine, str(ENGINES / "alpha_beta.py"), *words)
    for _ in range(5):
        assert " plies" in child.stdout.readline()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130 and err.splitlines()[-1] == "swarm-evo: interrupted", err
    told = re.search(r"these are the (\d+) games that were over", err)
    assert told and 5 <= int(told[1]) < 1200, err
    assert "  score\n" in out and " v alpha-beta: +" in out.splitlines()[-1], out
    assert pgn.read_text().count("[White ") == int(told[1])


@pytest.mark.parametrize("words", [["--games", "2"], ["--openings", "5"]])
def test_one_engine_twice_rates_equal_and_what_was_not_played_is_told(cli, words):
    """Whoever begins wins at this depth: a game without its reversed one would give that to one of the two."""
    engine, pgn = str(ENGINES / "alpha_beta.py"), cli.folder / "games.pgn"
    other = str(ENGINES / "random_mover.py")
    ended = cli.here("arena", engine, engine, other, *words, "arena.limit=depth:3", "--json", "--pgn", str(pgn))
    assert ended.code == 0, ended.err
    rows = {row["node_id"]: row for row in ended.json["standings"]}
    assert rows["engine-1"]["elo"] == rows["engine-2"]["elo"] == 0
    assert rows["engine-1"]["score"] == rows["engine-2"]["score"] and rows["engine-3"]["elo"] < 0
    met = ended.json["pairs"][0]
    assert met["wins"] == met["losses"] and sum(met["pentanomial"]) == ended.json["games"] / 6 and met["los"] == 0.5
    assert "not played again" in ended.err
    assert pgn.read_text().count('[White "') == ended.json["games"]
    assert pgn.read_text().count('[White "alpha-beta (2)"') == ended.json["games"] / 3


REMEMBERS = """
import random
past = []
class Remembers:
    name = "remembers"
    def select_move(self, position, time_left_ms):
        past.append(position.moves)
        return random.choice(position.legal_moves[len(past) % 3 :] or position.legal_moves)
engine = Remembers()
"""


def test_an_engine_with_a_memory_plays_the_same_games_with_one_worker_and_with_two(cli):
    """Its games share processes, in another order with each number of workers."""
    engine = cli.folder / "remembers.py"
    engine.write_text(REMEMBERS)
    told = []
    for workers in (1, 2, 2):
        pgn = cli.folder / f"{len(told)}.pgn"
        words = ["arena", str(engine), str(ENGINES / "greedy.py"), "--games", "16", "--pgn", str(pgn)]
        ended = cli.here(*words, "arena.limit=depth:1", f"search.workers={workers}")
        assert ended.code == 0, ended.err
        told.append(" ".join(re.sub(r"\{\[%emt\s[^}]*\}", "", pgn.read_text()).split()))
    assert told[0] == told[1] == told[2] and told[0].count("[White ") == 16


def test_a_program_is_also_found_where_debian_keeps_games(cli, monkeypatch, tmp_path):
    from cli import arena

    program = tmp_path / "some-engine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert arena._program("some-engine") is None
    monkeypatch.setattr(arena, "GAMES_PATH", str(tmp_path))
    assert arena._program("some-engine") == str(program)


def test_an_engine_file_that_is_none_is_refused_before_any_game(cli):
    broken = cli.folder / "broken.py"
    broken.write_text("engine = (")
    ended = cli.here("arena", str(broken), str(ENGINES / "greedy.py"))
    assert ended.code == 2 and "broken.py" in ended.line and "command" not in ended.line
    script = cli.folder / "script.py"
    script.write_text("import socket\nprint('uciok')\n")
    ended = cli.here("arena", str(script), str(ENGINES / "greedy.py"))
    assert ended.code == 2 and f"a program that speaks UCI is named by its command: 'python3 {script}'" in ended.line


STOCKFISH = os.environ.get("SWARM_EVO_STOCKFISH") or shutil.which("stockfish", path="/usr/games:" + os.environ["PATH"])


@pytest.mark.skipif(STOCKFISH is None, reason="stockfish is not installed (apt install stockfish)")
def test_stockfish_sits_down_with_an_engine_file(cli):
    greedy = ROOT / "problems" / "chess_engines" / "engines" / "greedy.py"
    words = ["arena", "--problem", "chess_engines", STOCKFISH, str(greedy), "--openings", "1", "--json"]
    ended = cli.here(*words, "arena.limit=nodes:500")
    assert ended.code == 0, ended.err
    assert ended.json["standings"][0]["wins"] == 2 and ended.json["standings"][0]["node_id"] == "engine-1"
