"""Editions of a report: what changed since the last one and why, what came in when, and the feeds that tell of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from mensura.evidence import Evidence, slug
from mensura.site.api import to_json
from mensura.site.study import Study

FILE = "editions.json"
_KEPT = 40
"""Editions remembered in the folder of the report."""
_MOVED = 0.5
"""IQ points by which a composite must move to be told."""
_NAMED = 8
"""Changes told one by one; more are counted."""
_LOGGED = 30
"""Days of the evidence's log."""


@dataclass(frozen=True)
class Edition:
    """One edition: its day, a fingerprint of scores and IQs, and what changed in words."""

    day: str
    evidence_day: str
    changes: tuple[str, ...]
    iqs: dict[str, float]
    scores: dict[str, int]


def evidence_day(evidence: Evidence) -> str:
    """Return the date of the newest score."""
    known = evidence.scores["date"].drop_nulls()
    return str(known.max()) if known.len() else "unknown"


def read_editions(out: Path) -> list[Edition]:
    """Return the editions that a folder remembers, newest first; none where it holds no report."""
    try:
        held = json.loads((out / "data" / FILE).read_text(encoding="utf-8"))
        return [Edition(**{**one, "changes": tuple(one["changes"])}) for one in held]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def next_edition(study: Study, earlier: list[Edition], today: date) -> list[Edition]:
    """Return the editions with today's in front; a build without a change replaces the edition it repeats."""
    iqs = {
        row[0]: round(row[1], 2)
        for row in study.models.drop_nulls("exact_iq").select("subject", "exact_iq").iter_rows()
    }
    counted = study.evidence.scores.group_by("subject").agg(pl.len()).sort("subject")
    scores = {subject: int(n) for subject, n in counted.iter_rows()}
    last = earlier[0] if earlier else None
    changes = _first(study) if last is None else _changes(study, last, iqs, scores)
    if last is not None and not changes:
        return earlier
    made = Edition(today.isoformat(), evidence_day(study.evidence), tuple(changes), iqs, scores)
    return [made, *earlier][:_KEPT]


def _first(study: Study) -> list[str]:
    return [
        f"First edition: {study.models.height} models, {study.benchmarks.height} benchmarks, "
        f"{study.evidence.scores.height:,} scores."
    ]


def _changes(study: Study, last: Edition, iqs: dict[str, float], scores: dict[str, int]) -> list[str]:
    names = dict(study.models.select("subject", "name").iter_rows())
    said = [
        f"New: {names[one]}, {scores.get(one, 0)} scores." for one in names if one not in last.scores and one in scores
    ]
    said += [f"Gone: {one}." for one in last.scores if one not in scores]
    for subject, iq in sorted(iqs.items(), key=lambda pair: -abs(pair[1] - last.iqs.get(pair[0], pair[1]))):
        before = last.iqs.get(subject)
        if before is None or abs(iq - before) < _MOVED:
            continue
        more = scores.get(subject, 0) - last.scores.get(subject, 0)
        own = f"{abs(more)} {'more' if more > 0 else 'fewer'} scores of its own" if more else "scores of other models"
        said.append(f"{names[subject]}: IQ {before:.1f} → {iq:.1f}, because of {own}.")
    gained = sum(scores.values()) - sum(last.scores.values())
    if gained and not said:
        said.append(f"{abs(gained)} scores {'more' if gained > 0 else 'fewer'}; no IQ moved by {_MOVED} points.")
    return [*said[:_NAMED], *([f"{len(said) - _NAMED} more changes."] if len(said) > _NAMED else [])]


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
        {
            **row,
            "models": len(row["names"]),
            "said": ", ".join(row["names"][:3]) + (" …" if len(row["names"]) > 3 else ""),
        }
        for row in table.iter_rows(named=True)
    ]


def editions_json(editions: list[Edition]) -> str:
    """Return what the folder remembers of its editions."""
    return json.dumps([asdict(one) for one in editions], ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class FeedEntry:
    """One entry of the feeds."""

    key: str
    day: str
    title: str
    text: str
    href: str


def feed_entries(study: Study, editions: list[Edition]) -> list[FeedEntry]:
    """Return editions, arrivals of evidence and releases, newest first."""
    entries = [
        FeedEntry(f"edition-{one.day}-{place}", one.day, f"Edition of {one.day}", " ".join(one.changes), "changes.html")
        for place, one in enumerate(editions)
    ]
    entries += [
        FeedEntry(
            f"evidence-{row['date']}-{row['source']}",
            _whole_day(str(row["date"])),
            f"{row['scores']} scores from {row['source_name'] or row['source']}",
            f"{row['models']} models: {row['said']}",
            "data.html",
        )
        for row in evidence_log(study.evidence)
    ]
    newest = study.models.drop_nulls("released").sort("released", descending=True).head(_NAMED)
    entries += [
        FeedEntry(
            f"model-{slug(row['subject'])}",
            row["released"].isoformat(),
            f"{row['name']} of {row['provider']}",
            "No IQ yet." if row["iq"] is None else f"IQ {row['iq']}, {row['measured']} benchmarks measured.",
            f"models/{slug(row['subject'])}.html",
        )
        for row in newest.iter_rows(named=True)
    ]
    return sorted(entries, key=lambda one: (one.day, one.key), reverse=True)


def atom_feed(entries: list[FeedEntry], address: str, today: date) -> str:
    """Return the entries as an Atom feed."""
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">',
        "<title>Mensura: what changed</title><id>urn:mensura:report</id>",
        f"<updated>{today.isoformat()}T00:00:00Z</updated><author><name>Mensura</name></author>",
        f'<link rel="self" href={quoteattr(address + "feed.xml")}/><link href={quoteattr(address + "changes.html")}/>',
    ]
    parts += [
        f"<entry><id>urn:mensura:{escape(one.key)}</id><title>{escape(_printable(one.title))}</title>"
        f"<updated>{one.day}T00:00:00Z</updated><link href={quoteattr(address + one.href)}/>"
        f"<summary>{escape(_printable(one.text))}</summary></entry>"
        for one in entries
    ]
    return "\n".join([*parts, "</feed>\n"])


def json_feed(entries: list[FeedEntry], address: str) -> str:
    """Return the entries as a JSON Feed."""
    items = [
        {
            "id": f"urn:mensura:{one.key}",
            "url": address + one.href,
            "title": one.title,
            "content_text": one.text,
            "date_published": f"{one.day}T00:00:00Z",
        }
        for one in entries
    ]
    head = {"version": "https://jsonfeed.org/version/1.1", "title": "Mensura: what changed"}
    return to_json({**head, "home_page_url": address + "index.html", "feed_url": address + "feed.json", "items": items})


def sitemap(files: list[str], address: str, today: date) -> str:
    """Return the sitemap of the pages."""
    rows = "".join(
        f"<url><loc>{escape(address + file)}</loc><lastmod>{today.isoformat()}</lastmod></url>\n" for file in files
    )
    head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{rows}</urlset>\n"


def _whole_day(text: str) -> str:
    """Return a date that a source gives by month or year as its first day."""
    return (
        f"{text}-01"[:10] if len(text) == len("2026-10") else f"{text}-01-01"[:10] if len(text) == len("2026") else text
    )


def _printable(text: str) -> str:
    """Return the text without the control characters that XML forbids."""
    return "".join(sign for sign in text if sign >= " " or sign in "\t\n")
