"""Derive the regional shifts of learning scores that agree with the published shares of youth without basic skills.

``python -m tools.embed_links``. Gust, Hanushek and Woessmann (Journal of Development Economics 166, 2024) link regional
and national tests to PISA in another way than the learning scores do, and state which part of a region's youth stays
below basic skills (420 points). Per region the shift is solved that gives its 15- to 19-year-olds that share at the
stated assumptions. Regions they do not state in their summary stay as they are, and so do Europe and Northern America
(24% there): PISA and PIAAC measured those countries, and shifting them would put adults further from PIAAC.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import brentq
from scipy.special import ndtr

from mensura.core.files import write_csv
from mensura.extrapolation.abilities import Domain, Strata, abilities, central, read_curves
from mensura.people import WORLD, World, cells_of

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "people" / "data" / "world" / "links.csv"
SOURCE = "Gust, Hanushek and Woessmann 2024"
BASIC = (420 - 500) / 100
YOUTH = (15, 19)
BELOW = {
    "Sub-Saharan Africa": (0.94, ("Eastern Africa", "Middle Africa", "Southern Africa", "Western Africa")),
    "South Asia": (0.89, ("Southern Asia",)),
    "Middle East and North Africa": (0.68, ("Northern Africa", "Western Asia")),
    "Latin America": (0.65, ("Caribbean", "Central America", "South America")),
}
"""Share of youth below basic skills, as stated for a region, and the subregions it stands for here."""


def share_below(world: World, subregions: tuple[str, ...] | None = None) -> float:
    """Return the part of 15- to 19-year-olds below 420 points in mathematics; those who cannot take the test count."""
    cells = cells_of(WORLD.with_(ages=YOUTH), world)
    chosen = cells if subregions is None else cells.filter(pl.col("subregion").is_in(subregions))
    strata = Strata.from_cells(chosen)
    found = abilities(
        strata, central(world.assumptions), Domain("quantitative", True, read_curves(world.curves)), given=""
    )
    above = found.able[0] * ndtr((found.mean[0] - BASIC) / np.sqrt(found.variance[0]))
    return float(1 - strata.weight @ above)


def shift_for(world: World, subregions: tuple[str, ...], share: float) -> float:
    """Return the shift of learning scores, in units of 100 points, at which ``share`` stays below."""

    def miss(shift: float) -> float:
        links = pl.DataFrame({"subregion": subregions, "shift": [shift] * len(subregions)})
        return share_below(replace(world, links=links).assume(regional_link=1.0), subregions) - share

    return float(brentq(miss, -3.0, 3.0, xtol=1e-4))


def main() -> None:
    world = World.load()
    rows = [
        (name, round(shift_for(world, subregions, share), 3), region, share, SOURCE)
        for region, (share, subregions) in BELOW.items()
        for name in subregions
    ]
    write_csv(pl.DataFrame(rows, schema=["subregion", "shift", "region", "below", "source"], orient="row"), TARGET)
    aligned = World.load()
    plain, linked = (share_below(aligned.assume(regional_link=value)) for value in (0.0, 1.0))
    print(pl.read_csv(TARGET))
    print(f"below 420 points: {plain:.1%} by the learning scores, {linked:.1%} with the regional shifts")


if __name__ == "__main__":
    main()
