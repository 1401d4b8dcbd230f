"""The tournament and the evaluator: books, events, verdicts, what a resumed run does not repeat."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest
from arena_support import FIRST, LAST, DirectJobs, InProcessSandbox, RecordingBook, engine, four_settings, four_spec
from arena_support import make_deps as deps_of

from core.arena.evaluator import ArenaEvaluator
from core.arena.limit import Clocks, MoveLimit
from core.arena.match import Engine
from core.arena.mutation import with_constants
from core.arena.pairings import round_robin
from core.arena.referee import MOST_PLIES
from core.arena.rules import try_rules
from core.arena.standings import Crosstable, Played, Ratings
from core.arena.told_games import told_games, told_times
from core.arena.tournament import Tournament, count_session
from core.state.failure import FailureKind
from core.state.node import Node
from utils.allowance import Allowance
from utils.errors import ConfigError, Interrupted, JobLost, StoreError

SPEC = four_spec()


def baselines():
    codes = {"champ": SPEC.anchor.code, "first": FIRST, "last": LAST}
    return [
        Node(id=name, code=code, operator="baseline", name=name, slot=slot)
        for slot, (name, code) in enumerate(codes.items())
    ]


def commit(deps, nodes, verdicts):
    for node, verdict in zip(nodes, verdicts, strict=True):
        update = {"metric_value": verdict.metric, "name": verdict.name or node.name, "tournament": verdict.tournament}
        deps.journal.append(node.model_copy(update=update))


def candidate(code, id_="new", generation=1):
    return Node(id=id_, code=code, operator="build", generation=generation, parent_ids=("champ",))


def pairings(names="abc"):
    engines = [
        Engine(id=name, name=name, code=engine(f"return position.legal_moves[{i}]")) for i, name in enumerate(names)
    ]
    openings = [("1", "2"), ("3", "4")]
    return round_robin(engines, openings, games=2, seed=1, spec=SPEC, settings=four_settings())


def test_finished_games_are_not_played_or_told_again(tmp_path):
    book = RecordingBook()
    jobs = DirectJobs(InProcessSandbox(), tmp_path)
    deps = deps_of(tmp_path, book=book, jobs=jobs)
    first = Tournament(deps, SPEC.game, 0).play(pairings()[:5], kind="rated")
    assert len(jobs.played) == 5 == len(book.of("game.finished"))
    again = Tournament(deps, SPEC.game, 1).play(pairings(), kind="rated")
    assert len(jobs.played) == 12 == len(book.of("game.finished")) and again[:5] == first
    ids = [event.game_id for event in book.of("game.started")]
    assert len(ids) == len(set(ids)) == 12
    assert [i.endswith(".1") for i in ids] == [False] * 5 + [True] * 7


def test_a_count_of_processes_that_a_power_cut_emptied_does_not_end_the_run(tmp_path):
    counted = [count_session(deps_of(tmp_path)) for _ in range(2)]
    (tmp_path / "run" / "files" / "arena_sessions").write_text("")
    counted += [count_session(deps_of(tmp_path)) for _ in range(2)]
    assert counted[:2] == [0, 1] and len(set(counted)) == 4


def test_the_same_program_twice_has_every_game_under_both_names_and_is_played_once(tmp_path):
    code = engine("return position.legal_moves[0]")
    engines = [Engine(id=name, name=name, code=code) for name in "ab"] + [Engine(id="c", name="c", code=LAST)]
    games = round_robin(engines, [("1", "2"), ("3", "4")], games=2, seed=1, spec=SPEC, settings=four_settings())
    jobs = DirectJobs(InProcessSandbox(), tmp_path)
    played = Tournament(deps_of(tmp_path, jobs=jobs), SPEC.game, 0).play(games, kind="rated")
    assert [(g["white"], g["black"]) for g in played] == [(p.match.white.id, p.match.black.id) for p in games]
    assert len(jobs.played) == 2 * (1 + 2)
    table = Crosstable("abc", map(Played.of, played))
    elo = Ratings(map(Played.of, played)).estimates("a")
    assert table.score("a") == table.score("b") and abs(elo["b"].elo) < 1e-6 and sum(table.pentanomial("a", "b")) == 2


def test_a_stage_tells_its_name_and_how_many_of_all_its_games_are_over(tmp_path):
    """A resume goes on counting where the process before ended; games of no stage say nothing."""
    told, book = [], RecordingBook()
    deps = replace(deps_of(tmp_path, book=book), doing=told.append)
    Tournament(deps, SPEC.game, 0).play(pairings()[:5], kind="rated")
    assert told == []
    Tournament(deps, SPEC.game, 1).play(pairings(), kind="rated", stage="generation 3, round robin")
    assert told == [f"generation 3, round robin: {n} of 12 games" for n in range(5, 13)]


def test_events_of_a_game_come_in_order_and_agree_with_its_record(tmp_path):
    book = RecordingBook()
    Tournament(deps_of(tmp_path, book=book), SPEC.game, 0).play(pairings()[:3], kind="rated", generation=4)
    assert len(book.all()) == 3
    for game in book.all():
        told = [event for event in book.events if event.game_id == game["game_id"]]
        kinds = [event.type for event in told]
        assert kinds == ["game.started", *["game.move"] * len(game["moves"]), "game.finished"]
        assert [event.uci for event in told[1:-1]] == game["moves"]
        assert [event.ply for event in told[1:-1]] == list(range(1, len(game["moves"]) + 1))
        assert told[-1].result == game["result"] and told[-1].pgn.startswith("[Event ")
        assert json.loads(json.dumps(game)) == game and game["generation"] == 4


def test_a_game_that_is_lost_with_its_worker_is_void(tmp_path):
    book = RecordingBook()
    jobs = DirectJobs(InProcessSandbox(), tmp_path, lose=1)
    games = Tournament(deps_of(tmp_path, book=book, jobs=jobs), SPEC.game, 0).play(pairings()[:3], kind="rated")
    assert len(games) == 2 and "void" in book.of("warning")[0].text


@pytest.mark.parametrize("fault", [JobLost("gone"), Interrupted("interrupted")], ids=["lost", "interrupted"])
def test_two_calls_whose_games_are_lost_do_not_wait_for_each_other(tmp_path, fault):
    """Each kept the game that it had lost to its end, which the other's next game waited for: the run hung."""
    both = threading.Barrier(2)

    class Jobs(DirectJobs):
        def run(self, spec):
            if next(calls) < 2:
                both.wait(60)
            raise fault

    calls, ended = count(), []
    two = pairings("ab")[:2]
    tournament = Tournament(deps_of(tmp_path, jobs=Jobs(InProcessSandbox(), tmp_path)), SPEC.game, 0)

    def play(games):
        with suppress(Interrupted):
            tournament.play(games, kind="smoke")
        ended.append(games)

    threads = [threading.Thread(target=play, args=(games,), daemon=True) for games in (two, two[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 2


def test_rules_that_leave_out_how_a_game_ends_are_told_and_no_engine_loses_by_them(tmp_path):
    """Whoever was to move without a move lost, as by a crash of its own, and nobody was told."""
    (tmp_path / "open.py").write_text(
        "from problems.connect_four.game import ConnectFour\n"
        "class Open(ConnectFour):\n    def outcome(self, state): return None\n"
    )
    spec = replace(SPEC, entry="open.py:Open", inputs=tmp_path)
    engines = [Engine(id=name, name=name, code=code) for name, code in (("a", FIRST), ("b", LAST))]
    games = round_robin(engines, [("1", "2")], games=2, seed=1, spec=spec, settings=four_settings())
    said = r"^game connect_four: no move is legal in .*; say there how such a game ended$"
    with pytest.raises(ConfigError, match=said):
        Tournament(deps_of(tmp_path), spec.game, 0).play(games, kind="rated")
    with pytest.raises(ConfigError, match=said):
        try_rules(spec.game, 200)
    try_rules(SPEC.game, 200)


def test_an_engine_whose_games_with_the_known_ones_were_lost_has_no_rating_and_is_told_so(tmp_path):
    """It had met other candidates alone, whom no games connect with the champion: no metric, and no word why."""

    class Jobs(DirectJobs):
        def run(self, spec):
            if self.losing and not {spec.payload["white"]["id"], spec.payload["black"]["id"]} <= {"a", "b"}:
                raise JobLost("the machine went away")
            return super().run(spec)

    jobs = Jobs(InProcessSandbox(), tmp_path)
    jobs.losing = False
    deps = deps_of(tmp_path, jobs=jobs)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    jobs.losing = True
    nodes = [candidate(engine(f"return position.legal_moves[-{i}]", name), name) for i, name in ((2, "a"), (3, "b"))]
    for verdict in evaluator.evaluate(nodes):
        assert verdict.failure is FailureKind.LOST_WORKER and "workers were lost" in verdict.message
        assert not {"a", "b"} & set(verdict.tournament.promoted), "without a rating nobody gets a title"
        elo = {row["node_id"]: row["elo"] for row in verdict.tournament.standings}
        assert elo["champ"] == 0, "nor does who has none move the others' scale"


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        (
            "outcome",
            ("draw", "agreed"),
            r"its `outcome` says \('draw', 'agreed'\); allowed are None while the game goes on",
        ),
        ("outcome", "1-0", r"its `outcome` says '1-0'; allowed are"),
        ("legal", [1, 2], r"a move is 1; moves are texts"),
    ],
)
def test_what_rules_say_wrongly_is_one_line(monkeypatch, method, answer, said):
    """A result of another name ended the run with a traceback; with numbers for moves every engine lost its first."""
    game = SPEC.game
    monkeypatch.setattr(game, method, lambda state: answer, raising=False)
    with pytest.raises(ConfigError, match=f"^game connect_four: {said}"):
        try_rules(game, 1)


@pytest.mark.parametrize("limit", ["nodes:50", "movetime:30000", "clock:5400000+30000"])
def test_no_engine_can_wait_until_its_game_is_void(tmp_path, limit):
    """A game's job had an hour: with such clocks, a player that was losing had only to use its time."""
    jobs = DirectJobs(InProcessSandbox(), tmp_path)
    settings = replace(four_settings(), limit=MoveLimit.parse(limit), deadline=20.0)
    engines = [Engine(id=name, name=name, code=code) for name, code in (("a", FIRST), ("b", LAST))]
    games = round_robin(engines, [("1", "2")], games=2, seed=1, spec=SPEC, settings=settings)
    Tournament(deps_of(tmp_path, jobs=jobs), SPEC.game, 0).play(games, kind="rated")
    clocks, taken = Clocks(settings.limit, settings.deadline), 0.0
    for ply in range(MOST_PLIES):
        move = clocks.allowance(ply % 2)
        assert clocks.press(ply % 2, move)
        taken += move
    assert taken > 3600
    assert all(job.seconds > taken for job in jobs.played)


class EndingJobs(DirectJobs):
    """Two workers, of which one is slow; after three games the user wants the end."""

    slots = 2

    def run(self, spec):
        if len(self.played) >= 3:
            raise Interrupted("interrupted")
        return super().run(spec)


def test_games_that_were_begun_are_kept_when_the_user_wants_the_end(tmp_path):
    book = RecordingBook()
    deps = deps_of(tmp_path, book=book, jobs=(jobs := EndingJobs(InProcessSandbox(), tmp_path)))
    with pytest.raises(Interrupted):
        ArenaEvaluator(deps, SPEC, four_settings()).evaluate(baselines())
    begun = len(jobs.played)
    assert 3 <= begun <= 4 and len(book.of("game.finished")) == begun
    rest = DirectJobs(InProcessSandbox(), tmp_path)
    resumed = ArenaEvaluator(deps_of(tmp_path, book=book, jobs=rest), SPEC, four_settings()).evaluate(baselines())
    whole = DirectJobs(InProcessSandbox(), tmp_path)
    alone = ArenaEvaluator(deps_of(tmp_path, book=RecordingBook(), jobs=whole), SPEC, four_settings())
    assert resumed == alone.evaluate(baselines()) and begun + len(rest.played) == len(whole.played)


class StoppedJobs(DirectJobs):
    """Two workers, of which one is slow; while it plays the user stops the run at once."""

    slots = 2

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.release = threading.Event()

    def run(self, spec):
        if self.release.is_set() or self.played:
            raise KeyboardInterrupt
        self.played.append(spec)
        self.release.wait(60)
        return super().run(spec)


def test_a_game_that_is_played_is_not_waited_for_when_the_user_stops_at_once(tmp_path):
    jobs = StoppedJobs(InProcessSandbox(), tmp_path)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Tournament(deps_of(tmp_path, jobs=jobs), SPEC.game, 0).play(pairings(), kind="rated")
    assert time.monotonic() - began < 40
    jobs.release.set()


def test_a_resumed_evaluation_reaches_the_same_verdict_and_tells_nothing_twice(tmp_path):
    book = RecordingBook()
    first = ArenaEvaluator(deps_of(tmp_path, book=book), SPEC, four_settings()).evaluate(baselines())
    told = len(book.events)
    jobs = DirectJobs(InProcessSandbox(), tmp_path)
    again = ArenaEvaluator(deps_of(tmp_path, book=book, jobs=jobs), SPEC, four_settings()).evaluate(baselines())
    assert again == first and jobs.played == [] and len(book.events) == told


def test_a_game_that_cannot_be_stored_is_the_last_that_begins(tmp_path, monkeypatch):
    """All others of the round were still played, while the run was ending."""
    jobs, book = DirectJobs(InProcessSandbox(), tmp_path), RecordingBook()

    def full(*game):
        raise StoreError("the disk is full")

    monkeypatch.setattr(book, "put", full)
    with pytest.raises(StoreError) as stopped:
        Tournament(deps_of(tmp_path, jobs=jobs, book=book), SPEC.game, 0).play(pairings("abcde"), kind="rated")
    for thread in threading.enumerate():
        if thread.name.startswith("game"):
            thread.join(30)
    assert len(jobs.played) < 20, stopped


def test_baselines_crown_the_anchor_at_zero(tmp_path):
    deps = deps_of(tmp_path)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    champ, first, _ = evaluator.evaluate(baselines())
    assert champ.metric == 0 and first.metric < 0 and champ.source == "verified"
    assert champ.tournament.promoted[0] == "champ" and champ.tournament.decision["rule"] == "anchor"
    assert champ.signature == () and champ.interval == (0.0, 0.0)
    standings = [row["node_id"] for row in champ.tournament.standings]
    assert standings[:2] == list(champ.tournament.promoted), "in the order by which the title goes"
    assert first.message.startswith("in its first tournament "), "later ones change its Elo, not this"


def test_champion_and_runner_up_sit_down_with_the_candidates(tmp_path):
    deps = deps_of(tmp_path)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    stronger = with_constants(SPEC.anchor.code, {"EXTENSION": 6, "WIN_FIRST": True})
    deep = ArenaEvaluator(deps, SPEC, four_settings())
    (verdict,) = deep.evaluate([candidate(stronger)])
    players = {row["node_id"] for row in verdict.tournament.standings}
    assert len(players) == 3 and {"champ", "new"} < players
    commit(deps, [candidate(stronger)], [verdict])
    assert deep.choice() == verdict.tournament.promoted[0]


def test_the_metric_counts_all_games_ever(tmp_path):
    """A node's Elo at its verdict comes from the whole book: more is known of the champion than from this round."""
    deps = deps_of(tmp_path)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    new = candidate(engine("return position.legal_moves[len(position.legal_moves) // 2]"))
    (verdict,) = evaluator.evaluate([new])
    commit(deps, [new], [verdict])
    fresh = ArenaEvaluator(deps, SPEC, four_settings())
    row = next(row for row in verdict.tournament.standings if row["node_id"] == "new")
    assert fresh.run.ratings.estimates("champ")["new"].elo == pytest.approx(row["elo"], abs=0.06)


def test_an_engine_that_forfeits_every_game_is_a_failure(tmp_path):
    deps = deps_of(tmp_path)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    (verdict,) = evaluator.evaluate([candidate(engine("raise ValueError('no idea')"))])
    assert verdict.metric is None and verdict.failure is FailureKind.RUNTIME and "no idea" in verdict.message
    assert "new" not in verdict.tournament.promoted


@pytest.mark.parametrize(
    ("code", "check", "failure"),
    [
        ("engine = 1", "static", FailureKind.SIGNATURE),
        (engine("return '9'"), "smoke", FailureKind.ILLEGAL_MOVE),
        (engine("raise TimeoutError"), "smoke", FailureKind.TIME_FORFEIT),
        (
            engine("if len(position.moves) > 4: raise KeyError(1)\nreturn position.legal_moves[0]"),
            "smoke",
            FailureKind.RUNTIME,
        ),
    ],
)
def test_the_check_refuses_with_the_reason(tmp_path, code, check, failure):
    refusal = ArenaEvaluator(deps_of(tmp_path), SPEC, four_settings()).check(candidate(code))
    assert refusal.failure is failure and refusal.refused_by == check and refusal.message


def test_an_engine_that_takes_a_name_of_the_games_own_is_told_so(tmp_path):
    """A class of its own called Position is a natural thing to write, and what came of it said nothing of that."""
    own = f"class Position:\n    def __init__(self, board): self.board = board\n{FIRST}"
    refusal = ArenaEvaluator(deps_of(tmp_path), SPEC, four_settings()).check(candidate(own))
    assert refusal.message.endswith(
        "; the file binds `Position`, by which the game calls something of its own: use another name"
    )


def test_the_check_lets_a_sound_engine_through_and_its_games_do_not_count(tmp_path):
    deps = deps_of(tmp_path)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    assert evaluator.check(candidate(FIRST)) is None
    assert {game["kind"] for game in deps.games.all()} == {"smoke"}
    assert set(evaluator.run.ratings.estimates("champ")) == {"champ"}


@pytest.mark.long
def test_final_measures_against_a_gauntlet_from_held_out_openings(tmp_path):
    deps = deps_of(tmp_path)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings(gauntlet=12))
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    champ, first = deps.journal["champ"], deps.journal["first"].model_copy(update={"operator": "build"})
    at_zero, below = evaluator.final([champ, first])
    assert (at_zero.metric, at_zero.interval) == (0.0, None)
    assert below.metric < 0 and below.interval[0] < below.metric < below.interval[1]
    assert "95 %" in below.claim and below.head_to_head["wins_draws_losses"]
    rated = {tuple(game["opening"]) for game in deps.games.all() if game["kind"] == "rated"}
    final = [game for game in deps.games.all() if game["kind"] == "final"]
    assert final and not rated & {tuple(game["opening"]) for game in final}
    rivals = {name for game in final for name in (game["white"], game["black"])} - {"champ", "first"}
    assert rivals == {"gauntlet:line counter 3", "gauntlet:rollouts 120"}


