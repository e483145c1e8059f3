"""Harmonisation: any scoring to 0/1 by stated rules, with a log of everything left out and why."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.intake.tables import as_frame
from mensura.intake.text import BLANK
from mensura.people.pool import ItemPool, empty_log
from mensura.people.rates import ALL
from mensura.people.tidy import check_items, check_persons

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CREDITS = {
    "full": "right only with full credit",
    "half": "right with at least half of the points",
    "any": "right with any credit",
}
LONGEST_CODE = 2


@dataclass(frozen=True)
class HarmonisingRules:
    """How answers become 1, 0 or nothing, and which items stay.

    Attributes
    ----------
    credit
        How partial credit collapses: ``full``, ``half`` or ``any``.
    absent
        Codes of questions not given or not reached, which become null.
    omitted
        Codes of questions seen but left out or spoilt, which count as wrong.
    min_answers
        An item with fewer answers goes.
    pictures
        Keep items that need a picture.
    several_keys
        Keep items whose key names more than one answer, each of them right.

    """

    credit: str = "full"
    absent: Sequence[str] = ()
    omitted: Sequence[str] = ()
    min_answers: int = 30
    pictures: bool = False
    several_keys: bool = False

    def __post_init__(self) -> None:
        check_choice("credit", self.credit, CREDITS)
        if both := set(self.absent) & set(self.omitted):
            raise MensuraError(f"code {both.pop()!r} is given both as absent and as omitted; choose one")


def harmonise(
    name: str,
    items: Any,
    answers: Any,
    persons: Any = None,
    *,
    rules: HarmonisingRules | None = None,
    by: Iterable[str | Sequence[str]] | None = None,
    weight: str | None = None,
) -> ItemPool:
    """Score raw answers by stated rules and return the pool, with a log of everything left out.

    Parameters
    ----------
    name
        Name of the pool.
    items
        Table of any library, or path: item and, where known, answer (the key), scoring, max_points. An item with a key
        is scored against it; any other by its points, of ``max_points`` (the largest seen, where there is none).
    answers
        person and one column per item: points, 0 and 1, or the choice made.
    persons
        person and covariates.
    rules
        How answers become 1, 0 or nothing.
    by
        Covariates whose groups get rates; a sequence of names is a crossing.
    weight
        The covariate that holds survey weights.

    Returns
    -------
    ItemPool
        The pool, its ``exclusions`` filled.

    Raises
    ------
    MensuraError
        If a code is not understood, or no item is left.

    Examples
    --------
    >>> from mensura.people import HarmonisingRules, harmonise
    >>> answers = {"person": [1, 2], "q": ["a", "b"]}
    >>> pool = harmonise("mine", {"item": ["q"], "answer": ["A"]}, answers, rules=HarmonisingRules(min_answers=1))
    >>> pool.rates_of()["rate"].item()
    0.5

    """
    rules = rules or HarmonisingRules()
    items = check_items(as_frame(items, name="items"), name="items")
    answers = check_persons(as_frame(answers, name="answers"), name="answers")
    columns: list[pl.Series] = [answers["person"]]
    given, scored_already = set(answers.columns), _zeros_and_ones(answers, rules)
    log: list[tuple[str, str, str]] = []
    for row in items.iter_rows(named=True):
        item = row["item"]
        if item not in given:
            log.append(("item", item, "no column of answers"))
            continue
        reason = _unusable(row, rules)
        if reason is None:
            plain = item in scored_already and not row.get("answer") and row.get("max_points") in (None, 1)
            scored = answers[item].cast(pl.Int8) if plain else _score(answers[item], row, rules)
            reason = _too_few(scored.count(), rules)
            columns += [] if reason else [scored.alias(item)]
        if reason:
            log.append(("item", item, reason))
    if len(columns) == 1:
        reasons = ", ".join(sorted({reason for _, _, reason in log})[:3])
        raise MensuraError(
            f"pool {name!r}: no item is left after harmonisation ({reasons or 'no items given'}); name other items or "
            "relax the rules"
        )
    kept = items.filter(pl.col("item").is_in([column.name for column in columns[1:]]))
    pool = ItemPool.from_answers(name, kept, pl.DataFrame(columns), persons, by=by, weight=weight)
    return replace(pool, exclusions=pl.DataFrame(log, schema=empty_log().schema, orient="row"))


def read_points(answers: pl.DataFrame, rules: HarmonisingRules) -> pl.DataFrame:
    """Return the points of every item that is scored by points.

    Parameters
    ----------
    answers
        person and one column per item.
    rules
        Their codes: null where a question was not given, 0 where it was left out.

    Returns
    -------
    polars.DataFrame
        ``subject`` and one column per item; choices such as A or B have no points and stay out.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.people import HarmonisingRules, read_points
    >>> read_points(pl.DataFrame({"person": [1, 2], "q": [2, 9]}), HarmonisingRules(absent=["9"]))["q"].to_list()
    [2, None]

    """
    columns = [answers["person"].alias("subject")]
    for name in answers.columns[1:]:
        text = _as_text(answers[name])
        asked = pl.when(text.is_in(list(rules.absent)) | text.str.to_lowercase().is_in(BLANK)).then(None)
        given = pl.select(asked.when(text.is_in(list(rules.omitted))).then(pl.lit("0")).otherwise(text)).to_series()
        points = given.cast(pl.Float64, strict=False)
        if points.null_count() == given.null_count():
            columns.append(points.cast(pl.Int64, strict=False).alias(name))
    return pl.DataFrame(columns)


def _zeros_and_ones(answers: pl.DataFrame, rules: HarmonisingRules) -> set[str]:
    """Return the columns of 0 and 1 alone, none of them a code: a test of many thousands of items has only such."""
    if {"0", "1"} & {*rules.absent, *rules.omitted}:
        return set()
    plain = answers.select(pl.selectors.integer()).select(pl.all().is_between(0, 1).all())
    return {name for name, only in zip(plain.columns, plain.row(0), strict=True) if only} if plain.width else set()


def screen(pool: ItemPool, rules: HarmonisingRules | None = None) -> ItemPool:
    """Leave out the items of a scored pool that the rules exclude, each logged with its reason.

    Parameters
    ----------
    pool
        A scored pool.
    rules
        Which items stay: those that need a picture, lack a key, have an ambiguous one, or have too few answers go.

    Returns
    -------
    ItemPool
        The pool without them, its ``exclusions`` filled.

    Examples
    --------
    >>> from mensura import ItemPool
    >>> from mensura.people import screen
    >>> pool = ItemPool.from_rates("mine", {"item": ["a"]}, {"item": ["a"], "group": ["all"], "n": [10], "rate": [0.5]})
    >>> screen(pool).exclusions["reason"].item()
    '10 answers, fewer than 30'

    """
    rules = rules or HarmonisingRules()
    answers = dict(pool.rates.filter(pl.col("group") == ALL).select("item", "n").iter_rows())
    reasons = {}
    for row in pool.items.iter_rows(named=True):
        if reason := _unusable(row, rules) or _too_few(answers.get(row["item"], 0), rules):
            reasons[row["item"]] = reason
    log = pl.DataFrame([("item", *entry) for entry in reasons.items()], schema=empty_log().schema, orient="row")
    kept = ~pl.col("item").is_in(list(reasons))
    return replace(
        pool,
        items=pool.items.filter(kept),
        rates=pool.rates.filter(kept),
        responses=None if pool.responses is None else pool.responses.drop(reasons, strict=False),
        exclusions=pl.concat([pool.exclusions, log]),
    )


def _unusable(row: dict[str, object], rules: HarmonisingRules) -> str | None:
    """Return why an item cannot be used, from its row alone."""
    if row.get("needs_picture") and not rules.pictures:
        return "needs a picture"
    if row.get("scoring") == "choice" and not row.get("answer"):
        return "no key"
    if row.get("scoring") != "points" and not rules.several_keys and len(_keys(row.get("answer"))) > 1:
        return "ambiguous key: more than one right answer"
    return None


def _too_few(answers: int, rules: HarmonisingRules) -> str | None:
    """Return why an item cannot be used, from its number of answers."""
    return f"{answers} answers, fewer than {rules.min_answers}" if answers < rules.min_answers else None


def _by_key(row: dict[str, object], column: pl.Series) -> bool:
    """Tell whether a key scores the item: as ``scoring`` says, else when answers and key are alike."""
    if row.get("scoring") or not row.get("answer"):
        return row.get("scoring") == "choice"
    return not column.dtype.is_numeric() or str(row["answer"]).strip().isdigit()


def _score(column: pl.Series, row: dict[str, object], rules: HarmonisingRules) -> pl.Series:
    """Return 1, 0 or null per person."""
    text = _as_text(column)
    absent = text.is_null() | text.is_in(list(rules.absent)) | (text == "")
    omitted = text.is_in(list(rules.omitted))
    if _by_key(row, column):
        right = text.str.to_lowercase().is_in(_keys(row["answer"]))
    else:
        absent = absent | (text.str.to_lowercase().is_in(BLANK) & ~omitted)
        right = _credited(text, absent | omitted, column.name, row.get("max_points"), rules)
    scored = pl.select(pl.when(absent).then(None).when(omitted).then(0).otherwise(right.cast(pl.Int8)).cast(pl.Int8))
    return scored.to_series()


def _credited(text: pl.Series, aside: pl.Series, item: str, most: object, rules: HarmonisingRules) -> pl.Series:
    """Return whether the points suffice under the rule of partial credit."""
    points = text.cast(pl.Float64, strict=False)
    unread = text.filter(points.is_null() & ~aside)
    if unread.len():
        raise MensuraError(
            f"item {item!r}: {unread[0]!r} is neither a number of points nor a declared code; "
            "give the item's key, or name the code as absent or omitted"
        )
    points = points.set(aside, None)
    highest = _most_seen(points, item) if most is None else float(str(most))
    beyond = points.filter((points < 0) | (points > highest))
    if beyond.len():
        raise MensuraError(
            f"item {item!r}: {beyond[0]} points of at most {highest:g}; "
            "if it is a code for a missing answer, name it as absent or omitted"
        )
    needed = {"full": highest, "half": highest / 2, "any": 0.0}[rules.credit]
    return pl.select(((points >= needed) & (points > 0)).fill_null(False)).to_series()


def _most_seen(points: pl.Series, item: str) -> float:
    """Return the largest number of points seen; a gap below it betrays a code for a missing answer."""
    values = points.drop_nulls().unique().sort().to_list()
    if gaps := [value for before, value in pairwise([0.0, *values]) if value - before > 1]:
        raise MensuraError(
            f"item {item!r}: {gaps[0]:g} points without any below it. Say --absent {gaps[0]:g} (not given: no answer) "
            f"or --omitted {gaps[0]:g} (left out: wrong) if it is a code, else give the item's max_points"
        )
    return float(max(values, default=0.0))


def _as_text(column: pl.Series) -> pl.Series:
    """Return codes as text, whole numbers without a decimal point."""
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int8).cast(pl.String)
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        if whole.null_count() == column.null_count() and (whole.cast(pl.Float64) == column).drop_nulls().all():
            return whole.cast(pl.String)
    return column.cast(pl.String).str.strip_chars()


def _keys(answer: object) -> list[str]:
    """Return the answers a key names, in lower case: ``A|C`` or ``1,3`` names two."""
    text = "" if answer is None else str(answer).strip().lower()
    parts = [part.strip() for part in re.split(r"[|;,/]", text) if part.strip()]
    return parts if len(parts) > 1 and all(len(part) <= LONGEST_CODE for part in parts) else [text]
