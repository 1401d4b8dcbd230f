"""The claim: how much stronger than the starting champion, by games that selection never saw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.arena.arena_run import ArenaRun
from core.arena.match import Engine, engine_of
from core.arena.standings import Crosstable, Played, Ratings
from core.arena.tournament import meetings
from core.contracts import Evaluation, FinalEvaluation
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from utils.clean_text import one_line
from utils.stats import Estimate

NAME = 32
"""Characters of an engine's name, which is its own word."""


def final_evaluations(run: ArenaRun, nodes: Sequence[Node]) -> list[Evaluation | None]:
    """One verdict a node: Elo above the anchor, both measured against the gauntlet; None without an anchor.

    Openings come from the held-out part and the gauntlet's engines play in no tournament. The direct match of what the
    search wrote against the anchor, also from held-out openings, stands beside it in `head_to_head`.
    """
    anchor = run.anchor(nodes)
    if anchor is None or not run.spec.gauntlet:
        return [None for _ in nodes]
    return [_final(run, engine_of(node), engine_of(anchor), duel=node.operator not in FREE_OPERATORS) for node in nodes]


def _final(run: ArenaRun, engine: Engine, anchor: Engine, *, duel: bool) -> Evaluation:
    gauntlet = [Engine(id=f"gauntlet:{b.name}", name=b.name, code=b.code) for b in run.spec.gauntlet]
    if engine.code == anchor.code:
        return Evaluation(metric=0.0, source=run.source, message="it is the starting champion")
    rounds = max(1, run.settings.gauntlet // (2 * len(gauntlet)))
    openings = run.openings(max(rounds, run.settings.gauntlet // 2), "final", held_out=True)
    against = [(player, rival) for player in (engine, anchor) for rival in gauntlet]
    name = one_line(engine.name, NAME)
    both = f"{name} and the starting champion against the gauntlet"
    measured = _play(run, against, openings[:rounds], f"final part, {both}")
    estimate = _difference(measured, engine.id, anchor.id)
    everyone = Crosstable([engine.id, anchor.id, *(rival.id for rival in gauntlet)], measured)
    elo = round(estimate.elo) + 0.0  # never "-0"
    text = f"{elo:+.0f} Elo (95 % {estimate.low:+.0f}..{estimate.high:+.0f})"
    metadata: dict[str, Any] = {
        "gauntlet": [rival.name for rival in gauntlet],
        "wins_draws_losses": list(everyone.total(engine.id)),
        "anchor_wins_draws_losses": list(everyone.total(anchor.id)),
    }
    stage = f"final part, match of {name} and the starting champion"
    direct = _play(run, [(engine, anchor)], openings[: max(1, run.settings.gauntlet // 2)], stage) if duel else None
    return FinalEvaluation(
        metric=round(estimate.elo, 1) + 0.0,
        source=run.source,
        interval=(round(estimate.low, 1), round(estimate.high, 1)),
        message=f"{text} above the starting champion, {len(measured)} fresh games against a fixed gauntlet",
        claim=text,
        games=len(measured),
        head_to_head=_head_to_head(direct, engine.id, anchor.id) if direct is not None else None,
        metadata=metadata,
    )


def _head_to_head(games: Sequence[Played], player: str, anchor: str) -> dict[str, Any]:
    """What the direct match says, by pairs of games."""
    table = Crosstable([player, anchor], games)
    estimate = table.head_to_head(player, anchor)
    return {
        "wins_draws_losses": list(table.total(player)),
        "pentanomial": list(table.pentanomial(player, anchor)),
        "los": round(table.los(player, anchor), 4),
        "elo": _finite(estimate.elo),
        "low": _finite(estimate.low),
        "high": _finite(estimate.high),
    }


def _play(
    run: ArenaRun, pairs: Sequence[tuple[Engine, Engine]], openings: Sequence[tuple[str, ...]], stage: str
) -> list[Played]:
    pairings = meetings(pairs, openings, games=2, seed=run.seed + 1, spec=run.spec, settings=run.settings, kind="final")
    return [Played.of(game) for game in run.tournament.play(pairings, kind="final", stage=stage)]


def _difference(games: Sequence[Played], player: str, anchor: str) -> Estimate:
    """Elo of `player` above `anchor` from games of both against the same rivals."""
    return Ratings(games).estimates(anchor)[player]


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return round(value, 1) if math.isfinite(value) else None
