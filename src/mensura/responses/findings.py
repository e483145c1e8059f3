"""Findings about a fit that a reader must know before using the numbers: refusals, checks and warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_above
from mensura.core.errors import MensuraError, listed_names
from mensura.responses.comparing import RATE, SMALL
from mensura.responses.irt.fit_checks import dimensionality
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import LEAST_SD, STEEPEST, Parameters, chances
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.shards import Held, Shard, dense
from mensura.responses.result import ResponseFit
from mensura.responses.table import ResponseTable

POOR_FIT = 0.1
"""Root mean square gap between answers and curve from which an item is named."""
FEW_SUBJECTS = 50
"""Subjects below which discriminations are said to be mostly the prior's."""
CHECKS = {"check": pl.String, "value": pl.Float64, "said": pl.String}
"""Columns of the table of checks."""
_ALIKE = 0.1
"""Correlation of repeats from which they are no independent trials."""
_CHECKED_SUBJECTS, _CHECKED_ITEMS = 2_000, 300
"""Sample on which the one dimension is checked."""
_RATE_SAID = f"false discovery rate {RATE:.0%}"


def refuse_hopeless(held: Held, table: ResponseTable) -> None:
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


def refuse_unlinked(table: ResponseTable) -> tuple[str, ...]:
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


def with_checks(home: Held, fitted: Fitted, result: ResponseFit, seed: int) -> ResponseFit:
    """Check the one dimension on a sample of the largest group."""
    rng = np.random.default_rng(seed)
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
    return replace(result, checks=pl.DataFrame(finding, schema=CHECKS, orient="row"))


def _repeats(sample: Shard, p: Parameters, ability: Floats) -> list[tuple[str, float, str]]:
    """Say how much repeats of an item by a subject agree beyond chance: their correlation, by moments."""
    if sample.trials is None or int(np.max(sample.trials)) < 2:
        return []
    n, rate = np.asarray(sample.trials, dtype=np.float64), np.clip(chances(p, ability).T, 1e-6, 1.0 - 1e-6)
    surplus = (np.asarray(sample.right) - n * rate) ** 2 - n * rate * (1.0 - rate)
    alike = float(np.clip(np.sum(surplus * (n > 1)) / max(np.sum(n * (n - 1.0) * rate * (1.0 - rate)), 1e-9), 0.0, 1.0))
    verdict = "intervals are too short: use repeats 'average'" if alike > _ALIKE else "they count as independent trials"
    return [("repeats", alike, f"Repeats of an item by a subject correlate by {alike:.2f}: {verdict}.")]


def with_findings(result: ResponseFit) -> ResponseFit:
    """Say what a reader must know before using the numbers."""
    items, warnings = result.items, []
    if not result.converged:
        warnings.append(f"not converged in {result.passes} passes; the numbers are those of the best one")
    if result.model == "rasch" and (items["discrimination"] <= just_above(LEAST_SD)).all():
        warnings.append(
            "the answers do not show that subjects differ in one ability; do the items ask for the same thing?"
        )
    if float(np.mean(items["discrimination"].to_numpy())) > STEEPEST:
        warnings.append(
            "subjects answer almost without error (all right or all wrong from some item on), so a prior limits the "
            "discriminations; the order of abilities is sound, their distances are not"
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
    checks = pl.concat([result.checks, pl.DataFrame(rows, schema=CHECKS, orient="row")])
    return replace(result, checks=checks, warnings=tuple(warnings))
