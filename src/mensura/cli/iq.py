"""``mensura iq``: the IQ of every model, or one model explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mensura.cli.frozen_iq import Scale, place
from mensura.cli.inputs import AddedScores, EvidencePath, Released, added_subjects, load_evidence
from mensura.cli.iq_checks import print_changes, print_derived_ladders, print_sensitivity, print_validation
from mensura.cli.iq_method import Method
from mensura.cli.output import Json, Out, console, emit, print_json, print_note
from mensura.cli.paths import check_input
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust
from mensura.core.cache import keep
from mensura.core.errors import MensuraError, listed_names

if TYPE_CHECKING:
    from mensura.evidence import Evidence
    from mensura.iq import Explanation, IqResult

EXAMPLES = """
[bold]Examples[/]

  mensura iq
  mensura iq claude-opus-4.8 --explain
  mensura iq --method published --out iq/
  mensura iq --against-method published
  mensura iq --add mine.csv --against embedded
"""
Source = Annotated[str | None, typer.Option(help="Use only the scores of this source.", metavar="KEY")]
Ladders = Annotated[
    str | None,
    typer.Option(help="Ladder set (recut, published) or a CSV file, instead of the method's.", metavar="SET|FILE"),
]


def iq(
    model: Annotated[str | None, typer.Argument(help="One model; all of them when not given.")] = None,
    explain: Annotated[bool, typer.Option(help="Print the whole derivation of the model's IQ.")] = False,
    sensitivity: Annotated[bool, typer.Option(help="Leave out each input in turn; move each ladder.")] = False,
    validate: Annotated[
        bool, typer.Option(help="Hide measured scores, impute them, and show the error by step.")
    ] = False,
    against: Annotated[
        str | None, typer.Option(help="Evidence to compare with (embedded, or a path): what changed?", metavar="PATH")
    ] = None,
    against_ladders: Annotated[str | None, typer.Option(help="Ladders to compare with.", metavar="SET|FILE")] = None,
    against_method: Annotated[str | None, typer.Option(help="Method to compare with.", metavar="NAME")] = None,
    curves: Annotated[
        Path | None,
        typer.Option(
            help="Derive ladders from people: benchmarks.csv of mensura stitch --out.",
            metavar="CSV",
            callback=check_input,
        ),
    ] = None,
    source: Source = None,
    method: Method = None,
    ladders: Ladders = None,
    rules: Annotated[
        Path | None, typer.Option(help="TOML file with rules of your own.", metavar="FILE", callback=check_input)
    ] = None,
    weight: Annotated[
        list[str] | None, typer.Option(help="Weight of a dimension in your task profile; repeatable.", metavar="NAME=W")
    ] = None,
    least_measured: Annotated[
        float | None,
        typer.Option(help="Rank only models measured on at least this share of the benchmarks.", metavar="SHARE"),
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws behind the intervals; 0 = no intervals.", min=0)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    scale: Scale = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    selected: Annotated[
        bool | None,
        typer.Option(
            "--selected/--no-selected",
            help="Correct chosen scores: those of --add too, or none (default: of models that makers report on).",
        ),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score models: benchmarks, seven dimensions and composite IQ, with intervals, ranks and reasons."""
    from mensura.evidence import require_subject
    from mensura.iq import reported_by_makers, score_iq

    if explain and model is None:
        raise MensuraError("--explain: name the model, as in mensura iq claude-opus-4.8 --explain")
    loaded = load_evidence(evidence, add, released)
    chosen = None if selected is None else sorted({*added_subjects(), *reported_by_makers(loaded)}) if selected else []
    if model is not None:
        model = require_subject(loaded, model)
    if scale is not None:
        others = {
            "--explain": explain,
            "--sensitivity": sensitivity,
            "--validate": validate,
            "--against": against or against_ladders or against_method,
            "--curves": curves,
            "--source": source,
            "--method": method,
            "--ladders": ladders,
            "--rules": rules,
            "--weight": weight,
            "--least-measured": least_measured is not None,
            "--selected": selected is not None,
        }
        _on_frozen(loaded, model, scale, [name for name, given in others.items() if given], draws, seed, out, as_json)
        return
    if curves is not None:
        print_derived_ladders(loaded, curves, out, as_json)
        return
    weights = _weights(weight or [])
    compared = against is not None or against_ladders is not None or against_method is not None
    plain = sensitivity or validate or compared
    settings: dict[str, Any] = {
        "method": method,
        "ladders": ladders,
        "source": source,
        "rules": rules,
        "weights": weights,
        "selected": chosen,
        "draws": 0 if plain else draws,
        "seed": seed,
    }

    def compute() -> IqResult:
        found = score_iq(loaded, **settings)
        found.tables()  # kept with it
        return found

    result = keep("iq", loaded, settings, compute)
    if validate:
        print_validation(result, out, as_json)
    elif sensitivity:
        print_sensitivity(result, out, as_json)
    elif compared:
        before = score_iq(
            loaded if against is None else load_evidence(None if against == "embedded" else Path(against), None),
            method=against_method or method,
            ladders=against_ladders or ladders,
            source=source,
            rules=rules,
            weights=weights,
        )
        print_changes(before, result, model, out, as_json)
    elif model is None:
        _all(result, least_measured, out, as_json)
    else:
        _one(result, model, explain, out, as_json)


