"""Findings about a fit that a reader must know before using the numbers: refusals, checks and warnings.

Item fit compares, at each node, the share of right answers expected from the posteriors with the model's curve.
``misfit`` is the root mean square of the difference over the subjects who took the item (the RMSD of large surveys:
below 0.05 small, above 0.1 poor). Its test adds a bend to the curve, a term in (θ − θ̄)² that the model lacks, and
asks whether its score is further from zero than chance.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_above
from mensura.core.errors import MensuraError, listed_names
from mensura.responses.estimation import LIKELIHOOD
from mensura.responses.irt.differences import RATE, SMALL
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import LEAST_SD, ItemCurves, Parameters, chances, curves, item_blocks
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import Grid, NodeTables, PassSums, shard_posteriors
from mensura.responses.irt.priors import STEEPEST
from mensura.responses.irt.shards import Held, Shard, dense
from mensura.responses.result import ResponseFit
from mensura.responses.table import ResponseTable

_LEAST_HELD = 0.3
"""Share of a bend's information that is counted on a short test, whose posteriors leave most of it open."""
_NULL_DRAWS = 20
_FLOOR = 1e-9


def item_misfit(fitted: Fitted, sums: PassSums) -> tuple[Floats, Floats]:
    """Return every item's misfit and the z of its bend, from sums by node."""
    p, nodes = fitted.parameters, fitted.grid.nodes
    misfit, z = np.empty(len(p.slope)), np.empty(len(p.slope))
    for rows in item_blocks(len(p.slope), len(nodes)):
        at = curves(p.of_items(rows), nodes)
        taken = np.maximum(sums.taken if len(sums.taken) == 1 else sums.taken[rows], 0.0)
        off = sums.right[rows] - taken * at.rate
        share = taken / np.maximum(taken.sum(axis=1, keepdims=True), _FLOOR)
        gap = np.clip(off / np.maximum(taken, _FLOOR), -1.0, 1.0)
        misfit[rows] = np.sqrt(np.sum(share * gap**2, axis=1))
        z[rows] = _bend(p.slope[rows], nodes, sums, at, taken, off)
    return misfit, z


def _bend(slope: Floats, nodes: Floats, sums: PassSums, at: ItemCurves, taken: Floats, off: Floats) -> Floats:
    """Return the score of a bend in standard errors; what the item's own parameters could take up is taken off.

    Like an item's score (y − P) u, that of a bend is (y − P) w(θ), with w = (θ − θ̄)² P′ / (a P(1−P)) at first.
    """
    weight = taken * at.spread
    middle = np.sum(taken * nodes, axis=1, keepdims=True) / np.maximum(taken.sum(axis=1, keepdims=True), _FLOOR)
    steepness = at.by_ability / at.spread / np.where(np.abs(slope[:, None]) > 1e-6, slope[:, None], 1e-6)
    bend = steepness * (nodes - middle) ** 2
    u = np.broadcast_to(at.u, (*bend.shape, at.u.shape[2]))
    cross = ((weight * bend)[:, None, :] @ u)[:, 0]
    blocks = at.squares(weight) + _FLOOR * np.eye(u.shape[2])
    bend = bend - (u @ np.linalg.solve(blocks, cross[:, :, None]))[:, :, 0]
    score = np.sum(off * bend, axis=1)
    subjects = np.maximum(sums.mass.sum(axis=0), _FLOOR)
    moving = (at.by_ability * bend) ** 2 + at.spread * np.gradient(bend, nodes, axis=1) ** 2
    unseen = np.sum(sums.spread, axis=0) * (taken / subjects) * moving
    whole = np.sum(weight * bend**2, axis=1)
    kept = np.maximum(whole - np.sum(unseen, axis=1), _LEAST_HELD * whole)
    z: Floats = score / np.sqrt(np.maximum(kept, _FLOOR))
    return z


