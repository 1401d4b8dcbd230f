"""A zip that holds a data set: unpacked within bounds, and nothing of it outside of its folder."""

import stat
import zipfile

import pytest

from utils import archives
from utils.archives import unpacked, whole_archive
from utils.errors import ConfigError
from utils.file_utils import folder_for


def zipped(path, *members):
    with zipfile.ZipFile(path, "w") as archive:
        for name in members:
            archive.writestr(name, "a,b\n1,2\n")
    return path


@pytest.mark.parametrize(
    ("members", "is_whole"),
    [
        (("train.csv", "test.csv"), True),
        (("comp/train.csv", "comp/test.csv"), True),
        (("whatever.csv", "__MACOSX/._whatever.csv"), False),
        (("my-comp.csv", "readme.md"), False),
    ],
)
def test_a_zip_of_several_files_is_a_data_set_and_one_of_a_table_is_a_table(tmp_path, members, is_whole):
    path = zipped(tmp_path / "my-comp.zip", *members)
    for folder, train in ((tmp_path, None), (path, None), (None, str(path)), (tmp_path, "my-comp.zip")):
        assert whole_archive(folder, train) == (path if is_whole else None)


@pytest.mark.parametrize("beside", [(), ("sample_submission.csv", "readme.txt")])
def test_a_zip_within_a_zip_is_unpacked_where_no_training_table_lies_beside_it(tmp_path, beside):
    inner = zipped(tmp_path / "inner.zip", "train.csv", "test.csv").read_bytes()
    (tmp_path / "inner.zip").unlink()
    path = zipped(tmp_path / "outer.zip", *beside)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("inner.zip", inner)
    assert whole_archive(tmp_path, None) == path
    made = unpacked(path, tmp_path / "place")
    assert sorted(one.name for one in made.iterdir()) == sorted(["test.csv", "train.csv", *beside])


def test_zips_within_a_zip_are_held_against_its_size_all_together(tmp_path, monkeypatch):
    inner = zipped(tmp_path / "inner.zip", *(f"{number}.csv" for number in range(6))).read_bytes()
    (tmp_path / "inner.zip").unlink()
    path = zipped(tmp_path / "outer.zip")
    with zipfile.ZipFile(path, "a") as archive:
        for name in ("a.zip", "b.zip"):
            archive.writestr(name, inner)
    monkeypatch.setattr(archives, "MOST_FILES", 10)
    with pytest.raises(ConfigError, match="12 files: at most"):
        unpacked(path, tmp_path / "place")
    assert not list((tmp_path / "place").iterdir()), "nothing is left of it"


def test_pictures_in_a_zip_beside_a_training_table_stay_packed(tmp_path):
    inner = zipped(tmp_path / "inner.zip", "1.png", "2.png").read_bytes()
    path = zipped(tmp_path / "outer.zip", "train.csv")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("pictures.zip", inner)
    assert (unpacked(path, tmp_path / "place") / "pictures.zip").is_file()


def test_a_training_table_goes_before_a_zip_beside_it(tmp_path):
    zipped(tmp_path / "all.zip", "train.csv", "test.csv")
    (tmp_path / "train.csv").write_text("a\n1\n")
    assert whole_archive(tmp_path, None) is None


def test_its_files_lie_in_a_closed_folder_without_the_one_around_them_and_what_lay_beside_is_linked(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "description.md").write_text("# Flats")
    (mine / "logs").mkdir()
    path = zipped(mine / "all.zip", "comp/train.csv", "comp/deep/er.csv", "__MACOSX/._x", "comp/.hidden")
    for _ in range(2):  # again does no harm
        made = unpacked(path, tmp_path / "place", mine, (mine / "logs",))
    found = sorted(str(p.relative_to(made)) for p in made.rglob("*") if p.is_file())
    assert found == ["deep/er.csv", "description.md", "train.csv"] and (made / "description.md").is_symlink()
    assert not made.parent.stat().st_mode & 0o077, "labels lie in it"
    (mine / "description.md").unlink()
    assert not (unpacked(path, tmp_path / "place", mine) / "description.md").is_symlink()
    zipped(path, "comp/train.csv", "comp/new.csv")
    assert (unpacked(path, tmp_path / "place", mine) / "new.csv").is_file(), "another archive, another folder"


@pytest.mark.parametrize("name", ["../evil.csv", "a/../../evil.csv", "/evil.csv", "..\\evil.csv", "C:/evil.csv"])
def test_names_that_lead_out_are_refused(tmp_path, name):
    path = zipped(tmp_path / "all.zip", "train.csv", name)
    with pytest.raises(ConfigError, match="leads out of its folder"):
        unpacked(path, tmp_path / "place")
    assert not list(tmp_path.rglob("evil.csv")) and not list(tmp_path.rglob("train.csv"))


