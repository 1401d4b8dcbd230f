"""What a tar of an unknown maker may write, also by a Python that has no filter of its own for it."""

import io
import os
import tarfile

import pytest

from utils.tar_archive import untar


def packed(name: str, text: str = "", **fields: object) -> tarfile.TarFile:
    """An archive of two files: one plain, one with these fields."""
    box = io.BytesIO()
    with tarfile.open(fileobj=box, mode="w") as archive:
        for called, content, more in (("plain.txt", "plain", {}), (name, text, fields)):
            member = tarfile.TarInfo(called)
            member.size = len(content)
            for field, value in more.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(content.encode()))
    return tarfile.open(fileobj=io.BytesIO(box.getvalue()))


@pytest.fixture(params=["this Python's filter", "before Python 3.11.4"], autouse=True)
def ways(request, monkeypatch):
    if request.param != "this Python's filter":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has none")


def test_files_folders_and_links_of_its_own_are_written(tmp_path):
    untar(packed("deep/run.sh", "#!", mode=0o6755), tmp_path / "a")
    assert (tmp_path / "a" / "deep" / "run.sh").read_text() == "#!"
    assert os.stat(tmp_path / "a" / "deep" / "run.sh").st_mode & 0o7777 == 0o755
    untar(packed("other.txt", type=tarfile.SYMTYPE, linkname="plain.txt"), tmp_path / "b")
    assert (tmp_path / "b" / "other.txt").read_text() == "plain"


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("../out.txt", {}),
        ("a/../../out.txt", {}),
        ("out", {"type": tarfile.SYMTYPE, "linkname": "../elsewhere"}),
        ("out", {"type": tarfile.SYMTYPE, "linkname": "/etc"}),
        ("pipe", {"type": tarfile.FIFOTYPE}),
        ("card", {"type": tarfile.CHRTYPE}),
    ],
)
def test_what_leads_out_of_it_is_not(tmp_path, name, fields):
    with pytest.raises(tarfile.TarError):
        untar(packed(name, **fields), tmp_path / "in")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_an_absolute_name_stays_within(tmp_path):
    """Python's filter takes it for a relative one; without, it is refused."""
    try:
        untar(packed(str(tmp_path / "out.txt")), tmp_path / "in")
    except tarfile.TarError:
        pass
    assert not (tmp_path / "out.txt").exists()
