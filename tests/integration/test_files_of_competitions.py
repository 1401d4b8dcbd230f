"""Files beside the tables of a competition that are called like tables and are none."""

import zipfile

import numpy as np
import pandas as pd
from PIL import Image
from support.competition_stand import Stand, writes


def test_a_zip_of_pictures_called_test_is_no_table(tmp_path, inline):
    """Labels, pictures in two zips, and a sample that names those to predict: refused until they were unpacked."""
    names = [f"p{number:03d}.png" for number in range(100)]
    table = pd.DataFrame({"id": names, "label": np.arange(100) % 2})
    mine = tmp_path / "mine"
    mine.mkdir()
    table[:80].to_csv(mine / "train.csv", index=False)
    table[80:].assign(label=0.5).to_csv(mine / "sample_submission.csv", index=False)
    for name, held in (("train", names[:80]), ("test", names[80:])):
        with zipfile.ZipFile(mine / f"{name}.zip", "w") as archive:
            for each in held:
                Image.new("RGB", (8, 8), (120, 130, 140)).save(tmp_path / each)
                archive.write(tmp_path / each, f"{name}/{each}")
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=label", "data.metric=auc")
    try:
        assert "sample_submission.csv is read as test.csv" in stand.problem.note
        assert {"train.zip", "test.zip"} <= {path.name for path in stand.problem.input_dir.iterdir()}
        node, _ = stand.score(writes("for row in rows: row['label'] = 0.25"))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
    finally:
        stand.close()
    lines = (tmp_path / "best" / "submission.csv").read_text().splitlines()
    assert lines == ["id,label", *(f"{name},0.25" for name in names[80:])]
