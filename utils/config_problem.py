"""The configuration's sections `problem` and `arena`: what is searched, and how games are played."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from utils.config_section import LONGEST_WAIT, CommaText, Section


class ProblemConfig(Section):
    name: str | None = None
    """Which of the family: a competition, a data set, …"""
    path: str | None = None
    """A competition folder."""
    plugins: str | None = None
    """One more folder of `plugins`; its older name."""
    kind: str | None = None
    """Set by the preset: competition, bin_packing, tsp, script, command, connect_four, chess_engines."""
    goal: str | None = None
    """What the user wants, in his own words: every prompt holds it."""
    direction: Literal["max", "min"] | None = None
    """max or min, where the user's own evaluator gives the score."""
    program: str | None = None
    """The user's program with its EVOLVE-BLOCK (script)."""
    evaluator: str | None = None
    """File with evaluate(program_path) (script)."""
    source: CommaText = None
    """Files, or a whole folder, that the search may change (command)."""
    editable: CommaText = None
    """Which files of the folder may change, be added and be deleted: `src/**/*.py`, several with commas (command)."""
    protected: CommaText = None
    """Which of these stay as they are, and are never shown to a writer (command)."""
    build: str | None = None
    """Command that makes what `problem.eval` needs, run again only where its inputs changed (command)."""
    eval: str | None = None
    """Command that prints the metric (command)."""
    metric: str | None = None
    """The metric that steers, by name."""
    metric_from: str | None = None
    """Where the metrics are read: output, regex:PATTERN, json:PATH, junit[:PATH] (command on a folder)."""
    require: CommaText = None
    """What a candidate must meet to have a score, as `tests==pass,size<=100` (command on a folder)."""
    base: str | None = None
    """The snapshot of the folder that a run searches; set by the run itself."""
    grade: str | None = None
    """Command that grades the output outside of the program's reach; the output's path is its last argument, or stands
    for `{output}` (command)."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The problem's own settings: `config problem.options --problem=NAME` lists them."""


class ArenaConfig(Section):
    promotion: Literal["argmax", "los", "sprt"] = "argmax"
    """When a challenger becomes champion: best rating, likelihood of superiority, or a sequential test."""
    limit: str = "depth:4"
    """`nodes:N`, `depth:N`, `movetime:MS` or `clock:MS+MS`."""
    openings: int = Field(4, ge=1, le=10_000)
    """Openings of a generation's tournament."""
    book: str | None = None
    """File of openings in place of random ones: .epd (positions), .pgn (games) or .txt (moves, one opening a line)."""
    plies: int | None = Field(None, ge=1, le=200)
    """Moves of an opening: of a random one so many (null: 4), of one in `arena.book` at most so many (null: all)."""
    games: int = Field(2, ge=2, le=10_000)
    """Games a pair plays from each opening side, both colours: an even number."""
    gauntlet: int = Field(40, ge=2)
    """Games of each kind in the final, against engines that no tournament saw."""
    draw_adjudication: bool = False
    """End games that both engines call drawn."""
    resign_adjudication: bool = False
    """End games that both engines call lost for one."""
    deadline: float = Field(10.0, gt=0, le=LONGEST_WAIT)
    """Wall-clock seconds a move may take under a nodes or depth limit, and a UCI program to start (at least 10)."""
