"""The first page, tools for a reader's own question, pages about evidence and method, and the record of our claims."""

from datetime import date
from textwrap import wrap
from typing import Any

import polars as pl

from mensura.evidence import TABLES, slug
from mensura.scale import rate_interval
from mensura.site.editions import Edition, evidence_log
from mensura.site.pages.page import Page, Shared, figures_of, page_of, section_of, shared_lead
from mensura.site.pictures.first_screen import screen_of
from mensura.site.texts import glossary, method_parts
from mensura.study.grading import KIND_WORDS, RECORDS, SHOWN_SIGNS, sealed_claims, shipped_record
from mensura.study.policy import policy_rules
from mensura.study.record import FORECAST
from mensura.study.study import Study
from mensura.study.units import show

_COMPARED = 3
"""Providers whose best models open the compare page: a picture that is still easy to read."""
MOST_COMPARED = 5
_OF_EACH, _MOST_CLAIMS = 2, 120
"""Claims of a kind with each outcome that the record shows at first, and claims behind a press."""
_OPEN = (0.3, 0.99)
"""Between these chances a claim could come true and could fail."""
_OUTCOMES = {True: "came true", False: "did not", None: "still open"}


def overview(study: Study) -> Page:
    """Who leads and how surely, among which people, how fast, and at what cost."""
    return page_of("index.html", screen_of(study).context(), shared=shared_lead(study))


def pick(study: Study) -> Page:
    """Three models for a task, a budget, a speed and a licence, with reasons."""
    shared = Shared("Task, budget, speed, open weights: three models with reasons.")
    return page_of("pick.html", {"dimensions": list(study.dimension_names.items())}, shared=shared)


def compare(study: Study) -> Page:
    """Two to five models or groups side by side."""
    first = study.ranked.unique("provider", keep="first", maintain_order=True)["subject"]
    context = {"compared": first.head(_COMPARED).to_list(), "most": MOST_COMPARED}
    shared = Shared("The chance that one model is above the other, on the tests they share.")
    return page_of("compare.html", context, shared=shared)


def data(study: Study) -> Page:
    """Every score, to search, sort and filter, and the downloads."""
    count = study.evidence.scores.height
    context = {
        "tables": [(name, table.about, getattr(study.evidence, name).height) for name, table in TABLES.items()],
        "count": count,
        "sources": study.evidence.sources.to_dicts(),
        "all_providers": sorted(study.models["provider"].unique(), key=str.lower),
    }
    return page_of("data.html", context, shared=Shared(f"{count:,} scores, each with its source and date."))


def method(study: Study) -> Page:
    """Every rule with its formula, our departures, and the limits."""
    return page_of("method.html", {"parts_of_method": study_parts(study), "glossary": glossary()})


def study_parts(study: Study) -> list[dict[str, Any]]:
    """Return the parts of the method as this study follows it."""
    return method_parts(snapshot_sentence(study), policy_rules(study.evidence))


def snapshot_sentence(study: Study) -> str:
    """Say how much of the evidence comes from one publisher's snapshot."""
    primary = study.evidence.primary_scores
    counts = primary.group_by("source").agg(pl.len().alias("n")).sort("n", "source", descending=[True, False])
    top = counts.row(0, named=True)
    known = study.evidence.sources.rows_by_key("source", named=True, unique=True)
    named = known.get(top["source"], {"name": top["source"], "date": None})
    share, source = f"{top['n']:,} ({100 * top['n'] / primary.height:.0f}%)", f"{named['name']} of {named['date']}"
    return (
        f"Of the {primary.height:,} primary scores, {share} come from one source, {source}. What it got wrong, this "
        "report repeats; second sources are shown where there are any."
    )


def changes(study: Study, editions: list[Edition]) -> Page:
    """What changed since the last edition and why, and what came in when."""
    files = {name: f"models/{slug(subject)}.html" for subject, name in study.models.select("subject", "name").rows()}
    return page_of("changes.html", {"editions": editions, "log": evidence_log(study.evidence), "files": files})


def missing() -> Page:
    """Return the page for an address that leads nowhere."""
    return page_of("404.html", listed=False)


def record(study: Study) -> Page:
    """How often Mensura was right, good or bad."""
    graded, sealed = shipped_record(), sealed_claims()
    claims = graded.claims
    counts = {(*key,): count for *key, count in claims.group_by("record", "came_true").len().iter_rows()}
    records = [one for one in RECORDS if any(record == one for record, _ in counts)]
    days: list[date] = claims["made"].sort().to_list()
    context = {
        "kicker": "How often were we right?",
        "sentence": graded.sentence,
        "records": records,
        "counts": [(word, [counts.get((one, value), 0) for one in records]) for value, word in _OUTCOMES.items()],
        "years": [date(year, 1, 1) for year in range(days[0].year, days[-1].year + 3)],
        "newest": days[-1],
        "sealed_count": sum(len(one["claims"]) for one in sealed),
        "pictures": figures_of(study, "record-known", "record-reconstructed"),
        "sections": [
            section_of("record-intervals", _shares(graded.intervals)),
            section_of("record-forecasts", _shares(graded.forecasts)),
        ],
        "misses": graded.misses.head(8).to_dicts(),
        "groups": [(words, *_claims(claims.filter(kind=kind))) for kind, words in KIND_WORDS.items()],
        "sealed": [{**one, "signs": " ".join(wrap(one["sha256"][:SHOWN_SIGNS], 8))} for one in sealed],
    }
    return page_of("record.html", context, shared=Shared(graded.sentence))


def _shares(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table with each share and its 90% interval in words."""
    n = table["n"].to_numpy()
    shares = zip(table["coverage"], *rate_interval(table["coverage"].to_numpy() * n, n), strict=True)
    words = [f"{one:.0%} ({low:.0%} to {high:.0%})" for one, low, high in shares]
    return table.with_columns(coverage=pl.Series(words)).to_dicts()


def _claims(claims: pl.DataFrame) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Return the claims of a kind that are shown at first, those behind a press, and how many more there are.

    Newest first, those as known then before the others. Shown at first are claims that could come true and could fail,
    one per subject and span: as many that failed as came true, where there are any, and as many that are open.
    """
    rows = claims.sort("record", "made", descending=[False, True]).to_dicts()
    for row in rows:
        row["outcome"] = _OUTCOMES[row["came_true"]]
        unit = "capability" if row["kind"] == FORECAST else "iq"
        row["reached"] = "" if row["actual"] is None else f"reached: {show(row['actual'], unit)}"
    open_minded = [row for row in rows if row["chance"] is None or _OPEN[0] <= row["chance"] <= _OPEN[1]]
    told = {(row["subject"], row["months"], row["came_true"]): row for row in reversed(open_minded)}
    newest = sorted(told.values(), key=lambda row: row["made"], reverse=True)
    chosen = [row for word in _OUTCOMES for row in [one for one in newest if one["came_true"] is word][:_OF_EACH]]
    others = [row for row in rows if row not in chosen]
    return chosen, others[:_MOST_CLAIMS], len(others[_MOST_CLAIMS:])
