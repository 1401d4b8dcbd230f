"""Games that begin while other engines of the round are written: the same games, and the same verdicts."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
from arena_support import FIRST, LAST, DirectJobs, InProcessSandbox, RecordingBook, engine, four_settings, four_spec
from arena_support import make_deps as deps_of

from core.arena.evaluator import ArenaEvaluator
from core.state.node import Node
from core.state.task import Task

SPEC = four_spec()
MIDDLE = engine("return position.legal_moves[len(position.legal_moves) // 2]", "middle")
SECOND = engine("return position.legal_moves[-2:][0]", "second")


class Jobs(DirectJobs):
    """Plays on two workers; games wait while the gate is shut."""

    slots = 2

    def __init__(self, root):
        super().__init__(InProcessSandbox(), root)
        self.gate = threading.Event()
        self.gate.set()

    def run(self, spec):
        assert self.gate.wait(30)
        return super().run(spec)


def crowned(tmp_path, name):
    """An arena whose starting engines are judged: (its evaluator, deps, jobs)."""
    root = tmp_path / name
    jobs = Jobs(root)
    deps = deps_of(root, book=RecordingBook(), jobs=jobs)
    judge = ArenaEvaluator(deps, SPEC, four_settings())
    codes = {"champ": SPEC.anchor.code, "first": FIRST, "last": LAST}
    founders = [Node(id=n, code=code, operator="baseline", name=n, slot=i) for i, (n, code) in enumerate(codes.items())]
    commit(deps, founders, judge.evaluate(founders))
    return judge, deps, jobs


def commit(deps, nodes, verdicts):
    for node, verdict in zip(nodes, verdicts, strict=True):
        update = {"metric_value": verdict.metric, "name": verdict.name or node.name, "tournament": verdict.tournament}
        deps.journal.append(node.model_copy(update=update))


def built(id_, code, slot):
    return Node(id=id_, code=code, operator="build", generation=1, slot=slot, parent_ids=("champ",))


def tasks_of(nodes):
    return [Task(node_id=n.id, operator="build", round=1, slot=n.slot, generation=1, seed=n.slot) for n in nodes]


def ended(judge):
    for waits in judge._ahead.stop().values():
        waits()


def told(verdicts):
    return [verdict.model_dump(mode="json") for verdict in verdicts]


def ids_of(book):
    return {(game["white"], game["black"]) for game in book.all() if game["generation"] == 1}


def test_those_who_are_there_play_while_another_is_written(tmp_path, eventually):
    judge, deps, _ = crowned(tmp_path, "a")
    a, b, _ = nodes = [built("a", MIDDLE, 0), built("b", SECOND, 1), built("c", engine("return '1'"), 2)]
    judge.expect(tasks_of(nodes))
    judge.look_ahead(a)
    judge.look_ahead(b)
    rivals = {"champ", "a", "b", *judge.run.promoted}
    pairs = len(rivals) * (len(rivals) - 1) // 2 - 1  # champion and runner-up wait for the round
    eventually(lambda: len([g for g in deps.games.all() if g["generation"] == 1]) == pairs * 4)
    assert not any("c" in pair for pair in ids_of(deps.games))
    verdicts = judge.evaluate(nodes)
    alone, other, _ = crowned(tmp_path, "alone")
    alone.expect(tasks_of(nodes))
    assert told(verdicts) == told(alone.evaluate(nodes))
    assert {g["key"] for g in deps.games.all()} == {g["key"] for g in other.games.all()}


def test_what_is_played_when_the_round_is_judged_is_waited_for_and_not_played_again(tmp_path):
    judge, deps, jobs = crowned(tmp_path, "a")
    nodes = [built("a", MIDDLE, 0), built("b", SECOND, 1)]
    judge.expect(tasks_of(nodes))
    jobs.gate.clear()
    for node in nodes:
        judge.look_ahead(node)
    threading.Timer(0.3, jobs.gate.set).start()
    before = len(jobs.played)
    judge.evaluate(nodes)
    assert len(jobs.played) - before == len([g for g in deps.games.all() if g["generation"] == 1])


@pytest.mark.parametrize("twin", [MIDDLE, MIDDLE + "\n# the same\n"])
def test_who_comes_first_decides_nothing(tmp_path, twin):
    """Slot 1 repeats slot 0, whoever was written first; the rating of a later process knows the same games."""
    found = []
    for number, order in enumerate(permutations(range(3))):
        judge, deps, _ = crowned(tmp_path, str(number))
        nodes = [built("a", MIDDLE, 0), built("b", twin, 1), built("c", SECOND, 2)]
        judge.expect(tasks_of(nodes))
        for place in order:
            judge.look_ahead(nodes[place])
        ended(judge)
        rung = "text" if twin == MIDDLE else "ast"
        sound = [nodes[0], nodes[2]]
        verdicts = judge.evaluate(sound)
        commit(deps, sound[:1], verdicts[:1])
        deps.journal.append(nodes[1].model_copy(update={"duplicate_of": "a", "rung": rung}))
        commit(deps, sound[1:], verdicts[1:])
        judge.close()
        later = ArenaEvaluator(deps, SPEC, four_settings())
        assert later.run.ratings.estimates("champ") == judge.run.ratings.estimates("champ")
        found.append(told(verdicts))
    assert all(verdicts == found[0] for verdicts in found)


def test_two_engines_with_one_program_play_their_smoke_match_once(tmp_path):
    """Both are looked at as they come; whoever comes second finds the game in the book, under its own name."""
    judge, deps, jobs = crowned(tmp_path, "a")
    cheat = engine("return '9'")
    nodes = [
        built(name, code, slot)
        for slot, (name, code) in enumerate((("a", MIDDLE), ("b", MIDDLE), ("c", cheat), ("d", cheat)))
    ]
    jobs.gate.clear()
    threading.Timer(0.3, jobs.gate.set).start()
    with ThreadPoolExecutor(4) as pool:
        refused = [verdict and verdict.failure for verdict in pool.map(judge.check, nodes)]
    assert refused == [None, None, "illegal_move", "illegal_move"]
    told = Counter(event.game_id for event in deps.games.of("game.finished"))
    assert len([game for game in deps.games.all() if game["kind"] == "smoke"]) == 4 and set(told.values()) == {1}


def test_openings_hang_on_who_was_asked_and_not_on_who_failed(tmp_path):
    judge, deps, _ = crowned(tmp_path, "a")
    nodes = [built("a", MIDDLE, 0), built("b", "no engine", 1)]
    judge.expect(tasks_of(nodes))
    judge.look_ahead(nodes[0])
    ended(judge)
    judge.evaluate(nodes[:1])
    rivals = len({"a", *judge.run.promoted, "champ"})
    drawn = {tuple(game["opening"]) for game in deps.games.all() if game["generation"] == 1}
    assert len(drawn) == 2 and len(ids_of(deps.games)) <= rivals * (rivals - 1)


def test_an_arena_without_a_round_under_way_seats_nobody(tmp_path):
    judge, _, jobs = crowned(tmp_path, "a")
    before = len(jobs.played)
    judge.look_ahead(built("a", MIDDLE, 0))
    judge.close()
    assert len(jobs.played) == before
