"""Parts of the first screen: short answers, people as landmarks, the jagged view, signs for lines of text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl
from markupsafe import Markup

from mensura.charts import Canvas, Mark, Reference
from mensura.charts.bell import LOOKS
from mensura.charts.canvas import scale
from mensura.charts.lengths import DAY
from mensura.charts.standing import draw_jagged
from mensura.charts.theme import ROOT, lab_colour, lab_of, paint, shape_of
from mensura.evidence import slug
from mensura.scale import iq_to_rate
from mensura.site.pictures.benchmark import group_subject
from mensura.site.pictures.registry import iq_mark
from mensura.study.headlines import Passed, cheapest_rows, cheapest_said, passed_people, year_sentence
from mensura.study.horizons import DOMAINS, horizon_sentence, pace_words, task_horizons
from mensura.study.outlook import TOP, next_year_words
from mensura.study.study import Study
from mensura.study.units import show, show_range

_MARGIN = 4
"""Sides of a small drawing that stay free, pixels."""
_APART = 3.0
"""IQ points between two landmarks, so that their words have room."""
_MOST_LANDMARKS = 3
_PICKED = 12
"""Models offered in the jagged view."""


def who_leads(sentence: str, chances: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Say who may be first, with the range of the chance over all methods, and the chances of the others."""
    rest = ", ".join(f"{one['name']} {one['chance']}" for one in chances[1:])
    return {
        "answer": Markup("<b>{}</b> {}").format(sentence, f"By the joint model: {rest}." if rest else ""),
        "spark": "odds" if chances else "",
    }


def who_was_passed(study: Study) -> dict[str, Any]:
    """Say which measured groups of people were passed in the year of the newest model, and in which month."""
    newest = study.models["released"].max()
    year = newest.year if newest is not None else 0  # type: ignore[union-attr]
    recent = [(one, one.first[1]) for one in passed_people(study) if one.first and one.first[1].year == year]
    if not recent:
        return {"answer": Markup("<b>No measured group, in {}.</b>").format(year or "any year"), "spark": ""}
    group = Markup("<b>{} on {}</b> ({:%B})")
    sheet = Canvas(210, 40, "")
    at = scale(0, 12, _MARGIN + 8, 210 - _MARGIN)
    sheet.line(0, 22, 210, 22, paint.grid, 1.5)
    months: dict[str, list[float]] = {}
    for _, day in recent:
        x = at(day.month - 1 + day.day / 31)
        sheet.parts.append(f'<path d="M{x - 4:.1f},10h8l-4,12z" fill="{paint.people_strong}"/>')
        months.setdefault(f"{day:%b}", []).append(x)
    for month, xs in months.items():
        sheet.words(sum(xs) / len(xs), 33, month, fill=paint.people, anchor="middle", size=11)
    sheet.words(210, 33, str(year), fill=paint.quiet, anchor="end", size=11)
    ahead = [one for one in passed_people(study) if one.first is None]
    left = "; ".join(f"{one.short} on {study.benchmark_names[one.benchmark]}" for one in ahead)
    still = Markup(" Not surely passed: {}.").format(left) if ahead else ""
    groups = Markup(", ").join(group.format(one.short, test_name(study, one), day) for one, day in recent)
    return {"answer": Markup("Passed in {}: {}.{}").format(year, groups, still), "spark": _spark(sheet)}


def what_not(study: Study) -> dict[str, Any]:
    """Say what nobody can conclude; the page draws how many of the leader's tests are measured."""
    tests, measured = len(study.iq.matrix.benchmarks), [row["measured"] for row in study.rows.ranked_rows[:1]]
    words = Markup(
        "<b>That a model thinks as a person with its IQ does.</b> Nobody gave these tests to people of known IQ; a "
        "score describes test performance, nothing else.{}"
    )
    known = f" Of the leader’s {tests} tests, {measured[0]} are measured." if measured else ""
    return {"answer": words.format(known), "spark": "", "blocks": [place < sum(measured) for place in range(tests)]}


def what_comes(study: Study) -> dict[str, Any]:
    """Say what the best model a year after the newest release may do, in people's terms, and draw its IQ."""
    words = next_year_words(study)
    low, middle, high = words["iq"]
    sheet = Canvas(210, 40, "")
    at = scale(100, TOP + 5, _MARGIN + 8, 206)
    for iq in (100, 130, TOP):
        sheet.words(at(iq), 35, str(iq), fill=paint.people if iq == 100 else paint.quiet, anchor="middle", size=11)
    sheet.line(0, 24, 210, 24, paint.line, 1.5)
    for row in study.rows.ranked_rows[:1]:
        sheet.sign(at(row["exact_iq"]), 24, row["provider"], iq_mark(row).status, 4.5)
    sheet.line(at(low), 12, at(high + 5 * (high >= TOP)), 12, paint.ink, 2.2, round_ends=True)
    sheet.dot(at(middle), 12, paint.ink, 3.5)
    return {"answer": Markup("<b>{}</b> {}").format(words["sentence"], words["groups"]), "spark": _spark(sheet)}