def _on_frozen(
    evidence: Evidence,
    model: str | None,
    scale: str,
    others: list[str],
    draws: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Print the IQs on a frozen scale; it stands for one way of scoring, so that nothing else can be chosen."""
    import polars as pl

    if others:
        raise MensuraError(f"--scale: a frozen scale has its own method; leave out {', '.join(others)}")
    if draws < 1:
        raise MensuraError("--draws 0: a frozen scale has intervals; leave it out, or give 1 or more")
    placed = place(evidence, scale, draws=draws, seed=seed, only=None if model is None else [model])
    tables = placed.tables()
    if model is not None:
        tables = {name: table.filter(pl.col("subject") == model) for name, table in tables.items()}
        tables["neighbours"] = placed.neighbours_of(model)
    if emit(tables, out=out, as_json=as_json, scale=scale, heading=placed.heading):
        return
    console.print(placed.heading)
    for name, table in tables.items():
        if model is not None or name == "composites":
            print_table(table.drop("scored_dimensions", "missing", strict=False), title=name.capitalize(), digits=1)


def _weights(given: list[str]) -> dict[str, float]:
    weights = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            raise MensuraError(f"--weight {text}: expected NAME=NUMBER, as in mathematical-reasoning=2") from None
    return weights


def _all(result: IqResult, least: float | None, out: Path | None, as_json: bool) -> None:
    import polars as pl

    from mensura.scale.ranking import say_leader

    ranking = result.rank(least)
    facts = {
        "method": result.method,
        "ladders": result.ladders,
        "source": result.source,
        "left_out": result.composites["iq"].count() - ranking.height,
        "warnings": list(result.warnings),
    }
    if emit(result.tables() | {"ranking": ranking}, out=out, as_json=as_json, **facts):
        return
    ends = [pl.col(name).round(0).cast(pl.Int64) for name in ("low", "high")]
    own = result.composites.filter(pl.col("subject").is_in(added_subjects()))
    columns = ("subject", "iq", pl.format("{}–{}", *ends).alias("90%"), "measured", "status")
    if own.height:
        placed = own.join(ranking.select("rank", "subject"), on="subject", how="left", maintain_order="left")
        print_table(placed.select("rank", *columns), title="Yours (mensura iq MODEL says why)")
    table = (
        ranking.drop("measured")
        .join(result.composites, on="subject", maintain_order="left")
        .select(
            *("rank", "subject", "iq"),
            pl.format("{}–{}", *ends).alias("90%"),
            "measured",
            pl.col("p_first").map_elements(_short_chance, return_dtype=pl.String).alias("first"),
            pl.format("{}–{}", "rank_low", "rank_high").alias("ranks"),
            "status",
            "published",
            "inherited",
            "estimated",
        )
    )
    spare = ("inherited", "estimated", "published", "status", "ranks")
    print_table(table, title=f"IQ, method {result.method}, ladders {result.ladders}", keys=2, spare=spare)
    console.print(
        "90%: the IQ if all benchmarks were run. first: chance of being first. ranks: at least 90% sure. "
        "published: IQ by the published method. "
        f"measured, inherited, estimated: how many of the {len(result.matrix.benchmarks)} benchmarks.",
        style="dim",
    )
    if result.not_ranked.height:
        table = result.not_ranked.select("subject", "iq", "measured", "missing")
        print_table(table, title="Too new to rank, and what a rank would need", keys=1)
    for text in result.about_selection:
        print_note(text)
    if ranking.height:
        best = ranking.row(0, named=True)
        console.print(say_leader(best["subject"], best["p_first"], ranking.height))
    if result.n_draws:
        print_trust("iq")


def _one(result: IqResult, model: str, explain: bool, out: Path | None, as_json: bool) -> None:
    import polars as pl

    from mensura.core.frames import sort_highest

    tree = result.explain(model)
    mine = pl.col("subject") == model
    tables = {name: table.filter(mine) for name, table in result.tables().items()}
    if result.n_draws and tables["composites"]["iq"][0] is not None:
        pairs = result.drawn.pairs(model)
        tables["not_told_apart"] = pairs.filter(~pl.col("told_apart")).drop("told_apart")
    if as_json:
        emit(tables, out=out, as_json=False)
        print_json({**{name: table.to_dicts() for name, table in tables.items()}, "explanation": tree.to_dict()})
        return
    emit(tables, out=out, as_json=False)
    for warning in result.warnings:
        if warning.startswith(f"{model}: "):
            print_note(warning)
    if explain:
        _print_tree(tree)
        return
    console.print(tree.heading)
    if tree.iq is None:
        console.print("mensura benchmarks lists the tests that count; mensura where shows the model's capability.")
        return
    spare = ("inherited", "estimated")
    print_table(tables["dimensions"].drop("subject"), title="Dimensions", digits=1, spare=spare)
    if tables["emotional"].height:
        print_table(tables["emotional"].drop("subject"), title="Emotional reasoning (never in the composite)", digits=1)
    if "not_told_apart" in tables:
        others = tables["not_told_apart"]["other"].to_list()
        told = sort_highest(tables["dimensions"].drop_nulls("iq"), "iq")["dimension"].to_list()
        console.print(f"Strongest in {told[0]}, weakest in {told[-1]}.")
        console.print(f"Cannot be told apart from: {listed_names(others) if others else 'none'}.")
    if result.n_draws and model in added_subjects():
        print_trust("iq")


def _print_tree(tree: Explanation) -> None:
    from rich.text import Text
    from rich.tree import Tree

    def grow(node: Explanation) -> Tree:
        label = Text()
        value = "–" if node.iq is None else f"{node.iq:.1f}".removesuffix(".0")
        span = "" if node.low is None or node.high is None else f" ({node.low:.0f}–{node.high:.0f})"
        label.append(f"{node.label} ", style="bold").append(value, style="bold cyan").append(span)
        label.append(f" {node.status} ", style="green" if node.status in ("source", "measured") else "yellow")
        label.append(node.note, style="dim")
        branch = Tree(label)
        for part in node.parts:
            branch.children.append(grow(part))
        return branch

    console.print(grow(tree), soft_wrap=False)


def _short_chance(chance: float) -> str:
    """Return a chance in one word, so that a model takes one line."""
    from mensura.scale.ranking import say_chance

    return say_chance(chance).replace("under ", "<").replace("over ", ">")
