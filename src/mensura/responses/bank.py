"""Items with known parameters, right or wrong or rated, and which of the free ones: spread and balanced by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.special import logsumexp

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.intake.answers import AnswerLog
from mensura.intake.tables import as_frame, read_table
from mensura.responses.category_table import read_ratings
from mensura.responses.irt import category_curves
from mensura.responses.irt.abilities import estimate
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.irt.model import Items, Parameters, log_chances
from mensura.responses.irt.passes import Grid
from mensura.responses.irt.shards import dense
from mensura.responses.irt.ties import curve_of
from mensura.responses.reading import only_items, read_responses
from mensura.responses.table import ResponseTable

_GRID = np.linspace(-8.0, 8.0, 321)
_OF_CATEGORY = ("discrimination", "intercept")
_LEAST_SLOPE, _SAME_SLOPE = 0.05, 1e-6


@dataclass(frozen=True)
class Placement:
    """Place one subject by some answers.

    Attributes
    ----------
    ability, se
        Posterior mean and standard deviation.
    n
        How many items stand behind it.
    weighted, se_weighted
        The estimate of the weighted likelihood, without a prior, and its standard error.

    """

    ability: float
    se: float
    n: int
    weighted: float = float("nan")
    se_weighted: float = float("nan")


@dataclass(frozen=True, eq=False)
class ItemBank:
    """Keep items with known parameters, as ``items.csv`` of a fit holds them.

    Attributes
    ----------
    items
        Their names.
    parameters
        Their curves.
    errors
        Standard errors of discrimination and difficulty, items × 2; zeros where they are not known.
    answers
        How many stand behind the middle item; none where that is not known.
    categories
        Of ratings, the categories of each item above the lowest.
    lowest
        Of ratings, the lowest category of each item; none where that is not known.

    """

    items: tuple[str, ...]
    parameters: Items
    errors: Floats
    answers: float | None = None
    categories: tuple[tuple[float, ...], ...] = ()
    lowest: tuple[float, ...] = ()

    @classmethod
    def from_table(cls, table: Any) -> ItemBank:
        """Read item, discrimination, difficulty and, where there is any, guessing."""
        frame = as_frame(table, name="items")
        require_columns(frame, ["item", "discrimination", "difficulty"], name="items")
        names = frame["item"].cast(pl.String)
        if names.n_unique() < names.len():
            raise MensuraError(f"items: {names.filter(names.is_duplicated())[0]!r} occurs twice; remove one row")
        slope, difficulty = (frame[name].cast(pl.Float64).to_numpy() for name in ("discrimination", "difficulty"))
        c, *errors = (_numbers(frame, name) for name in ("guessing", "se_discrimination", "se_difficulty"))
        if not np.all(np.isfinite(slope)) or not np.all(np.isfinite(difficulty)) or np.any((c < 0.0) | (c >= 1.0)):
            raise MensuraError("items: discrimination and difficulty must be numbers, guessing from 0 to below 1")
        model = "3pl" if np.any(c > 0.0) else "2pl"
        guess = np.log(np.maximum(c, 1e-12) / (1.0 - c))
        parameters = Parameters(model, slope, -slope * difficulty, guess, np.zeros(1), np.ones(1))
        answers = frame["n"].cast(pl.Float64).median() if "n" in frame.columns else None
        return cls(tuple(names), parameters, np.stack(errors, axis=1), answers)  # type: ignore[arg-type]

    @classmethod
    def from_categories(cls, categories: Any, model: str, items: pl.DataFrame | None = None) -> ItemBank:
        """Read the ratings of a ``model``: item, category, discrimination, intercept and their standard errors.

        ``items``: a table with the lowest category of each item, where it is known.
        """
        frame = as_frame(categories, name="categories")
        require_columns(frame, ["item", "category", "discrimination", "intercept"], name="categories")
        rows = frame.with_columns(pl.col("item").cast(pl.String)).partition_by("item", maintain_order=True)
        sizes = np.array([one.height + 1 for one in rows])
        steps = int(sizes.max()) - 1
        slopes, values, errors = steps if model == "nominal" else 1, [], []
        for one in rows:
            a, d = (np.pad(one[name].to_numpy().astype(np.float64), (0, steps - one.height)) for name in _OF_CATEGORY)
            values.append(np.concatenate([a[:slopes], d]))
            of_slope, of_step = (_numbers(one, f"se_{name}") for name in _OF_CATEGORY)
            top = one.height - 1
            errors.append((of_slope[top], of_step.mean() / max(abs(a[top if slopes > 1 else 0]), _LEAST_SLOPE)))
        own = CategoryItems(curve_of(model), sizes, np.array(values), np.zeros(1), np.ones(1))
        names = tuple(str(one["item"][0]) for one in rows)
        codes = tuple(tuple(map(float, one["category"])) for one in rows)
        answers = [float(one["n"].sum()) for one in rows] if "n" in frame.columns else []
        middle = float(np.median(answers)) if answers else None
        lowest = () if items is None or "lowest" not in items.columns else tuple(items["lowest"])
        return cls(names, own, np.array(errors), middle, codes, lowest)

    def only(self, places: Sequence[int] | np.ndarray[Any, Any]) -> ItemBank:
        """Return some of the items."""
        at = np.asarray(places, dtype=int)
        names = tuple(self.items[place] for place in at)
        codes = tuple(self.categories[place] for place in at) if self.categories else ()
        lowest = tuple(self.lowest[place] for place in at) if self.lowest else ()
        return ItemBank(names, self.parameters.of_items(at), self.errors[at], self.answers, codes, lowest)

    def chances(self, ability: Floats) -> Floats:
        """Return the chance of a right answer, or the expected share of the highest rating, items × abilities."""
        highest = np.array([[len(codes)] for codes in self.categories]) if self.categories else 1.0
        return np.asarray(self.parameters.expected_scores(ability) / highest)

    def information(self, ability: Floats) -> Floats:
        """Return what one answer says about ability, items × abilities."""
        return self.parameters.information(ability)

    def rating(self, item: str, value: float) -> int:
        """Return the place of a rating among the categories of an item, the lowest being 0."""
        at = self.items.index(item)
        codes = (self.lowest[at] if self.lowest else min(value, self.categories[at][0] - 1.0), *self.categories[at])
        if value not in codes:
            expected = ", ".join(f"{code:g}" for code in codes)
            raise MensuraError(f"{item}: got the rating {value:g}; expected one of {expected}. Correct it")
        return codes.index(value)

    def drawn(self, rng: np.random.Generator) -> Items:
        """Return the items with errors drawn from their standard errors."""
        p, noise = self.parameters, rng.normal(size=self.errors.shape) * self.errors
        slope = np.where(np.abs(p.slope) > _LEAST_SLOPE, p.slope, _LEAST_SLOPE)
        return p.stretched(np.maximum(1.0 + noise[:, 0] / slope, _LEAST_SLOPE / np.abs(slope)), noise[:, 1])

    def place(self, right: Floats, trials: Floats, *, mean: float = 0.0, sd: float = 1.0) -> Placement:
        """Return the ability that answers speak for, with a normal prior; ``right`` and ``trials`` follow the items.

        Of ratings, ``right`` contains the place of the category (:meth:`rating`), and ``trials`` 1 where there is one.
        """
        taken, likelihood = np.flatnonzero(trials > 0.0), self._likelihood(right, trials)
        height = likelihood - 0.5 * ((_GRID - mean) / sd) ** 2
        weight = np.exp(height - height.max())
        weight /= weight.sum()
        ability = float(weight @ _GRID)
        variance = float(weight @ (_GRID - ability) ** 2)
        variance += variance**2 * self._item_noise(ability, trials)
        of_answers = trials[taken] @ self.only(taken).information(_GRID)
        at, own = estimate("wle", likelihood[None], of_answers[None], Grid(_GRID), np.zeros(1))
        weighted, spread = float(at[0]), float(own[0])
        spread += spread**2 * self._item_noise(weighted, trials)
        n = int(np.count_nonzero(trials))
        return Placement(ability, float(np.sqrt(variance)), n, weighted, float(np.sqrt(spread)))

    @cached_property
    def _of_categories(self) -> Floats:
        """The log chances of categories at the grid (items × categories × nodes): all subjects share them."""
        assert isinstance(self.parameters, CategoryItems)
        return category_curves.log_chances(self.parameters, _GRID)

    def _likelihood(self, right: Floats, trials: Floats) -> Floats:
        taken = np.flatnonzero(trials > 0.0)
        if isinstance(self.parameters, CategoryItems):
            return np.asarray(self._of_categories[taken, right[taken].astype(int)].sum(axis=0))
        log_right, log_wrong = log_chances(self.parameters.of_items(taken), _GRID)
        return np.asarray(right[taken] @ log_right + (trials[taken] - right[taken]) @ log_wrong)

    def evidence(self, right: Floats, trials: Floats, mean: float, sd: float) -> float:
        """Return the log chance of a subject's answers in a population with normal abilities."""
        prior = -0.5 * ((_GRID - mean) / sd) ** 2
        return float(logsumexp(self._likelihood(right, trials) + prior) - logsumexp(prior))

    def fixed_in(self, begin: Parameters, items: pl.Series) -> Parameters:
        """Return where the fit of some items begins, with the parameters of those of the bank, which stay."""
        places, known = {item: place for place, item in enumerate(self.items)}, self.parameters
        at = np.array([places.get(item, -1) for item in items])
        if not np.any(at >= 0) or not isinstance(known, Parameters):
            raise MensuraError(f"fixed: none of its items was answered; expected names such as {items[0]!r}. Use these")
        if begin.model == "rasch" and np.ptp(known.slope[at[at >= 0]]) > _SAME_SLOPE:
            raise MensuraError("fixed: the items have several discriminations, and rasch has one; fit the model 2pl")
        if begin.model != "3pl" and known.model == "3pl":
            raise MensuraError(f"fixed: the items have guessing, and {begin.model} has none; fit the model 3pl")
        slope = np.where(at >= 0, known.slope[at], known.slope[at[at >= 0]].mean())
        intercept, guess = (
            np.where(at >= 0, getattr(known, name)[at], getattr(begin, name)) for name in ("intercept", "guess")
        )
        return replace(begin, slope=slope, intercept=intercept, guess=guess, fixed=at >= 0)

    def _item_noise(self, ability: float, trials: Floats) -> float:
        """Return the variance that errors of the items give to the slope of a log likelihood at an ability.

        Items with large discriminations are chosen first, and theirs are the most overestimated: without this an
        adaptive interval is too short.
        """
        p = self.parameters
        of_ability = self.information(np.array([ability]))[:, 0]
        slope = np.where(np.abs(p.slope) > 1e-6, p.slope, 1e-6)
        by_slope = trials * of_ability / slope**2 + (trials * of_ability * (ability - p.difficulty) / slope) ** 2
        return float(by_slope @ self.errors[:, 0] ** 2 + (trials * of_ability) ** 2 @ self.errors[:, 1] ** 2)


