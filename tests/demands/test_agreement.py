"""Agreement against published worked examples and closed forms, its intervals, and what is not defined."""

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.demands import combine, measure_agreement, read_demands
from mensura.demands.agreement import resample_counts, value_and_interval

_ = None
KRIPPENDORFF = {
    # Krippendorff (2011), Computing Krippendorff's alpha-reliability: four observers, twelve units
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    "C": [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
}


def readings(dimension="AS", **columns):
    """Readings of one dimension: a list of levels per annotator."""
    tables = [
        pl.DataFrame(
            {
                "item": [f"i{at}" for at in range(len(told))],
                "level": [None if level is None else float(level) for level in told],
            }
        ).with_columns(annotator=pl.lit(name), dimension=pl.lit(dimension))
        for name, told in columns.items()
    ]
    return read_demands(pl.concat(tables))


def figure(agreement, statistic, dimension="AS"):
    return agreement.agreement.filter(statistic=statistic, dimension=dimension)["value"].item()


def test_krippendorffs_worked_example():
    found = measure_agreement(readings(**KRIPPENDORFF))
    assert figure(found, "alpha_ordinal") == pytest.approx(0.815, abs=5e-4)
    assert figure(found, "alpha_interval") == pytest.approx(0.849, abs=5e-4)
    assert found.agreement["n"].max() == 11


def test_two_categories_give_cohens_kappa():
    """Twenty yes-yes, five yes-no, ten no-yes, fifteen no-no: the textbook's 0.4."""
    a = [1] * 25 + [0] * 25
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found = measure_agreement(readings(a=a, b=b))
    assert figure(found, "kappa") == pytest.approx(0.4)
    assert figure(found, "exact") == 0.7
    assert figure(found, "within_one") == 1.0


def test_quadratic_kappa_from_its_definition():
    """Weights (i − j)² over the observed and expected tables of two raters."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 6, 60)
    b = np.clip(a + rng.integers(-2, 3, 60), 0, 5)
    observed = np.zeros((6, 6))
    np.add.at(observed, (a, b), 1 / 60)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    weight = (np.arange(6)[:, None] - np.arange(6)) ** 2
    found = measure_agreement(readings(a=a, b=b))
    assert figure(found, "kappa") == pytest.approx(1 - (weight * observed).sum() / (weight * expected).sum())


def test_alpha_of_intervals_from_variances():
    """With two raters and no gaps, alpha is 1 − (2n − 1)/(2n) · mean squared gap / (2 · pooled variance)."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 6, 40)
    b = np.clip(a + rng.integers(-1, 2, 40), 0, 5)
    both = np.concatenate([a, b])
    expected = 1 - np.mean((a - b) ** 2) / (2 * both.var(ddof=1))
    assert figure(measure_agreement(readings(a=a, b=b)), "alpha_interval") == pytest.approx(expected)


def test_a_constant_shift_lowers_kappa_but_order_is_kept():
    a = [0, 1, 2, 3, 4] * 6
    found = measure_agreement(readings(a=a, b=[level + 1 for level in a]))
    assert figure(found, "exact") == 0
    assert figure(found, "within_one") == 1
    assert figure(found, "kappa") == pytest.approx(1 - 1 / (1 + 2 * np.var(a)))
    assert found.pairs["shift"].item() == 1


def test_within_one_means_within_one():
    found = measure_agreement(readings(a=[0, 1, 2, 3], b=[0, 2, 4, 0]))
    assert figure(found, "exact") == 0.25
    assert figure(found, "within_one") == 0.5


def test_the_interval_of_a_share_is_that_of_the_binomial():
    a = np.arange(400) % 6
    b = np.where(np.arange(400) % 5 < 3, a, (a + 2) % 6)
    row = measure_agreement(readings(a=a, b=b), draws=4000).agreement.filter(statistic="exact", dimension="AS")
    half = 1.645 * np.sqrt(0.6 * 0.4 / 400)
    assert row.select("value", "low", "high").row(0) == pytest.approx((0.6, 0.6 - half, 0.6 + half), abs=0.004)


def test_three_raters_average_the_pairs():
    columns = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [0, 1, 2, 5]}
    found = measure_agreement(readings(**columns))
    assert figure(found, "exact") == pytest.approx((1 + 0.75 + 0.75) / 3)
    assert found.pairs["exact"].to_list() == [1, 0.75, 0.75]


def test_constant_dimensions_are_said_to_be_undefined():
    found = measure_agreement(
        pl.concat([readings(a=[1] * 9, b=[1] * 9), readings("CL", a=[0, 1, 2] * 3, b=[0, 1, 2] * 3)])
    )
    row = found.agreement.filter(dimension="AS", statistic="kappa").row(0, named=True)
    assert (row["value"], row["low"], row["high"]) == (None, None, None)
    assert row["note"] == "not defined: every reading is level 1"
    assert figure(found, "exact") == 1
    assert figure(found, "kappa", "mean") == pytest.approx(1.0)
    assert found.agreement.filter(dimension="mean", statistic="kappa")["note"].item() == "mean over 1 of 2 dimensions"
    assert not found.agreement.select(pl.col("value", "low", "high").is_nan().any()).row(0)[0]
    assert "not defined" in repr(found)


