"""The competition family: a whole ML script from `input/` to `submission/submission.csv`, graded on hidden rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from core.contracts import Baseline, Evaluator, EvaluatorDeps, Problem, RulesWriter
from core.state.node import Node
from problems.competition.prepared import Prepared, prepare
from problems.competition.seeds import seed_of
from problems.competition.source import DATA_PACKAGES, Source, find_source
from problems.options import checked_options
from utils.config_schema import AgentConfig, Config
from utils.config_section import Section
from utils.data_preview import in_line
from utils.packages import boosters, has_pillow, has_pyarrow
from utils.unread_keys import OF_REPEATS, OF_RUNGS, OF_TUNING

if TYPE_CHECKING:
    from core.contracts import Jobs, Limits

OWN_ESTIMATE = (
    " As its last line it prints `cv: NUMBER`, its own cross-validated score in the metric of the task: the next "
    "writer sees it, and it decides between programs whose scores cannot be told apart."
)
CACHE = Path("workspaces") / ".prepared"
BLEND_SHARE = 0.14
"""Of the search's seconds, for the programs of an ensemble: they run once more when it is scored, and at a refit."""
PRELOAD = (
    "numpy", "pandas", "scipy.sparse", "scipy.stats", "sklearn", "sklearn.compose", "sklearn.decomposition",
    "sklearn.ensemble", "sklearn.feature_extraction.text", "sklearn.impute", "sklearn.linear_model", "sklearn.metrics",
    "sklearn.model_selection", "sklearn.neighbors", "sklearn.pipeline", "sklearn.preprocessing", "sklearn.svm",
)  # fmt: skip


class Options(Section):
    """`problem.options` of this family."""

    data: str | None = None
    """Where the data of an MLE-bench folder lie: the competition's own folder, or that of all."""
    split_seed: int = Field(0, ge=0)
    """Which rows of your own data are hidden: another number draws others."""
    rules: Literal["search", "random"] = "search"
    """`random`: the writer `rules` draws every program anew, knowing no parents: the control."""


OPTIONS = (Options,)


def build(cfg: Config, project_dir: Path) -> CompetitionProblem:
    """The competition that `problem` and `data` name. ConfigError where they cannot be used."""
    known = cfg.data.preview if cfg.llm.code.provider != "rules" else "rows"
    draws = checked_options(Options, cfg.problem.options).rules == "random"
    source = find_source(cfg)
    return CompetitionProblem(
        source,
        project_dir / CACHE,
        preview=cfg.data.preview,
        known=known,
        random_draws=draws,
        smoke=cfg.search.smoke,
        whole_test=cfg.final == "all",
        pace={
            "budget": _budget(cfg), "timeout": cfg.execution.timeout, "workers": cfg.search.workers,
            "memory_mb": cfg.execution.memory_mb, "steps": cfg.search.max_steps, "blend": _blend_seconds(cfg),
            "batch": cfg.search.batch if cfg.search.schedule == "rounds" else 1,  # else each program is a round
        },
        packages=boosters(cfg.execution.python),
        sees=has_pillow(cfg.execution.python),
        reads_parquet=has_pyarrow(cfg.execution.python),
        seed=cfg.project.seed,
    )  # fmt: skip


def _blend_seconds(cfg: Config) -> float | None:
    """What an ensemble's programs may have taken."""
    budget = _budget(cfg)
    return None if budget is None else BLEND_SHARE * budget


def _budget(cfg: Config) -> float | None:
    """The search's seconds; None where nobody limited them: half a day is only where every search ends."""
    unlimited: float = AgentConfig.model_fields["time_limit"].default
    return None if cfg.budget.seconds is None or cfg.budget.seconds >= unlimited else cfg.budget.seconds


