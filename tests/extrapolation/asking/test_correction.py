"""Correcting estimates by errors made elsewhere: parameters come back, intervals cover, links teach."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import gamma, multivariate_normal, norm

from mensura.core.arrays import expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.correction import Correction
from tools.learn_correction import learn_correction

TRUE = Correction(damping=0.85, damping_sd=0.08, shift_sd=0.12, item_sd=0.15, width=0.7)
Z90 = 1.6448536


def draw_group(
    rng: np.random.Generator, pool: str, group: str, items: int = 60, true: Correction = TRUE
) -> pl.DataFrame:
    """Draw one focal group's records from the model itself."""
    x = rng.normal(0, 1, items)
    gap = rng.normal(0.6, 0.2) * rng.choice([-1, 1]) + 0.3 * rng.normal(size=items)
    half = rng.uniform(0.2, 0.6, items)
    error = np.sqrt(true.item_sd**2 + (true.width * half / Z90) ** 2) * rng.normal(size=items)
    shift, damping = true.shift_sd * rng.normal(), true.damping + true.damping_sd * rng.normal()
    columns = {
        "observed": x, "whole": x + shift + damping * gap + error, "estimate": x + gap, "low": x + gap - half,
        "high": x + gap + half,
    }  # fmt: skip
    rates = {name: expit(values) for name, values in columns.items()}
    return pl.DataFrame({"pool": pool, "group": group, "item": [f"i{k}" for k in range(items)], **rates})


