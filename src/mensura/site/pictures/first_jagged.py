"""The jagged view of the first screen: leading models in seven kinds of work, drawn once and read on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
from markupsafe import Markup

from mensura.charts.canvas import ROOT
from mensura.charts.jagged import LOOKS, JaggedModel, Strand, draw_jagged
from mensura.evidence import slug
from mensura.site.pictures.first_people import people_marks
from mensura.site.pictures.signs import sign
from mensura.study.study import Study
from mensura.study.units import show, show_range

_PICKED = 12
"""Models offered in the view."""


@dataclass(frozen=True)
class JaggedView:
    """The models on offer with their words, the one that opens the view, and what draws the view."""

    models: list[dict[str, Any]]
    chosen: int
    draw: Callable[[float], Markup]

    @cached_property
    def drawn(self) -> dict[str, Markup]:
        """The drawings by the names of their widths."""
        return {name: self.draw(width) for name, width in LOOKS.items()} if self.models else {}

    @property
    def frames(self) -> dict[str, Markup]:
        """Each drawing without its content: the room that it takes until a script fills it in."""
        return {name: Markup(str(one).partition(">")[0] + "></svg>") for name, one in self.drawn.items()}

    def record(self) -> dict[str, str]:
        """Return the drawings as the script of the first page reads them."""
        return {name: str(one).replace(ROOT, "") for name, one in self.drawn.items()}


def jagged_view(study: Study, rows: Sequence[dict[str, Any]]) -> JaggedView:
    """Draw the leading ones of the ranked models, and choose a measured one with the widest gap to open the view."""
    by_subject = {row["subject"]: row for row in rows[:_PICKED]}
    models = [model for row in rows[:_PICKED] if len((model := _jagged_model(study, row)).strands) > 1]
    if not models:
        return JaggedView([], 0, lambda _: Markup())
    full = [place for place, model in enumerate(models) if by_subject[model.subject]["well_measured"]]
    chosen = max(full or range(len(models)), key=lambda place: _gap(models[place]))
    dimensions, people = study.dimension_names, people_marks(study)
    about = "IQ of the leading models in seven kinds of work, with people who took the tests named."
    words = [_words(study, by_subject[model.subject], model, dimensions) for model in models]
    return JaggedView(words, chosen, lambda width: draw_jagged(width, dimensions, models, people, chosen, about))


def _words(study: Study, row: dict[str, Any], model: JaggedModel, dimensions: Mapping[str, str]) -> dict[str, Any]:
    """Say of one model how far apart its strongest and its weakest dimension are."""
    ends = sorted(model.strands.items(), key=lambda pair: pair[1].iq)
    (low, weakest), (high, strongest) = ends[0], ends[-1]
    strong, weak = dimensions[high].lower(), dimensions[low].lower()
    top, bottom = round(strongest.iq), round(weakest.iq)
    return {
        "subject": model.subject,
        "name": model.name,
        "sign": sign(model.provider, full=row["well_measured"]),
        "sentence": f"{model.name} is {top} in {strong} and {bottom} in {weak}: the same model, "
        f"{top - bottom} points apart.",
        "deck": Markup(
            "Its one number is <b>{}</b> (90%: {}), the mean of the seven. {} of its {} tests are measured."
        ).format(
            show(row["iq"], "iq"),
            show_range(row["iq_low"], row["iq_high"], "iq"),
            row["measured"],
            len(study.iq.matrix.benchmarks),
        ),
        "see": f"The same model is {bottom} in {weak} and {top} in {strong}: one number hides {top - bottom} points.",
    }


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
