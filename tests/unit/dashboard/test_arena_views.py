"""Games as the API tells them: each of the generation that it was played for, as the page has it."""

from __future__ import annotations

from contextlib import closing

from core.events import GameFinished, GameStarted, GenerationFinished, GenerationStarted
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from dashboard.server.arena_views import game_detail, game_page


def game(id_: str, white: str = "a", black: str = "b") -> list[GameStarted | GameFinished]:
    return [
        GameStarted(game_id=id_, game="connect_four", white=white, black=black, start=""),
        GameFinished(
            game_id=id_, game="connect_four", white=white, black=black, result="1-0", termination="crash", plies=0
        ),
    ]


def test_a_game_is_of_the_generation_that_goes_on_and_the_final_part_is_of_none(tmp_path):
    told = [
        *game("first"), GenerationFinished(generation=0),
        GenerationStarted(generation=1), *game("gate", "a", "sparring"), *game("round"),
        GenerationFinished(generation=1),
        *game("final"), GenerationStarted(generation=2), *game("later"),
    ]  # fmt: skip
    with closing(RunStore(tmp_path)) as store:
        store.append(told)
    wanted = {"first": 0, "gate": 1, "round": 1, "final": None, "later": 2}
    with RunReader(tmp_path) as reader:
        page = game_page(reader, offset=0, limit=9, engine=None, generation=None)
        assert {row.game_id: row.generation for row in page.games} == wanted
        for name, generation in wanted.items():
            found = game_detail(reader, name)
            assert found is not None and found.generation == generation
        of_first = game_page(reader, offset=0, limit=9, engine=None, generation=1)
        assert [row.game_id for row in of_first.games] == ["round", "gate"] and of_first.total == 2
