"""People and models compared: rates on the same items, one scale, place among people, errors in common, effort."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.exam.comparison import _people_row, agreement_among, error_agreement
from mensura.exam.rates import MeanRate


def test_errors_that_fall_on_the_same_items_agree_and_independent_ones_do_not():
    rng = np.random.default_rng(0)
    hard = rng.random(400) < 0.5
    people = np.tile(~hard, (20, 1)).astype(float)
    given = np.ones_like(people, dtype=bool)
    taken = np.ones(400, dtype=bool)
    assert error_agreement((~hard).astype(float), taken, people, given) == pytest.approx(1.0)
    assert error_agreement(hard.astype(float), taken, people, given) < -0.9
    assert abs(error_agreement((rng.random(400) < 0.5).astype(float), taken, people, given)) < 0.15
    assert agreement_among(people, given) == pytest.approx(1.0)


@pytest.mark.parametrize("persons", range(2, 30))
def test_where_all_are_right_throughout_there_is_no_agreement_on_errors(persons):
    """Six weights of 1/6 add up to one less a last bit: such a sum must not pass for disagreement."""
    people = np.ones((persons, 3))
    given = np.ones_like(people, dtype=bool)
    assert np.isnan(error_agreement(np.ones(3), np.ones(3, dtype=bool), people, given))


def test_the_row_of_people_counts_people_alone():
    exam = SimpleNamespace(settings=SimpleNamespace(study=SimpleNamespace(pay_per_hour=12.0)))
    rows = [("people", "right", 1.0, 10.0), ("people", "blank", 0.0, 20.0), ("models", "right", 1.0, 1.0)]
    scored = pl.DataFrame(rows, schema=["kind", "outcome", "score", "seconds"], orient="row")
    row = _people_row(exam, scored, MeanRate(0.5, 0.2, 0.8, 0.1, 2))
    assert row["no_answer"] == 0.5
    assert row["seconds_per_right"] == 30.0
    assert row["cost_per_right"] == pytest.approx(0.1)
