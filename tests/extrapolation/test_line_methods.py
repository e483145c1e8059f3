"""Priors learned from simulated pools whose κ, s₀ and τ are known, and what they then cover in pools not yet seen."""

import numpy as np
import polars as pl
import pytest

from mensura.extrapolation import Described
from mensura.extrapolation.breakdown import published_distances, published_errors
from mensura.extrapolation.facts import ability_of, logits_per_unit
from mensura.extrapolation.line_methods import prior_for
from mensura.extrapolation.straight_line import Prior
from tools.learn_priors import learn_lines, learn_priors, published_spreads, ratio_spread

TRUTH = Prior(shift_sd=0.15, slope=0.95, slope_sd=0.05, interaction=0.2)


def simulated_pools(new_case, rng, *, pools, kappa, groups=5, truth=TRUTH):
    """Pools in which facts overstate or understate every shift by a factor of their own, 1 ± κ."""
    made = {}
    for pool in range(pools):
        ratio = 1.0 + kappa * rng.normal()
        made[f"p{pool}"] = [
            new_case(rng, truth, n=2000, share=0.01, expected=expected, ratio=ratio, kind="age")
            for expected in np.linspace(-0.9, 0.9, groups)
        ]
    return made


def learned(pools):
    table = learn_priors({name: [case.revealed for case in cases] for name, cases in pools.items()})
    return table, table.filter((pl.col("kind") == "age") & (pl.col("basis") == "matched")).row(0, named=True)


@pytest.mark.parametrize("kappa", [0.0, 0.3, 0.7])
def test_the_spread_of_actual_over_expected_shifts_is_recovered(new_case, kappa):
    _, age = learned(simulated_pools(new_case, np.random.default_rng(1), pools=60, kappa=kappa))
    assert age["gap_shift"] == pytest.approx(kappa, abs=0.1)
    assert age["shift_sd"] == pytest.approx(0.15, abs=0.035), "with a standard error on top"
    assert age["slope_sd"] == pytest.approx(0.05, abs=0.03)
    assert age["interaction"] == pytest.approx(0.2, abs=0.03)


def test_learned_priors_cover_pools_not_yet_seen(new_case):
    """Nine in ten, the pool counting as one observation; without κ the largest expected shifts would be missed."""
    rng = np.random.default_rng(2)
    table, _ = learned(simulated_pools(new_case, rng, pools=30, kappa=0.5))
    seen = {"all": [], "far": [], "far, no κ": []}
    for cases in simulated_pools(new_case, rng, pools=80, kappa=0.5).values():
        for name, chosen, priors in (
            ("all", cases, table),
            ("far", cases[::4], table),
            ("far, no κ", cases[::4], table.with_columns(gap_shift=0.0)),
        ):
            found = [Described(priors=priors).predict(case.task) for case in chosen]
            inside = [(f.low[0] <= c.truth) & (c.truth <= f.high[0]) for f, c in zip(found, chosen, strict=True)]
            seen[name].append(np.mean(inside))
    assert 0.86 < np.mean(seen["all"]) < 0.95
    assert 0.84 < np.mean(seen["far"]) < 0.96
    assert np.mean(seen["far, no κ"]) < 0.75


def test_pools_that_differ_in_their_interactions_have_heavier_tails(new_case):
    rng = np.random.default_rng(3)
    alike = simulated_pools(new_case, rng, pools=12, kappa=0.0)
    mixed = {}
    for index, tau in enumerate(np.geomspace(0.05, 0.6, 12)):
        truth = Prior(shift_sd=0.15, slope=0.95, slope_sd=0.05, interaction=tau)
        pool = simulated_pools(new_case, rng, pools=1, kappa=0.0, truth=truth)
        mixed[f"m{index}"] = pool["p0"]
    assert learned(alike)[1]["weight"] > 15
    assert learned(mixed)[1]["weight"] < 7


@pytest.mark.parametrize("error", [0.0, 0.006])
def test_slopes_spread_around_the_line_that_falls_with_the_gap(error):
    """With slopes 0.9 − 0.2 gap ± 0.1, the learned variance is 0.1² minus the sampling variance of a slope."""
    gaps, sides = np.meshgrid(np.linspace(0.0, 1.5, 6), [-0.1, 0.1])
    one = pl.DataFrame({"gap": gaps.ravel(), "slope": (0.9 - 0.2 * gaps + sides).ravel()})
    pools = pl.concat([one.with_columns(pool=pl.lit(f"p{k}")) for k in range(50)])
    found = learn_lines(pools.with_columns(kind=pl.lit("country"), parts=1.0, interaction=0.04, slope_error=error))
    country = found.filter(pl.col("class") == "country").row(0, named=True)
    assert country["gap_slope"] == pytest.approx(0.2, rel=0.02)
    assert country["slope"] == pytest.approx(0.9, rel=0.01)
    assert country["slope_sd"] == pytest.approx((0.1**2 - error) ** 0.5, rel=0.01)


def test_the_ratio_spread_solves_its_equation():
    """Exact ratios: κ is their root mean square distance from 1; as noisy as they are far: none is needed."""
    assert ratio_spread([(1.3, 0.0), (0.7, 0.0), (1.5, 0.0)]) == pytest.approx(np.sqrt((0.09 + 0.09 + 0.25) / 3))
    assert ratio_spread([(1.3, 0.09), (0.7, 0.09)]) == pytest.approx(0.0, abs=1e-6)
    assert ratio_spread([]) == 0.0


def test_published_spreads_make_unknown_countries_and_schools_wide():
    spreads = published_spreads()
    world = spreads.filter((pl.col("kind") == "country") & (pl.col("basis") == "none"))["spread"][0]
    assert world == pytest.approx(0.633 * logits_per_unit())
    same, other, none = (prior_for("country", basis).shift_sd for basis in ("matched", "general", "none"))
    assert same < other < none
    assert prior_for("school", "none").shift_sd > 0.6
    assert prior_for("ethnicity", "none").shift_sd > 0.5


def test_ethnicity_is_expected_to_shift_nothing():
    theta, basis = ability_of([("ethnicity", "Black")], [None], None, 4)
    assert basis == "none"
    assert np.isnan(theta).all()


@pytest.mark.parametrize(
    ("covariate", "label", "expected"),
    [
        ("born_in_country", "yes", 0.0),
        ("born_in_country", "no", -0.4),
        ("immigrant", "yes", -0.4),
        ("migration_background", "native", 0.0),
        ("country_of_birth", "abroad", -0.4),
        ("ability_percentile", "p10", -0.93 * 1.2815516),
        ("ability_percentile", "p50", 0.0),
        ("score_half", "high", float("nan")),
        ("ability", "high", 0.93 * 0.7978846),
    ],
)
def test_facts_on_migration_and_ability(covariate, label, expected):
    theta, _ = ability_of([(covariate, label)], [None], None, 2)
    assert theta == pytest.approx([expected], nan_ok=True)


def test_what_the_paper_calls_calibration_errors_are_distances():
    errors, distances = published_errors(), published_distances()
    assert "calibration" not in errors["task"].to_list()
    row = distances.filter((pl.col("pool") == "ICAR") & (pl.col("method") == "grok-3")).row(0, named=True)
    assert (row["distance"], row["rms_distance"]) == (0.336, 0.355)
    assert not {"mae", "rmse", "task"} & set(distances.columns)
