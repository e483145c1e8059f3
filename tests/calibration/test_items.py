"""What a careless, hurried or hostile user hands in."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mensura import MensuraError, calibrate
from mensura.calibration import read_items
from mensura.calibration.items import lift_zeros
from tests.calibration.conftest import on_lines

RATES, DEMANDS = on_lines({"KNn": (0.5, 0.8), "VO": (0.3, 0.9)})


def changed(**columns):
    """The rates with the first row's figures changed."""
    first = pl.int_range(pl.len()) == 0
    old = RATES.with_columns(
        pl.lit(None, dtype=pl.Float64).alias(name) for name in columns if name not in RATES.columns
    )
    return old.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in columns.items()
    )


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        (RATES.rename({"item": "items"}), "missing column 'item'.*rename 'items'"),
        (changed(rate=1.2), "rate of item 'KNn-1-0' is 1.2; expected a share from 0 to 1"),
        (changed(rate=-0.1), "rate of item 'KNn-1-0' is -0.1"),
        (changed(low=0.5, high=0.9), "rate 0.158.* outside its interval 0.5 to 0.9"),
        (changed(n=0.0), "n of item 'KNn-1-0' is 0; expected a number of people above 0"),
        (changed(options=1.0), "options of item 'KNn-1-0' is 1; expected 2 or more, empty if open"),
        (pl.concat([RATES, RATES.head(1)]), "item 'KNn-1-0' has 2 rates; give one row per item"),
        (RATES.with_columns(item=pl.col("item") + "x"), "no item has both a rate and a level"),
        (RATES.with_columns(rate=pl.lit("half")), "rate of item 'KNn-1-0' is 'half'; expected a number"),
        (RATES.with_columns(rate=0.0), "every rate is 0"),
    ],
)
def test_rates_that_are_none_are_refused_with_the_item_and_what_is_allowed(rates, says):
    with pytest.raises(MensuraError, match=says):
        calibrate(rates, DEMANDS)


@pytest.mark.parametrize(
    ("demands", "says"),
    [
        (DEMANDS.with_columns(level=pl.col("level") + 1), "'6' for item .* is no level; expected a number from 0 to 5"),
        (
            DEMANDS.with_columns(pl.col("dimension").replace({"KNn": "KNN"})),
            "unknown dimension 'KNN'; did you mean KNn",
        ),
        (DEMANDS.rename({"level": "levels"}), "expected the columns dimension and level"),
        (pl.concat([DEMANDS, DEMANDS.head(1)]), "has two levels by"),
    ],
)
def test_levels_that_are_none_are_refused(demands, says):
    with pytest.raises(MensuraError, match=says):
        calibrate(RATES, demands)


def test_columns_are_known_in_any_spelling_or_by_the_map():
    expected = read_items(RATES, DEMANDS)
    wide = DEMANDS.pivot("dimension", index="item", values="level")  # noqa: PD010
    spelled = wide.rename({code: code.lower() for code in wide.columns[1:]})
    other = RATES.rename({"rate": "P correct", "item": "QID"})
    for rates, demands, columns in (
        (other, spelled, None),
        (RATES.rename({"rate": "p"}), wide, "rate=p"),
        (RATES.rename({"item": "number"}), wide, "item=number"),
        (RATES.with_columns(p=pl.col("rate"), rate=2.0), wide, "rate=p"),
        (
            RATES.with_columns(pl.col("rate").cast(pl.String), n=pl.lit("NA")).drop("low", "high", strict=False),
            wide,
            None,
        ),
    ):
        found = read_items(rates, demands, columns=columns)
        assert (found.items, found.dimensions) == (expected.items, expected.dimensions)
        np.testing.assert_allclose(found.rate, expected.rate)
        np.testing.assert_array_equal(found.levels, expected.levels)
    with pytest.raises(MensuraError, match="--map rate=q: no such column; expected one of item"):
        read_items(RATES, DEMANDS, columns="rate=q")
    with pytest.raises(MensuraError, match="--map 'hue=q': expected FIELD=COLUMN with a field of subject, item"):
        read_items(RATES, DEMANDS, columns="hue=q")


