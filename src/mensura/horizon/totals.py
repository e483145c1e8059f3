"""Benchmarks without item results: lengths of their tasks and one total score give a horizon with a wide interval."""

from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import expit
from mensura.core.errors import MensuraError
from mensura.horizon.kinds import MEASURED
from mensura.horizon.lengths import ANY_KIND, KINDS
from mensura.horizon.reading import SCORE_NAMES, TIME_NAMES, named_columns, read_numbers
from mensura.intake.tables import as_frame

DRAWS = 400
SLOPE, SLOPE_SPREAD = 0.6, 0.45
"""Logits per doubling over tasks of one length, and the spread of its log: from 0.3 to 1.2."""
_GRID = np.arange(-20.0, 30.0, 0.25)
"""Lengths at which half of the tasks may be solved, in doublings of a minute."""


def fit_totals(scores: Any, lengths: Any, *, seed: int = 0) -> pl.DataFrame:
    """Find the horizons at which lengths of tasks give the total scores.

    Parameters
    ----------
    scores : table or path
        subject, benchmark, percent (or score from 0 to 1), and part where a benchmark has parts.
    lengths : table or path
        benchmark, minutes, and part, how, chance where known.
    seed : int
        Seed of the draws.

    Returns
    -------
    DataFrame
        subject, suite, p50, p80 with 90% intervals, tasks, runs and status.

    Raises
    ------
    MensuraError
        If a column is missing or no benchmark is in both tables.

    Examples
    --------
    >>> from mensura.horizon import fit_totals
    >>> lengths = {"benchmark": ["b"] * 8, "minutes": [1, 2, 4, 8, 16, 32, 64, 128]}
    >>> table = fit_totals({"subject": ["m"], "benchmark": ["b"], "percent": [50.0]}, lengths)
    >>> bool(table["p50_low"][0] < 11 < table["p50_high"][0])
    True

    """
    table = as_frame(scores, name="scores")
    chosen = named_columns(table, SCORE_NAMES, ("subject", "suite", "score"), "scores", {})
    frame = read_numbers(table, chosen, ("score",), "scores").drop_nulls("score")
    frame = frame if chosen["part"] else frame.with_columns(part=pl.lit("all"))
    share = frame["score"] / (100 if frame["score"].max() > 1 else 1)  # type: ignore[operator]
    if not share.is_between(0, 1).all():
        raise MensuraError("scores: a score lies outside 0 to 100 percent; expected shares or percentages. Correct it")
    frame = frame.with_columns(score=share)
    times = as_frame(lengths, name="lengths")
    places = named_columns(times, {**TIME_NAMES, "part": ("part",)}, ("suite", "minutes"), "lengths", {})
    tasks = read_numbers(times, places, ("minutes", "chance"), "lengths").filter(pl.col("minutes") > 0)
    rng, rows = np.random.default_rng(seed), []
    for (suite, part), own in frame.group_by("suite", "part", maintain_order=True):
        some = tasks.filter(pl.col("suite") == suite)
        if "part" in tasks.columns and part in some["part"].to_list():
            some = some.filter(pl.col("part") == part)
        if some.height:
            rows += _of_benchmark(own, some, f"{suite}" if part == "all" else f"{suite} ({part})", rng)
    if not rows:
        raise MensuraError("scores and lengths share no benchmark; expected the same names in both. Correct them")
    return pl.DataFrame(rows, infer_schema_length=None)


def _of_benchmark(own: pl.DataFrame, tasks: pl.DataFrame, name: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return the rows of one benchmark: slope, bias of times and the sample of tasks are drawn."""
    x, score = np.log2(tasks["minutes"].to_numpy()), own["score"].to_numpy()
    judged = "how" in tasks.columns and not tasks["how"].str.contains(f"{MEASURED}|baseline").all()
    kind = KINDS.get("expert estimate", ANY_KIND)
    chance = tasks["chance"].fill_null(0.0).to_numpy().astype(float) if "chance" in tasks.columns else np.zeros(x.size)
    slope = SLOPE * np.exp(SLOPE_SPREAD * rng.standard_normal(DRAWS))
    bias = rng.normal(kind.bias, np.hypot(kind.doubt, kind.shared), DRAWS) if judged else np.zeros(DRAWS)
    noise = np.sqrt(np.maximum(score * (1 - score), 0.25 / x.size) / x.size)
    target = score + noise * rng.standard_normal((DRAWS, score.size))
    middle = np.empty_like(target)
    for place, steep in enumerate(slope):
        rate = (chance + (1 - chance) * expit(steep * (_GRID[:, None] - x))).mean(1)
        middle[place] = np.interp(target[place], rate, _GRID)
    p50 = middle - bias[:, None]
    rows = []
    for place, subject in enumerate(own["subject"]):
        row: dict[str, Any] = {"subject": subject, "suite": name}
        for level, shift in (("p50", 0.0), ("p80", np.log(4))):
            crossing = p50[:, place] - shift / slope
            ends = [float(end) for end in np.quantile(crossing, (0.5, 0.05, 0.95))]
            inside = [x.min() - 3 <= end <= x.max() + 3 for end in ends]
            values = [float(np.exp2(end)) if fits else None for end, fits in zip(ends, inside, strict=True)]
            row |= dict(zip((level, f"{level}_low", f"{level}_high"), values, strict=True))
        row |= {"tasks": x.size, "runs": x.size}
        rows.append(row | {"status": status_of(row, not judged)})
    return rows


def status_of(row: dict[str, Any], measured: bool) -> str:
    """Return how a horizon at half is known; an empty end is open."""
    if row["p50_low"] is None and row["p50_high"] is None:
        return "cannot be told"
    if row["p50_high"] is None:
        return "at least"
    if row["p50_low"] is None:
        return "at most"
    return "measured times" if measured else "judged times"


def check_totals(columns: list[str]) -> bool:
    """Return whether a table has total scores of benchmarks and no tasks."""
    names = {name.lower() for name in columns}
    return "benchmark" in names and not names & {"task", "task_id", "item", "item_id", "sample_id"}
