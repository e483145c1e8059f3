"""People beside AI: who was passed and when, and the human ladder of the calibrated scales."""

from datetime import date
from typing import Any

import polars as pl

from mensura.charts import Mark, among_people
from mensura.charts.passing import PassingRow, draw_passing
from mensura.charts.values import counted, listed
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest
from mensura.evidence import RATE_UNITS
from mensura.evidence.passing import SURELY, number_word, say_passed, say_solid
from mensura.site.pictures.registry import Figure, model_link, picture, picture_words, worded
from mensura.study.headlines import Passed, passed_people
from mensura.study.study import Study
from mensura.study.units import chance, show

_VERDICTS = {"passed": "Passed", "cannot be told": "Cannot be told yet", "not passed": "Not passed"}


def passed_words(study: Study, every: list[Passed]) -> tuple[str, str]:
    """Say how many measured groups AI has passed, and which cannot be told yet."""
    groups = [one for one in every if one.status == "measured"]
    sentence = say_passed([one.verdict for one in groups])
    if not groups:
        return sentence, ""
    grades = study.rows.human_grades
    solid = say_solid([grades[one.benchmark, one.group] for one in groups if one.verdict == "passed"])
    means = f"Passed means a chance of {SURELY:.0%} or more of scoring above them on that test. {solid}"
    unsure = [
        f"{one.short[:1].lower()}{one.short[1:]} on {study.benchmark_names[one.benchmark]} ({chance(one.best[1])})"
        for one in groups
        if one.verdict == "cannot be told" and one.best
    ]
    return sentence, means + (f" It cannot be told yet for {listed(unsure)}." if unsure else "")


@picture("passed")
def passed_picture(study: Study) -> Figure:
    """Who was passed, when: measured groups of people and the first model above each."""
    every = passed_people(study, ("measured", "panel"))
    if not every:
        raise MensuraError("figure: passed has no measured people to show; choose another one (mensura figure --list)")
    return passed_figure(study, every)


def passed_figure(study: Study, every: list[Passed], name: str = "passed") -> Figure:
    """Draw the groups by verdict, those passed by date."""
    grades = study.rows.human_grades
    rows = [_row(study, one, grades[one.benchmark, one.group]) for one in every if one.verdict in _VERDICTS]
    newest = study.evidence.models["released"].max()
    today = newest if isinstance(newest, date) else date(2026, 1, 1)
    judged = [one.verdict == "passed" for one in every if one.status == "judged"]
    likely = f"Of {counted(len(judged), 'group')} whose score was only judged, {sum(judged)} would be passed"
    finding = _when(every) if name == "passed" else likely
    titles = {verdict: f"{words}: {_counts(every, verdict)}" for verdict, words in _VERDICTS.items()}
    drawing = draw_passing(rows, start=date(2022, 11, 1), today=today, titles=titles, description=finding)
    table = [_table_row(study, one) for one in every]
    return worded(name, drawing, finding, see=_soon_said(every), rows=table, paged=True)


@picture("passed-judged")
def passed_judged(study: Study) -> Figure:
    """Who was passed, with groups whose score nobody measured."""
    return passed_figure(study, passed_people(study, ("measured", "panel", "judged")), "passed-judged")


def _soon_said(every: list[Passed]) -> str:
    """Say how soon after a first model was level with a group another was surely above it."""
    spans = [(one.first[1] - one.level[1]).days for one in every if one.first and one.level]
    if not spans:
        return "No model was surely above a group yet."
    months = counted(max(1, round(max(spans) / 30.4)), "month")
    reached = sum(one.level is not None for one in every)
    return f"Models reached {reached} groups; within {months} a model was surely above {len(spans)} of them."


def _counts(every: list[Passed], verdict: str) -> str:
    kinds = {"measured": "{}", "panel": "{} panel", "judged": "{} judged"}
    counts = {kind: sum(one.verdict == verdict and one.status == kind for one in every) for kind in kinds}
    words = (
        kinds[kind].format(count) + "s" * (kind == "panel" and count > 1) for kind, count in counts.items() if count
    )
    return listed(words)


def _when(every: list[Passed]) -> str:
    days = sorted(one.first[1] for one in every if one.first and one.verdict == "passed" and one.status == "measured")
    if len(days) < 2:
        return "Few measured groups were passed so far"
    since = days[-1].replace(year=days[-1].year - 1)
    late = [day for day in days if day > since]
    groups, few = number_word(len(days)), number_word(len(late))
    span = f"between {late[0]:%B %Y} and {days[-1]:%B %Y}"
    return f"Of the {groups} groups of people that AI has passed, {few} were passed {span}"


