"""Validation: hide the reference, predict it from each focal group, compare.

Three situations, never mixed, because they know different things: see
:mod:`~mensura.extrapolation.scoring`. Methods get tasks, which do not hold what is hidden.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import correlation, rank_correlation
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.extrapolation.breakdown import by_distance, differential_items, distance_slopes
from mensura.extrapolation.cases import Case, cases_of, pairs_of
from mensura.extrapolation.descriptions import read_description
from mensura.extrapolation.methods import DESCRIBED, LINKED, METHODS, make_method, method_from, methods_of, settings_of
from mensura.extrapolation.protocol import LEVEL, Extrapolator
from mensura.extrapolation.scoring import (
    FEWEST_LEFT,
    FOLDS,
    ScoredCase,
    Trial,
    mean_correlation,
    shift_error,
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
    the MAE of identity and of the undamped shift on the same items. ``items``: error per item over groups.
    ``predictions``: every predicted rate. ``pairs``: country to country; ``dif``: items that behave differently in a
    group. ``distance``: error of each country, predicted from every other one, against its cultural distance;
    ``distance_slopes``: change of error and bias per step of it. ``level``: probability of the method's intervals.
    """

    TABLES: ClassVar[tuple[str, ...]] = (
        *("summary", "overall", "items", "predictions", "pairs", "dif", "distance", "distance_slopes"),
    )

    pool: str
    situation: str
    method: str
    summary: pl.DataFrame
    overall: pl.DataFrame
    items: pl.DataFrame
    predictions: pl.DataFrame
    pairs: pl.DataFrame
    dif: pl.DataFrame
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
        Seed of draws (linked) and folds (slices).
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
    if seed and situation == DESCRIBED:
        raise MensuraError(f"seed: situation {situation!r} does not use it; leave it out, or choose another situation")
    links, draws = links or LINKS, draws or DRAWS
    chosen = _method_for(method, situation, settings)
    source = ItemPool.of(pool)
    if not description:
        description = source.name if isinstance(pool, ItemPool) else read_description(pool)
    cases = cases_of(source, description)
    trials = trials_of(situation, cases, links=links, draws=draws, rng=np.random.default_rng(seed))
    scored, warnings, calls = _run(chosen, trials, advance)
    if not scored and warnings:
        raise MensuraError(
            f"pool {source.name!r}: nothing could be predicted ({warnings[0]}); choose another method or situation"
        )
    if not scored:
        raise MensuraError(
            f"pool {source.name!r}: no group has {links + FEWEST_LEFT} items or more for {links} links; choose fewer "
            "links"
        )
    left_out = [
        f"{case.group}: {len(case.items)} items are too few for {links} links; left out"
        for case, trial in zip(cases, trials, strict=True)
        if trial is None
    ]
    summary = _summary(scored)
    predictions = pl.concat([one.table() for one in scored])
    by_descriptions = chosen if situation == DESCRIBED and not calls else make_method(DESCRIBED)
    pairs = _pairs(pairs_of(source, cases, description), by_descriptions)
    countries = by_distance(pairs)
    used = {LINKED: {"links": links, "draws": draws}, DESCRIBED: {}}.get(situation, {"folds": FOLDS})
    asked = {"calls": calls} if calls else {}
    return Validation(
        pool=source.name,
        situation=situation,
        method=chosen.name,
        summary=summary.select(SUMMARY),
        overall=_overall(scored, summary, situation),
        items=_per_item(predictions),
        predictions=predictions,
        pairs=pairs,
        dif=differential_items(cases),
        distance=countries,
        distance_slopes=distance_slopes(countries),
        level=chosen.level,
        settings={**used, "seed": seed, "description": description, "method": settings_of(chosen), **asked},
        warnings=tuple(dict.fromkeys([*source.warnings, *left_out, *warnings])),
    )


def _method_for(method: str | Extrapolator | None, situation: str, settings: Mapping[str, object]) -> Extrapolator:
    """Return the method to validate; one that needs to know more than the situation gives is refused."""
    allowed = methods_of(situation)
    if isinstance(method, str) and method not in allowed:
        raise MensuraError(
            f"method {method!r} does not fit situation {situation!r}; expected {', '.join(allowed)}"
            + ("" if method in METHODS else ", or a method object")
        )
    return method_from(allowed[0] if method is None else method, settings)


def _run(
    method: Extrapolator, trials: Sequence[Trial | None], advance: Callable[[], object] | None
) -> tuple[list[ScoredCase], list[str], int]:
    """Predict every trial; return those that could be scored, the method's warnings and its calls to a model.

    The method sees its tasks, never the truth.
    """
    scored, warnings, calls = list[ScoredCase](), list[str](), 0
    for trial in trials:
        if trial is not None:
            predictions = [method.predict(task) for task in trial.tasks]
            one = ScoredCase.of(trial, predictions)
            scored += [one] if one.answered else []
            warnings += [f"{trial.case.group}: {text}" for part in predictions for text in part.warnings]
            calls += sum(int(part.calls.sum()) for part in predictions if part.calls is not None)
        if advance is not None:
            advance()
    return scored, warnings, calls


def _summary(scored: Sequence[ScoredCase]) -> pl.DataFrame:
    rows = [
        {"covariate": s.case.covariate, "group": s.case.group, "n_items": len(s.case.items), **s.metrics()}
        for s in scored
    ]
    return pl.DataFrame(rows, infer_schema_length=None, nan_to_null=True)


def _overall(scored: Sequence[ScoredCase], summary: pl.DataFrame, situation: str) -> pl.DataFrame:
    """Return the means per covariate and over all groups, plain methods beside, correlations of both kinds."""
    covariates = list(dict.fromkeys(one.case.covariate for one in scored))
    places = {name: [k for k, one in enumerate(scored) if one.case.covariate == name] for name in covariates}
    if len(covariates) > 1:
        places[EVERYBODY] = list(range(len(scored)))
    rows = []
    for covariate, chosen in places.items():
        group, mine = [scored[k] for k in chosen], summary[chosen]
        table = pl.concat([one.table() for one in group]).drop_nulls("rate")
        predicted, observed = table["rate"].to_numpy(), table["reference"].to_numpy()
        shifts = [shift_error(one.trial) for one in group] if situation == LINKED else []
        rows.append(
            {
                "covariate": covariate,
                "groups": len(group),
                "n_items": len({item for one in group for item in one.case.items}),
                **{name: float(mine[name].to_numpy().mean()) for name in ("mae", "rmse", "bias", "coverage")},
                "pearson_within": mean_correlation(mine["pearson"].drop_nulls().to_numpy()),
                "pearson_pooled": float(correlation(predicted, observed)),
                "spearman_within": mean_correlation(mine["spearman"].drop_nulls().to_numpy()),
                "spearman_pooled": float(rank_correlation(predicted, observed)),
                "mae_identity": float(np.mean([one.identity_error for one in group])),
                "mae_shift": float(np.mean(shifts)) if shifts else None,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"mae_shift": pl.Float64})


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
        scored = ScoredCase.of(Trial.whole(case), [method.predict(case.task)])
        names = {"focal": case.group, "reference": case.task.reference.name, "n_items": case.task.size}
        rows.append({**names, **scored.metrics(), "mae_identity": scored.identity_error})
    return pl.DataFrame(rows)
