"""Columns whose cells are lists of numbers of one length, such as the pixels of a picture: columns of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from problems.competition.rules.row_files import untaken

MOST = 400
"""Numbers of a cell that are taken one by one."""
SIDE = 16
"""Of the grid to which a larger picture is brought."""


def width(lists: Mapping[str, int]) -> int:
    """Columns that they become, at most."""
    return sum(min(count, MOST) for count in lists.values())


def lines(lists: Mapping[str, int], columns: Iterable[str]) -> list[str]:
    """Behind the reading of `rows` and `test_rows`: takes lists out of these and adds their numbers.

    Args:
        lists: column → numbers in each of its cells.
        columns: names that are taken.
    """
    if not lists:
        return []
    named = {name: (count, untaken(f"{name}_", columns)) for name, count in lists.items()}
    return [
        "",
        "",
        "def listed(cells, count):",
        '    """The numbers of each cell; of large pictures the means of a grid, of other long lists of stretches."""',
        "    table = np.full((len(cells), count), np.nan, 'float32')",
        "    for row, cell in enumerate(cells.fillna('').astype(str)):",
        "        try:",
        "            table[row] = np.fromstring(cell.strip('[] ').replace(',', ' ').replace(';', ' '), sep=' ')",
        "        except ValueError:  # no such list: missing",
        "            continue",
        "    side = round(count**0.5)",
        f"    if count > {MOST} and side * side == count:",
        f"        step = -(-side // {SIDE})",
        "        whole = side // step",
        "        grid = table.reshape(-1, side, side)[:, : whole * step, : whole * step]",
        "        return grid.reshape(len(table), whole, step, whole, step).mean((2, 4)).reshape(len(table), -1)",
        f"    if count > {MOST}:",
        f"        return np.stack([part.mean(1) for part in np.array_split(table, {MOST}, axis=1)], 1)",
        "    return table",
        "",
        "",
        f"for name, (count, start) in {named!r}.items():  # cells that are lists of numbers",
        "    rows, test_rows = (",
        "        pd.concat([table.drop(columns=name), pd.DataFrame(made, table.index).add_prefix(start)], axis=1)",
        "        for table in (rows, test_rows)",
        "        for made in [listed(table[name], count)]",
        "    )",
    ]
