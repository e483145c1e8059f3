"""Explain difficulties of items by their demands; the columns and tables that regressions share."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import explain_items
from mensura.responses.explanation import design_columns, fit_spread


def test_difficulties_on_demands_are_generalised_least_squares():
    rng = np.random.default_rng(6)
    x = np.column_stack([np.ones(400), rng.normal(size=400)])
    errors = rng.uniform(0.05, 0.4, 400)
    y = x @ [0.3, 0.8] + rng.normal(0.0, 0.5, 400) + errors * rng.normal(size=400)
    spread, values, covariance = fit_spread(y, x, errors**2)
    assert np.sqrt(spread) == pytest.approx(0.5, abs=0.05)
    weight = 1 / (errors**2 + spread)
    assert values == pytest.approx(np.linalg.solve((x.T * weight) @ x, (x.T * weight) @ y))
    assert np.sqrt(covariance[1, 1]) == pytest.approx(np.sqrt(1 / np.sum(weight * x[:, 1] ** 2)), rel=0.02)


def fit_of(difficulty, se=0.1):
    size = len(difficulty)
    items = {
        "item": [f"q{k}" for k in range(size)],
        "difficulty": difficulty,
        "se_difficulty": np.broadcast_to(se, size),
    }
    return SimpleNamespace(items=pl.DataFrame(items))


def explained(fit, demands):
    return explain_items.__wrapped__(fit, demands)


def test_demands_that_say_all_leave_nothing():
    level = np.array([0.0, 1, 2, 3, 4, 2, 1])
    found = explained(fit_of(0.5 + 0.3 * level), {"item": [f"q{k}" for k in range(7)], "level": level})
    assert found.explained["estimate"].to_list() == pytest.approx([0.5, 0.3])
    assert (found.share, found.sd, found.items) == (1.0, 0.0, 7)
    se = 0.1 / np.sqrt(((level - level.mean()) ** 2).sum())
    assert found.explained["se"][1] == pytest.approx(se)
    assert found.explained["high"][1] - 0.3 == pytest.approx(1.6448536 * se) == 0.3 - found.explained["low"][1]
    assert found.heading == "Difficulties of 7 items on demands: 100% of the variance, 0.00 left (sd)"


def test_items_without_a_level_or_an_error_take_no_part():
    se = np.array([0.1] * 6 + [np.inf])
    fit = fit_of([0.0, 1.0, 2.1, 2.9, 4.0, 9.0, 9.0], se)
    found = explained(
        fit, {"item": [f"q{k}" for k in range(7)], "level": [0, 1, 2, 3, 4, None, 6], "why": list("abcdefg")}
    )
    assert found.items == 5
    assert found.explained["term"].to_list() == ["intercept", "level"]
    with pytest.raises(MensuraError, match="3 items have level; expected columns of numbers and at least 4 items"):
        explained(fit, {"item": ["q0", "q1", "q2"], "level": [0, 1, 2]})
    with pytest.raises(MensuraError, match="have no columns"):
        explained(fit, {"item": ["q0", "q1", "q2"], "why": ["a", "b", "c"]})


def test_errors_as_large_as_the_scatter_leave_no_spread():
    y = np.array([0.1, -0.1, 0.2, -0.2, 0.0])
    x = np.ones((5, 1))
    assert fit_spread(y, x, np.full(5, 1.0))[0] == 0.0
    spread, values, covariance = fit_spread(y, x, np.full(5, 1e-9))
    assert spread == pytest.approx(0.025, rel=1e-3), "Σ y² / (n − 1)"
    assert (values[0], covariance[0, 0]) == (pytest.approx(0.0, abs=1e-9), pytest.approx(0.025 / 5, rel=1e-3))


def test_words_have_a_column_for_each_value_but_the_most_frequent():
    rows = pl.DataFrame(
        {"form": ["b", "b", "a", "c", "b"], "level": [1, 2, 3, 4, 6], "picture": [True, False, False, True, True]}
    )
    terms, x = design_columns(rows, ["form", "level", "picture"])
    assert terms == ["intercept", "form: a", "form: c", "level", "picture"]
    assert x.T.tolist() == [[1] * 5, [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 2, 3, 4, 6], [1, 0, 0, 1, 1]]
    with pytest.raises(MensuraError, match="regress: level, twice repeat one another or never vary"):
        design_columns(rows.with_columns(twice=2 * pl.col("level")), ["level", "twice"])
    with pytest.raises(MensuraError, match="never vary"):
        design_columns(rows.with_columns(level=pl.lit(3)), ["level"])


def test_the_value_that_others_are_compared_with_does_not_depend_on_the_order_of_rows():
    """Of equally frequent values the first by name."""
    rows = pl.DataFrame({"form": ["c", "a", "b", "b", "a", "c", "d"]})
    for table in (rows, rows.reverse(), rows.sort("form")):
        assert design_columns(table, ["form"])[0] == ["intercept", "form: b", "form: c", "form: d"]
    named = rows.rename({"form": "count"})
    assert design_columns(named, ["count"])[0] == ["intercept", "count: b", "count: c", "count: d"]
