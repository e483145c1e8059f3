"""Lines that may bend and scatter that may grow: what simulated releases say about both."""

import numpy as np
import pytest
import scipy.stats

from mensura.stitching import ScoreLayout
from mensura.trends.kinks import Stream
from mensura.trends.nulls import describe_null, refit_looks
from mensura.trends.scatter import (
    BENT,
    GROWTH,
    GROWTH_OF_WATCH,
    describe_bent,
    describe_growth,
    describe_scatter,
    describe_steps,
    find_steps,
)

RNG = np.random.default_rng(8)
YEARS = np.sort(RNG.uniform(2024, 2026, 120))
NOISE = RNG.normal(0, 0.1, 120)


def test_the_pace_is_that_after_the_bend():
    """0.5 a year, from 2025 on 1.5: one line through both would say about 1."""
    values = 0.5 * (YEARS - 2024) + 1.0 * np.maximum(YEARS - 2025, 0) + NOISE
    found = describe_bent(YEARS, values)
    drawn = found.draw(2000, np.random.default_rng(0))
    assert found.probability[0, 0] < 0.1
    assert np.median(drawn.pace) == pytest.approx(1.5, abs=0.15)
    assert np.median(drawn.line(np.array([2026.5]))) == pytest.approx(0.5 * 2.5 + 1.5, abs=0.15)


def test_a_sudden_gain_is_a_step_and_a_line_has_none():
    line = 0.5 * (YEARS - 2024) + NOISE
    assert find_steps(YEARS, line).shape == (120, 2)
    assert find_steps(YEARS, 0.5 * YEARS).shape == (120, 2)
    stepped = line + 0.6 * (YEARS >= 2025)
    design = find_steps(YEARS, stepped)
    assert YEARS[design[:, 2] > 0].min() == pytest.approx(2025, abs=0.05)
    assert np.linalg.lstsq(design, stepped, rcond=None)[0][2] == pytest.approx(0.6, abs=0.15)


def test_the_pace_with_steps_contains_them_and_errs_by_those_that_could_have_come():
    """0.5 a year and one step of 0.6 within two years: 0.8 a year, give or take two steps' variance a year."""
    values = 0.5 * (YEARS - 2024) + 0.6 * (YEARS >= 2025) + NOISE
    every = np.ones(120, dtype=bool)
    stepped = describe_steps(YEARS, values, every)
    assert stepped.pace == pytest.approx(0.8, abs=0.1)
    assert stepped.yearly == pytest.approx(2 * 0.6**2 / 2, rel=0.3)
    assert stepped.error == pytest.approx(np.sqrt(stepped.yearly / 2), rel=0.1)
    assert describe_steps(YEARS, 0.5 * YEARS + NOISE, every) is None


def test_a_straight_line_stays_straight():
    found = describe_bent(YEARS, 0.5 * (YEARS - 2024) + NOISE)
    assert found.probability[0, 0] > 1 - BENT
    assert np.median(found.draw(2000, np.random.default_rng(0)).pace) == pytest.approx(0.5, abs=0.1)


def test_lines_are_weighed_by_the_likelihood_of_the_releases():
    """Without shocks the evidence of a bend is a ratio of multivariate Student densities, line and level flat."""
    values = 0.5 * (YEARS - 2024) + 0.4 * np.maximum(YEARS - 2025, 0) + NOISE
    alone = np.zeros(19)
    alone[0] = 1.0
    bend = 2025.0
    straight, bent = (
        describe_scatter(YEARS, values, prior=alone + 1e-300, **more) for more in ({}, {"bend": bend, "change": 2.0})
    )
    design = np.column_stack([np.ones(120), YEARS - YEARS.mean()])
    basis = scipy.linalg.null_space(design.T)
    rest, hinge = basis.T @ values, basis.T @ np.maximum(YEARS - bend, 0)
    shape = np.eye(118) + 4.0 * np.outer(hinge, hinge)
    log = [-0.5 * np.linalg.slogdet(s)[1] - 59 * np.log(rest @ np.linalg.solve(s, rest)) for s in (np.eye(118), shape)]
    assert bent.evidence[0] - straight.evidence[0] == pytest.approx(log[1] - log[0], abs=1e-6)


def test_growth_is_found_and_shrunk_towards_none():
    years = np.linspace(2022, 2026, 4000)
    off = np.random.default_rng(1).normal(0, 1, 4000)
    mean, error = describe_growth(years, off * np.exp(0.2 * years))
    assert mean == pytest.approx(0.2, abs=3 * error) and error < 0.02
    few = describe_growth(years[::400], off[::400] * np.exp(0.2 * years[::400]))
    assert few[1] > 0.09
    assert describe_growth(years, np.zeros(4000)) == (0.0, 0.0)


def test_the_watch_believes_a_growth_that_forecasts_half_believe():
    """Of a scatter that doubles over four years, 140 releases once left the watch three fifths."""
    years = np.linspace(2022, 2026, 140)
    off = np.exp(0.173 * years) * np.random.default_rng(4).normal(0, 1, 140)
    precision = np.sum((years - years.mean()) ** 2) / (np.pi**2 / 8)
    whole = describe_growth(years, off, 1e6)[0]
    for prior, least in ((GROWTH, 0.55), (GROWTH_OF_WATCH, 0.85)):
        part = describe_growth(years, off, prior)[0] / whole
        assert part == pytest.approx(precision / (precision + prior**-2), rel=1e-6)
        assert least < part < least + 0.1


def test_streams_without_change_scatter_as_the_data_do():
    """Scatter that grows e-fold in two years: late releases of the simulated streams scatter more than early ones."""
    rng = np.random.default_rng(2)
    years = np.linspace(54, 58, 200)
    size = 0.2 * np.exp(0.5 * (years - 56))
    capability = 0.6 * (years - 54) + size * rng.standard_normal(200)
    rows, cols = np.repeat(np.arange(200), 8), np.tile(np.arange(8), 200)
    level = np.linspace(-0.5, 3.0, 8)
    chance = 1 / (1 + np.exp(-4 * (capability[rows] - level[cols])))
    stream = Stream(years, rows, cols, np.clip(chance + rng.normal(0, 0.01, rows.size), 0, 1))
    layout = ScoreLayout.of(rows, cols)
    whole = refit_looks(layout, stream.scores, np.array([200])).whole
    null = describe_null(stream, layout, whole, 56.0)
    drawn = null._capabilities(400, np.random.default_rng(3))
    rest = drawn - np.array([np.polyval(np.polyfit(years, one, 1), years) for one in drawn])
    early, late = rest[:, :50].std(), rest[:, 150:].std()
    assert null.growth[0] > 0.25
    assert late > 2 * early