def _numbers(frame: pl.DataFrame, name: str) -> Floats:
    """Return a column that a table may lack, 0 where it has no number."""
    if name not in frame.columns:
        return np.zeros(frame.height)
    return np.asarray(np.nan_to_num(frame[name].cast(pl.Float64).fill_null(0.0).to_numpy(), nan=0.0, posinf=0.0))


def read_bank(place: Path) -> tuple[ItemBank, pl.DataFrame]:
    """Read the items of a fit from its folder, or from a table like its ``items.csv``; return the table too."""
    folder = place if place.is_dir() else place.parent
    table = read_table(folder / "items.csv" if place.is_dir() else place)
    if "dimension" in table.columns and (folder / "intercepts.csv").is_file():
        raise MensuraError(f"{place}: several dimensions have no common scale of items; fit each dimension alone")
    if not (folder / "categories.csv").is_file():
        return ItemBank.from_table(table), table
    model = str(read_table(folder / "quality.csv")["model"][0])
    return ItemBank.from_categories(read_table(folder / "categories.csv"), model, table), table


def answers_in_bank(answers: Any, bank: ItemBank, *, subject: str | None = None) -> tuple[pl.DataFrame, Floats, Floats]:
    """Return subject and group, and right answers (or places of ratings) and trials on the items of a bank.

    An item ``TASK:ID`` may be ``ID`` in the bank. Other items are left out. ``subject``: of a log without names.
    """
    places = {item: place for place, item in enumerate(bank.items)}
    if bank.categories:
        long = read_ratings(only_items(answers, bank.items), AnswerLog(), subject=subject)
        if (twice := long.filter(pl.struct("subject", "item").is_duplicated())).height:
            name, _, item, _ = twice.row(0)
            raise MensuraError(f"{name}: {item} has several ratings; expected one. Leave the others out")
        who = long.select("subject", "group").unique("subject", maintain_order=True)
        rows = {name: row for row, name in enumerate(who["subject"])}
        right, trials = np.zeros((2, who.height, len(bank.items)))
        for name, _, item, value in long.filter(pl.col("item").is_in(bank.items)).iter_rows():
            right[rows[name], places[item]], trials[rows[name], places[item]] = bank.rating(item, value), 1.0
        return who, right, trials
    if isinstance(answers, ResponseTable):
        table = answers
    else:
        table = read_responses(only_items(answers, bank.items), subject=subject)
    numbers = [places.get(item, places.get(item.partition(":")[2], -1)) for item in table.items["item"]]
    taken = np.flatnonzero(np.array(numbers) >= 0)
    into = np.array(numbers)[taken]
    right, trials = np.zeros((2, table.subjects.height, len(bank.items)))
    right[:, into] = dense(table.right[:, taken])
    trials[:, into] = 1.0 if table.trials is None else dense(table.trials[:, taken])
    return table.subjects.select("subject", "group"), right, trials


