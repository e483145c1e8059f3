"""Fitting item response models to responses of any kind: the verb, and the tables it makes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.addresses import address_of, is_address
from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.responses.cluster import on_ray
from mensura.responses.comparing import RATE, SMALL, compare_groups, empty_dif
from mensura.responses.drawing import observed_rates
from mensura.responses.irt.abilities import abilities
from mensura.responses.irt.fit_checks import dimensionality, item_misfit
from mensura.responses.irt.fitting import Effort, Fitted, Pass, climb, fit_held, over, start
from mensura.responses.irt.model import LEAST_SD, Parameters, Priors, chances, check_model
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.irt.shaped import fit_shaped, skewness
from mensura.responses.irt.shards import Held, Shard, ShardSource, Streamed, Weighed, dense, placed, weighed
from mensura.responses.multiple import discovery_rates
from mensura.responses.reading import read_responses
from mensura.responses.result import Z90, ResponseFit
from mensura.responses.rules import CountRules
from mensura.responses.store import ResponseStore, is_store
from mensura.responses.survey import Survey
from mensura.responses.table import ResponseTable

ABILITIES = ("normal", "estimated")
POOR_FIT = 0.1
"""Root mean square gap between answers and curve from which an item is named."""
FEW_SUBJECTS = 50
"""Subjects below which discriminations are said to be mostly the prior's."""
_ALIKE = 0.1
"""Correlation of repeats from which they are no independent trials."""
_CHECKED_SUBJECTS, _CHECKED_ITEMS = 2_000, 300
"""Sample on which the one dimension is checked."""
_RATE_SAID = f"false discovery rate {RATE:.0%}"
_CHECKS = {"check": pl.String, "value": pl.Float64, "said": pl.String}


@dataclass(frozen=True)
class FitOptions:
    """How to fit: priors of items, effort, device, whether to compare groups and to check the one dimension.

    ``device``: ``numpy``, or ``cpu`` or ``cuda`` of PyTorch. ``abilities``: ``normal``, or ``estimated`` where their
    density is to be fitted too.
    """

    priors: Priors = Priors()  # noqa: RUF009
    effort: Effort = Effort()  # noqa: RUF009
    device: str = "numpy"
    abilities: str = "normal"
    dif: bool = True
    checks: bool = True
    seed: int = 0


_ONE_PROCESS = "ray: surveys and estimated abilities work in one process; leave out one of the two"
NO_DIFFERENCES = (
    "Items are not compared between groups, because the test does not know the design of the survey. Fit each group "
    "with its weights, and compare the items with mensura responses link."
)
"""Said of a survey with several groups."""


@check_arguments
def fit_responses(
    responses: Any,  # noqa: ANN401
    *,
    model: str = "2pl",
    reference: str | None = None,
    rules: CountRules | None = None,
    by: str | None = None,
    options: FitOptions | None = None,
    survey: Survey | None = None,
    ray: str | None = None,
    run: Pass | None = None,
) -> ResponseFit:
    """Fit ``rasch``, ``2pl`` or ``3pl`` to responses by marginal maximum likelihood.

    ``responses``: whatever :func:`mensura.responses.read_responses` takes, a :class:`ResponseTable`, or a
    :class:`ResponseStore`. ``reference``: the group whose abilities have mean 0 and standard deviation 1; by default
    people where there are any. ``survey``: weights, replicate weights and clusters of the subjects. ``ray``: where
    passes run on Ray (:func:`mensura.responses.cluster.on_ray`). ``run``: another pass over the same shards.

    >>> import mensura
    >>> import polars as pl
    >>> right = {"q1": [1, 1, 1, 1, 0, 1], "q2": [1, 1, 0, 1, 0, 0], "q3": [1, 0, 0, 0, 0, 1]}
    >>> fit = mensura.fit_responses(pl.DataFrame({"subject": list("abcdef"), **right}), model="rasch")
    >>> fit.subjects.columns[:4]
    ['subject', 'ability', 'low', 'high']
    """
    check_model(model)
    options = options or FitOptions()
    if options.abilities not in ABILITIES:
        raise MensuraError(f"abilities: got {options.abilities!r}; expected one of {', '.join(ABILITIES)}")
    space = namespace(options.device)
    if is_store(responses):
        responses = ResponseStore(address_of(responses) if is_address(responses) else Path(responses))
    if isinstance(responses, ResponseStore):
        if reference not in (None, responses.group_names[0]):
            raise MensuraError(
                f"reference: expected {responses.group_names[0]!r}, the first group of the store, got {reference!r}"
            )
        if ray is not None and survey is not None:
            raise MensuraError(_ONE_PROCESS)
        run = run if ray is None else on_ray(responses, ray, options.device)
        return _fit_store(space, responses, model, options, run, survey)
    if ray is not None and (survey is not None or options.abilities != "normal"):
        raise MensuraError(_ONE_PROCESS)
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses, rules=rules, by=by)
    if ray is not None:
        table = table.of_groups(reference)
        run = on_ray(table.held(), ray, options.device)
    return _fit_table(space, table.of_groups(reference), model, options, run, survey)