def test_an_argument_that_the_method_does_not_use_is_refused():
    for name, value in (("level_error", 0.3), ("readers", 0.9)):
        with pytest.raises(MensuraError, match=f"{name}: the method means does not use it; leave it out"):
            calibrate(RATES, DEMANDS, method="means", **{name: value})


@pytest.mark.parametrize("form", ["tsv", "json", "jsonl", "parquet", "csv.gz", "dta"])
def test_rates_and_levels_are_read_from_any_format(form, tmp_path):
    def written(table, name):
        path = tmp_path / f"{name}.{form}"
        match form:
            case "tsv":
                table.write_csv(path, separator="\t")
            case "json":
                path.write_text(table.write_json(), encoding="utf-8")
            case "jsonl":
                table.write_ndjson(path)
            case "parquet":
                table.write_parquet(path)
            case "dta":
                pytest.importorskip("pyreadstat").write_dta(pd.DataFrame(table.to_dict(as_series=False)), str(path))
            case _:
                path.write_bytes(gzip.compress(table.write_csv().encode()))
        return path

    expected = read_items(RATES, DEMANDS)
    found = read_items(written(RATES, "rates"), written(DEMANDS, "demands"))
    assert found.items == expected.items
    np.testing.assert_allclose(found.rate, expected.rate)


def test_items_without_all_levels_or_without_a_rate_are_left_out_and_counted():
    gaps = DEMANDS.filter(~((pl.col("item") == "KNn-1-0") & (pl.col("dimension") == "VO")))
    items = read_items(RATES.filter(pl.col("item") != "VO-5-2"), gaps)
    assert items.size == 28
    assert items.warnings[:2] == (
        "1 items lack a level in some dimension and are left out",
        "1 items have a rate and no levels and are left out",
    )
    assert "1 items have levels and no rate and are left out" in items.warnings


def test_a_rate_of_0_is_read_by_the_stated_rule_and_1_as_it_stands():
    zero = RATES.with_columns(rate=pl.when(pl.col("item") == "VO-5-2").then(0.0).otherwise("rate"))
    at = RATES["item"].to_list().index("VO-5-2")
    smallest = zero.filter(pl.col("rate") > 0)["rate"].min()
    assert read_items(zero, DEMANDS).rate[at] == pytest.approx(smallest / 2)
    assert read_items(zero.with_columns(n=99), DEMANDS).rate[at] == pytest.approx(0.5 / 100)
    bounded = zero.with_columns(low=0.0, high=pl.when(pl.col("rate") > 0).then(1.0).otherwise(0.004))
    assert read_items(bounded, DEMANDS).rate[at] == pytest.approx(0.002)
    assert any("rates of 0" in text for text in read_items(zero, DEMANDS).warnings)
    assert read_items(changed(rate=1.0), DEMANDS).rate[0] == 1.0
    sure = read_items(changed(rate=1.0).with_columns(n=9), DEMANDS)
    assert sure.se[0] == pytest.approx((0.95 * 0.05 / 9) ** 0.5)  # nine of nine are not proof: as 1 − ½/(n+1)


def test_rates_that_are_all_0_need_the_people_counted_of_every_item():
    unknown, counted = np.full(2, np.nan), np.array([100.0, 50.0])
    assert lift_zeros(np.zeros(2), counted, unknown) == pytest.approx([0.5 / 101, 0.5 / 51])
    with pytest.raises(MensuraError, match="every rate is 0"):
        lift_zeros(np.zeros(2), np.array([100.0, np.nan]), unknown)


