"""One competition of MLE-bench, looked at by `benchmarks.mlebench` in a process of its own."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from problems.competition.grader.grade import WHOLE, Judge
from problems.competition.grader.mlebench.shim import import_function, install
from problems.competition.grader.mlebench.stand_ins import WRITTEN, is_absent
from problems.competition.prepared import prepare
from problems.competition.source import find_source
from utils.config import load_config
from utils.errors import SwarmEvoError

_ASKS = re.compile(r"--problem\.direction=(min|max)$")


def missing(folder: Path, config: dict[str, Any]) -> Iterator[str]:
    """What scoring and preparing import that is not here."""
    install(folder)
    for what, name in (("scoring", config["grader"]["grade_fn"]), ("preparing", config["preparer"])):
        before = set(sys.modules)
        import_function(folder, name)
        absent = {name.partition(".")[0] for name in set(sys.modules) - before if is_absent(name)}
        for package in sorted(absent - set(WRITTEN)):
            yield f"{what} needs the package {package}"


def scored(folder: Path, data: Path, project: Path, *more: str) -> str:
    """Prepare the data as a run does and grade the sample submission; says what it scores."""
    words = [f"problem.path={folder}", f"problem.options.data={data}", f"project.dir={project}", *more]
    try:
        source = find_source(load_config(None, words))
        exam = prepare(source, project / "prepared").exam()
    except SwarmEvoError as error:
        if not more and (asked := _ASKS.search(str(error))):
            return scored(folder, data, project, f"problem.direction={asked[1]}")
        raise
    verdict = Judge(exam).grade(exam["sample"], WHOLE, False)
    if "score" not in verdict:
        raise ValueError(f"its sample submission: {verdict['message']}")
    return f"its sample submission scores {verdict['score']:.6g}" + (f" ({more[0]})" if more else "")


def look(folder: Path, data: Path | None) -> dict[str, str]:
    """`{grader, kind, why}`, as `_mlebench_page.Row` has them. Whatever the competition's code prints goes to stderr.

    Args:
        data: the folder with its `raw` or `prepared`; None without.
    """
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    grader = str(config["grader"].get("name", ""))
    try:
        with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as project:
            needs = "; ".join(missing(folder, config))
            if data is not None:
                return {"grader": grader, "kind": "runs", "why": scored(folder, data, Path(project))}
            return {"grader": grader, "kind": "package" if needs else "data", "why": needs}
    except Exception as error:  # noqa: BLE001 - somebody else's code and data: the reason is the answer
        said = (str(error).strip().splitlines() or [""])[0]
        why = said if isinstance(error, SwarmEvoError) else f"{type(error).__name__}: {said}"
        return {"grader": grader, "kind": "cannot", "why": why[:300]}