def how_fast(study: Study) -> dict[str, Any]:
    """Say whether progress speeds up, and its pace."""
    watch = study.watch
    pace_words = year_sentence(study)
    if watch is None:
        return {"answer": Markup("<b>Too few releases to tell.</b> {}").format(pace_words), "spark": ""}
    verdict = "Not beyond chance." if watch.alarm is None else f"Yes: the alarm sounded in {watch.alarm:%B %Y}."
    values = [value for value in watch.looks["statistic"].to_list() if value is not None][-24:]
    bound = watch.looks["boundary"].to_list()[-1]
    sheet = Canvas(210, 40, "")
    up = scale(min([*values, 0.0]), max([*values, bound]) * 1.05, 38, 4)
    across = scale(0, max(1, len(values) - 1), _MARGIN, 210 - _MARGIN - 6)
    sheet.line(0, up(bound), 210, up(bound), paint.quiet, 1, "3 3")
    sheet.words(0, up(bound) + 9, "alarm line", fill=paint.quiet, size=11)
    sheet.path([(across(step), up(value)) for step, value in enumerate(values)], paint.ink, 1.75)
    sheet.dot(across(len(values) - 1), up(values[-1]), paint.ink, 3.5)
    return {"answer": Markup("<b>{}</b> {}").format(verdict, pace_words), "spark": _spark(sheet)}


def how_long() -> dict[str, Any]:
    """Say how long a task the best system does, and draw the best of each kind of work on an axis of time."""
    horizons = task_horizons()
    sheet = Canvas(210, 40, "")
    at = scale(1.0, DAY * 4, _MARGIN, 206, log=True)
    for step, domain in enumerate(DOMAINS):
        row, y = horizons.best(domain), 6 + 9 * step
        low, high = row["p50_low"] or 1.0, row["p50_high"] or 1e6
        sheet.line(at(low), y, at(high), y, lab_colour(row["provider"]), 2.2, opacity=0.7, round_ends=True)
        sheet.sign(at(row["p50"] or low), y, row["provider"], "estimated", 3.5)
    for minutes, text in ((1.0, "1 min"), (60.0, "1 h"), (DAY, "a day")):
        sheet.words(at(minutes), 35, text, fill=paint.quiet, anchor="middle", size=11)
    pace = f"{pace_words()}." if horizons.trend.height else ""
    return {"answer": Markup("<b>{}</b> {}").format(horizon_sentence(), pace), "spark": _spark(sheet)}


def what_it_costs(study: Study) -> dict[str, Any]:
    """Say what the cheapest models of some IQs cost."""
    prices = cheapest_said(study)
    if not prices:
        return {"answer": Markup("<b>No model has a price.</b>"), "spark": ""}
    every, _ = cheapest_rows(study)
    sheet = Canvas(210, 40, "")
    across = scale(min(row["floor"] for row in every), max(row["floor"] for row in every), _MARGIN, 200)
    up = scale(min(row["cost"] for row in every), max(row["cost"] for row in every), 35, 5, log=True)
    path: list[tuple[float, float]] = []
    for row in every:
        x, y = across(row["floor"]), up(row["cost"])
        path += [(x, path[-1][1]), (x, y)] if path else [(x, y)]
    sheet.path(path, paint.ink, 1.75)
    for row in every:
        sheet.dot(across(row["floor"]), up(row["cost"]), paint.ink, 3)
    by_list = cheapest_said(study, "sticker_price")
    answer = Markup("<b>{}</b>, per 1M tokens in and out, counting the work a task takes. By list price: {}.")
    answer = answer.format(prices, by_list)
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


def said_share(iq: float) -> str:
    """Say how many people reach an IQ: of a thousand, or of a hundred where they are many."""
    share = iq_to_rate(iq)
    if share >= 0.1:
        return f"{100 * share:.0f} in 100 people"
    return f"{1000 * share:.0f} in 1,000 people" if share >= 0.002 else f"{1e6 * share:,.0f} in a million people"


def sign(provider: str, *, full: bool) -> Markup:
    """Return a maker's shape as a small drawing for a line of text."""
    ink = lab_colour(provider)
    return Markup(
        f'<svg viewBox="-7 -7 14 14" aria-hidden="true"><path d="{shape_of(lab_of(provider), 5.0)}" '
        f'fill="{ink if full else paint.surface}" stroke="{ink}" stroke-width="1.6"/></svg>'
    )


