"""The winner as a notebook for Kaggle: the competition's own files in, a checked submission out, nothing of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.evaluation.grading import GradingFault, python_command, run_trusted
from core.state.node import Node
from problems.competition.export import NO_TEST
from problems.competition.prepared import LAUNCH, Prepared
from problems.competition.source import Source
from utils.errors import ConfigError, SwarmEvoError

_HEAD = """# {title}

{message}

Attach the data (*Add Input*) and run all cells: the program learns every labelled row and leaves `submission.csv`.
The data are found by the names of their files, below `/kaggle/input` or beside this notebook. Elsewhere, set
`SWARM_EVO_DATA` to their folder, and `SWARM_EVO_WORKING` to one to work in.
"""

_FIND = """import os
import shutil
import subprocess
import sys
from glob import escape
from pathlib import Path

import pandas as pd

FILES = {files!r}  # by these the data are known


os.chdir(globals().setdefault("HERE", os.getcwd()))  # run again, it begins where it began
kaggle = Path("/kaggle/working")
WORKING = Path(os.environ.get("SWARM_EVO_WORKING", kaggle if kaggle.is_dir() else "kaggle_working")).resolve()
OWN = [WORKING / name for name in ("input", "working", "submission")]  # made anew by every run: never the data
OWN += [] if WORKING == Path.cwd() else [WORKING]


def is_own(path):
    return any(path.is_relative_to(place) for place in OWN)


def found(folder, name):
    return next((path for path in folder.rglob(escape(name)) if not is_own(path)), None)


def has_all(folder):
    return folder.is_dir() and all(found(folder, name) for name in FILES)


def data_in(places):  # the innermost folder that has all files
    for place in places:
        if has_all(place):
            return data_in(sorted(path for path in place.iterdir() if path.is_dir())) or place.resolve()


PLACES = [os.environ["SWARM_EVO_DATA"]] if "SWARM_EVO_DATA" in os.environ else ["/kaggle/input", "."]
DATA = data_in(Path(place).resolve() for place in PLACES)
if DATA is None:
    raise FileNotFoundError(f"no folder in {{' or '.join(PLACES)}} has the files {{', '.join(FILES)}}: add the data")
print("data:", DATA)
WORKING.mkdir(exist_ok=True)
os.chdir(WORKING)
for name in ("input", "working", "submission"):
    shutil.rmtree(name, ignore_errors=True)
    Path(name).mkdir()
"""

_LINK = """for path in DATA.iterdir():
    if not is_own(path):
        Path("input", path.name).symlink_to(path.resolve())
