"""Files that a column of the table names: numbers of what a picture shows, and texts, beside the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

LOOKS = 422
"""Numbers that a picture becomes."""
MOST_PICTURES, FEWEST_PICTURES = 200_000, 500
"""Pictures from which on none is looked at, and how many rows to learn from a program looks at in any case."""
PICTURE, PICTURE_BYTE = 5e-4, 1.3e-8
"""Seconds that a picture takes, and each byte of its file."""
ROOM = 4
"""Of a program's memory one part so large is for a picture."""
Places = tuple[str, ...]
"""Where the file of a value may lie; `{}` stands for it."""


@dataclass(frozen=True, slots=True)
class RowFiles:
    """The files of rows that programs read.

    Args:
        pictures: column that names them → places.
        texts: column that they become → column that names them, and places.
        most: rows to learn from whose pictures a program has time to look at.
        seconds: that the pictures of a row take.
        room: bytes that one picture may take where it has to be unpacked whole.
    """

    pictures: Mapping[str, Places] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, Places]] = field(default_factory=dict)
    most: float = inf
    seconds: float = 0.0
    room: int = 2**30

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that say nothing but which files are a row's."""
        return tuple(dict.fromkeys((*self.pictures, *(of for of, _ in self.texts.values()))))

    @property
    def looks(self) -> int:
        """Columns that pictures become."""
        return LOOKS * len(self.pictures)


def row_files(data: Mapping[str, Any], pace: float, longest: float, memory_mb: float) -> RowFiles:
    """From the data of `Problem.prompt_extras()`; without pictures where there is no time for them.

    Args:
        pace, longest: of the facts.
        memory_mb: of a program.
    """
    named = data.get("named_files") or ()
    pictures = _places(one for one in named if one["kind"] == "images")
    texts = _places(one for one in named if one["kind"] == "texts")
    taken = [column["name"] for column in data.get("columns", [])]
    written = {untaken(f"{name}_text", taken): (name, places) for name, places in texts.items()}
    sizes = {one["column"]: float(one["bytes"]) for one in named if one["kind"] == "images"}
    each = sum(PICTURE + PICTURE_BYTE * size for size in sizes.values())
    rows = data.get("rows") or {}
    asked = int(rows.get("test") or 0)
    is_slow = each * (FEWEST_PICTURES + asked) > longest / 2
    if not pictures or is_slow or asked + int(rows.get("train") or 0) > MOST_PICTURES:
        return RowFiles({}, written)
    most = max(FEWEST_PICTURES, (2 * pace - each * asked) / each)
    return RowFiles(pictures, written, most, each, int(memory_mb * 2**20 / ROOM))


def _places(named: Iterable[Mapping[str, Any]]) -> dict[str, Places]:
    places: dict[str, Places] = {}
    for one in named:
        folder, ending = (str(one[key]).replace("{", "{{").replace("}", "}}") for key in ("folder", "ending"))
        value = f"{{:0>{one['digits']}}}" if one["digits"] else "{}"
        places[one["column"]] = (*places.get(one["column"], ()), f"input/{folder}{value}{ending}")
    return places


def untaken(name: str, taken: Iterable[str]) -> str:
    while any(other.startswith(name) for other in taken):
        name += "_"
    return name


_OPENED = '''
ZIPS = {}


def opened(value, places):
    """The file of a row, which may lie in a zip; None where there is none that can be read."""
    for path in (place.format(value) for place in places):
        archive, mark, member = path.partition(".zip/")
        try:
            if os.path.isfile(path):
                return open(path, "rb")
            if mark and archive not in ZIPS and os.path.isfile(archive + ".zip"):  # no folder that is called so
                ZIPS[archive] = ZipFile(archive + ".zip")
            if archive in ZIPS and member in ZIPS[archive].NameToInfo:
                return ZIPS[archive].open(member)
        except Exception:  # under a password, torn, or packed in a way that is not known here
            continue
'''

