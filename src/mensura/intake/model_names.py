"""Ids of models as providers write them: with a provider before, a snapshot's date behind, and words of packaging."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple, TypeAlias

from mensura.intake.names import KnownNames, NameMatch

EARLIEST, LATEST = timedelta(days=-28), timedelta(days=14)
"""A snapshot is of a model whose release it precedes or follows by no more. Claude Opus 4.5 is dated 23 days before its
release, o1 12 days after."""
_YEARS = range(2019, 2040)
_PROVIDER = re.compile(r"^(?:.*/)?(?:[a-z][a-z-]*\.)*(?=[a-z])", re.IGNORECASE)  # models/, us.anthropic.
_SERVICE = re.compile(r"(?:(?:-v?\d+)?:\d+\w*|:(?:free|nitro|floor|exacto|latest|extended|online))+$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")
_DATE = re.compile(
    r"[-_@ .](?:(?P<year>20\d\d)[-.]?(?P<month>\d\d)(?:[-.]?(?P<day>\d\d))?|(?P<month2>\d\d)-(?P<year2>20\d\d)"
    r"|(?P<pair>\d\d)-?(?P<pair2>\d\d)(?P<day2>\d\d)?)$"
)
_WORD = re.compile(r"[-_@ :](non[-_]?reasoning|non[-_]?thinking|[a-z]+\d*)$", re.IGNORECASE)
_PACKAGING = {"latest", "fp8", "bf16"}
_OF_OPEN_WEIGHTS = {"instruct", "it", "hf"}
_OF_REASONING = {"reasoning", "thinking"}
_OF_NO_REASONING = {"nonreasoning", "nonthinking"}
_OF_A_DAY = {"preview", "exp", "experimental"}
_WORDS = _PACKAGING | _OF_OPEN_WEIGHTS | _OF_REASONING | _OF_NO_REASONING | _OF_A_DAY


class ModelFacts(NamedTuple):
    """What is known of a model, as far as its names follow it."""

    id: str
    name: str
    provider: str
    released: date | None
    open_weights: bool
    reasoning: bool


class _Snapshot(NamedTuple):
    """First and last day that a date in a name may mean, by year; a name without a year may mean any."""

    written: str
    days: tuple[tuple[date, date], ...]

    def gap(self, released: date | None) -> timedelta | None:
        """Return how far the snapshot is from a release, None where it is no snapshot of it."""
        if released is None:
            return None
        gaps = [min(max(released, first), last) - released for first, last in self.days]
        return min((abs(gap) for gap in gaps if EARLIEST <= gap <= LATEST), default=None)


class _Parts(NamedTuple):
    base: str
    words: frozenset[str]
    snapshot: _Snapshot | None


class ModelNames(KnownNames):
    """Names of models; an id of an API stands for the model whose release its date fits."""

    def __init__(self, models: Iterable[ModelFacts], aliases: Iterable[tuple[str, str]] = ()) -> None:
        self._facts = {model.id: model for model in models}
        aliases = [(ident, alias) for ident, alias in aliases if ident in self._facts]
        super().__init__(((model.id, model.name) for model in self._facts.values()), aliases)
        self._own_words: dict[str, set[str]] = {}
        self._undated: dict[_Key, set[str]] = {}
        self._bases: dict[_Key, set[str]] = {}
        names = [(model.id, text) for model in self._facts.values() for text in (model.id, model.name)]
        for ident, text in [*names, *aliases]:
            for name in {text, _IN_BRACKETS.sub("", text)}:
                parts = _take_apart(name)
                self._own_words.setdefault(ident, set()).update(parts.words)
                self._bases.setdefault(_key(parts.base), set()).add(ident)
                if parts.snapshot is None:
                    self._undated.setdefault(_key(parts.base), set()).add(ident)
        words = (word for model in self._facts.values() for word in re.findall(r"[a-z]+", model.provider.casefold()))
        self._maker = re.compile(rf"^(?:(?:{'|'.join(sorted({*words, 'meta'}))})[-_ ])+")

    def _decorated(self, written: str) -> NameMatch | None:
        """Find the model behind an id of an API; a snapshot of another day is named and not taken."""
        plain = _SERVICE.sub("", _PROVIDER.sub("", written.strip()))
        for text in dict.fromkeys((plain, self._maker.sub("", plain.casefold()))):
            alike = self._as_written(text)
            if alike is not None:
                return alike._replace(written=written, how="without its provider" if alike.id else alike.how)
            parts = _take_apart(text)
            table = self._undated if parts.snapshot is None else self._bases
            fitting = [ident for ident in table.get(_key(parts.base), ()) if self._takes(ident, parts)]
            if fitting:
                return self._of_day(written, fitting, parts.snapshot)
        return None

    def _takes(self, ident: str, parts: _Parts) -> bool:
        """Whether all words behind the name may stand behind this model's name too."""
        facts = self._facts[ident]
        allowed = _PACKAGING | self._own_words[ident] | (_OF_REASONING if facts.reasoning else _OF_NO_REASONING)
        if facts.open_weights:
            allowed = allowed | _OF_OPEN_WEIGHTS
        if parts.snapshot is not None:
            allowed = allowed | _OF_A_DAY
        return parts.words <= allowed

    def _of_day(self, written: str, fitting: list[str], snapshot: _Snapshot | None) -> NameMatch:
        if snapshot is None:
            one = fitting[0] if len(fitting) == 1 else None
            how = "two ids are spelled like this" if one is None else "without what surrounds it"
            return NameMatch(written, one, how, () if one else tuple(sorted(fitting)))
        gaps = {ident: gap for ident in fitting if (gap := snapshot.gap(self._facts[ident].released)) is not None}
        nearest = sorted(gaps, key=lambda ident: (gaps[ident], ident))
        if nearest and (len(nearest) == 1 or gaps[nearest[0]] < gaps[nearest[1]]):
            return NameMatch(written, nearest[0], f"snapshot {snapshot.written} of the release")
        days = ", ".join(f"{ident} of {self._facts[ident].released}" for ident in sorted(fitting))
        how = f"another snapshot ({snapshot.written}); the evidence has {days}"
        return NameMatch(written, None, how, tuple(sorted(fitting)))


