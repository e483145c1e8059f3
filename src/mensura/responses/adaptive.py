"""Adaptive testing: which items to run, and when enough were run.

An item says most where its curve is steep: information I(θ) = P′²/(P(1−P)). A short form is chosen for a whole group:
item after item the one that most lowers the mean posterior variance over the group's abilities. The next items for
one subject are chosen from its answers so far: those with most information on average over its posterior. Content is
balanced by quotas in proportion to the bank's (or the user's) contents; exposure is limited by drawing among the
best. The stop rule looks at the interval that is reported, with the items' own errors in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.arrays import Floats, Mask
from mensura.errors import MensuraError
from mensura.responses.bank import ItemBank, Placement
from mensura.responses.result import Z90
from mensura.results import Result

_NODES = np.linspace(-4.0, 4.0, 41)
_ROOM = 3
"""Exposure: an item is drawn among this many times the items wanted."""


@dataclass(frozen=True)
class Aim:
    """For whom items are chosen: abilities with ``mean`` and ``sd`` (a group of the fit), within ±``delta`` (90%)."""

    mean: float = 0.0
    sd: float = 1.0
    delta: float = 0.3

    def __post_init__(self) -> None:
        if not self.sd > 0.0 or not self.delta > 0.0:
            raise MensuraError(f"aim: sd {self.sd:g} and delta {self.delta:g} must be above 0")


@dataclass(frozen=True, eq=False, repr=False)
class ShortForm(Result):
    """A fixed set of items.

    ``form``: order, item, content, error (90% half-width with the items so far, on average over the group).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("form",)

    form: pl.DataFrame

    @property
    def heading(self) -> str:
        """How long it is and how exact."""
        return f"{self.form.height} items place a subject within ±{self.form['error'][-1]:.2f} (90%), on average"


