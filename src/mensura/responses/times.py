"""Response times as a second outcome: log seconds = intensity of the item − speed of the subject + noise.

Noise is normal with a spread of its own for each item, and speed is normal with mean 0 (van der Linden 2006). Within a
group, speed correlates with ability (van der Linden 2007): answers and times together give both more exactly. The
items keep their curves, and intensities are estimated by the EM algorithm, which is exact here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy import optimize, special

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.answers import FIELDS, read_answer_table
from mensura.intake.columns import find_columns, parse_map
from mensura.intake.tables import as_frame
from mensura.responses.irt import latent
from mensura.responses.regression import answer_likelihoods
from mensura.responses.result import ResponseFit
from mensura.responses.table import ResponseTable
from mensura.scale import Z90

FEWEST = 20
"""Subjects with times that a fit of times needs."""
_ROUNDS, _SAME, _STEP = 2000, 1e-9, 1e-3
_NARROWEST, _HIGHEST = 0.01, 0.995
"""Least standard deviation of log seconds, and highest correlation."""


@dataclass(frozen=True, eq=False, repr=False)
class TimeFit(Result):
    """Show how long items take, how fast subjects are, and how speed correlates with ability.

    Attributes
    ----------
    times
        item, intensity (mean of log seconds), low, high (90%), se, spread (standard deviation of log seconds at one
        speed), n.
    speeds
        subject, speed (log seconds saved on each item), low, high (90%), se, n, and ability with se_ability: estimates
        from answers and times together.
    speed
        One row: correlation of speed and ability within groups, low, high (90%), sd of speeds.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("times", "speeds", "speed")

    times: pl.DataFrame
    speeds: pl.DataFrame
    speed: pl.DataFrame

    @property
    def heading(self) -> str:
        """How speed and ability correlate."""
        row = self.speed.row(0, named=True)
        ends = f"{row['low']:.2f} to {row['high']:.2f}, 90%"
        return f"Response times (log seconds). Speed and ability correlate by {row['correlation']:.2f} ({ends})"


def read_times(sources: Sequence[Any], column: str, *, header: bool = True, columns: str | None = None) -> pl.DataFrame:
    """Return subject, item and seconds of long tables; ``column`` has the seconds of each answer."""
    parts = []
    for source in sources:
        table = read_answer_table(source, header=header)
        frame = pl.DataFrame() if table is None else table.frame
        found = find_columns(frame.columns, FIELDS, parse_map(columns, FIELDS, "subject=pupil,item=task"), str(source))
        who, item = found["subject"], found["item"]
        if who is None or item is None:
            raise MensuraError(
                f"times: {source} has no row per answer; expected subject, item and {column}. Reshape it"
            )
        require_columns(frame, [column], name=str(source))
        seconds = pl.col(column).cast(pl.Float64, strict=False).alias("seconds")
        parts.append(frame.select(pl.col(who).cast(pl.String).alias("subject"), pl.col(item).alias("item"), seconds))
    return pl.concat(part.cast({"item": pl.String}) for part in parts)


