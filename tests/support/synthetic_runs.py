"""Writes realistic runs of the three families through the real store, without a search: material for views and tests.

Also a program: `python tests/support/synthetic_runs.py FOLDER [NODES]` writes one run of each family below FOLDER/logs.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.contracts import CallRecord
from core.events import (
    BaselineScored,
    BuilderCompleted,
    Event,
    FinalScored,
    GameFinished,
    GameMove,
    GameStarted,
    GenerationFinished,
    GenerationStarted,
    IslandMigrated,
    NodeCommitted,
    RunFinished,
    RunStarted,
    StageDone,
    StrategistQuestion,
    Warned,
)
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.task import Task, derive_seed, node_id
from core.storage.repository import RunStore

CODE = """import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
features = [c for c in train.columns if c not in ("id", "target")]

model = make_pipeline(StandardScaler(), Ridge(alpha={alpha}))
model.fit(train[features], train["target"])
{extra}
test["target"] = model.predict(test[features])
test[["id", "target"]].to_csv("submission/submission.csv", index=False)
print("done <script>alert(1)</script>")
"""
PROBES = [{"name": name, "ok": True, "detail": ""} for name in ("network", "files outside", "memory limit")]
FAILURES = [FailureKind.RUNTIME, FailureKind.TIMEOUT, FailureKind.BAD_SUBMISSION, FailureKind.MEMORY]


class Clock:
    """The time of events: each a little later than the one before."""

    def __init__(self, step: float = 0.4) -> None:
        self.now = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
        self.step = timedelta(seconds=step)

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now


class SyntheticRun:
    """A run's store, filled step by step: `begin`, any number of `step`, `end`."""

    def __init__(
        self, run_dir: Path, problem: str, *, lower: bool, policy: str, seed: int = 1, step: float = 0.4
    ) -> None:
        self.store = RunStore(run_dir, clock=Clock(step))
        self.run = run_dir.name
        self.problem, self.lower, self.policy = problem, lower, policy
        self.seed = seed
        self.rng = random.Random(seed)
        self.nodes: list[Node] = []
        self.good: list[Node] = []
        self.best: Node | None = None
        self.champion: Node | None = None
        (run_dir / "run.lock").write_text(f"{os.getpid()}\n")

    def begin(self, **extra: Any) -> None:
        facts = {
            "run": self.run,
            "problem": self.problem,
            "family": {"three_phase": "competition", "islands": "heuristic", "generations": "arena"}[self.policy],
            "unit": "rmse" if self.lower else "score",
            "lower_is_better": self.lower,
            "status": "running",
            "started_at": "2026-01-05T09:30:00+00:00",
            "writer": "rules",
            "sandbox": {"tier": "bubblewrap", "probes": PROBES},
            "environment": {"python": "3.12.4", "cpus": 2},
            "config": {"search": {"policy": self.policy, "max_steps": 60}, "llm": {"code": {"api_key": "********"}}},
            "baselines": [
                {
                    "name": "mean",
                    "node_id": "0a" * 6,
                    "metric": 77.1 if self.lower else 0.1,
                    "failure": None,
                    "final": None,
                }
            ],
        }
        for key, value in facts.items():
            self.store.put_fact(key, value)
        self.store.append(
            [
                RunStarted(
                    run=self.run, problem=self.problem, lower_is_better=self.lower, unit=str(facts["unit"]),
                    writer="rules", policy=self.policy, sandbox="bubblewrap", max_steps=60,
                    budget={"seconds": 600.0, "usd": 5.0, "tokens": None}, **extra,
                ),
                BaselineScored(name="mean", node_id="ba5e11ae0001", metric=77.1 if self.lower else 0.1),
            ]
        )  # fmt: skip

    def step(self, *, generation: int | None = None, island: int | None = None, code: str | None = None) -> Node:
        """Propose, write, run and commit one node."""
        node = self.propose(generation=generation, island=island, code=code)
        return self.commit(node)

    def propose(self, *, generation: int | None = None, island: int | None = None, code: str | None = None) -> Node:
        number = len(self.nodes)
        operator, parents = self._choice(island)
        name = node_id(self.seed, number, 0)
        task = Task(
            node_id=name, operator=operator, parent_ids=tuple(p.id for p in parents), round=number, slot=0,
            generation=generation, island=island, seed=derive_seed(self.seed, number),
        )  # fmt: skip
        why = {"rule": "greedy", "candidates": [{"id": p.id, "metric": p.metric_value} for p in parents]}
        self.store.open_round([task], [why])
        self.store.save_call(
            CallRecord(
                request_hash=name, sample=f"{self.seed}/{name}/code/0", node_id=name, provider="rules", model="rules",
                system="# Role\nYou write programs.\n", user=f"# Task\nPredict <b>target</b>.\n\n## Parent\n{number}\n",
                reply=f"Raise alpha.\n```python\nalpha = {number}\n```", finish_reason="stop", seconds=0.02,
            )
        )  # fmt: skip
        self.store.save_stage(name, "reply", {"n": 1}, [StageDone(node_id=name, stage="reply", seconds=0.02)])
        extra = "\n".join(f"# note {k}: tried feature {k * number % 7}" for k in range(self.rng.randrange(1, 5)))
        return Node(
            id=name, code=code or CODE.format(alpha=number / 10, extra=extra), plan=f"Alpha {number}. <img src=x>",
            operator=operator, parent_ids=tuple(p.id for p in parents), generation=generation, island=island,
            writer="rules", step=number,
        )  # fmt: skip

    def commit(self, node: Node) -> Node:
        metric, failure = self._verdict(node)
        duplicate = failure is None and self.rng.random() < 0.05
        node = node.model_copy(
            update={
                "metric_value": None if duplicate else metric,
                "metric_source": None if metric is None or duplicate else "verified",
                "claimed_metric": None if metric is None else round(metric * self.rng.choice([1, 1, 0.9]), 4),
                "failure": failure,
                "is_buggy": failure is not None,
                "is_valid": not duplicate,
                "lower_is_better": self.lower,
                "fitness": None if metric is None or duplicate else (-metric if self.lower else metric),
                "exec_time": round(self.rng.uniform(0.3, 3.0), 3),
                "term_out": "fold 1 ok\nfold 2 ok\n"
                if failure is None
                else "Traceback (most recent call last):\n  …\n",
                "analysis": "The run looks sound.",
                "parent_id": node.parent_ids[0] if node.parent_ids else None,
                "message": f"{failure.value}: line 12" if failure else "",
                "stages": {"prompt": 0.001, "reply": 0.02, "execute": 1.2},
                "duplicate_of": self.nodes[0].id if duplicate and self.nodes else None,
            }
        )
        is_best = node.is_scored and (self.best is None or (node.fitness or 0) > (self.best.fitness or 0))
        if is_best:
            self.best = node
        self.nodes.append(node)
        if node.is_scored:
            self.good.append(node)
        self.store.commit([node], [self._committed(node, is_best)])
        return node

    def end(self, status: str = "finished") -> None:
        best = self.best
        self.store.put_fact("status", status)
        if best and best.metric_value is not None:
            self.store.append([FinalScored(node_id=best.id, metric=best.metric_value * 1.01, interval=(50.1, 58.2))])
            self.store.put_fact(
                "final", {"node_id": best.id, "metric": best.metric_value * 1.01, "interval": [50.1, 58.2]}
            )
        self.store.append(
            [
                RunFinished(
                    status=status, reason="max_steps", best_node_id=best.id if best else None,  # type: ignore[arg-type]
                    best_metric=best.metric_value if best else None, steps=len(self.nodes),
                )
            ]
        )  # fmt: skip

    def finish(self) -> None:
        """A run that ended, its store closed."""
        self.end()
        self.close()

    def close(self) -> None:
        self.store.close()

    def _choice(self, island: int | None) -> tuple[Any, list[Node]]:
        pool = [n for n in self.good if island is None or n.island == island]
        buggy = [n for n in self.nodes[-6:] if n.is_buggy and (island is None or n.island == island)]
        if len(self.nodes) < 5 or not pool:
            return ("draft" if island is None else "generate"), []
        if buggy and self.rng.random() < 0.4 and island is None:
            return "debug", [self.rng.choice(buggy)]
        if self.rng.random() < 0.15 and len(pool) > 2:
            return ("merge" if island is None else "crossover"), self.rng.sample(pool, 2)
        ranked = sorted(pool, key=lambda n: -(n.fitness or 0))
        return ("improve" if island is None else "mutate"), [self.rng.choice(ranked[:4] + pool[-3:])]

    def _verdict(self, node: Node) -> tuple[float | None, FailureKind | None]:
        if self.rng.random() < 0.2:
            return None, self.rng.choice(FAILURES)
        progress = len(self.nodes) ** 0.5
        value = (
            62 - 1.1 * progress + self.rng.gauss(0, 1.6)
            if self.lower
            else 0.4 + 0.03 * progress + self.rng.gauss(0, 0.04)
        )
        return round(value, 5), None

    def _committed(self, node: Node, is_best: bool) -> NodeCommitted:
        best = self.best
        return NodeCommitted(
            node_id=node.id, step=node.step, parent_ids=list(node.parent_ids), operator=node.operator,
            generation=node.generation, island=node.island, metric=node.metric_value, metric_source=node.metric_source,
            claimed_metric=node.claimed_metric, is_buggy=node.is_buggy, is_valid=node.is_valid, failure=node.failure,
            message=node.message, exec_time=node.exec_time, writer=node.writer,
            is_best=is_best,
            best_metric=best.metric_value if best else None, best_node_id=best.id if best else None,
            elapsed=1.4 * (node.step + 1),
        )  # fmt: skip


