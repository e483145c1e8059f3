"""Four answers of the first screen, each with a small drawing: who leads, who was passed, how fast, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from mensura.charts.canvas import GRID, INK, PEOPLE, PEOPLE_STRONG, QUIET, SURFACE, Canvas, scale
from mensura.site.sections import cheapest_rows, cheapest_said
from mensura.study.headlines import Passed, passed_people, unit_words
from mensura.study.slow_parts import Pace
from mensura.study.study import Study

_DATED = 4
"""Sides of a small drawing that stay free, pixels."""


def who_leads(chances: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Say who may be first, with the chances."""
    if not chances:
        return {"answer": Markup("<b>Nobody is ranked yet.</b>"), "spark": ""}
    first, *others = chances
    rest = ", ".join(f"{one['name']} {one['chance']}" for one in others)
    return {
        "answer": Markup("<b>{}, {}.</b> {}").format(first["name"], first["chance"], f"{rest}." if rest else ""),
        "spark": "odds",
    }


def who_was_passed(study: Study) -> dict[str, Any]:
    """Say which measured groups of people were passed in the year of the newest model, and in which month."""
    passed = [one for one in passed_people(study) if one.verdict == "passed" and one.first is not None]
    newest = study.models["released"].max()
    year = newest.year if newest is not None else 0  # type: ignore[union-attr]
    recent = [one for one in passed if one.first and one.first[1].year == year]
    if not recent:
        return {"answer": Markup("<b>No measured group, in {}.</b>").format(year or "any year"), "spark": ""}
    said = [
        Markup("<b>{} on {}</b> ({})").format(one.short, test_name(study, one), f"{one.first[1]:%B}")
        for one in recent
        if one.first
    ]
    sheet = Canvas(210, 40, "")
    at = scale(0, 12, _DATED + 8, 210 - _DATED)
    sheet.line(0, 22, 210, 22, GRID, 1.5)
    months: dict[str, list[float]] = {}
    for one in recent:
        if one.first:
            x = at(one.first[1].month - 1 + one.first[1].day / 31)
            sheet.parts.append(f'<path d="M{x - 4:.1f},10h8l-4,12z" fill="{PEOPLE_STRONG}"/>')
            months.setdefault(f"{one.first[1]:%b}", []).append(x)
    for month, xs in months.items():
        sheet.words(sum(xs) / len(xs), 33, month, fill=PEOPLE, anchor="middle", size=11)
    sheet.words(210, 33, str(year), fill=QUIET, anchor="end", size=11)
    return {"answer": Markup(", ").join(said) + ".", "spark": _spark(sheet)}


def how_fast(study: Study) -> dict[str, Any]:
    """Say whether progress speeds up, and its pace."""
    pace, watch = study.pace, study.watch
    said = _said_pace(pace, unit_words(study))
    if watch is None:
        return {"answer": Markup("<b>Too few releases to tell.</b> {}").format(said), "spark": ""}
    verdict = "Not beyond chance." if watch.alarm is None else f"Yes: the alarm sounded in {watch.alarm:%B %Y}."
    values = [value for value in watch.looks["statistic"].to_list() if value is not None][-24:]
    bound = watch.looks["boundary"].to_list()[-1]
    sheet = Canvas(210, 40, "")
    up = scale(min([*values, 0.0]), max([*values, bound]) * 1.05, 38, 4)
    across = scale(0, max(1, len(values) - 1), _DATED, 210 - _DATED - 6)
    sheet.line(0, up(bound), 210, up(bound), QUIET, 1, "3 3")
    sheet.words(0, up(bound) + 9, "alarm line", fill=QUIET, size=11)
    sheet.path([(across(step), up(value)) for step, value in enumerate(values)], INK, 1.75)
    sheet.dot(across(len(values) - 1), up(values[-1]), INK, 3.5)
    return {"answer": Markup("<b>{}</b> {}").format(verdict, said), "spark": _spark(sheet)}


def _said_pace(pace: Pace, unit: str) -> str:
    """Say how long a unit takes, or how much a year brings where the interval reaches down to no gain at all."""
    if pace.low <= 0:
        return f"A year brings {pace.slope:.2f} ({pace.low:.2f} to {pace.high:.2f}) of {unit}."
    years = f"{1 / pace.slope:.1f} years ({1 / pace.high:.1f} to {1 / pace.low:.1f})"
    return f"At the pace since {pace.since:%Y}, {unit} takes {years}."


def what_it_costs(study: Study) -> dict[str, Any]:
    """Say what the cheapest models of some IQs cost."""
    said = cheapest_said(study)
    if not said:
        return {"answer": Markup("<b>No model has a price.</b>"), "spark": ""}
    every, _ = cheapest_rows(study)
    sheet = Canvas(210, 40, "")
    across = scale(min(row["floor"] for row in every), max(row["floor"] for row in every), _DATED, 200)
    up = scale(min(row["cost"] for row in every), max(row["cost"] for row in every), 35, 5, log=True)
    path: list[tuple[float, float]] = []
    for row in every:
        x, y = across(row["floor"]), up(row["cost"])
        path += [(x, path[-1][1]), (x, y)] if path else [(x, y)]
    sheet.path(path, INK, 1.75)
    for row in every:
        sheet.parts.append(
            f'<circle cx="{across(row["floor"]):.1f}" cy="{up(row["cost"]):.1f}" r="3" fill="{SURFACE}" '
            f'stroke="{INK}" stroke-width="1.5"/>'
        )
    answer = Markup("<b>{}</b>, per 1M tokens in and out.").format(said)
    return {"answer": answer, "spark": _spark(sheet)}


def _spark(sheet: Canvas) -> Markup:
    """Return a small drawing that only repeats what the words beside it say."""
    return Markup(
        str(sheet.svg())
        .replace('role="group" aria-label=""', 'aria-hidden="true"')
        .replace('class="drawn"', 'class="spark"')
    )


def test_name(study: Study, one: Passed) -> str:
    """Return the test as people call it: a verified edition by its plain name."""
    return study.benchmark_names[one.benchmark].replace("-Verified", "").replace(" Diamond", "")
