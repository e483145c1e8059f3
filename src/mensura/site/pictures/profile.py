"""Profiles: the dimensions of one model."""

from __future__ import annotations

from mensura.charts import Strip, draw_forest
from mensura.core.errors import MensuraError
from mensura.evidence import slug
from mensura.site.pictures.registry import Figure, Picture
from mensura.study.study import Study
from mensura.study.units import show, show_range

_ALONE = "IQ in each dimension with its 90% interval; the dashed line is its composite, so far from it is jagged."
_MARKS = " Full: at least two of the dimension's benchmarks measured; half: inherited; hollow: estimated."


def profile(study: Study, subject: str) -> Figure:
    """Return the profile of a model for its page."""
    rows, row = study.rows.profile_rows[subject], study.rows.by_subject[subject]
    own = [one for one in rows if one["status"] == "measured"]
    told, first = (own, "Strongest") if len(own) > 1 else (rows, "By estimates, strongest")
    best, worst = max(told, key=lambda one: one["value"]), min(told, key=lambda one: one["value"])
    more = f", of the {len(own)} dimensions measured" if 1 < len(own) < len(rows) else ""
    finding = (
        f"{first} in {best['dimension']} ({show(best['value'], 'iq')}), weakest in {worst['dimension']} "
        f"({show(worst['value'], 'iq')}){more}"
    )
    strips = [
        Strip(
            one["dimension"],
            one["value"],
            one["low"],
            one["high"],
            one["status"],
            one["provider"],
            show(one["value"], "iq"),
            note=f"90% {show_range(one['low'], one['high'], 'iq')}, {one['measured']} of {one['benchmarks']} measured",
        )
        for one in rows
    ]
    drawing = draw_forest(
        strips,
        axis="IQ",
        tick=lambda value: show(value, "iq"),
        description=f"IQ by dimension of {row['name']}. {finding}.",
        rule=row["exact_iq"],
    )
    return Figure(
        f"profile-{slug(subject)}",
        "Where it is strong and weak",
        _ALONE + _MARKS,
        finding=finding,
        drawing=drawing,
        rows=tuple(rows),
    )


def profile_picture(study: Study, subject: str) -> Picture:
    """Return the profile of one model as a picture of its own, for print."""
    row = study.rows.by_subject[subject]
    if row["exact_iq"] is None:
        raise MensuraError(
            f"profile-{slug(subject)}: {row['name']} has too few scores for an IQ; choose another model or add scores"
        )
    found = profile(study, subject)
    return Picture(found.name, row["name"], found.caption, found.drawing)
