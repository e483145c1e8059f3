"""Fit item response models to responses of any kind: tables, or stores that are read in parts.

The result has tables of subjects, items and groups with their errors, on the scale of the first group.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import special

from mensura.core.addresses import address_of, is_address
from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.responses.bank import ItemBank
from mensura.responses.counting import CountRules
from mensura.responses.estimation import fewest_answers, fit_chosen
from mensura.responses.findings import CHECKS, item_misfit, refuse_hopeless, refuse_unlinked, with_checks, with_findings
from mensura.responses.irt.abilities import METHODS, abilities
from mensura.responses.irt.differences import RightAnswers, compare_items, discovery_rates, empty_dif
from mensura.responses.irt.fitting import Effort, Fitted, Pass, climb, fit_held, fit_shaped, over, skewness, start
from mensura.responses.irt.model import MODELS
from mensura.responses.irt.namespace import Namespace, namespace, sharp
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import Held, Shard, ShardCounts, ShardSource, placed, streamed, weighed
from mensura.responses.quality import right_quality
from mensura.responses.reading import read_responses
from mensura.responses.result import ResponseFit, ability_table, group_table, observed_rates
from mensura.responses.store import RayPass, ResponseStore, is_store, on_ray
from mensura.responses.survey import Survey
from mensura.responses.table import ResponseTable

DENSITIES = ("normal", "estimated")


@dataclass(frozen=True)
class FitOptions:
    """Choose how to fit.

    Parameters
    ----------
    priors
        ``weak``, ``none`` (maximum likelihood), a file of parameter, mean and sd, or :class:`Priors`. By default
        maximum likelihood from 200 subjects and 5 right and wrong answers per item on, else weak priors.
    effort
        When to stop.
    device
        ``numpy``, or ``cpu`` or ``cuda`` of PyTorch.
    density
        Of abilities: ``normal``, or ``estimated`` where it is to be fitted too.
    abilities
        ``eap`` (posterior mean), ``map`` (its mode), ``wle`` (weighted likelihood) or ``ml`` (maximum likelihood).
    dif
        Whether to compare items between groups.
    checks
        Whether to check the one dimension.
    seed
        Of the samples that checks draw.
    fixed
        A table of items, such as ``items.csv`` of another fit, whose parameters stay: they set the scale, and the
        means and standard deviations of all groups are estimated. Items are not compared between groups then.

    """

    priors: Priors | str | Path | None = None
    effort: Effort = Effort()  # noqa: RUF009
    device: str = "numpy"
    density: str = "normal"
    abilities: str = "eap"
    dif: bool = True
    checks: bool = True
    seed: int = 0
    fixed: Any = None


_ONE_PROCESS = "ray: surveys and estimated abilities work in one process; leave out one of the two"
NO_DIFFERENCES = (
    "Items are not compared between groups, because the test does not know the design of the survey. Fit each group "
    "with its weights, and compare the items with mensura responses link."
)
"""The check of a survey with several groups."""


@check_arguments
def fit_responses(
    responses: Any,
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

    Parameters
    ----------
    responses
        Whatever :func:`mensura.responses.read_responses` takes, a :class:`ResponseTable`, or a :class:`ResponseStore`.
    model
        ``rasch``, ``2pl`` or ``3pl``.
    reference
        The group whose abilities have mean 0 and standard deviation 1; by default people where there are any.
    rules, by
        How to read ``responses`` that are neither a table nor a store yet; see :func:`read_responses`.
    options
        Priors, effort, device and checks.
    survey
        Weights, replicate weights and clusters of the subjects.
    ray
        Where passes run on Ray: ``local``, or the address of a cluster.
    run
        Another pass over the same shards.

    Returns
    -------
    ResponseFit
        Abilities, items, groups, differences between groups and checks.

    Raises
    ------
    MensuraError
        If the responses cannot be read or fitted, or an argument is of no use with the others.

    Examples
    --------
    >>> import mensura
    >>> import polars as pl
    >>> right = {"q1": [1, 1, 1, 1, 0, 1], "q2": [1, 1, 0, 1, 0, 0], "q3": [1, 0, 0, 0, 0, 1]}
    >>> fit = mensura.fit_responses(pl.DataFrame({"subject": list("abcdef"), **right}), model="rasch")
    >>> fit.subjects.columns[:4]
    ['subject', 'ability', 'low', 'high']

    """
    check_choice("model", model, MODELS)
    options = options or FitOptions()
    check_choice("density", options.density, DENSITIES)
    check_choice("abilities", options.abilities, METHODS)
    if options.seed and not options.checks:
        raise MensuraError(f"seed: got {options.seed}, but only checks draw; give checks=True, or leave seed out")
    space, shaped = namespace(options.device), options.density == "estimated"
    if is_store(responses):
        responses = ResponseStore(address_of(responses) if is_address(responses) else Path(responses))
    if isinstance(responses, ResponseTable | ResponseStore) and (rules is not None or by is not None):
        name = "rules" if rules is not None else "by"
        raise MensuraError(f"{name}: these responses are counted already; give it to read_responses or write_store")
    if ray is not None and (survey is not None or shaped):
        raise MensuraError(_ONE_PROCESS)
    if isinstance(responses, ResponseStore):
        if reference not in (None, responses.group_names[0]):
            raise MensuraError(
                f"reference: expected {responses.group_names[0]!r}, the first group of the store, got {reference!r}"
            )
        for name, given in (("fixed", options.fixed is not None), ("density", shaped)):
            if given:
                raise MensuraError(f"{name}: of no use to a response store; read the files into memory instead")
        run = run if ray is None else on_ray(responses, ray, options.device)
        return _fit_store(space, responses, model, options, run, survey)
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses, rules=rules, by=by)
    table = table.of_groups(reference)
    if ray is not None:
        run = on_ray(table.held(), ray, options.device)
    return _fit_table(space, table, model, options, run, survey)