@pytest.mark.parametrize("limit", ["nodes:50", "movetime:20"])
def test_the_final_part_warns_of_a_winner_that_does_not_count_its_nodes(tmp_path, capsys, limit):
    """Nobody counts them but the engine: one that searched for seconds won Elo, and no reader of the run was told."""
    evaluator = ArenaEvaluator(deps := deps_of(tmp_path), SPEC, four_settings(gauntlet=2, limit=MoveLimit.parse(limit)))
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    slow = LAST.replace("last", "deaf").replace("return", "import time; time.sleep(0.15); return", 1)
    assert slow.count("sleep") == 1
    evaluator.final([candidate(slow)])
    told = capsys.readouterr().err
    warned = "deaf took " in told and f"{limit} is not the same effort for both" in told
    assert warned == limit.startswith("nodes"), told


def test_the_final_part_plays_what_its_time_allows(tmp_path, capsys):
    """The winner's first opening always; then whole openings, the winner's before the baselines', and it is told."""
    now, doing = [0.0], []
    jobs = DirectJobs(InProcessSandbox(), tmp_path)
    deps = replace(deps_of(tmp_path, jobs=jobs), allowance=Allowance(lambda: now[0]), doing=doing.append)
    evaluator = ArenaEvaluator(deps, SPEC, four_settings(gauntlet=12))
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    first, last = (deps.journal[name].model_copy(update={"operator": "build"}) for name in ("first", "last"))
    play, before = jobs.run, len(jobs.played)

    def run(spec):
        now[0] += 3.2
        return play(spec)

    deps.allowance.begin(100)
    jobs.run = run
    winner, other = evaluator.final([first, last])
    assert len(jobs.played) - before == 10, "30 s"
    assert winner.games == 8 and winner.head_to_head is None and other is None
    assert doing[-1].endswith(", at most 30 s in all: 60 of 60 games"), doing[-1]
    assert "the final part has 10 games" in capsys.readouterr().err


