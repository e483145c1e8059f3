"""Write src/mensura/baseline/data/registry.csv and absent.csv: published human baselines whose score was seen.

Run: python -m tools.embed_human_baselines (needs the development data). Scores that rest on knowledge alone and rows
of low confidence stay out. Conditions become a few words of our own; remarks and addresses stay out.
"""

from __future__ import annotations

import re

import polars as pl

from benchmarks import development_data
from mensura.baseline.registry import FOLDER
from mensura.core.files import write_csv

_CATALOGUE = 4  # benchmarks that one repository lists, from which it is a catalogue and no author's own
_LABEL = r"(, (?:worst of three|medium of three|best of three|low|medium|high))"
"""Which of several people or teams a score belongs to: without it, three scores of one group cannot be told apart."""
# GPQA's experts: 81.3 in the paper's table of the Diamond set; 81.2 rounds another sum.
_THRESHOLD = r"(?i)pass mark|threshold|cut-?off"
_ASKED = ("AIW", "LiveIdeaBench", "MultiChallenge", "PRMBench")
"""Benchmarks that users asked for and for which no study of people is known."""
_CONDITIONS = {
    r"internet|search|google|web access": "with internet",
    r"no (?:internet|search|web)|without (?:internet|search)": "without internet",
    r"no time limit|unlimited": "no time limit",
    r"\d+ ?(?:min|minutes|h\b|hours|s\b|seconds)|time limit": "limited time",
    r"majority|vote": "majority of several people",
    r"paid|bonus|reward|incentive": "paid by result",
    r"screen|filter|dropped|control": "people screened",
    r"real exam|official": "real exam",
    r"train": "after training",
}
_ABSENT = {
    "none": "no study measured people; figures in circulation have no source",
    "validation only": "people only checked the items; nobody took the test",
    "proxy": "a figure of another test stands in for it",
    "a model's score": "the figure quoted is a model's score",
    "pass mark": "the figure quoted is a pass mark",
    "estimate": "the figure quoted is an estimate",
    "annotator agreement": "the figure quoted is the agreement of annotators",
    "percentile": "the figure quoted is a percentile of test takers",
    "copied": "the figure quoted is copied from another test",
    "not in the source": "the source that is quoted does not contain the figure",
}


def main() -> None:
    """Write both tables and print their sizes."""
    folder = development_data("human_baselines")
    raw = pl.read_csv(folder / "human_baselines.csv", infer_schema_length=None)
    seen = raw.filter(~pl.col("verified").str.starts_with("knowledge") & (pl.col("confidence") != "low"))
    place = pl.col("verified").str.extract(r"^repository:([^:]+)")
    counts = seen.group_by(place.alias("repository")).agg(pl.col("benchmark").n_unique().alias("listed"))
    seen = seen.with_columns(repository=place).join(counts, on="repository", how="left", maintain_order="left")
    table = seen.select(
        "benchmark",
        pl.col("part").fill_null("all"),
        pl.concat_str(
            pl.col("group").str.extract(r"^([^,;(]+)").str.strip_chars(),
            pl.col("group").str.extract(_LABEL).fill_null(""),
        ).alias("group"),
        pl.col("n").str.extract(r"(\d+)").cast(pl.Int64, strict=False),
        pl.col("conditions").map_elements(_conditions, return_dtype=pl.String),
        pl.when((pl.col("benchmark") == "GPQA") & (pl.col("score") == 81.2))
        .then(81.3)
        .otherwise("score")
        .alias("score"),
        "low",
        "high",
        "unit",
        "metric",
        pl.when(pl.col("group").str.contains(_THRESHOLD))
        .then(pl.lit("threshold"))
        .when(pl.col("remark").fill_null("").str.contains("nobody sat it"))
        .then(pl.lit("judged"))
        .otherwise(pl.lit("measured"))
        .alias("status"),
        "year",
        "source",
        pl.when(pl.col("repository").is_null() | pl.col("repository").str.starts_with("index file"))
        .then(pl.lit("paper"))
        .when(pl.col("listed") >= _CATALOGUE)
        .then(pl.lit("catalogue"))
        .otherwise(pl.lit("author"))
        .alias("seen"),
    ).unique(maintain_order=True)
    write_csv(table, FOLDER / "registry.csv")
    absent = pl.read_csv(folder / "human_baselines_absent.csv").filter(pl.col("confidence") != "low")
    reason = pl.col("kind").replace_strict(_ABSENT, default="the figure quoted is no human score")
    rows = absent.select("benchmark", reason.alias("why")).unique(maintain_order=True)
    asked = [name for name in _ASKED if name not in {*rows["benchmark"], *table["benchmark"]}]
    why = ["no study measured people; no figure is known"] * len(asked)
    write_csv(pl.concat([rows, pl.DataFrame({"benchmark": asked, "why": why})]), FOLDER / "absent.csv")
    counts = ", ".join(f"{kind} {rows.height}" for (kind,), rows in table.group_by("seen"))
    print(f"registry.csv: {table.height} rows, {table['benchmark'].n_unique()} benchmarks; score seen in {counts}")


def _conditions(text: str | None) -> str | None:
    found = [told for words, told in _CONDITIONS.items() if re.search(words, text or "", re.IGNORECASE)]
    if "without internet" in found and "with internet" in found:
        found.remove("with internet")
    if "no time limit" in found and "limited time" in found:
        found.remove("limited time")
    return "; ".join(found) or None


if __name__ == "__main__":
    main()
