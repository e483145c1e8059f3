"""How far estimated human baselines are from the truth: whole pools left out, remembered estimates excluded.

Run: python -m benchmarks.baseline [--ai] [--record]
Needs the development data. Prints each bar with its figure, then a table per pool, then one line of JSON. With --ai, it
checks AI benchmarks instead (:mod:`benchmarks.baseline_ai`).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from benchmarks import measured, run
from benchmarks.baseline_ai import report_ai
from benchmarks.baseline_learning import USUAL, Usual, learn
from benchmarks.baseline_persons import ESTIMATED, learn_persons, scores_of
from benchmarks.baseline_pools import LARGE, MODELS, RUNS, TESTS, Recordings, correlation_of_runs, read
from mensura.baseline.estimator import PooledEstimates, PoolEstimate, estimate_pool
from mensura.baseline.persons import score_persons
from mensura.baseline.recordings import Learned
from mensura.core.arrays import Floats, Mask
from mensura.core.frames import text_table

USUAL_SPREAD = 0.65  # stated SD in logits where an estimate has no interval; the median of the recordings
ANCHOR_DRAWS = 100
LATE = ("time", "report")
"""Groups of effects that we added after a look at the pools."""
ONE_SPREAD: Usual = dict.fromkeys(USUAL, (0.3, 1.0))
"""Settings without a choice: the same spread for every kind of effect."""
LOW_INCOME = 0.5
"""Distance from which people count as of a low-income country: a learning score below about 420 points."""


@dataclass(frozen=True, eq=False)
class Judged:
    """One pool, estimated without it: its estimate, true rates, n and the mean's draws."""

    pool: str
    estimate: PoolEstimate
    rate: Floats
    n: Floats
    means: Floats

    @property
    def held(self) -> Mask:
        """Whether each item's interval contains its rate."""
        low, high = self.estimate.interval()
        return (self.rate >= low) & (self.rate <= high)

    @property
    def errors(self) -> Floats:
        """Absolute errors of the items."""
        return np.abs(self.estimate.rate - self.rate)

    @property
    def mean_error(self) -> float:
        """Error of the mean."""
        return float(np.median(self.means) - self.rate.mean())

    @property
    def mean_held(self) -> bool:
        """Whether the mean's interval contains it."""
        low, high = np.quantile(self.means, [0.05, 0.95])
        return bool(low <= self.rate.mean() <= high)


def learn_from(recordings: Recordings, keep: Mask, usual: Usual = USUAL) -> Learned:
    """Learn from some cells; those whose estimate speaks of the opposite answer teach nothing."""
    cells = recordings.cells.of(keep & ~recordings.inverted)
    return learn(cells, runs=RUNS, models=MODELS, usual_spread=USUAL_SPREAD, usual=usual)


def judge(recordings: Recordings, inside: Mask, learned: Learned, name: str) -> Judged:
    """Estimate some cells as one pool of one group of people."""
    cells, pooled = recordings.cells, recordings.pooled
    part = PooledEstimates((), *(getattr(pooled, field)[inside] for field in ("logit", "spread", "runs", "models")))
    levels = {group: level[inside] for group, level in cells.levels.items()}
    estimate = estimate_pool(part, levels, float(np.median(cells.distance[inside])), learned)
    means = estimate.draws(2000, np.random.default_rng(1)).mean(axis=1)
    n = recordings.table["n"].fill_null(LARGE).to_numpy()[inside]
    return Judged(name, estimate, recordings.rate[inside], n, means)


def leave_pools_out(recordings: Recordings) -> list[Judged]:
    """Estimate every pool with what the other pools taught."""
    names = recordings.cells.pool
    return [
        judge(recordings, names == name, learn_from(recordings, names != name), str(name)) for name in np.unique(names)
    ]


def leave_pools_and_settings_out(recordings: Recordings) -> list[Judged]:
    """Do the same, and let the other pools choose the settings: usual spreads, and the groups that we added late.

    The candidates are our spreads and one spread for everything, each with and without time pressure and self-report.
    The likeliest on the other pools is used.
    """
    names, judged = recordings.cells.pool, []
    for name in np.unique(names):
        tried = [
            (learn_from(reduced, names != name, usual), reduced)
            for reduced in (recordings, *(_without(recordings, group) for group in LATE))
            for usual in (USUAL, ONE_SPREAD)
        ]
        learned, reduced = max(tried, key=lambda pair: pair[0].log_posterior)
        judged.append(judge(reduced, names == name, learned, str(name)))
    return judged