def test_a_fork_without_games_measures_from_the_champions_own_metric(tmp_path):
    deps = deps_of(tmp_path / "one")
    evaluator = ArenaEvaluator(deps, SPEC, four_settings())
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    stronger = with_constants(SPEC.anchor.code, {"EXTENSION": 6, "WIN_FIRST": True})
    (verdict,) = evaluator.evaluate([candidate(stronger)])
    champion = candidate(stronger).model_copy(
        update={
            "metric_value": 150.0,
            "tournament": verdict.tournament.model_copy(update={"promoted": ("new", "first")}),
        }
    )
    forked = deps_of(tmp_path / "two")
    for node in [*deps.journal, champion]:
        forked.journal.append(node)
    (after,) = ArenaEvaluator(forked, SPEC, four_settings()).evaluate([candidate(LAST.replace("last", "x"), "next", 2)])
    row = next(row for row in after.tournament.standings if row["node_id"] == "new")
    assert row["elo"] == 150.0 and after.metric < 150.0


@pytest.mark.long
@pytest.mark.parametrize("rule", ["los", "sprt"])
def test_careful_promotion_in_a_whole_tournament(tmp_path, rule):
    book = RecordingBook()
    deps = deps_of(tmp_path, book=book)
    settings = four_settings(promotion=rule, openings=3)
    evaluator = ArenaEvaluator(deps, SPEC, settings)
    commit(deps, baselines(), evaluator.evaluate(baselines()))
    before = len(deps.games.all())
    stronger = with_constants(SPEC.anchor.code, {"EXTENSION": 6, "WIN_FIRST": True})
    (verdict,) = evaluator.evaluate([candidate(stronger)])
    decision = verdict.tournament.decision
    assert decision["rule"] == rule and verdict.tournament.promoted[0] in ("champ", "new")
    if rule == "sprt":
        assert sum(decision["pentanomial"]) > 3, "a test of three pairs is undecided: more are played"
        assert len(deps.games.all()) - before > 18
    told = len(book.events)
    again = ArenaEvaluator(deps, SPEC, settings).evaluate([candidate(stronger)])
    assert again == [verdict] and len(book.events) == told


