"""Pages about the evidence and the method: every score, what changed, every rule, and the page for nothing found."""

from __future__ import annotations

from typing import Any

import polars as pl
from markupsafe import Markup, escape

from mensura.evidence import TABLES, slug
from mensura.site.editions import Edition, evidence_log
from mensura.site.glossary import glossary
from mensura.site.method import method_parts
from mensura.site.pages.page import Page
from mensura.study.policy import policy_part
from mensura.study.study import Study


def data(study: Study) -> Page:
    """Every score, to search, sort and filter, and the downloads."""
    tables = [(name, table.about, getattr(study.evidence, name).height) for name, table in TABLES.items()]
    return Page(
        "data.html",
        "Data",
        "Every score with its source; second sources are kept to show how far they disagree.",
        "data.html",
        {
            "tables": tables,
            "count": study.evidence.scores.height,
            "sources": study.evidence.sources.to_dicts(),
            "all_providers": sorted(study.models["provider"].unique(), key=str.lower),
        },
        scripts=("data/scores", "explorer", "table"),
        shared=(f"{study.evidence.scores.height:,} scores, each with its source and date.", ()),
    )


def method(study: Study) -> Page:
    """Every rule with its formula, our departures, and the limits."""
    return Page(
        "method.html",
        "Method",
        "Every rule with its formula, where it comes from, where we depart from the source and why, and what the "
        "numbers "
        "are not.",
        "method.html",
        {"parts_of_method": study_parts(study), "glossary": glossary()},
    )


def study_parts(study: Study) -> list[dict[str, Any]]:
    """Return the parts of the method as this study follows it."""
    return method_parts(snapshot_sentence(study), policy_part(study.evidence), study.scale_said)


def snapshot_sentence(study: Study) -> str:
    """Say how much of the evidence comes from one publisher's snapshot."""
    primary = study.evidence.primary_scores
    counts = primary.group_by("source").agg(pl.len().alias("n")).sort("n", "source", descending=[True, False])
    top = counts.row(0, named=True)
    names = dict(study.evidence.sources.select("source", "name").iter_rows())
    dates = dict(study.evidence.sources.select("source", "date").iter_rows())
    return (
        f"Of the {primary.height:,} primary scores, {top['n']:,} ({100 * top['n'] / primary.height:.0f}%) come "
        "from one "
        f"source, {names.get(top['source'], top['source'])} of {dates.get(top['source'])}. What it got wrong, this "
        "report "
        "repeats; second sources are shown where there are any."
    )


def changes(study: Study, editions: list[Edition]) -> Page:
    """What changed since the last edition and why, and what came in when."""
    files = {name: f"models/{slug(subject)}.html" for subject, name in study.models.select("subject", "name").rows()}
    return Page(
        "changes.html",
        "What changed",
        "What changed since the last edition of this report and why; and what the evidence received, by date.",
        "changes.html",
        {"editions": editions, "log": evidence_log(study.evidence), "linked": lambda text: linked_change(text, files)},
    )


def linked_change(text: str, files: dict[str, str]) -> Markup:
    """Return a change whose model leads to its page; ``files``: the page of each model by name."""
    head = "New: " if text.startswith("New: ") else ""
    rest = text.removeprefix(head)
    told = [name for name in files if rest.startswith((f"{name},", f"{name}:"))]
    if not told:
        return escape(text)
    name = max(told, key=len)
    return Markup('{}<a href="{}">{}</a>{}').format(head, files[name], name, rest.removeprefix(name))


def missing() -> Page:
    """Return the page for an address that leads nowhere."""
    return Page(
        "404.html",
        "Nothing stands here",
        "The page you asked for does not exist, or no longer.",
        "404.html",
        listed=False,
    )
