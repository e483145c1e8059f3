"""Understanding a table of scores: its shape, names and units, and a note of every choice made."""

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import polars as pl

from mensura.core.errors import NAMES_SHOWN, EvidenceError, Fault, MensuraError, counted, listed_names
from mensura.core.results import Result
from mensura.intake import score_columns
from mensura.intake.figures import RATE_UNITS, ReadScore, read_figure, settle_units, unit_word, uses_decimal_commas
from mensura.intake.names import ABSENT, KnownNames, NameMatch, is_people
from mensura.intake.several import WrittenScores, read_written

Entries = Sequence[score_columns.WrittenScore]
Names = Mapping[str, KnownNames]
"""Names of every model and benchmark."""
Matches = Mapping[tuple[str, str], NameMatch]
"""How each written name of a kind was read."""
_DROPPED = {"row": pl.Int64, "what": pl.String, "reason": pl.String}
_NAMES = {"kind": pl.String, "written": pl.String, "id": pl.String, "how": pl.String, "scores": pl.Int64}


class NewModel(NamedTuple):
    """Facts of models that are new, where their rows do not state them: evaluation logs have no columns for it."""

    released: str | None = None
    display_name: str | None = None
    provider: str | None = None

    @property
    def columns(self) -> dict[str, str]:
        """The facts given, by the column they would stand in."""
        return {column: fact for column, fact in self._asdict().items() if fact is not None}


