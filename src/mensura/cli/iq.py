"""``mensura iq``: the IQ of every model, one model explained, and checks of the scoring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from mensura.cli.findings import print_trust
from mensura.cli.inputs import added_subjects, load_evidence, place_frozen
from mensura.cli.options import (
    AcceptedNames,
    AddedScores,
    EvidencePath,
    Json,
    Method,
    Out,
    Scale,
    arg,
    check_input,
    infile,
    opt,
)
from mensura.cli.output import console, emit, given_options, print_notes, progress_bar
from mensura.cli.settings import Settings, read_pairs, read_settings, takes
from mensura.cli.tables import print_table, show
from mensura.core.cache import keep
from mensura.core.errors import MensuraError, check_choice, counted, listed_names
from mensura.core.frames import sort_highest
from mensura.evidence import Evidence, require_subject
from mensura.scale.ranking import say_chance, say_leader

if TYPE_CHECKING:
    from mensura.iq import Explanation, IqResult
    from mensura.study.lead import Lead


@dataclass(frozen=True, kw_only=True)
class IqSettings:
    """The rarer settings of ``mensura iq``."""

    source: Annotated[str | None, "Use only the scores of this source."] = None
    ladders: Annotated[str | None, "Ladder set (recut, published) or a CSV file, instead of the method's."] = None
    rules: Annotated[Path | None, "TOML file with rules of your own."] = None
    least_measured: Annotated[float | None, "Rank only models measured on this share of the benchmarks."] = None
    draws: Annotated[int, "Draws behind the intervals; 0: no intervals."] = 1000
    seed: Annotated[int, "Seed of the draws."] = 0


@takes(IqSettings)
def iq(
    model: Annotated[str | None, arg("One model; all of them when not given.")] = None,
    explain: Annotated[bool, opt("Print the whole derivation of the model's IQ.")] = False,
    check: Annotated[str | None, opt("Check the scoring: sensitivity or imputation.")] = None,
    against: Annotated[str | None, opt("Compare with embedded, a PATH, method=NAME or ladders=SET.")] = None,
    curves: Annotated[Path | None, infile("Derive ladders from people: benchmarks.csv of mensura stitch.")] = None,
    method: Method = None,
    weight: Annotated[list[str] | None, opt("Weight of a dimension; repeatable.", metavar="NAME=W")] = None,
    selected: Annotated[bool | None, opt("Correct for scores chosen by makers.", "--selected/--no-selected")] = None,
    scale: Scale = None,
    settings: Settings = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    accept_near: AcceptedNames = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score models: benchmarks, seven dimensions and composite IQ, with intervals, ranks and reasons.

    --check sensitivity leaves out each input in turn and moves each ladder; --check imputation hides scores and
    estimates them. --selected corrects chosen scores of --add too, --no-selected corrects none. The joint method fills
    gaps from one model of all scores, with the recut ladders.
    """
    from mensura.iq import score_iq

    if explain and model is None:
        raise MensuraError("--explain: name the model, as in mensura iq claude-opus-4.8 --explain")
    if check is not None:
        check_choice("--check", check, ["sensitivity", "imputation"])
    rare = read_settings(settings, IqSettings)
    check_input(rare.rules)
    loaded = load_evidence(evidence, add, accept_near)
    if model is not None:
        model = require_subject(loaded, model)
    if scale is not None:
        _on_frozen(loaded, model, scale, rare)
        return
    if curves is not None:
        _print_derived_ladders(loaded, curves)
        return
    how: dict[str, Any] = {
        "method": method,
        "ladders": rare.ladders,
        "source": rare.source,
        "rules": rare.rules,
        "weights": read_pairs("--weight", weight or [], "NAME=NUMBER, as in mathematical-reasoning=2"),
    }
    if (check or against or not rare.draws) and rare.seed:
        raise MensuraError("--set seed: of no use here, because nothing is drawn. Leave it out")
    chosen = [] if selected is False else (selected and sorted(added_subjects())) or None
    more: dict[str, Any] = {"selected": chosen, "draws": 0 if check or against else rare.draws, "seed": rare.seed}

    def compute() -> IqResult:
        result = score_iq(loaded, **how, **more)
        result.tables()  # kept with it
        return result

    result = keep("iq", loaded, how | more, compute)
    if check == "imputation":
        _print_imputation(result)
    elif check == "sensitivity":
        _print_sensitivity(result)
    elif against is not None:
        name, _, other = against.partition("=")
        if name in ("method", "ladders") and other:
            before = score_iq(loaded, **(how | {name: other}))
        else:
            before = score_iq(load_evidence(None if against == "embedded" else Path(against)), **how)
        _print_changes(before, result, model)
    elif model is None:
        usual = rare.draws and not any(how.values()) and (selected, rare.least_measured) == (None, None)
        lead = keep("lead", loaded, more, lambda: _find_lead(result)) if usual else None
        _print_all(result, rare.least_measured, lead)
    else:
        _print_one(result, model, explain)


