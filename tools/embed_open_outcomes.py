"""Rebuild the outcomes of AI systems and people on the open pool: ``python -m tools.embed_open_outcomes``.

Keeps one share per subject and item, under the running numbers of ``tools.embed_open_pool``: prompts and seeds of a
model are averaged (ENEM: asked in Portuguese; NAEP: share of option orders with the key on top).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks import development_data
from benchmarks.what_predicts_people import LEFT_OUT
from mensura.calibration.open_pool import FOLDER
from mensura.core.files import write_csv

PEOPLE = {
    "conceptarc": "US web workers (ConceptARC)",
    "directions": "students in Germany (directions)",
    "enem": "candidates of Brazil's national exam",
    "gapminder": "adults of 14 rich countries",
    "relations": "students in Germany (relations)",
    "remote-associates": "US students (remote associates)",
    "spisa": "students in Germany (knowledge)",
    "syllogisms": "US web workers (syllogisms)",
    "tsa": "students in China (critical thinking)",
}
"""Names of the people of each pool; NAEP's follow from the grade."""
ALIKE = {"gpt-4-0314": "gpt-4", "gpt-3.5-turbo-0301": "gpt-3.5-turbo", "gpt-3.5-turbo-0613": "gpt-3.5-turbo"}


def systems(data: Path) -> pl.DataFrame:
    """Return subject, source, correct: outcomes by the ids of the development data (NAEP: without the grade)."""
    pools = data / "pools"
    enem = pl.read_csv(pools / "enem" / "llm_outcomes.csv.gz").filter(language="pt-br")
    naep = pl.read_csv(pools / "naep" / "llm_outcomes.csv.gz")
    tsa = pl.read_csv(pools / "critical_thinking_tsa" / "items.csv")
    arc = pl.read_csv(pools / "conceptarc" / "items.csv")
    parts = [
        enem.select(
            subject=pl.col("model").replace(ALIKE),
            source=pl.lit("enem:") + pl.col("co_item").cast(pl.String),
            correct="rate",
        ),
        naep.select(subject="model", source=pl.lit("naep:") + pl.col("item"), correct="argmax_correct"),
    ]
    for column, name in (("rate_gpt35_150runs", "gpt-3.5-turbo"), ("rate_gpt4_150runs", "gpt-4")):
        parts.append(tsa.select(subject=pl.lit(name), source=pl.lit("tsa:") + pl.col("item"), correct=column))
    where = pl.lit("conceptarc:") + pl.col("task") + ":" + pl.col("test_index").cast(pl.Int64).cast(pl.String)
    parts.append(arc.select(subject=pl.lit("gpt-4"), source=where, correct="gpt4_t0"))
    whole = pl.concat([part.with_columns(pl.col("correct").cast(pl.Float64)) for part in parts]).drop_nulls()
    return whole.group_by("subject", "source", maintain_order=True).agg(pl.col("correct").mean())


def main() -> None:
    data = development_data("items")
    items = pl.read_csv(data / "items.csv").filter(~pl.col("pool").is_in(list(LEFT_OUT))).sort("pool", "item")
    number = pl.int_range(1, pl.len() + 1).over("pool").cast(pl.String).str.zfill(3)
    items = items.with_columns(id=pl.col("pool") + ":" + number, source=pl.col("item").str.replace(r"-g\d+$", ""))
    grade = pl.lit("US pupils in grade ") + pl.col("people").str.extract(r"grade (\d+)")
    people = items.select(
        subject=pl.when(pl.col("pool") == "naep")
        .then(grade)
        .otherwise(pl.col("pool").replace_strict(PEOPLE, default=None)),
        kind=pl.lit("people"),
        item="id",
        correct="rate",
    )
    answered = items.join(systems(data), on="source").select("subject", kind=pl.lit("AI"), item="id", correct="correct")
    table = pl.concat([answered, people]).sort("kind", "subject", "item")
    write_csv(table.with_columns(pl.col("correct").round(4)), FOLDER / "open_outcomes.csv")
    print(table.group_by("kind", "subject").agg(pl.len(), pl.col("correct").mean()).sort("kind", "subject"))


if __name__ == "__main__":
    main()
