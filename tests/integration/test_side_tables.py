"""Further tables whose columns name rows of the tables to learn and to predict: `rules` joins them."""

import gzip
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand

from problems.competition.rules import script, side_lines
from problems.competition.rules.facts import read_facts
from problems.competition.rules.recipe import Member, Recipe
from problems.competition.rules.writer import own_recipe

ROWS = 400
DRAW = np.random.default_rng(0)
SHOPS = pd.DataFrame(
    {"Shop": np.arange(40), "area": DRAW.normal(size=40).round(3), "owner": DRAW.choice(["Ada", "Bo"], 40)}
)
DAYS = pd.date_range("2021-03-01", periods=30)
WEATHER = pd.DataFrame(
    {"town": np.repeat(["Öl", "Au"], 30), "Day": np.tile(DAYS.strftime("%Y%m%d"), 2), "rain": DRAW.normal(size=60)}
)
VISITS = pd.DataFrame({"shop": DRAW.integers(0, 40, 2000), "when": DRAW.choice(DAYS.strftime("%Y-%m-%d"), 2000)})
VISITS["spent"] = (DRAW.normal(size=2000) + SHOPS["area"].to_numpy()[::-1][VISITS["shop"]]).round(3)
VISITS["paid"] = DRAW.choice(["cash", "card", None], 2000)


def sales() -> pd.DataFrame:
    """The main table: what a shop sold on a day, of which it says nothing but the names."""
    place, day, town = DRAW.integers(0, 40, ROWS), DRAW.integers(0, 30, ROWS), DRAW.integers(0, 2, ROWS)
    sold = 3 * SHOPS["area"].to_numpy()[place] + 3 * SHOPS["area"].to_numpy()[::-1][place]
    sold = sold + 3 * WEATHER["rain"].to_numpy()[30 * town + day] + DRAW.normal(0, 0.3, ROWS)
    named = {"shop": place, "day": DAYS.strftime("%d.%m.%Y").to_numpy()[day], "town": np.array(["Öl", "Au"])[town]}
    return pd.DataFrame({**named, "sold": sold.round(3)})


ODD = {
    "empty.csv": b"", "head.csv": b"shop,size\n", "blank.csv": b"shop,size\n1,\n2,\n", "other.csv": b"x,y\n1,2\n",
    "elsewhere.csv": b"shop,size\n900,1\n901,2\n", "torn.csv.gz": gzip.compress(b"shop,size\n1,2\n" * 99)[:60],
    "lines.csv": b"\n\n\n", "quotes.csv": b'shop,"a ""b"",c"\n' + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(40)),
    "twice.csv": b"shop,size,size\n" + b"".join(b"%d,%d,%d\n" % (i, i % 3, i % 5) for i in range(40)),
    "infinite.csv": b"shop,size\n" + b"".join(b"%d,%s\n" % (i, [b"inf", b"1", b"x"][i % 3]) for i in range(40)),
    "words.csv": b"shop,{w[<\n" + b"".join(b'"%d.0 ",%d\n' % (i, i % 4) for i in range(40)),
    "sold.csv": b"shop,SOLD\n1,2\n",
    "parts.csv": b"shop;size\n" + b"".join(b"%d;1,5\n%d;2,5\n" % (i, i) for i in range(40)),
}  # fmt: skip


def brought(folder, **tables: bytes | pd.DataFrame):
    folder.mkdir()
    sales().to_csv(folder / "train.csv", index=False)
    for name, table in tables.items():
        text = table if isinstance(table, bytes) else table.to_csv(index=False).encode()
        (folder / name).write_bytes(text)
    return f"data.dir={folder}", "data.target=sold", "data.metric=rmse", "budget.seconds=20"


def draft(stand):
    """The recipe that the first program is written from."""
    context = {"extras": stand.problem.prompt_extras(), "task": {"operator": "draft"}, "ordinal": 0}
    reply = stand.problem.rules().write(context, random.Random(0))
    return own_recipe(reply.partition("```python\n")[2].rpartition("```")[0], facts_of(stand))


