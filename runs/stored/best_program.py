"""The best program of a stored run, taken away: as files, a bundle, a recording, trained once more on all rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.contracts import Problem
from core.state.node import Node
from core.storage.reader import RunReader
from reports.conclusion import conclusion_of
from reports.note_parts import note_parts
from reports.winner import winner_node
from runs.composition import problem_of
from runs.ending.export_place import check_free, lay_out, lay_out_own
from runs.ending.outcome import write_solution
from runs.recorded.files import BEST
from runs.run_folder import check_own
from runs.stored.config import stored_config
from runs.stored.export_request import BRANCH, PATCH, SEEDS, Exported, Wanted
from runs.stored.solution import StoredSolution, mark_refit, stored_solution
from utils.config_schema import Config
from utils.errors import ConfigError, SwarmEvoError
from utils.scratch_folders import scratch_folder
from utils.user_places import make_folder_of, writes

REFIT_SHARE = 0.25
"""Of the search's seconds: a refit takes no longer, unless a single run does."""


def export_best(run_dir: Path, project_dir: str, wanted: Wanted, tell: Callable[[str], None]) -> Exported:
    """Write what is wanted.

    Args:
        tell: is given each remark as soon as it is known: a refit takes its time.

    Raises:
        ConfigError: there is nothing to export, or no place for it. StoreError: the run cannot be read.
    """
    remarks: list[str] = []

    def remark(text: str) -> None:
        remarks.append(text)
        tell(text)

    wanted.check_places()
    with RunReader(run_dir) as reader:
        written = [_record(reader, wanted.recording)] if wanted.recording else []
        node = _winner(reader)
        if node is not None:
            _warn(reader, remark)
        if wanted.bundle and node is not None:
            from runs.proof.bundle import write_bundle

            with writes("bundle", wanted.bundle):
                written += write_bundle(reader, node, wanted.bundle)
        stored = stored_solution(reader, node) if node else None
    if node is None and not wanted.recording:  # a run without a valid program is worth replaying too
        raise ConfigError(f"run {run_dir.name} has no valid program to export")
    taking = None
    if node is not None and stored is not None and not wanted.bundle:
        taking = _Taking(run_dir, project_dir, wanted, node, stored, remark)
        written += taking.files()
    files = [str(path) for path in dict.fromkeys(written)]
    return Exported(run_dir.name, node, files, taking.branch if taking else None, remarks)


def _winner(reader: RunReader) -> Node | None:
    """As `winner_node`.

    Raises:
        ConfigError: it is a baseline that a version scored which kept no program of those that had not won.
    """
    node = winner_node(reader, reader.facts())
    if node is not None and not node.code and reader.node(node.id) is None:
        why = "an older version began the run and kept no program of it"
        raise ConfigError(
            f"run {reader.name}: the baseline {node.name} leads, and {why}; the end of a `resume` writes it"
        )
    return node


def _warn(reader: RunReader, remark: Callable[[str], None]) -> None:
    """Who takes along a program that should not be used is told so."""
    verdict = conclusion_of(reader).verdict
    if verdict.kind == "worse":
        remark(f"warning: {verdict.text}")


def _record(reader: RunReader, folder: Path) -> Path:
    from core.backend.recording import save_recording

    with writes("recording", folder):
        save_recording(
            folder,
            reader.calls(),
            problem=reader.fact("problem"),
            recorded_at=reader.fact("started_at"),
            config=reader.fact("config"),
            scores={node.id: node.metric_value for node in reader.nodes()},
        )
    return folder / "manifest.json"