def competition(logs: Path, steps: int = 60, run: str = "competition-demo", **options: Any) -> SyntheticRun:
    made = SyntheticRun(logs / run, "competition/diabetes", lower=True, policy="three_phase", **options)
    made.begin()
    for number in range(steps):
        node = made.step()
        if number == 7:
            made.store.append([Warned(text="claimed metric differs from the verified one", node_id=node.id)])
    return made


def bin_packing(logs: Path, generations: int = 12, run: str = "bin_packing-demo", **options: Any) -> SyntheticRun:
    made = SyntheticRun(logs / run, "bin_packing/weibull_5k", lower=True, policy="islands", **options)
    made.begin()
    for generation in range(generations):
        made.store.append([GenerationStarted(generation=generation)])
        for island in range(3):
            for _ in range(4):
                made.step(generation=generation, island=island)
        if generation % 4 == 3 and made.best:
            made.store.append([IslandMigrated(generation=generation, moves=[(made.best.id, made.best.island or 0, 2)])])
        made.store.append([GenerationFinished(generation=generation)])
    return made


def arena(
    logs: Path,
    generations: int = 3,
    run: str = "chess-demo",
    kind: str = "chess_engines",
    plies: int = 60,
    **options: Any,
) -> SyntheticRun:
    made = SyntheticRun(logs / run, kind, lower=False, policy="generations", **options)
    made.begin(max_generations=generations)
    for generation in range(generations):
        for _ in arena_generation(made, generation, kind, plies):
            pass
    made.best = made.champion  # the title decides, not the rating
    return made