@dataclass(frozen=True, eq=False, repr=False)
class NextItems(Result):
    """What to run next.

    ``next``: item, content, information. ``standing``: ability, low, high, n, done, left (items to go, estimated).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("next", "standing")

    next: pl.DataFrame
    standing: pl.DataFrame

    @property
    def heading(self) -> str:
        """Where the subject stands and whether that is enough."""
        row = self.standing.row(0, named=True)
        ends = "enough" if row["done"] else f"about {row['left']} items to go"
        return (
            f"ability {row['ability']:.2f} ({row['low']:.2f} to {row['high']:.2f}, 90%) after {row['n']} items: {ends}"
        )


def select_items(
    bank: ItemBank, size: int, *, aim: Aim | None = None, content: Mapping[str, str] | None = None, least: float = 0.0
) -> ShortForm:
    """Choose a short form of ``size`` items for a group.

    ``content``: the content of each item, whose shares of the bank the form keeps; by default the part of its name
    before a colon. ``least``: items that tell abilities apart less than this (discrimination) are not chosen.
    """
    aim = aim or Aim()
    usable = np.flatnonzero(bank.parameters.slope > least)
    if not 1 <= size <= len(usable):
        raise MensuraError(f"size: got {size}; the bank has {len(usable)} usable items")
    group, weight = _group_nodes(aim)
    information = bank.information(group)
    kinds = _contents(bank, content)
    quota = _quotas(kinds, usable, size)
    held = np.full(len(group), aim.sd**-2.0)
    chosen: list[int] = []
    errors = []
    for _ in range(size):
        free = np.array([place for place in usable if place not in chosen and quota[kinds[place]] > 0], dtype=int)
        variance = (1.0 / (held + information[free])) @ weight
        best = int(free[np.argmin(variance)])
        chosen.append(best)
        quota[kinds[best]] -= 1
        held = held + information[best]
        errors.append(Z90 * float(np.sqrt((1.0 / held) @ weight)))
    names = [bank.items[place] for place in chosen]
    columns = {
        "order": list(range(1, size + 1)),
        "item": names,
        "content": [kinds[place] for place in chosen],
        "error": errors,
    }
    return ShortForm(pl.DataFrame(columns))


def next_items(
    bank: ItemBank,
    answers: Mapping[str, tuple[float, float]],
    *,
    count: int = 1,
    aim: Aim | None = None,
    content: Mapping[str, str] | None = None,
    exposure: np.random.Generator | None = None,
) -> NextItems:
    """Choose the next items for a subject from its answers so far: item → (right, trials).

    ``exposure``: draws among the three times as many best items, so that not every subject meets the same ones.
    """
    aim = aim or Aim()
    unknown = [item for item in answers if item not in set(bank.items)]
    if unknown:
        raise MensuraError(
            f"answers: {unknown[0]!r} is not in the bank; {len(unknown)} of {len(answers)} items are unknown"
        )
    right, trials = (np.array([answers.get(item, (0.0, 0.0))[side] for item in bank.items]) for side in (0, 1))
    place = bank.place(right, trials, mean=aim.mean, sd=aim.sd)
    information = expected_information(bank, place)
    taken = trials > 0
    order = _next_order(bank, information, taken, count, content, exposure)
    done = Z90 * place.se <= aim.delta
    kinds = _contents(bank, content)
    table = {
        "item": [bank.items[at] for at in order],
        "content": [kinds[at] for at in order],
        "information": information[order],
    }
    standing = {
        "ability": place.ability,
        "low": place.ability - Z90 * place.se,
        "high": place.ability + Z90 * place.se,
        "n": place.n,
        "done": bool(done),
        "left": 0 if done else items_to_go(information[~taken], place, aim.delta),
    }
    return NextItems(
        pl.DataFrame(table, schema_overrides={"item": pl.String, "content": pl.String}), pl.DataFrame([standing])
    )


def expected_information(bank: ItemBank, place: Placement) -> Floats:
    """Return what each item is expected to say, on average over a posterior."""
    mass = np.exp(-0.5 * _NODES**2)
    found: Floats = bank.information(place.ability + place.se * _NODES) @ (mass / mass.sum())
    return found


def items_to_go(information: Floats, place: Placement, delta: float) -> int | None:
    """Return how many of the best items left would do, none where all of them would not."""
    wanted = (Z90 / delta) ** 2 - place.se**-2.0
    reached = np.cumsum(np.sort(information)[::-1])
    enough = int(np.searchsorted(reached, wanted)) + 1
    return enough if enough <= len(reached) else None


def _next_order(
    bank: ItemBank,
    information: Floats,
    taken: Mask,
    count: int,
    content: Mapping[str, str] | None,
    exposure: np.random.Generator | None,
) -> list[int]:
    if count < 1:
        raise MensuraError(f"count: got {count}; expected at least 1")
    kinds = _contents(bank, content)
    open_items = np.flatnonzero(~taken & (bank.parameters.slope > 0.0))
    wanted = _quotas(kinds, np.arange(len(kinds)), int(taken.sum()) + count)
    for place in np.flatnonzero(taken):
        wanted[kinds[place]] -= 1
    chosen: list[int] = []
    room = _ROOM * count if exposure is not None else count
    for strict in (True, False):
        for place in open_items[np.argsort(-information[open_items], kind="stable")]:
            at = int(place)
            if len(chosen) < room and at not in chosen and (not strict or wanted[kinds[at]] > 0):
                chosen.append(at)
                wanted[kinds[at]] -= 1
    if exposure is not None and len(chosen) > count:
        chosen = [int(at) for at in exposure.permutation(chosen)[:count]]
    return chosen


def _contents(bank: ItemBank, content: Mapping[str, str] | None) -> list[str]:
    if content is None:
        return [item.partition(":")[0] if ":" in item else "all" for item in bank.items]
    missing = [item for item in bank.items if item not in content]
    if missing:
        raise MensuraError(f"content: {len(missing)} items have none, such as {missing[0]!r}")
    return [content[item] for item in bank.items]


def _quotas(kinds: Sequence[str], usable: np.ndarray[Any, Any], size: int) -> dict[str, int]:
    """Return how many items of each content a form takes: in proportion, the largest remainders rounded up."""
    counts: dict[str, int] = {}
    for place in usable:
        counts[kinds[place]] = counts.get(kinds[place], 0) + 1
    total = max(1, sum(counts.values()))
    exact = {kind: size * count / total for kind, count in counts.items()}
    quota = {kind: min(counts[kind], int(share)) for kind, share in exact.items()}
    for kind in sorted(exact, key=lambda kind: exact[kind] - int(exact[kind]), reverse=True):
        if sum(quota.values()) < size and quota[kind] < counts[kind]:
            quota[kind] += 1
    return quota


def _group_nodes(aim: Aim) -> tuple[Floats, Floats]:
    mass = np.exp(-0.5 * _NODES**2)
    return aim.mean + aim.sd * _NODES, mass / mass.sum()