@dataclass(slots=True)
class _Taking:
    """One winner and what is wanted of it; `branch` is that which was made."""

    run_dir: Path
    project_dir: str
    wanted: Wanted
    node: Node
    stored: StoredSolution
    remark: Callable[[str], None]
    branch: str | None = None

    def files(self) -> list[Path]:
        """Write them: from what the run stored where that does, else from what it was made of."""
        wanted, stored = self.wanted, self.stored
        is_plain_copy = wanted.out and not wanted.changes and wanted.needs is None
        if wanted.out and is_plain_copy and stored.files and not stored.refit:
            return self._copied(wanted.out)
        config = stored_config(
            self.run_dir, list(wanted.changes), self.project_dir, self.remark, trusted=wanted.trusted, asks_models=False
        )
        try:
            problem = _ready(config, self.run_dir)
        except (SwarmEvoError, OSError) as error:
            if wanted.needs is not None:
                raise ConfigError(f"export-best --{wanted.needs} needs what the run was made of: {error}") from error
            if not stored.files:
                raise
            refit = ", of a refit" if stored.refit else ""
            self.remark(f"this is what the run stored{refit}; it cannot be made anew: {error}")
            return self._copied(wanted.out or stored.folder)
        return self._made(config, problem, self._predicting(problem, wanted.rows) if wanted.rows else problem)

    def _copied(self, out: Path) -> list[Path]:
        """The solution at another place, and no more: nothing of the run's code is needed, and none of its data."""
        if out.resolve() == self.stored.folder.resolve():
            return list(self.stored.files)
        with writes("out", out):
            return lay_out(self.stored.files, self.stored.folder, out)

    def _predicting(self, problem: Problem, rows: Path) -> Problem:
        """The problem with these rows to predict; what it says of them, and not of its own tables, is told."""
        predicting = problem.to_predict(rows)
        for part in note_parts(predicting.note):
            if part not in note_parts(problem.note):
                self.remark(part)
        return predicting

    def _made(self, config: Config, problem: Problem, predicted: Problem) -> list[Path]:
        """What is refused is refused before the first file is written. `predicted` is the problem of a refit's rows."""
        wanted = self.wanted
        if wanted.refit:
            predicted.check_refit()
        message = self._message(problem)
        written = self._as_forms(problem, wanted.forms, message)
        if wanted.forms and not wanted.out:
            return written
        if not wanted.out:
            check_own(self.run_dir)
        return written + self._solution(config, problem, predicted, message)

    def _as_forms(self, problem: Problem, forms: Mapping[str, str], message: str) -> list[Path]:
        if PATCH in forms:
            make_folder_of(PATCH, Path(forms[PATCH]))
        files = []
        for form, target in forms.items():
            with writes(form, Path(target)):
                made = problem.export_as(form, self.node, target, message)
            if form == BRANCH:
                self.branch = made
            else:
                files.append(Path(made))
        return files

    def _solution(self, config: Config, problem: Problem, predicted: Problem, message: str) -> list[Path]:
        """The solution's files: made elsewhere, and laid in their place once all of them are known."""
        wanted, node, run_dir = self.wanted, self.node, self.run_dir
        out = wanted.out or run_dir / BEST
        with scratch_folder("swarm-evo-export-") as folder:
            page = folder / "solution.ipynb"
            if wanted.notebook:
                problem.export_as("notebook", node, str(page), message)
            place = folder / "solution"
            with writes("out", out):
                written = write_solution(problem, node, place, run_dir)
                if wanted.notebook:
                    written.append(Path(shutil.copyfile(page, place / page.name)))
            if wanted.refit:
                if wanted.out:  # before a winner is trained again
                    check_free(written, place, out)
                again = self._refit(config, predicted, place)
                mark_refit(place)
                if not wanted.out and {*again} & {*written}:
                    scored = f"`export-best {run_dir.name} --out DIR` writes the scored ones"
                    self.remark(f"refit: {BEST}/ holds its predictions now; {scored}")
                written += again
            with writes("out", out):
                return lay_out(written, place, out) if wanted.out else lay_out_own(written, place, run_dir, node.id)

    def _message(self, problem: Problem) -> str:
        """Of the commit: what it is, and where it comes from."""
        node = self.node
        return f"{problem.unit} {node.metric_value:g}\n\nFound by swarm-evo, run {self.run_dir.name}, node {node.id}."

    def _refit(self, config: Config, problem: Problem, out: Path) -> list[Path]:
        from runs.composition import open_jobs

        node, wanted = self.node, self.wanted
        seeds = wanted.seeds or seeds_for(node, config)
        if not wanted.seeds and seeds < SEEDS:
            self.remark(f"refit: {seeds} of {SEEDS} seeds, since a run took {node.exec_time:.0f} s (--seeds={SEEDS})")
        with open_jobs(config, problem, out, accept_unsandboxed=wanted.accept_unsandboxed) as (jobs, limits):
            return problem.refit(node, out, jobs, limits, seeds, self.remark)


def _ready(config: Config, run_dir: Path) -> Problem:
    """The problem with its data, which are made ready anew where they are not."""
    problem = problem_of(config)
    problem.restore(run_dir)
    problem.prepare()
    return problem


def seeds_for(node: Node, config: Config) -> int:
    """SEEDS, or as many as fit into the REFIT_SHARE of `budget.seconds`; at least one."""
    seconds = config.budget.seconds
    if seconds is None or node.exec_time <= 0:
        return SEEDS
    return max(1, min(SEEDS, int(REFIT_SHARE * seconds / node.exec_time)))
