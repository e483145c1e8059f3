"""A small evidence on which a study takes a moment, as a folder that a server in another process can read."""

import polars as pl
import pytest

import mensura

KEPT = 24


@pytest.fixture(scope="session")
def small_store(tmp_path_factory):
    """The models with most scores, with everything known of them."""
    whole = mensura.load()
    often = whole.primary_scores["subject"].value_counts(sort=True).head(KEPT)["subject"].to_list()
    folder = tmp_path_factory.mktemp("small")
    for name, table in whole.tables().items():
        if "subject" in table.columns:
            table = table.filter(pl.col("subject").is_in(often))
        if name == "models":
            table = table.with_columns(
                pl.when(pl.col(column).is_in(often)).then(pl.col(column)) for column in ("predecessor", "predecessor2")
            )
        table.write_csv(folder / f"{name}.csv")
    return folder
