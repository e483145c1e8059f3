"""Worlds without a change of pace, on the design of the data: same release dates, same scores asked for."""

from types import SimpleNamespace

import numpy as np
import pytest

from mensura.core.arrays import expit
from mensura.core.errors import MensuraError
from mensura.stitching import ScoreLayout
from mensura.trends.horizons import DatedLengths
from mensura.trends.nulls import NullLengths, _departures, _errors, _unit, describe_lengths, refit_looks


def test_the_light_ridge_does_not_draw_the_ends_of_the_scale_apart():
    truth, difficulty, slope = np.linspace(0, 3.5, 90), np.linspace(0, 3.5, 30), np.linspace(3, 10, 30)
    expected = expit(slope * (truth[:, None] - difficulty))
    rows, cols = np.nonzero((expected > 0.05) & (expected < 0.95))
    layout, scores, counts = ScoreLayout.of(rows, cols), expected[rows, cols], np.array([90])
    edges = np.linspace(-1, 1, 90) ** 4
    edges -= np.polyval(np.polyfit(truth, edges, 1), truth)

    def bend(**settings):
        seen = refit_looks(layout, scores, counts, **settings).C[0, -1]
        slope, level = np.polyfit(truth, seen, 1)
        return float(edges @ (seen - level - slope * truth) / (slope * edges @ edges))

    assert bend(ridge=1.0) > 0.02
    assert abs(bend()) < 0.75 * bend(ridge=1.0)


def test_what_a_look_sees_is_compared_in_the_unit_of_the_fit():
    """Seen = 3 + 2 truth + error: the error comes back in the unit of the truth, and what a look does not know is 0."""
    truth = np.array([-1.0, 0.0, 0.5, 2.0])
    error = np.array([0.1, -0.2, 0.1, 0.0])
    error -= np.polyval(np.polyfit(truth, error, 1), truth)
    seen = 3 + 2 * (truth + error)
    part = np.array([*(-7 + 0.5 * truth[:3]), 0.0])
    errors = _errors(np.stack([[part, seen]]), truth, np.array([3, 4]))
    assert errors[0, 0] == pytest.approx(np.zeros(4), abs=1e-12)
    assert errors[0, 1] == pytest.approx(error, abs=1e-12)
    upside_down = _errors(np.array([[-truth]]), truth, np.array([4]))
    assert upside_down[0, 0] == pytest.approx(-11 * (truth - truth.mean())), "no unit is taken for less than a tenth"


def test_departures_are_those_from_a_line_that_may_bend():
    years = np.linspace(0, 6, 13)
    bent = 1.0 + 0.5 * years + 0.8 * np.maximum(years - 3, 0)
    assert _departures(years, bent, 3.0) == pytest.approx(np.zeros(13), abs=1e-12)
    assert np.abs(_departures(years, bent, 4.0)).max() > 0.1
    noise = np.random.default_rng(0).normal(size=(4000, 13))
    rest = np.array([_departures(years, row, 3.0) for row in noise])
    assert rest.std(axis=0)[2:-2] == pytest.approx(np.ones(9), abs=0.05)


def test_units_have_mean_0_and_variance_1_and_what_never_varies_is_0():
    unit = _unit(np.array([1.0, 2.0, 6.0]))
    assert (unit.mean(), unit.std()) == (pytest.approx(0), pytest.approx(1))
    assert _unit(np.full(3, 5.0)).tolist() == [0, 0, 0]


def truth_of(**changes):
    """Return lengths around a level line of 2: no shocks, a spread of 0.5 of which 0.3² is error."""
    years = np.linspace(0, 8, 5)
    size = changes.pop("size", 1)
    draws = SimpleNamespace(
        share=np.zeros(size), spread=np.full(size, 0.5), line=lambda years: np.full((size, years.size), 2.0),
        shocks=lambda years, rng: np.zeros((size, years.size)),
    )  # fmt: skip
    scatter = SimpleNamespace(draw=lambda n, rng: draws)
    settings = {"own_error": 0.09, "departures": np.array([-1.0, 1.0]), "growth": (0.0, 0.0), "errors": np.zeros(5)}
    return NullLengths(years=years, scatter=scatter, **{**settings, **changes})


def test_what_is_true_of_a_world_scatters_by_less_than_what_is_seen():
    """√(0.5² − 0.3²) = 0.4 to either side of the line, and all looks see the same length."""
    seen, failed = truth_of(size=400).draw(400, np.array([2, 3, 5]), np.random.default_rng(0))
    assert seen.shape == (400, 3, 5) and failed == 0
    assert (seen == seen[:, :1]).all()
    assert np.abs(seen - 2) == pytest.approx(np.full((400, 3, 5), 0.4))
    assert seen.mean() == pytest.approx(2, abs=0.03)
    sure, _ = truth_of(own_error=0.3).draw(1, np.array([5]), np.random.default_rng(0))
    assert sure == pytest.approx(np.full((1, 1, 5), 2.0)), "no more is taken away than there is"
    noisy, _ = truth_of(size=4000, own_error=0.25, errors=np.full(5, 0.7)).draw(
        4000, np.array([5]), np.random.default_rng(0)
    )
    assert noisy.std() == pytest.approx(0.7, abs=0.02)


def test_scatter_that_grows_keeps_its_mean_square():
    seen, _ = truth_of(own_error=0.0, growth=(0.25, 0.0)).draw(1, np.array([5]), np.random.default_rng(0))
    sizes = np.abs(seen[0, 0] - 2)
    assert np.log(sizes[1:] / sizes[:-1]) == pytest.approx(np.full(4, 0.25 * 2))
    assert np.mean(sizes**2) == pytest.approx(0.25)


def test_errors_of_lengths_are_no_larger_than_what_is_left_about_the_line():
    """Errors that all systems share leave the trend alone."""
    rng = np.random.default_rng(3)
    years = np.sort(rng.uniform(2020, 2026, 30))
    values = years - 2020 + 0.2 * rng.normal(size=30)
    small, large = (
        describe_lengths(DatedLengths(years, values, np.full(30, error)), 2023.0).errors for error in (0.05, 2.0)
    )
    assert small == pytest.approx(np.full(30, 0.05))
    assert large == pytest.approx(np.full(30, _departures(years, values, 2023.0).std()))


def test_the_last_look_knows_all_releases():
    layout = ScoreLayout.of(np.array([0, 1, 2]), np.array([0, 0, 0]))
    with pytest.raises(MensuraError, match="the last look must know all 3 releases, got 2"):
        refit_looks(layout, np.array([0.2, 0.5, 0.7]), np.array([1, 2]))