def _fit_table(
    space: Namespace,
    table: ResponseTable,
    model: str,
    options: FitOptions,
    run: Pass | None,
    survey: Survey | None = None,
) -> ResponseFit:
    home = table.held()
    survey = None if survey is None else survey.of(table.subjects["subject"])
    if survey is not None and survey.weights is not None:
        home = weighed(home, survey.column(survey.weights))
    _refuse_hopeless(home, table)
    apart = _unlinked(table)
    held = placed(space, home)
    begin = start(model, table.items["rate"].to_numpy(), held.groups)
    if run is None:
        shaped = options.abilities == "estimated"
        fitted = (fit_shaped if shaped else fit_held)(space, held, begin, options.priors, options.effort)
        fitted = fitted if survey is None else survey.information(space, held, fitted, options.priors)
    else:
        fitted = climb(run, begin, options.priors, options.effort)
    run = run or over(space, held)
    names = table.subjects.select("subject", "group", "n", "rate")
    result = _result(space, held, fitted, run(fitted.parameters, fitted.grid, True), names, table.items, table.groups)
    result = replace(result, log=table.log)
    if options.dif and held.groups > 1 and survey is None:
        result = replace(
            result, dif=compare_groups(space, home, fitted, options.priors, table.groups, table.items["item"])
        )
    result = _with_findings(_checked(space, home, fitted, result, options) if options.checks else result)
    told: list[tuple[str, float | None, str]] = [] if survey is None else [("survey", None, survey.said)]
    if options.dif and held.groups > 1 and survey is not None:
        told.append(("differences between groups", None, NO_DIFFERENCES))
    if fitted.parameters.shapes is not None:
        found = [(name, skewness(fitted.parameters, place)) for place, name in enumerate(table.groups)]
        told += [("skewness", one, f"Abilities of {name} have skewness {one:.2f} (normal: 0).") for name, one in found]
    result = replace(result, checks=pl.concat([result.checks, pl.DataFrame(told, schema=_CHECKS, orient="row")]))
    return replace(result, warnings=(*result.warnings, *apart))


def _unlinked(table: ResponseTable) -> tuple[str, ...]:
    """Refuse groups that share no item with the first, directly or through others; warn of such subjects within it."""
    if table.trials is None:
        return ()
    taken = table.trials > 0
    linked = np.zeros(table.subjects.height, dtype=bool)
    linked[0], count = True, 0
    while linked.sum() > count:
        count = int(linked.sum())
        items = np.asarray(taken[linked].sum(axis=0)).ravel() > 0
        linked = np.asarray(taken[:, items].sum(axis=1)).ravel() > 0
    inside = set(table.subjects.filter(pl.Series(linked))["group"])
    for group in table.groups:
        if group not in inside:
            raise MensuraError(
                f"responses: group {group!r} shares no item with group {table.groups[0]!r}, so they have no common "
                "scale. Add items that both took, or fit each alone"
            )
    if linked.all():
        return ()
    left = listed_names(table.subjects.filter(pl.Series(~linked))["subject"].to_list())
    return (
        f"{int((~linked).sum())} subjects share no item with the others ({left}); they are compared as if both had "
        "the same abilities on average",
    )


