"""Link two fits by their common items: abilities and difficulties of one on the scale of the other.

Abilities of a new fit become Aθ + B on the scale of the base, discriminations a/A and difficulties Ab + B. A and B come
from the common items: by mean and standard deviation of their difficulties (``mean-sigma``), or by their curves, item
by item (``haebara``) or summed over the test (``stocking-lord``). Their errors come from draws of the items' errors,
and that of A also from the number of subjects behind either unit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.core.results import Result
from mensura.responses.bank import ItemBank
from mensura.responses.irt.model import Items
from mensura.responses.result import ResponseFit, ability_table, read_fit

Link = tuple[float, float]
Pairs = Sequence[tuple[Items, Items]]
LEAST_COMMON = 3
"""Common items that two numbers are found from."""
_NODES = np.linspace(-4.0, 4.0, 41)
_DRAWS = 200
_STEPS = 3
_LONGEST_STEP, _FURTHEST = 1.0, np.array([np.log(100.0), 50.0])
"""Largest step of a draw, and largest logarithm of the slope and intercept: few answers leave both nearly open."""
_DRIFT = 3.0
"""Standard errors beyond which an item is named that moved against the others."""


@dataclass(frozen=True, eq=False, repr=False)
class LinkedFit(Result):
    """Show a fit on the scale of another.

    Attributes
    ----------
    coefficients
        method, slope (A), intercept (B), se_slope, se_intercept, items (common).
    items
        Common items with difficulty (on the scale of the base), base (its difficulty there), difference, z.
    subjects
        subject, ability, low, high (90%), se, group on the scale of the base; the errors of A and B are included.
    warnings
        Items that moved against the others.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("coefficients", "items", "subjects")

    coefficients: pl.DataFrame
    items: pl.DataFrame
    subjects: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The numbers that link the scales."""
        row = self.coefficients.row(0, named=True)
        return (
            f"base = {row['slope']:.3f} (±{row['se_slope']:.3f}) × new + {row['intercept']:.3f} "
            f"(±{row['se_intercept']:.3f}), {row['method']}, {row['items']} common items"
        )


def link_fits(new: Any, base: Any, *, method: str = "stocking-lord", seed: int = 0) -> LinkedFit:
    """Put a fit on the scale of another one through the items that both have.

    Parameters
    ----------
    new, base
        A :class:`ResponseFit` or the folder of one; the scale of ``base`` is kept.
    method
        ``stocking-lord``, ``haebara`` or ``mean-sigma``.
    seed
        Of the draws that give the errors.

    Returns
    -------
    LinkedFit
        Coefficients of the link, the common items, and the new subjects on the scale of the base.

    Raises
    ------
    MensuraError
        If the fits have fewer than three common items.

    Examples
    --------
    >>> from mensura.responses import fit_responses, link_fits
    >>> right = {f"q{k}": [int(row * row % 13 > 3 * k) for row in range(40)] for k in range(4)}
    >>> fit = fit_responses({"subject": [f"p{k}" for k in range(40)], **right}, model="rasch")
    >>> link_fits(fit, fit, method="mean-sigma").coefficients["items"].to_list()
    [4]

    """
    check_choice("method", method, _FINDERS)
    one, other = (fit if isinstance(fit, ResponseFit) else read_fit(Path(fit)) for fit in (new, base))
    places = {item: place for place, item in enumerate(other.bank.items)}
    common = [item for item in one.bank.items if item in places]
    if len(common) < LEAST_COMMON:
        few = f"link: the fits have {len(common)} common items; expected {LEAST_COMMON} or more"
        raise MensuraError(f"{few}. Use the same item ids in both fits")
    own = {item: place for place, item in enumerate(one.bank.items)}
    banks = one.bank.only([own[item] for item in common]), other.bank.only([places[item] for item in common])
    if [len(codes) for codes in banks[0].categories] != [len(codes) for codes in banks[1].categories]:
        raise MensuraError("link: common items have other numbers of categories in the two fits. Fit both alike")
    rng = np.random.default_rng(seed)
    draws = [(banks[0].drawn(rng), banks[1].drawn(rng)) for _ in range(_DRAWS)]
    (slope, intercept), *drawn = _FINDERS[method]([(banks[0].parameters, banks[1].parameters), *draws])
    covariance = np.cov(np.array(drawn).T)
    (new_unit, new_zero), (base_unit, base_zero) = _group_errors(one), _group_errors(other)
    covariance[0, 0] += slope**2 * (new_unit + base_unit)
    covariance[1, 1] += slope**2 * new_zero + base_zero
    of_slope, of_intercept = np.sqrt(np.diag(covariance)).tolist()
    row = {"method": method, "slope": slope, "intercept": intercept}
    row |= {"se_slope": of_slope, "se_intercept": of_intercept, "items": len(common)}
    items = _item_table(common, *banks, slope, intercept)
    moved = items.filter(pl.col("z").abs() > _DRIFT)["item"].to_list()
    warning = f"{len(moved)} common items moved by more than {_DRIFT:g} standard errors: {', '.join(moved[:5])}"
    subjects = _subject_table(one.subjects, slope, intercept, covariance)
    return LinkedFit(pl.DataFrame([row]), items, subjects, (warning,) if moved else ())


def _group_errors(fit: ResponseFit) -> tuple[float, float]:
    """Return the variances of the logarithm of a fit's unit and of its zero: spread and mean of its first group."""
    first = fit.subjects.filter(pl.col("group") == fit.reference)
    count, reliability = max(1, first.height), max(0.2, 1.0 - float(np.mean(first["se"].to_numpy() ** 2)))
    return 1.0 / (2.0 * count * reliability**2), 1.0 / (count * reliability)