def _row(study: Study, one: Passed, grade: str | None) -> PassingRow:
    printed = study.rows.printed_people[one.benchmark, one.group]
    panel = ", no person" if one.status == "panel" else ""
    day = study.rows.facts[one.best[0]]["released"] if one.best else None
    return PassingRow(
        one.verdict,
        one.short,
        f"{study.benchmark_names[one.benchmark]}, {show(one.score, one.unit)}",
        None if one.level is None else _passer(study, one, *one.level),
        None if one.first is None else _passer(study, one, *one.first[:2]),
        None if one.best is None or day is None else _passer(study, one, one.best[0], day),
        chance(one.best[1]) if one.best else "–",
        tuple(percent_of(value, one.unit) for value in (one.score, printed["low"], printed["high"])),
        grade or "",
        picture_words()["passed"]["grades"].get(grade or "", "no grade") + panel,
    )


def _passer(study: Study, one: Passed, subject: str, day: date) -> Mark:
    row = study.rows.facts[subject]
    printed = study.rows.printed_scores.get(subject, {}).get(one.benchmark, "")
    score = percent_of(study.rows.own_scores.get(subject, {}).get(one.benchmark), one.unit)
    x, href = float(day.toordinal()), model_link(subject)
    return Mark(row["name"], row["provider"], x, score or 0.0, subject=subject, href=href, detail=printed)


def percent_of(score: float | None, unit: str) -> float | None:
    """Return a score as a share of its unit in percent; nothing for a unit without 0 and 100%."""
    return None if score is None or unit not in RATE_UNITS else 100 * score / RATE_UNITS[unit]


def _table_row(study: Study, one: Passed) -> dict[str, Any]:
    level, above, best = one.level or (None, None), one.first or (None, None), one.best or (None, None)
    return {
        "group": one.group,
        "test": study.benchmark_names[one.benchmark],
        "status": one.status,
        "score": one.score,
        "n": one.n,
        "verdict": one.verdict,
        "first level": level[0],
        "level since": level[1] and str(level[1]),
        "first above": above[0],
        "above since": above[1] and str(above[1]),
        "best": best[0],
        "chance": best[1],
    }


@picture("human-ladder")
def human_ladder(study: Study) -> Figure:
    """AI systems and groups of people by the level that they reach, by dimension."""
    rows = study.abilities.places.drop_nulls("level")
    finding = ladder_finding(rows)
    about = f"AI systems and groups of people in {rows['dimension'].n_unique()} dimensions. {finding}."
    drawing = among_people(ladder_rows(rows), description=about)
    return worded("human-ladder", drawing, finding, rows=rows.to_dicts())


def ladder_finding(rows: pl.DataFrame) -> str:
    """Say in how many dimensions the best AI system of a test stands above the people who took the same test."""
    parts = []
    for (test,), part in rows.filter(pl.col("kind") == "people").group_by("test", maintain_order=True):
        group = part["subject"][0]
        places = dict(part.select("dimension", "level").iter_rows())
        others = rows.filter(pl.col("kind") != "people", pl.col("dimension").is_in(list(places)), test=test)
        best = sort_highest(others, "level", "subject").unique("dimension", keep="first", maintain_order=True)
        above = sum(level > places[name] for name, level in best.select("dimension", "level").iter_rows())
        if best.height:
            of = f"{above} of {best.height} dimensions"
            parts.append(f"the best AI system that took {test} stands above {group} in {of}")
    text = "; ".join(parts) or "no group of people could be placed"
    return text[0].upper() + text[1:]


def ladder_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the places with what their marks say and where they lead."""
    people = pl.col("kind") == "people"
    words = [ladder_words(row) for row in rows.iter_rows(named=True)]
    return rows.with_columns(
        provider=pl.when(~people).then("provider"),
        status=pl.when(pl.col("origin").str.starts_with("measured") | ~people).then(pl.lit("measured")),
        href=pl.when(people).then(pl.lit("#ladders")),
        card=pl.lit(None, pl.String),
        words=pl.Series(words, dtype=pl.String),
    ).with_columns(pl.col("status").fill_null("implied"))


def ladder_words(row: dict[str, Any]) -> str:
    """Say where somebody stands in a dimension, with the interval and how it is known."""
    return f"{row['subject']} on {row['test']}, {row['dimension']}: {level_words(row)}; {row['origin']}"


def level_words(row: dict[str, Any]) -> str:
    """Say a level with its interval."""
    ends = "" if row["low"] is None or row["high"] is None else f", 90% {row['low']:.1f} to {row['high']:.1f}"
    return f"level {row['level']:.1f}{ends}"
