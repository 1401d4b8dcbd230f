"""Jobs as bytes: what leaves arrives, what is written comes back, and no name leads out of its folder."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from core.contracts import JobSpec
from core.workers.node_folder import NodeFolder
from core.workers.shipping import land, pack_folder, serve, unpack_folder


def read_and_write(payload, deps):
    """A job entry: reads its inputs, writes a file, tells where."""
    text = (Path(payload["inputs"]) / "in.txt").read_text()
    out = Path(payload["keep_dir"]) / "deep" / "out.txt"
    out.parent.mkdir(parents=True)
    out.write_text(text.upper())
    return {"path": str(out), "read": text}


def say(payload, deps):
    said = payload["said"].replace("@here@", str(deps.scratch))
    return {"said": said, "place": payload["keep_dir"]}


def test_a_job_goes_and_comes_back(tmp_path):
    inputs = tmp_path / "in"
    inputs.mkdir()
    (inputs / "in.txt").write_text("hello")
    keep = tmp_path / "keep here"
    spec = JobSpec(
        entry=f"{__name__}:read_and_write", payload={"inputs": str(inputs), "keep_dir": str(keep), "limits": {}}
    )
    name, data = pack_folder(inputs)
    read = NodeFolder(tmp_path / "node").inputs(name, lambda: data)
    (answer,) = serve(spec.model_dump_json(), read, None, tmp_path / "worker")
    found = land(answer, spec)
    assert found["value"] == {"path": str(keep / "deep" / "out.txt"), "read": "hello"}
    assert (keep / "deep" / "out.txt").read_text() == "HELLO"
    assert not list((tmp_path / "worker").glob("job-*"))


@pytest.mark.parametrize("said", ["@written@", "\0", "\\u0000", "@here@/written"])
def test_what_a_program_says_comes_as_it_was_said(tmp_path, said):
    """A word of its own stood for the folder of the results, later a path beside the program's own: whoever printed it
    was told where that lies here.
    """
    payload = {"inputs": "", "keep_dir": str(tmp_path / "kept"), "said": said}
    spec = JobSpec(entry=f"{__name__}:say", payload=payload, seconds=1)
    (answer,) = serve(spec.model_dump_json(), None, None, tmp_path / "worker")
    found = land(answer, spec)["value"]
    assert found["place"] == str(tmp_path / "kept") and found["place"] not in found["said"]
    assert found["said"] == said or "@here@" in said


def test_a_fault_of_the_entry_is_told(tmp_path):
    spec = JobSpec(entry="tests.nowhere:nothing", payload={})
    (answer,) = serve(spec.model_dump_json(), None, None, tmp_path)
    assert "no job entry" in land(answer, spec)["error"]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil"])
def test_no_name_leads_out(tmp_path, name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(ValueError, match="called"):
        unpack_folder(buffer.getvalue(), tmp_path / "here")
    assert not list(tmp_path.rglob("evil"))


def test_a_tree_arrives_as_it_is(tmp_path):
    """Modes, open folders and links that stay inside; what comes back from a worker holds none."""
    source = tmp_path / "base"
    (source / "src").mkdir(parents=True)
    (source / "src").chmod(0o1777)
    (source / "src/run.sh").write_text("#!/bin/sh\n")
    (source / "src/run.sh").chmod(0o755)
    (source / "link").symlink_to("src/run.sh")
    (source / "out").symlink_to("../secret")
    _, data = pack_folder(source, links=True)
    unpack_folder(data, tmp_path / "there", links=True)
    there = tmp_path / "there"
    assert os.readlink(there / "link") == "src/run.sh" and not os.path.lexists(there / "out")
    assert (there / "src").stat().st_mode & 0o7777 == 0o1777
    assert (there / "src/run.sh").stat().st_mode & 0o777 == 0o755
    with pytest.raises(ValueError, match="is a link"):
        unpack_folder(data, tmp_path / "here")
    unpack_folder(pack_folder(source)[1], tmp_path / "back")
    assert not os.path.lexists(tmp_path / "back/link")