def arena_generation(made: SyntheticRun, generation: int, kind: str, plies: int = 60) -> Iterator[Event]:
    """One generation, told move by move: champion, two challengers, a round-robin."""
    champions = sorted(made.good, key=lambda n: -(n.fitness or 0))[:2]
    champion = champions[0].id if champions else None
    made.store.append([GenerationStarted(generation=generation, champion=champion)])
    for index, category in enumerate(("search", "evaluation")):
        question = StrategistQuestion(
            generation=generation,
            index=index,
            category=category,
            question=f"What if {category} looked deeper? <b>now</b>",
        )
        made.store.append([question])
    built = []
    while len(built) < 2:
        node = made.step(generation=generation)
        if node.is_scored:
            built.append(node)
            made.store.append([BuilderCompleted(generation=generation, node_id=node.id, name=f"engine-{node.step}")])
    players = [*champions, *built]
    pairs = [(a, b) for i, a in enumerate(players) for b in players[i + 1 :]]
    tally = {node.id: [0, 0, 0] for node in players}
    for number, (white, black) in enumerate(pairs):
        yield from play(made, f"g{generation}-{number}", white.id, black.id, kind, plies, tally)
    ratings = []
    for node in players:
        wins, draws, losses = tally[node.id]
        games = wins + draws + losses or 1
        elo = round(400 * ((wins + draws / 2) / games - 0.5), 1)
        ratings.append(
            {"node_id": node.id, "name": f"engine-{node.step}", "elo": elo, "low": elo - 60, "high": elo + 60,
             "wins": wins, "draws": draws, "losses": losses, "score": wins + draws / 2}
        )  # fmt: skip
    ratings.sort(key=lambda r: -r["elo"])
    promoted = [r["node_id"] for r in ratings[:2]]
    made.champion = next(node for node in players if node.id == promoted[0])
    made.store.append(
        [GenerationFinished(generation=generation, ratings=ratings, promoted=promoted, decision={"rule": "argmax"})]
    )


