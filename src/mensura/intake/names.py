"""Names people write for models and benchmarks, and the ids they mean: exactly, but for spelling, or nearly."""

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import compress
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Ints

_OFFERED = 3
_KINDS = 64
_NEAR = 0.72
"""Similarity from which a name is offered as the one that may have been meant."""
_INSIDE = 0.8
"""Similarity given to a name that holds another whole (GPQA in GPQA Diamond)."""

ABSENT = "no model of the evidence has a score there, so it counts for nothing"
"""How a test is matched that is known by its name alone; nothing near it is offered in its place."""

_SHORT_YEAR = re.compile(r"(?<=[^\W\d])20(?=\d\d$)")
"""The century of a year at the end of a name: AIME25 is AIME 2025."""


_PEOPLE = re.compile(
    r"(?<![^\W_])(?:humans?|people|crowd[ _-]?workers?)(?![^\W_])|(?<![^\W_])(?:persons?|experts?|professionals?)$",
    re.IGNORECASE,
)
_MIXTURE = re.compile(r"mixture[ _-]of[ _-]experts$", re.IGNORECASE)


def is_people(name: str) -> bool:
    """Tell whether a name speaks of people: such a word anywhere, or a person, expert or professional at its end."""
    return bool(_PEOPLE.search(name.strip())) and not _MIXTURE.search(name.strip())


class NameMatch(NamedTuple):
    """What a written name stands for: an id and how it was found, or the nearest candidates."""

    written: str
    id: str | None
    how: str
    near: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """What to say of a name that stands for nothing: why, and what may have been meant."""
        why = "" if self.how == "unknown" else f": {self.how}"
        return f"{why}; did you mean {', '.join(self.near)}?" if self.near else why

    @property
    def nearest(self) -> str | None:
        """The nearest candidate that may be taken; None where they differ in a number, as versions and years do."""
        mine = _digits(self.written)
        same = [ident for ident in self.near if not mine or _digits(ident) == mine]
        others = [ident for ident in self.near if _digits(ident)]
        return next(iter(same or ([] if others else self.near)), None)


class KnownNames:
    """Ids, display names and aliases; two ids that are spelled alike answer to neither spelling."""

    def __init__(
        self, rows: Iterable[tuple[str, str]], aliases: Iterable[tuple[str, str]] = (), absent: Iterable[str] = ()
    ) -> None:
        """Take ids, each with its name; further names by which an id is called; names of what has no id here."""
        self._ids = dict(rows)
        self._aliases = {alias: ident for ident, alias in aliases}
        self._spelled: dict[str, set[str]] = {}
        for ident, name in [*self._ids.items(), *((ident, alias) for alias, ident in self._aliases.items())]:
            for text in (ident, name):
                for spelled in {spelling(text), _SHORT_YEAR.sub("", spelling(text))}:
                    self._spelled.setdefault(spelled, set()).add(ident)
        self._absent = {spelling(name) for name in absent} - set(self._spelled)
        self._letters = np.array([_letters(spelled) for spelled in self._spelled], dtype=np.int16).reshape(-1, _KINDS)
        self._found: dict[str, NameMatch | None] = {}

    def ident(self, written: str) -> str | None:
        """Return the id a name stands for, None where it stands for none or two; cheap, for names by the thousand."""
        match = self._find(written)
        return None if match is None else match.id

    def match(self, written: str) -> NameMatch:
        """Find what a name stands for; one that is only near is offered, never taken."""
        last = written.rsplit("/", 1)[-1]
        if spelling(last) in self._absent:
            return NameMatch(written, None, ABSENT)
        return self._find(written) or NameMatch(written, None, "unknown", self._near(last))

    def _find(self, written: str) -> NameMatch | None:
        if written not in self._found:
            self._found[written] = self._as_written(written) or self._decorated(written)
        return self._found[written]

    def _as_written(self, written: str) -> NameMatch | None:
        """Return the match of an id, an alias, a name or another spelling of one."""
        if written in self._aliases:
            return NameMatch(written, self._aliases[written], "alias")
        if written in self._ids:
            return NameMatch(written, written, "id")
        alike = self._spelled.get(spelling(written), set())
        if len(alike) == 1:
            (ident,) = alike
            how = "name" if written == self._ids[ident] else "spelling"
            return NameMatch(written, ident, how)
        return NameMatch(written, None, "two ids are spelled like this", tuple(sorted(alike))) if alike else None

    def _decorated(self, written: str) -> NameMatch | None:
        """Return the match of a name behind the folders of a path."""
        inner = self._find(written.rsplit("/", 1)[1]) if "/" in written else None
        return inner and inner._replace(written=written, how="without its provider" if inner.id else inner.how)

    def _near(self, written: str) -> tuple[str, ...]:
        """Return the ids most like a name, best first; only spellings that share letters enough are compared."""
        wanted, sizes = spelling(written), self._letters.sum(axis=1)
        shared = np.minimum(self._letters, _letters(wanted)).sum(axis=1)
        enough = np.minimum(_NEAR / 2 * (sizes + len(wanted)), np.minimum(sizes, len(wanted)))
        within_reach = compress(self._spelled.items(), shared >= enough)
        rated = sorted(
            ((_likeness(wanted, spelled), ident) for spelled, idents in within_reach for ident in idents), reverse=True
        )
        best = dict.fromkeys(ident for likeness, ident in rated if likeness >= _NEAR)
        return tuple(best)[:_OFFERED]


def _letters(text: str) -> Ints:
    """Count the letters of a text by kind; several share a kind, so two texts share at most as many letters."""
    return np.bincount([ord(sign) % _KINDS for sign in text], minlength=_KINDS)


def _likeness(wanted: str, spelled: str) -> float:
    """Return how alike two spellings are."""
    if wanted and spelled and (spelled in wanted or wanted in spelled):
        shorter, longer = sorted((len(wanted), len(spelled)))
        return max(_INSIDE if shorter > 2 else 0.0, shorter / longer)
    return SequenceMatcher(None, wanted, spelled, autojunk=False).ratio()


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def spelling(text: str) -> str:
    """Return a name without case, spaces and signs: ``GPQA Diamond`` and ``gpqa_diamond`` are spelled alike.

    A dot between digits stays, for 4.1 and 41 are two versions.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    dotted = re.sub(r"(?<=\d)[._-](?=\d)", "\0", folded)
    return "".join(sign for sign in dotted if sign.isalnum() or sign == "\0")
