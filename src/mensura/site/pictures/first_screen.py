"""The first screen: who leads in a sentence, the bell of people with every ranked model, and four short answers."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

from markupsafe import Markup

from mensura.charts import Drawing, Mark, Reference
from mensura.charts.bell import LOOKS, FirstBell, look_at
from mensura.charts.theme import lab_colour, paint
from mensura.charts.values import crowd_above, said_above
from mensura.core.errors import MensuraError
from mensura.evidence import slug
from mensura.scale.ranking import say_chance, say_leader
from mensura.site.pictures import first_parts as parts
from mensura.site.pictures.registry import Figure, iq_mark, picture, picture_words, worded
from mensura.study.headlines import Month, lead_by_month, say_lead
from mensura.study.study import Study
from mensura.study.units import show, show_range

_CHANCES = 3
"""Models whose chance of being first is shown by name."""
_LONG = 90
"""Letters from which a sentence is set smaller."""
_OTHERS = (
    '<svg viewBox="-7 -7 14 14" aria-hidden="true">'
    f'<rect x="-5" y="-5" width="10" height="10" rx="2" fill="{paint.line}"/></svg>'
)


class FirstScreen:
    """What the first page shows, month by month; built once per report."""

    def __init__(self, study: Study) -> None:
        """Take the ranked models of a study."""
        self._study = study
        self._rows: list[dict[str, Any]] = study.ranked.to_dicts()
        self._by_subject = {row["subject"]: row for row in self._rows}
        self._benchmarks = len(study.iq.matrix.benchmarks)

    @cached_property
    def months(self) -> list[Month]:
        """Who led in each month."""
        return lead_by_month(self._study)

    @cached_property
    def _models(self) -> list[Mark]:
        return [iq_mark(row) for row in self._rows]

    @cached_property
    def _landmarks(self) -> list[list[Reference]]:
        """The people that a phone, a tablet and a screen have room for."""
        marks = parts.thinned([mark for marks in parts.people_marks(self._study).values() for mark in marks])
        average = Reference("The average person", 100.0, note="100, by definition of the scale")
        few = [Reference("Average person", 100.0, note="100, by definition"), *marks[:1]]  # what a phone has room for
        return [few, [average, *marks[:1]], [average, *marks]]

    @cached_property
    def _bells(self) -> dict[str, FirstBell]:
        return {name: FirstBell(look, self._models, self._landmarks[look.labs]) for name, look in LOOKS.items()}

    def _draw(self, bell: FirstBell) -> Markup:
        """Draw all ranked models as they stand today."""
        today = self._standing(None)
        about = f"Bell curve of 1,000 people, and {len(self._rows):,} AI models below it by IQ. {today['sentence']}"
        return bell.draw(today["said" if bell.look.labs else "short_said"], about)

    def context(self) -> dict[str, Any]:
        """Return what the template of the first page shows."""
        today = self._standing(None)
        bells = {name: self._draw(bell) for name, bell in self._bells.items()} if self._rows else {}
        drawn = {"pictures": self.figures, "jagged": self.jagged, "bells": bells}
        slider = {"months": self._releases()}
        words = {"long": len(today["sentence"]) > _LONG, "counted": len(self._rows)}
        return {**today, **drawn, **slider, **words, "questions": self._questions(today)}

    def _standing(self, month: Month | None) -> dict[str, Any]:
        """Return the words of a month, or of today: sentence, deck, chances, and what the dark dots are."""
        headline, basis = ("", "") if month else say_lead(self._study)
        if not self._rows:
            return {"sentence": headline, "deck": "", "chances": [], "said": ("", ""), "see": "", "dark": 0}
        pairs = month.by_chance if month else [(row["subject"], row["p_first"]) for row in self._rows]
        subjects = month.subjects if month else [row["subject"] for row in self._rows]
        best = self._by_subject[subjects[0]]
        chance = dict(pairs)[best["subject"]]
        iq = round(best["exact_iq"])
        deck = self._deck(best, [self._by_subject[name] for name in subjects]) + (basis and f" {basis}")
        sentence = say_leader(best["name"], [chance], len(subjects), month.name) if month else headline
        dark = {"dark": crowd_above(iq), "said": said_above(iq), "short_said": said_above(iq, short=True)}
        return dark | {
            "sentence": sentence,
            "deck": deck,
            "chances": self._chances(pairs),
            "see": self._see(best, month),
        }

    def _see(self, best: dict[str, Any], month: Month | None) -> str:
        """Say where the leader stands among people, and on how much that rests; of a past month, by which evidence."""
        tests = "measured" if best["well_measured"] else "estimated"
        mark = "filled" if best["well_measured"] else "hollow"
        where = f"at a level that {said_above(round(best['exact_iq']))[0]} reach"
        who = "The leader" if month is None else f"{best['name']}, the best model out by {month.name},"
        when = "" if month is None else " by today’s evidence"
        return f"{who} stands {where}{when}; its mark is {mark}, so most of its tests are {tests}."

    def _deck(self, best: dict[str, Any], rows: Sequence[dict[str, Any]]) -> Markup:
        reach = Markup('Its IQ is <b>{}</b> (90%: {}), a level that about <span class="warm">{}</span> reach. ').format(
            show(best["iq"], "iq"), show_range(best["iq_low"], best["iq_high"], "iq"), parts.said_share(best["iq"])
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
            look = {"ink": lab_colour(row["provider"]), "full": row["well_measured"]}
            look["sign"] = parts.sign(row["provider"], full=row["well_measured"])
            shown.append({"name": row["name"], "href": f"models/{slug(name)}.html", **_share(chance), **look})
        rest = len(ordered) - len(shown)
        if rest > 0:
            left = max(0.0, 1 - sum(chance for _, chance in ordered[:_CHANCES]))
            name = "the other one" if rest == 1 else f"all {rest:,} others"
            look = {"sign": Markup(_OTHERS), "ink": paint.line, "full": True}
            shown.append({"name": name, "href": "", **_share(left), **look})
        return shown

    @cached_property
    def figures(self) -> list[Figure]:
        """Return both views as figures, each with a page, a table and downloads of its own."""
        if not self._rows:
            return []
        facts = ("subject", "name", "provider", "exact_iq", "iq_low", "iq_high", "p_first", "measured", "released")
        table = [{key: row[key] for key in facts} for row in self._rows]
        first = worded("first", self._still_bell, self._standing(None)["sentence"], rows=table, paged=True)
        jagged = self.jagged
        if not jagged.models:
            return [first]
        table = [line for one in jagged.models for line in self._study.rows.profile_rows[one["subject"]]]
        drawing = Drawing(jagged.draw, screen=LOOKS["wide"].width)
        finding = jagged.models[jagged.chosen]["sentence"]
        return [first, worded("jagged", drawing, finding, rows=table, paged=True)]

    @property
    def _still_bell(self) -> Drawing:
        """The picture of today at any width, for a file of its own."""

        def draw(width: float) -> Markup:
            look = look_at(width)
            return self._draw(FirstBell(look, self._models, self._landmarks[look.labs], still=True))

        return Drawing(draw, screen=LOOKS["wide"].width)

    def record(self) -> dict[str, Any]:
        """Return for the slider what every month says and where every model stands at each width.

        ``models``: subject, name and IQ in the order in which months count them; ``labels``: where the name of each
        stands, by width; ``named``: leaders with a name, by width.
        """
        return {
            "models": [(one.subject, one.name, f"{one.x:.0f}") for one in self._models],
            "labels": {name: [_label(bell, one) for one in self._models] for name, bell in self._bells.items()},
            "named": {name: look.named for name, look in LOOKS.items()},
            "months": self._month_records(),
        }

    def _month_records(self) -> list[dict[str, Any]]:
        places = {row["subject"]: place for place, row in enumerate(self._rows)}
        records = []
        for step, month in enumerate(self.months):
            last = step == len(self.months) - 1
            words = self._standing(None if last else month)
            shown = [places[name] for name in month.subjects]
            record = {"name": "Today" if last else month.name}
            record |= {key: str(words[key]) for key in ("sentence", "deck", "see")}
            record |= {key: words[key] for key in ("chances", "said", "short_said", "dark")}
            rows = {name: bell.rows(shown) for name, bell in self._bells.items()}
            records.append({**record, "shown": shown, "rows": rows})
        return records

    @cached_property
    def jagged(self) -> parts.JaggedView:
        """The leading models in seven kinds of work."""
        return parts.jagged_view(self._study, self._rows)

    def _releases(self) -> list[dict[str, Any]]:
        """Return each month of the slider: its first day, and how many models came out in it."""
        released = [row["released"].replace(day=1) for row in self._rows if row["released"] is not None]
        counts = Counter(max(day, self.months[0].start) for day in released) if self.months else Counter()
        return [{"start": one.start, "models": counts[one.start]} for one in self.months]

    def _questions(self, today: dict[str, Any]) -> list[dict[str, Any]]:
        study = self._study
        answers = (
            *(parts.who_leads(today["sentence"], today["chances"]), parts.who_was_passed(study), parts.how_fast(study)),
            *(parts.how_long(), parts.what_it_costs(study), parts.what_comes(study), parts.what_not(study)),
        )
        asked = zip(picture_words()["first"]["questions"], answers, strict=True)
        return [{"question": question, "href": href, **answer} for (question, href), answer in asked]


def _label(bell: FirstBell, model: Mark) -> tuple[float | str, ...]:
    """Return where the name of a model stands, and the name itself where there is no room for the whole."""
    name = bell.label_name(model)
    return (*bell.label_place(model), *([name] if name != model.name else []))


def _share(chance: float) -> dict[str, Any]:
    return {"share": round(100 * chance, 1), "chance": say_chance(chance)}


@lru_cache(maxsize=1)
def screen_of(study: Study) -> FirstScreen:
    """Return the first screen of a study; pages and pictures of one report share it."""
    return FirstScreen(study)


@picture("first")
def first_picture(study: Study) -> Figure:
    """1,000 people as dots, and every ranked model with its interval."""
    return _picture_of(study, 0)


@picture("jagged")
def jagged_picture(study: Study) -> Figure:
    """The leading models in seven kinds of work, with people who took the tests."""
    return _picture_of(study, 1)


def _picture_of(study: Study, place: int) -> Figure:
    figures = screen_of(study).figures
    if len(figures) <= place:
        raise MensuraError("figure: no model is ranked, so nothing can be shown; add scores (mensura add)")
    return figures[place]
