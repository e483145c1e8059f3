"""How responses become counts: rules for repeats, duplicate runs, gaps and partial credit, stated and logged."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mensura.core.errors import MensuraError

MOST_TRIALS = 255
"""Repeats of one item by one subject that a count holds; more are scaled down to that many."""
CHOICES = {
    "partial": ("share", "full", "half"),
    "missing": ("ignore", "wrong"),
    "duplicates": ("pool", "first", "last", "refuse"),
    "repeats": ("count", "average"),
}


@dataclass(frozen=True)
class CountRules:
    """Rules by which outcomes are counted.

    ``partial`` credit between 0 and 1: ``share`` keeps it as that share of a right answer (intervals come out on the
    safe side), ``full`` counts full credit alone as right, ``half`` counts a half or more. ``missing`` outcomes (a
    blank cell, a sample without score): ``ignore`` leaves them out, ``wrong`` counts them as wrong; items a subject
    was never given are always left out. ``duplicates``, the same subject and item in several runs (files): ``pool``
    counts all as repeats, ``first`` and ``last`` keep one run, ``refuse`` stops. ``repeats`` of an
    item by a subject: ``count`` takes them as k of n independent trials, ``average`` as one trial with their share,
    which is right where repeats hardly differ (the same question in another order).
    """

    partial: str = "share"
    missing: str = "ignore"
    duplicates: str = "pool"
    repeats: str = "count"

    def __post_init__(self) -> None:
        for field in fields(self):
            chosen, allowed = getattr(self, field.name), CHOICES[field.name]
            if chosen not in allowed:
                raise MensuraError(f"{field.name}: got {chosen!r}; expected one of {', '.join(allowed)}")