_Key = tuple[tuple[str, ...], tuple[str, ...]]


def _key(base: str) -> _Key:
    """Return words in any order and numbers in theirs: Claude 3.7 Sonnet is Claude Sonnet 3.7, and 2.0 is 2."""
    plain = re.sub(r"(?<=\d)[._]0(?!\d)", "", base.casefold())
    return tuple(sorted(re.findall(r"[^\W\d_]+", plain))), tuple(re.findall(r"\d+", plain))


def _take_apart(name: str) -> _Parts:
    """Separate a name from the words and the date behind it."""
    words: set[str] = set()
    snapshot = None
    while True:
        dated = _DATE.search(name) if snapshot is None else None
        days = tuple(_days(dated)) if dated else ()
        if dated and days:
            snapshot, name = _Snapshot(dated.group()[1:], days), name[: dated.start()]
            continue
        ending = _WORD.search(name)
        word = re.sub(r"[-_]", "", ending[1].casefold()) if ending else ""
        if ending is None or word not in _WORDS:
            return _Parts(name, frozenset(words), snapshot)
        words.add(word)
        name = name[: ending.start()]


def _days(match: re.Match[str]) -> Iterator[tuple[date, date]]:
    """Yield the first and the last day of each reading of a date."""
    year, month, day = match["year"] or match["year2"], match["month"] or match["month2"], match["day"]
    pair, other, third = match["pair"], match["pair2"], match["day2"]
    if year:
        readings = [(int(year), int(month), int(day or 0))]
    elif third:
        readings = [(2000 + int(pair), int(other), int(third))]
    else:
        of_month = [(year, int(pair), int(other)) for year in _YEARS]
        readings = [*of_month, (2000 + int(pair), int(other), 0)]
    for one, of_year, of_day in readings:
        if one in _YEARS and 1 <= of_year <= 12:
            yield from _spans(one, of_year, of_day)


def _spans(year: int, month: int, day: int) -> Iterator[tuple[date, date]]:
    try:
        first = date(year, month, day or 1)
    except ValueError:
        return
    following = date(year + month // 12, month % 12 + 1, 1)
    yield first, first if day else following - timedelta(days=1)


# Names from the tables of models, benchmarks and aliases.

TextRow: TypeAlias = Mapping[str, str | None]
"""Cells of a row as a file writes them."""


def model_names(models: Iterable[TextRow], aliases: Iterable[TextRow]) -> ModelNames:
    """Return the names by which models of the tables ``models`` and ``aliases`` are called."""
    return ModelNames((_facts(row) for row in models), _aliases(aliases, "subject"))


def benchmark_names(benchmarks: Iterable[TextRow], aliases: Iterable[TextRow]) -> KnownNames:
    """Return the names by which benchmarks of the tables ``benchmarks`` and ``aliases`` are called."""
    rows = [(str(row["benchmark"]), str(row["name"])) for row in benchmarks]
    idents = {ident for ident, _ in rows}
    aliases = list(aliases)
    absent = [str(row["alias"]) for row in aliases if not row.get("subject") and not row.get("benchmark")]
    named = [(ident, alias) for ident, alias in _aliases(aliases, "benchmark") if ident in idents]
    return KnownNames(rows, named, absent)


def _facts(row: TextRow) -> ModelFacts:
    ident, released = str(row["subject"]), row.get("released")
    return ModelFacts(
        ident,
        row.get("name") or ident,
        row.get("provider") or "",
        date.fromisoformat(released) if released else None,
        row.get("open_weights") == "yes",
        row.get("reasoning") == "yes",
    )


def _aliases(rows: Iterable[TextRow], key: str) -> list[tuple[str, str]]:
    return [(str(row[key]), str(row["alias"])) for row in rows if row.get(key)]