def test_the_error_of_a_rate_comes_from_its_interval_else_from_the_people_counted_else_is_none():
    """A 90% interval is 2 · 1.6449 errors wide; counted shares err by √(p(1 − p)/n), p kept ½/(n + 1) off 0 and 1."""
    rates = changed(rate=1.0).with_columns(n=99)
    plain, counted = read_items(rates.drop("n"), DEMANDS), read_items(rates, DEMANDS)
    told = read_items(rates.with_columns(low=pl.col("rate") - 1e-4, high=pl.col("rate")), DEMANDS)
    assert (plain.se == 0).all()
    assert counted.se[0] == pytest.approx((0.995 * 0.005 / 99) ** 0.5)
    share = counted.rate[1]
    assert counted.se[1] == pytest.approx((share * (1 - share) / 99) ** 0.5)
    assert (counted.n == 99).all()
    assert told.se == pytest.approx([1e-4 / 2 / 1.6449] * len(told.se), rel=1e-4)
    assert not (told.n == 99).any()  # the interval says how sure, not the count


def test_pools_come_from_a_column_or_from_ids_that_all_name_one():
    assert read_items(RATES, DEMANDS).pools == ("all items",)
    named = RATES.with_columns(pool=pl.col("item").str.head(2))
    assert read_items(named, DEMANDS).pools == ("KN", "VO")
    with_colon = pl.col("item").str.replace("-", ":")
    assert read_items(RATES.with_columns(with_colon), DEMANDS.with_columns(with_colon)).pools == ("KNn", "VO")


def test_the_error_of_a_level_comes_from_repeats_else_spread_else_by_hand_else_a_warning():
    twice = pl.concat([DEMANDS.with_columns(annotator=pl.lit(name)) for name in "ab"])
    moved = twice.with_columns(
        level=pl.when((pl.col("annotator") == "b") & (pl.col("dimension") == "VO")).then(3).otherwise("level")
    )
    items = read_items(RATES, moved)
    assert items.level_error[1] > items.level_error[0] > 0  # dimensions lean on each other
    assert (items.readings == 2).all()
    spread = read_items(RATES, DEMANDS.with_columns(spread=0.4, annotator=pl.lit("a")))
    assert spread.level_error == pytest.approx([0.4, 0.4])
    assert read_items(RATES, DEMANDS, level_error=0.3).level_error == pytest.approx([0.3, 0.3])
    alone = read_items(RATES, DEMANDS)
    assert not alone.level_error.any()
    assert "one reading each" in alone.warnings[-1]


def test_readers_and_options_make_the_floor():
    assert read_items(RATES.with_columns(options=4), DEMANDS, readers=0.8).floor == pytest.approx([0.2] * 30)
    assert read_items(RATES, DEMANDS).floor == pytest.approx([0.0] * 30)
    for wrong in (0, 1.5):
        with pytest.raises(MensuraError, match="readers: got"):
            read_items(RATES, DEMANDS, readers=wrong)


def test_unknown_methods_and_settings_are_refused():
    with pytest.raises(MensuraError, match="method: got 'magic'; expected one of hierarchical, largest, chosen, means"):
        calibrate(RATES, DEMANDS, method="magic")
    with pytest.raises(MensuraError, match="draws: got 0"):
        calibrate(RATES, DEMANDS, draws=0)
    with pytest.raises(MensuraError, match="level_error: got -1"):
        calibrate(RATES, DEMANDS, level_error=-1)
    with pytest.raises(MensuraError, match="at least three"):
        calibrate(RATES.head(2), DEMANDS)


def test_ids_with_leading_zeros_and_levels_such_as_5_plus_survive_files(tmp_path):
    (tmp_path / "rates.csv").write_text("item,rate\n007,0.5\n008,0.2\n009,0.1\n", encoding="utf-8")
    (tmp_path / "wide.csv").write_text("item,KNn,VO\n007,1,1\n008,3,2\n009,5+,1\n", encoding="utf-8")
    (tmp_path / "plain.csv").write_text("item,KNn,VO\n007,1,1\n008,3,2\n009,5,1\n", encoding="utf-8")
    for name in ("wide.csv", "plain.csv"):
        items = read_items(tmp_path / "rates.csv", tmp_path / name)
        assert items.items == ("007", "008", "009")
        assert items.levels[:, 0].tolist() == [1, 3, 5]
