"""The list of all models, and one page for each."""

from __future__ import annotations

from typing import Any

from mensura.evidence import slug
from mensura.iq import EFFECTIVE_COST_NOTE
from mensura.site.derivation import derivation_html
from mensura.site.links import price_source, source_link
from mensura.site.pages.makers import maker_file
from mensura.site.pages.overview import leader_marks
from mensura.site.pages.page import Page
from mensura.site.pages.where import where_context
from mensura.site.pictures.signs import said_share, sign
from mensura.site.pictures.standing import against_people, among_people, known_tests, profile, what_it_costs
from mensura.site.sections import model_scores, rivals
from mensura.study.headlines import leader_sentence, ranked_sentence
from mensura.study.study import Study
from mensura.study.units import show, show_range


def model_list(study: Study) -> Page:
    """All models, to search, filter and sort."""
    return Page(
        "models/index.html",
        "Models",
        f"{leader_sentence(study)} All {study.models.height} models follow, with how much of each was measured.",
        "models.html",
        {
            "rows": study.models.to_dicts(),
            "benchmarks": len(study.iq.matrix.benchmarks),
            "all_providers": sorted(study.models["provider"].unique(), key=str.lower),
        },
        scripts=("table",),
        shared=(ranked_sentence(study), leader_marks(study)),
    )


def model_file(subject: str) -> str:
    """Return where the page of a model lies."""
    return f"models/{slug(subject)}.html"


def model_sentence(study: Study, row: dict[str, Any], *, short: bool = False) -> str:
    """Say how many people reach a model's IQ and, unless ``short``, where it is strongest and weakest."""
    if row["exact_iq"] is None:
        return f"{row['name']} of {row['provider']} has no IQ yet: too little of it is measured to estimate the rest."
    said = f"IQ {show(row['iq'], 'iq')} (90%: {show_range(row['iq_low'], row['iq_high'], 'iq')}), a level that about "
    said += f"{said_share(row['iq'])} reach"
    strands = study.rows.profile_rows.get(row["subject"], [])
    if short or len(strands) < 2:
        return f"{said}."
    best, worst = max(strands, key=lambda one: one["value"]), min(strands, key=lambda one: one["value"])
    return (
        f"{said}: {show(best['value'], 'iq')} in {best['dimension'].lower()}, {show(worst['value'], 'iq')} in "
        f"{worst['dimension'].lower()}."
    )


def _place(study: Study, row: dict[str, Any]) -> tuple[str, str]:
    """Say the place among all ranked models and the 90% interval of it."""
    if row["rank"] is None:
        return "not ranked", "too little is measured"
    low, high = ordinal(row["rank_low"]), ordinal(row["rank_high"])
    return ordinal(row["rank"]), f"of {study.ranked.height} ranked" + (f", {low} to {high}" if low != high else "")


def ordinal(number: int) -> str:
    """Return a place in words of a table: 1st, 2nd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 < number % 100 < 14 else ending}"


def model(study: Study, row: dict[str, Any]) -> Page:
    """Everything known about one model."""
    subject = row["subject"]
    scored = row["iq"] is not None
    count = len(study.iq.matrix.benchmarks)
    sentence = model_sentence(study, row)
    where = where_context(study, row)
    standing = [against_people(study, row), what_it_costs(study, row)] if scored else []
    return Page(
        model_file(subject),
        row["name"],
        f"{row['name']} of {row['provider']}: what was measured, what was estimated, and how each number came about.",
        "model.html",
        {
            "row": row,
            "sentence": sentence,
            "maker": maker_file(row["provider"]),
            "benchmarks": count,
            "rivals": rivals(study, subject),
            "pictures": [profile(study, row)] if scored else [],
            "where": where,
            "sign": sign(row["provider"], full=bool(row["well_measured"])),
            "place": _place(study, row),
            "among": among_people(study, row) if scored else None,
            "standing": standing,
            "known": known_tests(study, subject) if scored else [],
            "missing": [
                one["name"] for kind in known_tests(study, subject) for one in kind["tests"] if not one["measured"]
            ],
            "tree": derivation_html(study.iq.explain(subject), study.benchmark_names),
            "scores": model_scores(study, subject),
            "cost_note": EFFECTIVE_COST_NOTE,
            "priced_by": price_source(row["source"]),
            "priced_at": source_link(price_source(row["source"])),
        },
        scripts=("table",),
        shared=(model_sentence(study, row, short=True), ((row["provider"], row["exact_iq"]),) if scored else ()),
    )
