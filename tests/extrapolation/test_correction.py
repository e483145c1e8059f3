"""What a language model's estimates are worth: the part of its shift that is real, and honest intervals."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from mensura.core.arrays import expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.correction import (
    AskingMethod,
    Correction,
    Replies,
    inside_edges,
    published_correction,
    shipped_correction,
)
from mensura.extrapolation.protocol import Task
from mensura.people import WORLD, Population


def test_the_shipped_correction_leaves_out_the_pool_that_is_judged():
    for pool in ("timss2011_g8_math_4c", "spisa_general_knowledge", "viqt_vocabulary"):
        assert pool in shipped_correction().origin
        assert pool not in shipped_correction(pool).origin
    assert shipped_correction("my pool") == shipped_correction()


def test_the_published_error_level_is_that_of_the_tables():
    """Root mean square of the fifteen published RMSE is 0.140 in rates; 0.2 per logit makes it 0.70 logits."""
    assert published_correction().item_sd == pytest.approx(0.70, abs=0.01)


def make_task(rate, n=np.nan, share=0.0, links=None, links_n=np.inf):
    size = len(rate)
    return Task(
        items=pl.DataFrame({"item": [f"q{k}" for k in range(size)]}),
        rate=np.array(rate),
        n=np.full(size, float(n)),
        focal=Population("pupils", "Pupils."),
        reference=Population("all", "Everybody tested."),
        links=np.full((1, size), np.nan) if links is None else np.array([links], dtype=float),
        links_n=np.full(size, float(links_n)),
        share=np.full(size, share),
    )


def test_a_correction_without_links_is_the_closed_form():
    """Mean x + β₀ (e − x); variance σ_b² + (e − x)² σ_β² + τ² + (c h / z)²."""
    correction = Correction(damping=0.8, damping_sd=0.1, shift_sd=0.2, item_sd=0.3, width=0.5)
    rate, half = np.array([0.7, 0.2]), np.array([0.4, 0.0])
    middle, low, high = correction.apply(make_task([0.4, 0.5]), rate, half, 0.95)
    x, e = logit(np.array([0.4, 0.5])), logit(rate)
    mean = x + 0.8 * (e - x)
    reach = 1.959964 * np.sqrt(0.2**2 + (0.1 * (e - x)) ** 2 + 0.3**2 + (0.5 * half / 1.644854) ** 2)
    for bound, expected in ((middle, mean), (low, mean - reach), (high, mean + reach)):
        assert bound[0] == pytest.approx(expit(expected), abs=1e-6)


def test_an_item_without_an_estimate_stays_without_one_and_does_not_change_the_others():
    correction = Correction(0.8, 0.1, 0.2, 0.3, 0.5)
    task = make_task([0.4, 0.5], links=[np.nan, 0.9])
    with_gap = correction.apply(task, np.array([0.7, np.nan]), np.array([0.4, np.nan]), 0.9)
    alone = correction.apply(make_task([0.4]), np.array([0.7]), np.array([0.4]), 0.9)
    for two, one in zip(with_gap, alone, strict=True):
        assert two[0, 0] == pytest.approx(one[0, 0])
        assert np.isnan(two[0, 1])


def test_no_rate_leaves_what_the_share_of_the_observed_group_allows():
    """Four tenths of the whole answer 60% right, so the whole lies between 0.24 and 0.84."""
    wide = Correction(1.0, 0.0, 9.0, 0.0, 0.0)
    _, low, high = wide.apply(make_task([0.6], share=0.4), np.array([0.6]), np.array([0.1]), 0.9)
    assert (low[0, 0], high[0, 0]) == pytest.approx((0.24, 0.84))


def test_a_link_moves_the_others_by_the_part_of_its_error_that_all_share():
    """One link off by d: the shift is d σ_b² / (σ_b² + τ² + sampling), with sampling 1 / (n p (1 − p))."""
    correction = Correction(1.0, 0.0, 0.5, 0.4, 0.0)
    task = make_task([0.5, 0.5], links=[0.8, np.nan], links_n=50)
    middle, low, high = correction.apply(task, np.array([0.6, 0.6]), np.zeros(2), 0.9)
    off = logit(np.array(40.5 / 51)) - logit(np.array(0.6))
    noise = 0.4**2 + 1 / (50 * 0.8 * 0.2)
    part = 0.5**2 / (0.5**2 + noise)
    assert logit(middle[0, 1]) - logit(np.array(0.6)) == pytest.approx(part * off, abs=1e-6)
    sd = (0.5**2 * (1 - part) + 0.4**2) ** 0.5
    assert (logit(high[0, 1]) - logit(low[0, 1])) / 2 == pytest.approx(1.644854 * sd, abs=1e-5)


def test_the_sensitivity_moves_one_constant_at_a_time():
    correction = Correction(damping=0.8, damping_sd=0.1, shift_sd=0.2, item_sd=0.3, width=1.0)
    rate, half, z = np.array([0.8, 0.6]), np.array([0.1, 0.5]), 1.2815516
    table = correction.sensitivity(make_task([0.5, 0.5]), rate, half, 0.8)
    gap = logit(rate)
    own = np.sqrt(0.3**2 + (half / 1.644854) ** 2)
    expected = {
        "shift of the group": (0.0, 0.2, 0.2),
        "part of the shift that is real": (0.8, 0.1, 0.1 * gap),
        "error of an item": (0.0, own.mean(), own),
    }
    for name, value, low, high, rate_low, rate_high in table.select(table.columns[:6]).iter_rows():
        centre, sd, moved = expected.pop(name)
        assert (value, low, high) == pytest.approx((centre, centre - z * sd, centre + z * sd))
        means = [expit(0.8 * gap + side * moved).mean() for side in (-z, z)]
        assert (rate_low, rate_high) == pytest.approx(means)
    assert not expected
    assert correction.sensitivity(make_task([0.5, 0.5]), np.full(2, np.nan), half, 0.8).is_empty()
    two_draws = make_task([0.5, 0.5])
    two_draws = replace(two_draws, links=np.full((2, 2), np.nan))
    assert correction.sensitivity(two_draws, rate, half, 0.8).is_empty()


@pytest.mark.parametrize("place", range(5))
def test_constants_of_a_correction_are_numbers_and_spreads_are_not_below_0(place):
    for value in (np.nan, np.inf, -0.1):
        constants = [0.5] * 5
        constants[place] = value
        if place == 0 and value == -0.1:
            assert Correction(*constants).damping == -0.1
            continue
        with pytest.raises(MensuraError, match=r"correction: \w+ must be a number of 0 or more"):
            Correction(*constants)
    assert Correction(*[0.0] * 5)


def test_rates_next_to_an_edge_are_read_as_two_thousandths_from_it():
    assert inside_edges(np.array([0.0, 0.001, 0.5, 1.0])).tolist() == [0.002, 0.002, 0.5, 0.998]


class _Told(AskingMethod):
    """Answers with 60% of everything, and fails on some calls."""

    name, INTERVAL = "told", "errors of {origin}"
    failures: ClassVar[list[str]] = ["timeout"] * 3 + ["no JSON", "x" * 200, "y", "z"]

    def ask(self, task):
        size = task.size
        return Replies(np.full(size, 0.6), np.full(size, 0.1), np.full(size, 5), pl.DataFrame(), self.failures)

    def usual_correction(self, task):
        return Correction(1.0, 0.0, 0.0, 0.3, 0.0, "its own")


def test_a_method_that_asks_names_its_failures_and_the_correction_it_used():
    prediction = _Told(asker=object()).predict(make_task([0.4, 0.5]))
    assert prediction.rate == pytest.approx(np.full((1, 2), 0.6))
    (warning,) = prediction.warnings
    assert warning == f"7 of 10 answers could not be read: timeout (3); no JSON (1); {'x' * 100} (1)"
    assert prediction.interval == "errors of its own"
    given = _Told(asker=object(), correction=Correction(0.0, 0.0, 0.0, 0.3, 0.0, "another")).predict(make_task([0.4]))
    assert given.rate[0] == pytest.approx([0.4])
    assert given.interval == "errors of another"
    world = _Told(asker=object()).predict(replace(make_task([0.4]), reference=WORLD))
    assert "no world estimate has ever been checked against the world" in world.warnings[-1]
    with pytest.raises(MensuraError, match="method 'told' needs asker"):
        _Told()
