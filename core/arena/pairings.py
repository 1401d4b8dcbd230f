"""Who meets whom, from which openings, with which seed: the games of a tournament, each with the key that names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations

from core.arena.match import Engine, Match
from core.arena.spec import ArenaSettings, ArenaSpec
from core.state.fingerprint import text_hash
from core.state.task import derive_seed


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game that is to be played."""

    key: str
    """Names the game by all that decides it: both programs, opening, limit, seed, kind."""
    match: Match


def round_robin(
    engines: Sequence[Engine],
    openings: Sequence[tuple[str, ...]],
    *,
    games: int,
    seed: int,
    spec: ArenaSpec,
    settings: ArenaSettings,
    kind: str = "rated",
) -> list[Pairing]:
    """Every pair from every opening, each colour `games / 2` times, in an order that is a function of the arguments."""
    pairs = list(combinations(engines, 2))
    return meetings(pairs, openings, games=games, seed=seed, spec=spec, settings=settings, kind=kind)


def meetings(
    pairs: Sequence[tuple[Engine, Engine]],
    openings: Sequence[tuple[str, ...]],
    *,
    games: int,
    seed: int,
    spec: ArenaSpec,
    settings: ArenaSettings,
    kind: str,
) -> list[Pairing]:
    """The given pairs from every opening, each colour `games / 2` times."""
    pairings = []
    for opening in openings:
        for repetition in range(max(1, games // 2)):
            game_seed = derive_seed(seed, "game", " ".join(opening), repetition) % 2**32
            for first, second in pairs:
                for white, black in ((first, second), (second, first)):
                    match = Match(
                        game=spec.entry,
                        prelude=spec.prelude,
                        inputs=None if spec.inputs is None else str(spec.inputs),
                        white=white,
                        black=black,
                        opening=opening,
                        limit=str(settings.limit),
                        deadline=settings.deadline,
                        seed=game_seed,
                        adjudication=settings.adjudication,
                        limits=settings.session,
                    )
                    pairings.append(Pairing(game_key(match, kind), match))
    return pairings


def game_key(match: Match, kind: str) -> str:
    """24 hex digits, a function of programs, opening, limits and seed: what a resumed run looks a game up by."""
    programs = [text_hash(_program(engine)) for engine in (match.white, match.black)]
    facts = [kind, match.game, *programs, " ".join(match.opening)]
    facts += [match.limit, str(match.deadline), str(match.seed), match.adjudication.model_dump_json()]
    return blake2b("\n".join(facts).encode(), digest_size=12).hexdigest()


def _program(engine: Engine) -> str:
    """What plays: the source, or the command with its options."""
    return engine.code or "\n".join([*engine.command, *(f"{name}={value}" for name, value in engine.options)])


def names_of(engines: Sequence[Engine]) -> Mapping[str, str]:
    """Engine id → name, or the id where it has none."""
    return {engine.id: engine.name or engine.id for engine in engines}
