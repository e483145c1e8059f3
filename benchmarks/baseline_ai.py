"""Check baselines on what they are for: AI benchmarks whose human means were published, each left out in turn.

Run: python -m benchmarks.baseline --ai
A language model remembers these means, so agreement proves little. They stay out of the correction, and teach traits of
raters only: a majority, a qualification, aids, experts, people who were not screened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from benchmarks import development_data, measured
from benchmarks.baseline_pools import kinds_of
from mensura.baseline.estimator import PooledEstimates, PoolEstimate, estimate_pool, pool_estimates
from mensura.baseline.kinds import PeopleKind, kind_of_format
from mensura.baseline.recordings import RATING, TRAIT, Learned
from mensura.core.arrays import Floats, logit
from mensura.core.frames import text_table

USUAL_TRAIT = 0.35
"""Usual effect of a trait in logits: as large as that of a kind of people."""
UNTAUGHT = 0.5
"""Effect of a trait that no benchmark taught."""
WORSE, WIDEST = 0.005, 0.40
"""Bars: error beyond that of the raw estimates, and mean width of the intervals."""
_SPREADS = np.linspace(0.05, 0.8, 31)
_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class AiBenchmark:
    """One benchmark or task: its estimates, its people, its published mean, and the mean of the raw estimates."""

    name: str
    pooled: PooledEstimates
    kind: PeopleKind
    levels: dict[str, list[str]]
    truth: float
    raw: float

    def estimate(self, learned: Learned, *, traits: bool = True) -> PoolEstimate:
        """Return the estimate as ``mensura baseline`` makes it."""
        named = self.kind.traits if traits else ()
        return estimate_pool(self.pooled, self.levels, self.kind.distance, learned, 0.0, named)

    def means(self, learned: Learned, *, traits: bool = True) -> Floats:
        """Return draws of the mean."""
        drawn = self.estimate(learned, traits=traits).draws(_DRAWS, np.random.default_rng(1))
        return np.asarray(drawn.mean(axis=1))


def read_benchmarks() -> tuple[list[AiBenchmark], list[AiBenchmark]]:
    """Return the benchmarks (several tasks of one are one), and all tasks one by one."""
    folder = development_data("items", "ai_benchmarks")
    table = pl.read_csv(folder / "zero_shot.csv", infer_schema_length=None)
    truth = pl.read_csv(folder / "truth.csv")
    whole = truth.group_by("benchmark", maintain_order=True).agg(pl.col("truth").mean())
    benchmarks = [_read(table.filter(benchmark=name), name, mean) for name, mean in whole.iter_rows()]
    tasks = []
    for name, part, mean, _ in truth.iter_rows():
        rows = table.filter(benchmark=name, part=part)
        tasks.append(_read(rows if rows.height else table.filter(benchmark=name), f"{name}: {part}", mean))
    return benchmarks, tasks


def _read(rows: pl.DataFrame, name: str, truth: float) -> AiBenchmark:
    ids = [f"i{place}" for place in range(rows.height)]
    estimates = rows.select(item=pl.Series(ids), rate="estimate", low="low", high="high", model=pl.lit("claude"))
    kind = kinds_of(rows["people"][0])
    levels = {
        "people": [kind.kind] * rows.height,
        "time": ["timed" if kind.timed else "untimed"] * rows.height,
        "report": ["tested"] * rows.height,
        "domain": [""] * rows.height,
        "format": [kind_of_format(0 if options is None else options) for options in rows["options"]],
    }
    pooled = pool_estimates(estimates, usual_spread=1.0)
    return AiBenchmark(name, pooled, kind, levels, truth, float(rows["estimate"].mean()))


def learn_raters(base: Learned, benchmarks: list[AiBenchmark]) -> Learned:
    """Add the effects of traits to what the human pools taught; that stays as it is.

    The gap of each benchmark from the estimate without traits, in logits of the mean, is a sum of its traits' effects,
    of its own error, and of what raters differ in beyond that. We chose the traits after we had seen these benchmarks.
    So this spread is the likeliest one of a fit that does not tell the traits apart.
    """
    gaps, noise = _gaps(base, benchmarks)
    names = sorted({trait for one in benchmarks for trait in one.kind.traits})
    columns = np.array([[float(name in one.kind.traits) for name in names] for one in benchmarks])
    with_traits = np.array([float(bool(one.kind.traits)) for one in benchmarks])

    def fit(spread: float) -> float:
        whole = np.diag(noise + with_traits * spread**2) + USUAL_TRAIT**2 * np.outer(with_traits, with_traits)
        usual = -0.5 * (np.log(spread / USUAL_TRAIT) / 0.5) ** 2
        return usual - 0.5 * float(np.linalg.slogdet(whole)[1] + gaps @ np.linalg.solve(whole, gaps))

    spread = float(max(_SPREADS, key=fit))
    error = noise + with_traits * spread**2
    precision = columns.T @ (columns / error[:, None]) + np.eye(len(names)) / USUAL_TRAIT**2
    effects = np.linalg.solve(precision, columns.T @ (gaps / error))
    size = base.mean.size
    joint = np.zeros((size + len(names),) * 2)
    joint[:size, :size], joint[size:, size:] = base.covariance, np.linalg.inv(precision)
    return replace(
        base,
        names=(*base.names, *(f"{TRAIT}:{name}" for name in names)),
        mean=np.concatenate([base.mean, effects]),
        covariance=joint,
        spreads={**base.spreads, RATING: spread, TRAIT: UNTAUGHT},
    )


def _gaps(base: Learned, benchmarks: list[AiBenchmark]) -> tuple[Floats, Floats]:
    """Return the gap of each benchmark from its estimate without traits, in logits of the mean, and its variance."""
    drawn = [logit(one.means(base, traits=False)) for one in benchmarks]
    truths = logit(np.array([one.truth for one in benchmarks]))
    return truths - np.array([np.median(means) for means in drawn]), np.array([means.var() for means in drawn])


def leave_out(base: Learned, benchmarks: list[AiBenchmark], tasks: list[AiBenchmark]) -> pl.DataFrame:
    """Return each benchmark or task with its estimate, learned without the benchmark, and its raw estimate."""
    rows = []
    taught = {one.name: learn_raters(base, [other for other in benchmarks if other is not one]) for one in benchmarks}
    for one in tasks:
        means = one.means(taught[one.name.split(": ")[0]])
        low, mid, high = np.quantile(means, [0.05, 0.5, 0.95])
        error, raw = abs(mid - one.truth), abs(one.raw - one.truth)
        held = bool(low <= one.truth <= high)
        rows.append((one.name, one.kind.read, one.truth, one.raw, mid, low, high, raw, error, held))
    columns = ["benchmark", "people", "published", "raw", "estimate", "low", "high", "raw_error", "error", "held"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def report_ai(base: Learned) -> dict[str, float]:
    """Print both tables, and each bar with its figure; return and record the figures."""
    benchmarks, tasks = read_benchmarks()
    whole, split = leave_out(base, benchmarks, benchmarks), leave_out(base, benchmarks, tasks)
    print(text_table(whole, rows=40, digits=3))
    print(text_table(split.drop("people"), rows=40, digits=3))
    figures, parts = summarise_ai(whole), summarise_ai(split)
    most = figures["ai_raw_error"] + WORSE
    bars = [
        ("error of the mean", f"at most {most:.3f}", figures["ai_error"], figures["ai_error"] <= most),
        ("90% intervals hold", "0.85 to 0.95", figures["ai_held"], 0.85 <= figures["ai_held"] <= 0.95),
        ("mean width", "at most 0.40", figures["ai_width"], figures["ai_width"] <= WIDEST),
    ]
    print(text_table(pl.DataFrame(bars, schema=["13 benchmarks", "bar", "figure", "met"], orient="row"), digits=3))
    print(
        f"24 tasks, without a bar: error {parts['ai_error']:.3f}, raw {parts['ai_raw_error']:.3f}, "
        f"hold {parts['ai_held']:.2f} at a width of {parts['ai_width']:.2f}"
    )
    for name in ("ai_raw_error", "ai_error", "ai_width"):
        measured.record(f"baseline.{name}", f"{figures[name]:.3f}")
    measured.record("baseline.ai_held", f"{whole['held'].sum()} of {whole.height}")
    measured.record("baseline.ai_task_error", f"{parts['ai_error']:.3f}")
    measured.record("baseline.ai_task_held", f"{split['held'].sum()} of {split.height}")
    return figures


def summarise_ai(table: pl.DataFrame) -> dict[str, float]:
    """Return the figures of a table of :func:`leave_out`."""
    means = table.select(
        "raw_error", "error", held=pl.col("held").cast(pl.Float64), width=pl.col("high") - pl.col("low")
    ).mean()
    return {f"ai_{name}": float(value) for name, value in means.row(0, named=True).items()}