def dimensionality(shard: Shard, p: Parameters, grid: Grid, rng: np.random.Generator) -> tuple[float, str, Floats]:
    """Compare the residuals of a shard of plain arrays with those of responses drawn from the model itself.

    Returns the largest factor in the residuals as a share of their variance, what that means, and the abilities.
    """
    space = namespace()
    tables = NodeTables(space, p, grid)

    def ability_of(right: Any) -> Floats:
        return space.get(shard_posteriors(space, replace(shard, right=right), tables).mean)

    trials, ability = np.asarray(shard.taken(), dtype=np.float64), ability_of(shard.right)
    rate, null = _rates(p, ability), []
    for _ in range(_NULL_DRAWS):
        drawn = rng.binomial(trials.astype(int), rate).astype(np.float32)
        null.append(_largest_factor(drawn, trials, _rates(p, ability_of(drawn))))
    share, by_chance = _largest_factor(shard.right, trials, rate), float(np.quantile(null, 0.95))
    return share, say_factor(share, by_chance, *trials.shape), ability


def say_factor(share: float, by_chance: float, subjects: int, items: int) -> str:
    """Return in words whether one dimension suffices; ``by_chance``: what chance gives (95th percentile)."""
    factor = f"the largest factor beyond ability explains {share:.1%} of the residual variance"
    chance = f"chance alone up to {by_chance:.1%} ({subjects:,} subjects, {items:,} items)"
    if share <= by_chance:
        return f"One dimension suffices: {factor}, {chance}."
    verdict = f"More than one dimension ({'a little' if share < 2.0 * by_chance else 'clearly'})"
    return f"{verdict}: {factor}, {chance}; abilities are averages over what items ask for."


def _rates(p: Parameters, ability: Floats) -> Floats:
    return np.clip(chances(p, ability).T, 1e-6, 1.0 - 1e-6)


def _largest_factor(right: Any, trials: Floats, rate: Floats) -> float:
    """Return the largest eigenvalue of the correlations of residuals, as a share of their sum."""
    taken, right = trials > 0, np.asarray(right, dtype=np.float64)
    residual = np.where(taken, (right - trials * rate) / np.sqrt(np.maximum(trials, 1.0) * rate * (1.0 - rate)), 0.0)
    residual = np.clip(residual, -5.0, 5.0)  # one surprise among many sure answers is no factor
    together = taken.astype(np.float64).T @ taken
    scale = np.sqrt(np.maximum(np.sum(residual**2, axis=0), _FLOOR))
    sizes = np.sqrt(taken.sum(axis=0))
    pairs = np.where(together > 0, np.outer(sizes, sizes) / np.maximum(together, 1.0), 0.0)
    correlations = (residual / scale).T @ (residual / scale) * pairs
    return float(np.linalg.eigvalsh(correlations)[-1] / len(correlations))


POOR_FIT = 0.1
"""Root mean square gap between answers and curve from which an item is named."""
FEW_SUBJECTS = 50
"""Subjects below which discriminations are mostly the prior's."""
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
        sizes = f"{held.subjects} subjects and {held.items} items"
        raise MensuraError(f"responses: {sizes}; a scale needs at least two of both")
    rates = table.items["rate"]
    if bool(((rates <= 0.0) | (rates >= 1.0)).all()):
        raise MensuraError(
            "responses: every item was answered right by all or wrong by all; nothing distinguishes subjects. Add "
            "items that some answered right and some wrong"
        )


def refuse_unlinked(subjects: pl.DataFrame, groups: list[str], taken: Any) -> tuple[str, ...]:
    """Refuse groups that share no item with the first, directly or through others; warn of such subjects within it.

    ``taken``: whether subjects (rows) took items.
    """
    linked = np.zeros(subjects.height, dtype=bool)
    linked[0], count = True, 0
    while linked.sum() > count:
        count = int(linked.sum())
        items = np.asarray(taken[linked].sum(axis=0)).ravel() > 0
        linked = np.asarray(taken[:, items].sum(axis=1)).ravel() > 0
    inside = set(subjects.filter(pl.Series(linked))["group"])
    for group in groups:
        if group not in inside:
            raise MensuraError(
                f"responses: group {group!r} shares no item with group {groups[0]!r}, so they have no common "
                "scale. Add items that both took, or fit each alone"
            )
    if linked.all():
        return ()
    left = listed_names(subjects.filter(pl.Series(~linked))["subject"].to_list())
    return (
        f"{int((~linked).sum())} subjects share no item with the others ({left}); they are compared as if both had "
        "the same abilities on average",
    )