def people_marks(study: Study) -> dict[str, list[Reference]]:
    """Return measured people by dimension, each read off the ladder of the one test they took."""
    ladders = {ladder.benchmark: ladder for ladder in study.iq.matrix.ladders}
    dimension = dict(study.evidence.benchmarks.select("benchmark", "dimension").iter_rows())
    marks: dict[str, list[Reference]] = {}
    for one in passed_people(study):
        ladder = ladders.get(one.benchmark)
        if ladder is None or not ladder.scores[0] < one.score < ladder.scores[-1]:
            continue
        iq = float(ladder.iq(one.score))  # type: ignore[arg-type]
        href = f"{ROOT}benchmarks/{slug(one.benchmark)}.html#people"
        subject = group_subject(one.benchmark, one.group)
        mark = Reference(one.short, iq, href=href, subject=subject, note=test_name(study, one))
        marks.setdefault(str(dimension[one.benchmark]), []).append(mark)
    return marks


def thinned(marks: Sequence[Reference]) -> list[Reference]:
    """Keep landmarks above the average with room between them, highest first, and say that one test says so."""
    kept: list[Reference] = []
    for mark in sorted(marks, key=lambda one: -one.value):
        if mark.value > 100 + _APART and all(abs(mark.value - other.value) >= _APART for other in kept):
            kept.append(mark)
    return [replace(one, note=f"{one.value:.0f} on {one.note}, one test") for one in kept[:_MOST_LANDMARKS]]


@dataclass(frozen=True)
class JaggedView:
    """The models on offer with their words, the one that opens the view, and what draws the view."""

    models: list[dict[str, Any]]
    chosen: int
    draw: Callable[[float], Markup]

    @cached_property
    def drawn(self) -> dict[str, Markup]:
        """The drawings by the names of their widths."""
        return {name: self.draw(look.width) for name, look in LOOKS.items()} if self.models else {}

    @property
    def frames(self) -> dict[str, Markup]:
        """Each drawing without its content: the room that it takes until a script fills it in."""
        return {name: Markup(str(one).partition(">")[0] + "></svg>") for name, one in self.drawn.items()}

    def record(self) -> dict[str, str]:
        """Return the drawings as the script of the first page reads them."""
        return {name: str(one).replace(ROOT, "") for name, one in self.drawn.items()}


def jagged_view(study: Study, rows: Sequence[dict[str, Any]]) -> JaggedView:
    """Draw the leading ones of the ranked models, and choose a measured one with the widest gap to open the view."""
    drawn = [(row, strands) for row in rows[:_PICKED] if len(strands := _strands(study, row)) > 1]
    if not drawn:
        return JaggedView([], 0, lambda _: Markup())
    gaps = [max(one.x for one in own.values()) - min(one.x for one in own.values()) for _, own in drawn]
    full = [place for place, (row, _) in enumerate(drawn) if row["well_measured"]]
    chosen = max(full or range(len(drawn)), key=lambda place: gaps[place])
    dimensions, people = study.dimension_names, people_marks(study)
    about = "IQ of the leading models in seven kinds of work, with people who took the tests named."
    models = [(iq_mark(row), strands) for row, strands in drawn]
    words = [_words(study, row, strands) for row, strands in drawn]
    return JaggedView(words, chosen, lambda width: draw_jagged(width, dimensions, models, people, chosen, about))


def _words(study: Study, row: dict[str, Any], strands: Mapping[str, Mark]) -> dict[str, Any]:
    """Say of one model how far apart its strongest and its weakest dimension are."""
    (low, weakest), *_, (high, strongest) = sorted(strands.items(), key=lambda pair: pair[1].x)
    strong, weak = study.dimension_names[high].lower(), study.dimension_names[low].lower()
    top, bottom = round(strongest.x), round(weakest.x)
    deck = "Its one number is <b>{}</b> (90%: {}), the mean of the seven. {} of its {} tests are measured."
    numbers = (show(row["iq"], "iq"), show_range(row["iq_low"], row["iq_high"], "iq"), row["measured"])
    apart = f"{row['name']} is {top} in {strong} and {bottom} in {weak}: the same model, {top - bottom} points apart."
    facts = {"subject": row["subject"], "name": row["name"], "sign": sign(row["provider"], full=row["well_measured"])}
    see = f"The same model is {bottom} in {weak} and {top} in {strong}: one number hides {top - bottom} points."
    deck = Markup(deck).format(*numbers, len(study.iq.matrix.benchmarks))
    return facts | {"sentence": apart, "deck": deck, "see": see}


def _strands(study: Study, row: dict[str, Any]) -> dict[str, Mark]:
    """Return a model's value in each kind of work, full where two or more tests of the kind were measured."""
    strands = {}
    for one in study.dimensions.filter(pl.col("subject") == row["subject"]).iter_rows(named=True):
        if one["iq"] is not None:
            tests = one["measured"] + one["inherited"] + one["estimated"]
            look: dict[str, Any] = {"status": "measured" if one["measured"] >= 2 else "estimated"}
            look["detail"] = f"{one['measured']} of {tests} tests"
            value = Mark(row["name"], row["provider"], one["iq"], low=one["low"], high=one["high"], **look)
            strands[one["dimension"]] = value
    return {key: strands[key] for key in study.dimension_names if key in strands}
