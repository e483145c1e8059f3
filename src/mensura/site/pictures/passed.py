"""Who was passed, when: measured groups of people, and the first model above each."""

from __future__ import annotations

from datetime import date
from typing import Any

from mensura.charts import Mark
from mensura.charts.canvas import ROOT
from mensura.charts.passing import PassingRow, draw_passing
from mensura.charts.rows import counted, listed
from mensura.core.errors import MensuraError
from mensura.evidence import slug
from mensura.site.pictures.benchmark import group_subject
from mensura.site.pictures.registry import Figure, model_link, picture
from mensura.study.headlines import SURELY, Passed, passed_people
from mensura.study.study import Study
from mensura.study.units import chance, show

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_VERDICTS = {"passed": "Passed", "cannot be told": "Cannot be told yet", "not passed": "Not passed"}


def passed_words(study: Study, every: list[Passed]) -> tuple[str, str]:
    """Say how many measured groups AI has passed, and which cannot be told yet."""
    groups = [one for one in every if one.status == "measured"]
    passed = [one for one in groups if one.verdict == "passed"]
    if not groups:
        return "No measured group of people took a test that a model took too.", ""
    sentence = (
        f"AI has passed {_number(len(passed))} of the {_number(len(groups))} groups of people who were measured on a "
        "test it took too."
    )
    means = f"Passed means a chance of {SURELY:.0%} or more of scoring above them on that test."
    said = [
        f"{one.short[:1].lower()}{one.short[1:]} on {study.benchmark_names[one.benchmark]} ({chance(one.best[1])})"
        for one in groups
        if one.verdict == "cannot be told" and one.best
    ]
    return sentence, means + (f" It cannot be told yet for {listed(said)}." if said else "")


@picture("passed")
def passed_picture(study: Study) -> Figure:
    """Who was passed, when: measured groups of people and the first model above each."""
    every = passed_people(study, ("measured", "panel"))
    if not every:
        raise MensuraError("figure: passed has no measured people to show; choose another one (mensura figure --list)")
    return passed_figure(study, every)


def passed_figure(study: Study, every: list[Passed]) -> Figure:
    """Draw the groups by verdict, those passed by date."""
    rows = [_row(study, one) for one in every if one.verdict in _VERDICTS]
    newest = study.evidence.models["released"].max()
    today = newest if isinstance(newest, date) else date(2026, 1, 1)
    sentence, _ = passed_words(study, every)
    titles = {verdict: f"{words}: {_counts(every, verdict)}" for verdict, words in _VERDICTS.items()}
    return Figure(
        "passed",
        "Who was passed, when",
        "For each group of people the first model level with them (hollow) and the first that was above them with a "
        "chance of 95% (filled), by release date. Warm: people were ahead; pale: a model was level, not surely above. "
        "A panel is the union of its members, so it is no person. People on OSWorld took the first edition, models its "
        "verified one. Each chance takes the errors of both scores into account.",
        finding=_when(every),
        drawing=draw_passing(rows, start=date(2022, 11, 1), today=today, titles=titles, description=sentence),
        rows=tuple(_table_row(study, one) for one in every),
        source="Human references and scores of the evidence",
        paged=True,
    )


def _counts(every: list[Passed], verdict: str) -> str:
    own = sum(one.verdict == verdict and one.status == "measured" for one in every)
    panels = sum(one.verdict == verdict and one.status == "panel" for one in every)
    return " and ".join([str(own)] * (own > 0) + [counted(panels, "panel")] * (panels > 0))


def _when(every: list[Passed]) -> str:
    days = sorted(one.first[1] for one in every if one.first and one.verdict == "passed" and one.status == "measured")
    if len(days) < 2:
        return "Few measured groups were passed so far"
    since = days[-1].replace(year=days[-1].year - 1)
    late = [day for day in days if day > since]
    return (
        f"{_number(len(late)).capitalize()} of the {_number(len(days))} were passed between {late[0]:%B %Y} and "
        f"{days[-1]:%B %Y}"
    )


def _row(study: Study, one: Passed) -> PassingRow:
    best = ""
    if one.best:
        name = study.rows.facts[one.best[0]]["name"]
        best = f"{study.rows.printed_scores.get(one.best[0], {}).get(one.benchmark, '')} {name}".strip()
    panel = ", panel" if one.status == "panel" else ""
    return PassingRow(
        one.verdict,
        one.short,
        f"{study.benchmark_names[one.benchmark]}, {show(one.score, one.unit)}{panel}",
        None if one.level is None else _passer(study, one, *one.level),
        None if one.first is None else _passer(study, one, *one.first[:2]),
        best,
        chance(one.best[1]) if one.best else "–",
        group_subject(one.benchmark, one.group),
        f"{ROOT}benchmarks/{slug(one.benchmark)}.html#people",
    )


def _passer(study: Study, one: Passed, subject: str, day: date) -> Mark:
    row = study.rows.facts[subject]
    score = study.rows.printed_scores.get(subject, {}).get(one.benchmark, "")
    x, href = float(day.toordinal()), model_link(subject)
    return Mark(row["name"], row["provider"], x, 0.0, "", subject=subject, href=href, detail=score)


def _table_row(study: Study, one: Passed) -> dict[str, Any]:
    return {
        "group": one.group,
        "test": study.benchmark_names[one.benchmark],
        "status": one.status,
        "score": one.score,
        "n": one.n,
        "verdict": one.verdict,
        "first level": one.level[0] if one.level else None,
        "level since": str(one.level[1]) if one.level else None,
        "first above": one.first[0] if one.first else None,
        "above since": str(one.first[1]) if one.first else None,
        "best": one.best[0] if one.best else None,
        "chance": one.best[1] if one.best else None,
    }


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)
