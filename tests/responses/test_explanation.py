"""Explain difficulties of items by their demands; the columns and tables that regressions share."""

import numpy as np
import pytest

from mensura.responses.explanation import fit_spread


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
