"""Adaptive testing: which items to run, and when enough were run.

An item says most where its curve is steep: information I(θ) = P′²/(P(1−P)). Always the most informative item is the
best choice where curves are known and one ability explains all answers. Where curves come from some dozen models
neither holds: the items that seem to say most are those that seem so by chance, and what they ask for is not what the
whole test asks for, so that more of them bring no more. Hence the default ``spread``: the first items, which find out
where the subject stands, are the most informative ones; from then on items are spread along the difficulties with a
density in proportion to √I, the standard deviation of what an answer adds to the slope of the full test's log
likelihood. Such a sample estimates that slope, and so the ability that the full test would give, with the least error
whether or not the model is true (Neyman's allocation). ``best`` takes the most informative items throughout.

Content is balanced by quotas in proportion to the bank's (or the user's) contents; exposure is limited by drawing.
The stop rule looks at the interval that is reported, with the items' own errors in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.core.results import Result
from mensura.responses.bank import Contents, ItemBank, Placement, difficulty_line, spread_place, turn_share
from mensura.scale import Z90

CHOICES = ("spread", "best")
FIRST = 5
"""Items that find out where a subject stands, before items are spread."""
FEW_ANSWERS = 100
"""Answers to an item below which its discrimination is mostly the prior's."""
_ROOM = 3
"""Exposure: an item is drawn among this many times the items wanted."""
_NODES = np.linspace(-4.0, 4.0, 41)
_WEIGHTS = np.exp(-0.5 * _NODES**2) / np.exp(-0.5 * _NODES**2).sum()


@dataclass(frozen=True)
class Aim:
    """State for whom items are chosen, and how exactly, in standard deviations of the fit's first group.

    Parameters
    ----------
    mean, sd
        Of the abilities. A new subject is often stronger than all that the items were calibrated on, so the default
        is wider than they are.
    delta
        Half-width of the 90% interval that is enough.

    """

    mean: float = 0.0
    sd: float = 1.5
    delta: float = 0.3

    def __post_init__(self) -> None:
        if not self.sd > 0.0 or not self.delta > 0.0:
            raise MensuraError(f"aim: sd {self.sd:g} and delta {self.delta:g} must be above 0")


