"""Feeds and the sitemap: editions, new evidence and releases for readers who return, and pages for search engines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from xml.sax.saxutils import escape, quoteattr

from mensura.evidence import slug
from mensura.site.api import to_json
from mensura.site.editions import Edition, evidence_log
from mensura.study.study import Study

_RELEASES = 8
"""Newest models in the feeds."""


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
        FeedEntry(f"edition-{one.day}-{place}", one.day, f"Edition of {one.day}", _told(one), "changes.html")
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
    newest = study.models.drop_nulls("released").sort("released", descending=True).head(_RELEASES)
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


def _told(edition: Edition) -> str:
    """Say an edition in one text: what changed, and the entries of the log behind it."""
    return " ".join([*edition.changes, *(f"Entry {one.entry}: {one.title}." for one in edition.revisions)])


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
