"""What a language model's estimates are worth: the part of its shift that is real, and honest intervals.

In logits, with x the observed group's rate, e the model's estimate and h the half-width of its own 90% interval:

    reference_i − x_i = b + β (e_i − x_i) + ε_i,    b ~ N(0, σ_b²),    β ~ N(β₀, σ_β²),    ε_i ~ N(0, τ² + (c h_i / z)²)

b and β are one draw per focal group: a model misjudges a whole group together. β₀ below 1 says that models overdo
differences between groups. The five constants are learned on part-to-whole records of *other* pools (marginal
likelihood, with priors that keep spreads off zero when groups are few: Chung et al., Psychometrika 78, 2013). Links
of the pool at hand, where there are any, update b and β by the same formula.

What both protocols share: whom they ask, the table of answers, and what their readers have to be told.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask, expit, logit
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.extrapolation.line_methods import ranked
from mensura.extrapolation.protocol import empty_sensitivity
from mensura.extrapolation.straight_line import normal_reach, smooth
from mensura.intake.tables import as_frame
from mensura.people import WORLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.extrapolation.protocol import Task
    from mensura.llm import Asker

STATED_LEVEL = 0.9
"""The probability that prompts ask intervals to have."""
Z = normal_reach(STATED_LEVEL)
NEAREST = 0.002
"""Rates closer than this to 0 or 1 are read as this far from them: models answer 0% and mean "hardly anyone"."""
SPREAD_SCALE = 0.2
"""Gamma(2) prior of σ_b, σ_β and τ: mode at 0.2 logits."""
DAMPING_PRIOR, WIDTH_PRIOR = 0.1, 0.3
"""Prior spread of β₀ around 1, and of ln c around 0."""
TYPICAL_SLOPE = 0.2
"""Mean of p (1 − p) over items between 10% and 90%: by how much a rate moves per logit."""
SHIFT, DAMPING, ITEM = "shift of the group", "part of the shift that is real", "error of an item"
FEWEST_GROUPS = 2
_SMALLEST_VARIANCE = 1e-12
RECORD_COLUMNS = ("pool", "group", "item", "observed", "whole", "estimate", "low", "high")


@dataclass(frozen=True)
class Correction:
    """The five constants of the model above, in logits, and where they come from.

    ``damping``: β₀. ``damping_sd``: σ_β. ``shift_sd``: σ_b. ``item_sd``: τ. ``width``: c, the factor on the model's own
    intervals.
    """

    damping: float
    damping_sd: float
    shift_sd: float
    item_sd: float
    width: float
    origin: str = ""

    def __post_init__(self) -> None:
        spreads = {name: getattr(self, name) for name in ("damping_sd", "shift_sd", "item_sd", "width")}
        for name, value in spreads.items():
            if not 0 <= value < np.inf:
                raise MensuraError(f"correction: {name} must be a number of 0 or more, got {value}")
        if not np.isfinite(self.damping):
            raise MensuraError(f"correction: damping must be a number, got {self.damping}")

    def apply(self, task: Task, rate: Floats, half: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Return corrected rates with bounds, draws × items, from the model's rates and half-widths in logits.

        An item without an estimate (NaN) stays without one. Part of a reference is the observed group itself: no rate
        leaves the range its share allows.
        """
        x, answered = logit(_inside(smooth(task.rate, task.n))), np.isfinite(rate)
        gap = np.where(answered, logit(_inside(rate)) - x, 0.0)
        noise = self.item_sd**2 + (self.width * np.where(answered, half, 0.0) / Z) ** 2
        mean, variance = self._predictive(task, x, gap, noise, task.known & answered)
        reach = normal_reach(level) * np.sqrt(variance)
        least = task.share * task.rate
        low, middle, high = (
            np.where(answered, np.clip(expit(x + mean + side), least, least + 1 - task.share), np.nan)
            for side in (-reach, 0.0, reach)
        )
        return middle, low, high

    def sensitivity(self, task: Task, rate: Floats, half: Floats, level: float) -> pl.DataFrame:
        """Return how the mean rate moves when b, β or an item's own error goes to the ends of its range.

        As if the error of every item had the same sign, so the third row speaks of one item rather than of the mean.
        Of one draw and without links, which narrow the first two.
        """
        answered = np.isfinite(rate)
        if task.draws > 1 or not answered.any():
            return empty_sensitivity()
        x = logit(_inside(smooth(task.rate, task.n)))[answered]
        gap, z = logit(_inside(rate[answered])) - x, normal_reach(level)
        own = np.sqrt(self.item_sd**2 + (self.width * half[answered] / Z) ** 2)
        moved = {
            SHIFT: (0.0, self.shift_sd, np.ones_like(gap)),
            DAMPING: (self.damping, self.damping_sd, gap),
            ITEM: (0.0, float(own.mean()), own / own.mean()),
        }
        rows = []
        for name, (value, sd, reach) in moved.items():
            ends = [float(expit(x + self.damping * gap + side * z * sd * reach).mean()) for side in (-1, 1)]
            rows.append((name, value, value - z * sd, value + z * sd, ends[0], ends[1]))
        return ranked(rows)

    def _predictive(self, task: Task, x: Floats, gap: Floats, noise: Floats, known: Mask) -> tuple[Floats, Floats]:
        """Return mean and variance of reference − x, draws × items, given the links of each draw."""
        X = np.stack([np.ones_like(gap), gap], axis=1)
        links = np.where(known, task.links, 0.5)
        found = logit(_inside(smooth(links, task.links_n))) - x
        sampling = 1 / (task.links_n * np.maximum(links * (1 - links), NEAREST))
        precision = np.where(known, 1 / np.maximum(noise + sampling, _SMALLEST_VARIANCE), 0.0)
        prior = np.maximum(np.array([self.shift_sd, self.damping_sd]) ** 2, _SMALLEST_VARIANCE)
        A = np.einsum("di,ip,iq->dpq", precision, X, X) + np.diag(1 / prior)
        right = np.einsum("di,ip->dp", precision * found, X) + np.array([0.0, self.damping]) / prior
        C = np.linalg.inv(A)
        theta = np.einsum("dpq,dq->dp", C, right)
        return theta @ X.T, np.einsum("ip,dpq,iq->di", X, C, X) + noise