class Allowed(NamedTuple):
    """What the bringer of scores allows: a unit for shares, ids for names that match none, what is new.

    ``metric``: the figure of a log that counts. ``skip_unknown``: leave out unknown names, as in a folder of others.
    """

    unit: str | None = None
    accept_near: Mapping[str, str] = {}
    new: tuple[str, ...] = ()
    new_model: NewModel = NewModel()
    metric: str | None = None
    skip_unknown: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ScoreReading(Result):
    """What was understood of a table of scores.

    ``scores``: row, subject, benchmark, score, unit and the optional columns that were given, as text. ``names``: how
    each written name was matched. ``dropped``: rows and cells that hold no score. ``notes``: what was chosen.
    ``warnings``: what the evidence will assume of new models.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("scores", "names", "dropped")

    name: str
    scores: pl.DataFrame
    names: pl.DataFrame
    dropped: pl.DataFrame
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """How many scores were read of what."""
        subjects, benchmarks = self.scores["subject"].n_unique(), self.scores["benchmark"].n_unique()
        left = f", {self.dropped.height} left out" if self.dropped.height else ""
        counts = ((self.scores.height, "score"), (subjects, "model"), (benchmarks, "benchmark"))
        scores, models, tests = (f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)
        return f"{self.name}: {scores} of {models} on {tests}{left}"


def read_scores_of(
    source: Any,
    names: Names,
    benchmarks: pl.DataFrame,
    *,
    allowed: Allowed = Allowed(),  # noqa: B008
    name: str = "scores",
    present: pl.DataFrame | None = None,
) -> ScoreReading:
    """Read a table of scores of any usual form, as rows that name known models and benchmarks.

    ``source``: a file (CSV, TSV, Parquet, JSON, evaluation log) or a frame; one row per score, or one per model with a
    column per benchmark, or the other way round. ``names``: names of every ``model`` and ``benchmark``. ``benchmarks``
    (benchmark, unit) are the evidence's. Raises :class:`EvidenceError` with every fault at once; nothing is guessed.
    ``present``: scores that the evidence has; the same ones of the same source are passed over.
    """
    if allowed.unit is not None and allowed.unit not in RATE_UNITS:
        raise MensuraError(f"unit: got {allowed.unit!r}; expected {' or '.join(RATE_UNITS)} (a column says others)")
    written = read_written(source, names, metric=allowed.metric, name=name)
    try:
        return _understood(written, names, benchmarks, allowed, present)
    except EvidenceError as refused:
        raise written.locate(refused) from None


def _understood(
    written: WrittenScores, names: Names, benchmarks: pl.DataFrame, allowed: Allowed, present: pl.DataFrame | None
) -> ScoreReading:
    """Find the ids, units and figures of written scores."""
    name = written.name
    entries, repeated = score_columns.read_once(written.entries)
    entries, left = _sorted_out(entries, names, allowed, name)
    matches = _matched(entries, names, allowed, name)
    entries = _with_facts(entries, matches, allowed.new_model, name)
    comma = uses_decimal_commas(entry.cell for entry in entries)
    own_units = dict(benchmarks.select("benchmark", "unit").iter_rows())
    entries, earlier = _one_of_each(entries, matches, name, latest=allowed.skip_unknown)
    left += earlier
    scores, units = settle_units(_figures(entries, matches, comma, name), own_units, allowed.unit, name)
    everything = len(scores)
    if present is not None:
        scores = _not_present(scores, present, name)
    notes = [*written.notes, *(["decimal commas"] if comma else []), *units, *written.left_out]
    if again := everything - len(scores):
        notes.append(f"passed over {counted(again, 'score')} that the evidence has already, from the same source")
    notes += [f"rows that repeat another, read once: {listed_names(repeated)}"] if repeated else []
    blank = [(what, reason) for _, what, reason in written.dropped]
    notes += [*_say_left_out(blank), *_say_left_out(map(_named, left)), *_new_names(matches)]
    sources = Counter((score.subject, score.benchmark) for score in scores)
    several = [f"{subject} on {benchmark}" for (subject, benchmark), count in sources.items() if count > 1]
    notes += [f"several sources, of which the latest date counts: {listed_names(several)}"] if several else []
    stated = written.columns | {column for score in scores for column in score.extras}
    dropped = [(entry.row, f"{entry.subject} on {entry.benchmark}", reason) for entry, reason in left]
    return ScoreReading(
        name,
        _score_frame(scores, [column for column in score_columns.OPTIONAL if column in stated]),
        pl.DataFrame(_name_rows(entries, matches), schema=_NAMES, orient="row"),
        pl.DataFrame([*written.dropped, *dropped], _DROPPED, orient="row"),
        tuple(notes),
    )


UNNAMED_SOURCE = "user"
"""Source of added scores that name none."""
_LeftOut = tuple[score_columns.WrittenScore, str]
_PEOPLE, _STRANGER, _NO_TEST = "people, no model", "unknown model", "unknown benchmark"
_LATER = "a later result of the same source counts"
_OF_PEOPLE = ". Write their scores into a table of benchmark, group, score, and use mensura add --people FILE"


def _sorted_out(
    entries: Entries, names: Names, allowed: Allowed, name: str
) -> tuple[list[score_columns.WrittenScore], list[_LeftOut]]:
    """Return the scores that count, and the others each with its reason."""
    reasons = [_why_not(entry, names, allowed) for entry in entries]
    kept = [entry for entry, reason in zip(entries, reasons, strict=True) if reason is None]
    left = [(entry, reason) for entry, reason in zip(entries, reasons, strict=True) if reason is not None]
    if not kept:
        unknown = not {reason for _, reason in left} <= {ABSENT, _PEOPLE}
        new = ". New models need --released, new benchmarks --new NAME and --unit" if unknown else ""
        raise MensuraError(
            f"{name}: no score of a model on a known benchmark; {'; '.join(_say_left_out(map(_named, left)))}{new}. "
            "Add scores on benchmarks that models of the evidence took (mensura evidence summary)"
        )
    return kept, left


def _why_not(entry: score_columns.WrittenScore, names: Names, allowed: Allowed) -> str | None:
    """Say why a score counts for nothing: of people, or of a test that no model of the evidence took.

    In a collection of others also: of a model or a test that the evidence does not know.
    """
    models, tests, wanted = names["model"], names["benchmark"], {*allowed.new, *allowed.accept_near}
    new_model = "released" in entry.extras
    if not new_model and is_people(entry.subject) and models.match(entry.subject).id is None:
        return _PEOPLE
    declared = entry.benchmark in wanted or bool({"kind", "dimension"} & set(entry.extras))
    if allowed.skip_unknown:
        new_model = allowed.new_model.released is not None or entry.subject in wanted
        if not new_model and models.ident(entry.subject) is None:
            return _STRANGER
        if entry.benchmark not in wanted and tests.ident(entry.benchmark) is None:
            return _NO_TEST
    return ABSENT if not declared and tests.match(entry.benchmark).how == ABSENT else None


def _one_of_each(
    entries: Entries, matches: Matches, name: str, *, latest: bool
) -> tuple[list[score_columns.WrittenScore], list[_LeftOut]]:
    """Keep one score of a model on a benchmark from a source: the ``latest``, else two that differ are refused."""
    chosen: dict[tuple[object, ...], score_columns.WrittenScore] = {}
    left, faults = [], []
    for entry in entries:
        ids = matches["model", entry.subject].id, matches["benchmark", entry.benchmark].id
        key = (*ids, entry.extras.get("source"))
        other = chosen.setdefault(key, entry)
        if other is not entry and latest:
            older, chosen[key] = sorted((other, entry), key=lambda one: one.extras.get("date") or "")
            left.append((older, _LATER))
        elif other is not entry:
            expected = (
                f"one score of {ids[0]} on {ids[1]} from one source; row {other.row} has {other.cell}. Remove one, or "
                "name their sources in a column source"
            )
            faults.append(Fault(name, entry.row, "score", entry.cell, expected))
    if faults:
        raise EvidenceError(faults)
    return list(chosen.values()), left


def _not_present(scores: Sequence[ReadScore], present: pl.DataFrame, name: str) -> list[ReadScore]:
    """Return the scores that the evidence does not have yet; another value from the same source is refused."""
    columns = present.select("subject", "benchmark", "source", "score", "unit").iter_rows()
    stored = {(subject, benchmark, source): (value, unit) for subject, benchmark, source, value, unit in columns}
    new, faults = [], []
    for score in scores:
        key = (score.subject, score.benchmark, score.extras.get("source") or UNNAMED_SOURCE)
        value, unit = stored.get(key, (None, ""))
        if value is None:
            new.append(score)
        elif not math.isclose(score.value / RATE_UNITS.get(str(score.unit), 1), value / RATE_UNITS.get(unit, 1)):
            expected = f"{value:g} {unit}, as the evidence has it from {key[-1]}; name another source, or correct it"
            faults.append(Fault(name, score.row, "score", f"{score.value:g} {score.unit}", expected))
    if faults:
        raise EvidenceError(faults)
    return new


def _named(left: _LeftOut) -> tuple[str, str]:
    """Return what a reader knows a left-out score by, and the reason."""
    entry, reason = left
    return entry.benchmark if reason in (_NO_TEST, ABSENT) else entry.subject, reason


def _say_left_out(left: Iterable[tuple[str, str]]) -> list[str]:
    """Say how many results were left out and why, with the first names."""
    names: dict[str, list[str]] = {}
    for name, reason in left:
        names.setdefault(reason, []).append(name)
    return [
        f"left out {counted(len(those), 'result')}, {reason}: {listed_names(list(dict.fromkeys(those)))}"
        f"{_OF_PEOPLE if reason == _PEOPLE else ''}"
        for reason, those in names.items()
    ]


def _matched(entries: Entries, names: Names, allowed: Allowed, name: str) -> dict[tuple[str, str], NameMatch]:
    """Match every written name; those that match nothing, and were not declared new, are refused together."""
    matches: dict[tuple[str, str], NameMatch] = {}
    faults = []
    for entry in entries:
        for kind, written in (("model", entry.subject), ("benchmark", entry.benchmark)):
            if (kind, written) in matches:
                continue
            match = names[kind].match(written)
            if written in allowed.accept_near:
                confirmed = names[kind].match(allowed.accept_near[written])
                match = match._replace(id=confirmed.id, how="confirmed", near=confirmed.near)
            elif match.id is None and _is_declared_new(kind, entry, allowed, match):
                match = match._replace(id=written, how="new")
            matches[kind, written] = match
            if match.id is None:
                faults.append(Fault(name, entry.row, kind, written, _what_to_do(kind, match)))
    if faults:
        raise EvidenceError(faults)
    return matches


def _with_facts(entries: Entries, matches: Matches, facts: NewModel, name: str) -> list[score_columns.WrittenScore]:
    """Give the rows of new models the facts that came beside the file, where they state none themselves."""
    new = {entry.subject for entry in entries if matches["model", entry.subject].how == "new"}
    if facts.display_name is not None and len(new) > 1:
        raise MensuraError(
            f"{name}: one name for {len(new)} new models ({listed_names(sorted(new))}); use a column display_name"
        )
    return [
        entry._replace(extras={**facts.columns, **entry.extras}) if entry.subject in new else entry for entry in entries
    ]


def _is_declared_new(kind: str, entry: score_columns.WrittenScore, allowed: Allowed, match: NameMatch) -> bool:
    """A model is new where its release is given.

    A benchmark is new where it is named as new, where its kind or dimension is given, or where its unit is given and
    no known one is called anything like it.
    """
    if kind == "model":
        return "released" in entry.extras or allowed.new_model.released is not None
    declared = entry.benchmark in allowed.new or bool({"kind", "dimension"} & set(entry.extras))
    says_unit = "unit" in entry.extras or entry.percent or entry.cell.rstrip().endswith("%")
    return declared or (says_unit and not match.near)


def _what_to_do(kind: str, match: NameMatch) -> str:
    pair = shlex.quote(f"{match.written}={match.nearest}")
    taken = f" (--accept-near {pair} confirms it)" if match.nearest else ""
    near = f"{match.hint.lstrip(':; ')}{taken}; " if match.hint else ""
    new = (
        "its release date (--released, or a column released)"
        if kind == "model"
        else f"--new {match.written!r} and a unit (--unit, or a column unit)"
    )
    return f"a known {kind}: {near}one that is new needs {new}"


def _figures(entries: Entries, matches: Matches, comma: bool, name: str) -> list[ReadScore]:
    """Read every cell as a figure; those that hold none are refused together."""
    scores, faults = [], []
    for entry in entries:
        figure = read_figure(entry.cell, decimal_comma=comma)
        if figure is None:
            faults.append(Fault(name, entry.row, "score", entry.cell, "a number such as 70.4, 70.4% or 0.704"))
            continue
        subject, benchmark = matches["model", entry.subject].id, matches["benchmark", entry.benchmark].id
        unit = "percent" if figure.percent or entry.percent else unit_word(entry.extras.get("unit"))
        error = {} if figure.error is None else {"stderr": f"{figure.error:g}"}
        scores.append(
            ReadScore(entry.row, str(subject), str(benchmark), figure.value, unit, error | dict(entry.extras))
        )
    if faults:
        raise EvidenceError(faults)
    return scores


def _score_frame(scores: Sequence[ReadScore], optional: Sequence[str]) -> pl.DataFrame:
    """Return the scores as a table of text, as an evidence file has them, each with its row."""
    main = {
        "row": [score.row for score in scores],
        "subject": [score.subject for score in scores],
        "benchmark": [score.benchmark for score in scores],
        "score": [f"{score.value:.12g}" for score in scores],
        "unit": [score.unit for score in scores],
    }
    rest = {column: [score.extras.get(column) for score in scores] for column in optional if column != "unit"}
    return pl.DataFrame(main | rest, schema_overrides=dict.fromkeys([*main, *rest], pl.String) | {"row": pl.Int64})


def _name_rows(entries: Entries, matches: Matches) -> list[tuple[str, str, str | None, str, int]]:
    """Return how each written name was read, with the number of scores under it."""
    counts = Counter(("model", entry.subject) for entry in entries)
    counts.update(("benchmark", entry.benchmark) for entry in entries)
    return [(*written, match.id, match.how, counts[written]) for written, match in matches.items()]


def _new_names(matches: Matches) -> list[str]:
    """Say which names are new, many of a kind in one line."""
    notes = []
    for kind in ("model", "benchmark"):
        new = [written for (of, written), match in matches.items() if of == kind and match.how == "new"]
        if len(new) <= NAMES_SHOWN:
            notes += [f"new {kind}: {written}" for written in new]
        else:
            notes.append(f"{len(new)} new {kind}s: {listed_names(new)}")
    return notes
