"""Rebuild the open pool and its calibration: ``python -m tools.embed_open_pool``.

Takes the annotated items of the development data and keeps facts only: a running number within the pool, rates,
numbers of options, levels, and estimates for the world; no texts, and no ids from which an item could be read. Pools
whose terms are non-commercial are left out.
"""

from __future__ import annotations

import polars as pl

from benchmarks import development_data
from benchmarks.what_predicts_people import LEFT_OUT
from mensura.calibration import calibrate, write_calibration
from mensura.calibration.open_pool import ESTIMATES, FOLDER, READERS, open_demands, open_rates
from mensura.core.files import write_csv
from mensura.evidence import load
from mensura.extrapolation import make_task
from mensura.extrapolation.poststratification import PostStratification
from mensura.people import Population, World

OPTIONS = {"enem": 5, "naep": 4, "gapminder": 3, "syllogisms": 9, "relations": 2, "directions": 8, "tsa": 5}
STUDENTS = {"ages": (19, 28), "attainment": ("post_secondary",)}
RICH = ("USA", "GBR", "DEU", "FRA", "ESP", "SWE", "NOR", "FIN", "BEL", "HUN", "AUS", "CAN", "JPN", "KOR")
PEOPLE: dict[str, tuple[str, dict[str, object]]] = {
    "enem": ("knowledge", {"countries": ("BRA",), "ages": (17, 24), "attainment": ("upper_secondary",)}),
    "conceptarc": ("reasoning", {"countries": ("USA",), "ages": (18, 60)}),
    "syllogisms": ("reasoning", {"countries": ("USA",), "ages": (18, 60)}),
    "remote-associates": ("reasoning", {"countries": ("USA",), **STUDENTS}),
    "tsa": ("reasoning", {"countries": ("CHN",), **STUDENTS, "ages": (19, 22)}),
    "spisa": ("knowledge", {"countries": ("DEU",), **STUDENTS}),
    "relations": ("reasoning", {"countries": ("DEU",), **STUDENTS}),
    "directions": ("reasoning", {"countries": ("DEU",), **STUDENTS}),
    "gapminder": ("knowledge", {"countries": RICH, "ages": (18, 74)}),
}
"""Domain and structure of the people of each pool; NAEP's follow from the grade."""
GRADES = {4: (9, 10), 8: (13, 14), 12: (17, 18)}


def carried(rows: pl.DataFrame, pool: str, world: World) -> pl.DataFrame:
    """Return item, rate, low, high by post-stratification to the world, pool by pool (NAEP: grade by grade)."""
    parts = []
    for people in rows["people"].unique(maintain_order=True):
        part = rows.filter(pl.col("people") == people)
        if pool == "naep":
            grade = int(people.split("grade ")[1].split()[0])
            domain, structure = "history", {"countries": ("USA",), "ages": GRADES[grade], "in_school": True}
        else:
            domain, structure = PEOPLE[pool]
        known = part.select("item", n_options=pl.lit(OPTIONS.get(pool), dtype=pl.Int64), domain=pl.lit(domain))
        told = part.select("item", "rate", n=pl.col("n").fill_null(2000.0))
        task = make_task(known, told, Population(pool, people, **structure), world.population("world"), pool=pool)
        found = PostStratification(world=world).predict(task)
        columns = {"item": part["item"], "rate": found.rate[0], "low": found.low[0], "high": found.high[0]}
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


def compare_bases(draws: int = 1000) -> pl.DataFrame:
    """Compare the published bases with those of the open items, by how their world rates were found."""
    made = {
        estimate: calibrate(open_rates(estimate), open_demands(), groups=True, readers=READERS, draws=draws)
        for estimate in ESTIMATES
    }
    lines = [(line.code, line.dimension, line.base) for line in load().calibration]
    table = pl.DataFrame(lines, schema=["dimension", "name", "published"], orient="row")
    own = made["both"].together.select("dimension", "base", "low", "high", "verdict")
    for part in (own, *(made[name].together.select("dimension", pl.col("base").alias(name)) for name in ESTIMATES[1:])):
        table = table.join(part, on="dimension", maintain_order="left")
    return table


def main() -> None:
    data = development_data("items")
    items = pl.read_csv(data / "items.csv").filter(~pl.col("pool").is_in(list(LEFT_OUT))).sort("pool", "item")
    number = pl.int_range(1, pl.len() + 1).over("pool").cast(pl.String).str.zfill(3)
    items = items.with_columns(id=pl.col("pool") + ":" + number)
    world = World.load()
    carriers = pl.concat(
        [carried(rows, str(pool), world) for (pool,), rows in items.group_by("pool", maintain_order=True)]
    )
    told = pl.read_csv(data / "world_estimates.csv").select("item", "rate", "low", "high")
    table = (
        items.join(told, on="item", suffix="_asked")
        .join(carriers, on="item", suffix="_carried", maintain_order="left")
        .with_columns(options=pl.col("pool").replace_strict(OPTIONS, default=None, return_dtype=pl.Int64))
        .rename({"low": "low_asked", "high": "high_asked"})
        .select(
            "id",
            "pool",
            "options",
            "n",
            "rate",
            *(f"{name}_{how}" for how in ("asked", "carried") for name in ("rate", "low", "high")),
        )
        .rename({"id": "item"})
        .sort("item")
    )
    levels = pl.read_csv(data / "annotations.csv").drop("why").join(items.select("item", "id"), on="item")
    levels = levels.with_columns(item="id", annotator=pl.col("annotator").str.replace("claude-", "")).drop("id")
    FOLDER.mkdir(exist_ok=True)
    write_csv(table.with_columns(pl.col(pl.Float64).round(4)), FOLDER / "open_items.csv")
    write_csv(levels.sort("annotator", "item"), FOLDER / "open_levels.csv")
    made = calibrate(open_rates(), open_demands(), readers=READERS)
    write_calibration(made, FOLDER / "open_calibration.json")
    write_csv(compare_bases().with_columns(pl.col(pl.Float64).round(4)), FOLDER / "open_bases.csv")
    print(made)


if __name__ == "__main__":
    main()