def _mean_sigma(new: Items, base: Items) -> Link:
    mine, theirs = new.difficulty, base.difficulty
    spread = float(np.std(mine))
    if spread < 1e-9:
        raise MensuraError("link: the common items have one difficulty; mean-sigma needs several. Use stocking-lord")
    slope = float(np.std(theirs)) / spread
    return slope, float(np.mean(theirs) - slope * np.mean(mine))


def _by_curves(pairs: Pairs, fold: Callable[[Floats], Floats]) -> list[Link]:
    """Return the numbers under which the curves of the common items agree best, over a normal ability of the base.

    The first pair is solved from scratch. Draws of the items' errors lie near it: a few steps suffice.
    """
    from scipy.optimize import least_squares

    weight = np.exp(-0.25 * _NODES**2)
    new, base = pairs[0]
    mean = np.median(base.difficulty) - np.median(new.difficulty)
    sd = np.median(new.slope) / np.median(base.slope)

    def off(x: Floats, new: Items, goal: Floats) -> Floats:
        own = new.expected_scores((_NODES - x[1]) / np.exp(x[0]))
        return (fold(own - goal) * weight).ravel()

    def slopes(x: Floats, new: Items, _goal: Floats) -> Floats:
        at = (_NODES - x[1]) / np.exp(x[0])
        rise = new.score_slopes(at)
        return np.column_stack([(fold(part) * weight).ravel() for part in (-at * rise, -rise / np.exp(x[0]))])

    start = np.array([np.log(np.clip(sd, 0.1, 10.0)), np.clip(mean, -5.0, 5.0)])
    limits = (-_FURTHEST, _FURTHEST)
    solutions = [least_squares(off, start, slopes, bounds=limits, args=(new, base.expected_scores(_NODES))).x]
    for new, base in pairs[1:]:
        x, goal = solutions[0], base.expected_scores(_NODES)
        for _ in range(_STEPS):
            step = np.linalg.lstsq(slopes(x, new, goal), off(x, new, goal))[0]
            x = np.clip(x - np.clip(step, -_LONGEST_STEP, _LONGEST_STEP), -_FURTHEST, _FURTHEST)
        solutions.append(x)
    return [(float(np.exp(x[0])), float(x[1])) for x in solutions]


_FINDERS: dict[str, Callable[[Pairs], list[Link]]] = {
    "mean-sigma": lambda pairs: [_mean_sigma(new, base) for new, base in pairs],
    "haebara": lambda pairs: _by_curves(pairs, lambda gap: gap),
    "stocking-lord": lambda pairs: _by_curves(pairs, lambda gap: gap.sum(axis=0)),
}
"""What finds slope and intercept of each pair of a new and a base's items; pairs after the first lie near it."""


def _item_table(common: list[str], new: ItemBank, base: ItemBank, slope: float, intercept: float) -> pl.DataFrame:
    linked, theirs = slope * new.parameters.difficulty + intercept, base.parameters.difficulty
    error = np.sqrt((slope * new.errors[:, 1]) ** 2 + base.errors[:, 1] ** 2)
    z = np.where(error > 0.0, (linked - theirs) / np.maximum(error, 1e-12), 0.0)
    return pl.DataFrame({"item": common, "difficulty": linked, "base": theirs, "difference": linked - theirs, "z": z})


def _subject_table(subjects: pl.DataFrame, slope: float, intercept: float, covariance: Floats) -> pl.DataFrame:
    ability, se = (subjects[name].to_numpy() for name in ("ability", "se"))
    linked = slope * ability + intercept
    of_link = ability**2 * covariance[0, 0] + 2.0 * ability * covariance[0, 1] + covariance[1, 1]
    error = np.sqrt((slope * se) ** 2 + np.maximum(of_link, 0.0))
    return ability_table(subjects.select("subject", "group"), linked, error)