def _fit_table(
    space: Namespace, table: ResponseTable, model: str, options: FitOptions, run: Pass | None, survey: Survey | None
) -> ResponseFit:
    space = sharp(space, table.subjects.height)
    home, survey = table.held(), None if survey is None else survey.of(table.subjects["subject"])
    if survey is not None and survey.weights is not None:
        home = Held(list(weighed(home, survey.column(survey.weights)).shards()))
    refuse_hopeless(home, table)
    taken = table.trials
    unlinked = () if taken is None else refuse_unlinked(table.subjects, table.groups, taken > 0)
    on_device = placed(space, home)
    begin = start(model, table.items["rate"].to_numpy(), home.groups)
    if options.fixed is not None:
        begin = ItemBank.from_table(options.fixed).fixed_in(begin, table.items["item"])
    counts = ShardCounts.of(Shard(table.right, table.trials, 0))

    def fit(priors: Priors) -> Fitted:
        if run is not None:
            return climb(run, begin, priors, options.effort)
        fit_memory = fit_shaped if options.density == "estimated" else fit_held
        return fit_memory(space, on_device, begin, priors, options.effort)

    fewest = fewest_answers(counts.right, counts.trials)
    words, priors, fitted = fit_chosen(fit, options.priors, model, table.group_sizes, fewest)
    options = replace(options, priors=priors)
    names = table.subjects.select("subject", "group", "n", "rate")
    fitted, result = _laid_out(space, on_device, fitted, words, options, run, survey, names, table.items, table.groups)
    result = replace(result, log=table.log)
    several = options.dif and home.groups > 1 and options.fixed is None
    if several and survey is None:
        tested = RightAnswers.some(space, on_device, priors)
        dif = compare_items(tested, fitted.parameters, table.groups, table.items["item"])
        result = replace(result, dif=dif)
    tested_answers = table if options.checks and survey is None else None
    result = right_quality(result, fitted, tested_answers, table.group_sizes[0])
    result = with_findings(with_checks(home, fitted, result, options.seed) if options.checks else result)
    notes: list[tuple[str, Any, str]] = [] if survey is None else [("survey", None, survey.summary)]
    if several and survey is not None:
        notes.append(("differences between groups", None, NO_DIFFERENCES))
    if fitted.parameters.shapes is not None:
        for place, name in enumerate(table.groups):
            skew = skewness(fitted.parameters, place)
            notes.append(("skewness", skew, f"Abilities of {name} have skewness {skew:.2f} (normal: 0)."))
    return replace(_noted(result, notes), warnings=(*result.warnings, *unlinked))