def facts_of(stand):
    return read_facts(stand.problem.prompt_extras())


def program(stand, family="hgb"):
    """All tables that the first draft joins, and a quick model."""
    quick = (("max_iter", 40), ("min_samples_leaf", 5)) if family == "hgb" else ()
    recipe = Recipe(features=("sifted",), members=(Member(family, quick),), tables=draft(stand).tables)
    return script.render(recipe, facts_of(stand))


def scored(stand, code):
    _, verdict = stand.score(code)
    assert verdict.metric is not None, verdict
    return verdict.metric


def test_rules_join_one_row_and_several_of_a_key_and_keys_of_two_columns(tmp_path, inline):
    visits = VISITS.rename(columns={"shop": "SHOP"}).to_csv(index=False, sep="\t").encode()
    words = brought(
        tmp_path / "mine",
        **{"shops.csv": SHOPS.astype({"Shop": float}), "weather.csv": WEATHER, "visits.tsv.gz": gzip.compress(visits)},
    )
    stand = Stand(tmp_path, *words)
    told = "the rules writer joins shops.csv by shop = Shop, visits.tsv.gz by shop = SHOP (summed up)"
    assert told in stand.problem.note and "weather.csv by day = Day and town" in stand.problem.note
    assert (
        "rows for those of the tables to learn and to predict lie in input/visits.tsv.gz, by" in stand.problem.preview()
    )
    code = program(stand)
    assert [side.one for side in facts_of(stand).sides] == [True, False, True]
    without = code.replace("rows, test_rows = joined(", "joined(")
    assert scored(stand, code) < 0.5 * scored(stand, without)
    stand.close()


def told_by(stand, side, **replaced):
    """The rows to predict with what a program's lines join to them."""
    code = "\n".join(side_lines.lines([replace(side, **replaced)], [])).replace("chunksize=200_000", "chunksize=37")
    train, test = (pd.read_csv(stand.problem.input_dir / f"{name}.csv") for name in ("train", "test"))
    space = {"pd": pd, "np": np, "train": train, "test": test, "rows": train, "test_rows": test}
    exec(code.replace("input/", f"{stand.problem.input_dir}/"), space)
    return space["test_rows"].drop(columns=list(test)), test


def test_what_has_no_room_is_summed_up_in_pieces_and_tells_the_same(tmp_path, inline):
    """As of payments, of which there are millions: sums of pieces are those of the whole."""
    stand = Stand(tmp_path, *brought(tmp_path / "mine", **{"visits.csv": VISITS}))
    (visits,) = facts_of(stand).sides
    (whole, _), (pieces, _) = told_by(stand, visits), told_by(stand, visits, in_pieces=True)
    assert pieces.shape[1] > 5 and set(pieces) <= set(whole)
    pd.testing.assert_frame_equal(whole[list(pieces)], pieces, check_dtype=False)
    stand.close()


def test_a_table_is_joined_by_two_columns_of_ours_and_lies_in_a_folder(tmp_path, inline):
    """As airports are, of departure and of arrival."""
    folder = tmp_path / "mine"
    (folder / "more").mkdir(parents=True)
    ports = pd.DataFrame({"faa": [f"P{number:02}" for number in range(40)], "height": DRAW.normal(size=40).round(3)})
    start, end = DRAW.integers(0, 40, (2, ROWS))
    flights = pd.DataFrame({"origin": ports["faa"].to_numpy()[start], "dest": ports["faa"].to_numpy()[end]})
    late = ports["height"].to_numpy()[start] - 2 * ports["height"].to_numpy()[end] + DRAW.normal(0, 0.1, ROWS)
    flights.assign(late=late.round(3)).to_csv(folder / "train.csv", index=False)
    ports.to_csv(folder / "more" / "airports.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=late", "data.metric=rmse", "budget.seconds=20")
    assert "joins more/airports.csv by origin = faa and by dest = faa" in stand.problem.note
    told, test = told_by(stand, *facts_of(stand).sides)
    heights = ports.set_index("faa")["height"]
    assert told["more_airports_height"].tolist() == heights[test["origin"]].tolist()
    assert told["more_airports_dest_height"].tolist() == heights[test["dest"]].tolist()
    scored(stand, program(stand))
    stand.close()


