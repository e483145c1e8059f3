"""Tables of the pages: people passed test by test, classes of people, the cheapest models, one model's scores."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

import polars as pl

from mensura.evidence import slug
from mensura.iq import EFFECTIVE_COST_NOTE
from mensura.study.headlines import SURELY
from mensura.study.study import Study
from mensura.study.units import dollars, show, show_range

_FLOORS = range(90, 160, 5)
"""IQs for which the cheapest model is named, as far as any model reaches."""
_PRICED = (115, 125, 135)
"""IQs for which one sentence says what the cheapest model costs."""
_RIVALS = 2
"""Models of other providers offered for comparison on a model's page."""


def passing_section(study: Study) -> dict[str, Any]:
    """Test by test: the first model above each group of people, when, and how surely the best model is."""
    columns = [
        ("test", "test", "benchmark"),
        ("group", "group of people", None),
        ("status", "their score is", "status"),
        ("shown", "score", None),
        ("first", "first score above", None),
        ("passed", "released", None),
        ("best", "best model", None),
        ("best_shown", "its score", None),
        ("chance", "chance it is above", "chance"),
    ]
    titles = dict(study.models.select("subject", "name").iter_rows())
    units = dict(study.evidence.benchmarks.select("benchmark", "unit").iter_rows())
    printed = {(row["benchmark"], row["group"]): row for row in study.evidence.human_references.iter_rows(named=True)}
    scores = {
        (row["subject"], row["benchmark"]): row["score"] for row in study.evidence.primary_scores.iter_rows(named=True)
    }
    rows = []
    for row in study.people.tests.iter_rows(named=True):
        unit, group = units[row["benchmark"]], printed[row["benchmark"], row["group"]]
        size = f", n = {group['n']:,}" if group["n"] is not None else ""
        best = scores.get((row["best"], row["benchmark"]))
        rows.append(
            {
                **row,
                "test": study.benchmark_names[row["benchmark"]],
                "status": f"{row['status']}{size}",
                "shown": ("at most " if row["bound"] else "") + _said_score(group, unit),
                "first": titles.get(row["first"], row["first"]),
                "best": titles.get(row["best"], row["best"]),
                "best_shown": show(best, unit) if best is not None else "expected from its level",
                "shown_href": f"benchmarks/{slug(row['benchmark'])}.html#people",
                "best_shown_href": None
                if best is None
                else f"models/{slug(row['best'])}.html#on-{slug(row['benchmark'])}",
            }
        )
    table = {"rows": rows, "columns": columns, "id": "passing", "caption": "Scores as the sources print them"}
    about = (
        "For each group, the first model by release with a score above it. One score above can be luck: passed, at the "
        f"top of this page, needs a chance of {SURELY:.0%}, by the errors of both scores. Judged scores were never "
        "measured. A panel is the union of its members. Constructed scores belong to nobody."
    )
    return {"id": "passing-table", "title": "People and models, test by test", "about": about, "table": table}


def _said_score(group: dict[str, Any], unit: str) -> str:
    """Say a group's score, with its range where the source gives one."""
    ends = show_range(group["low"], group["high"], unit)
    return f"{show(group['score'], unit)} ({ends})" if ends else show(group["score"], unit)


def people_section(study: Study) -> dict[str, Any]:
    """Where classes of people stand, and when the best model passed them."""
    columns = [
        ("group", "class of people", None),
        ("status", "their scores are", "status"),
        ("tests", "on", None),
        ("capability", "capability", "capability"),
        ("interval", "90%", None),
        ("passed", "passed by the best model", None),
        ("passed_low", "earliest", None),
        ("passed_high", "latest", None),
        ("probability", "chance passed by now", "chance"),
    ]
    rows = [
        {
            **row,
            "group": row["group"].rpartition(", ")[0] or row["group"],
            "tests": ", ".join(study.benchmark_names.get(one, one) for one in row["benchmarks"].split(", ")),
            "interval": show_range(row["low"], row["high"], "capability"),
        }
        for row in study.groups.iter_rows(named=True)
    ]
    table = {"rows": rows, "columns": columns, "id": "people", "caption": "90% intervals"}
    about = (
        "One number for each class of people. Their standing differs much from test to test, so read the interval and "
        "not the middle. A dash under a date means that the best model may not have passed them yet."
    )
    return {"id": "people-table", "title": "Classes of people on the scale", "about": about, "table": table}


