"""Cost: closed forms for usage and effective cost, frontiers, the cheapest query."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import cheapest, frontier, score_costs
from mensura.iq.cost import COST_AXES
from mensura.iq.rules import DATA


def evidence_with(costs, prices):
    embedded = mensura.load()
    models = embedded.models.head(len(prices)).with_columns(
        subject=pl.Series(list(prices)),
        input_price=pl.Series([price[0] for price in prices.values()], dtype=pl.Float64),
        output_price=pl.Series([price[1] for price in prices.values()], dtype=pl.Float64),
        predecessor=pl.lit(None, pl.String),
        predecessor2=pl.lit(None, pl.String),
    )
    rows = [{"subject": s, "metric": m, "value": v, "unit": u, "source": "aa0710"} for s, m, v, u in costs]
    return replace(embedded, models=models, costs=pl.DataFrame(rows, schema=embedded.costs.schema))


def priced(count=14):
    generator = np.random.default_rng(2)
    return {f"m{i}": tuple(np.exp(generator.normal(size=2))) for i in range(count)}


def test_the_sticker_price_is_a_million_tokens_in_and_a_million_out():
    result = score_costs(evidence_with([], {"m": (3.0, 15.0), "free": (0.0, 0.0)}))
    assert result.costs["sticker_price"].to_list() == [18.0, 0.0]
    listed = mensura.load().models.filter(subject="claude-opus-4.8").row(0, named=True)
    priced = score_costs(mensura.load()).costs.filter(subject="claude-opus-4.8")["sticker_price"][0]
    assert (listed["input_price"], listed["output_price"], priced) == (5.0, 25.0, 30.0)


def test_exact_price_law_leaves_no_residual_and_one_model_uses_double():
    prices = priced()
    costs = [(s, "aa_index_run_cost", 5 * p[0] ** 0.3 * p[1] ** 0.7, "usd") for s, p in prices.items()]
    costs += [(s, "arc_agi_2_cost_per_task", 2 * p[0] ** 0.5 * p[1] ** 0.5, "usd") for s, p in prices.items()]
    result = score_costs(evidence_with(costs, prices))
    assert result.fits.select("input_slope", "output_slope").rows() == [
        (pytest.approx(0.3), pytest.approx(0.7)),
        (pytest.approx(0.5), pytest.approx(0.5)),
    ]
    assert result.fits["intercept"].to_list() == pytest.approx([np.log(5), np.log(2)])
    assert result.fits["r_squared"].to_list() == pytest.approx([1.0, 1.0])
    assert result.fits["n"].to_list() == [14, 14]
    assert result.signals["usage"].to_list() == pytest.approx([1.0] * 28)
    assert result.signals["expected"].to_list() == pytest.approx(result.signals["actual"].to_list())
    assert result.costs["effective_cost"].to_list() == pytest.approx(result.costs["sticker_price"].to_list())
    assert set(result.costs["status"]) == {"benchmarks"}


def test_direct_token_use_is_relative_to_the_median_and_enters_the_geometric_mean():
    prices = priced(3)
    tokens = {"m0": 10.0, "m1": 20.0, "m2": 80.0}
    result = score_costs(evidence_with([(s, "aa_index_output_tokens", v, "tokens") for s, v in tokens.items()], prices))
    assert result.costs["usage_multiplier"].to_list() == pytest.approx([0.5, 1.0, 4.0])
    assert result.costs["task_efficiency"].to_list() == pytest.approx([2.0, 1.0, 0.25])
    sticker = result.costs["sticker_price"]
    assert result.costs["effective_cost"].to_list() == pytest.approx((sticker * pl.Series([0.5, 1.0, 4.0])).to_list())


def test_usage_is_what_the_price_law_leaves_over():
    """Half the models cost e times what the law says, half 1/e of it, whatever their price: R² by its definition."""
    prices = {f"m{i}": ((1.0, 2.0, 4.0)[i % 3], (1.0, 2.0, 4.0)[i // 3 % 3]) for i in range(18)}
    cost = {s: p[0] * p[1] * np.exp(1 if i < 9 else -1) for i, (s, p) in enumerate(prices.items())}
    result = score_costs(evidence_with([(s, "aa_index_run_cost", v, "usd") for s, v in cost.items()], prices))
    assert result.signals["usage"].to_list() == pytest.approx([np.e] * 9 + [1 / np.e] * 9)
    assert result.signals["expected"].to_list() == pytest.approx([p[0] * p[1] for p in prices.values()])
    assert result.fits["r_squared"][0] == pytest.approx(1 - 1 / np.var(np.log(list(cost.values()))))


def test_signals_of_both_kinds_enter_one_geometric_mean():
    prices = {f"m{i}": ((1.0, 2.0, 4.0)[i % 3], (1.0, 2.0, 4.0)[i // 3 % 3]) for i in range(18)}
    costs = [(s, "aa_index_run_cost", p[0] * (4 if i < 9 else 1), "usd") for i, (s, p) in enumerate(prices.items())]
    costs += [(s, "aa_index_output_tokens", 8.0 if i == 0 else 1.0, "tokens") for i, s in enumerate(prices)]
    first = score_costs(evidence_with(costs, prices)).costs.row(0, named=True)
    assert (first["signals"], first["status"]) == (2, "direct")
    assert first["usage_multiplier"] == pytest.approx(np.sqrt(8 * 2))
    assert first["task_efficiency"] == pytest.approx(1 / 4)


def test_the_latest_figure_counts_and_zeros_do_not():
    prices = priced(3)
    embedded = evidence_with([(s, "aa_index_output_tokens", 10.0, "tokens") for s in prices], prices)
    later = embedded.costs.head(1).with_columns(value=pl.lit(40.0), date=pl.lit("2026-09"), source=pl.lit("mdev"))
    nothing = embedded.costs.slice(1, 1).with_columns(value=pl.lit(0.0), date=pl.lit("2026-09"), source=pl.lit("mdev"))
    costs = pl.concat([later, embedded.costs.with_columns(date=pl.lit("2026-01")), nothing])
    table = score_costs(replace(embedded, costs=costs)).costs
    assert table["usage_multiplier"].to_list() == [pytest.approx(40 / 25), None, pytest.approx(10 / 25)]
    undated = pl.concat([embedded.costs.with_columns(date=pl.lit("2026-01")), later.with_columns(date=None)])
    assert score_costs(replace(embedded, costs=undated)).costs["usage_multiplier"].to_list() == [1.0, 1.0, 1.0]


def test_times_are_those_of_the_evidence():
    costs = [("m0", "response_time_median", 12.0, "seconds"), ("m0", "output_speed_median", 80.0, "tokens_per_second")]
    first = score_costs(evidence_with(costs, priced(2))).costs.row(0, named=True)
    assert (first["response_time"], first["output_speed"], first["signals"]) == (12.0, 80.0, 0)


@pytest.mark.parametrize(("models", "fits"), [(9, 0), (10, 1)])
def test_ten_priced_models_are_enough_for_a_fit(models, fits):
    prices = priced(10)
    prices |= {"free": (0.0, 0.0), "half free": (0.0, 1.0)}  # no logarithm: these neither count nor break the fit
    named = [*list(prices)[:models], "free", "half free"]
    costs = [(s, "aa_index_run_cost", 1.0 + i, "usd") for i, s in enumerate(named)]
    assert score_costs(evidence_with(costs, prices)).fits.height == fits


def test_rules_of_ones_own_reach_the_costs(tmp_path):
    text = (DATA / "rules.toml").read_text(encoding="utf-8").replace("minimum_signals = 2", "minimum_signals = 1")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    prices = priced()
    evidence = evidence_with([(s, "aa_index_run_cost", 5 * p[1], "usd") for s, p in prices.items()], prices)
    assert set(score_costs(evidence, tmp_path / "mine.toml").costs["status"]) == {"benchmarks"}


def test_one_benchmark_signal_is_provisional():
    prices = priced()
    costs = [(s, "aa_index_run_cost", 5 * p[1], "usd") for s, p in prices.items()]
    result = score_costs(evidence_with(costs, prices))
    assert set(result.costs["status"]) == {"provisional"}
    assert result.costs["effective_cost"].null_count() == 14
    assert result.costs["usage_multiplier"].null_count() == 0


def test_too_few_models_give_no_fit():
    prices = priced(4)
    result = score_costs(evidence_with([(s, "aa_index_run_cost", 5.0, "usd") for s in prices], prices))
    assert result.fits.is_empty()
    assert set(result.costs["status"]) == {"none"}


def test_where_every_model_costs_the_same_there_is_nothing_to_explain():
    prices = priced()
    found = score_costs(evidence_with([(s, "aa_index_run_cost", 5.0, "usd") for s in prices], prices)).fits
    assert found["r_squared"].to_list() == [None]


def test_frontier_is_exactly_the_undominated_models(scored):
    costs = score_costs(mensura.load()).costs
    iqs = scored.composites.select("subject", "iq")
    for axis in COST_AXES:
        found = frontier(iqs, costs, axis)
        everyone = cheapest(iqs, costs, 0, axis).drop_nulls(axis)
        for subject, iq, cost in found.select("subject", "iq", axis).iter_rows():
            better = everyone.filter((pl.col("iq") >= iq) & (pl.col(axis) <= cost) & (pl.col("subject") != subject))
            assert better.filter((pl.col("iq") > iq) | (pl.col(axis) < cost)).is_empty()
        left = everyone.filter(~pl.col("subject").is_in(found["subject"].to_list()))
        for _, iq, cost in left.select("subject", "iq", axis).iter_rows():
            assert not found.filter((pl.col("iq") >= iq) & (pl.col(axis) <= cost)).is_empty()


def test_of_two_at_one_cost_the_better_is_on_the_frontier_and_a_dearer_equal_is_not():
    iqs = pl.DataFrame({"subject": list("abcde"), "iq": [100, 110, 110, 120, None]})
    prices = {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (2.0, 1.0), "d": (9.0, 1.0), "e": (0.1, 0.1)}
    costs = score_costs(evidence_with([], prices)).costs
    assert frontier(iqs, costs, "sticker_price")["subject"].to_list() == ["b", "d"]
    assert cheapest(iqs, costs, 110, "sticker_price")["subject"].to_list() == ["b", "c", "d"]
    assert cheapest(iqs, costs, 100, "sticker_price")["subject"].to_list() == ["b", "a", "c", "d"]


def test_a_provisional_multiplier_ranks_nobody():
    prices = priced()
    costs = score_costs(evidence_with([(s, "aa_index_run_cost", 5 * p[1], "usd") for s, p in prices.items()], prices))
    iqs = pl.DataFrame({"subject": list(prices), "iq": list(range(14))})
    assert cheapest(iqs, costs.costs, 0, "usage_multiplier").is_empty()
    assert cheapest(iqs, costs.costs, 0, "sticker_price").height == 14


def test_models_without_effective_cost_stand_below_by_list_price_and_are_marked():
    iqs = pl.DataFrame({"subject": list("zabcde"), "iq": [120, 100, 110, 110, 90, 115]})
    prices = {"a": (9.0, 1.0), "b": (1.0, 1.0), "c": (2.0, 1.0), "d": (0.1, 1.0), "e": (2.0, 1.0), "z": (None, None)}
    costs = score_costs(evidence_with([], prices)).costs
    costs = costs.with_columns(effective_cost=pl.when(pl.col("subject") == "a").then(5.0))
    found = cheapest(iqs, costs, 100)
    assert found["subject"].to_list() == ["a", "b", "e", "c", "z"]
    assert found["basis"].to_list() == ["effective_cost", *["sticker_price only"] * 3, "unknown"]


def test_cheapest_query(scored):
    table = cheapest(scored.composites.select("subject", "iq"), score_costs(mensura.load()).costs, 120)
    assert (table["iq"] >= 120).all()
    assert table["effective_cost"].is_sorted()
    with pytest.raises(mensura.MensuraError, match="'speed' is no cost; expected sticker_price"):
        cheapest(table, table, 100, "speed")


def test_costs_print_themselves():
    result = score_costs(mensura.load())
    known = result.costs["effective_cost"].count()
    assert str(result).startswith(f"Effective cost of {known} models, cheapest first")
    assert result.shown["effective_cost"].is_sorted()
    assert repr(result).count("\n") < 30
    assert list(result.tables()) == ["costs", "signals", "fits"]
    assert "<table" in result._repr_html_()
