"""Evidence with names that pages must survive: markup, quotes, signs of addresses, length, another direction."""

from pathlib import Path

import polars as pl

import mensura

SCRIPT = "<script>window.hacked = 1</script>"
NAMES = {
    "step-3.7-flash": SCRIPT,
    "glm-5.1": "GLM #1, or / \\ two? & %41",
    "qwen3.7-plus": "W" * 200,
    "grok-4.3": "نموذج‎ שפה ‮reversed",
    "minimax-m3": "__proto__",
    "kimi-k2.6": "Kimi \"K2.6\" 'quoted' onload=window.hacked=1",
}
"""Models of the evidence, all of them ranked and drawn, and the names they get."""
ID = "A/b, (c) [d] @e=f:g"
"""What the id of one model becomes: every sign an id may have."""
WORD = "constructor"
"""What the id of another becomes: a word that every object of a script knows."""
RENAMED = {"grok-3": ID, "gpt-4o": WORD}
BENCHMARK = "toolathlon"
TEST = "<img src=x onerror=window.hacked=1> #, / Test"
GROUP = "people, (a/b) @x=1: [y]"
RENAMED_GROUP = "strong workflow operators"
PROVIDER = "Step, Fun (a/b) @1"


def hostile_evidence(folder: Path) -> None:
    """Save the embedded evidence with hostile names into a folder."""
    mensura.load().save(folder)
    models = _read(folder, "models")
    models = models.with_columns(
        name=pl.col("subject").replace_strict(NAMES, default=pl.col("name")),
        provider=pl.when(pl.col("provider") == "StepFun").then(pl.lit(PROVIDER)).otherwise("provider"),
    )
    for column in ("subject", "predecessor", "predecessor2"):
        models = models.with_columns(pl.col(column).replace(RENAMED))
    models.write_csv(folder / "models.csv")
    for table in ("scores", "costs"):
        _read(folder, table).with_columns(pl.col("subject").replace(RENAMED)).write_csv(folder / f"{table}.csv")
    tests = _read(folder, "benchmarks")
    tests.with_columns(name=pl.when(pl.col("benchmark") == BENCHMARK).then(pl.lit(TEST)).otherwise("name")).write_csv(
        folder / "benchmarks.csv"
    )
    people = _read(folder, "human_references")
    people.with_columns(pl.col("group").replace({RENAMED_GROUP: GROUP})).write_csv(folder / "human_references.csv")


def _read(folder: Path, table: str) -> pl.DataFrame:
    return pl.read_csv(folder / f"{table}.csv", infer_schema=False)
