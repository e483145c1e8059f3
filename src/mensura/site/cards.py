"""The five cards of the first screen: number, interval, named people, and a link."""

from __future__ import annotations

from typing import Any

import polars as pl

from mensura.evidence import slug
from mensura.scale import iq_to_rate
from mensura.site.sections import cheapest_rows
from mensura.study.leaders import NO_PEOPLE
from mensura.study.sentences import people_sentence, rivals_sentence, unit_words
from mensura.study.study import Study
from mensura.study.units import chance, dollars, rarity, show, show_range

PRICED_IQ = 115
"""The IQ for which the overview names the cheapest model: one standard deviation above the average person."""

Card = dict[str, Any]


def overview_cards(study: Study) -> list[Card]:
    """Return the cards: who leads, how sure, against which people, how fast, what it costs."""
    return [_leader(study), _sure(study), _people(study), _pace(study), _cost(study)]


def _card(question: str, number: str, text: str, under: str, href: str, **more: object) -> Card:
    return {"question": question, "number": number, "text": text, "under": under, "href": href, **more}


def _leader(study: Study) -> Card:
    if study.ranked.is_empty():
        return _card("Who leads?", "–", "No model is known well enough to be ranked.", "", "models/index.html")
    best = study.ranked.row(0, named=True)
    people = rarity(1 / iq_to_rate(best["exact_iq"]))
    return _card(
        "Who leads?",
        f"IQ {show(best['iq'], 'iq')}",
        best["name"],
        f"90% {show_range(best['iq_low'], best['iq_high'], 'iq')}. By ladders that were judged, as rare as {people}.",
        f"models/{slug(best['subject'])}.html",
        row=best,
    )


def _sure(study: Study) -> Card:
    ranked = study.ranked
    if ranked.height < 2:
        return _card("How sure?", "–", "Nobody to compare with.", "", "compare.html")
    first, second = ranked.row(0, named=True), ranked.row(1, named=True)
    return _card(
        "How sure?",
        chance(first["p_first"]),
        f"chance that {first['name']} is first among all {ranked.height} ranked models",
        rivals_sentence(study),
        f"compare.html?with={slug(first['subject'])}&with={slug(second['subject'])}",
    )


def _people(study: Study) -> Card:
    measured = study.leaders.filter(pl.col("human_status") == "measured")
    ahead = measured.filter(pl.col("ahead") == "model")
    none = study.leaders.filter(pl.col("ahead") == NO_PEOPLE).height
    named = ""
    if not ahead.is_empty():
        row = ahead.sort("human_score", descending=True).row(0, named=True)
        named = (
            f"{_upper(row['people'])} on {row['title']}, measured: {show(row['human_score'], row['unit'])}; "
            f"{row['model']} {show(row['score'], row['unit'])}. "
        )
    return _card(
        "Against which people?",
        f"{ahead.height} of {measured.height}",
        "tests with measured, comparable people on which the best model is above them",
        f"{named}{none} tests have no comparable people.",
        "#beside-people",
        sentence=people_sentence(study),
    )


def _pace(study: Study) -> Card:
    pace, watch = study.pace, study.watch
    classes = study.groups.filter(pl.col("status") == "measured").sort("capability", descending=True)
    people = ""
    if not classes.is_empty():
        row = classes.row(0, named=True)
        named = _upper(study.class_names[row["group"]])
        people = f" {named}: passed by now with a chance of {chance(row['probability'])}."
    said = "too few releases to watch for an acceleration"
    if watch is not None:
        said = "no acceleration beyond chance" if watch.alarm is None else f"acceleration alarm on {watch.alarm}"
    return _card(
        "How fast?",
        f"{show(pace.slope, 'capability')}",
        f"a year by releases; 1 is {unit_words(study)}",
        f"90% {show_range(pace.low, pace.high, 'capability')}; {said}.{people}",
        "stitched.html#capability-time",
    )


def _cost(study: Study) -> Card:
    rows, _ = cheapest_rows(study, floors=[PRICED_IQ])
    if not rows:
        return _card("What does it cost?", "–", "No priced model reaches it.", "", "cost.html#cheapest-at")
    row = rows[0]
    return _card(
        "What does it cost?",
        dollars(row["cost"]),
        f"{row['name']}: the cheapest at IQ {PRICED_IQ} or more",
        f"per million tokens in and out, {row['basis']}; IQ {show(row['iq'], 'iq')} "
        f"({show_range(row['iq_low'], row['iq_high'], 'iq')}).",
        "cost.html#cheapest-at",
        row=row,
    )


def _upper(text: str) -> str:
    """Return a sentence with its first letter large."""
    return text[:1].upper() + text[1:]
