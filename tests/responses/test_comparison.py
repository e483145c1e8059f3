"""Fits compared with one another, and subjects on the same items, by hand."""

import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, compare_fits, compare_subjects, fit_dimensions, fit_responses
from tests.responses.conftest import draw
from tests.responses.test_published import COUNTS


@pytest.fixture(scope="module")
def sheets():
    answers = [[int(sign) for sign in f"{pattern:05b}"] for pattern, count in enumerate(COUNTS) for _ in range(count)]
    table = pl.DataFrame(answers, schema=[f"i{place}" for place in range(1, 6)], orient="row")
    return table.with_columns(subject=pl.int_range(1000).cast(pl.String))


def test_nested_fits_have_the_likelihood_ratio_that_ltm_prints(sheets):
    """Law School Admission Test, section 6: log likelihoods of Rizopoulos (2006), −2466.938 and −2466.653."""
    found = compare_fits([fit_responses(sheets, model=model) for model in ("2pl", "rasch")])
    assert found.fits["parameters"].to_list() == [6, 10]
    assert found.fits["aic"].to_list() == pytest.approx([4945.88, 4953.31], abs=0.02)
    test = found.tests.row(0, named=True)
    assert (test["x2"], test["df"]) == (pytest.approx(0.57, abs=0.01), 4)
    assert test["p"] == pytest.approx(stats.chi2.sf(0.57, 4), abs=0.003)


def test_one_dimension_is_nested_in_several_and_a_correlation_of_1_is_at_its_edge():
    """A mixture of chi-square distributions with 0 and with 1 degree of freedom, in equal parts."""
    own = np.random.default_rng(4).normal(size=(80, 2)) @ np.array([[1.0, 0.4], [0.0, 1.0]])
    right = (np.repeat(own, 2, axis=1) + np.random.default_rng(5).normal(size=(80, 4)) > 0).astype(int)
    answers = {"subject": [f"p{k}" for k in range(80)], **{f"q{k}": right[:, k] for k in range(4)}}
    several = fit_dimensions(answers, {"item": ["q0", "q1", "q2", "q3"], "dimension": list("aabb")})
    test = compare_fits([several, one := fit_responses(answers, options=FitOptions(checks=False))]).tests.row(
        0, named=True
    )
    x2 = 2 * (several.log_likelihood - one.log_likelihood)
    assert (test["df"], test["x2"]) == (1, pytest.approx(x2)) and x2 > 0
    assert test["p"] == pytest.approx(stats.chi2.sf(x2, 1) / 2)


@pytest.mark.slow
def test_abilities_that_may_be_absent_leave_p_approximate(sheets):
    """Without the own ability of a passage its slopes are 0, in either direction: no chi-square distribution."""
    pairs = {"item": ["i1", "i2", "i3"], "dimension": ["a"] * 3}
    bifactor = fit_dimensions(sheets.head(300), pairs, bifactor=True)
    found = compare_fits([fit_responses(sheets.head(300), options=FitOptions(checks=False)), bifactor])
    assert found.tests.select("within", "df").rows() == [("2", 3)]
    assert any(text.startswith("p against 2 is approximate") for text in found.warnings)


def test_fits_of_other_answers_are_refused(sheets):
    fits = [fit_responses(sheets, model="rasch"), fit_responses(sheets.head(500), model="rasch")]
    with pytest.raises(MensuraError, match="their answers differ"):
        compare_fits(fits)


def two_models(right, wrong, both):
    """Answers of two models: ``right`` items that only the first solves, ``wrong`` that only the second does."""
    first, second = [1] * right + [0] * wrong + [1] * both, [0] * right + [1] * wrong + [1] * both
    return {"subject": ["a", "b"]} | {f"q{at}": list(pair) for at, pair in enumerate(zip(first, second, strict=True))}


def test_two_models_have_the_exact_p_of_mcnemar():
    row = compare_subjects(two_models(9, 1, 40)).pairs.row(0, named=True)
    assert row["difference"] == pytest.approx(8 / 50)
    assert row["p_mcnemar"] == pytest.approx(2 * stats.binom.cdf(1, 10, 0.5))
    assert row["low"] < 8 / 50 < row["high"] and row["p"] < 0.05
    assert row["items_needed"] == pytest.approx(2.802**2 * 50 * row["se"] ** 2 / (8 / 50) ** 2, abs=1)
    assert row["detectable"] == pytest.approx(2.802 * row["se"], rel=1e-3)


