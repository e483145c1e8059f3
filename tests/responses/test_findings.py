"""What a fit says besides its numbers: what is refused, warned of, and left to the priors."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy

from benchmarks.fuzz import FITS, fit_small_table
from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses
from mensura.responses.findings import _largest_factor, say_factor, with_findings
from mensura.responses.irt.fitting import Effort
from tests.responses.conftest import draw


def test_hopeless_data_are_refused(drawn):
    with pytest.raises(MensuraError, match="model: got '4pl'; expected one of rasch, 2pl, 3pl"):
        fit_responses(drawn.wide, model="4pl")
    with pytest.raises(MensuraError, match="nothing distinguishes subjects"):
        fit_responses({"subject": ["a", "b"], "x": [1, 1], "y": [0, 0]})
    with pytest.raises(MensuraError, match="at least two of both"):
        fit_responses({"subject": ["a"], "x": [1], "y": [0]})
    with pytest.raises(MensuraError, match="holds 3; expected outcomes from 0"):
        fit_responses({"subject": ["a", "b"], "x": [1, 3], "y": [0, 1]})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3 * len(FITS)))
def test_small_and_extreme_tables_give_finite_numbers_or_a_sentence(seed):
    assert fit_small_table(seed) is None


def test_items_all_answer_alike_get_their_numbers_from_priors_and_are_named(drawn):
    fit = fit_responses(drawn.wide.with_columns(sure=pl.lit(1)), options=FitOptions(checks=False))
    assert any("sure" in warning for warning in fit.warnings)
    assert fit.items["difficulty"].is_finite().all()


@pytest.mark.parametrize("model", ["rasch", "2pl", "3pl"])
@pytest.mark.parametrize("groups", [1, 2])
def test_people_with_all_or_nothing_right_get_abilities_and_a_reason_to_doubt_them(model, groups):
    able = np.arange(27) % 9 < 4
    answers = {f"i{place}": able.astype(int) for place in range(6)}
    people = pl.DataFrame({"subject": [f"p{one}" for one in range(27)], **answers})
    fit = fit_responses(people.with_columns(group=pl.Series(np.arange(27) % groups).cast(pl.String)), model=model)
    ability = dict(fit.subjects.select("subject", "ability").iter_rows())
    assert fit.converged
    assert all((ability[f"p{one}"] > 0.3) == able[one] for one in range(27))
    assert fit.subjects.select("ability", "se", "low", "high").to_numpy().max() < 10
    assert fit.log_likelihood < 0
    assert any("almost without error" in said and "prior limits" in said for said in fit.warnings)


def test_a_turned_key_is_named(drawn):
    fit = fit_responses(drawn.wide.with_columns(i3=1 - pl.col("i3")), options=FitOptions(checks=False))
    assert any("run against the scale" in warning and "i3" in warning for warning in fit.warnings)


@pytest.mark.parametrize(("subjects", "warned"), [(49, True), (50, False)])
def test_few_subjects_are_warned_of_and_so_is_a_fit_that_was_stopped(drawn, subjects, warned):
    few = drawn.wide.head(subjects).select("subject", *(f"i{place}" for place in range(6)))
    fit = fit_responses(few, options=FitOptions(checks=False, effort=Effort(passes=2)))
    assert any("tell little about discriminations" in said for said in fit.warnings) == warned
    assert "not converged in 2 passes; the numbers are those of the best one" in fit.warnings
    assert "NOT converged in 2 passes" in fit.heading
    assert (fit.passes, fit.converged) == (2, False)


@pytest.mark.parametrize(("discrimination", "warned"), [(0.1, True), (0.10000000000000002, True), (0.1001, False)])
def test_a_fit_that_ends_at_the_least_spread_is_warned_of_on_every_processor(drawn, discrimination, warned):
    """The fit stops at 0.1; on ARM processors the last bit of that is another one."""
    fit = fit_responses(drawn.wide.head(60), model="rasch", options=FitOptions(checks=False))
    ended = with_findings(replace(fit, items=fit.items.with_columns(discrimination=pl.lit(discrimination))))
    assert any("do not show that subjects differ" in warning for warning in ended.warnings) == warned


def test_guessing_that_no_answer_tells_of_has_the_error_of_its_prior(drawn):
    """The prior of logit c is N(−1.4, 0.5²), so that of c has the standard deviation c (1 − c) / 2."""
    some = drawn.wide.head(400).select("subject", *(f"i{place}" for place in range(8))).with_columns(sure=pl.lit(1))
    sure = fit_responses(some, model="3pl", options=FitOptions(checks=False)).items.filter(item="sure")
    c = sure["guessing"].item()
    assert c == pytest.approx(1 / (1 + np.exp(1.4)), rel=0.05)
    assert sure["se_guessing"].item() == pytest.approx(c * (1 - c) * 0.5, rel=0.05)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.1, "One dimension suffices"),
        (0.199, "More than one dimension (a little)"),
        (0.2, "More than one dimension (clea"),
    ],
)
def test_a_factor_beyond_ability_is_weighed_against_chance(share, said):
    assert say_factor(share, 0.1, 1000, 20).startswith(said)


def test_the_largest_factor_is_everything_where_items_move_together_and_one_part_where_none_does():
    trials, half = np.ones((8, 4)), np.full((8, 4), 0.5)
    together = np.repeat([[1.0], [0.0]] * 4, 4, axis=1)
    assert _largest_factor(together, trials, half) == pytest.approx(1.0)
    signs = scipy.linalg.hadamard(8)[:, 1:5]  # any two of its columns are uncorrelated
    assert _largest_factor((signs + 1) / 2, trials, half) == pytest.approx(1 / 4)
    two_pairs = np.column_stack([signs[:, 0], signs[:, 0], signs[:, 1], signs[:, 1]])
    assert _largest_factor((two_pairs + 1) / 2, trials, half) == pytest.approx(1 / 2)


@pytest.mark.slow
def test_the_p_of_an_item_is_uniform_where_the_model_is_true_and_small_where_its_curve_bends():
    """120 items of three true tables, and one item of another that rises, falls and rises again."""
    p = np.concatenate([fit_responses(draw(700, 40, seed=seed).wide).items["fit_p"] for seed in (0, 1, 4)])
    assert scipy.stats.kstest(p, "uniform").pvalue > 0.01
    true = draw(900, 20, seed=2)
    chance = np.select([true.ability < -1, true.ability < 0.5], [0.2, 0.8], 0.5)
    bent = (np.random.default_rng(0).random(900) < chance).astype(int)
    items = fit_responses(true.wide.with_columns(bent=bent)).items
    assert items.filter(item="bent")["fit_p"].item() < 1e-4
    assert items.sort("fit_p")["item"][0] == "bent"