def _fit_store(
    space: Namespace,
    store: ResponseStore,
    model: str,
    options: FitOptions,
    run: Pass | None,
    survey: Survey | None = None,
) -> ResponseFit:
    """Fit from parts; what needs all responses at once (differences between groups, the one dimension) is left out."""
    right, taken, people = np.zeros(store.items), np.zeros(store.items), np.zeros(store.items, dtype=np.int64)
    counts, rates = [], []
    for shard in store.shards():
        trials = np.ones(shard.right.shape, dtype=np.uint8) if shard.trials is None else shard.trials
        right += shard.right.sum(axis=0, dtype=np.float64)
        taken += trials.sum(axis=0, dtype=np.float64)
        people += (trials > 0).sum(axis=0)
        counts.append((trials > 0).sum(axis=1))
        rates.append(shard.right.sum(axis=1, dtype=np.float64) / np.maximum(trials.sum(axis=1, dtype=np.float64), 1.0))
    survey = None if survey is None else survey.of(store.names["subject"])
    source: ShardSource = store
    if survey is not None and survey.weights is not None:
        source = Weighed(store, survey.column(survey.weights))
    streamed = Streamed(source, space)
    begin = start(model, right / np.maximum(taken, 1.0), store.groups)
    run = run or over(space, streamed)
    fitted = climb(run, begin, options.priors, options.effort)
    fitted = fitted if survey is None else survey.information(space, streamed, fitted, options.priors)
    names = store.names.select(
        "subject",
        pl.col("group").replace_strict(dict(enumerate(store.group_names)), return_dtype=pl.String),
        n=pl.Series(np.concatenate(counts)),
        rate=pl.Series(np.concatenate(rates)),
    )
    items = pl.DataFrame({"item": store.item_names, "n": people, "rate": right / np.maximum(taken, 1.0)})
    sums = run(fitted.parameters, fitted.grid, True)
    result = _result(space, streamed, fitted, sums, names, items, store.group_names)
    result = _with_findings(replace(result, log=store.log))
    told = [] if survey is None else [("survey", None, survey.said)]
    return replace(result, checks=pl.concat([result.checks, pl.DataFrame(told, schema=_CHECKS, orient="row")]))


def _refuse_hopeless(held: Held, table: ResponseTable) -> None:
    """Refuse what no model can be fitted to."""
    if held.subjects < 2 or held.items < 2:
        raise MensuraError(
            f"responses: {held.subjects} subjects and {held.items} items; a scale needs at least two of both"
        )
    rates = table.items["rate"]
    if bool(((rates <= 0.0) | (rates >= 1.0)).all()):
        raise MensuraError(
            "responses: every item was answered right by all or wrong by all; nothing distinguishes subjects. Add "
            "items that some answered right and some wrong"
        )


