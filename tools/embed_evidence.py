"""Rebuild the embedded evidence from the development data: ``python -m tools.embed_evidence``.

Takes model facts obtained by look-up or from a method page, corrects those that their own sources contradict
(``tools/corrections.csv``), and derives the ADeLe tables in our own schema. Facts about benchmarks that no source table
carries (chance level, ceiling, number of items and repeats) are kept from the table that is there.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks import development_data
from mensura.core.files import write_csv
from mensura.evidence import EMBEDDED, TABLES
from mensura.evidence.store import as_text, read_text_csv
from tools.facts import import_facts

CORRECTIONS = Path(__file__).parent / "corrections.csv"
OLD_VERSIONS = {
    "frontiermath_v1_t4": ("frontiermath_t4", "FrontierMath Tier 4, first version", "48"),
    "frontiermath_v1_t1_3": ("frontiermath_t1_3", "FrontierMath Tiers 1-3, first version", "290"),
}
"""Benchmarks whose faulty problems were taken out later: the scores of the first version are a test of their own.
Which score is of which version follows from the printed values: they are shares of 290 and 48, or of 285 and 41."""
PAPER = "Romero et al., From Human-Level AI Tales to AI Leveling Human Scales"
TESTED = 168_415
"""Most people who took the same items of the paper: UK Biobank's fluid intelligence test, its appendix E.4."""
BASES = {
    "Volume": ("volume", "VO", "Volume"),
    "Attention & Scan": ("attention", "AS", "Attention and Scan"),
    "Metacognition": ("metacognition", "MC", "Metacognition and Critical Thinking"),
    "Knowledge": ("knowledge", "KN", "Knowledge"),
    "Conceptualisation": ("conceptualisation", "CL", "Conceptualisation, Learning and Abstraction"),
    "Atypicality": ("atypicality", "AT", "Atypicality"),
    "Quant. Reasoning": ("quantitative-reasoning", "QL", "Quantitative and Logical Reasoning"),
    "Comprehension": ("comprehension", "CE", "Comprehension and Expression"),
    "Spatial Reasoning": ("spatial-reasoning", "SN", "Spatial Reasoning and Navigation"),
}


def demand_outcomes(adele: Path) -> pl.DataFrame:
    counts = pl.read_csv(adele / "scc_counts.csv")
    return counts.select("subject", "dimension", "level", "n", pl.col("n_correct").alias("correct"))


def bases(adele: Path) -> pl.DataFrame:
    wide = _paper_table(adele, [16]).pivot("column", index="row", values="value", aggregate_function="first")
    rows = [
        (
            *BASES[row["row"]],
            row["slope_m"],
            row["intercept_b0"],
            row["base_B"],
            row["R2"],
            f"{PAPER}, Table 16",
            TESTED,
        )
        for row in wide.iter_rows(named=True)
    ]
    columns = ["dimension", "code", "name", "slope", "intercept", "base", "r_squared", "source", "tested"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def validations(adele: Path) -> pl.DataFrame:
    long = _paper_table(adele, [2, 3, 7, 9, 10, 11, 12, 13, 14, 15]).with_columns(
        pool=pl.col("title").str.extract(r"^(\S+|UK Biobank) (?:validation|calibration|ground)"),
        task=pl.col("title").str.extract("(validation|calibration)").fill_null("baseline"),
        method=pl.when(pl.col("title").str.contains("baseline")).then(pl.lit("identity")).otherwise("row"),
        figure=pl.col("column").str.to_lowercase().str.replace("r_", "").str.replace("_mean", ""),
        source=pl.concat_str(pl.lit(f"{PAPER}, Table "), "table"),
    )
    keys = ["pool", "task", "method", "source"]
    wide = long.pivot("figure", index=keys, values="value", aggregate_function="first")
    return wide.select("pool", "task", "method", "n", "mae", "rmse", "pearson", "spearman", "source")


def _paper_table(adele: Path, tables: list[int]) -> pl.DataFrame:
    return read_text_csv(adele / "paper_tables.csv").filter(pl.col("table").cast(pl.Int64).is_in(tables))


def corrected(name: str, table: pl.DataFrame, corrections: pl.DataFrame) -> pl.DataFrame:
    """Return a table of text with its corrections; one without a column takes the row out.

    Raises where the row is not there, or holds neither what was wrong nor what is right: the source has moved on.
    """
    keys = TABLES[name].key
    for row in corrections.filter(table=name).iter_rows(named=True):
        here = pl.lit(True)
        for column, value in zip(keys, row["key"].split(" | "), strict=True):
            here &= pl.col(column) == value
        found = table.filter(here)
        if row["column"] is None:
            table = table.filter(~here)
            continue
        if found.height != 1 or found[row["column"]][0] not in (row["was"], row["now"]):
            raise SystemExit(f"corrections.csv: {name} {row['key']}: {row['column']} is no longer {row['was']}")
        table = table.with_columns(pl.when(here).then(pl.lit(row["now"])).otherwise(row["column"]).alias(row["column"]))
    return table


def with_old_versions(benchmarks: pl.DataFrame) -> pl.DataFrame:
    """Add the first versions of tests that were revised: same test, no ladder."""
    fresh = []
    for old, (current, name, items) in OLD_VERSIONS.items():
        values = {"benchmark": old, "name": name, "dimension": None, "kind": "tracked", "in_composite": "no"}
        values |= {"missing_rule": None, "items": items, "description": "before problems with errors were taken out"}
        row = benchmarks.filter(pl.col("benchmark") == current)
        fresh.append(row.with_columns(**{column: pl.lit(value, pl.String) for column, value in values.items()}))
    return pl.concat([benchmarks.filter(~pl.col("benchmark").is_in(list(OLD_VERSIONS))), *fresh])


def main() -> None:
    adele, models = development_data("adele"), development_data("models")
    derived = {build.__name__: build(adele) for build in (demand_outcomes, bases, validations)}
    for name, table in derived.items():
        write_csv(as_text(table), EMBEDDED / f"{name}.csv")
    corrections = read_text_csv(CORRECTIONS)
    for name, table in import_facts(models, via=("lookup", "seed")).tables().items():
        if name not in derived:
            right = corrected(name, as_text(table), corrections)
            write_csv(with_old_versions(right) if name == "benchmarks" else right, EMBEDDED / f"{name}.csv")


if __name__ == "__main__":
    main()