class CompetitionProblem(Problem):
    """One competition.

    Args:
        source: where it comes from.
        cache: folder of prepared competitions.
        preview: how much of the data the preview shows.
        known: the same for the facts in `prompt_extras`; `rules` sends nothing out and may know all.
        random_draws: `rules` draws every program anew: the control that search is compared with.
        smoke: a program runs on a part of the rows first, where the data are large enough to have such a part.
        whole_test: a competition's own grader also scores the whole test set at the end.
        pace: the seconds of the search (`budget`) and of one run (`timeout`), `workers`, `steps` and the programs of a
            round (`batch`): `rules` fits its programs into them.
        packages: modules of boosted trees that programs can import.
        sees: programs can import what reads images.
        reads_parquet: the same of Parquet.
        seed: of the run.
    """

    family: Literal["competition"] = "competition"
    seeds_search = False
    single_function = False
    unread: Mapping[str, str] = {**OF_REPEATS, **OF_RUNGS, **OF_TUNING}

    def __init__(
        self,
        source: Source,
        cache: Path,
        *,
        preview: str = "stats",
        known: str = "rows",
        random_draws: bool = False,
        smoke: bool = True,
        whole_test: bool = True,
        pace: Mapping[str, Any] | None = None,
        packages: tuple[str, ...] = (),
        sees: bool = False,
        reads_parquet: bool = False,
        seed: int = 0,
    ) -> None:
        self.name = f"competition/{source.name}"
        self.lower_is_better = source.lower_is_better
        self.unit = source.label
        self.claims_only = source.claims_only
        self._source = source
        self._cache = cache
        self._preview = preview
        self._known = known
        self._random_draws = random_draws
        self._smoke, self._whole_test = smoke, whole_test
        self._pace = dict(pace or {})
        self._packages, self._sees, self._reads_parquet = list(packages), sees, reads_parquet
        self._seed = seed
        self.preload = (*PRELOAD, *packages)
        self._prepared: Prepared | None = None
        self._doing: Callable[[str], None] = lambda text: None

    @property
    def reads(self) -> tuple[str, ...]:
        """Own data, a folder and a bundled competition read different words."""
        if self._source.request["kind"] == "own":
            return ("data", "problem.direction", "problem.options.split_seed", "problem.options.rules")
        if self._source.request["strict"]:
            return ("problem.name", "data.preview", "problem.options.rules")
        options = ("problem.options.data", "problem.options.rules")
        return ("problem.path", "problem.direction", "data.preview", *options, "final")

    @property
    def hidden_data(self) -> tuple[str, ...]:
        """Every data package: a table of the user's own may come from one as well."""
        return DATA_PACKAGES

    def tells_to(self, doing: Callable[[str], None]) -> None:
        self._doing = doing

    def prepare(self) -> None:
        """Make the public and private files unless the cache has them."""
        self._ready()

    @property
    def hidden_files(self) -> tuple[Path, ...]:
        return self._ready().hidden()

    @property
    def shown_folder(self) -> Path:
        return self.input_dir

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        from problems.competition.scoring_files import scoring_files

        return scoring_files(self._source)

    @property
    def input_dir(self) -> Path:
        """What programs see as `input/`."""
        return self._ready().public

    @property
    def note(self) -> str:
        """What a user must know about the scores: why hidden rows are not split, rows left out; '' if nothing."""
        return "; ".join(filter(None, (str(self._ready().meta["note"]), self._left_unread())))

    def _can_read(self, table: Mapping[str, Any]) -> bool:
        return self._reads_parquet or "parquet" not in table["how"]

    def _readable(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """A further table, with those of the tables that are joined to it that programs can read."""
        return {**table, "inner": [inner for inner in table["inner"] if self._can_read(inner)]}

    def _left_unread(self) -> str:
        """Which further tables `rules` joins in no program of this search, though it could; '' for none."""
        if not self._ready().meta["side_tables"]:
            return ""
        from problems.competition.rules.facts import read_facts

        joined = {side.file for side in read_facts(self._extras(bare=False)).sides}
        left = [one["file"] for one in self._ready().meta["side_tables"] if one["file"] not in joined]
        why = "too large for a program's time or memory, or Parquet without pyarrow"
        return f"the rules writer joins no {' and no '.join(left)}: {why}" if left else ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Possible leaks of the data."""
        return tuple(self._ready().meta.get("cautions", ()))

    @property
    def shows_answers(self) -> bool:
        return bool(self._ready().meta.get("copied"))

    def statement(self) -> str:
        described = self._source.description.strip()
        parts = [f"Goal: {self._source.goal}" if self._source.goal else "", described]
        if not described or self._source.request["kind"] == "own":
            parts.append(self._rules_of_the_game())
        return "\n\n".join(part for part in parts if part)

    def preview(self) -> str:
        return self._ready().preview(self._preview)

    def limits(self, limits: Limits) -> Sequence[str]:
        return [f"processor time {limits.processor_seconds:g} s of all processes and threads together"]

    def prompt_extras(self) -> dict[str, Any]:
        """`output_format` for prompts; `data` (columns with kinds, sizes, metric, target) for rules."""
        return self._extras(bare=self._known == "schema")

    def _extras(self, *, bare: bool) -> dict[str, Any]:
        meta, kind = self._ready().meta, self._source.metric
        data = {name: meta[name] for name in ("id", "targets", "label", "rows", "files", "table")}
        data |= {"ids": meta.get("ids"), "asks": meta.get("asks")}
        data["named_files"] = [one for one in meta["named_files"] if self._sees or one["kind"] != "images"]
        data["side_tables"] = [self._readable(one) for one in meta["side_tables"] if self._can_read(one)]
        data["form"] = meta.get("form") or {}
        data["columns"] = [_schema_of(column) for column in meta["columns"]] if bare else meta["columns"]
        data["metric"] = kind.name if kind else self._source.label
        data["task"] = meta.get("task") or (kind.task if kind else None)
        data |= {"limits": self._pace, "packages": self._packages}
        return {"output_format": self._output_format(meta), "data": data}

    def baselines(self) -> Sequence[Baseline]:
        from problems.competition.baselines import baselines

        if self.claims_only:
            return []  # nothing would grade them
        return baselines(self._extras(bare=False))  # they run here and go into no prompt

    def rules(self) -> RulesWriter:
        from problems.competition.rules.writer import CompetitionWriter

        return CompetitionWriter(random_draws=self._random_draws)

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        from problems.competition.evaluator import CompetitionEvaluator

        most = self._pace.get("blend")
        return CompetitionEvaluator(
            self._source,
            self._ready(),
            deps,
            smoke=self._smoke,
            blend_seconds=most,
            whole_test=self._whole_test,
        )

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        from problems.competition.export import export

        return export(node, out, run_dir, self._ready())

    def export_as(self, form: str, node: Node, target: str, message: str) -> str:
        """Write `node` as a `notebook` that runs on Kaggle; no other form."""
        from problems.competition.notebook import write_notebook

        if form != "notebook":
            return super().export_as(form, node, target, message)
        write_notebook(node, Path(target), message, self._source, self._ready())
        return target

    def check_refit(self) -> None:
        from problems.competition.export import check_refit

        check_refit(self._ready())

    def refit(
        self,
        node: Node,
        out: Path,
        jobs: Jobs,
        limits: Limits,
        seeds: int = 1,
        tell: Callable[[str], None] = lambda text: None,
    ) -> list[Path]:
        """Train `node` once more on all labelled rows and write its program and predictions into `out`.

        The first of the seeds is that which it was scored with.
        """
        from problems.competition.export import refit

        return refit(node, out, self._ready(), jobs, limits, seed_of(self._seed, node), seeds, tell)

    def to_predict(self, rows: Path) -> CompetitionProblem:
        from problems.competition.other_rows import check_alike, with_rows

        other = copy.copy(self)
        other._source, other._prepared = with_rows(self._source, self._ready(), rows), None
        check_alike(self._ready(), other._ready(), rows)
        return other

    def _ready(self) -> Prepared:
        if self._prepared is None:
            self._prepared = prepare(self._source, self._cache, self._doing)
        return self._prepared

    def _rules_of_the_game(self) -> str:
        meta = self._ready().meta
        target = f"Predict {', '.join(meta['targets'])}. " if meta["targets"] else ""
        return in_line(f"{target}Scored by {self.unit}.")

    def _output_format(self, meta: Mapping[str, Any]) -> str:
        form = (
            f"columns {', '.join([meta['id'], *meta['targets']])}" if meta["targets"] else "the form the task asks for"
        )
        return in_line(
            "A single Python script that reads the data in input/ and writes submission/submission.csv "
            f"({form}, one row for each row of the test data, in the form of input/sample_submission.csv)."
            + _scored_rows(meta["rows"])
            + _parted(meta.get("parted") or {}, bare=self._preview == "schema")
            + ("" if self.claims_only else OWN_ESTIMATE)
        )


def _scored_rows(rows: Mapping[str, int]) -> str:
    """On how many rows a score rests: how far a writer can trust it."""
    if not rows.get("validation") or not rows.get("final"):
        return ""
    return (
        f" The search scores it on {rows['validation']:,} of these rows; {rows['final']:,} others are scored once, at "
        "the end, for the program that is handed in."
    )


def _parted(parted: Mapping[str, str], *, bare: bool) -> str:
    """How the rows to predict differ from those of train.csv: an estimate of one's own has to part rows likewise.

    Args:
        parted: of `hidden_rows.parted`; {} for a folder's own split, which its description tells.
        bare: no value of the data may be told.
    """
    column = parted.get("column")
    match parted.get("how"):
        case "time":
            told = (
                "" if bare else f", from {parted['scored_from']} on, where train.csv goes up to {parted['learned_to']}"
            )
            until = "" if bare else f", up to {parted['scored_to']}"
            return f" They are the newest rows by {column}{told}; those scored at the end are the newest of all{until}."
        case "group":
            return f" No {column} of theirs is in train.csv: they are whole groups, drawn at random."
        case "distinct":
            return " None of them equals a row of train.csv in all its features; they were drawn at random."
        case "stratified":
            return " They were drawn at random, with the same share of each class or range of the target as train.csv."
        case "random":
            return " They were drawn at random from the same table as train.csv."
    return ""


def _schema_of(column: Mapping[str, Any]) -> dict[str, Any]:
    """A column without anything that comes from its values."""
    return {"name": column["name"], "kind": column["kind"], "missing": 0.0, "unique": 0}