def draw_records(groups: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.concat([draw_group(rng, f"p{k % 4}", f"g{k}") for k in range(groups)])


def predict(correction: Correction, records: pl.DataFrame, new_task, links: np.ndarray | None = None, **changes):
    size = records.height
    low, high = (logit(records[name].to_numpy()) for name in ("low", "high"))
    task = new_task(
        size,
        rate=records["observed"].to_numpy(),
        n=np.full(size, np.nan),
        links=np.full((1, size), np.nan) if links is None else links,
        **changes,
    )
    return correction.apply(task, records["estimate"].to_numpy(), (high - low) / 2, 0.9)


def test_the_constants_come_back_from_many_groups():
    found = learn_correction(draw_records(80))
    assert found.damping == pytest.approx(TRUE.damping, abs=0.04)
    assert found.shift_sd == pytest.approx(TRUE.shift_sd, abs=0.05)
    assert found.width == pytest.approx(TRUE.width, abs=0.2)
    assert "80 focal groups of p0, p1, p2, p3" in found.origin


def test_intervals_learned_on_few_groups_cover_groups_of_other_pools(new_task):
    covered = []
    for seed in range(12):
        correction = learn_correction(draw_records(8, seed))
        fresh = draw_group(np.random.default_rng(1000 + seed), "new", "g")
        _, low, high = predict(correction, fresh, new_task)
        truth = fresh["whole"].to_numpy()
        covered.append(((low <= truth) & (truth <= high)).mean())
    assert 0.86 <= np.mean(covered) <= 0.95


def test_corrected_estimates_are_closer_than_raw_ones(new_task):
    correction = learn_correction(draw_records(8))
    raw, corrected = [], []
    for seed in range(25):
        fresh = draw_group(np.random.default_rng(2000 + seed), "new", "g")
        truth = fresh["whole"].to_numpy()
        raw.append(np.abs(fresh["estimate"].to_numpy() - truth).mean())
        corrected.append(np.abs(predict(correction, fresh, new_task)[0][0] - truth).mean())
    assert np.mean(corrected) < 0.97 * np.mean(raw)


def test_without_spreads_or_damping_the_estimate_stays_as_it_is(new_task):
    records = draw_group(np.random.default_rng(1), "p", "g")
    rate, low, high = predict(Correction(1.0, 0.0, 0.0, 0.0, 1.0), records, new_task)
    for found, name in ((rate, "estimate"), (low, "low"), (high, "high")):
        assert found[0] == pytest.approx(records[name].to_numpy(), abs=1e-9)


def test_half_a_damping_halves_the_shift_in_logits(new_task):
    records = draw_group(np.random.default_rng(2), "p", "g")
    rate = predict(Correction(0.5, 0.0, 0.0, 0.1, 1.0), records, new_task)[0][0]
    x, e = (logit(records[name].to_numpy()) for name in ("observed", "estimate"))
    assert logit(rate) == pytest.approx((x + e) / 2, abs=1e-7)


def test_links_move_the_other_items_and_narrow_their_intervals(new_task):
    records = draw_group(np.random.default_rng(3), "p", "g")
    shifted = expit(logit(records["estimate"].to_numpy()) + 0.5)
    links = np.full((2, records.height), np.nan)
    links[1, :15] = shifted[:15]
    rate, low, high = predict(Correction(1.0, 0.0, 0.3, 0.1, 1.0), records, new_task, links=links)
    assert rate[0] == pytest.approx(records["estimate"].to_numpy(), abs=1e-9)
    moved = (logit(rate[1]) - logit(rate[0]))[15:]
    assert moved == pytest.approx(np.full(len(moved), moved[0])) and 0.35 < moved[0] < 0.5
    assert np.all(logit(high[1]) - logit(low[1]) < logit(high[0]) - logit(low[0]))


def test_no_rate_leaves_what_the_observed_part_allows(new_task):
    records = draw_group(np.random.default_rng(4), "p", "g").with_columns(observed=pl.lit(0.9), estimate=pl.lit(0.2))
    _, low, high = predict(Correction(1.0, 0.0, 0.5, 1.0, 1.0), records, new_task, share=np.full(records.height, 0.6))
    assert low.min() >= 0.6 * 0.9 - 1e-12 and high.max() <= 0.6 * 0.9 + 0.4 + 1e-12


def test_one_group_is_too_few_to_learn_from():
    with pytest.raises(MensuraError, match="at least 2"):
        learn_correction(draw_records(1))
    with pytest.raises(MensuraError, match="estimate"):
        learn_correction(draw_records(3).drop("estimate"))


def test_spreads_of_few_groups_without_any_are_kept_off_zero_by_the_prior():
    """Two groups judged right but for the scatter the model states: the data pull to 0, Gamma(2, 0.2) away from it."""
    x, scatter = np.linspace(-1, 1, 30), 0.2 / Z90 * np.tile([-1.0, 1.0], 15)
    shifts = {"whole": 0.4 + scatter, "estimate": 0.4, "low": 0.2, "high": 0.6}
    rates = {name: expit(x + shift) for name, shift in shifts.items()}
    group = pl.DataFrame({"item": [f"i{k}" for k in range(30)], "observed": expit(x), **rates})
    records = pl.concat([group.with_columns(pool=pl.lit(name), group=pl.lit("g")) for name in ("one", "two")])
    found = learn_correction(records)
    assert found.damping == pytest.approx(1.0, abs=0.01)
    assert found.shift_sd == pytest.approx(0.030, abs=0.008)
    assert found.damping_sd == pytest.approx(0.067, abs=0.02)


def test_what_is_learned_is_the_mode_of_the_posterior():
    """Priors: damping 1 ± 0.1, ln(width) 0 ± 0.3, spreads Gamma(2, 0.2); a group is normal with two common errors."""
    records = pl.concat([draw_group(np.random.default_rng(k), "p", f"g{k}", items=12) for k in range(3)])
    logits = logit(records.select("observed", "whole", "estimate", "low", "high").to_numpy())

    def cost(theta):
        damping, (damping_sd, shift_sd, item_sd, width) = theta[0], np.exp(theta[1:])
        total = norm.logpdf(damping, 1, 0.1) + norm.logpdf(np.log(width), 0, 0.3)
        total += gamma.logpdf([damping_sd, shift_sd, item_sd], 2, scale=0.2).sum()
        for x, y, e, low, high in logits.reshape(3, 12, 5).transpose(0, 2, 1):
            own = item_sd**2 + (width * (high - low) / 2 / Z90) ** 2
            common = shift_sd**2 + damping_sd**2 * np.outer(e - x, e - x)
            total += multivariate_normal.logpdf(y - x, damping * (e - x), np.diag(own) + common)
        return -total

    mode = minimize(cost, [1.0, *np.log([0.1, 0.1, 0.1, 1.0])], method="BFGS").x
    found = learn_correction(records)
    learned = [found.damping, found.damping_sd, found.shift_sd, found.item_sd, found.width]
    assert learned == pytest.approx([mode[0], *np.exp(mode[1:])], rel=0.003)