def _fit_store(
    space: Namespace, store: ResponseStore, model: str, options: FitOptions, run: Pass | None, survey: Survey | None
) -> ResponseFit:
    """Fit from parts; what needs all responses at once (differences between groups, the one dimension) is left out."""
    space = sharp(space, store.subjects)
    counts = run.each(ShardCounts.of) if isinstance(run, RayPass) else list(map(ShardCounts.of, store.shards()))
    right, taken, people = (sum(getattr(one, name) for one in counts) for name in ("right", "trials", "subjects"))
    survey = None if survey is None else survey.of(store.names["subject"])
    source: ShardSource = store
    if survey is not None and survey.weights is not None:
        source = weighed(store, survey.column(survey.weights))
    on_device = streamed(source, space)
    items = pl.DataFrame({"item": store.item_names, "n": people, "rate": right / np.maximum(taken, 1.0)})
    begin, climb_to = start(model, items["rate"].to_numpy(), store.groups), run or over(space, on_device)
    sizes = store.names.group_by("group").len()["len"].to_list()

    def fit(priors: Priors) -> Fitted:
        return climb(climb_to, begin, priors, options.effort)

    words, priors, fitted = fit_chosen(fit, options.priors, model, sizes, fewest_answers(right, taken))
    options = replace(options, priors=priors)
    names = store.names.select(
        "subject",
        pl.col("group").replace_strict(dict(enumerate(store.group_names)), return_dtype=pl.String),
        n=pl.Series(np.concatenate([one.taken for one in counts])),
        rate=pl.Series(np.concatenate([one.rate for one in counts])),
    )
    _, result = _laid_out(space, on_device, fitted, words, options, run, survey, names, items, store.group_names)
    result = right_quality(result, fitted, None, names.filter(pl.col("group") == store.group_names[0]).height)
    result = with_findings(replace(result, log=store.log))
    return _noted(result, [] if survey is None else [("survey", None, survey.summary)])


def _noted(result: ResponseFit, notes: list[tuple[str, Any, str]]) -> ResponseFit:
    return replace(result, checks=pl.concat([result.checks, pl.DataFrame(notes, schema=CHECKS, orient="row")]))


def _laid_out(
    space: Namespace,
    source: ShardSource,
    fitted: Fitted,
    words: str,
    options: FitOptions,
    run: Pass | None,
    survey: Survey | None,
    names: pl.DataFrame,
    items: pl.DataFrame,
    groups: list[str],
) -> tuple[Fitted, ResponseFit]:
    """Give a fit the errors of the survey, and lay it out as tables on the scale of the first group."""
    priors = options.priors if isinstance(options.priors, Priors) else Priors()
    if survey is not None:
        fitted = survey.information(space, source, fitted, priors)
    run = run or over(space, source)
    sums = run(fitted.parameters, fitted.grid, True)
    if isinstance(run, RayPass):
        places = run.abilities(fitted, options.abilities)
    else:
        places = [abilities(space, shard, fitted, options.abilities) for shard in source.shards()]
    unit = fitted.parameters.unit
    ability, error, weighted, weighted_error = (np.concatenate(one) / unit for one in zip(*places, strict=True))
    names = names.with_columns(wle=weighted, se_wle=weighted_error)
    p, untested = fitted.parameters, (empty_dif(), pl.DataFrame(schema=CHECKS), pl.DataFrame())
    of_groups = group_table(p, fitted.information, groups, names)
    tables = ability_table(names, ability, error), _item_table(fitted, sums, items), of_groups, *untested
    rates = observed_rates(fitted.grid.nodes / unit, sums.right, sums.taken, items["item"])
    ended = fitted.evidence, len(fitted.history), fitted.converged
    return fitted, ResponseFit(p.model, *tables, rates, *ended, (), words, fitted.posterior)


def _item_table(fitted: Fitted, sums: Any, items: pl.DataFrame) -> pl.DataFrame:
    p = fitted.parameters.standardised()
    misfit, z = item_misfit(fitted, sums)
    p_value = 2.0 * special.ndtr(-np.abs(z))
    slope = np.where(np.abs(p.slope) > 1e-6, p.slope, 1e-6)
    difficulty = -p.intercept / slope
    errors = _item_errors(fitted, difficulty, slope)
    guessing = 1.0 / (1.0 + np.exp(-p.guess)) if p.model == "3pl" else np.zeros(len(slope))
    columns = {"discrimination": p.slope, "difficulty": difficulty, "guessing": guessing}
    columns |= {f"se_{name}": error for name, error in zip(columns, errors, strict=True)}
    columns |= {"fit": misfit, "fit_p": p_value, "fit_q": discovery_rates(p_value)}
    return items.select("item", *(pl.Series(name, values) for name, values in columns.items()), "n", "rate")


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