def _result(
    space: Namespace,
    source: ShardSource,
    fitted: Fitted,
    sums: Any,  # noqa: ANN401
    names: pl.DataFrame,
    items: pl.DataFrame,
    groups: list[str],
) -> ResponseFit:
    """Lay a fit out as tables, on the scale of the first group."""
    unit = float(fitted.parameters.sd[0])
    found = [abilities(space, shard, fitted) for shard in source.shards()]
    ability, error = (np.concatenate([getattr(one, name) for one in found]) / unit for name in ("mean", "error"))
    subjects = names.select(
        "subject",
        pl.Series("ability", ability),
        pl.Series("low", ability - Z90 * error),
        pl.Series("high", ability + Z90 * error),
        "n",
        pl.Series("se", error),
        "rate",
        "group",
    )
    return ResponseFit(
        fitted.parameters.model,
        subjects,
        _item_table(fitted, sums, items),
        _group_table(fitted, groups, names),
        empty_dif(),
        pl.DataFrame(schema=_CHECKS),
        pl.DataFrame(),
        observed_rates(fitted, sums, items["item"]),
        fitted.evidence,
        len(fitted.history),
        fitted.converged,
    )


def _item_table(fitted: Fitted, sums: Any, items: pl.DataFrame) -> pl.DataFrame:  # noqa: ANN401
    p = fitted.parameters.standardised()
    misfit, z = item_misfit(fitted, sums)
    p_value = np.array([math.erfc(abs(one) / math.sqrt(2.0)) for one in z])
    slope = np.where(np.abs(p.slope) > 1e-6, p.slope, 1e-6)
    difficulty = -p.intercept / slope
    errors = _item_errors(fitted, difficulty, slope)
    guessing = 1.0 / (1.0 + np.exp(-p.guess)) if p.model == "3pl" else np.zeros(len(slope))
    return items.select(
        "item",
        pl.Series("discrimination", p.slope),
        pl.Series("difficulty", difficulty),
        pl.Series("guessing", guessing),
        pl.Series("se_discrimination", errors[0]),
        pl.Series("se_difficulty", errors[1]),
        pl.Series("se_guessing", errors[2]),
        pl.Series("fit", misfit),
        pl.Series("fit_p", p_value),
        pl.Series("fit_q", discovery_rates(p_value)),
        "n",
        "rate",
    )


def _item_errors(fitted: Fitted, b: Floats, slope: Floats) -> tuple[Floats, Floats, Floats]:
    """Return standard errors of discrimination, difficulty and guessing (delta method)."""
    p, inverse = fitted.parameters, fitted.information
    covariance = inverse.item_covariance()
    none = np.zeros(len(b))
    if p.model == "rasch":
        of_unit, with_unit = inverse.group_variance()[0], inverse.item_group_covariance(0)[:, 0]
        variance = covariance[:, 0, 0] / slope**2 + b**2 * of_unit + 2.0 * b * with_unit / slope
        return slope * np.sqrt(of_unit), np.sqrt(np.maximum(variance, 0.0)), none
    variance = (covariance[:, 1, 1] + b**2 * covariance[:, 0, 0] + 2.0 * b * covariance[:, 0, 1]) / slope**2
    c = 1.0 / (1.0 + np.exp(-p.guess))
    of_guess = c * (1.0 - c) * np.sqrt(covariance[:, 2, 2]) if p.model == "3pl" else none
    return np.sqrt(covariance[:, 0, 0]), np.sqrt(np.maximum(variance, 0.0)), of_guess


def _group_table(fitted: Fitted, groups: list[str], names: pl.DataFrame) -> pl.DataFrame:
    p, unit = fitted.parameters, float(fitted.parameters.sd[0])
    errors = dict(zip(p.free, np.sqrt(fitted.information.group_variance()), strict=True))
    counts = dict(names.group_by("group").len().iter_rows())
    rows = [
        (
            name,
            counts.get(name, 0),
            float(p.mean[place]) / unit,
            float(p.sd[place]) / unit,
            float(errors[("mean", place)]) / unit if place else None,
            float(errors[("sd", place)] * p.sd[place]) / unit if place else None,
        )
        for place, name in enumerate(groups)
    ]
    schema = {"group": pl.String, "subjects": pl.Int64, "mean": pl.Float64, "sd": pl.Float64}
    return pl.DataFrame(rows, schema=schema | {"se_mean": pl.Float64, "se_sd": pl.Float64}, orient="row")


