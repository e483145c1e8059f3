"""Fitting item response models to responses of any kind: tables, or stores that are read in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.addresses import address_of, is_address
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.responses.cluster import RayPass, on_ray
from mensura.responses.comparing import compare_groups
from mensura.responses.findings import CHECKS, refuse_hopeless, refuse_unlinked, with_checks, with_findings
from mensura.responses.fit_tables import lay_out
from mensura.responses.irt.abilities import ShardAbilities, abilities
from mensura.responses.irt.fitting import Effort, Fitted, Pass, climb, fit_held, over, start
from mensura.responses.irt.model import Priors, check_model
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.irt.shaped import fit_shaped, skewness
from mensura.responses.irt.shards import Counts, ShardSource, Streamed, Weighed, placed, weighed
from mensura.responses.reading import read_responses
from mensura.responses.result import ResponseFit
from mensura.responses.rules import CountRules
from mensura.responses.store import ResponseStore, is_store
from mensura.responses.survey import Survey
from mensura.responses.table import ResponseTable

ABILITIES = ("normal", "estimated")


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
    refuse_hopeless(home, table)
    apart = refuse_unlinked(table)
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
    sums, found = run(fitted.parameters, fitted.grid, True), _abilities(space, held, fitted, run)
    result = lay_out(found, fitted, sums, names, table.items, table.groups)
    result = replace(result, log=table.log)
    if options.dif and held.groups > 1 and survey is None:
        result = replace(
            result, dif=compare_groups(space, home, fitted, options.priors, table.groups, table.items["item"])
        )
    result = with_findings(with_checks(home, fitted, result, options.seed) if options.checks else result)
    told: list[tuple[str, float | None, str]] = [] if survey is None else [("survey", None, survey.said)]
    if options.dif and held.groups > 1 and survey is not None:
        told.append(("differences between groups", None, NO_DIFFERENCES))
    if fitted.parameters.shapes is not None:
        skewed = [(name, skewness(fitted.parameters, place)) for place, name in enumerate(table.groups)]
        told += [("skewness", one, f"Abilities of {name} have skewness {one:.2f} (normal: 0).") for name, one in skewed]
    result = replace(result, checks=pl.concat([result.checks, pl.DataFrame(told, schema=CHECKS, orient="row")]))
    return replace(result, warnings=(*result.warnings, *apart))


def _fit_store(
    space: Namespace,
    store: ResponseStore,
    model: str,
    options: FitOptions,
    run: Pass | None,
    survey: Survey | None = None,
) -> ResponseFit:
    """Fit from parts; what needs all responses at once (differences between groups, the one dimension) is left out."""
    counts = run.each(Counts.of) if isinstance(run, RayPass) else [Counts.of(shard) for shard in store.shards()]
    right, taken, people = (sum(getattr(one, name) for one in counts) for name in ("right", "trials", "subjects"))
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
        n=pl.Series(np.concatenate([one.taken for one in counts])),
        rate=pl.Series(np.concatenate([one.rate for one in counts])),
    )
    items = pl.DataFrame({"item": store.item_names, "n": people, "rate": right / np.maximum(taken, 1.0)})
    sums, found = run(fitted.parameters, fitted.grid, True), _abilities(space, streamed, fitted, run)
    result = lay_out(found, fitted, sums, names, items, store.group_names)
    result = with_findings(replace(result, log=store.log))
    told = [] if survey is None else [("survey", None, survey.said)]
    return replace(result, checks=pl.concat([result.checks, pl.DataFrame(told, schema=CHECKS, orient="row")]))


def _abilities(space: Namespace, source: ShardSource, fitted: Fitted, run: Pass) -> list[ShardAbilities]:
    if isinstance(run, RayPass):
        return run.abilities(fitted)
    return [abilities(space, shard, fitted) for shard in source.shards()]
