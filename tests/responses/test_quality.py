"""The quality of a fit: information criteria by hand, and both reliabilities."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from mensura.responses.quality import NODES, _with_quality, criteria


def test_criteria_by_hand():
    row = criteria("2pl", "maximum likelihood", 100, 5, 10, -250.0)
    assert (row["model"], row["subjects"], row["items"], row["parameters"]) == ("2pl", 100, 5, 10)
    assert row["aic"] == 2 * 10 + 500
    assert row["bic"] == pytest.approx(10 * np.log(100) + 500)
    assert row["sabic"] == pytest.approx(10 * np.log(102 / 24) + 500)


@dataclass(frozen=True)
class Fit:
    """As much of a fit as its quality asks for."""

    subjects: pl.DataFrame
    groups: pl.DataFrame
    model: str = "2pl"
    estimation: str = "maximum likelihood"
    log_likelihood: float = -250.0
    log_posterior: float = -251.0
    items: pl.DataFrame = None
    pairs: pl.DataFrame = None
    quality: pl.DataFrame = None


def test_reliability_is_the_share_of_the_variance_that_is_no_error():
    """Information 3 everywhere leaves ¼ of the variance as error; abilities of variance 1 and errors of ½ leave 1/5."""
    subjects = pl.DataFrame({"ability": [-1.0, 1.0, 50.0], "se": [0.5, 0.5, 9.0]})  # the third is of another group
    items = pl.DataFrame({"item": ["i", "j"]})
    groups = pl.DataFrame({"group": ["a", "b"]})
    fit = _with_quality(Fit(subjects, groups), (items, pl.DataFrame(), None), 4, np.full(len(NODES), 3.0), 2)
    row = fit.quality.row(0, named=True)
    assert row["reliability_marginal"] == pytest.approx(0.75)
    assert row["reliability_empirical"] == pytest.approx(1 / 1.25)
    assert (row["subjects"], row["items"], row["parameters"], row["log_posterior"]) == (3, 2, 4, -251.0)
    assert row["groups"] == 2
    assert fit.items is items
