"""The fit: horizons come back, uncertain times widen intervals, and open ends are said to be open."""

import numpy as np
import polars as pl
import pytest

import mensura
from benchmarks.horizon_suites import predict_suites
from mensura import fit_horizons
from mensura.horizon.lengths import CENTER, fit_lengths


def all_suites(fit):
    return {row["subject"]: row for row in fit.horizons.filter(pl.col("suite") == "all").iter_rows(named=True)}


def test_horizons_come_back_in_order(fit):
    rows = all_suites(fit)
    assert rows["short"]["p50"] < rows["middle"]["p50"] < rows["long"]["p50"]
    for subject, truth in (("short", 4), ("middle", 32), ("long", 256)):
        assert rows[subject]["p50_low"] < truth < rows[subject]["p50_high"]
        assert rows[subject]["p80"] < rows[subject]["p50"]
        assert rows[subject]["status"] == "measured times"


def test_judged_times_widen_the_interval(fit, runs, times):
    judged = mensura.fit_horizons(runs, times.with_columns(how=pl.lit("expert estimate")))
    measured, guessed = (all_suites(each)["middle"] for each in (fit, judged))
    assert guessed["status"] == "judged times"
    assert guessed["p50_high"] / guessed["p50_low"] > 1.3 * measured["p50_high"] / measured["p50_low"]


@pytest.mark.slow
def test_a_subject_that_solves_all_or_nothing_has_open_ends(runs, times):
    every = runs.filter(pl.col("subject") == "short")
    extremes = [
        every.with_columns(subject=pl.lit(name), score=pl.lit(score)) for name, score in (("all", 1.0), ("none", 0.0))
    ]
    rows = all_suites(mensura.fit_horizons(pl.concat([runs, *extremes]), times))
    assert (rows["all"]["status"], rows["all"]["p50"], rows["all"]["p50_high"]) == ("at least", None, None)
    assert (rows["none"]["status"], rows["none"]["p50"], rows["none"]["p50_low"]) == ("at most", None, None)
    assert rows["all"]["p50_low"] > 60 > rows["none"]["p50_high"]


def test_success_that_does_not_fall_has_no_horizon(times):
    rng = np.random.default_rng(3)
    rows = [(s, f"t{i}", float(rng.random() < 0.5)) for s in "abcdef" for i in range(48)]
    fit = mensura.fit_horizons(pl.DataFrame(rows, schema=["subject", "task", "score"], orient="row"), times)
    assert set(fit.horizons["status"]) <= {"measured times", "judged times", "at least", "at most", "cannot be told"}
    assert set(fit.horizons["status"]) == {"cannot be told"}
    assert fit.horizons["p50"].null_count() == fit.horizons.height


def test_parts_add_up_and_curves_fall(fit):
    assert fit.parts.select(
        pl.sum_horizontal("suites", "times", "tasks", "runs")
    ).to_series().to_list() == pytest.approx([1.0] * 3)
    rates = fit.curves.filter(pl.col("subject") == "middle").sort("minutes")["rate"].to_list()
    assert rates == sorted(rates, reverse=True)


def test_long_tasks_stay_long_where_only_short_ones_were_timed():
    """One mean length for both would read the long tasks as a bias of their judges: half an hour for ten hours."""
    short, long = [2.0**place for place in range(7)], [2.0**place for place in range(7, 11)]
    times = {
        "task": [f"t{place}" for place in range(11)],
        "minutes": [*short, *long],
        "how": ["measured"] * 7 + ["expert estimate"] * 4,
    }
    runs = {"subject": ["a"] * 11, "task": times["task"], "score": [1.0] * 6 + [0.0] * 5}
    fit = fit_horizons(runs, times)
    lengths = dict(fit.tasks.select("task", "minutes").rows())
    assert lengths["t10"] > 400
    assert fit.horizons.height == 1, "runs without a suite have one row, over all"
    assert fit.shown["p50"][0] > 20