def _checked(space: Namespace, home: Held, fitted: Fitted, result: ResponseFit, options: FitOptions) -> ResponseFit:
    """Check the one dimension on a sample of the largest group."""
    rng = np.random.default_rng(options.seed)
    part = max(home.parts, key=len)
    rows = np.sort(rng.permutation(len(part))[:_CHECKED_SUBJECTS])
    columns = np.sort(rng.permutation(home.items)[:_CHECKED_ITEMS])
    trials = None if part.trials is None else dense(part.trials[rows][:, columns])
    some = fitted.parameters.of_items(columns)
    sample = Shard(dense(part.right[rows][:, columns]), trials, part.group)
    if len(rows) < 3:
        return result
    found = dimensionality(namespace(), sample, some, fitted.grid, rng)
    finding = [("dimensions", found.share, found.said), *_repeats(sample, some, found.ability)]
    return replace(result, checks=pl.DataFrame(finding, schema=_CHECKS, orient="row"))


def _repeats(sample: Shard, p: Parameters, ability: Floats) -> list[tuple[str, float, str]]:
    """Say how much repeats of an item by a subject agree beyond chance: their correlation, by moments."""
    if sample.trials is None or int(np.max(sample.trials)) < 2:
        return []
    n, rate = np.asarray(sample.trials, dtype=np.float64), np.clip(chances(p, ability).T, 1e-6, 1.0 - 1e-6)
    surplus = (np.asarray(sample.right) - n * rate) ** 2 - n * rate * (1.0 - rate)
    alike = float(np.clip(np.sum(surplus * (n > 1)) / max(np.sum(n * (n - 1.0) * rate * (1.0 - rate)), 1e-9), 0.0, 1.0))
    verdict = "intervals are too short: use repeats 'average'" if alike > _ALIKE else "they count as independent trials"
    return [("repeats", alike, f"Repeats of an item by a subject correlate by {alike:.2f}: {verdict}.")]


def _with_findings(result: ResponseFit) -> ResponseFit:
    """Say what a reader must know before using the numbers."""
    items, warnings = result.items, []
    if not result.converged:
        warnings.append(f"not converged in {result.passes} passes; the numbers are those of the best one")
    if result.model == "rasch" and (items["discrimination"] <= LEAST_SD).all():
        warnings.append(
            "the answers do not show that subjects differ in one ability; do the items ask for the same thing?"
        )
    against = items.filter(pl.col("discrimination") < 0.0)["item"].to_list()
    if against:
        warnings.append(f"{len(against)} items run against the scale (wrong key?): {listed_names(against)}")
    one_sided = items.filter((pl.col("rate") <= 0.0) | (pl.col("rate") >= 1.0))["item"].to_list()
    if one_sided:
        warnings.append(
            f"{len(one_sided)} items were answered alike by all, so priors give their parameters: "
            f"{listed_names(one_sided)}"
        )
    if 0 < result.subjects.height < FEW_SUBJECTS and result.model != "rasch":
        warnings.append(
            f"{result.subjects.height} subjects tell little about discriminations; the prior gives much of them"
        )
    poor = items.filter((pl.col("fit") > POOR_FIT) & (pl.col("fit_q") < RATE))["item"].to_list()
    said = f"{len(poor)} of {items.height} items depart from their curve by more than {POOR_FIT:g} (RMSD; {_RATE_SAID})"
    rows = [("item fit", float(len(poor)), said + (f": {listed_names(poor)}" if poor else ""))]
    if result.dif.height:
        flagged = result.dif.filter("flagged")
        count = flagged["item"].n_unique()
        text = f"{count} of {items.height} items differ between groups by {SMALL:g} logits or more ({_RATE_SAID})"
        rows.append(("differences between groups", float(count), text))
    checks = pl.concat([result.checks, pl.DataFrame(rows, schema=_CHECKS, orient="row")])
    return replace(result, checks=checks, warnings=tuple(warnings))
