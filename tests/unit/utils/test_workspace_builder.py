import zipfile

import pytest

from utils.archives import whole_archive
from utils.dataset_files import find_lone, find_sample
from utils.errors import ConfigError
from utils.workspace_builder import build_workspace, validate_dataset


def test_a_complete_folder_is_described(tmp_path):
    for name in ("train.csv", "test.csv", "sample_submission.csv"):
        (tmp_path / name).write_text("id,y\n1,2\n")
    (tmp_path / "description.md").write_text("# Prices")
    found = validate_dataset(tmp_path)
    assert found.train.name == "train.csv" and found.test and found.sample
    assert found.description == "# Prices"


def test_test_sample_and_description_may_be_absent(tmp_path):
    (tmp_path / "train.csv").write_text("id,y\n1,2\n")
    found = validate_dataset(tmp_path)
    assert (found.test, found.sample, found.description) == (None, None, "")


def test_a_missing_folder_is_named():
    with pytest.raises(ConfigError, match=r"data\.dir=/no/such: no such folder"):
        validate_dataset("/no/such")


def test_a_folder_without_training_data_says_what_it_holds(tmp_path):
    for name in ("prices.xlsx", "rents.csv"):
        (tmp_path / name).write_text("x")
    with pytest.raises(
        ConfigError, match=r"needs a train\.csv, or say --data\.train=FILE; the folder holds prices\.xlsx"
    ):
        validate_dataset(tmp_path)


@pytest.mark.parametrize(
    "name", ["train.csv.gz", "Train.zip", "train.parquet", "my_train_v2.tsv", "BTC-USD.csv", "labels.csv.bz2"]
)
def test_the_training_table_is_known_whatever_its_format(tmp_path, name):
    for other in (name, "test.tsv", "sampleSubmission.csv", "notes.txt"):
        (tmp_path / other).write_text("x")
    found = validate_dataset(tmp_path)
    assert (found.train.name, found.test.name, found.sample.name) == (name, "test.tsv", "sampleSubmission.csv")


def test_a_plain_table_goes_before_its_packed_copy(tmp_path):
    for name in ("train.csv.zip", "train.csv"):
        (tmp_path / name).write_text("x")
    assert validate_dataset(tmp_path).train.name == "train.csv"


def test_a_single_file_is_a_data_set_of_its_own(tmp_path):
    (tmp_path / "BTC-USD.csv").write_text("x")
    (tmp_path / "test.csv").write_text("somebody else's")
    for found in (
        validate_dataset(tmp_path / "BTC-USD.csv"),
        validate_dataset(None, train=str(tmp_path / "BTC-USD.csv")),
    ):
        assert found.alone and found.train.name == "BTC-USD.csv" and found.test is None


def test_a_named_file_that_is_not_there_is_told(tmp_path):
    (tmp_path / "train.csv").write_text("x")
    with pytest.raises(ConfigError, match=r"data\.test=holdout\.csv: no such file"):
        validate_dataset(tmp_path, test="holdout.csv")


@pytest.mark.parametrize(
    ("content", "words"), [("", "is empty"), ("version https://git-lfs.github.com/spec/v1\n", "git lfs pull")]
)
def test_data_that_are_not_data_are_refused(tmp_path, content, words):
    (tmp_path / "train.csv").write_text(content)
    with pytest.raises(ConfigError, match=words):
        validate_dataset(tmp_path)


