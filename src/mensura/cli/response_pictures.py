"""The pictures of a fit of responses, by the name of their file."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

from mensura.charts import information_curve, item_characteristic, item_differences, item_map
from mensura.core.errors import MensuraError
from mensura.evidence.checks import readable
from mensura.responses.result import curve_points, difference_points, information_points, map_points

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from mensura.charts import Drawing
    from mensura.responses import ResponseFit

WORST = 3
"""Items whose curves are drawn where none is asked for: those that depart most from theirs."""


def draw_fit(fit: ResponseFit, items: Sequence[str] | None) -> dict[str, Drawing]:
    """Return charts by file name: item map, information, curves of items, differences of every group."""
    from mensura.core.frames import sort_highest

    if not fit.observed.width:
        raise MensuraError("the folder has no observed.csv; fit again with: mensura responses fit … --out FOLDER")
    bank = fit.bank
    worst = sort_highest(fit.items, "fit", "item").head(WORST)["item"].to_list()
    drawn = {"item-map": item_map(map_points(fit)), "information": information_curve(information_points(bank))}
    for item in items or worst:
        curve = curve_points(bank, item)
        seen = fit.observed.filter(fit.observed["item"] == item)
        drawn[_free_name(f"item-{readable(item)}", drawn)] = item_characteristic(curve, seen)
    for group in fit.dif["group"].unique(maintain_order=True) if fit.dif.height else ():
        name = _free_name(f"differences-{readable(group)}", drawn)
        drawn[name] = item_differences(difference_points(fit.dif, group))
    return drawn


def _free_name(name: str, taken: Container[str]) -> str:
    """Return the name, with a number behind it if another picture has it already."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)