sample = pd.read_csv("input/sample_submission.csv")
"""

_JSON = """def json_table(path, packed="", encoding="utf-8", errors="strict", lined=False, as_written=False):
    ways = {"": open, "gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    with ways[packed](path, "rt", encoding=encoding, errors=errors) as text:
        if lined:
            return read_lines(text, as_written=as_written)
        return read_records(text, as_written=as_written)[0]


"""

_TABLES = '''{json}KEY, TARGETS, COLUMNS = {key!r}, {targets!r}, {columns!r}  # as the program knows them


def read(name):
    """The table of that name in the data, in a folder of it too."""
    return found(DATA, name)


train = {train[function]}(read({train[file]!r}){train[how]})
{lost}{joined}test = {test[function]}(read({test[file]!r}){test[how]})
{blank}{flat}{written}{amounts}{dates}train = train.dropna(subset=TARGETS)
{sample}{names}{whole}if KEY not in train:
    train.insert(0, KEY, range(len(train)))
    test.insert(0, KEY, range(len(train), len(train) + len(test)))
train.to_csv("input/train.csv", index=False)
test.drop(columns=TARGETS, errors="ignore").to_csv("input/test.csv", index=False)
guess = pd.DataFrame({{KEY: test[KEY], **{{name: {neutral} for name in COLUMNS}}}})
guess.to_csv("input/sample_submission.csv", index=False)
for path in DATA.iterdir():
    if path.name not in {own!r} and not is_own(path):
        place = Path("input", path.name)
        (Path("input", f"further_{{path.name}}") if place.exists() else place).symlink_to(path.resolve())
'''

_AMOUNTS = """for table in (train, test):  # amounts such as $1,200, 72 kg or 1.5M are numbers
    for name, (fraction, missing, scales) in {amounts!r}.items():
        if name not in table or pd.api.types.is_numeric_dtype(table[name]):
            continue
        cells = table[name].mask(table[name].astype(str).str.strip().isin(missing))
        if not fraction:
            table[name] = pd.to_numeric(cells).astype(float)
        elif fraction == ":":
            table[name] = cells.map(clock_in, na_action="ignore").astype(float)
        else:
            parts = cells.astype("string").str.extract(r"^(\\D*)(\\d[\\d.,'’ \u00a0\u202f]*)(.*)")
            digits = parts[1].str.replace(rf"[^\\d{{fraction}}]", "", regex=True).str.replace(fraction, ".")
            units = parts[2].str.strip(" .").str.lower().str.rstrip("s")
            number = digits.astype(float) * units.map(scales).astype(float).fillna(1)
            table[name] = number.where(~parts[0].str.contains("[-\u2212(]", na=False), -number)
"""

_DATES = """for table in (train, test):  # dates as ISO 8601
    for name, way in {dates!r}.items():
        if name in table:
            table[name] = iso_dates(table[name], *way)
"""

_BLANK = """blank = train[TARGETS].isna().all(axis=1).to_numpy()  # the rows to predict are those without a label
test = test[blank].reset_index(drop=True)
"""

_FLAT = """train, test = (flat(table, "")[0] for table in (train, test))
"""

_WRITTEN = """test = test.rename(columns={same!r})  # as the training table writes them
"""

_LOST = """spelled = {function}(read({file!r}){texts})
for name, words in {lost!r}.items():  # classes that pandas takes for missing, or that have an order
    {table}[name] = spelled[name].map(words).fillna({table}[name])
"""

_LABELS = """labels = {function}(read({file!r}){how})
{lost}"""

_BY_KEY = """

def keys(ids):
    \"\"\"As text: 7, 7.0 and "7" are one id.\"\"\"
    if pd.api.types.is_float_dtype(ids) and (ids.dropna() % 1 == 0).all():
        ids = ids.astype("Int64")
    return ids.astype("string")


labels.index = keys(labels[{key!r}])
for name in {columns!r}:  # the labels stand in a table of their own
    train[name] = labels[name].reindex(keys(train[{key!r}])).to_numpy()
"""

_BY_ROW = """for name in {columns!r}:  # the labels stand in a table of their own, row by row
    train[name] = labels[name].to_numpy()
"""

_NAMES = """names = {function}(read({file!r}){texts})[{column!r}].astype(str){rows}  # ids as they stand
places = range(len(test))
"""

_COMPOSED = """cells = {function}(read({file!r}){texts}).astype(str).apply(lambda column: column.str.strip())
names = {joined}
places = pd.Index(names).get_indexer(spelled[{column!r}].str.strip())
assert (places >= 0).all(), "the sample's ids are not those of the test"
names = spelled[{column!r}]
"""

_NUMBERS = """names, places = pd.Series(range(len(test))), range(len(test))
"""

_ORDER = """places = pd.Index(names).get_indexer(spelled[{column!r}])  # of the sample's rows in the test
if (places < 0).any():
    places = pd.Index(test[{source!r}]).get_indexer(sample[{column!r}])
assert (places >= 0).all(), "the sample's ids are not those of the test"
names = spelled[{column!r}]
"""

_WHOLE = """for name in TARGETS:  # classes 1.0 and 2.0 are 1 and 2
    if pd.api.types.is_float_dtype(train[name]) and (train[name] % 1 == 0).all():
        train[name] = train[name].astype("int64")
"""

_RUN = """subprocess.run([sys.executable, "solution.py"], check=True)
"""

_CHECK_LINKED = """made = pd.read_csv("submission/submission.csv")
assert list(made) == list(sample), f"columns {{list(made)}}, the sample has {{list(sample)}}"
assert set(made.iloc[:, 0]) == set(sample.iloc[:, 0]) and len(made) == len(sample), "its ids are not the sample's"
assert made.notna().all().all(), "values are missing"
made.to_csv("submission.csv", index=False)
made.head()
"""

_CHECK = """made = pd.read_csv("submission/submission.csv")
FORM = {form!r}  # columns of the file that is handed in, the program's, how they are made
assert sorted(made) == sorted([KEY, *COLUMNS]), f"columns {{list(made)}}, the program's are {{[KEY, *COLUMNS]}}"
made = made.set_index(KEY).loc[test[KEY]].reset_index().iloc[places].reset_index(drop=True)
made[KEY] = names.to_numpy()
{spelling}{best}made = pd.DataFrame({{theirs: {other}{kept}{ranked}made[ours] for theirs, ours, how in FORM}})
assert made.notna().all().all() and len(made) == len(test), "values are missing"
{check}made{nameless}.to_csv("submission.csv", index=False)
made.head()
"""

_SPELLING = """for name, words in {words!r}.items():  # classes as they stand in the table
    known = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in made[name]]
    made[name] = [words.get(word, word) for word in known]
