"""One pass: grids of abilities, posteriors on them, and abilities that are not normal."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses
from mensura.responses.irt.fitting import fit_shape
from mensura.responses.irt.namespace import NumpyArrays
from mensura.responses.irt.passes import Grid, PassSums, log_shape, posteriors
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


@pytest.mark.parametrize("sd", [0.02, 0.1, 0.5])
def test_a_normal_posterior_is_exact_however_narrow_between_the_nodes(sd):
    """Nodes lie 0.2 apart; a likelihood N(θ; 0.313, sd) times that spacing sums to the spacing over its height."""
    grid = Grid.over(np.zeros(1), np.ones(1))
    joint = -0.5 * ((grid.nodes - 0.313) / sd)[None] ** 2
    found = posteriors(NumpyArrays(np.float64), joint, grid)
    assert found.mean[0] == pytest.approx(0.313, abs=1e-6)
    assert np.sqrt(found.variance[0]) == pytest.approx(sd, rel=1e-4)
    assert found.evidence[0] == pytest.approx(np.log(np.sqrt(2 * np.pi) * sd / grid.spacing), abs=1e-4)
    assert found.weights[0].sum() == pytest.approx(1)


def test_a_grid_covers_every_group_and_stays_where_it_is_for_small_moves():
    grid = Grid.over(np.array([0.1, 2.3]), np.array([1.0, 0.5]))
    assert (grid.nodes[0], grid.nodes[-1]) == (-5.0, 6.0)
    assert grid.spacing == pytest.approx(0.1), "a fifth of the narrower group's spread"
    np.testing.assert_array_equal(Grid.over(np.array([0.11, 2.31]), np.array([1.0, 0.5])).nodes, grid.nodes)
    assert len(Grid.over(np.zeros(1), np.array([1e-4])).nodes) <= 401


def test_weights_of_nodes_have_the_mean_and_spread_of_their_group():
    grid = Grid.over(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    share = np.exp(grid.log_prior(1.0, 2.0))
    assert share.sum() == pytest.approx(1)
    assert share @ grid.nodes == pytest.approx(1, abs=1e-4)
    assert np.sqrt(share @ (grid.nodes - 1) ** 2) == pytest.approx(2, abs=1e-4)


def test_sums_of_two_passes_add_up_part_by_part():
    one = PassSums(np.ones((2, 2)), np.ones((1, 3)), np.ones((1, 3)), np.ones((1, 3)), -5.0, 4)
    both = one + one
    assert (both.right.sum(), both.taken.sum(), both.evidence, both.subjects) == (8.0, 6.0, -10.0, 8)
