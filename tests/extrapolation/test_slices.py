"""What the other groups of a pool teach: how steep lines are, how large interactions, which groupings move."""

import numpy as np
import polars as pl
import pytest

from mensura.core.arrays import expit
from mensura.extrapolation.protocol import Slices, Task
from mensura.extrapolation.slices import _steps, feature_variances, features_of, fit_slice, fold_mean, learn_prior
from mensura.extrapolation.straight_line import Contrast, FittedLine, Prior
from mensura.people import WORLD


def test_groupings_have_two_levels_or_more_and_two_items_per_level():
    items = pl.DataFrame(
        {
            "item": list("abcd"),
            "domain": ["x", "x", "y", None],
            "format": ["m"] * 4,
            "language": ["d", "d", "e", "e"],
            "unit": ["u", "u", "v", "v"],
        }
    )
    features, factor = features_of(items)
    assert factor == ("language", "language")
    assert features.tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]


def task_of(rate, links=None, n=1e6, items=None, **more):
    size = len(rate)
    names = {"item": [f"q{k}" for k in range(size)]} if items is None else items
    settings = {
        "rate": np.array(rate, dtype=float),
        "n": np.full(size, float(n)),
        "focal": WORLD.with_(name="g"),
        "reference": WORLD,
        "links": np.array([np.full(size, np.nan) if links is None else links], dtype=float),
        "links_n": np.full(size, np.inf),
        "share": np.zeros(size),
        "covariate": "country",
        "offset": np.zeros(size),
        "basis": "matched",
        "concentration": 0.0,
    }
    return Task(pl.DataFrame(names), **{**settings, **more})


X = np.array([-1.5, -0.5, 0.0, 0.7, 1.3, 2.0])


def test_a_slice_gives_back_the_line_its_rates_lie_on():
    fit = fit_slice(task_of(expit(X), expit(0.4 + 0.8 * X)))
    assert fit.slope == pytest.approx(0.8, abs=1e-4)
    assert fit.residuals == pytest.approx(np.zeros(6), abs=1e-4)
    assert fit.interaction == pytest.approx(0, abs=1e-4)
    assert fit.items == tuple(f"q{k}" for k in range(6))
    assert fit.parts == 1.0
    assert fit_slice(task_of(expit(X), expit(X), concentration=0.25)).parts == 1.25


def test_what_facts_expect_is_no_interaction():
    expected = np.array([0.0, 0.5, 0.0, 0.5, 0.0, 0.5])
    fit = fit_slice(task_of(expit(X), expit(X + expected), offset=expected))
    assert fit.slope == pytest.approx(1.0, abs=1e-4)
    assert fit.interaction == pytest.approx(0, abs=1e-4)


def test_the_interaction_is_the_spread_around_the_line_less_the_sampling_noise():
    """Residuals d of k items: Σ d² / (k − 2) less 1 / (n p (1 − p)); 4 items, all rates near one half."""
    x, off = np.array([-0.3, -0.1, 0.1, 0.3]), np.array([0.1, -0.1, -0.1, 0.1])
    exact = fit_slice(task_of(expit(x), expit(x + off), n=1e9))
    assert exact.slope == pytest.approx(1.0, abs=1e-3)
    assert exact.interaction == pytest.approx(4 * 0.01 / 2, rel=1e-3)
    assert exact.slope_variance == pytest.approx(0.02 / (x @ x), rel=1e-3)
    noisy = fit_slice(task_of(expit(x), expit(x + off), n=1e9, links_n=np.full(4, 400.0)))
    assert exact.interaction - noisy.interaction == pytest.approx(4 / 400, rel=0.05)
    assert noisy.noise == pytest.approx(np.full(4, 4 / 400), rel=0.1)


def test_a_line_needs_four_known_items_of_those_named():
    task = task_of(expit(X), expit(X))
    assert fit_slice(task, frozenset({"q0", "q1", "q2", "q5"})).items == ("q0", "q1", "q2", "q5")
    assert fit_slice(task, frozenset({"q0", "q1", "q2"})) is None
    assert fit_slice(task_of(expit(X))) is None


def test_a_grouping_whose_levels_are_apart_has_their_variance():
    """Levels that lie 0.5 above and below the line: 0.25 less the chance part of it, (τ² + noise) / size."""
    x, off = np.array([-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0]), np.repeat([0.5, -0.5], 4)
    items = {"item": [f"q{k}" for k in range(8)], "domain": ["a"] * 4 + ["b"] * 4, "format": ["m", "o"] * 4}
    fit = fit_slice(task_of(expit(x), expit(x + off), n=1e9, items=items))
    tau = 8 * 0.25 / 6
    assert fit.between["domain"] == pytest.approx(0.25 - tau / 4, rel=1e-3)
    assert fit.between["format"] == pytest.approx(-tau / 4, rel=1e-3)


OWN = Prior(shift_sd=0.3, slope=0.9, slope_sd=0.1, interaction=0.2, gap_shift=0.4)


def others(*tasks, logits=None, counts=None):
    size = len(tasks)
    return Slices(
        tasks, np.zeros(size) if logits is None else np.array(logits), np.ones(size) if counts is None else counts
    )