def test_links_and_bombs_are_refused_before_anything_is_written(tmp_path, monkeypatch):
    link = zipfile.ZipInfo("train.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("test.csv", "a\n")
    with pytest.raises(ConfigError, match=r"'train\.csv' is no plain file"):
        unpacked(tmp_path / "link.zip", tmp_path / "place")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.csv", "0" * 10**6)
        archive.writestr("test.csv", "a\n")
    with monkeypatch.context() as patch, pytest.raises(ConfigError, match=r"holds 1\.0 MB in 2 files: more than 200"):
        patch.setattr(archives, "DENSE_BYTES", 10**5)
        unpacked(tmp_path / "bomb.zip", tmp_path / "place")
    with monkeypatch.context() as patch, pytest.raises(ConfigError, match=r"at most 100\.0 KB"):
        patch.setattr(archives, "MOST_BYTES", 10**5)
        unpacked(tmp_path / "bomb.zip", tmp_path / "place")
    assert not list((tmp_path / "place").iterdir())


def test_a_broken_member_is_told_and_leaves_nothing(tmp_path):
    path = zipped(tmp_path / "all.zip", "train.csv", "test.csv")
    path.write_bytes(path.read_bytes().replace(b"1,2", b"1,3", 1))
    with pytest.raises(ConfigError, match=r"all\.zip' cannot be unpacked: Bad CRC"):
        unpacked(path, tmp_path / "place")
    assert not list((tmp_path / "place").iterdir())


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_whichever_byte_of_a_download_is_wrong_it_is_one_line(tmp_path, packing):
    """The unpackers raise errors of their own families, and the zip's list of members may be what is broken."""
    whole, path = tmp_path / "whole.zip", tmp_path / "all.zip"
    with zipfile.ZipFile(whole, "w", packing) as archive:
        for name in ("train.csv", "test.csv"):
            archive.writestr(name, "".join(f"{n},{n * n % 97}\n" for n in range(60)))
    sound, told = whole.read_bytes(), set()
    for place in range(0, len(sound) - 20, 3):
        path.write_bytes(sound[:place] + bytes(255 - byte for byte in sound[place : place + 2]) + sound[place + 2 :])
        try:
            unpacked(whole_archive(path, None) or whole, tmp_path / str(place))
        except ConfigError as error:
            told.add(str(error).partition(": ")[0])
    assert told == {"data"}


def test_folders_around_the_tables_and_the_separators_of_windows_do_not_matter(tmp_path):
    for number, members in enumerate(
        [
            ("comp/data/train.csv", "comp/data/test.csv", "comp/.hidden"),
            ("comp/readme.md", "comp/data/train.csv", "comp/data/test.csv"),
            ("comp\\train.csv", "comp\\test.csv"),
        ]
    ):
        path = zipped(tmp_path / f"{number}.zip", *members)
        for _ in range(2):
            made = unpacked(path, tmp_path / "place")
            assert sorted(p.name for p in made.iterdir()) == ["test.csv", "train.csv"]


def test_a_lone_folder_beside_the_tables_is_not_entered(tmp_path):
    made = unpacked(zipped(tmp_path / "a.zip", "train.csv", "deep/train.csv"), tmp_path / "place")
    assert sorted(p.name for p in made.iterdir()) == ["deep", "train.csv"]


@pytest.mark.parametrize("name", ["a\\..\\..\\evil.csv", "C:\\evil.csv", "\\evil.csv"])
def test_windows_names_that_lead_out_are_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="leads out of its folder"):
        unpacked(zipped(tmp_path / "all.zip", "train.csv", name), tmp_path / "place")


def test_a_member_that_is_a_file_and_a_folder_is_refused_in_one_line(tmp_path):
    with pytest.raises(ConfigError, match="its member 'a' is a file and a folder"):
        unpacked(zipped(tmp_path / "all.zip", "a", "a/train.csv"), tmp_path / "place")


def test_what_a_dead_process_left_is_removed(tmp_path):
    for name in (".x.7", ".kept"):
        (tmp_path / "place" / name).mkdir(parents=True)
    with folder_for(tmp_path / "place" / "y") as made:  # by a process that lives
        unpacked(zipped(tmp_path / "all.zip", "train.csv", "test.csv"), tmp_path / "place")
        left = sorted(path.name for path in (tmp_path / "place").iterdir() if path.name.startswith("."))
    assert left == [".kept", made.name]