def learn_correction(records: object) -> Correction:
    """Learn the constants from part-to-whole records: pool, group, item, observed, whole, estimate, low, high.

    Each pool and group is one focal group; at least two are needed. Keep the pool to be judged out of the records.
    """
    table = as_frame(records, name="records")
    require_columns(table, list(RECORD_COLUMNS), name="records")
    groups = [_Group.of(part) for _, part in table.group_by("pool", "group", maintain_order=True)]
    if len(groups) < FEWEST_GROUPS:
        raise MensuraError(f"records: {len(groups)} focal group; at least {FEWEST_GROUPS} are needed to learn from")
    from scipy.optimize import minimize

    start = np.array([1.0, *np.log([SPREAD_SCALE, SPREAD_SCALE, SPREAD_SCALE, 1.0])])
    found = minimize(_cost, start, args=(groups,), method="L-BFGS-B")
    damping_sd, shift_sd, item_sd, width = (float(value) for value in np.exp(found.x[1:]))
    pools = ", ".join(table["pool"].unique(maintain_order=True))
    return Correction(float(found.x[0]), damping_sd, shift_sd, item_sd, width, f"{len(groups)} focal groups of {pools}")


@dataclass(frozen=True)
class _Group:
    """One focal group's records in logits: what was to be found, what the model said, its half-widths."""

    truth: Floats
    gap: Floats
    half: Floats

    @classmethod
    def of(cls, table: pl.DataFrame) -> _Group:
        x, y, e, low, high = (
            logit(_inside(table[name].cast(pl.Float64).to_numpy()))
            for name in ("observed", "whole", "estimate", "low", "high")
        )
        return cls(y - x, e - x, (high - low) / 2)


