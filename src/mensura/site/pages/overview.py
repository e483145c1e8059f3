"""The first page: five cards, one picture with intervals, who leads, and the best model on each test beside people."""

from __future__ import annotations

from typing import Any

from mensura.charts import Strip, draw_forest
from mensura.evidence import slug
from mensura.scale import iq_to_rate
from mensura.scale.ranking import WIDEST_IQ
from mensura.site.cards import overview_cards
from mensura.site.pages.page import Page
from mensura.site.pictures import Figure
from mensura.study.ranking import MOST_DIMENSIONS
from mensura.study.sentences import leader_sentence, pace_sentence, unit_sentences, unit_words
from mensura.study.study import Study
from mensura.study.units import rarity, show, show_range

LEADERS = 15
"""Models in the table of the overview."""
_DRAWN = 10
"""Models in its picture: what fits the first screen."""


def overview(study: Study) -> Page:
    """Who leads, how sure, against which people, how fast, and what it costs."""
    cards = overview_cards(study)
    return Page(
        "index.html",
        "How good is this AI, compared with people?",
        "AI models, benchmarks and groups of people on common, human-anchored scales, with intervals and a source "
        "for every number.",
        "index.html",
        {
            "cards": cards,
            "units": unit_sentences(study),
            "unit": unit_words(study),
            "leader": f"{leader_sentence(study)} {study.scale_said}".rstrip(),
            "pace": pace_sentence(study),
            "ranked": study.ranked.head(LEADERS).to_dicts(),
            "too_new": study.too_new.to_dicts(),
            "benchmarks": len(study.iq.matrix.benchmarks),
            "widest": WIDEST_IQ,
            "pictures": [leaders_figure(study)],
            "beside_people": sorted(study.leaders.to_dicts(), key=lambda row: row["people"] is None),
        },
        scripts=("table",),
        shared=(f"{cards[0]['number']}", (cards[0]["text"], cards[0]["under"])),
    )


def leaders_figure(study: Study) -> Figure:
    """Draw the highest ranked models with intervals; a full mark: well measured."""
    rows: list[dict[str, Any]] = study.ranked.head(_DRAWN).to_dicts()
    strips = [
        Strip(
            row["name"],
            row["exact_iq"],
            row["iq_low"],
            row["iq_high"],
            "measured" if row["well_measured"] else "estimated",
            row["provider"],
            show(row["iq"], "iq"),
            f"models/{slug(row['subject'])}.html",
            row["subject"],
            f"90% {show_range(row['iq_low'], row['iq_high'], 'iq')}",
        )
        for row in rows
    ]
    finding = leader_sentence(study)
    return Figure(
        "leaders",
        "Who leads",
        f"Composite IQ with 90% intervals, for the {len(rows)} highest of {study.ranked.height} ranked models. A "
        f"full mark: at least {MOST_DIMENSIONS} dimensions were measured. Under each tick: how many people are said to "
        "be above it. That reading rests on ladders that were judged; nobody gave these tests to people of known IQ.",
        finding=finding,
        drawing=draw_forest(
            strips,
            axis="composite IQ; below: as rare as",
            tick=lambda value: show(value, "iq"),
            second=lambda value: rarity(1 / iq_to_rate(value)).replace(" people", ""),
            description=f"{finding}; {', '.join(f'{one.label} {one.text}' for one in strips[:3])}.",
        )
        if strips
        else None,
        rows=tuple(
            {
                key: row[key]
                for key in (
                    "subject",
                    "name",
                    "provider",
                    "exact_iq",
                    "iq_low",
                    "iq_high",
                    "p_first",
                    "own_dimensions",
                )
            }
            for row in rows
        ),
        limit="limits",
    )
