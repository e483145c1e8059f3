"""The methods: what each does with what it knows."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.core.arrays import expit, logit
from mensura.extrapolation import Described, Hierarchical, Linked, Slices, cases_of, methods_of
from mensura.extrapolation.scoring import Trial, shift_error, trials_of
from mensura.extrapolation.slices import feature_variances, features_of, fit_slice, learn_prior
from mensura.extrapolation.straight_line import Prior

PRIOR = Prior(shift_sd=0.4, slope=0.95, slope_sd=0.05, interaction=0.2)
SHIFT_REACH, ITEM_REACH = stats.t.ppf(0.95, 4) * 0.5**0.5, stats.t.ppf(0.95, 6) * (4 / 6) ** 0.5
"""SDs that a 90% interval of a Student shift and of a Student interaction reaches, before any link."""


def masks(size, draws, links, seed=0):
    return np.argsort(np.random.default_rng(seed).random((draws, size)), axis=1) < links


def slices_of(cases):
    """The other groups, known on all their items."""
    count = len(cases)
    return Slices(tuple(case.revealed for case in cases), np.full(count, np.nan), np.zeros(count))


def test_the_undamped_shift_is_the_mean_logit_difference_of_the_links(new_case):
    case = new_case(np.random.default_rng(1), PRIOR)
    known = masks(30, 1, 3)
    n, whole_n = case.task.n, case.task.links_n
    x = logit((case.task.rate * n + 0.5) / (n + 1))
    whole = logit((case.truth * whole_n + 0.5) / (whole_n + 1))
    shifted = expit(x + (whole - x)[known[0]].mean())
    error = np.abs(shifted - case.truth)[~known[0]].mean()
    assert shift_error(Trial(case, (case.linked(known),), ~known)) == pytest.approx(error)


def test_described_uses_no_links(new_case):
    case = new_case(np.random.default_rng(2), PRIOR)
    with_links = Described().predict(case.linked(masks(30, 1, 10)))
    assert np.array_equal(with_links.rate, Described().predict(case.task).rate)


def test_linked_without_links_is_described(new_case):
    case = new_case(np.random.default_rng(2), PRIOR)
    assert np.array_equal(Linked().predict(case.task).low, Described().predict(case.task).low)


def test_links_beat_the_undamped_shift_and_identity_on_simulated_groups(new_case, priors_of):
    rng = np.random.default_rng(3)
    truth = Prior(shift_sd=0.2, slope=0.9, slope_sd=0.05, interaction=0.35)
    linked = Linked(priors=priors_of(truth))
    errors = {"linked": [], "shift": [], "identity": []}
    for _ in range(40):
        case = new_case(rng, truth, n=200)
        known = masks(30, 20, 3, seed=7)
        errors["shift"].append(shift_error(Trial(case, (case.linked(known),), ~known)))
        for name, rate in (("linked", linked.predict(case.linked(known)).rate), ("identity", case.task.rate)):
            wrong = np.broadcast_to(np.abs(rate - case.truth), known.shape)
            errors[name].append(wrong[~known].mean())
    means = {name: np.mean(values) for name, values in errors.items()}
    assert means["linked"] < 0.9 * means["shift"]
    assert means["linked"] < means["identity"]


def test_slices_teach_slope_and_interaction(new_case):
    rng = np.random.default_rng(5)
    truth = Prior(shift_sd=0.5, slope=0.6, slope_sd=0.01, interaction=0.4)
    others = [new_case(rng, truth, items=60, n=5000) for _ in range(8)]
    case = new_case(rng, truth, items=60, n=5000)
    learned = learn_prior(case.revealed, slices_of(others), PRIOR, 1.0)
    assert learned.slope == pytest.approx(0.6, abs=0.05)
    assert learned.interaction == pytest.approx(0.4, abs=0.05)
    assert learned.shift_sd == 2 * PRIOR.shift_sd


def test_slices_of_the_same_covariate_count_four_times_those_of_another(new_case):
    """The learned interaction variance is a mean: 1 for the own covariate, ¼ for another, ¼ for the prior."""
    rng = np.random.default_rng(5)
    alike, odd = (new_case(rng, replace(PRIOR, interaction=tau), items=60, n=5000) for tau in (0.3, 0.8))
    odd = replace(odd, task=replace(odd.task, covariate="another"))
    case = new_case(rng, PRIOR, items=60, n=5000)
    slices = slices_of([alike, odd])
    near, far = (fit_slice(task).interaction for task in slices.tasks)
    learned = learn_prior(case.revealed, slices, PRIOR, 1.0)
    assert learned.interaction**2 == pytest.approx((near + 0.25 * far + 0.25 * 0.2**2) / 1.5)
    lonely = replace(case, task=replace(case.task, concentration=1.0))
    assert learn_prior(lonely.revealed, slices, PRIOR, 1.0).interaction ** 2 == pytest.approx(
        (2 * near + 0.25 * 2 * far + 0.25 * 0.2**2) / 1.5
    )


def test_a_slice_is_fitted_by_weighted_least_squares(new_case):
    """Many answers: weights are alike, so slope and residuals are those of a plain regression."""
    case = new_case(np.random.default_rng(6), replace(PRIOR, slope=0.7), n=10**7, share=1e-3)
    fit = fit_slice(case.revealed)
    x = logit(case.task.rate)
    rest = (case.truth - 1e-3 * case.task.rate) / (1 - 1e-3)
    slope, intercept = np.polyfit(x, logit(rest), 1)
    assert fit.slope == pytest.approx(slope, abs=1e-4)
    assert fit.residuals == pytest.approx(logit(rest) - intercept - slope * x, abs=1e-4)
    assert fit.interaction == pytest.approx((fit.residuals**2).sum() / 28, rel=1e-3)


def test_a_slice_with_few_known_items_is_not_fitted(new_case):
    task = new_case(np.random.default_rng(6), PRIOR).revealed
    assert fit_slice(task, frozenset(["i1", "i2", "i3"])) is None
    assert fit_slice(task, frozenset(["i1", "i2", "i3", "i4"])).items == ("i1", "i2", "i3", "i4")


def test_groupings_that_move_in_other_groups_get_a_wider_prior(pool):
    cases = cases_of(pool)
    rows = features_of(cases[0].task.items)[0]
    moved = [replace(c, truth=np.clip(c.truth + 0.15 * (rows[0] - 0.5), 0.02, 0.98)) for c in cases]
    plain = feature_variances(cases[0].revealed, slices_of(cases[1:]))
    shifted = feature_variances(cases[0].revealed, slices_of(moved[1:]))
    assert (shifted > plain + 0.02).all()


def test_other_groups_means_on_hidden_items_move_the_level_and_nothing_else(pool):
    """Hidden items that all other groups find one logit harder are predicted lower, all by the same logits."""
    cases = cases_of(pool)
    posed = trials_of("slices", cases, links=3, draws=1, rng=np.random.default_rng(0))[0].tasks[0]
    harder = replace(posed, slices=replace(posed.slices, hidden_logit=posed.slices.hidden_logit - 1.0))
    before, after = (Hierarchical().predict(task) for task in (posed, harder))
    share, hidden = posed.share, ~posed.known[0]
    rest = [logit((found.rate[0] - share * posed.rate) / (1 - share)) for found in (before, after)]
    steps = (rest[1] - rest[0])[hidden]
    assert steps == pytest.approx(np.full(hidden.sum(), steps[0]))
    df = 10 + (~hidden).sum()
    reach = stats.t.ppf(0.95, df) * ((df - 2) / df) ** 0.5
    tau = before.sensitivity.filter(pl.col("assumption") == "item-by-group interaction")["high"][0] / reach
    x = np.array([logit((c.task.rate * c.task.n + 0.5) / (c.task.n + 1)) for c in cases[1:]])
    easier = x[:, hidden].mean(axis=1) - x[:, ~hidden].mean(axis=1)
    own = tau**2 / hidden.sum() + 0.003
    assert steps[0] == pytest.approx(-own / (own + easier.var(ddof=1) / 5), rel=1e-6)
    assert (rest[1] - rest[0])[~hidden] == pytest.approx(0.0)


def test_the_best_method_of_each_situation_comes_first():
    assert [methods_of(situation)[0] for situation in ("described", "linked", "slices")] == [
        "described",
        "linked",
        "hierarchical",
    ]


def test_a_rest_of_one_group_doubles_the_variances_of_shift_and_interaction(new_case, priors_of):
    """They go with 1 + concentration: both groups have interactions of their own, and many groups' average out."""
    task = new_case(np.random.default_rng(2), PRIOR).task
    for concentration, factor in ((0.0, 1.0), (1.0, 2.0)):
        found = Described(priors=priors_of(PRIOR)).predict(replace(task, concentration=concentration)).sensitivity
        high = dict(found.select("assumption", "high").iter_rows())
        assert high["shift"] == pytest.approx(SHIFT_REACH * np.sqrt(factor) * 0.4, rel=1e-3)
        assert high["item-by-group interaction"] == pytest.approx(ITEM_REACH * np.sqrt(factor) * 0.2, rel=1e-3)
