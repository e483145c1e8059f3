"""Tables of horizons on small runs beside the approved ones."""

import polars as pl
import pytest

import mensura
from mensura.horizon import estimate_minutes, fit_totals
from mensura.horizon.lengths import fit_lengths
from tests.approved_tables import assert_approved


def test_horizons_parts_curves_and_lengths(fit):
    assert_approved("horizon/horizons", fit.horizons)
    assert_approved("horizon/parts", fit.parts)
    assert_approved("horizon/curves", fit.curves[::7])
    for name, table in fit.tables().items():
        if name not in ("horizons", "parts", "curves"):
            assert_approved(f"horizon/{name}", table[::5])


def test_horizons_of_judged_and_measured_times_with_people(runs, times):
    some = times.with_row_index("at").with_columns(how="at")
    how = ["measured", "expert estimate", "annotation"]
    judged = some.with_columns(how=some["at"].map_elements(lambda at: how[at % 3], return_dtype=str)).drop("at")
    found = mensura.fit_horizons(runs.filter(suite="suite 0"), judged)
    assert_approved("horizon/judged", found.horizons)


def test_the_published_method_with_its_resampling(runs, times):
    assert_approved("horizon/metr", mensura.fit_horizons(runs, times, method="metr", draws=20).horizons)


def test_total_scores_on_two_benchmarks():
    minutes = [2 ** (i / 4) for i in range(40)]
    lengths = {"benchmark": ["b"] * 40 + ["c"] * 20, "minutes": [*minutes, *minutes[10:30]]}
    lengths["how"] = ["baseline"] * 40 + ["expert estimate"] * 20
    lengths["chance"] = [0.0] * 40 + [0.25] * 20
    scores = {"subject": ["m", "m", "n", "o"], "benchmark": ["b", "c", "b", "c"], "percent": [25.0, 60.0, 99.0, 20.0]}
    assert_approved("horizon/totals", fit_totals(scores, lengths))


def test_minutes_from_estimates_and_anchors():
    names = [f"i{place}" for place in range(12)]
    estimates = {"item": names, "minutes": [0.25 * 2 ** (place / 2) for place in range(12)]}
    anchors = {"item": names[::4], "minutes": [4 * 2 ** (place / 2) for place in range(0, 12, 4)]}
    assert_approved("horizon/minutes", estimate_minutes(estimates))
    assert_approved("horizon/minutes_anchored", estimate_minutes(estimates, anchors))


def test_lengths_from_times_of_every_kind():
    """Two suites; numbers by one or three people, ranges with and without ends, estimates, bounds, and no time."""
    rows = []
    for place in range(24):
        suite, minutes = "sr"[place % 2], 2 ** (0.4 * place)
        if place % 3 < 2:
            rows.append((suite, f"t{place}", minutes, "measured", 3.0 if place % 4 == 0 else 1.0, None, None))
        if place % 3 == 1:
            rows.append((suite, f"t{place}", minutes * 1.3, "measured", 1.0, None, None))
        if place % 4 < 2:
            rows.append((suite, f"t{place}", minutes * 0.4, "expert estimate", 1.0, None, None))
        if place % 5 == 2:
            rows.append((suite, f"t{place}", 2.0 ** round(0.4 * place), "range", 1.0, None, None))
        if place % 5 == 3:
            rows.append((suite, f"t{place}", minutes, "range", 1.0, minutes / 2, minutes * 4))
        if place % 7 == 5:
            rows.append((suite, f"t{place}", minutes * 2, "at least", 1.0, None, None))
    schema = ["suite", "task", "minutes", "kind", "people", "low", "high"]
    times = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
    tasks = pl.DataFrame(
        {"suite": ["sr"[place % 2] for place in range(24)], "task": [f"t{place}" for place in range(24)]}
    )
    lengths = fit_lengths(times.cast({"low": pl.Float64, "high": pl.Float64}), tasks)
    assert_approved("horizon/lengths", lengths.intervals("low", "high").with_columns(variance=lengths.variance))
    assert_approved("horizon/length_kinds", lengths.kinds)
    shared = {"shared": lengths.shared.ravel().tolist(), "person": [lengths.person] * 4}
    assert_approved("horizon/length_spreads", pl.DataFrame(shared))
    wider = lengths.intervals("low", "high", more=1.0)
    half = 1.6448536 * (lengths.total + 1) ** 0.5
    assert (wider["high"] / wider["minutes"]).log(2).to_list() == pytest.approx(half.tolist())