def test_a_workspace_has_input_working_and_submission(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.csv").write_text("x")
    made = build_workspace(tmp_path / "w", data)
    assert (made / "input" / "train.csv").read_text() == "x"
    assert (made / "working").is_dir() and (made / "submission").is_dir()
    assert build_workspace(tmp_path / "w", data) == made  # again does no harm


def test_the_exact_name_goes_first_and_two_that_may_be_meant_are_refused(tmp_path):
    (tmp_path / "Train.csv").write_text("x")
    assert validate_dataset(tmp_path).train.name == "Train.csv"
    (tmp_path / "TRAIN.csv").write_text("x")
    with pytest.raises(ConfigError, match=r"TRAIN\.csv and Train\.csv are there; say which: --data\.train=TRAIN\.csv"):
        validate_dataset(tmp_path)
    assert validate_dataset(tmp_path, train="Train.csv").train.name == "Train.csv"
    (tmp_path / "train.csv").write_text("x")
    assert validate_dataset(tmp_path).train.name == "train.csv"


@pytest.mark.parametrize("name", ["all.tar.gz", "train.tar", "train.csv.zst", "all.7z", "all.rar"])
def test_archives_that_are_not_unpacked_are_named(tmp_path, name):
    (tmp_path / name).write_text("x")
    for words in ({}, {"train": name}):
        with pytest.raises(ConfigError, match=rf"{name}' is an archive: unpack it first"):
            validate_dataset(tmp_path, **words)


def test_a_table_named_in_a_folder_below_has_its_test_table_beside_it(tmp_path):
    (tmp_path / "comp" / "data").mkdir(parents=True)
    for name in ("train.csv", "test.csv", "sample_submission.csv"):
        (tmp_path / "comp" / "data" / name).write_text("x")
    found = validate_dataset(tmp_path, train="comp/data/train.csv")
    assert found.path == tmp_path and found.test.parent == found.sample.parent == found.train.parent


def test_a_table_named_outside_of_the_folder_brings_nothing_along_that_lies_beside_it(tmp_path):
    for place in ("mine", "other"):
        (tmp_path / place).mkdir()
    for name in ("train.csv", "test.csv", "sample_submission.csv"):
        (tmp_path / "other" / name).write_text("x")
    found = validate_dataset(tmp_path / "mine", train=str(tmp_path / "other" / "train.csv"))
    assert (found.train, found.test, found.sample) == (tmp_path / "other" / "train.csv", None, None)


def test_a_pattern_that_matches_every_table_joins_those_that_are_no_other(tmp_path):
    for name in ("2021.csv", "2022.csv", "answers.csv", "sample_submission.csv", "test.csv"):
        (tmp_path / name).write_text("x")
    found = validate_dataset(tmp_path, train="*.csv", labels="answers.csv")
    assert [path.name for path in found.parts["train"]] == ["2021.csv", "2022.csv"]
    assert found.test.name == "test.csv" and found.labels.name == "answers.csv"
    (only,) = validate_dataset(tmp_path, train="test.csv,sample_submission.csv").parts.values()
    assert len(only) == 2, "a user who names them means them"


def test_of_two_files_that_may_be_the_only_table_none_is_taken(tmp_path):
    one, two = tmp_path / "rents.data", tmp_path / "Notes.JSON"
    one.write_text("x")
    assert find_lone(tmp_path, ()) == one
    two.write_text("x")
    assert find_lone(tmp_path, ()) is None and find_lone(tmp_path, (two,)) == one


def test_of_two_tables_that_may_be_those_of_the_test_none_is_taken(tmp_path):
    for name in ("X_train.csv", "X_test.csv"):
        (tmp_path / name).write_text("x")
    assert validate_dataset(tmp_path, train="X_train.csv").test.name == "X_test.csv"
    (tmp_path / "X_train_test.csv").write_text("x")
    assert validate_dataset(tmp_path, train="X_train.csv").test is None


def test_a_description_from_outside_of_the_folder_is_not_read(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.csv").write_text("x")
    (tmp_path / "secret").write_text("of the host")
    (tmp_path / "mine" / "description.md").symlink_to(tmp_path / "secret")
    assert validate_dataset(tmp_path / "mine").description == ""
    assert validate_dataset(tmp_path / "mine", beside=tmp_path).description == "of the host"


@pytest.mark.parametrize("packed", [False, True])
def test_of_several_training_tables_the_one_with_the_target_is_meant(tmp_path, packed):
    """`train_transaction.csv` beside `train_identity.csv`; tables called like labels are joined to another."""
    head = "id;amount;is fraud\n1;2;0\n"
    if packed:
        with zipfile.ZipFile(tmp_path / "train_sale.csv.zip", "w") as archive:
            archive.writestr("train_sale.csv", head)
    else:
        (tmp_path / "train_sale.csv").write_text(f"\ufeff{head}")
    for name in ("train_who.csv", "test_sale.csv", "test_who.csv", "train_é.csv.gz"):
        (tmp_path / name).write_text("id,who\n1,2\n")
    found = validate_dataset(tmp_path, target="is fraud")
    assert found.train.name.startswith("train_sale.csv") and found.test.name == "test_sale.csv"
    for target in (None, "is fraud,who", "nothing"):
        with pytest.raises(ConfigError, match=r"say --data\.train=FILE"):
            validate_dataset(tmp_path, target=target)
    (tmp_path / "test_sale.csv").rename(tmp_path / "may.txt")
    (tmp_path / "june.csv").write_text("amount;id\n2;1\n")
    assert validate_dataset(tmp_path, target="is fraud").test.name == "june.csv"
    (tmp_path / "train_labels.csv").write_text("id,y\n1,2\n")
    with pytest.raises(ConfigError, match=r"say --data\.train=FILE"):
        validate_dataset(tmp_path, target="y")


def test_tables_may_lie_in_folders_of_their_names_with_the_sample_beside_the_test(tmp_path):
    for name in ("train/train.csv", "train/breeds.csv", "test/test.csv", "test/sample_submission.csv", "images/1.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = validate_dataset(tmp_path)
    tables = [path.relative_to(tmp_path).as_posix() for path in (found.train, found.test, found.sample)]
    assert tables == ["train/train.csv", "test/test.csv", "test/sample_submission.csv"] and not found.parts


@pytest.mark.parametrize(
    ("name", "is_sample"),
    [("stage_2_sample_submission.csv", True), ("SampleSubmissionStage1.csv", True), ("train_subsample.csv", False)],
)
def test_a_sample_submission_may_have_words_before_and_after(tmp_path, name, is_sample):
    (tmp_path / name).write_text("x")
    assert (find_sample(tmp_path) is not None) == is_sample


def heads(folder, **tables):
    """Tables of these columns, with a row each."""
    for name, columns in tables.items():
        (folder / f"{name}.csv").write_text(f"{columns}\n{','.join('1' for _ in columns.split(','))}\n")


FOUND = {
    "of several called so the one that has a test": (
        {"train_features": "id,a,b", "train_drug": "id,drug", "test_features": "id,a,b", "train_targets": "id,y"},
        "train_features", "test_features",
    ),
    "an example of the test": (
        {"train": "time,asset,size,y", "example_test": "time,asset,size,row", "more_train": "time,asset,size,y"},
        "train", "example_test",
    ),
    "a test without the number": (
        {"train_users_2": "id,age,y", "test_users": "id,age", "countries": "y,km"}, "train_users_2", "test_users",
    ),
    "words without marks between them": (
        {"TrainingData": "id,a,y", "TestData": "id,a", "DataDictionary": "name,meaning"}, "TrainingData", "TestData",
    ),
    "answers and other tables of the test are no test": (
        {"train": "id,a,b,y", "test_labels": "id,y", "test_weather": "day,rain", "latest": "id,a,b"}, "train", None,
    ),
    "a table without labels beside a sample of its ids": (
        {"TrainingWiDS": "id,a,b,y", "Unlabeled": "id,a,b", "towns": "a,b", "SolutionTemplate": "id,y"},
        "TrainingWiDS", "Unlabeled",
    ),
    "such a table without a sample": ({"train": "id,a,b,y", "Unlabeled": "id,a,b"}, "train", None),
    "two that may be the test": ({"train": "id,a,y", "test_one": "id,a", "test_two_b": "id,a,b"}, "train", None),
}  # fmt: skip


@pytest.mark.parametrize("case", FOUND)
def test_tables_are_told_by_what_else_is_there(tmp_path, case):
    tables, train, test = FOUND[case]
    heads(tmp_path, **tables)
    found = validate_dataset(tmp_path, target="y")
    assert (found.train.stem, found.test and found.test.stem) == (train, test)


def packed(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x")


def test_zips_of_pictures_are_no_tables(tmp_path):
    packed(tmp_path / "test.zip", "test/1.jpg", "test/2.jpg", "__MACOSX/test")
    packed(tmp_path / "train_images.zip", "1.jpg", "2.jpg")
    for names in (["train.csv"], ["labels.csv"]):
        heads(tmp_path, **{names[0].removesuffix(".csv"): "id,y"})
        found = validate_dataset(tmp_path, train=None)
        assert (found.train.name, found.test) == (names[0], None)
        (tmp_path / names[0]).unlink()
    packed(tmp_path / "test.csv.zip", "test.csv")
    heads(tmp_path, train="id,y")
    assert validate_dataset(tmp_path).test.name == "test.csv.zip"


def test_a_zip_of_pictures_is_unpacked_where_nothing_else_is_there_to_learn_from(tmp_path):
    packed(tmp_path / "train.zip", "cat/1.jpg", "dog/2.jpg")
    packed(tmp_path / "test.zip", "1.jpg", "2.jpg")
    assert whole_archive(tmp_path, None) == tmp_path / "train.zip"
    heads(tmp_path, labels="id,y")
    assert whole_archive(tmp_path, None) is None and validate_dataset(tmp_path).train.name == "labels.csv"
    packed(tmp_path / "train.zip", "data/train_rows.csv", "data/notes.txt")
    assert whole_archive(tmp_path, None) == tmp_path / "train.zip"
