"""One Elo an engine: its newest rating, on every surface that shows a run."""

from __future__ import annotations

from core.events import GenerationFinished
from core.state.findings import TournamentResult
from core.state.node import Node
from core.storage.reader import RunReader
from dashboard.server.nodes import node_detail, node_page
from dashboard.server.search_views import curve
from reports.candidates import candidate_rows
from reports.conclusion import conclusion_of
from reports.facts import read_facts
from reports.ratings import ratings_of
from reports.run_index import read_line
from runs.stored.reading import node_facts, run_facts


def node(id: str, metric: float, **fields) -> Node:
    return Node(id=id, metric_value=metric, metric_source="verified", code=f"x = '{id}'\n", writer="rules", **fields)


def rated(generation: int, promoted: list[str], **elos: float) -> GenerationFinished:
    rows = [
        {"node_id": name, "name": f"g.{name}", "elo": elo, "low": elo - 90, "high": elo + 90}
        for name, elo in elos.items()
    ]
    return GenerationFinished(generation=generation, ratings=rows, promoted=promoted)


def arena(write_run, **facts):
    """`x` was rated 108.8 at first, `y` 61.9; the next tournament turned them round."""
    nodes = [
        node("x" * 12, 108.8, operator="build", generation=1, name="g1.1"),
        node("y" * 12, 61.9, operator="build", generation=1, name="g1.0"),
    ]
    told = [
        rated(1, ["y" * 12, "x" * 12], **{"x" * 12: 108.8, "y" * 12: 61.9}),
        rated(2, ["y" * 12], **{"x" * 12: 41.0, "y" * 12: 138.0}),
    ]
    return write_run(nodes, told, unit="Elo", lower_is_better=False, family="arena", **facts)


def test_every_surface_shows_the_newest_rating(write_run):
    folder = arena(write_run, final={"node_id": "y" * 12, "metric": 81.7})
    elos = {"x" * 12: 41.0, "y" * 12: 138.0}
    with RunReader(folder) as reader:
        told = conclusion_of(reader)
        assert told.winner and (told.winner.name, told.winner.metric, told.winner.interval) == (
            "g1.0",
            138.0,
            (48.0, 228.0),
        )
        assert told.winner.where == "over all its rated games" and told.best_on_validation is None
        shown = run_facts(reader)
        assert shown["best_metric"] == 138.0
        assert {row["node_id"]: row["metric"] for row in shown["nodes"]} == elos
        assert {row["node_id"]: row["metric"] for row in candidate_rows(reader)} == elos
        page = node_page(reader, offset=0, limit=9, newest_first=False)
        assert {row.node_id: row.metric for row in page.nodes} == elos
        whole = reader.node("y" * 12)
        assert whole is not None and whole.metric_value == 61.9, "the search goes by the first rating"
        assert node_detail(reader, whole).node.metric_value == node_facts(reader, "y" * 12)["metric"] == 138.0
    line = read_line(folder)
    assert line is not None and line.best_metric == 138.0
    assert {one.id: one.metric_value for one in read_facts(folder).nodes} == elos


def test_the_curve_of_an_arena_is_the_champions_rating_at_the_end_of_each_generation(write_run):
    """As the report draws it, by steps: not each new high of ratings of another day."""
    nodes = [node("s" * 12, 0.0, operator="baseline", name="start")]
    nodes += [node(name * 12, 50.0, operator="build", generation=1) for name in "xy"]
    nodes += [node(name * 12, 999.0, operator="build", generation=2) for name in "zw"]
    told = [rated(0, ["s" * 12], **{"s" * 12: 0.0})]
    told += [rated(1, ["x" * 12], **{"x" * 12: 108.8, "y" * 12: 61.9})]
    told += [rated(2, ["y" * 12], **{"x" * 12: 41.0, "y" * 12: 138.0, "z" * 12: 150.0})]
    with RunReader(write_run(nodes, told, unit="Elo", lower_is_better=False, family="arena")) as reader:
        shown = curve(reader)
        assert list(zip(shown.steps, shown.best, strict=True)) == [(0, 0.0), (2, 108.8), (4, 138.0)]
        assert shown.of == "champion at the end of each generation" and ratings_of(reader).title.endswith("138 Elo")


def test_before_the_end_the_champion_leads_whoever_was_rated_highest_at_first(write_run):
    with RunReader(arena(write_run, status="interrupted")) as reader:
        told = conclusion_of(reader)
        assert told.winner and (told.winner.name, told.winner.metric, told.winner.chosen) == ("g1.0", 138.0, False)
        assert "the champion is g1.0, 138 Elo (higher is better) over all its rated games" in told.verdict.text


def test_the_highest_rating_is_no_title(write_run):
    with RunReader(arena(write_run, final={"node_id": "x" * 12, "metric": 1.0})) as reader:
        second = conclusion_of(reader).best_on_validation
        assert second and (second.name, second.metric) == ("g1.0", 138.0)
        assert second.why_not == "the title is taken in a tournament, not by the rating"


def test_an_engine_that_took_the_title_is_an_improvement(write_run):
    from reports.operator_worth import worth_of
    from reports.outside import who_wrote

    def built(name: str, elo: float, champion: str):
        return node(name, elo, operator="build", tournament=TournamentResult(promoted=(champion,)))

    nodes = [node("a", 0.0, operator="baseline"), built("b", 50.0, "c"), built("c", 40.0, "c"), built("d", 60.0, "c")]
    (worth,) = worth_of(nodes, lower_is_better=False)
    assert (worth.steps, worth.improvements, worth.gain) == (3, 1, 40.0)
    assert sum(row.improvements for row in who_wrote(nodes, lower_is_better=False)) == 1