def _on_frozen(evidence: Evidence, model: str | None, scale: str, rare: IqSettings) -> None:
    """Print the IQs on a frozen scale; it stands for one way of scoring, so that nothing else can be chosen."""
    of_method = ("explain", "check", "against", "curves", "method", "weight", "selected")
    others = [f"--{name}" for name in of_method if name in given_options()]
    rarer = ("source", "ladders", "rules", "least_measured")
    others += [f"--set {name}" for name in rarer if getattr(rare, name) is not None]
    if others:
        raise MensuraError(f"--scale: a frozen scale has its own method; leave out {', '.join(others)}")
    if rare.draws < 1:
        raise MensuraError("--set draws=0: a frozen scale has intervals; leave it out, or give 1 or more")
    placed = place_frozen(evidence, scale, draws=rare.draws, seed=rare.seed, only=None if model is None else [model])
    tables = {"composites": placed.standing, "dimensions": placed.mark_places(placed.dimensions)}
    if model is not None:
        tables = {name: table.filter(pl.col("subject") == model) for name, table in tables.items()}
        tables["neighbours"] = placed.neighbours_of(model)
    emit(tables, scale=scale, heading=placed.heading)
    console.print(placed.heading)
    show({"composites": placed.standing} if model is None else tables, "iq frozen")


def _find_lead(result: IqResult) -> Lead | None:
    """Return how sure it is who leads, by every way of reckoning."""
    from mensura.stitching import stitch
    from mensura.study.lead import find_lead

    return find_lead(result, lambda: stitch(result.evidence).laplace.ranks)


def _print_all(result: IqResult, least: float | None, lead: Lead | None) -> None:
    ranking = result.rank(least)
    facts = {name: getattr(result, name) for name in ("method", "ladders", "source")}
    facts |= {"left_out": result.composites["iq"].count() - ranking.height, "warnings": list(result.warnings)}
    facts["lead"] = None if lead is None else lead.to_dict(result.evidence)
    emit(result.tables() | {"ranking": ranking}, **facts)
    ends = [pl.col(name).round(0).cast(pl.Int64) for name in ("low", "high")]
    own = result.composites.filter(pl.col("subject").is_in(added_subjects()))
    columns = ("rank", "subject", "iq", pl.format("{}–{}", *ends).alias("90%"), "measured")
    if own.height:
        placed = own.join(ranking.select("rank", "subject"), on="subject", how="left", maintain_order="left")
        print_table(placed.select(*columns, "status"), title="Yours (mensura iq MODEL says why)")
    chances = pl.col("p_first").map_elements(say_chance, return_dtype=pl.String)
    first = chances.str.replace_many(["under ", "over "], ["<", ">"]).alias("first")  # so that a model takes one line
    ranks = pl.format("{}–{}", "rank_low", "rank_high").alias("ranks")
    table = ranking.drop("measured").join(result.composites, on="subject", maintain_order="left")
    table = table.select(*columns, first, ranks, "status", "published", "inherited", "estimated")
    spare = ("inherited", "estimated", "published", "status", "ranks")
    print_table(table, title=f"IQ, method {result.method}, ladders {result.ladders}", keys=2, spare=spare)
    about = "90%: the IQ if all benchmarks were run. first: chance of being first. ranks: at least 90% sure. published:"
    basis = f"measured, inherited, estimated: how many of the {len(result.matrix.benchmarks)} benchmarks."
    console.print(f"{about} IQ by the published method. {basis}", style="dim")
    if result.not_ranked.height:
        table = result.not_ranked.select("subject", "iq", "measured", "missing")
        print_table(table, title="Too new to rank, and what a rank would need", keys=1)
    print_notes(result.about_selection)
    if lead is not None:
        console.print(f"{lead.headline(result.evidence)} {lead.basis(result.evidence)}")
    elif ranking.height:
        best = ranking.row(0, named=True)
        console.print(say_leader(best["subject"], [best["p_first"]], ranking.height))
    if result.n_draws:
        print_trust("iq")


