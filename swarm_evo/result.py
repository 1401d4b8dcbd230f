"""What a search found, read from its store with the standard library alone."""

from __future__ import annotations

import hashlib
import json
import linecache
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from swarm_evo.app import app_dir
from swarm_evo.arguments import KEPT
from swarm_evo.child import ask
from swarm_evo.errors import SearchError
from swarm_evo.notebook import Cell, result_html

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Best:
    """The winning program."""

    code: str
    metric: float
    """On validation, the part that steers the search."""
    node_id: str
    metric_source: str
    """`verified`, `unisolated` or `claimed`."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to; of an interrupted one, what there is. Shown by a notebook as verdict, curve and program."""

    run: str
    folder: Path
    """`logs/<run>`."""
    best: Best | None = field(repr=False)
    """The winner: the chosen program, or a baseline or the user's own that nothing beat. None without a valid one."""
    facts: Mapping[str, Any] = field(repr=False)
    """What `show RUN --json` prints."""
    entry: str | None = field(default=None, repr=False)
    """The function that `evolve` improved."""
    cell: Cell | None = field(default=None, repr=False, compare=False)
    """Of a run that a notebook has just watched: where its progress stood, and its verdict since."""

    def __repr__(self) -> str:
        score = "no valid program" if self.best is None else f"best {self.best.metric:.6g} {self.facts.get('unit', '')}"
        final = "" if self.final_metric is None else f", final {self.final_metric:.6g}"
        return f"Result({self.run!r}, {self.status}, {score.strip()}{final})"

    @property
    def status(self) -> str:
        """`finished` or `interrupted`; of a loaded run also `running` and whatever else `list-runs` tells."""
        return str(self.facts.get("status", ""))

    @property
    def final_metric(self) -> float | None:
        """The winner's score on the part that the search never saw."""
        return self.facts.get("final_metric")

    @property
    def verdict(self) -> str:
        """Is it better than what was there before, and how sure is that: as every surface says it."""
        return str((self.facts.get("verdict") or {}).get("text", ""))

    @property
    def function(self) -> Callable[..., Any]:
        """The winner's function, loaded into this process: the program then runs with your rights.

        Warns where the verdict says that it should not be used.

        Raises:
            SearchError: there is no valid program, or the run was not begun by `evolve`.
        """
        if self.best is None or self.entry is None:
            raise SearchError("this run has no function to load" if self.best else "this run has no valid program")
        if (self.facts.get("verdict") or {}).get("kind") == "worse":
            warnings.warn(self.verdict, stacklevel=2)
        found: Callable[..., Any] = getattr(_loaded(self), self.entry)
        return found

    def frame(self) -> pandas.DataFrame:
        """One row a step (by generation: one a generation), as in metrics.json; `nodes()` has one a candidate."""
        import pandas

        with _reading(self.folder):
            text = (self.folder / "metrics.json").read_text(encoding="utf-8")
        return _numbered(pandas.DataFrame(json.loads(text)))

    def nodes(self, *, code: bool = False) -> pandas.DataFrame:
        """One row a candidate, with all that was measured of it (`metrics.NAME`); the programs too with `code`."""
        import pandas

        words = ["export", self.run, "--format=json", f"project.dir={self.folder.parent.parent}"]
        return _numbered(pandas.DataFrame(ask(*words, *(["--code"] if code else []))))

    def node(self, name: str | int) -> dict[str, Any]:
        """One candidate, whole (program, output, failure, prompts and replies), as `show RUN NODE --json` tells it.

        Args:
            name: its step, its id, or the id's first digits.
        """
        words = ["show", self.run, str(name), "--json", f"project.dir={self.folder.parent.parent}"]
        found: dict[str, Any] = ask(*words)
        return found

    def plot(self, ax: Axes | None = None) -> Axes:
        """Scores by step and the best so far, on `ax` or on new axes."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure().add_subplot()
        scores, lower = self._scores(), self.facts.get("direction") == "min"
        if scores:
            steps, values = zip(*scores, strict=True)
            best = list(accumulate(values, min if lower else max))
            ax.plot(steps, values, "o", markersize=4, label="candidates")
            ax.step(steps, best, where="post", label="best so far")
            ax.legend()
        ax.set_xlabel("step")
        ax.locator_params(axis="x", integer=True)
        ax.set_ylabel(f"{self.facts.get('unit') or 'score'} ({'lower' if lower else 'higher'} is better)")
        ax.set_title(self.run)
        return ax

    def _repr_html_(self) -> str:
        report = self.folder / "report.html"
        link = report.as_uri() if report.is_file() else ""
        if self.cell is not None:
            self.cell.give_way()
        return result_html(self.verdict, self.facts, self.best.code if self.best else "", self._scores(), link)

    def _scores(self) -> list[tuple[int, float]]:
        """(step, score) of the scored candidates, in order; what is no step stands where the step before it does."""
        at, so_far = {}, 0
        for node in self.facts["nodes"]:
            at[node["node_id"]] = so_far = node["step"] or so_far
        with closing(_open(self.folder / "run.db")) as store:
            scored = store.execute("SELECT id, score FROM candidates WHERE is_scored ORDER BY step").fetchall()
        return [(at.get(node_id, so_far), score) for node_id, score in scored]


def _loaded(result: Result) -> ModuleType:
    """The winner's module, loaded once: what it makes is pickled by name. Node ids repeat from run to run."""
    assert result.best is not None
    code, place = result.best.code, f"<{result.run} {result.best.node_id}>"
    key = hashlib.sha256(f"{result.folder}\0{place}\0{code}".encode()).hexdigest()[:16]
    name = f"swarm_evo.found.{key}"
    if name in sys.modules:
        return sys.modules[name]
    linecache.cache[place] = len(code), None, code.splitlines(keepends=True), place  # for tracebacks, `inspect`
    module = ModuleType(name)
    sys.modules[name] = module  # dataclasses, pickle and others look a class's module up there
    try:
        exec(compile(code, place, "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _numbered(table: pandas.DataFrame) -> pandas.DataFrame:
    """Step numbers as whole numbers, also where some rows are no step and have none."""
    return table.astype({"step": "Int64"}) if "step" in table else table


def read_result(folder: Path, facts: Mapping[str, Any]) -> Result:
    """The result of the run in `folder`."""
    best_id, best = facts.get("best_node_id"), None
    if best_id is not None and facts.get("best_metric") is not None:
        best = Best(_code(folder / "run.db", best_id), facts["best_metric"], best_id, facts["metric_source"])
    program = Path(facts["config"]["problem"].get("program") or "")
    entry = program.stem if program.parent.parent.name == KEPT else None  # only `evolve` keeps programs there
    return Result(str(facts["run"]), folder, best, facts, entry)


def _open(store: Path) -> sqlite3.Connection:
    with _reading(store.parent):
        return sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True)


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Around a look at a run's folder, which may be gone by now."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        raise SearchError(f"run '{folder}' cannot be read: {error}") from error


def _code(path: Path, node_id: str) -> str:
    with closing(_open(path)) as store:
        (body,) = store.execute("SELECT code FROM candidates WHERE id = ?", (node_id,)).fetchone() or (None,)
        if body is None:  # a baseline that was scored beside the search leads, or won
            beside = "SELECT value FROM facts WHERE key IN ('final', 'beside/' || ?) ORDER BY key"
            programs = [json.loads(value) for (value,) in store.execute(beside, (node_id,))]
            return next((str(found.get("program", found).get("code", "")) for found in programs), "")
        return stored_text(store, body)


def stored_text(store: sqlite3.Connection, body: str | bytes) -> str:
    """A text of the store, whatever form it lies in."""
    packing = _packing()

    def whole(name: str) -> bytes:
        (stored,) = store.execute("SELECT body FROM texts WHERE hash = ?", (name,)).fetchone()
        found: bytes = packing.whole_text(stored)
        return found

    return str(packing.unpacked(body, whole))


@cache
def _packing() -> ModuleType:
    """The application's own module on the forms of texts; it needs the standard library alone."""
    spec = spec_from_file_location("_swarm_evo_packing", app_dir() / "core" / "storage" / "packing.py")
    if spec is None or spec.loader is None:
        raise SearchError(f"the installation in '{app_dir()}' is not whole: install it again")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
