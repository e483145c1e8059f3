"""Names and texts that pages must survive: markup, quotes, signs of addresses, length, another direction."""

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
RENAMED = {"grok-3": ID, "gpt-4.1": WORD}
BENCHMARK = "toolathlon"
TEST = "<img src=x onerror=window.hacked=1> #, / Test"
GROUP = "people, (a/b) @x=1: [y]"
RENAMED_GROUP = "strong workflow operators"
PROVIDER = "Step, Fun (a/b) @1"

PRODUCT = 7919 * 7907
"""What a template in a text would show if it were evaluated."""
TEXTS = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "<svg/onload=window.hacked=1><foreignObject><iframe src=javascript:top.hacked=1></iframe></foreignObject></svg>",
    "' autofocus onfocus='window.hacked=1' onmouseover='window.hacked=1",
    "{{ 7919 * 7907 }}{% for x in y %}${7919*7907}#{7919*7907}{{ ''.__class__.__mro__ }}",
    "[click](javascript:window.hacked=1) ![x](https://elsewhere.example/x.png) <https://elsewhere.example>",
    "</td></table><iframe srcdoc='<script>top.hacked=1</script>'>",
    "</title></textarea></noscript><script src=//elsewhere.example/x.js></script>",
    "<meta http-equiv=refresh content='0;url=https://elsewhere.example'><base href=https://elsewhere.example/>",
    "<!--<script>--><style>*{display:none}</style><link rel=stylesheet href=//elsewhere.example/x.css>",
    "\u202eevil\x00\x1b[31m",
    "W" * 2000,
]
"""What a captured page may hold; each would set ``window.hacked``, ask elsewhere, hide the page or burst it."""


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
    for table in ("scores", "costs", "aliases"):
        _read(folder, table).with_columns(pl.col("subject").replace(RENAMED)).write_csv(folder / f"{table}.csv")
    tests = _read(folder, "benchmarks")
    tests.with_columns(name=pl.when(pl.col("benchmark") == BENCHMARK).then(pl.lit(TEST)).otherwise("name")).write_csv(
        folder / "benchmarks.csv"
    )
    people = _read(folder, "human_references")
    people.with_columns(pl.col("group").replace({RENAMED_GROUP: GROUP})).write_csv(folder / "human_references.csv")


def _read(folder: Path, table: str) -> pl.DataFrame:
    return pl.read_csv(folder / f"{table}.csv", infer_schema=False)