def test_a_prior_without_neighbours_is_the_own_one_with_twice_the_shift():
    prior = learn_prior(task_of(expit(X), expit(X)), others(), OWN, trust=0.8)
    assert (prior.shift_sd, prior.gap_shift, prior.slope, prior.slope_sd) == pytest.approx((0.6, 0.8, 0.9, 0.1))
    assert prior.interaction == pytest.approx(0.2)


def test_a_prior_is_the_mean_of_the_neighbours_and_the_own_one_by_weight():
    """Exact slopes: weight / (error² + 0.01); the same covariate counts 1, another 1/4, the own prior 1/4."""
    task = task_of(expit(X), expit(X))
    same, other = (
        task_of(expit(X), expit(slope * X), n=1e9, covariate=name) for slope, name in ((0.7, "country"), (1.1, "sex"))
    )
    prior = learn_prior(task, others(same, other), OWN, trust=0.8)
    weights = np.array([1.0 / 0.01, 0.25 / 0.01, 0.25 / 0.02])
    slopes = np.array([0.7, 1.1, 0.9 * 0.8])
    mean = np.average(slopes, weights=weights)
    spread = np.average((slopes - mean) ** 2 - np.array([0, 0, 0.01]), weights=weights)
    assert prior.slope == pytest.approx(mean / 0.8, abs=1e-3)
    assert prior.slope_sd == pytest.approx(spread**0.5, abs=1e-3)
    assert prior.interaction == pytest.approx((0.25 * 0.2**2 / 1.5) ** 0.5, abs=1e-3)
    alike = [task_of(expit(X), expit(X), n=1e9) for _ in range(9)]
    sure = learn_prior(task, others(*alike), Prior(0.3, 1.0, 0.01, 0.0), trust=1.0)
    assert (sure.slope_sd, sure.interaction) == (0.03, 0.05)


def test_an_interaction_is_scaled_to_the_groups_that_make_up_the_rest():
    """One neighbour against a single group (1 + 1), the focal one against very many (1 + 0): half the variance."""
    x, off = np.array([-0.3, -0.1, 0.1, 0.3]), np.array([0.3, -0.3, -0.3, 0.3])
    neighbour = task_of(expit(x), expit(x + off), n=1e9, concentration=1.0)
    prior = learn_prior(task_of(expit(x), expit(x)), others(neighbour), Prior(0.3, 1.0, 0.1, 0.0), trust=1.0)
    assert prior.interaction**2 == pytest.approx(0.18 / 2 / 1.25, rel=1e-3)


def test_variances_of_groupings_come_from_the_neighbours_and_are_never_0():
    items = {"item": [f"q{k}" for k in range(8)], "domain": ["a"] * 4 + ["b"] * 4}
    x, off = np.array([-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0]), np.repeat([0.5, -0.5], 4)
    mine = task_of(expit(x), expit(x), items=items)
    apart = task_of(expit(x), expit(x + off), n=1e9, items=items)
    assert feature_variances(mine, others()).tolist() == [1e-6, 1e-6]
    assert feature_variances(mine, others(mine)).tolist() == [1e-6, 1e-6]
    assert feature_variances(mine, others(apart)) == pytest.approx(np.full(2, 0.25 - 8 * 0.25 / 24), rel=1e-3)
    assert feature_variances(task_of(expit(X)), others(mine)) is None


def test_the_mean_of_the_unknown_items_moves_to_that_of_the_other_groups():
    """Steps 1 and 2 of groups with equal answers: the observation is the links' mean + 1.5, its variance s² / 2."""
    task = task_of([0.5] * 4, [0.5, 0.5, np.nan, np.nan], n=1e9)
    known = np.array([0.5, 0.5, np.nan, np.nan])
    slices = others(*(task_of(known, n=1e9) for _ in range(2)), logits=[1.0, 2.0], counts=np.array([2, 2]))
    one, nothing = np.ones(1), np.zeros((1, 4))
    line = FittedLine(nothing, nothing + 1, one, one, 0.2 * one, one, one, one, one)
    moved = fold_mean(task, slices, Contrast.of(task, np.zeros(4)), line)
    own, seen = 0.2**2 / 2 + 0.003, 0.5 / 2
    assert moved.logit[0] == pytest.approx([0, 0, *[1.5 * own / (own + seen)] * 2], abs=1e-6)
    single = others(slices.tasks[0], logits=[1.0])
    assert fold_mean(task, single, Contrast.of(task, np.zeros(4)), line) is line
    for links in (None, [0.5] * 4):
        plain = task_of([0.5] * 4, links)
        assert fold_mean(plain, slices, Contrast.of(plain, np.zeros(4)), line) is line


def test_a_step_counts_groups_of_the_same_covariate_where_there_are_two():
    task = task_of([0.5] * 4, [0.5, 0.5, np.nan, np.nan])
    known = [0.5, 0.5, np.nan, np.nan]
    of = {name: task_of(known, n=n, covariate=name) for name, n in (("country", 100), ("sex", 300))}

    def steps(names, counts):
        found = others(*(of[name] for name in names), logits=np.arange(1.0, len(names) + 1), counts=np.array(counts))
        return [(pytest.approx(step, abs=1e-9), weight) for step, weight in _steps(task, found)]

    assert steps(["country", "sex", "country"], [1, 1, 1]) == [(1.0, 100), (3.0, 100)]
    assert steps(["country", "sex", "sex"], [1, 0, 1]) == [(1.0, 100), (3.0, 300)]
