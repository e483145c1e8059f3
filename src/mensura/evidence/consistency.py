"""Consistency beyond the single cell: units, ranges within a row, ladders that rise, lines of descent."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import polars as pl

from mensura.core.errors import Fault
from mensura.evidence.checks import RawTable, row_faults
from mensura.evidence.schema import CHART_SETTINGS, LADDER_LEVELS, UNIT_RANGES
from mensura.intake.figures import convertible

Tables = Mapping[str, pl.DataFrame]
Raws = Mapping[str, RawTable]


def consistency_faults(raws: Raws, tables: Tables) -> Iterator[Fault]:
    """Yield every fault of consistency in the tables that are present."""
    for name, check in (
        ("scores", _score_units),
        ("scores", _one_primary),
        ("human_references", _human_ranges),
        ("ladders", _ladders_rise),
        ("benchmarks", _chance_below_ceiling),
        ("demand_outcomes", _no_more_right_than_asked),
        ("models", _no_descent_cycle),
        ("chart_rules", _rules_complete),
    ):
        if name in raws:
            yield from check(raws[name], tables)


def _outside_unit(raw: RawTable, table: pl.DataFrame, *columns: str) -> Iterator[Fault]:
    """Yield a fault for each score of some columns that its row's unit does not allow."""
    low = pl.col("unit").replace_strict({unit: ends[0] for unit, ends in UNIT_RANGES.items()}, default=None)
    high = pl.col("unit").replace_strict({unit: ends[1] for unit, ends in UNIT_RANGES.items()}, default=None)

    def words(index: int) -> str:
        unit = table["unit"][index]
        return "a {} from {:g} to {:g}".format(unit, *UNIT_RANGES[unit])

    for column in columns:
        outside = table.select((pl.col(column) < low) | (pl.col(column) > high)).to_series()
        yield from row_faults(raw, outside, column, words)


def _score_units(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    scores = tables["scores"]
    yield from _outside_unit(raw, scores, "score")
    half = {unit: (ends[1] - ends[0]) / 2 for unit, ends in UNIT_RANGES.items()}
    wide = scores.select(pl.col("stderr") > pl.col("unit").replace_strict(half, default=None)).to_series()
    yield from row_faults(raw, wide, "stderr", lambda index: f"at most {half[scores['unit'][index]]:g}, as the unit is")
    units = dict(tables["benchmarks"].select("benchmark", "unit").iter_rows())
    wanted = [units.get(benchmark) for benchmark in scores["benchmark"]]
    pairs = zip(scores["unit"], wanted, strict=True)
    bad = [unit in UNIT_RANGES and to in UNIT_RANGES and not convertible(unit, to) for unit, to in pairs]

    def words(index: int) -> str:
        return f"{wanted[index]}, the unit of this benchmark, or one that converts to it"

    yield from row_faults(raw, pl.Series(bad, dtype=pl.Boolean), "unit", words)


def _one_primary(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    second = tables["scores"].select(
        (pl.col("primary").fill_null(False).cum_sum().over("subject", "benchmark") > 1) & pl.col("primary")
    )
    yield from row_faults(raw, second.to_series(), "primary", "at most one primary row for a model and benchmark")


def _human_ranges(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    humans = tables["human_references"]
    yield from _outside_unit(raw, humans, "score", "low", "high")
    disorder = (humans["low"] > humans["score"]) | (humans["high"] < humans["score"])
    yield from row_faults(raw, disorder, "score", "low ≤ score ≤ high")


def _ladders_rise(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    ladders = tables["ladders"]
    for lower, upper in pairwise(f"iq{level}" for level in LADDER_LEVELS):
        below = ladders[lower]

        def words(index: int, lower: str = lower, below: pl.Series = below) -> str:
            return f"more than {below[index]} ({lower}): a ladder must rise"

        yield from row_faults(raw, ladders[upper] <= below, upper, words)


def _chance_below_ceiling(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    benchmarks = tables["benchmarks"]
    yield from _outside_unit(raw, benchmarks, "chance", "ceiling")
    yield from row_faults(raw, benchmarks["chance"] >= benchmarks["ceiling"], "chance", "less than the ceiling")


def _no_more_right_than_asked(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    outcomes = tables["demand_outcomes"]
    yield from row_faults(raw, outcomes["correct"] > outcomes["n"], "correct", "at most n, the number of items")


def _no_descent_cycle(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    models = tables["models"]
    parents = dict(models.select("subject", "predecessor").drop_nulls().iter_rows())
    looping = []
    for subject in models["subject"]:
        visited, current = {subject}, parents.get(subject)
        while current is not None and current not in visited:
            visited.add(current)
            current = parents.get(current)
        looping.append(current == subject)
    words = "a model that does not descend from this one (the predecessors form a circle)"
    yield from row_faults(raw, pl.Series(looping, dtype=pl.Boolean), "predecessor", words)


def _rules_complete(raw: RawTable, tables: Tables) -> Iterator[Fault]:
    rules = tables["chart_rules"]
    for setting in CHART_SETTINGS:
        if setting not in rules["setting"]:
            yield Fault(raw.file, 0, "setting", "", f"a row {setting}; every rule has one")
    numbers = (rules["setting"] != "top_labs") & rules["value"].is_not_null()
    whole = rules["value"].str.contains(r"^-?\d{1,4}$")
    yield from row_faults(raw, numbers & ~whole, "value", "a whole number")
