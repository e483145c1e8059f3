"""Tables of trends on small invented releases beside the approved ones."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from benchmarks.published_streams import PUBLISHED, make_stream
from mensura.stitching import stitch, to_date
from mensura.trends import (
    find_break,
    find_frontier,
    fit_line,
    forecast,
    frontier_line,
    measure_pace,
    measure_progress,
    relate_horizons,
    watch_acceleration,
)
from mensura.trends.scatter import describe_bent, describe_growth, describe_scatter, describe_steps, find_steps
from tests.approved_tables import assert_approved
from tests.stitching.conftest import simulate


@pytest.fixture(scope="module")
def releases():
    """Sixty releases over three years about a line that bends, with compute and three families."""
    rng = np.random.default_rng(7)
    t = np.sort(rng.uniform(0, 3, 60))
    days = [date(2022, 6, 1) + timedelta(days=round(x * 365.25)) for x in t]
    compute = np.exp(53 + 1.2 * t + rng.normal(0, 1, 60))
    family = [("A", "B", "C", None, None)[i % 5] for i in range(60)]
    values = 0.5 * t + 0.4 * np.maximum(t - 2, 0) + 0.1 * np.log(compute) - 5 + rng.normal(0, 0.2, 60)
    table = {"subject": [f"s{i:02}" for i in range(60)], "released": days, "capability": values}
    return pl.DataFrame(table | {"training_compute_flop": compute, "family": family})


@pytest.fixture(scope="module")
def draws(releases):
    """Ten draws, each off by a factor and by errors of its own."""
    rng = np.random.default_rng(1)
    return pl.concat(
        releases.select("subject", draw=pl.lit(i), capability=pl.col("capability") * rng.normal(1, 0.1) + 0.05 * i)
        for i in range(10)
    )


def test_pace_with_and_without_draws(releases, draws):
    plain, drawn = measure_pace(releases), measure_pace(releases, draws=draws)
    assert_approved("trends/pace", plain.table)
    assert (drawn.slope, drawn.interval) == (drawn.table["slope"][0], drawn.table.select("low", "high").row(0))
    assert_approved("trends/pace_drawn", drawn.table)
    assert_approved("trends/pace_wide", measure_pace(releases, level=0.5).table)


def test_forecasts_of_both_methods(releases, draws):
    days = [date(2026, 1, 1), date(2027, 1, 1)]
    assert_approved("trends/forecast", forecast(releases, to=days).table)
    assert_approved("trends/forecast_drawn", forecast(releases, to=days, draws=draws).table)
    assert_approved("trends/forecast_published", forecast(releases, to=days, method="rosetta").table)


def test_records_and_lines(releases):
    assert_approved("trends/frontier", find_frontier(releases))
    years = (releases["released"] - date(2022, 6, 1)).dt.total_days() / 365.25
    lines = {"all": fit_line(years, releases["capability"]), "records": frontier_line(releases)}
    fields = ("slope", "intercept", "n", "r_squared", "sd", "slope_error", "center")
    rows = [{"line": name, **{field: getattr(line, field) for field in fields}} for name, line in lines.items()]
    assert_approved("trends/lines", pl.DataFrame(rows))


def test_progress_by_families_and_together(releases):
    found = measure_progress(releases)
    for name, table in found.tables().items():
        assert_approved(f"trends/progress_{name}", table)


def test_a_break_in_the_records(releases):
    found = find_break(releases)
    assert_approved("trends/break", pl.DataFrame([vars(found)]))


def test_horizons_beside_capability_and_time(releases):
    noise = pl.Series(np.random.default_rng(2).normal(0, 0.3, 40))
    measured = releases.head(40).select("subject", minutes=(1.2 * pl.col("capability") + 2 + noise).exp())
    related = relate_horizons(releases, measured, held_out=["s03", "s11", "s20"])
    for name, table in related.tables().items():
        assert_approved(f"trends/horizons_{name}", table[::6] if name == "table" else table)


def test_a_fit_gives_points_and_draws():
    frame = simulate(24, 8, seed=3)[0]
    days = [date(2023, 1, 1) + timedelta(days=40 * int(name[1:])) for name in frame["model"]]
    fit = stitch(frame.with_columns(pl.Series("released", days), chance=pl.lit(0.0), ceiling=pl.lit(1.0)), dimensions=1)
    assert_approved("trends/pace_of_fit", measure_pace(fit).table, by=3e-3)


def test_scatter_bends_steps_and_growth_of_forty_releases():
    rng = np.random.default_rng(8)
    years = np.sort(rng.uniform(2022, 2026, 40))
    values = 0.5 * (years - 2022) + 0.5 * np.maximum(years - 2025, 0) + rng.normal(0, 0.1 + 0.02 * (years - 2022))
    straight, bent = describe_scatter(years, values), describe_bent(years, values)
    stepped = describe_steps(years, values + 0.9 * (years > 2024), years > 2025)
    rows = {
        "common": [straight.common],
        "evidence": straight.evidence.tolist(),
        "squares": straight.squares[::30].ravel().tolist(),
        "line": straight.line[::30].ravel().tolist(),
        "root": straight.root[::30].ravel().tolist(),
        "probability": straight.probability[::5].ravel().tolist(),
        "bends": bent.bends.tolist(),
        "bent": bent.probability.ravel().tolist(),
        "growth": list(describe_growth(years, values - np.polyval(np.polyfit(years, values, 1), years))),
        "steps": find_steps(years, values + 0.9 * (years > 2024))[[0, 10, 39]].ravel().tolist(),
    }
    long = [(name, value) for name, own in rows.items() for value in own]
    assert_approved("trends/scatter", pl.DataFrame(long, schema={"name": pl.String, "value": pl.Float64}, orient="row"))
    assert stepped is not None
    drawn = bent.draw(50, np.random.default_rng(0))
    parts = ("level", "pace", "spread", "share", "fading", "change")
    table = {name: getattr(drawn, name)[::5] for name in parts}
    at = np.array([2025.5, 2026.5])
    table["line"] = drawn.line(at)[::5, 1]
    table["shock"] = drawn.shocks(at, np.random.default_rng(1))[::5, 1]
    assert_approved("trends/drawn_lines", pl.DataFrame(table))


def test_the_watch_of_a_small_stream():
    small = replace(PUBLISHED, models=80, benchmarks=14, evaluated=0.6)
    stream = make_stream(small, np.random.default_rng(6), change=57.0, acceleration=4.0)
    days = [to_date(year) for year in stream.years]
    scores = pl.DataFrame(
        {
            "subject": [f"m{i:03}" for i in stream.rows],
            "benchmark": [f"b{i:02}" for i in stream.cols],
            "score": stream.scores,
            "released": [days[i] for i in stream.rows],
        }
    )
    found = watch_acceleration(scores, start=date(2027, 1, 1), streams=19)
    for name, table in found.tables().items():
        assert_approved(f"trends/watch_{name}", table, by=3e-3)
    facts = {name: str(value) for name, value in found.facts.items() if not isinstance(value, float)}
    assert_approved("trends/watch_facts", pl.DataFrame({"fact": list(facts), "value": list(facts.values())}))
