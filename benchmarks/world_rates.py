"""World rates of 1,000 items with 1,000 draws of the assumptions: time and growth; and the paper's example.

``python -m benchmarks.world_rates``. With the development data there, the model's adults are also
compared with the measured adult literacy of 38 countries.
"""

from __future__ import annotations

import json
import time

import numpy as np
import polars as pl

from benchmarks import optional_data, run
from benchmarks.measured import percent_range, record
from mensura.core.frames import text_table
from mensura.extrapolation import PostStratification, make_task
from mensura.extrapolation.abilities import Domain, Strata, abilities, central, read_curves
from mensura.people import WORLD, Population, World, cells_of
from tools.embed_links import share_below

ITEMS, DRAWS = 1000, 1000
RATES = (0.01, 0.5, 0.95)
TABLE = (
    ("pisa", "mathematics", "world"),
    ("pisa", "reading", "world"),
    ("pisa", "matrices", "world"),
    ("pisa", "mathematics", "adults"),
    ("pisa", "reading", "adults"),
    ("icar", "reasoning", "world"),
    ("naep-grade8", "mathematics", "world"),
    ("pisa", "mathematics", "Japan"),
    ("pisa", "mathematics", "USA"),
    ("pisa", "mathematics", "Brazil"),
    ("pisa", "mathematics", "India"),
    ("pisa", "mathematics", "Nigeria"),
    ("USA", "reading", "India"),
)
"""Of whom, in what, to whom the table of rates goes; ``adults`` are everybody from 20."""
REPEATS = 3