@pytest.mark.parametrize("lines", [False, True])
def test_tables_in_json_are_joined(tmp_path, inline, lines):
    text = SHOPS.to_json(orient="records", lines=lines).encode()
    beside = {"shops.jsonl" if lines else "shops.json": text, "told.json": b'{"shop": {"a": [1]}}'}
    stand = Stand(tmp_path, *brought(tmp_path / "mine", **beside))
    assert f"joins shops.json{'l' if lines else ''} by shop = Shop, and reads none of told.json" in stand.problem.note
    told, test = told_by(stand, *facts_of(stand).sides)
    assert told["shops_area"].tolist() == SHOPS["area"][test["shop"]].tolist()
    scored(stand, program(stand))
    stand.close()


def test_odd_tables_break_no_program(tmp_path, inline):
    stand = Stand(tmp_path, *brought(tmp_path / "mine", **ODD))
    joined = {one["file"] for one in stand.problem.prompt_extras()["data"]["side_tables"]}
    assert joined == {"quotes.csv", "infinite.csv", "words.csv", "parts.csv", "twice.csv"}, stand.problem.note
    assert "sold.csv" in stand.problem.note and not (stand.problem.input_dir / "sold.csv").exists()
    for family in ("hgb", "ridge"):
        scored(stand, program(stand, family))
    stand.close()


@pytest.mark.parametrize("least", [500_000, 1])
def test_where_the_main_table_says_nothing_else_programs_stand_on_further_tables(tmp_path, inline, monkeypatch, least):
    """As KKBox has it: customers and whether they left, all else in other tables. Of large ones no more is read than is
    needed, and what names their rows is needed."""
    monkeypatch.setattr("problems.competition.rules.size.NARROW", least)
    folder = tmp_path / "mine"
    folder.mkdir()
    ids = [f"c{number:05}=" for number in DRAW.permutation(300)]
    pays = np.repeat(np.arange(300), 4)
    left = (DRAW.random(300) < 0.4).astype(int)
    paid = pd.DataFrame({"msno": np.array(ids)[pays], "paid": (left[pays] + DRAW.normal(size=1200)).round(3)})
    table = pd.DataFrame({"msno": ids, "left": left})
    table[:250].to_csv(folder / "train.csv", index=False)
    table[250:].drop(columns="left").to_csv(folder / "test.csv", index=False)
    table[250:].assign(left=0.5).to_csv(folder / "sample_submission.csv", index=False)
    paid.to_csv(folder / "payments.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=left", "data.metric=auc", "budget.seconds=20")
    assert [baseline.name for baseline in stand.problem.baselines()] == ["dummy"]
    code = program(stand)
    assert ("usecols" in code.partition("def ")[0]) is (least == 1) and scored(stand, code) > 0.7
    stand.close()


@pytest.mark.parametrize("name", ["noisy", "parts"])
def test_tables_that_hold_the_target_under_the_key_are_told(tmp_path, inline, name):
    table = sales()
    table.insert(0, "sale", [f"S{number}" for number in DRAW.permutation(ROWS)])
    many = table["sold"] > table["sold"].median() if name == "noisy" else table["sold"]
    held = many.astype(float) + DRAW.normal(0, 0.02, ROWS) if name == "noisy" else many
    halves = [pd.DataFrame({"sale": table["sale"], "got": part}) for part in (held * 0.3, held * 0.7)]
    folder = tmp_path / "mine"
    folder.mkdir()
    table.assign(sold=many.astype(int) if name == "noisy" else many).to_csv(folder / "train.csv", index=False)
    pd.concat(halves).sample(frac=1, random_state=0).to_csv(folder / "got.csv", index=False)
    metric = "auc" if name == "noisy" else "rmse"
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=sold", f"data.metric={metric}")
    told = "possible leak: got of got.csv tells sold exactly; is it known when you predict?"
    assert told in stand.problem.cautions or not (stand.problem.input_dir / "got.csv").exists()
    stand.close()