def foreign_items(name: str, bank: ItemBank) -> MensuraError:
    """Return the error for answers to items that a bank does not have."""
    others = f" or one of {len(bank.items) - 1} others" if len(bank.items) > 1 else ""
    return MensuraError(
        f"{name}: none of its items is in the bank; expected {bank.items[0]!r}{others}. Use the names of items.csv"
    )


_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it, less their whole parts, lie evenly between 0 and 1 however many there are."""


class Contents:
    """The content of every item, and how many more of each are wanted; taking an item counts down.

    A form takes items of each content in proportion to the usable ones, the largest remainders rounded up.
    """

    def __init__(self, bank: ItemBank, content: Mapping[str, str] | None, usable: Mask, size: int) -> None:
        if missing := [] if content is None else [item for item in bank.items if item not in content]:
            raise MensuraError(
                f"content: {len(missing)} items have none, such as {missing[0]!r}; give one for every item"
            )
        parts = [item.partition(":") for item in bank.items]
        by_name = dict(zip(bank.items, (part[0] if part[1] else "all" for part in parts), strict=True))
        self.kinds = [(content or by_name)[item] for item in bank.items]
        counts = Counter(self.kinds[place] for place in np.flatnonzero(usable))
        exact = {kind: size * count / max(1, counts.total()) for kind, count in counts.items()}
        self._quota = {kind: min(counts[kind], int(share)) for kind, share in exact.items()}
        for kind in sorted(exact, key=lambda kind: exact[kind] - int(exact[kind]), reverse=True):
            if sum(self._quota.values()) < size and self._quota[kind] < counts[kind]:
                self._quota[kind] += 1

    @property
    def wanted(self) -> Mask:
        """Items of contents that are not full yet."""
        return np.array([self._quota.get(kind, 0) > 0 for kind in self.kinds], dtype=np.bool_)

    def take(self, place: int) -> None:
        """Count an item."""
        self._quota[self.kinds[place]] = self._quota.get(self.kinds[place], 0) - 1

    def among(self, free: Mask) -> Mask:
        """Return the free items of contents that are wanted, or all free ones where there is none."""
        wanted = free & self.wanted
        return wanted if wanted.any() else free


def difficulty_line(bank: ItemBank, mean: float) -> Ints:
    """Return the items' places from the hardest to the easiest for subjects of an ability."""
    return np.argsort(bank.chances(np.array([mean]))[:, 0], kind="stable").astype(np.int64)


def turn_share(number: int) -> float:
    """Return where along the line the item of a turn lies, from 0 to 1."""
    return float(((number + 1) * _GOLDEN) % 1.0)


def spread_place(density: Floats, line: Ints, share: float) -> int:
    """Return the item at a share of the whole density along a line; an item without density is none."""
    along = density[line]
    among = line[along > 0.0] if np.any(along > 0.0) else line
    total = np.cumsum(np.maximum(density[among], np.finfo(float).tiny))
    return int(among[min(int(np.searchsorted(total, share * total[-1], side="right")), len(among) - 1)])