def test_a_nearly_constant_dimension_is_marked_and_kept_out_of_the_mean():
    nearly = readings(a=[1] * 29 + [2], b=[1] * 30)
    varied = readings("CL", a=[0, 1, 2] * 10, b=[0, 1, 2] * 10)
    found = measure_agreement(pl.concat([nearly, varied]))
    assert figure(found, "kappa") == pytest.approx(0)
    assert "nearly constant (98.3% of the readings are level 1)" in found.agreement["note"].to_list()[2]
    assert figure(found, "kappa", "mean") == pytest.approx(1.0)


def test_raters_who_share_no_item():
    apart = pl.concat([readings(a=[1, 2]), readings(b=[1, 2]).with_columns(item=pl.lit("x") + pl.col("item"))])
    with pytest.raises(MensuraError, match="no item was judged by two raters"):
        measure_agreement(apart)
    with pytest.raises(MensuraError, match="readings of one rater only"):
        measure_agreement(readings(a=[1, 2]))
    with pytest.raises(MensuraError, match="fractional levels"):
        measure_agreement(readings(a=[1.5, 2], b=[1, 2]))


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """Two raters who hit a common level with known chances; the true exact agreement is 0.6."""
    rng = np.random.default_rng(5)
    inside = 0
    for trial in range(100):
        a = rng.integers(0, 6, 80)
        b = np.where(rng.random(80) < 0.6, a, (a + rng.integers(1, 6, 80)) % 6)
        table = measure_agreement(readings(a=a, b=b), draws=200, seed=trial).agreement
        low, high = table.filter(statistic="exact", dimension="AS").select("low", "high").row(0)
        inside += low <= 0.6 <= high
    assert 82 <= inside <= 97


def test_the_same_seed_gives_the_same_interval():
    told = readings(**KRIPPENDORFF)
    one, two, three = (measure_agreement(told, seed=seed).agreement for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(three)


def test_sheets_of_people_are_read_and_compared(tmp_path, items):
    from mensura.demands import annotation_sheet

    sheet = annotation_sheet(items, dimensions=["AS", "VO"])
    for name, told in (("anna", ["1", "2", "3", "4", "5+"]), ("ben", ["1", "2", "3", "", "5"])):
        sheet.with_columns(pl.Series("AS", told), VO=pl.lit(" 1 ")).write_csv(tmp_path / f"{name}.csv")
    read = [read_demands(tmp_path / f"{name}.csv") for name in ("anna", "ben")]
    assert read[0].filter(dimension="AS")["level"].to_list() == [1, 2, 3, 4, 5]
    assert read[1].filter(dimension="AS").height == 4
    found = measure_agreement(combine(read))
    assert found.raters == ("anna", "ben")
    assert figure(found, "exact") == 1
    assert found.agreement.filter(dimension="AS")["n"].to_list() == [4] * 5


def test_one_annotator_in_two_files_counts_as_repeats():
    both = combine([readings(a=[1, 2, 3]), readings(a=[1, 2, 2])])
    assert measure_agreement(both).raters == ("a #1", "a #2")
    assert both["repeat"].unique().sort().to_list() == [0, 1]


@pytest.mark.shared
def test_the_recorded_runs_agree_as_stated(shared):
    """The README of the recordings: exact 0.72–1.00, within one ≥ 0.98, kappa 0.79–0.98 but for the constant CEe."""
    found = measure_agreement(read_demands(shared / "data/items/annotations.csv"), draws=50)
    table = found.agreement.filter(pl.col("dimension") != "mean")
    exact = table.filter(statistic="exact")["value"]
    assert (round(exact.min(), 2), round(exact.max(), 2)) == (0.72, 1.0)
    assert table.filter(statistic="within_one")["value"].min() >= 0.98
    kappa = table.filter(statistic="kappa").filter(pl.col("dimension") != "CEe")["value"]
    assert (round(kappa.min(), 2), round(kappa.max(), 2)) == (0.79, 0.98)
    assert found.items == 292


def test_a_pair_without_a_common_item_has_no_figures():
    apart = readings(c=[1, 2]).with_columns(item=pl.lit("x") + pl.col("item"))
    found = measure_agreement(pl.concat([readings(a=[1, 2, 4], b=[1, 3, 2]), apart]), draws=20)
    assert found.pairs.rows() == [
        (
            "a",
            "b",
            3,
            pytest.approx(1 / 3),
            pytest.approx(2 / 3),
            pytest.approx(found.pairs["kappa"][0]),
            pytest.approx(-1 / 3),
        ),
        ("a", "c", 0, None, None, None, None),
        ("b", "c", 0, None, None, None, None),
    ]
    assert found.items == 3
    assert found.heading == "Agreement of 3 raters on 3 items (90% intervals over items)"


def test_a_statistic_that_most_resamples_lack_has_no_interval():
    drawn = np.array([0.5, *[np.nan] * 6, *[0.4] * 4])
    assert value_and_interval(drawn) == (0.5, None, None)
    assert value_and_interval(np.array([0.5, *[np.nan] * 4, *[0.4] * 4])) == (0.5, 0.4, 0.4)
    assert value_and_interval(np.array([np.nan, 0.4])) == (None, None, None)
    assert value_and_interval(np.array([0.5])) == (0.5, None, None)
    low, high = value_and_interval(np.array([0.5, *np.linspace(0, 1, 101)]))[1:]
    assert (low, high) == pytest.approx((0.05, 0.95))


def test_resamples_count_every_item_once_and_then_with_replacement():
    counts = resample_counts(7, 50, np.random.default_rng(0))
    assert counts.shape == (51, 7)
    assert counts[0].tolist() == [1.0] * 7 and (counts.sum(axis=1) == 7).all() and (counts[1:] == 2).any()