"""

_BEST = """NAMES = {names!r}  # of the best classes, by the program's column
ordered = (-made[list(NAMES)].astype(float)).to_numpy().argsort(axis=1, kind="stable")[:, :{most}]
best = [{mark!r}.join(list(NAMES.values())[place] for place in row) for row in ordered]
"""

_SAMPLE = """sample = {function}(read({file!r}){how})
spelled = {function}(read({file!r}){texts}).astype(str)
"""

_IDS = """assert list(made[{column!r}]) == list(spelled[{column!r}]), "its ids are not the sample's"
"""

_SAME = """assert list(made) == list(sample), f"columns {{list(made)}}, the sample has {{list(sample)}}"
{ids}"""

_UNLIKE = """print({told!r})
"""


def write_notebook(node: Node, target: Path, message: str, source: Source, prepared: Prepared) -> None:
    """Write the notebook. ConfigError where its cells could not make the program's input from the user's files."""
    if source.request["kind"] == "own":
        if read := [name for name in _made_tables(prepared.meta) if name in node.code]:
            told = "is made of other files of yours: save it as CSV yourself"
            raise ConfigError(f"export-best --notebook: input/{read[0]}, which the program reads, {told}")
        first, last, files = _own(source, prepared)
    else:
        first, last, files = _LINK, _CHECK_LINKED, [name for name in prepared.meta["files"] if name.endswith(".csv")]
    cells = [
        _cell("markdown", _HEAD.format(title=source.name, message=message)),
        _cell("code", _FIND.format(files=files) + first),
        _cell("code", f"%%writefile solution.py\n{node.code}"),
        _cell("code", _RUN),
        _cell("code", last),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    page = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    target.write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")


def _made_tables(meta: dict[str, Any]) -> list[str]:
    """Further tables that are made of files of the user's."""
    return [*meta.get("joined_tables", ()), *(name for names in meta.get("read_as", {}).values() for name in names)]


def _own(source: Source, prepared: Prepared) -> tuple[str, str, list[str]]:
    """The cells that make `input/` of the user's tables and give his rows their names back; the tables' files."""
    if source.request.get("sorted"):
        raise ConfigError("export-best --notebook: the labels are names of folders; the notebook reads tables")
    try:
        ways = run_trusted(python_command(LAUNCH, "prepare"), {**source.request, "verb": "ways"}, timeout=600)
    except GradingFault as error:
        raise SwarmEvoError(f"export-best --notebook: {error}") from error
    if "config_error" in ways:
        raise ConfigError(ways["config_error"])
    if "test" not in ways["tables"]:
        raise ConfigError(f"export-best --notebook: {NO_TEST}; begin a run with one, --data.test=FILE")
    meta = prepared.meta
    own = json.loads((prepared.folder / "private" / "user_rows.json").read_text(encoding="utf-8"))
    if own["long"]:
        raise ConfigError(
            "export-best --notebook: the sample submission has a row for each prediction; export-best alone"
        )
    tables = {name: {**way, "how": _words(way["how"]), "texts": _words(way["texts"])} for name, way in
              ways["tables"].items()}  # fmt: skip
    classes = meta.get("task") == "classes"
    sample: dict[str, Any] | None = tables.get("sample")
    files = [table["file"] for table in tables.values()]
    has_json = any(table["function"] == "json_table" for table in tables.values())
    first = _TABLES.format(
        json="import bz2\nimport gzip\nimport lzma\n" + _source("json_records") + _JSON if has_json else "",
        key=meta["id"], targets=ways["targets"], columns=meta["targets"],
        lost=_lost(own, tables["train"], "train", ways),
        sample=_SAMPLE.format(**sample) if sample else "", names=_names(own, tables, ways),
        blank=_BLANK if ways["blank"] else "",
        flat=_source("nested_cells") + _FLAT if ways["flat"] else "", written=_written(ways["written"]),
        amounts=_amounts(ways["amounts"]), dates=_dates(ways["dates"]),
        neutral="1 / len(COLUMNS)" if classes else "train[name].mode()[0]", whole=_WHOLE if classes else "",
        own=files, joined=_joined(own, tables, ways), **{n: tables[n] for n in ("train", "test")},
    )  # fmt: skip
    return first, _last(own, sample=sample is not None), files


