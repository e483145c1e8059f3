"""The list of all models, one page for each with the derivation of its IQ, and one page per maker."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import polars as pl
from markupsafe import Markup

from mensura.charts.values import counted
from mensura.evidence import slug
from mensura.iq import EFFECTIVE_COST_NOTE, Explanation
from mensura.site.pages.page import Page, Shared, page_of
from mensura.site.pages.where import where_context
from mensura.site.pictures.benchmark import maker_figure
from mensura.site.pictures.first_parts import said_share, sign
from mensura.site.pictures.horizon import task_length
from mensura.site.pictures.registry import iq_mark
from mensura.site.pictures.standing import against_people, among_people, known_tests, profile, what_it_costs
from mensura.site.templating import Templates
from mensura.site.texts import price_source, source_link
from mensura.study.headlines import leader_sentence, ranked_sentence
from mensura.study.horizons import say_lengths
from mensura.study.study import Study
from mensura.study.units import say_day, show, show_range

_RIVALS = 2
"""Models of other providers offered for comparison on a model's page."""
_NEAR = 100
"""Places above and below a model among which they are looked for."""
_SHARED = range(1, 13)
"""Ranks of models with a picture of their own for shared links: each takes 57 kB and a tenth of a second."""
_MEASURED = ("source", "measured", "partly measured", "Full")


def model_list(study: Study) -> Page:
    """All models, to search, filter and sort."""
    context: dict[str, Any] = {"rows": study.models.to_dicts(), "benchmarks": len(study.iq.matrix.benchmarks)}
    context["all_providers"] = sorted(study.models["provider"].unique(), key=str.lower)
    context["counts"] = counts_said(study)
    words: dict[str, Any] = {"leader": leader_sentence(study), "count": study.models.height}
    return page_of("models/index.html", context, shared=Shared(ranked_sentence(study)), **words)


def counts_said(study: Study) -> str:
    """Say how many models there are, and how many of them each kind of page counts."""
    models = study.models
    ranked, placed, costed = (models[column].count() for column in ("iq", "capability", "effective_cost"))
    return (
        f"Of {models.height:,} models, {ranked:,} have an IQ, {placed:,} a capability and {costed:,} an effective "
        f"cost. {models['rank'].count():,} are ranked by IQ, {study.capability_ranks['rank'].count():,} by capability. "
        f"Charts show the {models['charted'].sum():,} current ones by default."
    )


def model_file(subject: str) -> str:
    """Return where the page of a model lies."""
    return f"models/{slug(subject)}.html"


def model_sentence(study: Study, row: dict[str, Any], *, short: bool = False) -> str:
    """Say how many people reach a model's IQ and, unless ``short``, where it is strongest and weakest."""
    if row["exact_iq"] is None:
        return f"{row['name']} of {row['provider']} has no IQ yet: too little of it is measured to estimate the rest."
    reach = f"IQ {show(row['iq'], 'iq')} (90%: {show_range(row['iq_low'], row['iq_high'], 'iq')}), a level that about "
    reach += f"{said_share(row['iq'])} reach"
    strands = study.rows.profile_rows.get(row["subject"], [])
    if short or len(strands) < 2:
        return f"{reach}."
    best, worst = max(strands, key=lambda one: one["value"]), min(strands, key=lambda one: one["value"])
    return (
        f"{reach}: {show(best['value'], 'iq')} in {best['dimension'].lower()}, {show(worst['value'], 'iq')} in "
        f"{worst['dimension'].lower()}."
    )


