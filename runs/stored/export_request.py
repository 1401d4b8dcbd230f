"""What is wanted of a run's best program, checked before anything is done, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.state.node import Node
from utils.errors import ConfigError
from utils.user_places import check_file_place, check_folder_place

SEEDS = 3
"""Of a refit: what competitors hand in is seldom one draw."""
PATCH, FOLDER, BRANCH = "patch", "folder", "branch"
FORMS = (PATCH, FOLDER, BRANCH)
"""Of a tree of files."""
_BESIDE = ("out", "refit", "notebook", *FORMS, "recording")
"""What a bundle is written without."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written of the winner.

    Args:
        out: where to; the run's own `best_solution/` if None.
        refit: train it once more on all labelled rows. `seeds`: average so many; None: up to SEEDS, as the time allows.
        rows: the table that a refit predicts in place of the run's.
        notebook: also as a notebook.
        patch, folder, branch: a tree of files as one patch, a new folder, a branch of its repository.
        bundle: where to put it with its journal and no more. recording: where to put the models' replies.
        changes: `key=value` texts on top of the run's configuration, without `project.dir`.
        trusted: a run from elsewhere may execute what it names. accept_unsandboxed: a refit may run without a sandbox.

    Raises:
        ConfigError: two of them do not go together.
    """

    out: Path | None = None
    refit: bool = False
    seeds: int | None = None
    rows: Path | None = None
    notebook: bool = False
    patch: str | None = None
    folder: str | None = None
    branch: str | None = None
    bundle: Path | None = None
    recording: Path | None = None
    changes: Sequence[str] = ()
    trusted: bool = False
    accept_unsandboxed: bool = False

    def __post_init__(self) -> None:
        if self.seeds and not self.refit:
            raise ConfigError("--seeds: only with --refit")
        if self.bundle and (other := next((name for name in _BESIDE if getattr(self, name)), None)):
            raise ConfigError(
                f"--bundle holds what the run stored and no more: leave out --{other}, or call it without --bundle"
            )
        if self.notebook and self.forms:
            form = next(iter(self.forms))
            raise ConfigError(
                f"--notebook is of a competition, --{form} of a folder (problem.source): give one of them"
            )

    @property
    def forms(self) -> dict[str, str]:
        """Form of a tree → where to."""
        return {form: target for form in FORMS if (target := getattr(self, form))}

    @property
    def needs(self) -> str | None:
        """The first option that cannot do with what the run stored."""
        return next((name for name in ("refit", "notebook", *FORMS) if getattr(self, name)), None)

    def check_places(self) -> None:
        """ConfigError for a place that cannot be written: before data are prepared and a winner is trained again."""
        for option, given in (("out", self.out), ("bundle", self.bundle), (FOLDER, self.folder)):
            if given:
                check_folder_place(option, Path(given))
        if self.recording:
            check_folder_place("recording", self.recording)
        if self.patch:
            check_file_place(PATCH, Path(self.patch))


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        node: the winner; None where a run without a valid program left a recording alone.
        files: what was written, or lay there already.
    """

    run: str
    node: Node | None
    files: Sequence[str] = ()
    branch: str | None = None
    """Of a tree that went into one: its name, and where."""
    remarks: Sequence[str] = ()
    """What whoever takes it along should know, a line each."""

    def plain(self) -> dict[str, object]:
        """As JSON."""
        node = self.node
        return {
            "run": self.run,
            "node_id": node and node.id,
            "metric": node and node.metric_value,
            "metric_source": node and node.metric_source,
            "files": list(self.files),
            "branch": self.branch,
            "remarks": list(self.remarks),
        }
