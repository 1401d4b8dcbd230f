"""Writes the winner for its user: the program, its predictions for the user's rows, and a refit on all labels."""

from __future__ import annotations

import csv
import json
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.contracts import Jobs, Limits
from core.evaluation.grading import GradingFault, python_command, run_trusted
from core.state.node import Node
from core.workers.local import script_spec
from problems.competition.bagging import STEP, bagged, reseeded
from problems.competition.evaluator import most_bytes
from problems.competition.prepared import LAUNCH, Prepared, open_to_all
from problems.competition.submission_rows import submission_rows
from utils.counts import counted
from utils.errors import ConfigError, SwarmEvoError
from utils.logger_system import log_msg
from utils.workspace_builder import SUBMISSION

NO_TEST = "the data have no table to predict"
PROGRAM, PREDICTIONS = "solution.py", "submission.csv"


def export(node: Node, out: Path, run_dir: Path, prepared: Prepared) -> list[Path]:
    """Write `solution.py` and `submission.csv` (own data: only the user's test rows, if there are any)."""
    out.mkdir(parents=True, exist_ok=True)
    program = out / PROGRAM
    program.write_text(node.code, encoding="utf-8")
    kept = run_dir / "files" / node.id / SUBMISSION
    return [program, *(_predictions(kept, out, prepared, prepared.public) if kept.is_file() else [])]


def check_refit(prepared: Prepared) -> None:
    """ConfigError where there are no labels to add, or no rows to predict with them."""
    if not prepared.meta["targets"]:
        raise ConfigError("export-best --refit: without data.target there are no hidden labels to add")
    mapping = prepared.folder / "private" / "user_rows.json"
    if mapping.is_file() and not (own := json.loads(mapping.read_text(encoding="utf-8")))["rows"]:
        why = own["unlike"] or f"{NO_TEST}; name one, --data.test=FILE"
        raise ConfigError(f"export-best --refit: nothing to refit for: {why}")


def refit(
    node: Node,
    out: Path,
    prepared: Prepared,
    jobs: Jobs,
    limits: Limits,
    seed: int,
    seeds: int,
    tell: Callable[[str], None],
) -> list[Path]:
    """Run the program once more with the hidden labels added to `train.csv`, in the same sandbox.

    There is no score for what comes out: no labelled row is left to check it on.

    Args:
        seed: that it was scored with.
        seeds: how many times it is run, each time with other seeds; the predictions are their mean or vote.
        tell: is given a line on how, and one before each run of a program that takes more than a second.
    """
    check_refit(prepared)
    inputs = prepared.folder / f"refit-{secrets.token_hex(8)}"
    out.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    try:
        _write_all_labels(prepared, inputs)
        for number in range(seeds):
            if node.exec_time > 1:
                tell(f"refit: run {number + 1} of {seeds}; when it was scored it took {node.exec_time:.0f} s")
            job = script_spec(
                reseeded(node.code, number), limits=limits, inputs=inputs, seed=seed + STEP * number,
                collect=[SUBMISSION], max_bytes=most_bytes(inputs), keep_dir=out / ".refit" / str(number),
            )  # fmt: skip
            made.append(_submission(jobs.run(job), node))
            if number == 1 and made[0].read_bytes() == made[1].read_bytes():
                made.pop()  # nothing in it is drawn
                break
        _check(made, inputs, node, prepared)
        program = out / PROGRAM
        program.write_text(node.code, encoding="utf-8")
        return [program, *_predictions(_put_together(made, seeds, prepared, tell), out, prepared, inputs)]
    finally:
        shutil.rmtree(out / ".refit", ignore_errors=True)
        shutil.rmtree(inputs, ignore_errors=True)


def _submission(value: dict[str, Any], node: Node) -> Path:
    """What a run has handed in. SwarmEvoError: why there is nothing."""
    result, found = value["result"], value["files"].get(SUBMISSION)
    if result.get("failure") or found is None or "error" in found:
        why = result.get("message") or (found or {}).get("error") or f"it did not write {SUBMISSION}"
        raise SwarmEvoError(f"the refit of node {node.id} failed: {why}")
    return Path(found["path"])


def _check(made: list[Path], inputs: Path, node: Node, prepared: Prepared) -> None:
    """SwarmEvoError for a submission that a grader would refuse: more rows to learn may be what a program breaks on."""
    sample = str(inputs / "sample_submission.csv")
    request = {"verb": "check", "exam": prepared.exam(), "sample": sample, "paths": list(map(str, made))}
    if why := _trusted(request).get("refused"):
        raise SwarmEvoError(f"the refit of node {node.id} failed: {SUBMISSION}: {why}")