@dataclass(frozen=True, eq=False, repr=False)
class ShortForm(Result):
    """List a fixed set of items.

    Attributes
    ----------
    form
        order, item, content, error (90% half-width with the items so far, on average over the group).
    warnings
        Of items that few have answered.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("form",)

    form: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """How long it is and how exact."""
        return f"{self.form.height} items place a subject within ±{self.form['error'][-1]:.2f} (90%), on average"


@dataclass(frozen=True, eq=False, repr=False)
class NextItems(Result):
    """List what to run next.

    Attributes
    ----------
    next
        item, content, information.
    standing
        ability, low, high, n, done, left (items to go, estimated; null where even all items left are too few).
    warnings
        Of items that few have answered.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("next", "standing")

    next: pl.DataFrame
    standing: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Where the subject stands and whether that is enough."""
        row = self.standing.row(0, named=True)
        to_go = "even all items left are too few" if row["left"] is None else f"about {row['left']} items to go"
        ends = "enough" if row["done"] else to_go
        interval = f"({row['low']:.2f} to {row['high']:.2f}, 90%)"
        return f"ability {row['ability']:.2f} {interval} after {row['n']} items: {ends}"


def select_items(
    bank: ItemBank,
    size: int,
    *,
    aim: Aim | None = None,
    content: Mapping[str, str] | None = None,
    choice: str = "spread",
) -> ShortForm:
    """Choose a short form for a group. The first items of a form are a form themselves.

    Parameters
    ----------
    bank
        The items to choose from.
    size
        How many items.
    aim
        The group: mean and standard deviation of its abilities.
    content
        The content of each item, whose shares of the bank the form keeps; by default the part of its name before a
        colon.
    choice
        ``spread`` or, item after item, the ``best``, which most lowers the mean posterior variance over the group's
        abilities.

    Returns
    -------
    ShortForm
        The items in order, with the error that each leaves.

    Raises
    ------
    MensuraError
        If the bank has fewer usable items than ``size``, or an item has no content.

    Examples
    --------
    >>> from mensura.responses import ItemBank, select_items
    >>> items = {"item": ["a", "b", "c"], "discrimination": [1.0, 1.5, 0.7], "difficulty": [-1.0, 0.0, 1.0]}
    >>> select_items(ItemBank.from_table(items), 2, choice="best").form["item"].to_list()
    ['b', 'a']

    """
    aim = aim or Aim()
    check_choice("choice", choice, CHOICES)
    usable = bank.parameters.slope > 0.0
    if not 1 <= size <= np.count_nonzero(usable):
        raise MensuraError(f"size: got {size}; expected 1 to {np.count_nonzero(usable)}, the usable items of the bank")
    information = bank.information(aim.mean + aim.sd * _NODES)
    contents = Contents(bank, content, usable, size)
    line, density = difficulty_line(bank, aim.mean), np.sqrt(information) @ _WEIGHTS
    precision = np.full(len(_NODES), aim.sd**-2.0)
    chosen: list[int] = []
    errors = []
    for turn in range(size):
        free = usable & contents.wanted
        free[chosen] = False
        if choice == "best":
            places = np.flatnonzero(free)
            one = int(places[np.argmin((1.0 / (precision + information[places])) @ _WEIGHTS)])
        else:
            one = spread_place(np.where(free, density, 0.0), line, turn_share(turn))
        chosen.append(one)
        contents.take(one)
        precision = precision + information[one]
        errors.append(Z90 * float(np.sqrt((1.0 / precision) @ _WEIGHTS)))
    columns = {
        "order": list(range(1, size + 1)),
        "item": [bank.items[place] for place in chosen],
        "content": [contents.kinds[place] for place in chosen],
        "error": errors,
    }
    return ShortForm(pl.DataFrame(columns), _few_subjects(bank))


def next_items(
    bank: ItemBank,
    answers: Mapping[str, tuple[float, float]],
    *,
    count: int = 1,
    aim: Aim | None = None,
    content: Mapping[str, str] | None = None,
    exposure: np.random.Generator | None = None,
    choice: str = "spread",
) -> NextItems:
    """Choose the next items for a subject from its answers so far.

    Parameters
    ----------
    bank
        The items to choose from.
    answers
        Right answers and trials of each item so far.
    count
        How many items to run next.
    aim
        Prior of the ability, and the half-width of the 90% interval that is enough.
    content
        The content of each item, whose shares of the bank are kept; by default the part of its name before a colon.
    exposure
        Draws the place of spread items, and the others among the three times as many best, so that not every subject
        meets the same ones.
    choice
        ``spread`` or ``best`` (see the module).

    Returns
    -------
    NextItems
        The items, and where the subject stands.

    Raises
    ------
    MensuraError
        If an answer is to an item that the bank does not have.

    Examples
    --------
    >>> from mensura.responses import ItemBank, next_items
    >>> items = {"item": ["a", "b", "c"], "discrimination": [1.0, 1.5, 0.7], "difficulty": [-1.0, 0.0, 1.0]}
    >>> next_items(ItemBank.from_table(items), {"b": (1, 1)}).next["item"].to_list()
    ['a']

    """
    aim = aim or Aim()
    check_choice("choice", choice, CHOICES)
    if count < 1:
        raise MensuraError(f"count: got {count}; expected at least 1")
    if unknown := [item for item in answers if item not in set(bank.items)]:
        raise MensuraError(
            f"answers: {unknown[0]!r} is not in the bank; {len(unknown)} of {len(answers)} items are unknown. Use the "
            "bank's item names"
        )
    right, trials = (np.array([answers.get(item, (0.0, 0.0))[side] for item in bank.items]) for side in (0, 1))
    place = bank.place(right, trials, mean=aim.mean, sd=aim.sd)
    information = bank.information(place.ability + place.se * _NODES) @ _WEIGHTS
    taken = trials > 0
    contents = Contents(bank, content, np.ones_like(taken), int(taken.sum()) + count)
    for at in np.flatnonzero(taken):
        contents.take(int(at))
    first = count if choice == "best" else min(count, max(0, FIRST - place.n))
    line, density = difficulty_line(bank, aim.mean), np.sqrt(information)
    free, order = ~taken & (bank.parameters.slope > 0.0), list[int]()
    while len(order) < count and free.any():
        among = contents.among(free)
        if len(order) < first:
            ranked = sorted(np.flatnonzero(among), key=lambda at: -information[at])
            one = int(ranked[0] if exposure is None else exposure.choice(ranked[: _ROOM * first]))
        else:
            share = turn_share(place.n + len(order)) if exposure is None else float(exposure.random())
            one = spread_place(np.where(among, density, 0.0), line, share)
        order.append(one)
        contents.take(one)
        free[one] = False
    done = bool(Z90 * place.se <= aim.delta)
    table = {
        "item": [bank.items[at] for at in order],
        "content": [contents.kinds[at] for at in order],
        "information": information[order],
    }
    standing = {
        "ability": place.ability,
        "low": place.ability - Z90 * place.se,
        "high": place.ability + Z90 * place.se,
        "n": place.n,
        "done": done,
        "left": 0 if done else items_to_go(information[~taken], place, aim.delta, choice),
    }
    return NextItems(
        pl.DataFrame(table, schema_overrides={"item": pl.String, "content": pl.String}),
        pl.DataFrame([standing]),
        _few_subjects(bank),
    )


def items_to_go(information: Floats, place: Placement, delta: float, choice: str = "spread") -> int | None:
    """Return how many of the items left would do, none where all of them would not.

    ``best``: those with most information; ``spread``: what items in proportion to √I bring on average.
    """
    wanted = (Z90 / delta) ** 2 - place.se**-2.0
    if float(information.sum()) < wanted:
        return None
    if choice == "best":
        return int(np.searchsorted(np.cumsum(np.sort(information)[::-1]), wanted)) + 1
    root = np.sqrt(information)
    each = float(root @ information / root.sum())
    return min(len(information), int(np.ceil(wanted / each)))


def _few_subjects(bank: ItemBank) -> tuple[str, ...]:
    """Warn of items that few have answered."""
    if bank.answers is None or bank.answers >= FEW_ANSWERS:
        return ()
    return (
        f"the items were calibrated on about {bank.answers:.0f} answers each: discriminations are mostly the prior's "
        "and the interval is that of one ability, not of all that the items ask for",
    )
