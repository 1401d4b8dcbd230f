"""The claim: how much stronger than the starting champion, by games that selection never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.arena.arena_run import ArenaRun
from core.arena.match import Engine, engine_of
from core.arena.pairings import Pairing, meetings
from core.arena.standings import Crosstable, Played, Ratings
from core.arena.suitability import unequal
from core.contracts import Evaluation, FinalEvaluation
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from utils.counts import counted
from utils.logger_system import log_msg


@dataclass(frozen=True, slots=True)
class _Part:
    """The games that measure one engine."""

    engine: Engine
    gauntlet: list[Pairing]
    """Of it and of the anchor; [] where it is the anchor."""
    duel: list[Pairing]
    """Against the anchor, where the search wrote it."""


def final_evaluations(run: ArenaRun, nodes: Sequence[Node]) -> list[Evaluation | None]:
    """One verdict a node: Elo above the anchor, both measured against the gauntlet; None without an anchor.

    Openings come from the held-out part and the gauntlet's engines play in no tournament. The direct match of what the
    search wrote against the anchor, also from held-out openings, stands beside it in `head_to_head`. The first node's
    games come first: what the run's allowance has no time for is left out, whole openings of an engine, and told.
    """
    node = run.anchor(nodes)
    if node is None or not run.spec.gauntlet:
        return [None for _ in nodes]
    anchor = engine_of(node)
    parts = [_part(run, engine_of(node), anchor, duel=node.operator not in FREE_OPERATORS) for node in nodes]
    played = _play(run, parts)
    return [_final(run, part, anchor, played(part.gauntlet), played(part.duel)) for part in parts]


def _part(run: ArenaRun, engine: Engine, anchor: Engine, *, duel: bool) -> _Part:
    if engine.code == anchor.code:
        return _Part(engine, [], [])
    gauntlet = [Engine(id=f"gauntlet:{b.name}", name=b.name, code=b.code) for b in run.spec.gauntlet]
    rounds = max(1, run.settings.gauntlet // (2 * len(gauntlet)))
    openings = run.openings(max(rounds, run.settings.gauntlet // 2), "final", held_out=True)
    against = [(player, rival) for player in (engine, anchor) for rival in gauntlet]
    matches = _meetings(run, [(engine, anchor)], openings[: max(1, run.settings.gauntlet // 2)]) if duel else []
    return _Part(engine, _meetings(run, against, openings[:rounds]), matches)


def _final(
    run: ArenaRun, part: _Part, anchor: Engine, measured: Sequence[Played], direct: Sequence[Played]
) -> Evaluation | None:
    engine = part.engine
    if not part.gauntlet:
        return Evaluation(metric=0.0, source=run.source, message="it is the starting champion")
    rivals = [f"gauntlet:{rival.name}" for rival in run.spec.gauntlet]
    everyone = Crosstable([engine.id, anchor.id, *rivals], measured)
    estimate = Ratings(measured).estimates(anchor.id).get(engine.id)
    if estimate is None:
        return None
    for told in unequal(
        {one.name: run.tournament.effort.get(one.id, []) for one in (anchor, engine)}, run.settings.limit
    ):
        log_msg("WARNING", f"final part: {told}")
    if everyone.left_out:
        log_msg("INFO", f"final part, {everyone.left_out}")
    elo = round(estimate.elo) + 0.0  # never "-0"
    text = f"{elo:+.0f} Elo (95 % {estimate.low:+.0f}..{estimate.high:+.0f})"
    games = counted(len(everyone.games), "fresh game")
    metadata: dict[str, Any] = {
        "gauntlet": [rival.name for rival in run.spec.gauntlet],
        "wins_draws_losses": list(everyone.total(engine.id)),
        "anchor_wins_draws_losses": list(everyone.total(anchor.id)),
    }
    return FinalEvaluation(
        metric=round(estimate.elo, 1) + 0.0,
        source=run.source,
        interval=(round(estimate.low, 1), round(estimate.high, 1)),
        message=f"{text} above the starting champion, {games} against a fixed gauntlet",
        claim=text,
        games=len(everyone.games),
        head_to_head=_head_to_head(direct, engine.id, anchor.id) if direct else None,
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


def _meetings(
    run: ArenaRun, pairs: Sequence[tuple[Engine, Engine]], openings: Sequence[tuple[str, ...]]
) -> list[Pairing]:
    return meetings(pairs, openings, games=2, seed=run.seed + 1, spec=run.spec, settings=run.settings, kind="final")


def _play(run: ArenaRun, parts: Sequence[_Part]) -> Callable[[Sequence[Pairing]], list[Played]]:
    """Plays all parts side by side; gives the games of a match, those from openings that were not finished left out."""
    allowance = run.deps.allowance
    wanted = [pairing for part in parts for pairing in (*part.gauntlet, *part.duel)]
    first = {pairing.key for part in parts[:1] for pairing in part.gauntlet if _opens(part.gauntlet, pairing)}
    refused: set[str] = set()

    def may_begin(pairing: Pairing) -> bool:
        if pairing.key in first or allowance.left > 0:
            return True
        refused.add(pairing.key)
        return False

    stage = f"final part, gauntlet and matches with the starting champion{allowance.told}"
    games = run.tournament.play(wanted, kind="final", stage=stage, may_begin=may_begin)
    if refused:
        out = counted(len(refused), "was", "were")
        log_msg("WARNING", f"the final part has {counted(len(games), 'game')}; {out} left out{allowance.told}")
    known = {(game["key"], game["white"], game["black"]): Played.of(game) for game in games}

    def played(pairings: Sequence[Pairing]) -> list[Played]:
        cut = {pairing.match.opening for pairing in pairings if pairing.key in refused}
        whole = [pairing for pairing in pairings if pairing.match.opening not in cut]
        names = ((pairing.key, pairing.match.white.id, pairing.match.black.id) for pairing in whole)
        return [known[name] for name in names if name in known]

    return played


def _opens(pairings: Sequence[Pairing], pairing: Pairing) -> bool:
    return pairing.match.opening == pairings[0].match.opening


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return round(value, 1) if math.isfinite(value) else None
