"""Cost: closed forms for usage and effective cost, frontiers, the cheapest query."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import cheapest, frontier, score_costs
from mensura.iq.cost import AXES


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


def test_exact_price_law_leaves_no_residual_and_one_model_uses_double():
    prices = priced()
    costs = [(s, "aa_index_run_cost", 5 * p[0] ** 0.3 * p[1] ** 0.7, "usd") for s, p in prices.items()]
    costs += [(s, "arc_agi_2_cost_per_task", 2 * p[0] ** 0.5 * p[1] ** 0.5, "usd") for s, p in prices.items()]
    result = score_costs(evidence_with(costs, prices))
    assert result.fits.select("input_slope", "output_slope").rows() == [
        (pytest.approx(0.3), pytest.approx(0.7)),
        (pytest.approx(0.5), pytest.approx(0.5)),
    ]
    assert result.signals["usage"].to_list() == pytest.approx([1.0] * 28)
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


def test_frontier_is_exactly_the_undominated_models(scored):
    costs = score_costs(mensura.load()).costs
    iqs = scored.composites.select("subject", "iq")
    for axis in AXES:
        found = frontier(iqs, costs, axis)
        everyone = cheapest(iqs, costs, 0, axis)
        for subject, iq, cost in found.select("subject", "iq", axis).iter_rows():
            better = everyone.filter((pl.col("iq") >= iq) & (pl.col(axis) <= cost) & (pl.col("subject") != subject))
            assert better.filter((pl.col("iq") > iq) | (pl.col(axis) < cost)).is_empty()
        left = everyone.filter(~pl.col("subject").is_in(found["subject"].to_list()))
        for _, iq, cost in left.select("subject", "iq", axis).iter_rows():
            assert not found.filter((pl.col("iq") >= iq) & (pl.col(axis) <= cost)).is_empty()


def test_cheapest_query(scored):
    table = cheapest(scored.composites.select("subject", "iq"), score_costs(mensura.load()).costs, 120)
    assert (table["iq"] >= 120).all()
    assert table["effective_cost"].is_sorted()
    with pytest.raises(mensura.MensuraError, match="'speed' is no cost; expected sticker_price"):
        cheapest(table, table, 100, "speed")


def test_costs_print_themselves():
    result = score_costs(mensura.load())
    assert "Effective cost of" in str(result)
    assert result._repr_html_()
