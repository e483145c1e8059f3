"""Where one model stands, in words and short tables for its page: neighbours, people, price, what to measure next."""

from typing import Any

from mensura.charts.values import counted
from mensura.evidence import slug
from mensura.evidence.passing import SURELY
from mensura.site.pictures.standing import passed_said, people_rows
from mensura.study.standing import NEAR_IQ, find_neighbours, find_next, find_prices
from mensura.study.study import Study
from mensura.study.units import dollars, show

_NEXT = 3
"""Benchmarks named that would tell most."""
_PRICES = 5
"""Models of the same level listed with their prices."""
_PASSED = f"A group is passed when the chance of scoring above it is {SURELY:.0%} or more."
_NO_PEOPLE = "No group of people has a score on a test that this model took."


def where_context(study: Study, row: dict[str, Any]) -> dict[str, Any]:
    """Return what the section "Where it stands" of a model's page shows."""
    subject = row["subject"]
    people, priced = people_rows(study, subject), find_prices(study, subject).rows
    telling = find_next(study, subject).rows
    return {
        "neighbours": find_neighbours(study, subject).rows,
        "people": people,
        "people_said": f"It passed {passed_said(people)}. {_PASSED}" if people else _NO_PEOPLE,
        "price_said": price_said(priced, row),
        "prices": price_rows(priced),
        "next_said": next_said(telling, row),
        "next": telling[:_NEXT],
    }


def price_said(near: list[dict[str, Any]], row: dict[str, Any]) -> str:
    """Say what the model costs among models of about its level, cheapest first, by list price."""
    if row["iq"] is None:
        return "Without an IQ it has no level to compare prices at."
    if row["sticker_price"] is None:
        return "It has no list price."
    others = [one for one in near if one["sticker_price"] is not None and one["subject"] != row["subject"]]
    own = f"{dollars(row['sticker_price'])} for a million tokens in and a million out"
    level = f"within {NEAR_IQ:.0f} IQ points of it"
    if not others:
        return f"It lists at {own}; no other ranked model {level} has a price."
    cheaper = [one for one in others if one["sticker_price"] < row["sticker_price"]]
    cheapest = f"; the cheapest is {cheaper[0]['name']} at {dollars(cheaper[0]['sticker_price'])}" if cheaper else ""
    return f"At {own}, {len(cheaper) or 'none'} of {counted(len(others), 'other')} {level} list cheaper{cheapest}."


def price_rows(near: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the models near one another that have a price, with their pages."""
    priced = [row for row in near if row["sticker_price"] is not None][:_PRICES]
    pages = ((row, f"models/{slug(row['subject'])}.html") for row in priced)
    costs = "sticker_price_href", "effective_cost_href"
    return [row | {"iq_href": f"{page}#derivation"} | dict.fromkeys(costs, f"{page}#cost") for row, page in pages]


def next_said(telling: list[dict[str, Any]], row: dict[str, Any]) -> str:
    """Say which benchmark would tell most about a model."""
    if row["iq"] is None:
        return "Too little is known of it to say which benchmark would tell most; any of the composite's would."
    if not telling:
        return "Nothing: every benchmark of the composite is measured."
    best = telling[0]
    return (
        f"{best['name']} would tell most next: knowing its score would take away about "
        f"{show(best['variance_explained'], 'fraction')} of what is uncertain in the IQ (as a variance)."
    )
