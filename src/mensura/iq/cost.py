"""What capability costs: list price, the work a task takes, their product, and time to answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.iq.rules import IqRules, as_rules

COST_AXES = ("sticker_price", "effective_cost", "usage_multiplier", "response_time")
"""Columns of the cost table in which less is better; task efficiency is one over the usage multiplier."""
EFFECTIVE_COST_NOTE = (
    "Effective costs are our own estimates: good for orders of magnitude, not for close comparisons. For the 16 models "
    "with a published one, ours differs by a factor of 1.36 in the median. "  # measured: cost.factor
    "Usage multipliers hardly agree (r = 0.28). The publisher does not "  # measured: cost.correlation
    "fully state which signals it uses."
)
"""Said wherever effective costs stand; the figures are those of ``python -m benchmarks.iq_published``."""
FIRM = ("direct", "benchmarks")
"""What a usage multiplier must rest on to count."""


@dataclass(frozen=True, eq=False, repr=False)
class CostResult(Result):
    """Cost of every model.

    ``costs``: subject, input_price, output_price, sticker_price, usage_multiplier, signals, status, effective_cost,
    task_efficiency, response_time, output_speed. Prices are US dollars per million tokens, the sticker price and
    effective cost those of one million in and one million out; times are seconds, speed tokens per second. ``status``
    says what the multiplier rests on: ``direct`` token use, ``benchmarks``, ``provisional`` (too few signals: no
    effective cost), ``none``.
    ``signals``: subject, signal, actual, expected, usage. ``fits``: the price regressions.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("costs", "signals", "fits")
    DIGITS: ClassVar[int] = 2

    costs: pl.DataFrame
    signals: pl.DataFrame
    fits: pl.DataFrame

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know: how far effective costs are from the published ones."""
        return (EFFECTIVE_COST_NOTE,)

    @property
    def heading(self) -> str:
        """How many models have an effective cost."""
        return f"Effective cost of {self.shown.height} models, cheapest first"

    @property
    def shown(self) -> pl.DataFrame:
        """Models with an effective cost, cheapest first."""
        priced = self.costs.drop_nulls("effective_cost").sort("effective_cost", "subject")
        return priced.select("subject", "sticker_price", "usage_multiplier", "effective_cost", "status")


@check_arguments
def score_costs(evidence: Evidence, rules: IqRules | str | Path | None = None) -> CostResult:
    """Compute prices, usage multipliers and effective costs.

    Each benchmark-cost metric is fitted as log cost = α + β_in log(input price) + β_out log(output price); a model's
    usage is its actual over its expected cost. Direct token use is tokens over their median. The multiplier is the
    geometric mean of a model's signals, and effective cost is sticker price times multiplier.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.
    rules : IqRules, str or Path, optional
        Rules, or a TOML file of them; those of Mensura when not given.

    Returns
    -------
    CostResult
        The tables ``costs``, ``signals`` and ``fits``.

    Examples
    --------
    >>> import mensura
    >>> costs = mensura.score_costs(mensura.load())
    >>> costs.costs.columns[:3]
    ['subject', 'input_price', 'output_price']

    """
    rule = as_rules(rules).cost
    dated = evidence.costs.sort("date", nulls_last=False, maintain_order=True)
    latest = dated.unique(["subject", "metric"], keep="last", maintain_order=True)
    prices = evidence.models.select("subject", "input_price", "output_price")
    positive = latest.filter(pl.col("value") > 0).join(prices, on="subject")
    signals, fits = [_direct(positive, rule.tokens)], []
    for (metric,), group in sorted(positive.filter(pl.col("unit") == "usd").group_by("metric")):
        priced = group.filter((pl.col("input_price") > 0) & (pl.col("output_price") > 0))
        if priced.height >= rule.minimum_models:
            signal, fit = _residuals(str(metric), priced)
            signals.append(signal)
            fits.append(fit)
    table = pl.concat(signals)
    schema = {"metric": pl.String, "n": pl.Int64, "intercept": pl.Float64, "input_slope": pl.Float64}
    schema |= {"output_slope": pl.Float64, "r_squared": pl.Float64}
    costs = _costs(evidence, latest, table, rule.tokens, rule.minimum_signals)
    return CostResult(costs, table, pl.DataFrame(fits, schema=schema, orient="row"))


def frontier(iqs: pl.DataFrame, costs: pl.DataFrame, by: str = "effective_cost") -> pl.DataFrame:
    """Return the Pareto frontier, cheapest first: models no other beats in IQ at the same or a lower cost.

    ``iqs`` has subject and iq (and whatever else should be shown), ``costs`` is the table of :class:`CostResult`.

    Parameters
    ----------
    iqs : table
        subject, iq and any further columns.
    costs : table
        The table ``costs`` of a :class:`CostResult`.
    by : str
        Cost, one of :data:`COST_AXES`.

    Returns
    -------
    table
        The models that no other beats at the same or a lower cost, cheapest first.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import frontier
    >>> evidence = mensura.load()
    >>> iqs = mensura.score_iq(evidence, method="published").composites
    >>> frontier(iqs, mensura.score_costs(evidence).costs)["iq"].is_sorted()
    True

    """
    joined = _joined(iqs, costs, by).sort(by, "iq", descending=[False, True])
    best = pl.col("iq").cum_max().shift(1)
    return joined.filter(best.is_null() | (pl.col("iq") > best))


def cheapest(iqs: pl.DataFrame, costs: pl.DataFrame, at_least: float, by: str = "effective_cost") -> pl.DataFrame:
    """Return the models with at least this IQ, cheapest first; those without an effective cost below, by list price.

    ``basis`` names the cost that a row is sorted by: ``by``; sticker_price only, where no effective cost is known; or
    unknown.

    Parameters
    ----------
    iqs : table
        subject, iq and any further columns.
    costs : table
        The table ``costs`` of a :class:`CostResult`.
    at_least : float
        Lowest IQ that counts.
    by : str
        Cost to sort by, one of :data:`COST_AXES`.

    Returns
    -------
    table
        The models, cheapest first; ``basis`` names the cost that a row is sorted by.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import cheapest
    >>> evidence = mensura.load()
    >>> iqs = mensura.score_iq(evidence, method="published").composites
    >>> int(cheapest(iqs, mensura.score_costs(evidence).costs, 120)["iq"].min()) >= 120
    True

    """
    reached = iqs.filter(pl.col("iq") >= at_least)
    priced = _joined(reached, costs, by).sort(by, "iq", descending=[False, True]).with_columns(basis=pl.lit(by))
    if by != "effective_cost":
        return priced
    others = reached.join(priced, on="subject", how="anti", maintain_order="left").join(
        costs.select("subject", *COST_AXES), on="subject", how="left", maintain_order="left"
    )
    basis = pl.when(pl.col("sticker_price").is_null()).then(pl.lit("unknown")).otherwise(pl.lit("sticker_price only"))
    below = others.with_columns(basis=basis).sort("sticker_price", "iq", descending=[False, True], nulls_last=True)
    return pl.concat([priced, below.select(priced.columns)])


def require_axis(by: str) -> str:
    """Return the name of a cost, or refuse it with those there are."""
    if by not in COST_AXES:
        raise MensuraError(f"by: {by!r} is no cost; expected {', '.join(COST_AXES)}")
    return by


def _joined(iqs: pl.DataFrame, costs: pl.DataFrame, by: str) -> pl.DataFrame:
    require_axis(by)
    columns = ["subject", by, *(name for name in COST_AXES if name != by)]
    firm = pl.col("status").is_in(FIRM) if by == "usage_multiplier" else pl.lit(True)
    priced = costs.filter(firm).select(columns).drop_nulls(by)
    return iqs.drop_nulls("iq").join(priced, on="subject", maintain_order="left")


def _direct(metrics: pl.DataFrame, tokens: str) -> pl.DataFrame:
    used = metrics.filter(pl.col("metric") == tokens)
    median = pl.col("value").median()
    return used.select(
        "subject", signal="metric", actual="value", expected=median, usage=pl.col("value") / median
    ).cast({"expected": pl.Float64})


def _residuals(metric: str, priced: pl.DataFrame) -> tuple[pl.DataFrame, tuple[object, ...]]:
    logs = np.log(priced.select("value", "input_price", "output_price").to_numpy())
    design = np.column_stack([np.ones(len(logs)), logs[:, 1:]])
    slopes = np.linalg.lstsq(design, logs[:, 0], rcond=None)[0]
    expected = design @ slopes
    varied = np.ptp(logs[:, 0]) > 0  # the variance of equal numbers is not always 0
    explained = float(1 - np.var(logs[:, 0] - expected) / np.var(logs[:, 0])) if varied else None
    signal = priced.select("subject", signal="metric", actual="value").with_columns(
        expected=pl.Series(np.exp(expected)), usage=pl.Series(np.exp(logs[:, 0] - expected))
    )
    return signal, (metric, priced.height, *map(float, slopes), explained)


def _costs(evidence: Evidence, latest: pl.DataFrame, signals: pl.DataFrame, tokens: str, minimum: int) -> pl.DataFrame:
    usage = signals.group_by("subject").agg(
        pl.col("usage").log().mean().exp().alias("usage_multiplier"),
        pl.len().cast(pl.Int64).alias("signals"),
        (pl.col("signal") == tokens).any().alias("direct"),
    )
    times = {"response_time": "response_time_median", "output_speed": "output_speed_median"}
    table = evidence.models.select(
        "subject", "input_price", "output_price", sticker_price=pl.col("input_price") + pl.col("output_price")
    ).join(usage, on="subject", how="left", maintain_order="left")
    for name, metric in times.items():
        values = latest.filter(pl.col("metric") == metric).select("subject", pl.col("value").alias(name))
        table = table.join(values, on="subject", how="left", maintain_order="left")
    status = (
        pl.when("direct")
        .then(pl.lit("direct"))
        .when(pl.col("signals") >= minimum)
        .then(pl.lit("benchmarks"))
        .when(pl.col("signals").is_not_null())
        .then(pl.lit("provisional"))
        .otherwise(pl.lit("none"))
    )
    firm = status.is_in(FIRM)
    return table.select(
        *("subject", "input_price", "output_price", "sticker_price", "usage_multiplier"),
        signals=pl.col("signals").fill_null(0),
        status=status,
        effective_cost=pl.when(firm).then(pl.col("sticker_price") * pl.col("usage_multiplier")),
        task_efficiency=pl.when(firm).then(1 / pl.col("usage_multiplier")),
        response_time="response_time",
        output_speed="output_speed",
    )