def _print_one(result: IqResult, model: str, explain: bool) -> None:
    tree = result.explain(model)
    tables = {name: table.filter(pl.col("subject") == model) for name, table in result.tables().items()}
    if result.n_draws and tables["composites"]["iq"][0] is not None:
        tables["not_told_apart"] = result.drawn.pairs(model).filter(~pl.col("told_apart")).drop("told_apart")
    emit(tables, explanation=tree.to_dict())
    print_notes(warning for warning in result.warnings if warning.startswith(f"{model}: "))
    if explain:
        _print_tree(tree)
        return
    console.print(tree.heading)
    if tree.iq is None:
        console.print("mensura benchmarks lists the tests that count; mensura where shows the model's capability.")
        return
    if missing := tables["composites"]["missing"][0]:
        console.print(f"Too new to rank. It needs {missing}.")
    show(tables, "iq one")
    if "not_told_apart" in tables:
        others = tables["not_told_apart"]["other"].to_list()
        ordered = sort_highest(tables["dimensions"].drop_nulls("iq"), "iq")["dimension"].to_list()
        console.print(f"Strongest in {ordered[0]}, weakest in {ordered[-1]}.")
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


def _print_derived_ladders(evidence: Evidence, curves: Path) -> None:
    """Derive ladders from people and print them beside the published ones."""
    from mensura.intake.tables import read_table
    from mensura.iq import derive_ladders

    table, floors = read_table(curves), curves.with_name("floors.csv")
    if floors.is_file() and "chance" not in table.columns:  # as ``mensura stitch --out`` writes both
        levels = read_table(floors)
        own = [name for name in ("chance", "ceiling") if name in levels.columns]
        table = table.join(levels.select("benchmark", *own), on="benchmark", how="left")
    derived = derive_ladders(evidence, table)
    emit(derived.tables(), slope=derived.slope, spread=derived.spread)
    show(derived, "iq ladders")


def _print_sensitivity(result: IqResult) -> None:
    """Leave out each input in turn, move each ladder, and print how far composites move."""
    from mensura.iq.variations import count_changes, sensitivity

    with progress_bar("changes", count_changes(result)) as advance:
        moves = sensitivity(result, advance=advance)
    tables = {"sensitivity": moves.summary, "moves": moves.moves}
    emit(tables)
    show(tables, "iq sensitivity")
    most = sort_highest(moves.summary, "largest_move", "change", "name").row(0, named=True)
    cause = f"{most['change']} {most['name']}"
    console.print(f"The largest move: {most['mover']}, by {most['largest_move']:.1f} IQ points ({cause}).")


def _print_imputation(result: IqResult) -> None:
    """Hide measured scores, impute them, and print the error by step and benchmark."""
    from mensura.iq import hide_and_impute, summarise
    from mensura.iq.validation import FOLDS

    joint = result.rules.imputation.is_joint  # a fit of all scores for each single one would take many minutes
    with progress_bar("hidings", FOLDS if joint else int(result.matrix.measured.sum())) as advance:
        outcomes = hide_and_impute(result, by="fold" if joint else "score", advance=advance)
    tables = {"by_step": summarise(outcomes), "by_benchmark": summarise(outcomes, "benchmark"), "outcomes": outcomes}
    emit(tables)
    show(tables, "iq imputation")
    off = outcomes["error"].drop_nulls().to_numpy()
    mean, bias = abs(off).mean(), off.mean()
    console.print(f"Imputed IQs are off by {mean:.1f} points on average, with a bias of {bias:+.1f}.")


def _print_changes(before: IqResult, after: IqResult, model: str | None) -> None:
    """Print which composites moved between two scorings, and through which input."""
    from mensura.iq import compare_iq

    changes = compare_iq(before, after)
    if model is not None:
        composites, inputs = (
            table.filter(pl.col("subject") == model) for table in (changes.composites, changes.inputs)
        )
        changes = replace(changes, composites=composites, inputs=inputs)
    emit({"changes": changes.composites, "inputs": changes.inputs})
    moved = changes.shown
    show({"moved": moved, "inputs": changes.inputs}, "iq against")
    most = f"; most {moved['subject'][0]}, by {moved['change'][0]:+.1f} points" if moved.height else ""
    console.print(f"{moved.height} of {counted(changes.composites.height, 'composite')} moved{most}.")