def test_prediction_for_a_suite_that_was_not_run(fit):
    new = pl.DataFrame({"suite": "new", "task": ["easy", "hard"], "minutes": [1.0, 2000.0]})
    rates, means = predict_suites(fit, new)
    wide = {(row["subject"], row["task"]): row["rate"] for row in rates.iter_rows(named=True)}
    assert wide["middle", "easy"] > 0.7 > 0.3 > wide["middle", "hard"]
    assert means.filter(pl.col("low") > pl.col("high")).height == 0
    assert dict(means.select("subject", "rate").iter_rows())["long"] > 0.5


def test_one_subject_that_solves_all_or_nothing_has_one_end():
    """Without other subjects nothing bounds its level, yet no answer at all would be wrong."""
    times = {"task": [f"t{place}" for place in range(12)], "minutes": [2.0**place for place in range(12)]}
    for score, status in ((1.0, "at least"), (0.0, "at most")):
        runs = {"subject": ["a"] * 12, "task": times["task"], "score": [score] * 12}
        assert fit_horizons(runs, times).shown["status"].to_list() == [status]


def test_noise_of_times_is_split_from_the_spread_of_lengths():
    """Many suites of few tasks: what suites share decides, and not a guess for each of them."""
    rng = np.random.default_rng(8)
    truth = rng.normal(4, 1.0, 400)
    rows = [
        (f"s{i // 20}", f"t{i}", 2 ** (truth[i] + 1.3 * rng.normal()), str(k)) for i in range(400) for k in range(2)
    ]
    times = pl.DataFrame(rows, schema=["suite", "task", "minutes", "who"], orient="row").with_columns(
        kind=pl.lit("measured"), people=pl.lit(1.0), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    lengths = fit_lengths(times, times.select("suite", "task").unique(maintain_order=True))
    assert lengths.person == pytest.approx(1.3, abs=0.08)
    assert np.polyfit(CENTER + lengths.mean, truth, 1)[0] == pytest.approx(1, abs=0.12)


def test_few_runs_converge(runs, times):
    """The slope by which errors of length count must stay within a step, or no step improves the likelihood."""
    few = runs.filter((pl.col("subject") != "middle") & (pl.col("suite") == "suite 0"))
    fit = mensura.fit_horizons(few.drop("suite"), times)
    assert fit.modes[0].converged
    assert fit.modes[0].slope == pytest.approx(float(fit.modes[0].theta[fit.modes[0].places.mean][1]))


def test_many_systems_converge_as_well(times):
    """With one node per task the likelihood of a step is that of the mode, as its derivatives are."""
    rng = np.random.default_rng(1)
    steps = np.arange(48) / 4
    logits = rng.normal(6, 3, 44)[:, None] - steps - 1.5 * rng.normal(size=48)
    score = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    who = np.repeat([f"s{place}" for place in range(44)], 48)
    runs = {"subject": who, "task": times["task"].to_list() * 44, "score": score.ravel()}
    assert fit_horizons(runs, times, draws=50).modes[0].converged


def test_few_systems_do_not_flatten_the_slope():
    """Tasks of one length differ; effects at their mode, not integrated out, would take the slope for a tenth less."""
    slopes, steps = [], np.linspace(-4, 4, 40)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        logits = 0.8 * (rng.normal(0, 2, 8)[:, None] - np.tile(steps, 4)) - 1.3 * rng.normal(size=160)
        score = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
        names = [f"t{place}" for place in range(160)]
        who = np.repeat([f"s{place}" for place in range(8)], 160)
        runs = {"subject": who, "task": names * 8, "score": score.ravel()}
        times = {"task": names, "minutes": 2 ** (4 + np.tile(steps, 4)), "people": [1000] * 160}
        mode = fit_horizons(runs, times, draws=50).modes[0]
        assert mode.converged
        slopes.append(mode.slope)
    assert np.mean(slopes) == pytest.approx(0.8, abs=0.06)
