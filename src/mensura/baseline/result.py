"""The result of an estimated baseline: items, populations, and models among people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura.baseline.cards import card_files, card_markdown
from mensura.baseline.origin import PopulationPart
from mensura.baseline.persons import QUANTILES
from mensura.baseline.recordings import shipped
from mensura.core.folders import whole_folder
from mensura.core.frames import neutral_cells
from mensura.core.results import Result
from mensura.people import WORLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.baseline.inputs import BaselineItems

SMALLEST = 1e-6
"""Least rate that gets a level and a rarity."""
MODEL_COLUMNS = {
    "subject": pl.String,
    "population": pl.String,
    "score": pl.Float64,
    "percentile": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "one_in": pl.Float64,
    "chance_passed": pl.Float64,
}


@dataclass(frozen=True, eq=False, repr=False)
class Baseline(Result):
    """Contain what described people would score, estimated.

    Attributes
    ----------
    name : str
        The benchmark.
    items : pl.DataFrame
        item, population, rate with its 90% interval, level and rarity (level for the world only), status (estimated,
        anchored, remembered, missing), and at_least: whether the rarity is cut at the people of the study that an
        interval speaks of, or of the anchor.
    baseline : pl.DataFrame
        Per population the mean and the percentiles of persons' scores.
    models : pl.DataFrame
        The place of scores among the people.
    parts : tuple of PopulationPart
        What both were computed from.
    sampled : tuple[int, int]
        Number of items, and of all items of the benchmark.
    warnings : tuple of str
        What a reader must know.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("baseline", "items", "models")

    name: str
    items: pl.DataFrame
    baseline: pl.DataFrame
    models: pl.DataFrame
    parts: tuple[PopulationPart, ...]
    sampled: tuple[int, int]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        items: BaselineItems,
        parts: Sequence[PopulationPart],
        scores: pl.DataFrame | None,
        warnings: tuple[str, ...],
    ) -> Baseline:
        """Lay out the tables."""
        rows = [_model_row(part, *row) for part in parts for row in _score_rows(scores)]
        return cls(
            items.name,
            pl.concat([_item_rows(items, part) for part in parts]),
            pl.DataFrame([_population_row(part) for part in parts]),
            pl.DataFrame(rows, schema=MODEL_COLUMNS, orient="row"),
            tuple(parts),
            (items.table.height, items.of),
            warnings,
        )

    @property
    def heading(self) -> str:
        """Who would score what on which items."""
        means = "; ".join(
            f"{row['population']} {row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
            for row in self.baseline.iter_rows(named=True)
        )
        return f"{self.name}, {self.sampled[0]:,} items, estimated, not measured: {means}"

    @property
    def spans(self) -> dict[str, str]:
        """Per population, from which rarity to which the items go: "from 1 in 1.1 to 1 in 40 people"."""
        return {
            str(who): f"from 1 in {_short(rows['one_in'].min())} to {'at least ' * rows['at_least'].any()}"
            f"1 in {_short(rows['one_in'].max())} people"
            for (who,), rows in self.items.drop_nulls("one_in").group_by("population", maintain_order=True)
        }

    def card(self) -> str:
        """Return the card as Markdown, for a README or a paper."""
        return card_markdown(self)

    def write(self, folder: str | Path) -> Path:
        """Write the tables as CSV files and the card as card.md, card.svg and card.json; return the folder."""
        place = Path(folder)
        with whole_folder(place, "baseline") as stage:
            for name, table in self.tables().items():
                neutral_cells(table).write_csv(stage / f"{name}.csv")
            for name, text in card_files(self).items():
                (stage / name).write_text(text, encoding="utf-8")
        return place

    def validation(self) -> dict[str, float]:
        """Return the errors of the method on pools left out, as the shipped file states them."""
        return dict(shipped()["validation"])


def _short(value: object) -> str:
    number = float(str(value))
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _item_rows(items: BaselineItems, part: PopulationPart) -> pl.DataFrame:
    table = items.table.select("item").join(part.items, on="item", how="left", maintain_order="left")
    rates = {name: pl.col(name).clip(SMALLEST, 1.0) for name in ("rate", "low", "high")}
    of_world = part.who.name == WORLD.name
    levels = {
        title: (0.5 - rates[name].log10()) if of_world else pl.lit(None, pl.Float64)
        for title, name in (("level", "rate"), ("level_low", "high"), ("level_high", "low"))
    }
    return table.with_columns(
        pl.lit(part.who.name).alias("population"),
        pl.col("status").fill_null("missing"),
        pl.col("remembered").fill_null(False),
        one_in=pl.min_horizontal(1 / rates["rate"], "tested"),
        at_least=rates["rate"] * pl.col("tested") < 1,
        **levels,
    ).select(
        "item",
        "population",
        "rate",
        "low",
        "high",
        "level",
        "one_in",
        "status",
        "remembered",
        "level_low",
        "level_high",
        "at_least",
    )


def _population_row(part: PopulationPart) -> dict[str, object]:
    low, mid, high = np.quantile(part.means, [0.05, 0.5, 0.95])
    row: dict[str, object] = {
        "population": part.who.name,
        "mean": float(mid),
        "low": float(np.clip(low, 0, 1)),
        "high": float(np.clip(high, 0, 1)),
        "items": int(part.items.height),
        "remembered": int(part.items["remembered"].sum()),
        "distance": part.kind.distance,
    }
    for name, share in QUANTILES.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = part.persons.quantiles(share)
    return row


def _score_rows(scores: pl.DataFrame | None) -> list[tuple[str, float]]:
    return [] if scores is None else list(scores.select("subject", "score").iter_rows())


def _model_row(part: PopulationPart, subject: str, score: float) -> tuple[object, ...]:
    share, low, high = part.persons.share_below(score)
    passed = float(np.mean(score > part.means))
    rarest = 1 / part.persons.scores.shape[1]
    return (subject, part.who.name, score, 100 * share, 100 * low, 100 * high, 1 / max(1 - share, rarest), passed)