def _amounts(forms: dict[str, list[Any]]) -> str:
    """What makes numbers of amounts; `forms` is column → its mark of fractions, words for missing values, scales."""
    has_clocks = any(fraction == ":" for fraction, *_ in forms.values())
    return (_source("clocks") if has_clocks else "") + (_AMOUNTS.format(amounts=forms) if forms else "")


def _dates(forms: dict[str, list[Any]]) -> str:
    """What writes dates as ISO 8601; `forms` is column → arguments of `iso_dates`."""
    return _source("iso_dates") + _DATES.format(dates=forms) if forms else ""


def _source(module: str) -> str:
    """A module that needs nothing of ours, from below its first import."""
    text = (Path(__file__).parent / "grader" / "tables" / f"{module}.py").read_text(encoding="utf-8")
    return text.partition("import annotations\n")[2].strip() + "\n\n\n"


def _written(names: dict[str, str]) -> str:
    """The line that calls the test's columns as the training table does; `names` is column → what the test calls it."""
    return _WRITTEN.format(same={theirs: ours for ours, theirs in names.items()}) if names else ""


def _last(own: dict[str, Any], *, sample: bool) -> str:
    """The cell that brings what the program wrote into the user's form, and checks it."""
    ids = _IDS.format(column=own["column"]) if own["by_sample"] else ""
    check = _UNLIKE.format(told=own["unlike"]) if own["unlike"] else _SAME.format(ids=ids)
    ways = {how for *_, how in own["columns"]}
    words = {name: found for name, found in own["words"].items() if found}
    return _CHECK.format(
        form=[tuple(column) for column in own["columns"]], check=check if sample else "",
        spelling=_SPELLING.format(words=words) if words else "",
        other='1 - made[ours] if how == "other" else ' if "other" in ways else "",
        kept='spelled[theirs] if how == "kept" else ' if "kept" in ways else "",
        ranked='best if how == "ranked" else ' if "ranked" in ways else "",
        best=_BEST.format(**own["ranked"]) if "ranked" in ways else "",
        nameless=f".rename(columns={dict.fromkeys(own['nameless'], '')!r})" if own["nameless"] else "",
    )  # fmt: skip


def _lost(own: dict[str, Any], way: dict[str, Any], table: str, ways: dict[str, Any]) -> str:
    """Lines that give back the labels of a table that pandas takes for missing."""
    elsewhere = ways["joined"]["columns"] if ways["joined"] else []
    here = [name for name in own["lost"] if (name in elsewhere) == (table == "labels")]
    lost = {name: own["lost"][name] for name in here if own["lost"][name]}
    return _LOST.format(lost=lost, table=table, **way) if lost else ""


def _joined(own: dict[str, Any], tables: dict[str, Any], ways: dict[str, Any]) -> str:
    """Lines that take the targets from a second table, as the preparation did."""
    if not ways["joined"]:
        return ""
    lines = _LABELS.format(lost=_lost(own, tables["labels"], "labels", ways), **tables["labels"])
    return lines + (_BY_KEY if ways["joined"]["key"] else _BY_ROW).format(**ways["joined"])


def _names(own: dict[str, Any], tables: dict[str, Any], ways: dict[str, Any]) -> str:
    """Lines that give the user's rows their names, in the order in which they are handed in."""
    written = ways["written"]
    if not own["table"]:
        return _NUMBERS
    if how := own["composed"]:
        parts = [f"cells[{written.get(part, part)!r}]" for part in how["parts"]]
        joined = parts[0] + "".join(f" + {mark!r} + {part}" for mark, part in zip(how["marks"], parts[1:], strict=True))
        return _COMPOSED.format(joined=joined, column=own["column"], **tables["test"])
    rows = "[blank].reset_index(drop=True)" if ways["blank"] and own["table"] == "test" else ""
    lines = _NAMES.format(column=own["source"], rows=rows, **tables[own["table"]])
    by_sample = own["by_sample"] and own["table"] == "test"
    ours = {theirs: name for name, theirs in written.items()}.get(own["source"], own["source"])
    return lines + (_ORDER.format(column=own["column"], source=ours) if by_sample else "")


def _words(how: dict[str, Any]) -> str:
    """Arguments of a call, after the first."""
    return "".join(f", {name}={value!r}" for name, value in how.items())


def _cell(kind: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n")}
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})
