"""What each evidence table holds: columns, types, units, ranges, keys and references.

This file is the one place where a table's shape is said; reading, checking, writing and the documentation all
follow it.
"""

from __future__ import annotations

from mensura.evidence.checks import Column, Table

UNIT_RANGES: dict[str, tuple[float, float]] = {
    "percent": (0.0, 100.0),
    "fraction": (0.0, 1.0),
    "elo": (0.0, 5000.0),
    "index": (-100.0, 100.0),
    "composite": (0.0, 100.0),
}
"""The units a score may have, with the values each can take."""

LADDER_LEVELS = (70, 85, 100, 115, 130, 145, 160)
"""The IQs at which a ladder says what score to expect."""

CHART_SETTINGS = (
    "current_generations_flagship",
    "current_generations_smaller",
    "minimum_tier",
    "top_labs",
    "per_chart",
)
"""The rules of ``chart_rules``; each has one row. All but ``top_labs`` are whole numbers."""

_SUBJECT = Column("subject", "the model", required=True, references="models.subject")
_BENCHMARK = Column("benchmark", "the benchmark", required=True, references="benchmarks.benchmark")
_UNITS = tuple(UNIT_RANGES)
_LADDER = tuple(
    Column(f"iq{iq}", f"expected score at IQ {iq}, in the benchmark's unit", "number", required=True)
    for iq in LADDER_LEVELS
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "models",
            "AI models, each in one configuration",
            ("subject",),
            (
                Column("subject", "short id, the key everywhere", "id", required=True),
                Column("name", "name for people", required=True),
                Column("provider", "who offers it", "id", required=True),
                Column("released", "day of first public release", "date", required=True),
                Column("reasoning", "thinks before it answers", "flag", required=True),
                Column("open_weights", "weights can be downloaded", "flag"),
                Column("line", "product line", "id"),
                Column("tier", "0 flagship, below 0 smaller, 1 above the flagship", "integer", low=-20, high=5),
                Column("predecessor", "model it follows in its line", references="models.subject"),
                Column("predecessor2", "second choice of predecessor", references="models.subject"),
                Column("input_price", "list price, US dollars per million input tokens", "number", low=0),
                Column("output_price", "list price, US dollars per million output tokens", "number", low=0),
                Column("context_tokens", "context window, tokens", "integer", low=1),
                Column("source", "where the facts were read"),
            ),
        ),
        Table(
            "benchmarks",
            "tests that models take",
            ("benchmark",),
            (
                Column("benchmark", "short id, the key everywhere", "id", required=True),
                Column("name", "name for people", required=True),
                Column("dimension", "IQ dimension it belongs to, empty if none", "id"),
                Column(
                    "kind",
                    "frontier (hard), saturating, diagnostic (outside the composite) or tracked (no ladder)",
                    required=True,
                    one_of=("frontier", "saturating", "diagnostic", "tracked"),
                ),
                Column("unit", "unit of its scores and ladder", required=True, one_of=_UNITS),
                Column("in_composite", "counts in the composite IQ", "flag", required=True),
                Column(
                    "missing_rule",
                    "what the IQ method does first when a score is missing",
                    one_of=("zero", "zero-before-2025-04", "peers", "peers-then-zero", "never"),
                ),
                Column("chance", "score of guessing, in the unit", "number"),
                Column("ceiling", "best score that can be reached, in the unit", "number"),
                Column("items", "number of items behind a score", "integer", low=1),
                Column("repeats", "times every item is tried for one score, once if empty", "integer", low=1),
                Column("description", "what it asks for"),
            ),
        ),
        Table(
            "scores",
            "results of one model on one benchmark from one source",
            ("subject", "benchmark", "source"),
            (
                _SUBJECT,
                _BENCHMARK,
                Column("score", "result, in the benchmark's unit once loaded", "number", required=True),
                Column("unit", "unit the score is printed in", required=True, one_of=_UNITS),
                Column("n", "answers behind the score, where not all items were tried once", "integer", low=1),
                Column("stderr", "standard error of the score, in the unit it is printed in", "number", low=0),
                Column(
                    "measured_by",
                    "who measured it, empty if nobody says",
                    one_of=("vendor", "independent", "arena", "ours"),
                ),
                Column("primary", "the one row instruments use; the others show how far sources disagree", "flag"),
                Column("source", "key into sources", required=True, references="sources.source"),
                Column("date", "day or month of the source", "when"),
                Column("variant", "what the source scored: version, mode or effort, in its words"),
                Column("note", "upstream or protocol"),
            ),
        ),
        Table(
            "ladders",
            "expected score at seven IQ levels",
            ("set", "benchmark"),
            (Column("set", "name of the ladder set", "id", required=True), _BENCHMARK, *_LADDER),
        ),
        Table(
            "eq_ladders",
            "points of the emotional-reasoning curves",
            ("benchmark", "score"),
            (
                _BENCHMARK,
                Column("score", "score in the benchmark's unit", "number", required=True),
                Column(
                    "eq",
                    "emotional-reasoning quotient at that score",
                    "number",
                    required=True,
                    low=0,
                    high=250,
                ),
            ),
        ),
        Table(
            "human_references",
            "how groups of people score",
            ("benchmark", "group"),
            (
                _BENCHMARK,
                Column("group", "who took the test", "id", required=True),
                Column("score", "central value, in the unit", "number", required=True),
                Column("low", "low end where a range is known", "number"),
                Column("high", "high end where a range is known", "number"),
                Column("unit", "unit of the score", required=True, one_of=_UNITS),
                Column(
                    "status",
                    "measured (a study), estimated (a judgement) or constructed (follows from the scoring rule)",
                    required=True,
                    one_of=("measured", "estimated", "constructed"),
                ),
                Column("n", "people, plays or tasks behind it", "integer", low=1),
                Column("remark", "what the figure says exactly"),
                Column("source", "where it was read", required=True),
            ),
        ),
        Table(
            "costs",
            "what running a model took",
            ("subject", "metric", "source"),
            (
                _SUBJECT,
                Column(
                    "metric",
                    "what was measured",
                    required=True,
                    one_of=(
                        "aa_index_run_cost",
                        "aa_index_input_tokens",
                        "aa_index_output_tokens",
                        "arc_agi_1_cost_per_task",
                        "arc_agi_2_cost_per_task",
                        "response_time_median",
                        "output_speed_median",
                    ),
                ),
                Column("value", "the figure", "number", required=True, low=0),
                Column(
                    "unit",
                    "its unit",
                    required=True,
                    one_of=("usd", "tokens", "seconds", "tokens_per_second"),
                ),
                Column("source", "key into sources", required=True, references="sources.source"),
                Column("date", "day or month of the source", "when"),
                Column("note", "what it covers"),
            ),
        ),
        Table(
            "sources",
            "where figures come from",
            ("source",),
            (
                Column("source", "short key", "id", required=True),
                Column("name", "name for people", required=True),
                Column("url", "address, for readers"),
                Column("date", "day or month it speaks of", "when"),
                Column("kind", "aggregator, independent evaluator, vendor report or user"),
                Column("evaluator", "who measured; sources of one evaluator may print one measurement twice"),
                Column("licence", "licence note"),
            ),
        ),
        Table(
            "demand_outcomes",
            "how often a model succeeds on items whose highest demand is at a level of a dimension",
            ("subject", "dimension", "level"),
            (
                Column("subject", "the language model, by the id of its source", "id", required=True),
                Column("dimension", "ADeLe dimension code", "id", required=True),
                Column("level", "demand level", "integer", required=True, low=0, high=20),
                Column("n", "items", "integer", required=True, low=1),
                Column("correct", "items answered correctly", "integer", required=True, low=0),
            ),
        ),
        Table(
            "bases",
            "calibrated line of each dimension: empirical base-10 level = slope · annotated level + intercept",
            ("dimension",),
            (
                Column("dimension", "short id", "id", required=True),
                Column("code", "broad ADeLe code"),
                Column("name", "name for people"),
                Column("slope", "empirical levels per annotated level", "number", required=True),
                Column("intercept", "empirical level at annotated level 0", "number", required=True),
                Column("base", "factor by which world success falls per level, as printed", "number", low=0),
                Column("r_squared", "fit of the line to the level means", "number", low=0, high=1),
                Column("source", "where it was read"),
                Column("tested", "most people who took the same items; rarities are cut there", "number", low=1),
            ),
        ),
        Table(
            "validations",
            "published errors of extrapolation by language models",
            ("pool", "task", "method"),
            (
                Column("pool", "item pool", "id", required=True),
                Column(
                    "task",
                    "what was predicted",
                    required=True,
                    one_of=("validation", "calibration", "baseline"),
                ),
                Column("method", "language model, or the plain baseline", "id", required=True),
                Column("n", "predictions (baseline: mean items per group)", "number", low=0),
                Column("mae", "mean absolute error of the rate", "number", low=0, high=1),
                Column("rmse", "root mean squared error of the rate", "number", low=0, high=1),
                Column("pearson", "Pearson correlation", "number", low=-1, high=1),
                Column("spearman", "rank correlation", "number", low=-1, high=1),
                Column("source", "where it was read"),
            ),
        ),
        Table(
            "policy",
            "what differs for single models in which charts show them; tier and line stand in models",
            ("subject",),
            (
                _SUBJECT,
                Column(
                    "publication",
                    "public (where empty), archive or hidden: only public models are drawn by default",
                    one_of=("public", "archive", "hidden"),
                ),
                Column(
                    "type",
                    "general (where empty) or specialised: only general models are drawn by default",
                    one_of=("general", "specialised"),
                ),
                Column(
                    "generation",
                    "generations behind the current one of its line; counted from releases where empty",
                    "integer",
                    low=0,
                    high=50,
                ),
                Column("display", "show or hide whatever the rules say", one_of=("show", "hide")),
                Column("reason", "why"),
            ),
        ),
        Table(
            "chart_rules",
            "which models charts show by default",
            ("setting",),
            (
                Column("setting", "name of the rule", required=True, one_of=CHART_SETTINGS),
                Column("value", "a whole number, or names parted by semicolons for top_labs", required=True),
                Column("surface", "charts, timeline or labels"),
                Column("about", "what the rule decides"),
            ),
        ),
    )
}

OBSERVED = ("models", "benchmarks", "scores")
"""Tables a folder of one's own must hold. Absent others: costs and human references are empty, the rest published."""
