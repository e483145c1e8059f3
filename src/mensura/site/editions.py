"""Editions of a report: what changed since the last one and why, and what came in when; feeds and the sitemap.

:func:`next_edition` is the one place where an edition is made. A static report finds the editions before it in its
folder (:func:`read_editions`); a live site hands in those it has shown (:func:`parse_editions`). Where the evidence
comes from a store, its log (:class:`mensura.site.revisions.EvidenceLog`) says why.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from mensura import __version__
from mensura.charts.values import counted
from mensura.evidence import Evidence
from mensura.site.revisions import EvidenceLog, Revision, reason, revisions
from mensura.site.templating import Templates
from mensura.study.headlines import passed_people, say_lead
from mensura.study.study import Study

FILE = "editions.json"
SHIPPED = Path(__file__).parent / "data" / "earlier_edition.json"
"""The edition before the embedded evidence (``python -m tools.embed_earlier_edition``)."""
_KEPT = 40
"""Editions remembered in the folder of the report."""
_MOVED = 0.5
"""IQ points by which a composite must move to be reported."""
_NAMED = 8
"""Changes of a kind listed one by one; more are counted."""
_LOGGED = 30
"""Days of the evidence's log."""


@dataclass(frozen=True)
class Edition:
    """One edition: its day, a fingerprint of scores and IQs, and what changed in words.

    ``entry`` is the last entry of the store's log that it shows; ``revisions`` are the entries since the one before.
    ``claims``: as :func:`claims_of`, empty in editions of versions that did not keep them.
    """

    day: str
    evidence_day: str
    changes: tuple[str, ...]
    iqs: dict[str, float]
    scores: dict[str, int]
    entry: int | None = None
    revisions: tuple[Revision, ...] = ()
    claims: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The edition in one text: what changed, and the entries of the log behind it."""
        return " ".join([*self.changes, *(f"Entry {one.entry}: {one.title}." for one in self.revisions)])


def evidence_day(evidence: Evidence) -> str:
    """Return the date of the newest score."""
    days = evidence.scores["date"].drop_nulls()
    return str(days.max()) if days.len() else "unknown"


def read_editions(out: Path) -> list[Edition]:
    """Return the editions that a folder remembers, newest first; none where it holds no report."""
    try:
        return parse_editions((out / "data" / FILE).read_bytes())
    except OSError:
        return []


def parse_editions(text: bytes | str) -> list[Edition]:
    """Return the editions that a file of editions holds, newest first; none where it cannot be read."""
    try:
        return [_edition(one) for one in json.loads(text)]
    except (ValueError, TypeError, KeyError):
        return []


def _edition(record: dict[str, Any]) -> Edition:
    entries = tuple(Revision(**{**one, "said": tuple(one["said"])}) for one in record.get("revisions", []))
    return Edition(**{**record, "changes": tuple(record["changes"]), "revisions": entries})


def next_edition(study: Study, earlier: list[Edition], today: date, log: EvidenceLog | None = None) -> list[Edition]:
    """Return the editions with today's in front; a build without a change replaces the edition it repeats.

    ``earlier``: the editions before, newest first. ``log``: the log of the store that the evidence was read from; the
    entries after the last edition's are its reasons, all of them where no edition came before.
    """
    iqs = dict(study.models.drop_nulls("exact_iq").select("subject", "exact_iq").iter_rows())
    made = replace(edition_of(study.evidence, iqs, today.isoformat()), claims=claims_of(study))
    last = earlier[0] if earlier else None
    since = None if log is None else log.since(None if last is None else last.entry)
    first = f"First edition: {study.models.height} models, {study.benchmarks.height} benchmarks, "
    first += f"{study.evidence.scores.height:,} scores."
    changes = [first] if last is None else _changes(study, last, made, since)
    entries = () if since is None else revisions(since, study.evidence)
    if last is not None and not changes and not entries:
        return earlier
    entry = None if log is None else log.last
    return [replace(made, changes=tuple(changes), entry=entry, revisions=entries[:_LOGGED]), *earlier][:_KEPT]


def edition_of(evidence: Evidence, iqs: dict[str, float], day: str, changes: tuple[str, ...] = ()) -> Edition:
    """Return the edition of an evidence with these IQs."""
    return Edition(
        day,
        evidence_day(evidence),
        changes,
        {subject: round(iq, 2) for subject, iq in iqs.items()},
        count_scores(evidence.scores),
    )


def claims_of(study: Study) -> dict[str, Any]:
    """Return what an edition claims: who leads and how surely, which groups of people were passed, by which version."""
    passed = [f"{one.short} on {study.benchmark_names[one.benchmark]}" for one in passed_people(study) if one.first]
    return {"version": __version__, "lead": say_lead(study)[0], "passed": passed}


def _claim_changes(last: Edition, made: Edition) -> list[str]:
    """Say which claims changed between two editions, and why as far as both can tell."""
    before, now = last.claims, made.claims
    if not before or not now:
        return []
    causes = ["new evidence"] * (last.scores != made.scores) + ["a new version"] * (before["version"] != now["version"])
    doubt = "; which of the two did it, the editions do not tell" if len(causes) > 1 else ""
    why = f"Why: {' and '.join(causes) or 'the editions do not tell'}{doubt}."
    leads = [f"Who leads. Before: {before['lead']} Now: {now['lead']} {why}"] if before["lead"] != now["lead"] else []
    gains = [f"Now passed: {one}. {why}" for one in now["passed"] if one not in before["passed"]]
    losses = [f"No longer passed: {one}. {why}" for one in before["passed"] if one not in now["passed"]]
    moves = [abs(iq - last.iqs[one]) for one, iq in made.iqs.items() if one in last.iqs] or [0.0]
    kept = f"IQs of {counted(len(moves), 'model')} in both editions moved by {median(moves):.1f} points (median)"
    sizes = [f"{kept}, at most by {max(moves):.1f}. {why}"] if max(moves) >= _MOVED else []
    return [*leads, *gains, *losses, *sizes]


def count_scores(scores: pl.DataFrame) -> dict[str, int]:
    """Return how many scores each model has."""
    return {key: int(n) for key, n in scores.group_by("subject").agg(pl.len()).sort("subject").iter_rows()}


def shipped_editions(study: Study) -> list[Edition]:
    """Return the edition that the package ships, where a study can be compared with it: same evidence, same method."""
    if study.evidence.origin.split(" + ")[0] != "embedded" or study.scale_said:
        return []
    return parse_editions(SHIPPED.read_bytes())


def _changes(study: Study, last: Edition, made: Edition, log: EvidenceLog | None) -> list[str]:
    """Say which models came and went, and which IQs moved and why."""
    names = dict(study.models.select("subject", "name").iter_rows())
    iqs, scores = made.iqs, made.scores
    new = [
        f"New: {names[one]}{f', IQ {iqs[one]:.0f}' if one in iqs else ''}, {counted(scores[one], 'score')}."
        for one in names
        if one not in last.scores and one in scores
    ]
    gone = [f"Gone: {one}." for one in last.scores if one not in scores]
    moved = []
    for subject, iq in sorted(iqs.items(), key=lambda pair: -abs(pair[1] - last.iqs.get(pair[0], pair[1]))):
        before = last.iqs.get(subject)
        if before is None or abs(iq - before) < _MOVED:
            continue
        moved.append(
            f"{names[subject]}: IQ {before:.1f} → {iq:.1f}, because of {_why(study, subject, last, scores, log)}."
        )
    changes = [
        *_claim_changes(last, made),
        *_few(new, "new models"),
        *_few(gone, "models gone"),
        *_few(moved, "IQs moved"),
    ]
    gained = sum(scores.values()) - sum(last.scores.values())
    if gained and not changes:
        changes.append(f"{abs(gained)} scores {'more' if gained > 0 else 'fewer'}; no IQ moved by {_MOVED} points.")
    return changes


def _few(sentences: list[str], kind: str) -> list[str]:
    more = [f"{len(sentences) - _NAMED} more {kind}."] if len(sentences) > _NAMED else []
    return [*sentences[:_NAMED], *more]


def _why(study: Study, subject: str, last: Edition, scores: dict[str, int], log: EvidenceLog | None) -> str:
    """Say why a model moved: by the log where there is one, else by the count of its scores."""
    if log is not None and not log.entries.is_empty():
        return reason(log, subject, study.evidence)
    more = scores.get(subject, 0) - last.scores.get(subject, 0)
    if not more:
        return "scores of other models, or of how they are read"
    return f"{abs(more)} {'more' if more > 0 else 'fewer'} score{'s' if abs(more) > 1 else ''} of its own"


def evidence_log(evidence: Evidence) -> list[dict[str, Any]]:
    """Return what the evidence received, by date and source, newest first: date, source, scores, models."""
    names = evidence.models.select("subject", "name")
    sources = evidence.sources.select("source", source_name="name")
    table = (
        evidence.scores.drop_nulls("date")
        .join(names, on="subject", maintain_order="left")
        .group_by("date", "source", maintain_order=True)
        .agg(pl.len().alias("scores"), pl.col("name").unique(maintain_order=True).alias("names"))
        .join(sources, on="source", how="left", maintain_order="left")
        .sort("date", "scores", descending=True)
        .head(_LOGGED)
    )
    return [
        {**row, "models": len(row["names"]), "said": ", ".join(row["names"][:3]) + " …" * (len(row["names"]) > 3)}
        for row in table.iter_rows(named=True)
    ]


def editions_json(editions: list[Edition]) -> str:
    """Return what the folder remembers of its editions."""
    return json.dumps([asdict(one) for one in editions], ensure_ascii=False, separators=(",", ":"))


def atom_feed(editions: list[Edition], address: str, today: date) -> str:
    """Return the editions as an Atom feed, newest first, without the control characters that XML forbids."""
    environment = Templates("mensura.site")
    environment.filters["printable"] = lambda text: "".join(sign for sign in text if sign >= " " or sign in "\t\n")
    text = environment.get_template("feed.xml").render(editions=editions, address=address, today=today.isoformat())
    return text + "\n"


def sitemap(files: list[str], address: str, today: date) -> str:
    """Return the sitemap of the pages."""
    template = Templates("mensura.site").get_template("sitemap.xml")
    return template.render(files=files, address=address, today=today.isoformat()) + "\n"