def cheapest_rows(study: Study, floors: Iterable[int] = _FLOORS) -> tuple[list[dict[str, Any]], tuple[int, int, int]]:
    """Return the cheapest model at or above each IQ, and how many models count by effective cost, by list price, not.

    Where a model has no effective cost its list price stands in, which ``basis`` says.
    """
    scored = study.models.drop_nulls("exact_iq")
    effective = pl.col("effective_cost").is_not_null()
    priced = scored.with_columns(
        cost=pl.coalesce("effective_cost", "sticker_price"),
        basis=pl.when(effective).then(pl.lit("effective cost")).otherwise(pl.lit("list price")),
    ).drop_nulls("cost")
    rows = []
    for floor in floors:
        able = priced.filter(pl.col("exact_iq") >= floor).sort("cost")
        if able.height:
            rows.append({"floor": floor, "able": able.height, **able.row(0, named=True)})
    by_list = priced.filter(pl.col("basis") == "list price").height
    return rows, (priced.height - by_list, by_list, scored.height - priced.height)


def cheapest_said(study: Study) -> str:
    """Say what the cheapest models of some IQs cost; nothing where no model has a price."""
    return ", ".join(
        f"{'' if place else 'IQ '}{row['floor']} from {dollars(row['cost'])}"
        + (" list price" if row["basis"] == "list price" else "")
        for place, row in enumerate(cheapest_rows(study, _PRICED)[0])
    )


def cheapest_section(study: Study) -> dict[str, Any]:
    """The cheapest model at or above each IQ."""
    rows, (effective, by_list, without) = cheapest_rows(study)
    columns = [
        ("floor", "IQ at least", "iq"),
        ("name", "cheapest model", "model"),
        ("iq", "its IQ", "iq"),
        ("iq_range", "90%", None),
        ("meter", "evidence", "meter"),
        ("cost", "cost", "dollars"),
        ("basis", "basis", None),
        ("able", "models that qualify", 0),
    ]
    for row in rows:
        row["iq_range"] = show_range(row["iq_low"], row["iq_high"], "iq")
        row["iq_href"] = f"models/{slug(row['subject'])}.html#derivation"
        row["cost_href"] = f"models/{slug(row['subject'])}.html#cost"
    table = {"rows": rows, "columns": columns, "id": "cheapest", "caption": "Dollars per 1M tokens in + 1M out"}
    about = (
        f"The cheapest model that reaches each IQ. {effective} models count by effective cost, {by_list} by their "
        f"list price; {without} have no known price. {EFFECTIVE_COST_NOTE}"
    )
    return {"id": "cheapest-at", "title": "Cheapest at IQ …", "about": about, "table": table}


def rivals(study: Study, subject: str) -> list[str]:
    """Return the two models of other providers nearest in IQ, to compare with."""
    own = study.rows.by_subject[subject]
    if own["exact_iq"] is None:
        return []
    found: dict[str, str] = {}
    for other in _outward(study.rows.by_iq, own):
        if other["provider"] != own["provider"]:
            found.setdefault(other["provider"], other["subject"])
        if len(found) == _RIVALS:
            break
    return list(found.values())


def _outward(ordered: Sequence[dict[str, Any]], own: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the other models of a list by IQ, highest first, nearest to this one first."""
    iq = own["exact_iq"]
    below = bisect_left(ordered, -iq, key=lambda row: -row["exact_iq"])
    above = below - 1
    while above >= 0 or below < len(ordered):
        up = ordered[above]["exact_iq"] - iq if above >= 0 else inf
        down = iq - ordered[below]["exact_iq"] if below < len(ordered) else inf
        if up <= down:
            yield ordered[above]
            above -= 1
        else:
            yield ordered[below]
            below += 1


def model_scores(study: Study, subject: str) -> list[dict[str, Any]]:
    """Return the scores of one model, second sources under their primary with the gap between them."""
    return study.rows.score_rows.get(subject, [])
