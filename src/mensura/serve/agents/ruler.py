"""Answers from the ruler and the world tables: a place in every unit, and a rate in another population."""

from __future__ import annotations

import polars as pl

from mensura.calibration import chosen_lines
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.extrapolation import Extrapolation, PostStratification, extrapolate
from mensura.people import ItemPool, World
from mensura.scale import Position, Reading
from mensura.serve.agents.answers import Converted, Detail, Extrapolated, Quantity, Unit

_RULER = "Mensura's ruler: mean 100, standard deviation 15, of the population the rate was measured in"
_COMMON = "common scale, base 10 (level 1 centred on 1 in √10 people)"
_NO_ITEM = "item"


def convert(
    evidence: Evidence, value: float, unit: Unit, low: float | None, high: float | None, dimension: str | None
) -> Converted:
    """Return a place on the ruler in every unit."""
    line = None if dimension is None else chosen_lines(published=evidence.calibration)[dimension]
    if unit == "level" and line is not None:
        place = Position.from_dimension(line, value, low, high)
    else:
        makers = {
            "rate": Position,
            "percentile": Position.from_percentile,
            "one_in": Position.from_one_in,
            "iq": Position.from_iq,
            "level": Position.from_level,
        }
        if unit not in makers:
            raise MensuraError(f"unit: got {unit!r}; expected one of {', '.join(makers)}")
        place = makers[unit](value, low, high)
    level = place.level() if line is None else place.annotated_level(line)
    outside = line.outside(level.value) if line is not None else None
    return Converted(
        rate=_read(place.rate, unit == "rate"),
        percentile=_read(place.percentile, unit == "percentile"),
        one_in=_read(place.one_in, unit == "one_in"),
        iq=_read(place.iq, unit == "iq"),
        level=_read(level, unit == "level"),
        scale=_COMMON if line is None else f"{line.name}, base {line.base:.3g} ({line.source})",
        notes=[
            *([outside] if outside else []),
            "A rate speaks of the population it was measured in or extrapolated to.",
        ],
    )


def extrapolate_rate(
    rate: float,
    focal: str,
    reference: str,
    n: int | None,
    options: int | None,
    domain: str | None,
    detail: Detail,
) -> Extrapolated:
    """Return one item's success rate in another population, by post-stratification over the world tables."""
    world = World.load()
    items = pl.DataFrame({"item": [_NO_ITEM], "domain": [domain], "n_options": [options]}, strict=False)
    row = {"item": _NO_ITEM, "covariate": "all", "group": "all", "n": n, "correct": None, "rate": rate, "se": None}
    types = {"n": pl.Int64, "correct": pl.Int64, "rate": pl.Float64, "se": pl.Float64}
    pool = ItemPool(_NO_ITEM, items, pl.DataFrame([row], schema_overrides=types))
    method = PostStratification(world=world)
    found = extrapolate(pool, to=reference, focal=world.population(focal), method=method, world=world)
    regions = method.breakdown(found.task) if detail == "full" else pl.DataFrame()
    return Extrapolated(
        observed=Quantity(value=rate, status="given", source="the question"),
        focal=str(found.focal),
        reference=str(found.reference),
        rate=_carried(found.table.row(0, named=True), found),
        hangs_on=found.sensitivity["assumption"].to_list(),
        regions={one["region"]: _carried(one, found) for one in regions.iter_rows(named=True)},
        warnings=list(found.warnings),
    )


def _carried(row: dict[str, float], found: Extrapolation) -> Quantity:
    return Quantity(
        value=row["rate"],
        low=row["low"],
        high=row["high"],
        interval=f"{found.level:.0%}: {found.interval}",
        status="extrapolated",
        source=f"{found.method} over Mensura's world tables",
    )


def _read(reading: Reading, given: bool) -> Quantity:
    value, low, high = reading
    about = "" if low is None else "the interval given, converted end by end"
    status, source = ("given", "the question") if given else ("converted", _RULER)
    return Quantity(value=value, low=low, high=high, interval=about, status=status, source=source)
