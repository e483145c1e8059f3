"""Fit horizons to runs and times, and the result: tables and curves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice, counted, listed_names
from mensura.core.results import Result
from mensura.horizon.design import make_design
from mensura.horizon.fitting import EffectSpreads, Mode, fit_mode
from mensura.horizon.horizons import DRAWS, curve_table, draw_unknowns, part_table, people_curve, table_of
from mensura.horizon.lengths import fit_lengths
from mensura.horizon.metr import PENALTY, fit_metr
from mensura.horizon.reading import ALL, HorizonData, read_data
from mensura.intake.names import is_people

OWN, METR = "mensura", "metr"
METHODS = (OWN, METR)
MOST_UNKNOWNS = 900
"""Unknowns of subjects that are fitted together; more are fitted in groups, with the spreads of the first group."""
COLUMNS = ("subject", "suite", "p50", "p50_low", "p50_high", "p80", "p80_low", "p80_high", "tasks", "runs", "status")


@dataclass(frozen=True, eq=False, repr=False)
class HorizonFit(Result):
    """Horizons with 90% intervals.

    ``horizons``: one row per subject over all suites and per suite; an empty end is open. ``tasks``: the typical
    minutes of each task. ``curves``: success by length, of subjects and of people. ``parts``: shares of the variance of
    p50. ``kinds``: bias and error of each kind of times, in doublings. ``notes``: rows that take no part.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("horizons", "tasks", "curves", "parts", "kinds")
    DIGITS: ClassVar[int] = 1

    method: str
    data: HorizonData
    horizons: pl.DataFrame
    tasks: pl.DataFrame
    curves: pl.DataFrame
    parts: pl.DataFrame
    kinds: pl.DataFrame
    notes: tuple[str, ...]
    settings: Mapping[str, object]
    modes: tuple[Mode, ...] = ()
    draws: tuple[Floats, ...] = field(default=(), repr=False)

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        runs = self.data.runs
        return (
            f"horizons ({self.method}): {counted(runs['subject'].n_unique(), 'subject')}, "
            f"{counted(self.tasks.height, 'task')} in {counted(runs['suite'].n_unique(), 'suite')}, "
            f"{runs.height:,} outcomes; minutes with 90% intervals"
        )

    @property
    def shown(self) -> pl.DataFrame:
        """Horizons over all suites, longest first."""
        shown = self.horizons.filter(pl.col("suite") == ALL).drop("suite")
        return shown.sort(pl.coalesce("p50", "p50_low", pl.lit(0.0)), "subject", descending=[True, False])


