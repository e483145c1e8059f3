"""Response times as a second outcome: ln seconds = intensity of the item − speed of the subject + noise.

Noise is normal with a spread of its own for each item, and speed is normal with mean 0 in all groups (van der Linden
2006). Within a group, speed correlates with ability (van der Linden 2007), so answers and times together give both more
exactly. The EM algorithm finds the intensities, the spreads and the spread of speeds that make the times most likely.
With these, and with the curves of the fit, the correlation makes answers and times together most likely. Its interval
is symmetric in Fisher's z. Intervals of subjects are of their posteriors, and leave out errors of items.
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
from mensura.responses.result import ResponseFit, with_ends
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
    parts, mapped = [], parse_map(columns, FIELDS, "subject=pupil,item=task")
    for source in sources:
        table = read_answer_table(source, header=header)
        frame = pl.DataFrame() if table is None else table.frame
        found = find_columns(frame.columns, FIELDS, mapped, str(source))
        if found["subject"] is None or found["item"] is None:
            raise MensuraError(
                f"times: {source} has no row per answer; expected subject, item and {column}. Reshape it"
            )
        require_columns(frame, [column], name=str(source))
        parts.append(frame.select(subject=found["subject"], item=found["item"], seconds=column).cast(pl.String))
    return pl.concat(parts)


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
    seconds = pl.col("seconds").cast(pl.Float64, strict=False)
    long = frame.select(pl.col("subject", "item").cast(pl.String), logs=seconds.log()).filter(
        pl.col("logs").is_finite()
    )
    items, subjects = fit.items.select("item").unique(maintain_order=True), fit.subjects
    long = long.join(subjects.select("subject").with_row_index("row"), on="subject")
    long = long.join(items.with_row_index("column"), on="item").group_by("row", "column").agg(pl.col("logs").mean())
    kept, rows = np.unique(long["row"].to_numpy(), return_inverse=True)
    timed, columns = np.unique(long["column"].to_numpy(), return_inverse=True)
    if len(kept) < FEWEST or not float(np.ptp(long["logs"].to_numpy())) > 0.0:
        raise MensuraError(
            f"times: {len(kept)} subjects of the fit; expected {FEWEST} or more with unlike times. Give more answers"
        )
    logs = np.full((len(kept), len(timed)), np.nan)
    logs[rows, columns] = long["logs"].to_numpy()
    intensity, spread, sd, precision, raw_speed = _climb(logs)
    likelihoods = answer_likelihoods(fit, table, kept)
    assert isinstance(likelihoods, latent.AbilityLikelihoods)
    of_group = subjects[kept].join(fit.groups, on="group", maintain_order="left").select("mean", "sd").to_numpy()
    nodes = likelihoods.grid.nodes
    z = (nodes - of_group[:, :1]) / of_group[:, 1:]
    prior = likelihoods.values - 0.5 * z**2

    def heights(root: float) -> Floats:
        """Return the log density of answers and times at the nodes of ability."""
        correlation = np.tanh(root)
        variance = (sd**2 * (1.0 - correlation**2) + 1.0 / precision)[:, None]
        return np.asarray(
            prior - 0.5 * ((raw_speed[:, None] - correlation * sd * z) ** 2 / variance + np.log(variance))
        )

    def loss(root: float) -> float:
        return -float(special.logsumexp(heights(root), axis=1).sum())

    end = float(np.arctanh(_HIGHEST))
    best = float(optimize.minimize_scalar(loss, bounds=(-end, end), method="bounded").x)
    bend = (loss(best + _STEP) + loss(best - _STEP) - 2.0 * loss(best)) / _STEP**2
    reach = Z90 / np.sqrt(max(bend, 1e-9))
    correlation, low, high = np.tanh([best, best - reach, best + reach])
    weight = special.softmax(heights(best), axis=1)
    left = sd**2 * (1.0 - correlation**2)
    both = 1.0 / (1.0 / left + precision)
    at_node = both[:, None] * (correlation * sd * z / left + (raw_speed * precision)[:, None])
    speed, ability = np.sum(weight * at_node, axis=1), weight @ nodes
    se = np.sqrt(both + np.sum(weight * (at_node - speed[:, None]) ** 2, axis=1))
    n, own_n = ((~np.isnan(logs)).sum(axis=axis) for axis in (0, 1))
    of_items = items[timed].with_columns(intensity=intensity, se=np.sqrt((spread**2 + sd**2) / n))
    people = subjects[kept].select("subject").with_columns(speed=speed, se=se)
    of_ability = np.sqrt(np.maximum(weight @ nodes**2 - ability**2, 0.0))
    return TimeFit(
        with_ends(of_items, "intensity").with_columns(spread=spread, n=n),
        with_ends(people, "speed").with_columns(n=own_n, ability=ability, se_ability=of_ability),
        pl.DataFrame({"correlation": [correlation], "low": [low], "high": [high], "sd": [sd]}),
    )


def _climb(logs: Floats) -> tuple[Floats, Floats, float, Floats, Floats]:
    """Return intensities and spreads of items and the standard deviation of speeds; NaN: no time.

    Also, by subject, the precision of the times together and the speed that they alone give.
    """
    intensity, spread = np.nanmean(logs, axis=0), np.maximum(np.nanstd(logs, axis=0), _NARROWEST)
    sd = float(np.mean(spread))
    for _ in range(_ROUNDS):
        before = np.concatenate([intensity, spread, [sd]])
        precision = np.where(np.isnan(logs), 0.0, spread**-2.0).sum(axis=1)
        raw_speed = np.nansum((intensity - logs) / spread**2, axis=1) / precision
        variance = 1.0 / (sd**-2.0 + precision)
        speed = variance * precision * raw_speed
        intensity = np.nanmean(logs + speed[:, None], axis=0)
        square = (logs - intensity + speed[:, None]) ** 2 + variance[:, None]
        spread = np.maximum(np.sqrt(np.nanmean(square, axis=0)), _NARROWEST)
        sd = max(float(np.sqrt(np.mean(speed**2 + variance))), _NARROWEST)
        if np.max(np.abs(np.concatenate([intensity, spread, [sd]]) - before)) < _SAME:
            break
    return intensity, spread, sd, precision, raw_speed