def _cost(theta: Floats, groups: list[_Group]) -> float:
    """Return the negative log posterior; spreads and width come as logarithms.

    A group's covariance is diagonal plus rank two (b and β), so that determinant and inverse take 2 × 2 matrices.
    """
    damping, (damping_sd, shift_sd, item_sd, width) = theta[0], np.exp(theta[1:])
    cost = 0.5 * ((damping - 1) / DAMPING_PRIOR) ** 2 + 0.5 * (np.log(width) / WIDTH_PRIOR) ** 2
    for spread in (damping_sd, shift_sd, item_sd):
        cost -= np.log(spread) - spread / SPREAD_SCALE
    for group in groups:
        residual, noise = group.truth - damping * group.gap, item_sd**2 + (width * group.half / Z) ** 2
        common = np.stack([np.full_like(noise, shift_sd), damping_sd * group.gap], axis=1)
        inner = np.eye(2) + (common.T / noise) @ common
        shared = (common.T / noise) @ residual
        fit = residual @ (residual / noise) - shared @ np.linalg.solve(inner, shared)
        cost += 0.5 * (np.log(noise).sum() + np.log(np.linalg.det(inner)) + fit)
    return float(cost)


def shipped_correction(pool: str = "") -> Correction:
    """Return the correction learned on the recorded estimates; without those of ``pool``, where it is one of them."""
    table = pl.read_csv((files("mensura.extrapolation") / "data" / "corrections.csv").read_bytes())
    rows = table.filter(pl.col("without") == pool)
    row = (rows if rows.height else table.filter(pl.col("without") == "none")).row(0, named=True)
    return Correction(
        **{name: row[name] for name in ("damping", "damping_sd", "shift_sd", "item_sd", "width", "origin")}
    )


def published_correction() -> Correction:
    """Return what the paper's tables say of one item per call: no shift to take back, and errors of that size.

    Its five models' root mean squared errors on ICAR, PISA and TIMSS, pooled, over the slope of rates in logits.
    """
    from mensura.evidence import load

    rows = load().validations.filter((pl.col("task") == "validation") & pl.col("rmse").is_not_null())
    error = float(np.sqrt((rows["rmse"].to_numpy() ** 2).mean())) / TYPICAL_SLOPE
    return Correction(1.0, 0.0, 0.0, error, 1.0, "published validation errors of five models on three tests")


def _inside(rate: Floats) -> Floats:
    inside: Floats = np.clip(rate, NEAREST, 1 - NEAREST)
    return inside


ANSWER_COLUMNS = {
    "item": pl.String(),
    "variant": pl.String(),
    "repeat": pl.Int64(),
    "rate": pl.Float64(),
    "form": pl.String(),
    "error": pl.String(),
}
"""Every answer of a language model, one per row; the rate is null where the answer could not be read."""
_SHOWN = 3
_LONGEST = 100
_NEVER_CHECKED = (
    "no world estimate has ever been checked against the world: the intervals are those of estimates for whole "
    "samples, where the truth is known"
)


class AskingMethod:
    """Share what the methods have that ask a language model: whom they ask, and under which name."""

    NAME: ClassVar[str] = ""
    asker: Asker | None

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        return self.NAME

    @property
    def model(self) -> str:
        """The name of the language model."""
        return self.whom.model

    @property
    def whom(self) -> Asker:
        """Whom to ask; a method without anybody is refused."""
        return somebody(self.asker, self.NAME)


def somebody(asker: Asker | None, method: str) -> Asker:
    """Return whom a method asks; a method without anybody to ask is refused."""
    if asker is None:
        raise MensuraError(
            f"method {method!r} needs asker, a language model: mensura.llm.open_asker(NAME), or --model NAME"
        )
    return asker


def failures_told(failures: Sequence[str], calls: int) -> tuple[str, ...]:
    """Say how many calls gave no readable answer, and the commonest reasons; nothing where none failed."""
    if not failures:
        return ()
    common = Counter(reason[:_LONGEST] for reason in failures).most_common(_SHOWN)
    reasons = "; ".join(f"{reason} ({count})" for reason, count in common)
    return (f"{len(failures)} of {calls} answers could not be read: {reasons}",)


def world_told(task: Task) -> tuple[str, ...]:
    """Say that nobody knows how wrong an estimate for the world is."""
    return (_NEVER_CHECKED,) if task.reference.name == WORLD.name else ()