def _without(recordings: Recordings, group: str) -> Recordings:
    """Return the recordings with no kind known in one group of effects."""
    levels = recordings.cells.levels
    empty = np.full_like(levels[group], "")
    return replace(recordings, cells=replace(recordings.cells, levels={**levels, group: empty}))


def leave_low_income_out(recordings: Recordings) -> list[Judged]:
    """Estimate all cells of low-income people with what all others taught; one pool each."""
    far = recordings.cells.distance >= LOW_INCOME
    learned = learn_from(recordings, ~far)
    names = recordings.cells.pool
    return [judge(recordings, far & (names == name), learned, str(name)) for name in np.unique(names[far])]


PROGRAMMES = {"naep": ("USA", "naep"), "enem": ("BRA", "enem"), "aser_india": ("IND", "aser")}
PROGRAMMES |= {"aser_pakistan_2012": ("PAK", "aser")}
"""Country and test programme of the pools of pupils."""


def leave_pupils_out(recordings: Recordings, place: int) -> dict[str, tuple[float, float]]:
    """Return item error and share of held intervals of pupils, per country (``place`` 0) or programme (1) left out.

    Each group of pupils is estimated on its own, as a user would.
    """
    pools, people = recordings.cells.pool, recordings.cells.people
    labels = np.array([PROGRAMMES[pool][place] if pool in PROGRAMMES else "" for pool in pools])
    figures = {}
    for label in sorted(set(labels) - {""}):
        out = labels == label
        learned = learn_from(recordings, ~out)
        judged = [judge(recordings, out & (people == who), learned, str(who)) for who in np.unique(people[out])]
        errors, held = (np.concatenate([getattr(one, name) for one in judged]) for name in ("errors", "held"))
        figures[str(label)] = float(errors.mean()), float(held.mean())
    return figures


def anchor_error(judged: list[Judged], count: int) -> float:
    """Return the mean error on the other items after ``count`` items of a pool became known, over random choices."""
    rng = np.random.default_rng(3)
    errors = []
    for one in judged:
        size = one.rate.size
        if one.pool not in TESTS or size <= count:
            continue
        for _ in range(ANCHOR_DRAWS):
            at = rng.choice(size, count, replace=False)
            rest = np.setdiff1d(np.arange(size), at)
            after = one.estimate.counted(at, one.rate[at], one.n[at])
            errors.append((np.abs(after.rate - one.rate)[rest].mean(), size))
    values, weights = np.array(errors).T
    return float(np.average(values, weights=weights))


