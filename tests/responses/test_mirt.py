"""What mirt 1.47 prints for the same answers; the tables are not part of the project."""

from pathlib import Path

import polars as pl
import pytest

from mensura.responses import FitOptions, fit_categories, fit_dimensions, fit_responses

FOLDER = Path(__file__).parents[3] / "shared/data/psychometrics"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no ../shared/data/psychometrics")
PLAIN = FitOptions(checks=False, dif=False)


def answers(name):
    return FOLDER / f"responses/{name}.csv"


def printed(name):
    return pl.read_csv(FOLDER / f"mirt/R_{name}_pars.csv", infer_schema_length=None, null_values="NA")


@pytest.mark.parametrize(
    ("name", "model", "likelihood"),
    [
        ("lsat7", "rasch", -2664.901),
        ("lsat7", "2pl", -2658.805),
        ("lsat7", "3pl", -2659.160),
        ("sat12", "rasch", -9643.469),
        ("sat12", "2pl", -9488.955),
        ("sat12", "3pl", -9441.499),
    ],
)
def test_right_answers_have_the_likelihood_that_mirt_prints(name, model, likelihood):
    fit = fit_responses(answers(name), model=model, options=PLAIN)
    assert fit.log_likelihood == pytest.approx(likelihood, abs=0.01)
    assert fit.estimation == ("weak prior of guessing" if model == "3pl" else "maximum likelihood")


@pytest.mark.parametrize("name", ["lsat7", "sat12"])
def test_slopes_have_the_estimates_and_errors_that_mirt_prints(name):
    items = fit_responses(answers(name), options=PLAIN).items
    slopes = printed(f"{name}_2pl").filter(pl.col("par") == "a1")
    assert items["discrimination"].to_list() == pytest.approx(slopes["est"].to_list(), abs=0.005)
    assert items["se_discrimination"].to_list() == pytest.approx(slopes["se"].to_list(), rel=0.03)


@pytest.mark.slow
def test_guessing_without_a_prior_reaches_the_likelihood_of_mirt_and_says_what_to_do():
    fit = fit_responses(answers("sat12"), model="3pl", options=FitOptions("none", checks=False))
    assert fit.log_likelihood > -9434.95
    assert not fit.converged and any("--prior weak" in one for one in fit.warnings)


@pytest.mark.parametrize(
    ("name", "model", "likelihood"),
    [
        ("science", "graded", -1608.869),
        ("science", "partial-credit", -1612.682),
        ("science", "nominal", -1608.452),
        ("bfi10", "graded", -41419.62),
        ("bfi10", "partial-credit", -41715.16),
    ],
)
def test_ratings_have_the_likelihood_that_mirt_prints(name, model, likelihood):
    prior = "none" if model == "nominal" else None
    assert fit_categories(answers(name), model=model, prior=prior).log_likelihood == pytest.approx(likelihood, abs=0.01)


def test_two_dimensions_have_the_likelihood_that_mirt_prints():
    fit = fit_dimensions(answers("conf"), answers("conf_dim"))
    assert fit.log_likelihood == pytest.approx(-3589.361, abs=0.01)
    assert fit.correlations["correlation"][0] == pytest.approx(0.5055, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 4, 7, 10])
def test_the_test_of_an_item_between_groups_has_the_p_that_mirt_prints(number):
    theirs = pl.read_csv(FOLDER / "mirt/dif_first_ten.csv").row(number - 1, named=True)
    fit = fit_responses(answers(f"dif{number:02d}"), reference="ref", options=FitOptions(checks=False))
    ours = fit.dif.row(0, named=True)
    assert ours["x2"] == pytest.approx(theirs["x2"], abs=0.05)
    assert theirs["p"] / 2 < ours["p"] < theirs["p"] * 2
    assert ours["difference"] == pytest.approx(theirs["dif"], abs=0.02)
    assert ours["flagged"] and ours["gap"] > 0
