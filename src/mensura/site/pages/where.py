"""Where one model stands, in words and short tables for its page: neighbours, people, price, what to measure next."""

from __future__ import annotations

from typing import Any

import polars as pl

from mensura.evidence import slug
from mensura.iq import COUNTS
from mensura.site.study import Study
from mensura.site.units import dollars, show, show_range
from mensura.site.whereabouts import NEAR_IQ, Whereabouts

_SURELY = 0.95
"""Chance from which a model is said to be above people, or its complement below them."""
_NEXT = 3
"""Benchmarks named that would tell most."""
_PRICES = 5
"""Models of the same level listed with their prices."""


def where_context(study: Study, found: Whereabouts, row: dict[str, Any]) -> dict[str, Any]:
    """Return what the section "Where it stands" of a model's page shows."""
    return {
        "neighbours": _neighbours(study, found, row["subject"]),
        "people": _people(study, found, row["subject"]),
        "people_said": _people_said(found),
        "price_said": _price_said(study, found, row),
        "prices": _prices(study, found),
        "next_said": _next_said(found, row),
        "next": found.next.head(_NEXT).to_dicts(),
        "charted_said": charted_sentence(study, row),
    }


def _neighbours(study: Study, found: Whereabouts, subject: str) -> list[dict[str, Any]]:
    facts = study.models.select("subject", "name", "rank", *(name for name in COUNTS if name != "measured"))
    table = found.neighbours.join(facts, on="subject", how="left", maintain_order="left")
    return [
        {
            **row,
            "itself": row["subject"] == subject,
            "iq_range": show_range(row["iq_low"], row["iq_high"], "iq"),
            "chance": "this model" if row["chance_above"] is None else show(row["chance_above"], "chance"),
        }
        for row in table.to_dicts()
    ]


def _people(study: Study, found: Whereabouts, subject: str) -> list[dict[str, Any]]:
    """Return the groups with test, status, n, both scores and the chance; those not passed first."""
    printed = study.printed_people
    scores = study.printed_scores.get(subject, {})
    rows = []
    for row in found.people.sort("chance_above", nulls_last=True).iter_rows(named=True):
        group = printed[row["benchmark"], row["group"]]
        unit, n = group["unit"], group["n"]
        rows.append(
            {
                **row,
                "test": study.benchmark_names[row["benchmark"]],
                "status": row["status"] + (f", n = {n:,}" if n is not None else ""),
                "theirs": show(group["score"], unit),
                "own": scores.get(row["benchmark"], ""),
                "verdict": verdict(row["chance_above"]),
            }
        )
    return rows


def verdict(chance: float | None) -> str:
    """Say whether a model passed a group of people on a test, no more surely than the errors of both scores allow."""
    if chance is None:
        return "not known"
    return "passed" if chance >= _SURELY else "not passed" if chance <= 1 - _SURELY else "cannot be told"


def _people_said(found: Whereabouts) -> str:
    said = [verdict(chance) for chance in found.people["chance_above"]]
    if not said:
        return "No group of people has a score on a test that this model took."
    passed, below = said.count("passed"), said.count("not passed")
    tests = found.people["benchmark"].n_unique()
    unsure = len(said) - passed - below
    told = f"; of {unsure} it cannot be told" if unsure else ""
    return (
        f"On {tests} tests that people took as well, it passed {passed} of {len(said)} groups and did not pass "
        f"{below}{told}. A group is passed when the chance of scoring above it is {_SURELY:.0%} or more."
    )


def _price_said(study: Study, found: Whereabouts, row: dict[str, Any]) -> str:
    """Say what the model costs among models of about its level, by list price."""
    priced = found.prices.drop_nulls("sticker_price")
    if row["iq"] is None:
        return "Without an IQ it has no level to compare prices at."
    if row["sticker_price"] is None:
        return "It has no list price."
    others = priced.filter(pl.col("subject") != row["subject"])
    own = f"{dollars(row['sticker_price'])} for a million tokens in and a million out"
    level = f"within {NEAR_IQ:.0f} IQ points of it"
    if others.is_empty():
        return f"It lists at {own}; no other ranked model {level} has a price."
    cheaper = others.filter(pl.col("sticker_price") < row["sticker_price"])
    if cheaper.is_empty():
        return f"At {own}, none of the {others.height} others {level} is cheaper."
    names = dict(study.models.select("subject", "name").iter_rows())
    least = cheaper.sort("sticker_price").row(0, named=True)
    return (
        f"At {own}, {cheaper.height} of the {others.height} others {level} list "
        f"cheaper; the cheapest is {names[least['subject']]} at {dollars(least['sticker_price'])}."
    )


def _prices(study: Study, found: Whereabouts) -> list[dict[str, Any]]:
    facts = study.models.select("subject", "name", *COUNTS)
    table = found.prices.join(facts, on="subject", how="left", maintain_order="left").drop_nulls("sticker_price")
    pages = ((row, f"models/{slug(row['subject'])}.html") for row in table.head(_PRICES).to_dicts())
    return [
        {
            **row,
            "iq_href": f"{page}#derivation",
            "sticker_price_href": f"{page}#cost",
            "effective_cost_href": f"{page}#cost",
        }
        for row, page in pages
    ]


def _next_said(found: Whereabouts, row: dict[str, Any]) -> str:
    if row["iq"] is None:
        return "Too little is known of it to say which benchmark would tell most; any of the composite's would."
    if found.next.is_empty():
        return "Nothing: every benchmark of the composite is measured."
    best = found.next.row(0, named=True)
    return (
        f"{best['name']} would tell most next: knowing its score would take away about "
        f"{show(best['variance_explained'], 'fraction')} of what is uncertain in the IQ (as a variance)."
    )


def charted_sentence(study: Study, row: dict[str, Any]) -> str:
    """Say whether charts show the model by default, and by which rule of the policy."""
    policy = study.policy
    override = policy.overrides.filter(subject=row["subject"])
    field = {} if override.is_empty() else {key: value for key, value in override.row(0, named=True).items() if value}
    if row["iq"] is None:
        why = "it has no IQ"
    elif field.get("display") in ("show", "hide"):
        why = f"the policy says {field['display']} for it" + (f": {field['reason']}" if field.get("reason") else "")
    elif field.get("publication", "public") != "public":
        why = f"its publication status is {field['publication']}"
    else:
        kept = policy.flagship_generations if (row["tier"] or 0) >= 0 else policy.smaller_generations
        counted = "the current one" if row["generation"] == 0 else f"{row['generation']} behind the current one"
        why = f"its generation is {counted} of its line, and charts show the newest {kept}"
    shown = "Charts show it by default" if row["charted"] else "Charts leave it out by default"
    return f"{shown}: {why}."
