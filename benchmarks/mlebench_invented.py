"""python -m benchmarks.mlebench_invented CHECKOUT [NAME …]: competitions of MLE-bench as a whole, on invented data.

CHECKOUT is a clone of openai/mle-bench, or the folder of packages that it was installed into; with `--python=FILE` the
package that is installed there grades. Kaggle's data may not be passed on, so raw data of their form are invented; the
competition's own `prepare.py` makes them ready, `main.py` searches with `rules`, and the scores that it tells are
compared with what the competition's own `grade.py` says of the winner's submission. One line for each.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
DRAW = np.random.default_rng(0)
WORDS = np.array([f"{first}{last}" for first in ("ba", "ce", "di", "fo", "gu", "ha") for last in ("n", "r", "s", "lt")])
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)
INSTALLED = """
import sys
from pathlib import Path
from mlebench.registry import registry
from mlebench.utils import load_answers, read_csv
name, submission, answers = sys.argv[1:]
grade = registry.get_competition(name).grader.grade_fn
print(repr(float(grade(read_csv(submission), load_answers(Path(answers))))))
"""
WHOLE = re.compile(r"on the whole test set.*: (-?[\d.e-]+) ")
VERDICT = re.compile(r"^verdict: ([^:;(]*)", re.M)


def invent_text(labels: Any) -> list[str]:
    """Sentences of which some words tell the label."""
    codes = pd.factorize(np.asarray(labels), sort=True)[0]
    return [" ".join([*DRAW.choice(WORDS, 12), *([WORDS[code % 24]] * int(DRAW.integers(0, 4)))]) for code in codes]


def classes_of(folder: Path) -> list[str]:
    """The list CLASSES of a competition's `classes.py`."""
    spec = importlib.util.spec_from_file_location("classes", folder / "classes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.CLASSES)


def packed(path: Path, files: dict[str, bytes | str]) -> None:
    """Write a zip."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def spooky(raw: Path, folder: Path) -> None:
    authors = DRAW.choice(["EAP", "HPL", "MWS"], 3000)
    rows = pd.DataFrame({"id": [f"id{i:05}" for i in range(3000)], "text": invent_text(authors), "author": authors})
    packed(raw / "train.zip", {"train.csv": rows.to_csv(index=False)})


def insults(raw: Path, folder: Path) -> None:
    for name, count, more in (("train", 1500, {}), ("test_with_solutions", 800, {"Usage": "PublicTest"})):
        label = DRAW.integers(0, 2, count)
        text = [f'"{text} {name} {i}"' for i, text in enumerate(invent_text(label))]
        dates = [f"201206{1 + i % 28:02}1310{i % 60:02}Z" if i % 5 else None for i in range(count)]
        pd.DataFrame({"Insult": label, "Date": dates, "Comment": text, **more}).to_csv(raw / f"{name}.csv", index=False)


def pizza(raw: Path, folder: Path) -> None:
    def asked(count: int, first: int, *, labelled: bool) -> list[dict[str, Any]]:
        label = DRAW.random(count) < 0.3
        text = invent_text(label)
        found = [
            {"request_id": f"t3_{first + i}", "request_text_edit_aware": text[i], "requester_username": f"u{first + i}",
             "requester_account_age_in_days_at_request": float(DRAW.random() * 900), "subreddits_at_request": ["a"]}
            for i in range(count)
        ]  # fmt: skip
        extra = [{"requester_received_pizza": bool(said), "post_was_edited": 0} for said in label]
        return [{**row, **more} for row, more in zip(found, extra, strict=True)] if labelled else found

    (raw / "train.json").write_text(json.dumps(asked(2000, 0, labelled=True)))
    (raw / "test.json").write_text(json.dumps(asked(700, 2000, labelled=False)))


def nomad(raw: Path, folder: Path) -> None:
    count = 1200
    rows = pd.DataFrame(DRAW.random((count, 8)).round(4), columns=[f"x{i}" for i in range(8)])
    rows.insert(0, "id", range(1, count + 1))
    rows["formation_energy_ev_natom"] = (rows["x0"] * 0.3 + rows["x1"] ** 2 * 0.1).round(4)
    rows["bandgap_energy_ev"] = (1 + rows["x2"] * 3 + DRAW.random(count) * 0.1).round(4)
    packed(raw / "train.csv.zip", {"train.csv": rows.to_csv(index=False)})
    packed(raw / "test.csv.zip", {"test.csv": rows.iloc[:50, :-2].to_csv(index=False)})
    packed(raw / "train.zip", {f"train/{i}/geometry.xyz": "lattice_vector 1 0 0\n" for i in rows["id"]})
    packed(raw / "test.zip", {"test/1/geometry.xyz": "x\n"})


def cactus(raw: Path, folder: Path) -> None:
    names = [f"{i:032x}.jpg" for i in range(1200)]
    there = DRAW.integers(0, 2, 1200)
    pd.DataFrame({"id": names, "has_cactus": there}).to_csv(raw / "train.csv", index=False)
    packed(raw / "train.zip", {f"train/{name}": desert(bool(has)) for name, has in zip(names, there, strict=True)})


def desert(has_cactus: bool) -> bytes:
    """32 by 32 points of sand, with a column that is a little greener or without."""
    points = DRAW.normal(150, 25, (32, 32, 3))
    if has_cactus:
        left = int(DRAW.integers(2, 26))
        points[int(DRAW.integers(2, 16)) :, left : left + 4] += (-25, 20, -25)
    file = io.BytesIO()
    Image.fromarray(np.uint8(points.clip(0, 255))).save(file, "JPEG")
    return file.getvalue()


def leaf(raw: Path, folder: Path) -> None:
    species = np.array(classes_of(folder) * 10)
    codes = pd.factorize(species)[0]
    rows = pd.DataFrame({"id": range(1, len(species) + 1), "species": species})
    noise = DRAW.normal(size=(len(species), 20)) * 0.3
    measures = pd.DataFrame(
        np.sin(codes[:, None] * np.arange(1, 21)) + noise, columns=[f"margin{i}" for i in range(20)]
    )
    packed(raw / "train.csv.zip", {"train.csv": pd.concat([rows, measures], axis=1).to_csv(index=False)})
    packed(raw / "images.zip", {f"images/{i}.jpg": PIXEL for i in rows["id"]})


def december(raw: Path, folder: Path) -> None:
    rows = pd.DataFrame(DRAW.integers(0, 300, (20_000, 10)), columns=[f"c{i}" for i in range(10)])
    rows.insert(0, "Id", range(20_000))
    rows["Cover_Type"] = 1 + (rows["c0"] // 50 + rows["c1"] // 200) % 7
    rows.to_csv(raw / "train.csv", index=False)


def may(raw: Path, folder: Path) -> None:
    rows = pd.DataFrame(DRAW.normal(size=(120_000, 6)).round(3), columns=[f"f_{i:02}" for i in range(6)])
    rows.insert(0, "id", range(len(rows)))
    rows["target"] = (rows["f_00"] * rows["f_01"] + DRAW.normal(size=len(rows)) > 0).astype(int)
    rows.to_csv(raw / "train.csv", index=False)


def patents(raw: Path, folder: Path) -> None:
    score = DRAW.choice([0, 0.25, 0.5, 0.75, 1], 2500)
    pd.DataFrame(
        {"id": [f"{i:016x}" for i in range(2500)], "anchor": DRAW.choice(WORDS, 2500), "target": invent_text(score),
         "context": DRAW.choice(["A47", "H01", "C10"], 2500), "score": score}
    ).to_csv(raw / "train.csv", index=False)  # fmt: skip


def toxic(raw: Path, folder: Path) -> None:
    names = classes_of(folder)

    def side(count: int, mark: str) -> pd.DataFrame:
        label = DRAW.integers(0, 2, (count, len(names)))
        text = [" ".join(WORDS[i] for i in np.flatnonzero(row)) + " and so on" for row in label]
        ids = [f"{mark}{i:012x}" for i in range(count)]
        return pd.DataFrame({"id": ids, "comment_text": text, **dict(zip(names, label.T, strict=True))})

    train, test = side(1500, "0000"), side(800, "1111")
    answers = test.drop(columns="comment_text")
    answers.loc[::4, names] = -1  # rows that were not scored
    shown = test[["id", "comment_text"]]
    for name, rows in (("train", train), ("test", shown), ("test_labels", answers), ("sample_submission", answers)):
        packed(raw / f"{name}.csv.zip", {f"{name}.csv": rows.to_csv(index=False)})


def taxi(raw: Path, folder: Path) -> None:
    count = 30_000
    times = pd.Timestamp("2012-01-01") + pd.to_timedelta(DRAW.integers(0, 10**8, count), unit="s")
    ways = DRAW.normal(size=(count, 4)) * 0.03 + [-73.9, 40.7, -73.9, 40.7]
    rows = pd.DataFrame({"key": [f"{at}.{i:07}" for i, at in enumerate(times)]})
    rows["fare_amount"] = (3 + 200 * np.hypot(ways[:, 0] - ways[:, 2], ways[:, 1] - ways[:, 3])).round(2)
    rows["pickup_datetime"] = [f"{at} UTC" for at in times]
    names = ["pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude"]
    rows[names] = ways.round(6)
    rows["passenger_count"] = DRAW.integers(1, 6, count)
    rows.to_csv(raw / "train.csv", index=False)
    (raw / "GCP-Coupons-Instructions.rtf").write_text("{\\rtf1 none}")


INVENTED: dict[str, Callable[[Path, Path], None]] = {
    "spooky-author-identification": spooky,
    "detecting-insults-in-social-commentary": insults,
    "random-acts-of-pizza": pizza,
    "nomad2018-predict-transparent-conductors": nomad,
    "aerial-cactus-identification": cactus,
    "leaf-classification": leaf,
    "tabular-playground-series-dec-2021": december,
    "tabular-playground-series-may-2022": may,
    "us-patent-phrase-to-phrase-matching": patents,
    "jigsaw-toxic-comment-classification-challenge": toxic,
    "new-york-city-taxi-fare-prediction": taxi,
}


def search(name: str, folder: Path, work: Path, seconds: float, python: str | None) -> dict[str, Any]:
    """One run of `main.py`: its exit status, scores and output."""
    (work / name / "raw").mkdir(parents=True)
    INVENTED[name](work / name / "raw", folder)
    command = [
        sys.executable, str(ROOT / "main.py"), f"--problem.path={folder}", f"--problem.options.data={work / name}",
        f"--project.dir={work}", f"--budget.seconds={seconds}", *([f"--execution.python={python}"] if python else []),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, timeout=600, check=False)
    said = done.stdout + done.stderr
    runs = sorted((work / "logs").glob("*/metrics.json"), key=lambda path: path.stat().st_mtime)
    metrics = json.loads(runs[-1].read_text()) if runs else {}
    return {"status": done.returncode, "said": said, "metrics": metrics, "run": runs[-1].parent if runs else None}


def graded(folder: Path, submission: Path, answers: Path, python: str | None) -> float:
    """What the competition's own grader says of a submission: in this process, or in the package that `python` has."""
    if python:
        command = [python, "-c", INSTALLED, folder.name, str(submission), str(answers)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
    from problems.competition.grader.mlebench.shim import import_function, install

    install(folder)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    grade = import_function(folder, config["grader"]["grade_fn"])
    return float(grade(pd.read_csv(submission), pd.read_csv(answers)))


def compared(found: dict[str, Any], folder: Path, work: Path, name: str, python: str | None) -> str:
    """What the run told, beside what the grader says of the same rows of the winner's submission."""
    prepared = next((work / "workspaces" / ".prepared").glob(f"{name}-*"))
    exam = json.loads((prepared / "private" / "exam.json").read_text())
    answers, submission = prepared / exam["answers"], found["run"] / "best_solution" / "submission.csv"
    rows, handed = pd.read_csv(answers), pd.read_csv(submission)
    told = found["metrics"][-1]
    whole = WHOLE.search(found["said"])
    pairs = [(float(whole[1]) if whole else told["winner_metric"], graded(folder, submission, answers, python))]
    for part, value in (("validation", told["winner_metric"]), ("final", told["final_metric"])):
        if not exam["parts"]:
            break
        some = rows.iloc[exam["parts"][part]]
        some.to_csv(work / "answers.csv", index=False)
        handed.set_index(exam["id"]).loc[some[exam["id"]]].reset_index().to_csv(work / "handed.csv", index=False)
        pairs.append((value, graded(folder, work / "handed.csv", work / "answers.csv", python)))
    same = all(abs(mine - theirs) <= 1e-5 * max(1, abs(theirs)) for mine, theirs in pairs)
    scores = " / ".join(f"{mine:.6g}" for mine, _ in pairs) + ("" if exam["parts"] else " (not split)")
    return f"{scores} | {'equal' if same else 'differs: ' + ' / '.join(f'{theirs:.6g}' for _, theirs in pairs)}"


def line(name: str, checkout: Path, seconds: float, python: str | None) -> str:
    """A row of the table: the scores, whether they are the grader's, the verdict, and the time that it took."""
    folder, work, begin = checkout / "mlebench" / "competitions" / name, Path(tempfile.mkdtemp()), time.monotonic()
    try:
        found = search(name, folder, work, seconds, python)
        if not found["status"] and not found["metrics"]:
            return f"| {name} | no step ended within {seconds:g} s | | |"
        if found["status"]:
            last = found["said"].strip().splitlines()[-1:]
            return f"| {name} | exit status {found['status']} | {' '.join(last)[:200]} | |"
        verdict = VERDICT.search(found["said"])
        took = f"{len(found['metrics'])} steps, {time.monotonic() - begin:.0f} s"
        scores = compared(found, folder, work, name, python)
        return f"| {name} | {scores} | {verdict[1].strip() if verdict else ''} | {took} |"
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", choices=[*INVENTED, []], help="which of them; all where none is named")
    parser.add_argument("--seconds", type=float, default=20, help="of each search")
    parser.add_argument("--python", metavar="FILE", help="the Python of an environment in which mlebench is installed")
    args = parser.parse_args()
    print("| competition | told: whole test / validation / final | the grader's | verdict | |\n|---|---|---|---|---|")
    for name in args.names or INVENTED:
        print(line(name, args.checkout.resolve(), args.seconds, args.python), flush=True)


if __name__ == "__main__":
    main()