@pytest.mark.parametrize("name", ["filled", "dates"])
def test_a_column_of_a_further_table_that_parts_two_classes_is_told(tmp_path, inline, name):
    """A date of one half of the year for each class, or any for one class alone: the classes are no words of theirs."""
    table = sales()
    table.insert(0, "sale", [f"S{number}" for number in DRAW.permutation(ROWS)])
    table["sold"] = (table["sold"] > table["sold"].median()).astype(int)
    month = DRAW.integers(1, 7, ROWS) + (table["sold"] * 6 if name == "dates" else 0)
    days = [f"2024-{m:02d}-{d:02d}" for m, d in zip(month, DRAW.integers(1, 29, ROWS), strict=True)]
    closed = days if name == "dates" else [day if sold else "" for day, sold in zip(days, table["sold"], strict=True)]
    folder = tmp_path / "mine"
    folder.mkdir()
    table.to_csv(folder / "train.csv", index=False)
    pd.DataFrame({"sale": table["sale"], "closed": closed}).sample(frac=1, random_state=0).to_csv(
        folder / "closed.csv", index=False
    )
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=sold", "data.metric=auc")
    assert (stand.problem.input_dir / "closed.csv").exists()
    told = "possible leak: closed of closed.csv tells sold exactly; is it known when you predict?"
    assert told in stand.problem.cautions
    stand.close()