def play(
    made: SyntheticRun, game_id: str, white: str, black: str, kind: str, plies: int, tally: dict[str, list[int]]
) -> Iterator[Event]:
    """A game of random legal moves by the real rules, one event at a time."""
    game = _game(kind)
    state = game.initial(())
    started = GameStarted(game_id=game_id, game=game.name, white=white, black=black, start=game.text(state))
    made.store.append([started])
    yield started
    clock, sans, ply = [60.0, 60.0], [], 0
    while game.outcome(state) is None and ply < plies:
        move = made.rng.choice(list(game.legal(state)))
        san, side = game.san(state, move), game.to_move(state)
        state = game.apply(state, move)
        ply += 1
        clock[side] = round(clock[side] - made.rng.uniform(0.05, 0.6), 2)
        sans.append(san)
        told = GameMove(
            game_id=game_id, ply=ply, uci=move, san=san, fen=game.text(state), clock=(clock[0], clock[1]), seconds=0.1
        )
        made.store.append([told])
        yield told
    result, how = game.outcome(state) or (by_material(game.text(state)), "adjudication")
    body = " ".join(f"{i // 2 + 1}. {san}" if i % 2 == 0 else san for i, san in enumerate(sans))
    pgn = f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{body} {result}\n'
    ended = GameFinished(
        game_id=game_id, game=game.name, white=white, black=black, result=result, termination=how, plies=ply, pgn=pgn
    )
    made.store.put(game_id, {"white": white, "black": black, "result": result, "pgn": pgn}, [ended])
    for node, won, lost in ((white, "1-0", "0-1"), (black, "0-1", "1-0")):
        tally[node][0 if result == won else 2 if result == lost else 1] += 1
    yield ended


def by_material(fen: str) -> str:
    """The result that the pieces left on the board suggest; material of more than a pawn decides."""
    worth = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}
    balance = sum((1 if sign.isupper() else -1) * worth.get(sign.lower(), 0) for sign in fen.split()[0])
    return "1-0" if balance > 1 else "0-1" if balance < -1 else "1/2-1/2"


def _game(kind: str) -> Any:
    if kind == "chess_engines":
        from problems.chess_engines.game import Chess

        return Chess()
    from problems.connect_four.game import ConnectFour

    return ConnectFour()


def write_all(logs: Path, steps: int = 60) -> list[str]:
    """One finished run of each family; returns their ids."""
    makers: list[Callable[[], SyntheticRun]] = [
        lambda: competition(logs, steps),
        lambda: bin_packing(logs, seed=2),
        lambda: arena(logs, seed=3),
        lambda: arena(logs, run="connect_four-demo", kind="connect_four", seed=4),
    ]
    names = []
    for make in makers:
        made = make()
        made.finish()
        names.append(made.run)
    return names


if __name__ == "__main__":
    print(write_all(Path(sys.argv[1]) / "logs", int(sys.argv[2]) if len(sys.argv) > 2 else 60))