def test_questions_about_one_passage_count_as_one():
    answers = two_models(10, 0, 40)
    items = {"item": [f"q{at}" for at in range(50)], "passage": [at // 10 for at in range(50)]}
    plain, by_passage = (
        compare_subjects(answers, **how).pairs.row(0, named=True)
        for how in ({}, {"items": items, "cluster": "passage"})
    )
    assert by_passage["se"] > 2 * plain["se"] and by_passage["p_mcnemar"] is None
    assert by_passage["difference"] == plain["difference"]


def test_alike_models_leave_open_what_few_items_cannot_show():
    row = compare_subjects(two_models(0, 0, 20)).pairs.row(0, named=True)
    assert row["difference"] == 0.0 and row["high"] == pytest.approx(1 - 0.05 ** (1 / 20)) and row["p"] == 1.0


def test_several_models_pay_for_several_tests():
    wide = draw(4, 60, seed=3).wide
    found = compare_subjects(wide).pairs
    assert found.height == 6
    assert (found["p_holm"] >= found["p"] - 1e-12).all()
    assert found["p_holm"].min() == pytest.approx(min(1.0, 6 * found["p"].min()))


@pytest.mark.slow
def test_null_differences_are_found_in_one_of_twenty():
    rng = np.random.default_rng(1)
    p = []
    for _ in range(200):
        chance = rng.uniform(0.2, 0.9, 80)
        answers = (rng.random((2, 80)) < chance).astype(int)
        wide = {"subject": ["a", "b"]} | {f"q{at}": answers[:, at].tolist() for at in range(80)}
        p.append(compare_subjects(wide).pairs["p"][0])
    assert 0.01 <= np.mean(np.array(p) < 0.05) <= 0.09


def test_item_fit_of_the_scholastic_test_is_that_of_mirt(shared):
    """All 32 items of SAT12: S-X² within 0.01 of what mirt 1.47 prints for the 2PL model."""
    folder = shared / "data" / "psychometrics"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data/psychometrics")
    printed = (folder / "mirt" / "printed.txt").read_text().split("sat12_2pl")[1]
    theirs = {one[0]: float(one[1]) for one in re.findall(r"(Item\.\d+)\s+([\d.]+)\s+\d+ ", printed)}
    fit = fit_responses(folder / "responses" / "sat12.csv", options=FitOptions(dif=False))
    assert fit.items.height == 32
    for item, x2 in fit.items.select("item", "s_x2").iter_rows():
        assert x2 == pytest.approx(theirs[item], abs=0.01), item


def test_the_cross_validated_likelihood_prefers_the_model_that_made_the_answers(tmp_path):
    rng = np.random.default_rng(11)
    slope, middle, ability = np.array([0.3, 0.4, 3.0, 2.5, 0.5, 2.8]), np.linspace(-1, 1, 6), rng.normal(size=300)
    right = (rng.random((300, 6)) < 1 / (1 + np.exp(-slope * (ability[:, None] - middle)))).astype(int)
    table = pl.DataFrame({"subject": [f"p{k}" for k in range(300)], **{f"q{k}": right[:, k] for k in range(6)}})
    fits = [fit_responses(table, model=model) for model in ("rasch", "2pl")]
    compared = compare_fits(fits, table.with_columns(income=pl.lit(2310.5))).fits
    rasch, other = compared["cross_validated"]
    assert other > rasch + 5
    assert all(0 < full - held < 20 for full, held in compared.select("log_likelihood", "cross_validated").iter_rows())


def test_the_evidence_of_a_bank_is_the_marginal_likelihood_of_the_fit():
    answers = {f"q{k}": [int(row * row % 13 > 3 * k) for row in range(40)] for k in range(4)}
    fit = fit_responses({"subject": [f"p{k}" for k in range(40)], **answers})
    rows = np.array(list(answers.values()), dtype=float).T
    total = sum(fit.bank.evidence(row, np.ones(4), 0.0, 1.0) for row in rows)
    assert total == pytest.approx(fit.log_likelihood, abs=1e-3)