@check_arguments
def fit_times(fit: ResponseFit, table: ResponseTable | None, times: Any) -> TimeFit:
    """Fit response times beside the answers of a fit of one ability.

    Parameters
    ----------
    fit
        The fit, whose items are kept.
    table
        The responses that were fitted; None for a fit of :func:`mensura.responses.fit_categories`.
    times
        A table of subject, item and seconds. Several times of one answer are averaged. Times of 0 or less are left out.

    Returns
    -------
    TimeFit
        Times of items, speeds of subjects, and the correlation of speed and ability.

    Raises
    ------
    MensuraError
        If fewer than 20 subjects of the fit have times, or all times are alike.

    Examples
    --------
    >>> from mensura.responses import fit_responses, fit_times, read_responses
    >>> rows = [(f"p{k}", f"q{j}", int((k * 7 + j * 3) % 10 < 6), 5.0 + (k * 3 + j * 5) % 11)
    ...         for k in range(40) for j in range(5)]
    >>> names = ["subject", "item", "correct", "seconds"]
    >>> long = {name: list(column) for name, column in zip(names, zip(*rows))}
    >>> table = read_responses({name: long[name] for name in names[:3]})
    >>> fit_times(fit_responses(table), table, long).times["item"].to_list()
    ['q0', 'q1', 'q2', 'q3', 'q4']

    """
    frame = as_frame(times, name="times")
    require_columns(frame, ["subject", "item", "seconds"], name="times")
    items, subjects = fit.items.select("item").unique(maintain_order=True), fit.subjects
    long = frame.with_columns(pl.col("subject", "item").cast(pl.String)).filter(pl.col("seconds") > 0.0)
    long = long.filter(pl.col("seconds").is_finite()).join(items.with_row_index("at"), on="item")
    long = long.join(subjects.select("subject").with_row_index("row"), on="subject")
    cells = long.group_by("row", "at").agg(pl.col("seconds").log().mean()).sort("row", "at")
    kept = cells["row"].unique().sort().to_numpy()
    if len(kept) < FEWEST or not float(np.ptp(cells["seconds"].to_numpy())) > 0.0:
        raise MensuraError(f"times: {len(kept)} subjects of the fit; expected {FEWEST} or more with unlike times")
    logs = np.full((subjects.height, items.height), np.nan)
    logs[cells["row"].to_numpy(), cells["at"].to_numpy()] = cells["seconds"].to_numpy()
    logs = logs[kept]
    intensity, spread, sd = _climb(logs)
    precise = np.where(np.isnan(logs), 0.0, spread**-2.0)
    known = precise.sum(axis=1)
    lead = np.nansum((intensity - logs) * precise, axis=1) / known
    likelihoods = answer_likelihoods(fit, table, kept)
    assert isinstance(likelihoods, latent.AbilityLikelihoods)
    of_group = subjects[kept].join(fit.groups, on="group", maintain_order="left").select("mean", "sd").to_numpy()
    nodes = likelihoods.grid.nodes
    z = (nodes - of_group[:, :1]) / of_group[:, 1:]
    prior = likelihoods.values - 0.5 * z**2

    def heights(correlation: float) -> Floats:
        """Return the log density of answers and times, at the nodes of ability."""
        variance = (sd**2 * (1.0 - correlation**2) + 1.0 / known)[:, None]
        off = lead[:, None] - correlation * sd * z
        return np.asarray(prior - 0.5 * (off**2 / variance + np.log(variance)))

    def loss(root: float) -> float:
        return -float(special.logsumexp(heights(float(np.tanh(root))), axis=1).sum())

    end = float(np.arctanh(_HIGHEST))
    best = float(optimize.minimize_scalar(loss, bounds=(-end, end), method="bounded").x)
    bend = (loss(best + _STEP) + loss(best - _STEP) - 2.0 * loss(best)) / _STEP**2
    error = 1.0 / np.sqrt(max(bend, 1e-9))
    correlation, low, high = (float(np.tanh(best + sign * Z90 * error)) for sign in (0.0, -1.0, 1.0))
    weight = special.softmax(heights(correlation), axis=1)
    left = sd**2 * (1.0 - correlation**2)
    both = 1.0 / (1.0 / left + known)
    at_node = both[:, None] * (correlation * sd * z / left + (lead * known)[:, None])
    speed, ability = np.sum(weight * at_node, axis=1), weight @ nodes
    se = np.sqrt(both + np.sum(weight * (at_node - speed[:, None]) ** 2, axis=1))
    of_ability = np.sqrt(np.maximum(weight @ nodes**2 - ability**2, 0.0))
    n = (precise > 0.0).sum(axis=0)
    of_items = np.sqrt((spread**2 + sd**2) / np.maximum(n, 1))
    rows = items.with_columns(intensity=pl.Series(intensity), se=pl.Series(of_items), spread=pl.Series(spread), n=n)
    people = subjects.select("subject")[kept].with_columns(
        speed=speed, se=se, n=(precise > 0.0).sum(axis=1), ability=ability, se_ability=of_ability
    )
    whole = pl.DataFrame({"correlation": [correlation], "low": [low], "high": [high], "sd": [sd]})
    return TimeFit(_with_ends(rows.filter(n > 0), "intensity"), _with_ends(people, "speed"), whole)


def _with_ends(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table with 90% intervals behind its estimates."""
    low, high = pl.col(name) - Z90 * pl.col("se"), pl.col(name) + Z90 * pl.col("se")
    return table.select(pl.nth(0, 1), low.alias("low"), high.alias("high"), pl.nth(range(2, table.width)))


def _climb(logs: Floats) -> tuple[Floats, Floats, float]:
    """Return intensities and spreads of items and the standard deviation of speeds; NaN: no time."""
    there = ~np.isnan(logs)
    n = np.maximum(there.sum(axis=0), 1)
    x = np.where(there, logs, 0.0)
    intensity = x.sum(axis=0) / n
    spread = np.maximum(np.sqrt(np.sum(np.where(there, (x - intensity) ** 2, 0.0), axis=0) / n), _NARROWEST)
    sd = float(np.mean(spread))
    for _ in range(_ROUNDS):
        precise = np.where(there, spread**-2.0, 0.0)
        variance = 1.0 / (sd**-2.0 + precise.sum(axis=1))
        speed = variance * np.sum((intensity - x) * precise, axis=1)
        before = np.concatenate([intensity, spread, [sd]])
        intensity = np.sum(np.where(there, x + speed[:, None], 0.0), axis=0) / n
        square = (x - intensity + speed[:, None]) ** 2 + variance[:, None]
        spread = np.maximum(np.sqrt(np.sum(np.where(there, square, 0.0), axis=0) / n), _NARROWEST)
        sd = max(float(np.sqrt(np.mean(speed**2 + variance))), _NARROWEST)
        if np.max(np.abs(np.concatenate([intensity, spread, [sd]]) - before)) < _SAME:
            break
    return intensity, spread, sd
