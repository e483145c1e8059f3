"""The first screen: who leads in a sentence, the bell of people with every ranked model, and four short answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl
from markupsafe import Markup

from mensura.charts import first_bell, jagged
from mensura.charts.bell import look_at
from mensura.charts.canvas import (
    LINE,
    QUIET,
    ROOT,
    SURFACE,
    Drawing,
    lab_colour,
    shape_of,
)
from mensura.charts.first_bell import BellModel, FirstBell, Landmark, crowd_above
from mensura.charts.jagged import JaggedModel, Strand, draw_jagged
from mensura.charts.theme import lab_of
from mensura.core.errors import MensuraError
from mensura.evidence import slug
from mensura.scale import iq_to_rate
from mensura.scale.ranking import say_chance, say_leader
from mensura.site.pictures.benchmark import group_subject
from mensura.site.pictures.first_answers import how_fast, test_name, what_it_costs, who_leads, who_was_passed
from mensura.site.pictures.registry import Figure, Picture, picture
from mensura.study.months import Month, lead_by_month
from mensura.study.passed import passed_people
from mensura.study.study import Study
from mensura.study.units import show, show_range

_CHANCES = 3
"""Models whose chance of being first is told by name."""
_PICKED = 12
"""Models offered in the jagged view."""
_APART = 3.0
"""IQ points between two landmarks, so that their words have room."""
_MOST_LANDMARKS = 3
_LONG = 90
"""Letters from which a sentence is set smaller."""
_OTHERS = (
    '<svg viewBox="-7 -7 14 14" aria-hidden="true">'
    f'<rect x="-5" y="-5" width="10" height="10" rx="2" fill="{LINE}"/></svg>'
)


class FirstScreen:
    """What the first page shows, month by month; built once per report."""

    def __init__(self, study: Study) -> None:
        """Take the ranked models of a study."""
        self._study = study
        self._rows: list[dict[str, Any]] = study.ranked.to_dicts()
        self._by_subject = {row["subject"]: row for row in self._rows}
        self._benchmarks = len(study.iq.matrix.benchmarks)

    @classmethod
    def of(cls, study: Study) -> FirstScreen:
        """Return the first screen of a study, made once."""
        made: FirstScreen = study.__dict__.setdefault("_first_screen", cls(study))
        return made

    @cached_property
    def months(self) -> list[Month]:
        """Who led in each month."""
        return lead_by_month(self._study)

    @cached_property
    def _models(self) -> list[BellModel]:
        return [
            BellModel(
                row["subject"],
                row["name"],
                row["provider"],
                row["exact_iq"],
                row["iq_low"],
                row["iq_high"],
                row["well_measured"],
                f"{ROOT}models/{slug(row['subject'])}.html",
            )
            for row in self._rows
        ]

    @cached_property
    def _landmarks(self) -> list[list[Landmark]]:
        """The people that a phone, a tablet and a screen have room for."""
        marks = _thinned([mark for marks in people_marks(self._study).values() for mark in marks])
        average = Landmark("The average person", "100, by definition of the scale", 100.0)
        few = [Landmark("Average person", "100, by definition", 100.0), *marks[:1]]  # what a phone has room for
        return [few, [average, *marks[:1]], [average, *marks]]

    @cached_property
    def _bells(self) -> dict[str, FirstBell]:
        return {
            name: FirstBell(look, self._models, self._landmarks[look.labs]) for name, look in first_bell.LOOKS.items()
        }

    def _draw(self, bell: FirstBell) -> Markup:
        """Draw all ranked models as they stand today."""
        today = self._standing(None)
        about = f"Bell curve of 1,000 people, and {len(self._rows)} AI models below it by IQ. {today['sentence']}"
        return bell.draw(range(len(self._rows)), today["said" if bell.look.labs else "short_said"], about)

    def context(self) -> dict[str, Any]:
        """Return what the template of the first page shows."""
        today = self._standing(None)
        return {
            **today,
            "long": len(today["sentence"]) > _LONG,
            "pictures": self.figures,
            "jagged": self._jagged,
            "bells": self._drawn_bells,
            "months": len(self.months),
            "month": self.months[-1].name if self.months else "",
            "releases": self._releases(),
            "questions": self._questions(today),
            "counted": len(self._rows),
        }

    def _standing(self, month: Month | None) -> dict[str, Any]:
        """Return the words of a month, or of today: sentence, deck, chances, and what the dark dots are."""
        if not self._rows:
            return {
                "sentence": "No model is known well enough to be ranked.",
                "deck": "",
                "chances": [],
                "said": ("", ""),
                "dark": 0,
            }
        pairs = month.by_chance if month else [(row["subject"], row["p_first"]) for row in self._rows]
        subjects = month.subjects if month else [row["subject"] for row in self._rows]
        best = self._by_subject[subjects[0]]
        chance = dict(pairs)[best["subject"]]
        iq = round(best["exact_iq"])
        return {
            "sentence": say_leader(best["name"], chance, len(subjects), month.name if month else ""),
            "deck": self._deck(best, [self._by_subject[name] for name in subjects]),
            "chances": self._chances(pairs),
            "dark": crowd_above(iq),
            "said": (f"{crowd_above(iq)} in 1,000 people", f"at {iq} or above"),
            "short_said": (f"{crowd_above(iq)} in 1,000", f"at {iq}+"),
        }

    def _deck(self, best: dict[str, Any], rows: Sequence[dict[str, Any]]) -> Markup:
        reach = Markup('Its IQ is <b>{}</b> (90%: {}), a level that about <span class="warm">{}</span> reach. ').format(
            show(best["iq"], "iq"), show_range(best["iq_low"], best["iq_high"], "iq"), said_share(best["iq"])
        )
        own = f"{best['measured']} of its {self._benchmarks} tests are measured"
        full = next((row for row in rows if row["well_measured"]), None)
        if best["well_measured"] or full is None:
            return reach + f"{own}, the rest estimated."
        return reach + Markup("Only {}; the best model that is mostly measured is <b>{}</b>, at {}.").format(
            own, full["name"], show(full["iq"], "iq")
        )

    def _chances(self, pairs: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
        """Return the likeliest models with their chances, and what is left for all others."""
        ordered = sorted(((name, chance or 0.0) for name, chance in pairs), key=lambda pair: -pair[1])
        shown = []
        for name, chance in ordered[:_CHANCES]:
            row = self._by_subject[name]
            shown.append(
                {
                    "name": row["name"],
                    "href": f"models/{slug(name)}.html",
                    "share": round(100 * chance, 1),
                    "chance": say_chance(chance),
                    "sign": sign(row["provider"], full=row["well_measured"]),
                    "ink": lab_colour(row["provider"]),
                    "full": row["well_measured"],
                }
            )
        rest = len(ordered) - len(shown)
        if rest > 0:
            left = max(0.0, 1 - sum(chance for _, chance in ordered[:_CHANCES]))
            name = "the other one" if rest == 1 else f"all {rest} others"
            shown.append(
                {"name": name, "href": "", "share": round(100 * left, 1), "chance": say_chance(left)}
                | {"sign": Markup(_OTHERS), "ink": LINE, "full": True}
            )
        return shown

    @cached_property
    def figures(self) -> list[Figure]:
        """Return both views as figures, each with a page, a table and downloads of its own."""
        if not self._rows:
            return []
        facts = ("subject", "name", "provider", "exact_iq", "iq_low", "iq_high", "p_first", "measured", "released")
        first = Figure(
            "first",
            "1,000 people and every ranked AI model",
            "1,000 people spread as IQ is defined, and every ranked AI model on the same scale by its test results, "
            "with its 90% interval. Filled marks are mostly measured, hollow ones mostly estimated. Pins are measured "
            "groups of people, read off the ladder of one test each.",
            finding=self._standing(None)["sentence"],
            drawing=self._still_bell,
            rows=tuple({key: row[key] for key in facts} for row in self._rows),
            paged=True,
        )
        jagged = self._jagged
        if not jagged["models"]:
            return [first]
        chosen = jagged["models"][jagged["chosen"]]
        rows = self._study.rows
        second = Figure(
            "jagged",
            "Seven kinds of work",
            "The IQ of the leading models in seven kinds of work, with 90% intervals; warm bars are people who took "
            "the test named.",
            finding=chosen["sentence"],
            drawing=_as_drawing(jagged["drawn"]),
            rows=tuple(line for one in jagged["models"] for line in rows.profile_rows[one["subject"]]),
            paged=True,
        )
        return [first, second]

    @cached_property
    def _drawn_bells(self) -> dict[str, Markup]:
        return {name: self._draw(bell) for name, bell in self._bells.items()} if self._rows else {}

    @property
    def _still_bell(self) -> Drawing:
        """The picture of today at any width, for a file of its own."""

        def draw(width: float) -> Markup:
            look = look_at(width)
            return self._draw(FirstBell(look, self._models, self._landmarks[look.labs], still=True))

        return Drawing.of(draw, first_bell.LOOKS["wide"].width)

    def record(self) -> dict[str, Any]:
        """Return for the slider what every month says and where every model stands at each width.

        ``subjects``: the models in the order in which months count them; ``named``: leaders with a name, by width.
        """
        named = {name: look.named for name, look in first_bell.LOOKS.items()}
        return {"subjects": [row["subject"] for row in self._rows], "named": named, "months": self._month_records()}

    def _month_records(self) -> list[dict[str, Any]]:
        places = {row["subject"]: place for place, row in enumerate(self._rows)}
        records = []
        for step, month in enumerate(self.months):
            last = step == len(self.months) - 1
            said = self._standing(None if last else month)
            shown = [places[name] for name in month.subjects]
            records.append(
                {
                    "name": "Today" if last else month.name,
                    **{key: str(said[key]) for key in ("sentence", "deck")},
                    **{key: said[key] for key in ("chances", "said", "short_said", "dark")},
                    "shown": shown,
                    "rows": {name: bell.rows(shown) for name, bell in self._bells.items()},
                }
            )
        return records

    @cached_property
    def _jagged(self) -> dict[str, Any]:
        """Return the strips of the leading models at each width, the words for each, and which opens the view."""
        dimensions = self._study.dimension_names
        models = [_jagged_model(self._study, row) for row in self._rows[:_PICKED]]
        models = [model for model in models if len(model.strands) > 1]
        if not models:
            return {"models": [], "drawn": {}}
        full = [place for place, model in enumerate(models) if self._by_subject[model.subject]["well_measured"]]
        chosen = max(full or range(len(models)), key=lambda place: _gap(models[place]))
        people = people_marks(self._study)
        about = "IQ of the leading models in seven kinds of work, with people who took the tests named."
        return {
            "models": [
                {
                    "subject": model.subject,
                    "name": model.name,
                    "sign": sign(model.provider, full=self._by_subject[model.subject]["well_measured"]),
                    **self._jagged_words(model, dimensions),
                }
                for model in models
            ],
            "chosen": chosen,
            "drawn": {
                name: draw_jagged(width, dimensions, models, people, chosen, about)
                for name, width in jagged.LOOKS.items()
            },
        }

    def _jagged_words(self, model: JaggedModel, dimensions: Mapping[str, str]) -> dict[str, Any]:
        """Say of one model how far apart its strongest and its weakest dimension are."""
        row = self._by_subject[model.subject]
        ends = sorted(model.strands.items(), key=lambda pair: pair[1].iq)
        (low, weakest), (high, strongest) = ends[0], ends[-1]
        strong, weak = dimensions[high].lower(), dimensions[low].lower()
        top, bottom = round(strongest.iq), round(weakest.iq)
        return {
            "sentence": f"{model.name} is {top} in {strong} and {bottom} in {weak}: the same model, "
            f"{top - bottom} points apart.",
            "deck": Markup(
                "Its one number is <b>{}</b> (90%: {}), the mean of the seven. {} of its {} tests are measured."
            ).format(
                show(row["iq"], "iq"),
                show_range(row["iq_low"], row["iq_high"], "iq"),
                row["measured"],
                self._benchmarks,
            ),
            "see": f"The same model is {bottom} in {weak} and {top} in {strong}: one number hides "
            f"{top - bottom} points.",
        }

    def _releases(self) -> Markup:
        """Draw how many models came out in each month, above the slider."""
        counts = [0] * len(self.months)
        for row in self._rows:
            if row["released"] is not None and self.months:
                start = self.months[0].start
                step = 12 * (row["released"].year - start.year) + row["released"].month - start.month
                counts[max(0, step)] += 1
        most, width = max([*counts, 1]), 1000.0 / max(1, len(counts) - 1)
        bars = "".join(
            f'<rect x="{width * (step - 0.3):.1f}" y="{40 - 30 * count / most:.1f}" width="{0.6 * width:.1f}" '
            f'height="{30 * count / most:.1f}"/>'
            for step, count in enumerate(counts)
            if count
        )
        return Markup(
            '<svg viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">'
            f'<g fill="{QUIET}">{bars}</g></svg>'
        )

    def _questions(self, today: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"question": "Who leads, and how sure?", "href": "iq.html#ranking", **who_leads(today["chances"])},
            {"question": "Which people were passed this year?", "href": "people.html", **who_was_passed(self._study)},
            {"question": "Is it speeding up?", "href": "stitched.html#acceleration", **how_fast(self._study)},
            {"question": "What does it cost?", "href": "cost.html#cheapest-at", **what_it_costs(self._study)},
        ]


def _as_drawing(drawn: Mapping[str, Markup]) -> Drawing:
    """Return drawings by width as one, which a figure for print takes at its widest."""
    return Drawing(drawn["wide"], drawn["narrow"], lambda _: drawn["wide"])


@picture("first")
def first_picture(study: Study) -> Picture:
    """1,000 people as dots, and every ranked model with its interval."""
    return _picture_of(study, 0)


@picture("jagged")
def jagged_picture(study: Study) -> Picture:
    """The leading models in seven kinds of work, with people who took the tests."""
    return _picture_of(study, 1)


def _picture_of(study: Study, place: int) -> Picture:
    figures = FirstScreen.of(study).figures
    if len(figures) <= place:
        raise MensuraError("figure: no model is ranked, so nothing can be shown; add scores (mensura add)")
    return figures[place].picture


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
        f'fill="{ink if full else SURFACE}" stroke="{ink}" stroke-width="1.6"/></svg>'
    )


def people_marks(study: Study) -> dict[str, list[Landmark]]:
    """Return measured people by dimension, each read off the ladder of the one test they took."""
    ladders = {ladder.benchmark: ladder for ladder in study.iq.matrix.ladders}
    dimension = dict(study.evidence.benchmarks.select("benchmark", "dimension").iter_rows())
    found: dict[str, list[Landmark]] = {}
    for one in passed_people(study):
        ladder = ladders.get(one.benchmark)
        if ladder is None or not ladder.scores[0] < one.score < ladder.scores[-1]:
            continue
        test = test_name(study, one)
        mark = Landmark(
            one.short,
            test,
            float(ladder.iq(one.score)),  # type: ignore[arg-type]
            group_subject(one.benchmark, one.group),
            f"{ROOT}benchmarks/{slug(one.benchmark)}.html#people",
        )
        found.setdefault(str(dimension[one.benchmark]), []).append(mark)
    return found


def _thinned(marks: Sequence[Landmark]) -> list[Landmark]:
    """Keep landmarks above the average with room between them, highest first, and say that one test says so."""
    kept: list[Landmark] = []
    for mark in sorted(marks, key=lambda one: -one.iq):
        if mark.iq > 100 + _APART and all(abs(mark.iq - other.iq) >= _APART for other in kept):
            kept.append(mark)
    return [
        Landmark(one.name, f"{one.iq:.0f} on {one.note}, one test", one.iq, one.subject, one.href)
        for one in kept[:_MOST_LANDMARKS]
    ]


def _jagged_model(study: Study, row: dict[str, Any]) -> JaggedModel:
    strands = {
        one["dimension"]: Strand(
            one["iq"], one["low"], one["high"], one["measured"], one["measured"] + one["inherited"] + one["estimated"]
        )
        for one in study.dimensions.filter(pl.col("subject") == row["subject"]).iter_rows(named=True)
        if one["iq"] is not None
    }
    ordered = {key: strands[key] for key in study.dimension_names if key in strands}
    href = f"{ROOT}models/{slug(row['subject'])}.html"
    return JaggedModel(row["subject"], row["name"], row["provider"], row["exact_iq"], ordered, href)


def _gap(model: JaggedModel) -> float:
    values = [one.iq for one in model.strands.values()]
    return max(values) - min(values)