_PIXELS = '''
def pixels(file):
    """A picture as 32 by 32 points of three colours, and its size; None where it cannot be read."""
    try:
        with file, Image.open(file) as image:
            size = image.size
            image.draft("RGB", (64, 64))  # of a JPEG no more is unpacked than is needed
            if image.width * image.height * (32 if image.mode[0] in "IF" else 8) > ROOM:  # others are unpacked whole
                return None
            if image.mode[0] in "IF":  # more than 256 shades
                deep = np.asarray(image, float)
                image = Image.fromarray(np.uint8(255 * (deep - deep.min()) / max(np.ptp(deep), 1e-9)))
            small = image.convert("RGB").resize((32, 32), Image.Resampling.BOX, reducing_gap=2)
            return np.asarray(small), size
    except Exception:
        return None


def look(pictures):
    """What pictures show: colours on a grid, how these spread, and which way edges run, place by place."""
    points, count = pictures / np.float32(255), len(pictures)
    grid = points.reshape(count, 8, 4, 8, 4, 3).mean((2, 4)).reshape(count, -1)
    shades = [(np.floor(points * 7.99) == step).mean((1, 2)) for step in range(8)]
    grey = points.mean(3)
    down, right = grey[:, 2:, 1:-1] - grey[:, :-2, 1:-1], grey[:, 1:-1, 2:] - grey[:, 1:-1, :-2]
    strength, way = np.hypot(down, right), np.floor(np.arctan2(down, right) % np.pi / np.pi * 7.99)
    edges = [(strength * (way == step)).reshape(count, 5, 6, 5, 6).mean((2, 4)) for step in range(8)]
    mean = strength.mean((1, 2))[:, None]
    return np.hstack([grid, *shades, points.std((1, 2)), np.stack(edges, 1).reshape(count, -1) / (mean + 0.01), mean])


def seen(named, places):
    """Numbers for the picture that each row names; missing where there is none."""
    found = np.full((len(named), LOOKS), np.nan, "float32")
    for start in range(0, len(named), 1000):
        read = {}
        for row in range(start, min(start + 1000, len(named))):
            file = opened(named.iloc[row], places)
            if file and (picture := pixels(file)):
                read[row] = picture
        if read:
            shown = look(np.stack([points for points, _ in read.values()]))
            found[list(read)] = np.hstack([shown, [size for _, size in read.values()]])
    return found
'''

_WRITTEN = '''
def written(named, places):
    """The text in the file that each row names; '' where none can be read."""
    texts = []
    for value in named:
        try:
            with opened(value, places) as file:
                texts.append(file.read(1_000_000).decode("utf-8", "replace"))
        except Exception:
            texts.append("")
    return texts
'''


def imports(files: RowFiles) -> set[tuple[str, str]]:
    """Pairs of module and name that the lines need."""
    return {("zipfile", "ZipFile")} | ({("PIL", "Image")} if files.pictures else set()) if files.naming else set()


def lines(files: RowFiles, table: str, asks: str, columns: Iterable[str]) -> list[str]:
    """Behind the reading of `train` and `test`, whose rows may be some of all: adds to `rows` and `test_rows`.

    Args:
        table, asks: the tables in `input/` that these are of.
        columns: names that are taken.
    """
    if not files.naming:
        return []
    start = untaken("look", columns)
    made = [f"        {name!r}: written(named[{of!r}], {places!r})," for name, (of, places) in files.texts.items()]
    for number, (of, places) in enumerate(files.pictures.items()):
        called = f'f"{start}_{number}_{{place}}"'
        made.append(f"        **{{{called}: one for place, one in enumerate(seen(named[{of!r}], {places!r}).T)}},")
    return [
        *_functions(_OPENED),
        *(_functions(_PIXELS.replace("ROOM", str(files.room))) if files.pictures else []),
        *(_functions(_WRITTEN) if files.texts else []),
        "",
        "",
        "with_files = []",
        f'for file, table, known in (("input/{table}", train, rows), ("input/{asks}", test, test_rows)):',
        f"    named = pd.read_csv(file, usecols={[*files.naming]!r}, dtype=str).loc[table.index]",
        "    made = {",
        *made,
        "    }",
        "    with_files.append(pd.concat([known, pd.DataFrame(made, index=table.index)], axis=1))",
        "rows, test_rows = with_files",
    ]


def _functions(text: str) -> list[str]:
    return ["", *text.replace("LOOKS", str(LOOKS)).rstrip().splitlines()]