def test_a_table_that_ends_before_the_rows_of_the_users_test_is_not_joined(tmp_path, inline):
    folder = tmp_path / "mine"
    folder.mkdir()
    days = pd.date_range("2022-01-01", periods=200).strftime("%Y-%m-%d")
    table = pd.DataFrame({"day": days, "sold": DRAW.normal(size=200).round(3), "week": np.arange(200) // 7})
    table[:160].to_csv(folder / "train.csv", index=False)
    table[160:].drop(columns="sold").to_csv(folder / "test.csv", index=False)
    pd.DataFrame({"day": days[:160], "guests": np.arange(160)}).to_csv(folder / "guests.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=sold", "data.metric=rmse")
    assert "reads none of them" in stand.problem.note or "hardly any of the rows of your test" in stand.problem.note
    assert not stand.problem.prompt_extras()["data"]["side_tables"]
    stand.close()


def test_a_table_of_a_further_table_is_joined_to_that_one(tmp_path, inline):
    """As Home Credit has it: loans of a customer, and months of a loan."""
    folder = tmp_path / "mine"
    folder.mkdir()
    owners, loans = DRAW.integers(0, 300, 900), DRAW.permutation(900)
    late = DRAW.random(300)
    months = pd.DataFrame({"loan": np.repeat(loans, 6), "month": np.tile(np.arange(6), 900)})
    months["status"] = np.where(DRAW.random(5400) < np.repeat(late[owners], 6), "late", "paid")
    table = pd.DataFrame({"who": 5000 + DRAW.permutation(300), "age": DRAW.integers(20, 70, 300)})
    table["owed"] = (10 * late + DRAW.normal(0, 0.2, 300)).round(3)
    table.to_csv(folder / "train.csv", index=False)
    held = pd.DataFrame({"who": table["who"].to_numpy()[owners], "loan": loans, "kind": DRAW.choice(["a", "b"], 900)})
    held.to_csv(folder / "loans.csv", index=False)
    months.to_csv(folder / "months.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=owed", "data.metric=r2", "budget.seconds=20")
    assert "loans.csv by who (summed up), months.csv to loans.csv (summed up)" in stand.problem.note
    assert "rows for those of input/loans.csv lie in input/months.csv, by loan" in stand.problem.preview()
    assert scored(stand, program(stand)) > 0.5
    stand.close()


def test_tables_of_a_competition_folder_and_those_of_its_labels(tmp_path, inline):
    """A folder of MLE-bench: what it shows, its programs may join, but for what has the target."""
    folder = tmp_path / "shops"
    public, private = folder / "prepared" / "public", folder / "prepared" / "private"
    for part in (public, private):
        part.mkdir(parents=True)
    (folder / "config.yaml").write_text(
        "id: shops\nname: Shops\ncompetition_type: simple\nawards_medals: false\nprizes: null\ndescription: a/d.md\n"
        "dataset:\n  answers: shops/prepared/private/test.csv\n  sample_submission: shops/prepared/public/sample.csv\n"
        "grader:\n  name: mae\n  grade_fn: grade:grade\npreparer: prepare:prepare\n"
    )
    (folder / "grade.py").write_text("def grade(given, answers):\n    return abs(given.sold - answers.sold).mean()\n")
    table = sales().rename_axis("id").reset_index()
    table[:300].to_csv(public / "train.csv", index=False)
    table[:300].to_csv(public / "train_once_more.csv", index=False)
    table[300:].drop(columns="sold").to_csv(public / "test.csv", index=False)
    table[300:][["id"]].assign(sold=0.0).to_csv(public / "sample.csv", index=False)
    table[300:][["id", "sold"]].to_csv(private / "test.csv", index=False)
    SHOPS.to_csv(public / "shops.csv", index=False)
    stand = Stand(tmp_path / "run", f"problem.path={folder}", "budget.seconds=20")
    assert [side.file for side in facts_of(stand).sides] == ["shops.csv"]
    assert "train_once_more.csv (has a column sold)" in stand.problem.note
    scored(stand, program(stand))
    stand.close()


def test_parquet_is_joined_where_programs_can_read_it(tmp_path, inline, monkeypatch):
    pytest.importorskip("pyarrow")
    words = brought(tmp_path / "mine")
    VISITS.assign(when=pd.to_datetime(VISITS["when"])).to_parquet(tmp_path / "mine" / "visits.parquet", index=False)
    stand = Stand(tmp_path, *words)
    assert "joins visits.parquet by shop (summed up)" in stand.problem.note
    code = program(stand)
    scored(stand, code)
    assert "read_parquet" in code
    stand.close()
    monkeypatch.setattr("problems.competition.problem.has_pyarrow", lambda python: False)
    stand = Stand(tmp_path / "again", *words)
    assert not facts_of(stand).sides and "joins no visits.parquet: " in stand.problem.note
    stand.close()


def test_a_table_of_each_row_is_summed_up_for_it(tmp_path, inline):
    """A minute of a volcano's sensors in a file for each row; nothing else says anything."""
    words = brought(tmp_path / "mine")
    labels = sales().assign(segment_id=lambda table: 1000 + np.arange(len(table)))[["segment_id", "sold"]]
    labels.to_csv(tmp_path / "mine" / "train.csv", index=False)
    (tmp_path / "mine" / "train").mkdir()
    for segment, sold in labels.itertuples(index=False):
        sensor = (sold / 2 + DRAW.normal(0, 0.2, 30)).round(2)
        pd.DataFrame({"sensor": sensor}).to_csv(tmp_path / "mine" / "train" / f"{segment}.csv", index=False)
    stand = Stand(tmp_path, *words)
    assert "400 files make segment_id_files.csv, 12,000 rows" in stand.problem.note
    assert "joins segment_id_files.csv by segment_id (summed up)" in stand.problem.note
    assert scored(stand, program(stand)) < 1
    stand.close()


def test_one_table_for_each_side_names_rows_by_keys_as_long_as_a_digest(tmp_path, inline):
    """Labels, statements of customers to learn from, and those of customers to predict, by 64 digits."""
    words = brought(tmp_path / "mine")
    table = sales()
    names = [f"{place * 7919:064x}" for place in range(500)]
    pd.DataFrame({"customer": names[:400], "sold": table["sold"]}).to_csv(tmp_path / "mine" / "train.csv", index=False)
    pd.DataFrame({"customer": names[400:]}).to_csv(tmp_path / "mine" / "test.csv", index=False)
    known = [*table["sold"], *DRAW.normal(size=100)]
    paid = np.repeat(known, 3) + DRAW.normal(0, 0.5, 1500)  # not the labels, which would stay behind
    statements = pd.DataFrame({"customer": np.repeat(names, 3), "paid": paid.round(2)})
    statements[:1200].to_csv(tmp_path / "mine" / "train_statements.csv", index=False)
    statements[1200:].to_csv(tmp_path / "mine" / "test_statements.csv", index=False)
    stand = Stand(tmp_path, *words, "data.train=train.csv")
    assert "2 files make statements.csv, 1,500 rows: train_statements.csv … test_statements.csv" in stand.problem.note
    assert "joins statements.csv by customer (summed up)" in stand.problem.note
    stand.close()


def test_a_table_is_joined_by_a_column_of_ours_and_one_of_a_further_table(tmp_path, inline):
    """Prices of an item and a week: another table says which week a day is of. Where there is no room for that one, nor
    are prices joined."""
    days = pd.DataFrame({"d": [f"d_{number}" for number in range(1, 41)], "week": np.arange(40) // 5})
    prices = pd.DataFrame({"item": np.repeat(list("abcde"), 8), "week": np.tile(np.arange(8), 5)})
    prices["price"] = DRAW.normal(size=40).round(3)
    table = pd.DataFrame({"d": DRAW.choice(days["d"], ROWS), "item": DRAW.choice(list("abcde"), ROWS)})
    known = table.merge(days).merge(prices)["price"]
    table = table.assign(sold=(5 * known + DRAW.normal(0, 0.1, ROWS)).round(3))
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, one in {"train": table, "prices": prices, "weeks": days}.items():  # in whatever order
        one.to_csv(folder / f"{name}.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={folder}", "data.target=sold", "data.metric=rmse", "budget.seconds=20")
    assert "prices.csv by week and item, as weeks.csv tells" in stand.problem.note
    assert "lie in input/prices.csv, by week and item, as weeks.csv tells (one row each)" in stand.problem.preview()
    sides = facts_of(stand).sides
    assert [(side.file, side.links, side.needs) for side in sides] == [
        ("weeks.csv", ("week",), ""), ("prices.csv", (), "weeks.csv"),
    ]  # fmt: skip
    code = program(stand)
    assert scored(stand, code) < 0.3 * scored(stand, code.replace("rows, test_rows = joined(", "joined("))
    extras = stand.problem.prompt_extras()
    for one in extras["data"]["side_tables"]:
        one["rows"] *= 1 if one["file"] == "prices.csv" else 10**9
    assert read_facts(extras).sides == ()
    stand.close()


def test_a_table_of_rows_like_ours_is_not_joined_by_a_category(tmp_path, inline):
    """The rows to predict of an earlier stage: sums of them for each town say nothing of a town."""
    numbers = {name: DRAW.normal(size=160).round(3) for name in ("size", "x", "y", "z")}
    table = pd.DataFrame({"id": range(160), **numbers, "town": np.array(list("abcd"))[np.arange(160) % 4]})
    table["rent"] = (table["size"] * 9 + DRAW.normal(size=160)).round(1)
    earlier = table[60:120].drop(columns="rent").assign(id=range(900, 960))
    towns = pd.DataFrame({"town": list("abcd"), "height": [1, 2, 3, 4]})
    asked = table[120:].drop(columns="rent")
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, rows in (("train", table[:120]), ("test", asked), ("valid", earlier), ("towns", towns)):
        rows.to_csv(mine / f"{name}.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=rent", "data.metric=mae")
    try:
        assert "joins towns.csv by town, and reads none of valid.csv (its rows are like yours)" in stand.problem.note
    finally:
        stand.close()
