"""Validation: hide the reference, predict it from each focal group, compare.

Three situations, never mixed, because they know different things: see
:mod:`~mensura.extrapolation.scoring`. Methods get tasks, which do not hold what is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.extrapolation.breakdown import (
    by_distance,
    cluster_countries,
    comparison,
    differential_items,
    distance_slopes,
)
from mensura.extrapolation.cases import Case, cases_of, pairs_of
from mensura.extrapolation.descriptions import read_description
from mensura.extrapolation.extrapolate import (
    DESCRIBED,
    LINKED,
    METHODS,
    make_method,
    method_from,
    methods_of,
    settings_of,
)
from mensura.extrapolation.protocol import LEVEL, Extrapolator, Prediction
from mensura.extrapolation.scoring import (
    FEWEST_LEFT,
    FOLDS,
    METRICS,
    ScoredCase,
    Trial,
    interval,
    mean_correlation,
    pearson,
    shift_error,
    spearman,
    trials_of,
)
from mensura.people import ItemPool

SUMMARY = ("covariate", "group", "n_items", "mae", "rmse", "pearson", "spearman", "coverage")
LINKS, DRAWS = 3, 200
"""Linking items and their random draws in the linked situation, unless stated."""
EVERYBODY = "(all groups)"


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Result):
    """The result of one validation run.

    ``summary``: one row per focal group (covariate, group, n_items, mae, rmse, pearson, spearman, coverage).
    ``overall``: one row per covariate and one for all groups, with bias, correlations within groups and pooled, and
    the MAE of identity and of the undamped shift on the same items. ``intervals``: bootstrap intervals of the
    metrics over items. ``items``: error per item over groups. ``predictions``: every predicted rate.
    ``comparison``: the paper's language models beside ours, in the described situation. ``pairs``: country to
    country; ``clusters``: countries by alignment; ``dif``: items that behave differently in a group. ``distance``:
    error of each country, predicted from every other one, against its cultural distance; ``distance_slopes``: change
    of error and bias per step of it. ``level``: probability of the method's intervals.
    """

    TABLES: ClassVar[tuple[str, ...]] = (
        "summary",
        "overall",
        "intervals",
        "items",
        "predictions",
        "pairs",
        "clusters",
        "dif",
        "comparison",
        "distance",
        "distance_slopes",
    )

    pool: str
    situation: str
    method: str
    summary: pl.DataFrame
    overall: pl.DataFrame
    intervals: pl.DataFrame
    items: pl.DataFrame
    predictions: pl.DataFrame
    pairs: pl.DataFrame
    clusters: pl.DataFrame
    dif: pl.DataFrame
    comparison: pl.DataFrame
    distance: pl.DataFrame
    distance_slopes: pl.DataFrame
    level: float = LEVEL
    settings: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Pool, situation, method and how many groups were predicted from."""
        return f"{self.pool}, {self.situation}, {self.method}: {self.summary.height} focal groups"

    @property
    def shown(self) -> pl.DataFrame:
        """Errors and coverage per covariate."""
        return self.overall.select("covariate", "groups", "mae", "mae_identity", "pearson_within", "coverage")

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that have rows, by name; ``summary`` always."""
        return {name: table for name, table in super().tables().items() if table.height or name == "summary"}


@check_arguments
def validate(
    pool: ItemPool | str | Path,
    situation: str = DESCRIBED,
    *,
    links: int | None = None,
    method: str | Extrapolator | None = None,
    description: str = "",
    draws: int | None = None,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
    **settings: object,
) -> Validation:
    """Predict a pool's whole sample from each of its groups, in one of three situations, and score it.

    Parameters
    ----------
    pool : ItemPool or path
        The pool, with a group ``all``.
    situation : str
        What is known: ``described``, ``linked`` or ``slices``.
    links : int, optional
        Linking items (linked only); 3 when not given.
    method : str or Extrapolator, optional
        A method that fits the situation; the best one of the situation when not given.
    description : str
        What the pool is, in words; when empty, what its folder says, else its name.
    draws : int, optional
        Random draws of linking items (linked only); 200 when not given.
    seed : int
        Of draws, folds and the bootstrap.
    advance : callable, optional
        Called per group.
    **settings
        Settings of a method given by name.

    Returns
    -------
    Validation
        Errors and coverage per group, covariate, item and pair of countries.

    Raises
    ------
    MensuraError
        If the method does not fit the situation, an argument is not used there, or no group has enough items.

    Examples
    --------
    >>> import mensura
    >>> from datetime import date
    >>> import polars as pl
    >>> names = [f"q{at}" for at in range(6)]
    >>> right = {name: [int(person % 7 > at) for person in range(80)] for at, name in enumerate(names)}
    >>> persons = pl.DataFrame({"person": range(80), "country": ["KEN", "SWE"] * 40})
    >>> items = pl.DataFrame({"item": names, "domain": ["mathematics"] * 6})
    >>> answers = persons.select("person").with_columns(pl.DataFrame(right))
    >>> pool = mensura.ItemPool.from_answers("school", items, answers, persons, by=["country"])
    >>> checked = mensura.validate(pool)
    >>> checked.shown.columns[:2]
    ['covariate', 'groups']

    """
    for name, value in (("links", links), ("draws", draws)):
        if value is not None and situation != LINKED:
            raise MensuraError(f"{name}: situation {situation!r} does not use it; leave it out, or choose {LINKED!r}")
        if value is not None and value < 1:
            raise MensuraError(f"{name} must be 1 or more, got {value}")
    links, draws = links or LINKS, draws or DRAWS
    chosen = _method_for(method, situation, settings)
    source = ItemPool.of(pool)
    if not description:
        description = source.name if isinstance(pool, ItemPool) else read_description(pool)
    cases = cases_of(source, description)
    rng = np.random.default_rng(seed)
    trials = trials_of(situation, cases, links=links, draws=draws, rng=rng)
    run = _run(chosen, trials, advance)
    left_out = [
        f"{case.group}: {len(case.items)} items are too few for {links} links; left out"
        for case, trial in zip(cases, trials, strict=True)
        if trial is None
    ]
    if not run.scored and run.warnings:
        raise MensuraError(
            f"pool {source.name!r}: nothing could be predicted ({run.warnings[0]}); choose another method or situation"
        )
    if not run.scored:
        raise MensuraError(
            f"pool {source.name!r}: no group has {links + FEWEST_LEFT} items or more for {links} links; choose fewer "
            "links"
        )
    summary = _summary(run.scored)
    overall = _overall(run, summary, situation)
    predictions = pl.concat([found.table() for found in run.scored])
    alone = chosen if situation == DESCRIBED and not run.calls else make_method(DESCRIBED)
    known_as = description if situation == DESCRIBED else ""
    pairs = _pairs(pairs_of(source, cases, description), alone)
    countries = by_distance(pairs)
    used = {LINKED: {"links": links, "draws": draws}, DESCRIBED: {}}.get(situation, {"folds": FOLDS})
    stated = {**used, "seed": seed, "description": description}
    return Validation(
        pool=source.name,
        situation=situation,
        method=chosen.name,
        summary=summary.select(SUMMARY),
        overall=overall,
        intervals=_intervals(run.scored, summary, rng),
        items=_per_item(predictions),
        predictions=predictions,
        pairs=pairs,
        clusters=cluster_countries(cases, summary),
        dif=differential_items(cases),
        comparison=comparison(known_as, overall.row(-1, named=True), chosen.name, predictions.height),
        distance=countries,
        distance_slopes=distance_slopes(countries),
        level=chosen.level,
        settings={**stated, "method": settings_of(chosen), **({"calls": run.calls} if run.calls else {})},
        warnings=tuple(dict.fromkeys([*source.warnings, *left_out, *run.warnings])),
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """The trials of a method that could be scored, with what it said of them."""

    trials: list[Trial]
    scored: list[ScoredCase]
    warnings: list[str]
    calls: int


def _method_for(method: str | Extrapolator | None, situation: str, settings: Mapping[str, object]) -> Extrapolator:
    """Return the method to validate; one that needs to know more than the situation gives is refused."""
    allowed = methods_of(situation)
    if isinstance(method, str) and method not in allowed:
        raise MensuraError(
            f"method {method!r} does not fit situation {situation!r}; expected {', '.join(allowed)}"
            + ("" if method in METHODS else ", or a method object")
        )
    return method_from(allowed[0] if method is None else method, settings)


def _run(method: Extrapolator, trials: Sequence[Trial | None], advance: Callable[[], object] | None) -> _Run:
    """Predict and score every trial; the method sees its tasks, never the truth."""
    run = _Run([], [], [], 0)
    calls = 0
    for trial in trials:
        if trial is not None:
            found = [method.predict(task) for task in trial.tasks]
            scored = ScoredCase.of(trial, found)
            if scored.answered:
                run.trials.append(trial)
                run.scored.append(scored)
            run.warnings.extend(f"{trial.case.group}: {text}" for part in found for text in part.warnings)
            calls += sum(_calls(part) for part in found)
        if advance is not None:
            advance()
    return replace(run, calls=calls)


def _summary(scored: Sequence[ScoredCase]) -> pl.DataFrame:
    rows = [
        {"covariate": s.case.covariate, "group": s.case.group, "n_items": len(s.case.items), **s.metrics()}
        for s in scored
    ]
    return pl.DataFrame(rows, infer_schema_length=None, nan_to_null=True)


def _overall(run: _Run, summary: pl.DataFrame, situation: str) -> pl.DataFrame:
    """Return the means per covariate and over all groups, plain methods beside, correlations of both kinds."""
    scored = run.scored
    plain = {"mae_identity": np.array([_identity_error(found) for found in scored])}
    if situation == LINKED:
        plain["mae_shift"] = np.array([shift_error(trial) for trial in run.trials])
    covariates = list(dict.fromkeys(s.case.covariate for s in scored))
    chosen = {c: [k for k, s in enumerate(scored) if s.case.covariate == c] for c in covariates}
    if len(covariates) > 1:
        chosen[EVERYBODY] = list(range(len(scored)))
    rows = []
    for covariate, places in chosen.items():
        group, mine = [scored[k] for k in places], summary[places]
        table = pl.concat([s.table() for s in group]).drop_nulls("rate")
        predicted, observed = table["rate"].to_numpy(), table["reference"].to_numpy()
        means = {name: float(mine[name].to_numpy().mean()) for name in ("mae", "rmse", "bias", "coverage")}
        rows.append(
            {
                "covariate": covariate,
                "groups": len(group),
                "n_items": len({item for s in group for item in s.case.items}),
                **means,
                "pearson_within": mean_correlation(mine["pearson"].drop_nulls().to_numpy()),
                "pearson_pooled": float(pearson(predicted, observed)),
                "spearman_within": mean_correlation(mine["spearman"].drop_nulls().to_numpy()),
                "spearman_pooled": float(spearman(predicted, observed)),
                **{name: float(values[places].mean()) for name, values in plain.items()},
            }
        )
    table = pl.DataFrame(rows)
    return table if "mae_shift" in plain else table.with_columns(mae_shift=pl.lit(None, pl.Float64))


def _identity_error(found: ScoredCase) -> float:
    """Return the mean absolute difference of focal and reference rates on the scored items, mean over the draws."""
    wrong = np.broadcast_to(np.abs(found.case.task.rate - found.case.truth), found.hidden.shape)
    return float(wrong[found.hidden].reshape(len(found.hidden), -1).mean(axis=1).mean())


def _score(method: Extrapolator, trial: Trial) -> ScoredCase:
    return ScoredCase.of(trial, [method.predict(task) for task in trial.tasks])


def _calls(prediction: Prediction) -> int:
    return 0 if prediction.calls is None else int(prediction.calls.sum())


def _intervals(scored: Sequence[ScoredCase], summary: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return 90% bootstrap intervals over items of each group's metrics."""
    rows = []
    for s, row in zip(scored, summary.iter_rows(named=True), strict=True):
        for name, values in s.resampled(rng).items():
            low, high = interval(values)
            where = {"covariate": row["covariate"], "group": row["group"], "metric": name}
            rows.append({**where, "value": row[name], "low": low, "high": high})
    return pl.DataFrame(rows)


def _per_item(predictions: pl.DataFrame) -> pl.DataFrame:
    """Return, per item, the error over all groups, largest first."""
    error = pl.col("rate") - pl.col("reference")
    table = (
        predictions.drop_nulls("rate")
        .group_by("item")
        .agg(groups=pl.len(), reference=pl.col("reference").first(), mae=error.abs().mean(), bias=error.mean())
    )
    return table.sort("mae", "item", descending=[True, False])


def _pairs(cases: Sequence[Case], method: Extrapolator) -> pl.DataFrame:
    """Return every country predicted from every other one, with identity beside."""
    rows = []
    for case in cases:
        trial = Trial(case, (case.task,), np.ones((1, case.task.size), dtype=np.bool_))
        scored = _score(method, trial)
        found = scored.metrics()
        rows.append(
            {
                "focal": case.group,
                "reference": case.task.reference.name,
                "n_items": case.task.size,
                **{name: found[name] for name in METRICS},
                "mae_identity": _identity_error(scored),
            }
        )
    return pl.DataFrame(rows)
