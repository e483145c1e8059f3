"""The items of a fit in the parameterisations of the R packages mirt and TAM, with a script that rebuilds them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.intake.tables import read_table
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.result import read_fit

_LEAST_SLOPE = 1e-6


def script(to: str) -> str:
    """Return the R script that rebuilds the items; it reads ``parameters.csv`` in its folder."""
    return (Path(__file__).parent / "data" / f"{to}.R").read_text(encoding="utf-8")


def item_parameters(folder: Path) -> pl.DataFrame:
    """Return item, type, categories, name and value as mirt names them (slope–intercept form), of any fit."""
    rows: list[tuple[str, str, int, str, float]] = []
    for item, model, slopes, d, guessing in _items(folder):
        values, kind, size = {f"a{k}": a for k, a in enumerate(slopes, start=1)}, "graded", len(d) + 1
        if len(d) == 1:  # of two categories, every model is the 2PL model
            kind, values = "3PL" if guessing else "2PL", values | {"d": d[0], "g": guessing}
        elif model == "graded":
            values |= {f"d{k}": one for k, one in enumerate(d, start=1)}
        else:
            kind, ak, d = "gpcm", np.arange(len(d) + 1.0), np.append(0.0, np.cumsum(d) if model != "nominal" else d)
            if model == "nominal":
                last = slopes[-1] / (size - 1) if abs(slopes[-1]) > _LEAST_SLOPE else _LEAST_SLOPE
                kind, values, ak = "nominal", {"a1": last}, np.append(0.0, slopes / last)
            values |= {f"{name}{k}": one for name, row in (("ak", ak), ("d", d)) for k, one in enumerate(row)}
        rows += [(item, kind, size, *one) for one in values.items()]
    if (folder / "correlations.csv").is_file():
        pairs = read_table(folder / "correlations.csv")
        names = read_table(folder / "items.csv")["dimension"].unique(maintain_order=True).to_list()
        for one, other, correlation in pairs.select("dimension", "other", "correlation").iter_rows():
            rows.append(("GROUP", "GROUP", 0, f"COV_{names.index(other) + 1}{names.index(one) + 1}", correlation))
    schema = ["item", "type", "categories", "name", "value"]
    return pl.DataFrame(rows, schema, orient="row").with_columns(pl.col("value").cast(pl.Float64))


def _items(folder: Path) -> Iterator[tuple[str, str, Floats, Floats, float]]:
    """Yield item, model, slopes (by dimension; of ``nominal`` by category), intercepts and guessing."""
    if (folder / "intercepts.csv").is_file():
        items, steps = read_table(folder / "items.csv"), read_table(folder / "intercepts.csv")
        model = str(read_table(folder / "quality.csv")["model"][0])
        slopes = items.pivot("dimension", index="item", values="discrimination").fill_null(0.0)
        for item, *own in slopes.iter_rows():
            yield item, model, np.array(own), steps.filter(pl.col("item") == item)["intercept"].to_numpy(), 0.0
        return
    bank = read_fit(folder).bank
    p = bank.parameters
    for place, item in enumerate(bank.items):
        if isinstance(p, CategoryItems):
            size, own = int(p.sizes[place]) - 1, p.values[place]
            yield item, p.model, own[: size if p.model == "nominal" else 1], own[1 - p.most :][:size], 0.0
        else:
            guessing = 1.0 / (1.0 + np.exp(-p.guess[place])) if p.model == "3pl" else 0.0
            yield item, p.model, p.slope[[place]], p.intercept[[place]], guessing
