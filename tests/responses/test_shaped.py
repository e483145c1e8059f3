"""Abilities that are not normal: their density is found, and slopes are right again."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses
from mensura.responses.irt.fitting import fit_shape
from mensura.responses.irt.passes import log_shape
from tests.responses.conftest import draw

NODES = np.linspace(-5, 5, 101)


def moments_of(density):
    share = density / density.sum()
    return np.array([share @ NODES**power for power in range(1, 5)])


def test_normal_moments_give_the_normal_density():
    assert fit_shape(np.array([0.0, 1.0, 0.0, 3.0]), 1000) == pytest.approx([0.0, -0.5, 0.0, 0.0], abs=1e-4)


def test_the_density_has_the_moments_it_was_fitted_to():
    two_humps = np.exp(-0.5 * ((NODES - 0.9) / 0.45) ** 2) + 0.5 * np.exp(-0.5 * ((NODES + 0.9) / 0.45) ** 2)
    wanted = moments_of(two_humps)
    assert moments_of(np.exp(log_shape(fit_shape(wanted, 1e6), NODES))) == pytest.approx(wanted, abs=1e-3)


def skewed(seed, subjects=1500, items=25):
    """Abilities of a gamma distribution, mean 0 and sd 1, whose skewness is √2."""
    ability = (np.random.default_rng(seed).gamma(2.0, 1.0, subjects) - 2.0) / np.sqrt(2.0)
    base = draw(2, items, seed=seed)
    rng = np.random.default_rng([seed, 1])
    right = (
        rng.random((subjects, items)) < 1 / (1 + np.exp(-(ability[:, None] * base.slope + base.intercept)))
    ).astype(int)
    columns = {f"i{place}": right[:, place] for place in range(items)}
    return pl.DataFrame({"subject": [f"s{row}" for row in range(subjects)], **columns}), base.slope


@pytest.mark.slow
def test_skewed_abilities_no_longer_bend_slopes():
    held = {"normal": [], "estimated": []}
    for seed in range(5):
        wide, slope = skewed(seed)
        for kind, found in held.items():
            fit = fit_responses(wide, options=FitOptions(density=kind, checks=False))
            off = np.abs(fit.items["discrimination"].to_numpy() - slope)
            found.append(np.mean(off < 1.645 * fit.items["se_discrimination"].to_numpy()))
    assert np.mean(held["normal"]) < 0.82
    assert 0.85 < np.mean(held["estimated"]) < 0.95


def test_the_skewness_is_reported(mensura_command, tmp_path):
    skewed(3)[0].write_csv(tmp_path / "answers.csv")
    found = mensura_command("responses", "fit", tmp_path / "answers.csv", settings={"density": "estimated"})
    assert found.code == 0
    said = next(line for line in found.out.splitlines() if "skewness" in line)
    assert 0.9 < float(said.split("skewness ")[1].split()[0]) < 1.6


def test_normal_abilities_are_found_normal(drawn):
    plain, shaped = (
        fit_responses(drawn.wide, options=FitOptions(density=kind, checks=False)) for kind in ("normal", "estimated")
    )
    assert abs(shaped.checks.filter(check="skewness")["value"][0]) < 0.2
    assert 0 < shaped.log_likelihood - plain.log_likelihood < 8


def test_another_density_is_refused(drawn):
    with pytest.raises(MensuraError, match="expected one of normal, estimated"):
        fit_responses(drawn.wide, options=FitOptions(density="odd"))