@check_arguments
def fit_horizons(
    runs: Any,
    times: Any = None,
    *,
    method: str = OWN,
    score: str | None = None,
    weights: str | None = None,
    penalty: float | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> HorizonFit:
    """Fit the length of task at which each subject succeeds half and four fifths of the time.

    Parameters
    ----------
    runs : table or path
        subject, task, score (0 to 1), and suite, trials where known; or METR's runs, or evaluation logs.
    times : table, path or list of them
        task, minutes, and suite, how, people, low, high, person or estimator where known. Left out where runs have
        human_minutes.
    method : {"mensura", "metr"}
        Mensura's fit, which counts the errors of times, tasks and suites; or the published regression.
    score : str, optional
        The column of the score, where several could be it.
    weights : {"invsqrt", "equal"}, optional
        Of the published method: by the square root of the tasks of a family, or equal for all tasks.
    penalty : float, optional
        Of the published method: on the squared slope.
    draws : int
        Draws behind the intervals.
    seed : int
        Seed of the draws.

    Returns
    -------
    HorizonFit
        Horizons, times, curves and the shares of the uncertainty.

    Raises
    ------
    MensuraError
        If a column is missing, times are not above 0 or look like another unit, or runs and times do not match.

    Examples
    --------
    >>> import mensura
    >>> tasks = [f"t{i}" for i in range(12)]
    >>> times = {"task": tasks, "minutes": [2.0**i for i in range(12)]}
    >>> runs = {"subject": ["a"] * 12, "task": tasks, "score": [1.0] * 6 + [0.0] * 6}
    >>> fit = mensura.fit_horizons(runs, times)
    >>> 16 < fit.shown["p50"][0] < 128
    True

    """
    check_choice("method", method, METHODS)
    data = read_data(runs, times, score=score)
    settings = {"method": method, "seed": seed, "draws": draws}
    if method == METR:
        weights, penalty = weights or "invsqrt", PENALTY if penalty is None else penalty
        return _published(data, settings | {"weights": weights, "penalty": penalty}, weights, penalty, draws, seed)
    for name, value in (("weights", weights), ("penalty", penalty)):
        if value is not None:
            raise MensuraError(f"{name}={value}: expected only with method={METR!r}; leave it out")
    persons = sorted(filter(is_people, data.runs["subject"].unique()))
    notes = list(data.notes)
    if persons:
        notes.append(f"left out of the horizons, shown as people: {listed_names(persons)}")
    models = data.runs.filter(~pl.col("subject").is_in(persons))
    if not models.height:
        raise MensuraError("runs: the only subjects are people; expected runs of models. Add them")
    rng = np.random.default_rng(seed)
    modes: list[Mode] = []
    thetas: list[Floats] = []
    for part in _components(replace(data, runs=models)):
        spreads: EffectSpreads | None = None
        subjects = sorted(part.runs["subject"].unique().to_list())
        each = 2 + part.runs["suite"].n_unique()
        groups = -(-len(subjects) * each // MOST_UNKNOWNS)
        for first in range(groups):
            design = make_design(part, subjects[first::groups])
            lengths = modes[-1].lengths if first else fit_lengths(part.times, design.tasks.select("suite", "task"))
            modes.append(fit_mode(design, lengths, spreads))
            spreads = modes[-1].spreads
            thetas.append(draw_unknowns(modes[-1], rng, draws))
    if not all(mode.converged for mode in modes):
        notes.append("the fit stopped before it converged; intervals may be too narrow")
    fitted = list(zip(modes, thetas, strict=True))
    table = pl.concat([table_of(mode, data.times, theta) for mode, theta in fitted], how="vertical_relaxed")
    return HorizonFit(
        method,
        replace(data, runs=models),
        table.select(COLUMNS).sort("suite", "subject"),
        _tasks(modes, data.times),
        pl.concat([*(curve_table(mode, theta) for mode, theta in fitted), people_curve(data, persons)]),
        pl.concat([part_table(mode) for mode in modes]).sort("subject"),
        _kinds(modes),
        tuple(notes),
        settings,
        tuple(modes),
        tuple(thetas),
    )


def _published(
    data: HorizonData, settings: dict[str, object], weights: str, penalty: float, draws: int, seed: int
) -> HorizonFit:
    """Return the published method's horizons in the same tables; each time counts as exact."""
    table = fit_metr(data, weights=weights, penalty=penalty, draws=min(draws, 200), seed=seed)
    notes = [*data.notes, "published method: times count as exact, and a subject that solves nothing has horizon 0"]
    bound = pl.when(pl.col("slope") >= 0).then(pl.lit("cannot be told")).otherwise(pl.lit("as published"))
    horizons = table.with_columns(suite=pl.lit(ALL), status=bound).select(*COLUMNS, "intercept", "slope")
    empty, unknown = pl.DataFrame(), pl.lit(None, pl.Float64)
    tasks = data.times.select("suite", "task", "minutes", low=unknown, high=unknown, how="how")
    return HorizonFit(METR, data, horizons, tasks, empty, empty, empty, tuple(notes), settings)


def _components(data: HorizonData) -> list[HorizonData]:
    """Split suites that share no subject: they say nothing about each other."""
    label = {suite: suite for suite in data.runs["suite"].unique().to_list()}
    for _, part in data.runs.select("subject", "suite").unique().group_by("subject"):
        linked = {label[suite] for suite in part["suite"]}
        first = min(linked)
        label = {suite: first if group in linked else group for suite, group in label.items()}
    parts = []
    for group in sorted(set(label.values())):
        suites = [suite for suite, other in label.items() if other == group]
        inside = pl.col("suite").is_in(suites)
        parts.append(HorizonData(data.runs.filter(inside), data.times.filter(inside), data.attempts, ()))
    return parts


def _tasks(modes: list[Mode], times: pl.DataFrame) -> pl.DataFrame:
    """Return the typical minutes of each task with 90% intervals, and how its best time was found."""
    unique = {id(mode.lengths): mode.lengths for mode in modes}.values()
    parts = [lengths.intervals("low", "high") for lengths in unique]
    order = pl.col("kind").replace_strict({"measured": 0, "at least": 1}, default=2, return_dtype=pl.Int32)
    best = times.sort(order, maintain_order=True).unique(["suite", "task"], keep="first", maintain_order=True)
    return (
        pl.concat(parts)
        .join(best.select("suite", "task", "how"), on=["suite", "task"], how="left")
        .sort("suite", "task")
    )


def _kinds(modes: list[Mode]) -> pl.DataFrame:
    """Return bias and error of each kind of times; persons first."""
    parts = []
    for lengths in {id(mode.lengths): mode.lengths for mode in modes}.values():
        person = pl.DataFrame([("measured", 0.0, 0.0, 0.0, lengths.person)], schema=lengths.kinds.schema, orient="row")
        parts.append(pl.concat([person, lengths.kinds]).with_columns(suites=pl.lit(", ".join(lengths.suites))))
    return pl.concat(parts)
