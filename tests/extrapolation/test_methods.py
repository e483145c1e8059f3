"""The methods: what each is allowed to see, and what it does with it."""

import numpy as np
import pytest

from mensura.errors import MensuraError
from mensura.extrapolation.cases import cases_of
from mensura.extrapolation.line import Prior, expit, logit, smooth
from mensura.extrapolation.methods import ConstantShift, Described, Ensemble, Hierarchical, Identity, Linked
from mensura.extrapolation.registry import method_for, methods_of
from mensura.extrapolation.slices import Slices, feature_variances, fit_slice, learn_prior

PRIOR = Prior(shift_sd=0.4, slope=0.95, slope_sd=0.05, interaction=0.2)


def masks(size, draws, links, seed=0):
    return np.argsort(np.random.default_rng(seed).random((draws, size)), axis=1) < links


def test_identity_returns_the_focal_rates(new_case):
    case = new_case(np.random.default_rng(0), PRIOR)
    found = Identity().carry(case, masks(30, 2, 3))
    assert np.array_equal(found.rate, np.tile(case.rate, (2, 1)))
    assert (found.low <= found.rate).all()
    assert (found.rate <= found.high).all()


def test_constant_shift_is_the_mean_logit_difference_of_the_links(new_case):
    case = new_case(np.random.default_rng(1), PRIOR)
    known = masks(30, 1, 3)
    whole = logit(smooth(case.reference, case.rest + case.n))
    shift = (whole - case.x)[known[0]].mean()
    assert ConstantShift().carry(case, known).rate[0] == pytest.approx(expit(case.x + shift))


def test_a_known_difference_needs_no_links(new_case):
    case = new_case(np.random.default_rng(1), PRIOR)
    found = ConstantShift(difference=-0.5).carry(case, np.zeros((1, 30), dtype=bool))
    assert found.rate[0] == pytest.approx(expit(case.x - 0.5))


@pytest.mark.parametrize("name", ["identity", "shift", "described", "linked", "hierarchical", "ensemble"])
def test_no_method_sees_what_is_hidden(pool, name):
    """Rates of the reference on hidden items may be anything: the predictions of those items stay the same."""
    cases = cases_of(pool)
    case = cases[0]
    known = masks(len(case.items), 1, 20)
    situation = "slices" if name in {"hierarchical", "ensemble"} else "linked" if name != "described" else "described"
    wrong = np.where(known[0], case.reference, 1.0 - case.reference)
    changed = [_with_reference(c, known[0], wrong) for c in cases]
    before = method_for(name, situation, case, cases).carry(case, known)
    after = method_for(name, situation, changed[0], changed).carry(changed[0], known)
    assert after.rate == pytest.approx(before.rate)
    assert after.low == pytest.approx(before.low)


def _with_reference(case, known, wrong):
    from dataclasses import replace

    return replace(case, reference=np.where(known, case.reference, wrong))


def test_hierarchical_sees_of_other_groups_only_their_mean_on_hidden_items(pool):
    from dataclasses import replace

    cases = cases_of(pool)
    case = cases[0]
    known = masks(len(case.items), 1, 30)
    hidden = np.flatnonzero(~known[0])
    swapped = []
    for other in cases[1:]:
        rate = other.rate.copy()
        rate[hidden] = rate[np.roll(hidden, 1)]
        swapped.append(replace(other, rate=rate))
    before = Hierarchical(Slices(tuple(cases[1:]))).carry(case, known)
    after = Hierarchical(Slices(tuple(swapped))).carry(case, known)
    assert after.rate == pytest.approx(before.rate)


def test_described_uses_no_links(new_case):
    case = new_case(np.random.default_rng(2), PRIOR)
    some, none = masks(30, 1, 10), np.zeros((1, 30), dtype=bool)
    assert np.array_equal(Described().carry(case, some).rate, Described().carry(case, none).rate)


def test_links_beat_the_undamped_shift_and_identity_on_simulated_groups(new_case):
    rng = np.random.default_rng(3)
    errors = {"linked": [], "shift": [], "identity": []}
    for _ in range(40):
        case = new_case(rng, Prior(shift_sd=0.2, slope=0.9, slope_sd=0.05, interaction=0.35), n=200)
        known = masks(30, 20, 3, seed=7)
        for method in (Linked(), ConstantShift(), Identity()):
            wrong = np.abs(method.carry(case, known).rate - case.reference)
            errors[method.name].append(wrong[~known].mean())
    means = {name: np.mean(values) for name, values in errors.items()}
    assert means["linked"] < 0.9 * means["shift"]
    assert means["linked"] < means["identity"]


def test_ensemble_weights_favour_the_better_member(new_case):
    case = new_case(np.random.default_rng(4), Prior(2.0, 1.0, 0.01, 0.05))
    known = masks(30, 5, 10)
    weights = Ensemble((Linked(), Identity())).weights(case, known)
    assert weights.sum(axis=0) == pytest.approx(np.ones(5))
    assert (weights[0] > 0.9).all()


def test_ensemble_without_links_weighs_members_alike(new_case):
    case = new_case(np.random.default_rng(4), PRIOR)
    assert Ensemble((Linked(), Identity())).weights(case, np.zeros((2, 30), dtype=bool)) == pytest.approx(0.5)


def test_slices_teach_slope_and_interaction(new_case):
    rng = np.random.default_rng(5)
    truth = Prior(shift_sd=0.5, slope=0.6, slope_sd=0.01, interaction=0.4)
    others = [new_case(rng, truth, items=60, n=5000) for _ in range(8)]
    case = new_case(rng, truth, items=60, n=5000)
    learned = learn_prior(Slices(tuple(others)), case, np.ones(60, dtype=bool))
    assert learned.slope == pytest.approx(0.6, abs=0.05)
    assert learned.interaction == pytest.approx(0.4, abs=0.05)


def test_a_slice_with_few_known_items_is_not_fitted(new_case):
    case = new_case(np.random.default_rng(6), PRIOR)
    assert fit_slice(case, frozenset(["i1", "i2", "i3"])) is None
    assert fit_slice(case, frozenset(["i1", "i2", "i3", "i4"])) is not None


def test_groupings_that_move_in_other_groups_get_a_wider_prior(pool):
    from dataclasses import replace

    cases = cases_of(pool)
    moved = [replace(c, reference=np.clip(c.reference + 0.15 * (c.features[0] - 0.5), 0.02, 0.98)) for c in cases]
    known = np.ones(len(cases[0].items), dtype=bool)
    plain = feature_variances(Slices(tuple(cases[1:])), cases[0], known)
    shifted = feature_variances(Slices(tuple(moved[1:])), cases[0], known)
    assert (shifted > plain + 0.02).all()


def test_a_method_that_knows_more_than_the_situation_is_refused(pool):
    with pytest.raises(MensuraError, match="does not fit situation 'described'; it may be described, identity"):
        method_for("linked", "described", cases_of(pool)[0], [])
    assert methods_of("slices")[0] == "hierarchical"