def test_writers_are_told_the_games_that_those_who_lead_did_not_win_and_the_time_of_moves(tmp_path):
    deps = deps_of(tmp_path)
    arena = ArenaEvaluator(deps, SPEC, four_settings())
    verdict = arena.evaluate(baselines())[0].tournament
    by_id = {row["node_id"]: row for row in verdict.standings}
    champion, rival = (by_id[id_]["name"] for id_ in verdict.promoted)
    met = next(row for row in verdict.crosstable if {row["a"], row["b"]} == set(verdict.promoted))
    assert met["wins"] + met["losses"] > 0 and verdict.games
    for told in verdict.games:
        head, moves = told.split("\n")
        assert head.startswith((f"{champion} (moving ", f"{rival} (moving ")), head
        assert (
            head.endswith("four_in_a_row") and moves.startswith("(1. ") and "{" not in moves
        )  # no engine told a score
    (line,) = verdict.times
    assert line == "champ, first, last: in the mean a move took under 10 % of its time"


def test_a_told_game_holds_what_the_loser_thought_from_its_own_view_and_a_forfeit_says_why():
    kept = {
        "white": "a", "black": "b", "names": ["A", "B"], "opening": ["4", "4"], "moves": ["1", "2", "1", "2"],
        "scores": [12.0, 30.0, None, -99_996.0], "depths": [3, 8, None, 9], "a_move": [0.5, 4.9], "result": "1-0",
        "termination": "crash", "message": "KeyError: 7",
    }  # fmt: skip
    (told,) = told_games(SPEC.game, [kept, kept], ("a", "b"))
    assert told == "B (moving second) lost to A, crash: KeyError: 7\n(1. 4 4) 2. 1 2{-0.30/8} 3. 1 2{#2/9}"
    (drawn,) = told_games(SPEC.game, [{**kept, "result": "1/2-1/2", "message": ""}], ("a", "b"))
    assert drawn == "A (moving first) drew with B, crash\n(1. 4 4) 2. 1{+0.12/3} 2 3. 1 2"
    times = told_times([kept], MoveLimit.parse("nodes:9"), 5.0, {"a": "A", "b": "B", "c": "C"})
    assert list(times) == [
        "A: in the mean a move took 10 to 25 % of its time", "B: in the mean a move took over 90 % of its time",
    ]  # fmt: skip
