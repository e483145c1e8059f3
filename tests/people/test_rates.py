"""Rates of subgroups against the plain way to count them."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.people import tabulate


@pytest.fixture
def answers():
    rng = np.random.default_rng(1)
    persons = pl.DataFrame(
        {
            "person": np.arange(600),
            "sex": rng.choice(["female", "male", None], 600),
            "country": rng.choice(["AUS", "BEL", "CHL"], 600),
            "weight": rng.uniform(0.5, 2, 600),
        }
    )
    outcome = rng.integers(0, 2, (600, 4)).astype(np.int8)
    given = rng.random((600, 4)) < 0.8
    columns = {f"q{item}": np.where(given[:, item], outcome[:, item], -1) for item in range(4)}
    wide = pl.DataFrame({"person": np.arange(600), **columns})
    return wide.with_columns(pl.col("^q.*$").replace(-1, None).cast(pl.Int8)), persons


def plainly(wide, persons, by):
    long = (
        wide.unpivot(index="person", variable_name="item", value_name="correct").drop_nulls().join(persons, on="person")
    )
    if by:
        long = long.drop_nulls(by)
    return long.group_by("item", *by).agg(n=pl.len(), correct=pl.col("correct").cast(pl.Int64).sum()).sort("item", *by)


@pytest.mark.parametrize("by", [(), ("sex",), ("country",), ("country", "sex")])
def test_agrees_with_a_plain_group_by(answers, by):
    wide, persons = answers
    table = tabulate(wide, persons, by=[by] if by else [])
    group = "_".join(by) or "all"
    ours = table.filter(pl.col("covariate") == group).sort("item", "group")
    plain = plainly(wide, persons, by)
    assert ours["n"].to_list() == plain["n"].to_list()
    assert ours["correct"].to_list() == plain["correct"].to_list()
    assert ours["rate"].to_numpy() == pytest.approx(plain["correct"] / plain["n"])


def test_standard_error_is_binomial(answers):
    table = tabulate(*answers)
    expected = (table["rate"] * (1 - table["rate"]) / table["n"]).sqrt()
    assert table["se"].to_numpy() == pytest.approx(expected.to_numpy())


def test_unknown_covariate_excludes_only_where_it_is_needed(answers):
    wide, persons = answers
    table = tabulate(wide, persons, by=["sex", "country"])
    count = table.group_by("covariate").agg(pl.col("n").sum())
    counts = dict(count.iter_rows())
    assert counts["country"] == counts["all"]
    assert counts["sex"] < counts["all"]


def test_weights_give_the_weighted_mean_and_kish_error(answers):
    wide, persons = answers
    row = tabulate(wide, persons, weight="weight").row(0, named=True)
    known = wide.select("person", "q0").drop_nulls().join(persons, on="person")
    weight, right = known["weight"].to_numpy(), known["q0"].to_numpy()
    rate = float((weight * right).sum() / weight.sum())
    effective = weight.sum() ** 2 / (weight**2).sum()
    assert row["rate"] == pytest.approx(rate)
    assert row["se"] == pytest.approx(np.sqrt(rate * (1 - rate) / effective))
    assert row["correct"] == right.sum()


def test_parts_of_a_crossing_sum_to_the_whole(answers):
    wide, persons = answers
    table = tabulate(wide, persons, by=["country", "sex", ("country", "sex")])
    by_country = table.filter(pl.col("covariate") == "country").group_by("item").agg(pl.col("n").sum()).sort("item")
    assert by_country["n"].to_list() == table.filter(pl.col("covariate") == "all").sort("item")["n"].to_list()
    crossed = table.filter(pl.col("covariate") == "country_sex", pl.col("group").str.starts_with("country_sex=AUS"))
    assert crossed.height


def test_nobody_answered_gives_no_row():
    wide = pl.DataFrame({"person": [1, 2], "q": [None, 1]}, schema_overrides={"q": pl.Int8})
    table = tabulate(wide, pl.DataFrame({"sex": ["f", "m"]}), by=["sex"])
    assert table.filter(pl.col("covariate") == "sex")["group"].to_list() == ["sex=m"]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), None])
def test_impossible_weights_are_refused(weight):
    wide = pl.DataFrame({"person": [1, 2], "q": [0, 1]}, schema_overrides={"q": pl.Int8})
    with pytest.raises(MensuraError, match="every weight must be a number ≥ 0"):
        tabulate(wide, pl.DataFrame({"w": [1.0, weight]}), weight="w")


def test_unknown_covariate_names_the_known_ones(answers):
    with pytest.raises(MensuraError, match="no covariate 'shoe' in persons; expected one of: person, sex, country"):
        tabulate(*answers, by=["shoe"])


def test_no_persons_and_a_covariate_nobody_has():
    wide = pl.DataFrame({"person": [1, 2], "q": [0, 1]}, schema_overrides={"q": pl.Int8})
    unknown = pl.DataFrame({"sex": [None, None]}, schema_overrides={"sex": pl.String})
    assert tabulate(wide, unknown, by=["sex"])["group"].to_list() == ["all"]
    with pytest.raises(MensuraError, match="no persons; add at least one row"):
        tabulate(wide.head(0), unknown.head(0))


@pytest.mark.parametrize("values", [[0, 2, 1], [-1, 1, 0], [0.0, 0.5, 1.0], ["a", "b", None], ["0", "1", "1"]])
def test_answers_that_are_not_scored_are_refused(values):
    with pytest.raises(MensuraError, match="item 'q': answers must be 0, 1 or null"):
        tabulate(pl.DataFrame({"person": [1, 2, 3], "q": values}, strict=False))


@pytest.mark.parametrize("values", [[True, False, None], [1.0, 0.0, None], [1, 0, None]])
def test_answers_may_be_booleans_or_any_numbers(values):
    assert tabulate(pl.DataFrame({"person": [1, 2, 3], "q": values})).select("n", "correct").rows() == [(2, 1)]


def test_a_rate_of_all_or_none_has_an_error_that_shrinks_with_the_answers():
    """0% and 100% had a standard error of 0, as if ten answers told all."""
    few, many = (tabulate(pl.DataFrame({"person": range(n), "q": [1] * n, "r": [0] * n})) for n in (10, 1000))
    assert few["rate"].to_list() == [1.0, 0.0]
    assert few["se"].to_list() == pytest.approx([0.0658, 0.0658], abs=1e-4)
    assert 0 < many["se"][0] < 0.001
