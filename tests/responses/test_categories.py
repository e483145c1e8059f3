"""Items with several categories: two of them are the 2PL model, and known truth comes back with its errors."""

import numpy as np
import polars as pl
import pytest

from mensura.responses import FitOptions, fit_categories, fit_responses
from mensura.responses.irt.category_curves import MODELS, CategoryItems, begin, log_chances
from mensura.responses.irt.priors import Priors
from tests.responses.conftest import as_long, draw
from tests.responses.test_published import COUNTS


def drawn_categories(model, subjects, items, kinds, seed, *, mean=0.0, sd=1.0, name="s"):
    """Draw a wide table of categories 0 to kinds − 1, and what it was drawn from."""
    rng = np.random.default_rng(seed)
    values = begin(model, [np.ones(kinds)] * items, 1).values
    if model == "nominal":
        values[:, : kinds - 1] = np.cumsum(np.exp(rng.normal(-0.6, 0.3, (items, kinds - 1))), axis=1)
        values[:, kinds - 1 :] = rng.normal(0.0, 0.7, (items, kinds - 1))
    else:
        values[:, 0] = np.exp(rng.normal(-0.1, 0.3, items))
        steps = rng.normal(0.0, 1.0, (items, kinds - 1))
        values[:, 1:] = steps if model == "partial-credit" else -np.sort(steps, axis=1) - 0.3 * np.arange(kinds - 1)
    truth = CategoryItems(model, np.full(items, kinds), values, np.zeros(1), np.ones(1))
    ability = mean + sd * np.random.default_rng([seed, len(name)]).normal(size=subjects)
    below = np.exp(log_chances(truth, ability)).cumsum(axis=1)[:, :-1]
    answers = (rng.random((items, 1, subjects)) > below).sum(axis=1)
    columns = {f"i{at}": answers[at] for at in range(items)}
    return pl.DataFrame({"subject": [f"{name}{at}" for at in range(subjects)], **columns}), truth, ability


@pytest.mark.parametrize("model", MODELS)
def test_two_categories_give_the_published_values_of_the_law_school_test(model):
    """Estimates and errors of the 2PL model: Rizopoulos, Journal of Statistical Software 17(5), 2006."""
    answers = [[int(sign) for sign in f"{pattern:05b}"] for pattern, count in enumerate(COUNTS) for _ in range(count)]
    sheets = pl.DataFrame(answers, schema=[f"i{at}" for at in range(5)], orient="row")
    fit = fit_categories(sheets.with_columns(subject=pl.int_range(1000).cast(pl.String)), model=model, prior="none")
    assert fit.log_likelihood == pytest.approx(-2466.653, abs=5e-3)
    found = fit.categories
    assert found["discrimination"].to_list() == pytest.approx([0.8254, 0.7229, 0.8905, 0.6886, 0.6575], rel=3e-3)
    assert found["se_discrimination"].to_list() == pytest.approx([0.2581, 0.1867, 0.2326, 0.1852, 0.21], rel=5e-3)
    if model != "nominal":
        assert found["difficulty"].to_list() == pytest.approx([-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], rel=3e-3)
        assert found["se_difficulty"].to_list() == pytest.approx([0.8669, 0.3073, 0.0997, 0.4341, 0.87], rel=5e-3)


@pytest.mark.parametrize("model", MODELS)
def test_truth_comes_back_and_intervals_hold_it(model):
    held, placed = [], []
    for seed in range(6):
        wide, truth, ability = drawn_categories(model, 700, 12, 4, seed)
        fit = fit_categories(wide, model=model)
        assert fit.converged and fit.passes < 20
        off = np.abs(fit.categories["intercept"].to_numpy() - truth.values[:, -3:].ravel())
        held.append(np.mean(off < 1.645 * fit.categories["se_intercept"].to_numpy()))
        low, high = (fit.subjects[side].to_numpy() for side in ("low", "high"))
        placed.append(np.mean((low <= ability) & (ability <= high)))
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)
    assert np.mean(placed) == pytest.approx(0.9, abs=0.02)
    assert np.corrcoef(fit.subjects["ability"], ability)[0, 1] == pytest.approx(np.sqrt(fit.reliability), abs=0.03)


def test_binary_answers_give_the_abilities_of_the_2pl_model():
    wide = draw(400, 15, seed=2).wide
    free = fit_responses(wide, options=FitOptions(priors=Priors(None, None, None), checks=False))
    fit = fit_categories(as_long(wide), model="graded", prior="none")
    both = fit.subjects.join(free.subjects, on="subject")
    assert np.allclose(both["ability"], both["ability_right"], atol=5e-3)
    assert fit.log_likelihood == pytest.approx(free.log_likelihood, abs=0.01)


@pytest.mark.slow
def test_a_second_group_has_its_own_mean_and_spread():
    one, _, _ = drawn_categories("graded", 800, 15, 4, 1)
    other, _, _ = drawn_categories("graded", 600, 15, 4, 1, mean=0.8, sd=0.6, name="other")
    both = pl.concat([one.with_columns(group=pl.lit("a")), other.with_columns(group=pl.lit("b"))])
    fit = fit_categories(both)
    row = fit.groups.row(1, named=True)
    assert abs(row["mean"] - 0.8) < 3 * row["se_mean"] < 0.4
    assert abs(row["sd"] - 0.6) < 3 * row["se_sd"] < 0.3
    turned = fit_categories(both, reference="b").groups
    assert turned["group"].to_list() == ["b", "a"]
    assert turned["mean"][1] == pytest.approx(-row["mean"] / row["sd"], rel=0.05)


def test_items_may_have_different_categories_and_gaps():
    """Ratings from 1 to 4 with a blank, an item of two categories, and one that all rated alike."""
    wide, _, _ = drawn_categories("graded", 300, 6, 4, 3)
    blank = pl.when(pl.int_range(pl.len()) > 4).then("i2").alias("i2")
    wide = wide.with_columns(pl.exclude("subject") + 1).with_columns(blank, pl.col("i1").clip(0, 2), same=pl.lit(2))
    fit = fit_categories(wide)
    assert dict(fit.items.select("item", "categories").iter_rows()) == {
        "i0": 4,
        "i1": 2,
        "i2": 4,
        "i3": 4,
        "i4": 4,
        "i5": 4,
    }
    assert fit.categories.filter(pl.col("item") == "i0")["category"].to_list() == ["2", "3", "4"]
    assert fit.items.filter(pl.col("item") == "i2")["n"].item() == 295
    assert fit.log.rows() == [("missing outcomes", 5, "left out"), ("items with one category", 1, "left out")]


def test_the_command_writes_the_tables_of_a_graded_fit(mensura_command, tmp_path):
    drawn_categories("graded", 200, 6, 4, 3)[0].write_csv(tmp_path / "ratings.csv")
    ran = mensura_command("responses", "fit", tmp_path / "ratings.csv", "--model", "graded", "--out", tmp_path / "f")
    assert ran.code == 0, ran.err
    assert {path.name for path in (tmp_path / "f").glob("*.csv")} >= {"subjects.csv", "items.csv", "categories.csv"}
    refused = mensura_command(
        "responses", "fit", tmp_path / "ratings.csv", "--model", "nominal", settings={"partial": "half"}
    )
    assert "--set partial: of no use to --model nominal" in refused.err