def of_first_group(groups: pl.DataFrame) -> tuple[str, ...]:
    """Warn, of several groups, what belongs to the first alone, and of one that is too small to be the measure."""
    if groups.height < 2:
        return ()
    name, size = groups.row(0)[:2]
    small = f"group {name!r}, whose spread is the unit, has {size} subjects; name a larger one by --reference"
    is_small = bool(size < min(FEW_SUBJECTS, groups["subjects"].to_numpy().max()))
    return (f"S-X², infit, outfit, pairs and M2 are those of group {name!r} alone", *(small,) * is_small)


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
    share, words, ability = dimensionality(sample, some, fitted.grid, rng)
    finding = [("dimensions", share, words), *_repeats(sample, some, ability)]
    return replace(result, checks=pl.DataFrame(finding, schema=CHECKS, orient="row"))


def _repeats(sample: Shard, p: Parameters, ability: Floats) -> list[tuple[str, float, str]]:
    """Say how much repeats of an item by a subject agree beyond chance: their correlation, by moments."""
    if sample.trials is None or int(np.max(sample.trials)) < 2:
        return []
    n, rate = np.asarray(sample.trials, dtype=np.float64), _rates(p, ability)
    surplus = (np.asarray(sample.right) - n * rate) ** 2 - n * rate * (1.0 - rate)
    alike = float(np.clip(np.sum(surplus * (n > 1)) / max(np.sum(n * (n - 1.0) * rate * (1.0 - rate)), 1e-9), 0.0, 1.0))
    verdict = "intervals are too short: use repeats 'average'" if alike > _ALIKE else "they count as independent trials"
    return [("repeats", alike, f"Repeats of an item by a subject correlate by {alike:.2f}: {verdict}.")]


def with_findings(result: ResponseFit) -> ResponseFit:
    """Say what a reader must know before using the numbers."""
    items, subjects = result.items, result.subjects.height
    slope, rate = items["discrimination"], items["rate"]
    against, one_sided = items.filter(slope < 0.0)["item"], items.filter((rate <= 0.0) | (rate >= 1.0))["item"]
    free_guessing = result.model == "3pl" and result.estimation == LIKELIHOOD
    findings = {
        f"not converged in {result.passes} passes; the numbers are those of the best one": not result.converged
        and not free_guessing,
        "without a prior, guessing of some items runs to 0 or their discrimination rises for ever, so the fit does not "
        "converge; leave --prior out for a prior of guessing alone, or use --prior weak": free_guessing
        and not result.converged,
        "the answers do not show that subjects differ in one ability; do the items ask for the same thing?": (
            result.model == "rasch" and (slope <= just_above(LEAST_SD)).all()
        ),
        "subjects answer almost without error (all right or all wrong from some item on), so a prior limits the "
        "discriminations; the order of abilities is sound, their distances are not": (
            float(np.mean(slope.to_numpy())) > STEEPEST
        ),
        f"{against.len()} items run against the scale (wrong key?): {listed_names(against.to_list())}": against.len(),
        f"{one_sided.len()} items were answered alike by all, so priors give their parameters: "
        f"{listed_names(one_sided.to_list())}": one_sided.len(),
        f"{subjects} subjects tell little about discriminations; the prior gives much of them": (
            0 < subjects < FEW_SUBJECTS and result.model != "rasch" and result.estimation != LIKELIHOOD
        ),
    }
    poor = items.filter((pl.col("fit") > POOR_FIT) & (pl.col("fit_q") < RATE))["item"].to_list()
    text = f"{len(poor)} of {items.height} items depart from their curve by more than {POOR_FIT:g} (RMSD; {_RATE_SAID})"
    rows = [("item fit", float(len(poor)), text + (f": {listed_names(poor)}" if poor else ""))]
    if result.dif.height:
        flagged = result.dif.filter("flagged")
        count = flagged["item"].n_unique()
        text = f"{count} of {items.height} items differ between groups by {SMALL:g} logits or more ({_RATE_SAID})"
        rows.append(("differences between groups", float(count), text))
    checks = pl.concat([result.checks, pl.DataFrame(rows, schema=CHECKS, orient="row")])
    warnings = tuple(text for text, holds in findings.items() if holds)
    return replace(result, checks=checks, warnings=(*warnings, *of_first_group(result.groups)))