def judge_persons(judged: list[Judged], recordings: Recordings) -> pl.DataFrame:
    """Compare predicted with real percentiles of persons; spreads of ability learned without the pool."""
    rows = []
    for one in judged:
        if one.pool not in ESTIMATED:
            continue
        ids = [text.split(":", 1)[1] for text in recordings.table.filter(pl.col("pool") == one.pool)["item"]]
        real = scores_of(one.pool, ids)
        rng = np.random.default_rng(5)
        crowd = score_persons(one.estimate.draws(300, rng), learn_persons(one.pool), rng)
        for name, share in (("median", 0.5), ("top 10%", 0.9)):
            mid, low, high = crowd.quantiles(share)
            true = float(np.quantile(real, share))
            rows.append((one.pool, name, true, mid, low, high, abs(mid - true), low <= true <= high))
    columns = ["pool", "percentile", "real", "predicted", "low", "high", "error", "held"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def measure_speed() -> tuple[float, float]:
    """Return seconds and megabytes that 1,000 items and three populations take, from estimates that exist."""
    from mensura import estimate_baseline

    rng = np.random.default_rng(0)
    rate = rng.uniform(0.1, 0.95, 1000)
    ids = [f"q{number}" for number in range(1000)]
    items = pl.DataFrame({"item": ids, "text": [f"Question {name}" for name in ids], "answer": ["yes"] * 1000})
    table = pl.DataFrame({"item": ids, "rate": rate, "low": rate - 0.09, "high": np.minimum(rate + 0.09, 1)})
    start = time.perf_counter()
    estimate_baseline(items, people=["world", "BRA", "university students in Germany"], estimates=table)
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_bases() -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what the open pool's bases gain from rates that are estimated as a baseline.

    Mean width of the bases' intervals (natural logarithm of high / low), and the rank correlation of predicted with
    measured success in pools left out. First with the world rates as a language model gave them, then with the same
    rates corrected as a baseline.
    """
    from mensura import calibrate, estimate_baseline
    from mensura.calibration import open_demands, open_items, open_rates, read_items
    from mensura.calibration.skill import predict_pools, skill_of

    asked, demands = open_rates("asked"), open_demands()
    said = asked.select("item", "rate", "low", "high")
    corrected = estimate_baseline(asked.select("item"), "world", estimates=said).items
    corrected = corrected.join(asked.select("item", "pool", "options"), on="item")
    measured_rates = dict(open_items().select("item", "rate").iter_rows())
    found = []
    for rates in (asked, corrected):
        bases = calibrate(rates, demands, draws=300).tables()["bases"]
        width = float(np.mean(np.log(bases["high"].to_numpy() / bases["low"].to_numpy())))
        items = read_items(rates, demands)
        guess = predict_pools(items)
        truth = np.array([measured_rates[item] for item in items.items])
        found.append((width, skill_of(replace(items, observed=truth), guess)[3] or 0.0))
    return found[0], found[1]


def summarise(judged: list[Judged]) -> dict[str, float]:
    """Return the figures of one way of reading the recordings."""
    errors, held = (np.concatenate([getattr(one, name) for one in judged]) for name in ("errors", "held"))
    tests = np.concatenate([np.full(one.rate.size, one.pool in TESTS) for one in judged])
    widths = np.concatenate([np.subtract(*one.estimate.interval()[::-1]) for one in judged])
    half = [np.abs(0.5 - one.rate).mean() - one.errors.mean() for one in judged]
    return {
        "item_error": float(errors.mean()),
        "item_error_tests": float(errors[tests].mean()),
        "least_gain_on_half": float(min(half)),
        "mean_error": float(np.mean([abs(one.mean_error) for one in judged])),
        "mean_held": float(np.mean([one.mean_held for one in judged])),
        "item_held": float(held.mean()),
        "item_width": float(widths.mean()),
        "least_held": float(min(one.held.mean() for one in judged)),
        "anchors_5": anchor_error(judged, 5),
        "anchors_10": anchor_error(judged, 10),
    }


BARS = {
    "item_error": ("item error, no human data", "≤", 0.100),
    "item_error_tests": ("the same, ten test pools", "≤", 0.085),
    "least_gain_on_half": ("least gain of a pool on the constant 0.5", "≥", 0.0),
    "mean_error": ("mean of a pool: error", "≤", 0.060),
    "mean_held": ("mean of a pool: 90% intervals hold (0.85 to 0.95)", "in", (0.85, 0.95)),
    "item_held": ("items: 90% intervals hold (0.87 to 0.93)", "in", (0.87, 0.93)),
    "item_width": ("items: mean width", "≤", 0.48),
    "least_held": ("items: the pool that holds least", "≥", 0.75),
    "anchors_5": ("5 anchors, ten test pools", "≤", 0.078),
    "anchors_10": ("10 anchors, ten test pools", "≤", 0.075),
    "persons_median": ("median of persons: error", "≤", 0.06),
    "persons_top_10": ("top 10% of persons: error", "≤", 0.08),
    "persons_held": ("percentiles of persons: intervals hold", "≥", 0.85),
    "low_income_held": ("low-income people left out: intervals hold", "≥", 0.85),
    "pupils_error": ("pupils of a country or programme left out: worst error", "≤", 0.20),
    "pupils_held": ("pupils of a country or programme left out: least held", "≥", 0.85),
    "seconds": ("1,000 items × 3 populations: seconds", "≤", 10.0),
    "megabytes": ("1,000 items × 3 populations: MB", "≤", 500.0),
}


def met(value: float, sign: str, bar: float | tuple[float, float]) -> bool:
    """Tell whether a figure meets its bar."""
    if isinstance(bar, tuple):
        return bar[0] <= value <= bar[1]
    return value <= bar if sign == "≤" else value >= bar


def main() -> None:
    """Measure everything and print it."""
    recordings = read()
    if "--ai" in sys.argv:
        figures = report_ai(learn_from(read(mend=True), np.ones(recordings.rate.size, dtype=bool)))
        print(json.dumps({key: round(value, 4) for key, value in figures.items()}))
        return
    seconds, megabytes = measure_speed()
    judged = leave_pools_out(recordings)
    figures = summarise(judged)
    persons = judge_persons(judged, recordings)
    for name in ("median", "top 10%"):
        error = persons.filter(pl.col("percentile") == name)["error"].mean()
        figures[f"persons_{name.replace(' ', '_').rstrip('%')}"] = float(error)
    figures["persons_held"] = float(persons["held"].mean())
    far = leave_low_income_out(recordings)
    figures["low_income_held"] = float(np.concatenate([one.held for one in far]).mean())
    pupils = leave_pupils_out(recordings, 0) | leave_pupils_out(recordings, 1)
    figures["pupils_error"] = max(error for error, _ in pupils.values())
    figures["pupils_held"] = min(held for _, held in pupils.values())
    figures |= {"seconds": seconds, "megabytes": megabytes}
    mended = read(mend=True)
    again = summarise(leave_pools_out(replace(mended, inverted=np.zeros_like(mended.inverted))))
    nested = summarise(leave_pools_and_settings_out(recordings))

    rows = [
        (
            told,
            f"{sign} {bar}" if sign != "in" else str(bar),
            figures[key],
            again.get(key),
            nested.get(key),
            met(figures[key], sign, bar),
        )
        for key, (told, sign, bar) in BARS.items()
    ]
    columns = ["bar", "at", "as recorded", "12 cells turned", "settings left out", "met"]
    print(text_table(pl.DataFrame(rows, schema=columns, orient="row", strict=False), rows=40, digits=3))
    pools = [
        (one.pool, one.rate.size, float(one.errors.mean()), one.mean_error, one.mean_held, float(one.held.mean()))
        for one in judged
    ]
    columns = ["pool", "items", "item error", "error of the mean", "mean held", "items held"]
    print(text_table(pl.DataFrame(pools, schema=columns, orient="row"), rows=40, digits=3))
    print(text_table(persons, rows=20, digits=3))
    held = ", ".join(f"{one.pool} {one.held.mean():.2f} of {one.rate.size}" for one in far)
    print(f"low-income people left out: {held}")
    left = ", ".join(f"{name} {error:.3f} ({held:.2f})" for name, (error, held) in pupils.items())
    print(f"pupils left out by country or programme, item error (intervals that hold): {left}")
    print(f"correlation of the errors of two runs: {correlation_of_runs():.2f} (used: {RUNS})")
    before, after = measure_bases()
    print(
        f"bases of the open pool, mean log width of intervals: {before[0]:.3f} as asked, {after[0]:.3f} as a baseline"
    )
    print(f"rank correlation with measured success, pools left out: {before[1]:.3f} as asked, {after[1]:.3f} corrected")
    measured.record("baseline.bases_width", f"{after[0]:.2f}")
    measured.record("baseline.bases_skill", f"{after[1]:.2f}")
    print("12 cells turned: invented words, whose estimates and rates speak of opposite answers, read alike")
    print("settings left out: the other pools choose the usual spreads and the groups of effects, too")
    record(figures, again, nested)
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


def record(figures: dict[str, float], again: dict[str, float], nested: dict[str, float]) -> None:
    """Record the figures that the documentation states."""
    for key in ("item_error", "item_error_tests", "mean_error", "item_width"):
        measured.record(f"baseline.{key}", f"{figures[key]:.3f}")
    for key in ("anchors_5", "anchors_10"):
        measured.record(f"baseline.{key}", f"{figures[key]:.4f}")
    measured.record("baseline.mean_held", f"{figures['mean_held']:.0%}")
    for key in ("item_held", "low_income_held"):
        measured.record(f"baseline.{key}", f"{figures[key]:.1%}")
    measured.record("baseline.item_error_turned", f"{again['item_error']:.3f}")
    measured.record("baseline.least_held_turned", f"{again['least_held']:.0%}")
    for key in ("item_error", "mean_error"):
        measured.record(f"baseline.{key}_nested", f"{nested[key]:.3f}")
    measured.record("baseline.item_held_nested", f"{nested['item_held']:.1%}")
    measured.record("baseline.pupils_error", f"{figures['pupils_error']:.3f}")
    measured.record("baseline.pupils_held", f"{figures['pupils_held']:.0%}")
    for key in ("persons_median", "persons_top_10"):
        measured.record(f"baseline.{key}", f"{figures[key]:.3f}")


if __name__ == "__main__":
    run(main)
