"""The tables of a competition's folder under the names that programs are told."""

from __future__ import annotations

from pathlib import Path

from problems.competition.grader.tables.plain_tables import plain_tables


def test_other_forms_are_written_beside_what_lies_there_and_the_folder_stays(tmp_path: Path):
    public, out = tmp_path / "public", tmp_path / "out"
    public.mkdir()
    (public / "train.csv").write_text("id,y\n1,2\n")
    (public / "train.tsv").write_text("id\ty\n3\t4\n")
    (public / "Test.tsv").write_text("id\n5\n")
    (tmp_path / "answers.csv").write_text("id,y\n5,0\n")
    before = sorted(path.name for path in public.iterdir())
    shown, told = plain_tables(public, tmp_path / "answers.csv", out)
    assert (shown, told) == (out / "public", "Test.tsv as test.csv too")
    assert (shown / "train.csv").read_text() == "id,y\n1,2\n", "theirs, not what another file holds"
    assert (shown / "test.csv").read_text().split() == ["id", "5"]
    assert (shown / "sample_submission.csv").read_text() == "id,y\n5,0\n"
    assert sorted(path.name for path in public.iterdir()) == before


def test_a_folder_that_is_plain_is_not_copied(tmp_path: Path):
    for name in ("train.csv", "test.csv", "sample_submission.csv"):
        (tmp_path / name).write_text("id\n1\n")
    assert plain_tables(tmp_path, tmp_path / "sample_submission.csv", tmp_path / "out") == (tmp_path, "")
    assert not (tmp_path / "out").exists()