def _put_together(made: list[Path], seeds: int, prepared: Prepared, tell: Callable[[str], None]) -> Path:
    """One submission of all; how, is told in a line."""
    if len(made) == 1:
        if seeds > 1:
            tell("refit: the program predicts the same with every seed, so one is enough")
        return made[0]
    whole = made[0].with_name("bagged.csv")
    how = bagged(made, whole, prepared.exam())
    tell(f"refit: submission.csv is the {how} of {counted(len(made), 'seed')}, {PROGRAM} the program with the first")
    return whole


def _write_all_labels(prepared: Prepared, target: Path) -> None:
    """`input/` with every label; it is there for this one program, and no search sees it."""
    own = prepared.folder / "private" / "user_rows.json"
    request = {
        "verb": "refit", "public": str(prepared.public), "out": str(target), "exam": prepared.exam(),
        "theirs": str(own) if own.is_file() else "",
    }  # fmt: skip
    answer = _trusted(request)
    if "config_error" in answer:
        raise ConfigError(answer["config_error"])
    open_to_all(target)


def _trusted(request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = run_trusted(python_command(LAUNCH, "prepare"), request, timeout=600)
    except GradingFault as error:
        raise SwarmEvoError(f"export-best --refit: {error}") from error
    return answer


def _predictions(kept: Path, out: Path, prepared: Prepared, inputs: Path) -> list[Path]:
    """Write the predictions in the user's form.

    Args:
        inputs: what the program that made them saw as `input/`.

    Raises:
        ConfigError: it saw other rows: those of a version that hid or called them otherwise.
    """
    target = out / PREDICTIONS
    mapping = prepared.folder / "private" / "user_rows.json"
    if not mapping.is_file():
        shutil.copyfile(kept, target)
        return [target]
    own: dict[str, Any] = json.loads(mapping.read_text(encoding="utf-8"))
    if not own["rows"]:
        if own["unlike"]:
            log_msg("WARNING", own["unlike"])
        return []  # the user gave no test rows: nothing to predict
    found = {row.get(own["key"], "").strip(): row for row in submission_rows(kept)}
    wanted = {_key(row[own["key"]]) for row in submission_rows(inputs / "sample_submission.csv")}
    if wanted != set(map(_key, found)):
        raise ConfigError(
            f"'{kept}' is of other rows than are hidden now: another version prepared the data; export-best --refit "
            "trains the program anew"
        )
    found = {_key(name): row for name, row in found.items()} | found
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(_lines(own, found))
    if own["unlike"]:
        log_msg("WARNING", f"{PREDICTIONS} is not in the form of the sample submission: {own['unlike']}")
    return [target]


def _lines(own: dict[str, Any], found: dict[str, dict[str, str]]) -> Iterator[list[str]]:
    """The submission in the user's form, its head first.

    Args:
        found: what was predicted, by our name of the row.
    """
    if long := own["long"]:
        yield long["columns"]
        for cells, key, ours in long["rows"]:
            row = found[key] if key in found else found[_key(key)]
            yield [*cells[: long["place"]], _prediction(row, ours, own), *cells[long["place"] :]]
        return
    yield ["" if theirs in own["nameless"] else theirs for theirs, *_ in own["columns"]]
    for place, (key, name) in enumerate(own["rows"].items()):
        row = found[key] if key in found else found[_key(key)]
        yield _handed_in({**row, own["key"]: name}, place, own)


def _prediction(row: dict[str, str], ours: str, own: dict[str, Any]) -> str:
    """One that is handed in as it is predicted: a class as the user spells it, or a number."""
    if ours not in own["words"]:
        return _number(row[ours])
    words = own["words"][ours]
    spelled: str = words.get(row[ours], words.get(_key(row[ours]), row[ours]))
    return spelled


def _handed_in(row: dict[str, str], place: int, own: dict[str, Any]) -> list[str]:
    """One row of the submission in the user's form: his spelling of classes, his columns.

    Args:
        place: of the row among the user's.
    """
    cells = []
    for theirs, ours, how in own["columns"]:
        if how == "kept":
            cells.append(own["kept"][theirs][place])
        elif how == "other":
            cells.append(repr(1 - float(_number(row[ours]))))
        elif how == "ranked":
            cells.append(_best_classes(row, **own["ranked"]))
        else:
            cells.append(row[ours] if ours == own["key"] else _prediction(row, ours, own))
    return cells


def _best_classes(row: dict[str, str], most: int, mark: str, names: dict[str, str]) -> str:
    """The most probable classes in one cell.

    Args:
        names: column of the submission → what the user calls the class.
    """
    best = sorted(names, key=lambda name: -float(_number(row[name])))
    return mark.join(names[name] for name in best[:most])


def _number(text: str) -> str:
    """A prediction that is graded as a number: pandas reads a column of `True` and `False` as such."""
    return {"true": "1", "false": "0"}.get(text.casefold(), text)


def _key(text: str) -> str:
    """Ids and classes as the grader compares them: 7.0 and 007 are 7."""
    text = text.strip()
    if text.lstrip("+-").isdigit() and text.isascii():
        return str(int(text))
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text