def items_of(count: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return ``count`` items with four options and their focal rates."""
    names = [f"i{index}" for index in range(count)]
    items = pl.DataFrame({"item": names, "domain": "mathematics", "n_options": 4})
    return items, pl.DataFrame({"item": names, "rate": np.linspace(0.3, 0.95, count), "n": 2000})


def seconds(world: World, items: int, draws: int) -> tuple[float, float]:
    """Return the best wall and CPU seconds of several predictions."""
    task = make_task(*items_of(items), world.population("pisa"), WORLD)
    walls, cpus = [], []
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        PostStratification(world=world, draws=draws).predict(task).sensitivity  # noqa: B018
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def example(world: World, focal: str) -> dict[str, object]:
    """Print the paper's example from one reading of its sample; return its figures."""
    items = pl.DataFrame({"item": ["walking"], "domain": ["mathematics"]})
    task = make_task(items, {"item": ["walking"], "rate": [0.19]}, world.population(focal), WORLD)
    model = PostStratification(world=world)
    result = model.predict(task)
    region, drivers = model.breakdown(task, by="region"), model.drivers(task)
    rate, low, high = (float(part[0, 0]) for part in (result.rate, result.low, result.high))
    without = PostStratification(world=world.assume(item_by_country=0.0)).predict(task)
    general = float(without.low[0, 0]), float(without.high[0, 0])
    print(f"\n19% in {focal} → {rate:.1%} of the world ({low:.1%} to {high:.1%}; without the item's own departure")
    print(f"between countries {general[0]:.1%} to {general[1]:.1%})")
    print(text_table(region, digits=3))
    print(text_table(drivers, digits=3))
    print(text_table(result.sensitivity, rows=12, digits=3))
    return {
        "rate": rate,
        "low": low,
        "high": high,
        "low_general": general[0],
        "high_general": general[1],
        "by_region": dict(region.select("region", "rate").iter_rows()),
        "drivers": dict(drivers.select("driver", "change").iter_rows()),
        "sensitivity": dict(result.sensitivity.head(5).select("assumption", "share").iter_rows()),
    }


def rates_table(world: World) -> pl.DataFrame:
    """Print what rates of 1, 50 and 95% become: mathematics and reading, everybody, adults, single countries."""
    rows = []
    for focal, domain, reference in TABLE:
        items = pl.DataFrame({"item": [f"{rate:.0%}" for rate in RATES], "domain": domain})
        posed = make_task(
            items, items.select("item", rate=pl.Series(RATES)), world.population(focal), _people(world, reference)
        )
        found = PostStratification(world=world).predict(posed)
        cells = {
            name: f"{_percent(rate)} ({_percent(low)}–{_percent(high)})"
            for name, rate, low, high in zip(items["item"], found.rate[0], found.low[0], found.high[0], strict=True)
        }
        rows.append({"of": focal, "in": domain, "to": reference, **cells})
    table = pl.DataFrame(rows)
    print("\nPer cent right, with 90% intervals, of those who were right at 1, 50 and 95%")
    print(text_table(table, rows=table.height))
    return table


def _percent(rate: float) -> str:
    """Return a rate in per cent with two digits that count."""
    return f"{100 * rate:.0f}" if rate >= 0.1 else f"{100 * rate:.2g}" if rate >= 1e-5 else "0.00"


def _people(world: World, name: str) -> Population:
    return WORLD.with_(name=name, ages=(20, 120)) if name == "adults" else world.population(name)


def below_basic(world: World) -> dict[str, float]:
    """Print the share of 15- to 19-year-olds below 420 points, by the learning scores and with the regional links."""
    found = {
        name: share_below(world.assume(regional_link=value))
        for name, value in (("learning_scores", 0.0), ("regional_links", 1.0))
    }
    south = share_below(world.assume(regional_link=0.0), ("Southern Asia",))
    found["south_asia_learning_scores"], found["south_asia_regional_links"] = (
        south,
        share_below(world, ("Southern Asia",)),
    )
    print("\nbelow 420 points at 15 to 19: " + ", ".join(f"{name} {value:.1%}" for name, value in found.items()))
    return found


def adult_literacy(world: World) -> dict[str, float] | None:
    """Print how the model's adults of 16 to 65 compare with PIAAC and STEP means; 270 points are 0, 48 are 1."""
    file = optional_data("world", "adult_literacy_country_means.csv")
    if file is None:
        print("\nadult literacy: left out; it needs development data")
        return None
    stated = central(world.assumptions)
    reading = Domain("literacy", False, read_curves(world.curves))
    rows = []
    for country, measured in pl.read_csv(file).select("iso3", "piaac_step_literacy_mean").iter_rows():
        strata = Strata.from_cells(cells_of(world.population(country).with_(ages=(16, 65)), world))
        mean = float(strata.weight @ abilities(strata, stated, reading, given="").mean[0])
        rows.append((measured, 270 + 48 * mean, 270 + 48 * world.learning(country)))
    measured, model, learning = np.array(rows).T
    figures = {
        "countries": len(rows),
        "mae_model": float(np.abs(model - measured).mean()),
        "r_model": float(np.corrcoef(model, measured)[0, 1]),
        "mae_learning_score": float(np.abs(learning - measured).mean()),
        "r_learning_score": float(np.corrcoef(learning, measured)[0, 1]),
        "bias_model": float((model - measured).mean()),
    }
    print("\nadult literacy, points: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    return figures


def main() -> None:
    world = World.load()
    sizes = [(10, DRAWS), (100, DRAWS), (ITEMS, DRAWS // 10), (ITEMS, DRAWS), (4 * ITEMS, DRAWS), (ITEMS, 4 * DRAWS)]
    rows = [(items, draws, *seconds(world, items, draws)) for items, draws in sizes]
    report = pl.DataFrame(rows, schema=["items", "draws", "seconds", "cpu_seconds"], orient="row")
    print("World rates with intervals and sensitivity, from PISA")
    print(text_table(report, digits=2))
    examples = {focal: example(world, focal) for focal in ("pisa", "pisa-oecd", "pisa-weighted")}
    full = report.filter((pl.col("items") == ITEMS) & (pl.col("draws") == DRAWS)).row(0, named=True)
    unlinked = example(world.assume(regional_link=0.0), "pisa")
    figures = {
        "growth": report.to_dicts(),
        "paper_example": examples,
        "paper_example_without_links": {name: unlinked[name] for name in ("rate", "low", "high")},
        "rates": rates_table(world).to_dicts(),
        "below_basic": below_basic(world),
        "adult_literacy": adult_literacy(world),
    }
    print(json.dumps({**full, "bar_seconds": 5, **figures}))
    rate, low, high = (examples["pisa"][name] for name in ("rate", "low", "high"))
    record("world.pisa", f"{rate:.1%}")
    record("world.pisa_interval", percent_range([low, high], digits=1))


if __name__ == "__main__":
    run(main)