def model(study: Study, row: dict[str, Any]) -> Page:
    """Everything known about one model."""
    subject, scored = row["subject"], row["iq"] is not None
    tests = known_tests(study, subject)
    lengths = task_length(study, row)
    priced_by = price_source(row["source"])
    context: dict[str, Any] = {"row": row, "benchmarks": len(study.iq.matrix.benchmarks), "lengths": lengths}
    context |= {
        "sentence": model_sentence(study, row),
        "maker": f"makers/{slug(row['provider'])}.html",
        "rivals": rivals(study, subject),
        "pictures": [profile(study, row)] if scored else [],
        "where": where_context(study, row),
        "lengths_said": "" if lengths else say_lengths(study, subject),
        "sign": sign(row["provider"], full=bool(row["well_measured"])),
        "ranked": f"{study.ranked.height:,}",
        "lead": sorted(study.lead.chances.values()) if study.lead and study.lead.subject == subject else None,
        "among": among_people(study, row) if scored else None,
        "standing": [against_people(study, row), what_it_costs(study, row)] if scored else [],
        "known": tests if scored else [],
        "missing": [one["name"] for kind in tests for one in kind["tests"] if not one["measured"]],
        "tree": derivation_html(study.iq.explain(subject), study.benchmark_names),
        "scores": study.rows.score_rows.get(subject, []),
    }
    context |= {"cost_note": EFFECTIVE_COST_NOTE, "priced_by": priced_by, "priced_at": source_link(priced_by)}
    note = f"{row['measured']} of its {context['benchmarks']} tests are measured"
    own = Shared(f"{row['name']}: {model_sentence(study, row, short=True)}", None, note, (iq_mark(row),))
    shared = own if row["rank"] in _SHARED else Shared()
    return page_of("models/", context, of=slug(subject), shared=shared, name=row["name"], provider=row["provider"])


def rivals(study: Study, subject: str) -> list[str]:
    """Return the two models of other providers nearest in IQ, to compare with."""
    own = study.rows.by_subject[subject]
    if own["exact_iq"] is None:
        return []
    ordered, iq = study.rows.by_iq, own["exact_iq"]
    place = bisect_left(ordered, -iq, key=lambda row: -row["exact_iq"])
    near = sorted(ordered[max(0, place - _NEAR) : place + _NEAR], key=lambda row: abs(row["exact_iq"] - iq))
    others = [row for row in near if row["provider"] != own["provider"]]
    nearest = {row["provider"]: row["subject"] for row in reversed(others)}  # the nearest of each is written last
    return [row["subject"] for row in others if nearest[row["provider"]] == row["subject"]][:_RIVALS]


def derivation_html(node: Explanation, names: Mapping[str, str]) -> Markup:
    """Return a node with its parts, benchmarks by name and dates in words; the composite is open, the rest closed.

    Parts that have none of their own are a list, unless others beside them open: then each is a line. What all parts
    of one status say alike stands once, above them.
    """
    notes: dict[str, list[str]] = {}
    for leaf in _leaves(node):
        notes.setdefault(leaf.status, []).append(leaf.note)
    alike = {
        status: texts[0]
        for status, texts in notes.items()
        if status not in _MEASURED and len(texts) > 1 and len(set(texts)) == 1
    }
    facts = {"whole": node, "names": names, "alike": alike, "measured": _MEASURED}
    return Markup(say_day(_environment().get_template("derivation.html").render(facts)))


@cache
def _environment() -> Templates:
    return Templates("mensura.site")


def _leaves(node: Explanation) -> Iterator[Explanation]:
    for part in node.parts:
        yield from _leaves(part)
    if not node.parts:
        yield node


def maker_pages(study: Study) -> Iterator[Page]:
    """Yield the page of each maker, those with the best model first."""
    yield from (maker(study, provider) for provider in study.models["provider"].unique(maintain_order=True))


def maker(study: Study, provider: str) -> Page:
    """All models of one maker, newest first."""
    rows = study.models.filter(pl.col("provider") == provider)
    count, ranked = counted(rows.height, "model"), rows.drop_nulls("rank").to_dicts()
    sentence = f"{provider} has {count} here, none of them ranked."
    if ranked:
        best = ranked[0]
        sentence = (
            f"The best of {provider} is {best['name']}: IQ {show(best['iq'], 'iq')} "
            f"(90%: {show_range(best['iq_low'], best['iq_high'], 'iq')}), rank {best['rank']:,} of "
            f"{study.ranked.height:,}."
        )
    picture = maker_figure(study, provider)
    newest = rows.sort("released", descending=True, nulls_last=True, maintain_order=True).to_dicts()
    context: dict[str, Any] = {"sentence": sentence, "pictures": [picture] if picture else [], "rows": newest}
    context["benchmarks"] = len(study.iq.matrix.benchmarks)
    return page_of("makers/", context, of=slug(provider), name=provider, models=count)
