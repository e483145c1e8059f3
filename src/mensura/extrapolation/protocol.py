"""The one contract of every extrapolator, and what each of them returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import polars as pl

from mensura.frames import text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mensura.people import Population

RESULT_COLUMNS = ("item", "rate", "low", "high", "status", "method")
SENSITIVITY_COLUMNS = ("assumption", "value", "low", "high", "rate_low", "rate_high", "swing", "share")


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """Predicted rates of a reference population.

    ``table``: item, rate, low, high, status (``extrapolated``, or ``measured`` where the reference's own
    rate was given), method. ``low`` and ``high`` bound the reference rate with probability ``level``;
    ``interval`` says of what kind they are. ``sensitivity``: how far the mean predicted rate hangs on each
    assumption or data source (assumption, value, low, high, rate_low, rate_high, swing, share), largest
    first; empty when nothing is assumed. ``settings`` reproduce the result.
    """

    table: pl.DataFrame
    focal: Population
    reference: Population
    method: str
    level: float = 0.9
    interval: str = ""
    sensitivity: pl.DataFrame = field(default_factory=lambda: empty_sensitivity())
    settings: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{self.method}: {self.table.height} items, {self.focal.name} → {self.reference.name}, "
            f"{self.level:.0%} intervals{f' ({self.interval})' if self.interval else ''}",
            text_table(self.table.select("item", "rate", "low", "high", "status")),
        ]
        if self.sensitivity.height:
            top = self.sensitivity.head(3)["assumption"].to_list()
            lines.append(f"hangs most on: {', '.join(top)}")
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])

    def _repr_html_(self) -> str:
        return f"<p>{self.method}: {self.focal.name} → {self.reference.name}</p>{self.table._repr_html_()}"


@runtime_checkable
class Extrapolator(Protocol):
    """Anything that carries item rates from a focal to a reference population.

    ``items``: item and what is known of it (domain, n_options, format …). ``focal_rates``: item, n, rate
    (and correct) of the focal group. What else a method needs (linking items, other slices, world tables)
    is given to its constructor.
    """

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        ...

    def predict(
        self, items: pl.DataFrame, focal_rates: pl.DataFrame, focal: Population, reference: Population
    ) -> Extrapolation:
        """Return the reference population's rate for each item of ``focal_rates``, with intervals."""
        ...


def empty_sensitivity() -> pl.DataFrame:
    """Return a sensitivity table without rows."""
    kinds = {name: pl.String if name == "assumption" else pl.Float64 for name in SENSITIVITY_COLUMNS}
    return pl.DataFrame(schema=kinds)
