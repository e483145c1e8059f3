"""``mensura stitch``: models, people and benchmarks on one scale, checks of the fit, and frozen scales."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from mensura.cli.findings import interval, print_trust
from mensura.cli.inputs import added_subjects, load_evidence, new_names
from mensura.cli.options import AddedScores, EvidencePath, Json, Out, Scale, ScoreUnit, inarg, infile, opt
from mensura.cli.output import console, emit, print_notes, progress_bar
from mensura.cli.settings import Settings, changed, read_pairs, read_settings, takes
from mensura.cli.tables import print_own_first, print_table, show
from mensura.core.cache import keep
from mensura.core.errors import MensuraError, check_choice, counted
from mensura.core.frames import sort_highest
from mensura.evidence import Evidence, require_subject

if TYPE_CHECKING:
    from mensura.stitching import Stitch


CHECKS = ("residuals", "batteries", "influence")
_NAMED = 3  # of one's own subjects in a sentence


@dataclass(frozen=True, kw_only=True)
class StitchSettings:
    """The rarer settings of ``mensura stitch``."""

    duplicates: Annotated[str | None, "Scores of one model and benchmark: max (rosetta), mean (pooled) or all."] = None
    dimensions: Annotated[int, "Latent dimensions of the pooled method, capability included."] = 4
    ridge: Annotated[float | None, "Strength of the published penalty (rosetta; 0.1)."] = None
    parts: Annotated[str, "Scores in unconnected parts: refuse them, keep the largest, or keep all."] = "refuse"
    fewest_benchmarks: Annotated[int, "Benchmarks a subject needs (published: 4)."] = 1
    ray: Annotated[str | None, "Bootstrap on Ray: local, or the address of a cluster."] = None
    seed: Annotated[int, "Seed of the bootstrap."] = 0


@takes(StitchSettings)
def stitch(
    scores: Annotated[Path | None, inarg("CSV with model, benchmark, score from 0 to 1.")] = None,
    method: Annotated[str, opt("pooled (default), or rosetta: as published.")] = "pooled",
    anchor_benchmark: Annotated[str | None, opt("Benchmark with difficulty 0 and slope 1.", metavar="NAME")] = None,
    anchor: Annotated[list[str] | None, opt("Fix a subject at a value; give two.", metavar="SUBJECT=VALUE")] = None,
    bootstrap: Annotated[int, opt("Bootstrap replicates for the intervals; 0: Laplace.", min=0)] = 0,
    people: Annotated[bool, opt("Human groups test by test, and classes of people on the scale.", "--people")] = False,
    checks: Annotated[
        list[str] | None, opt(f"Check the fit: {', '.join(CHECKS)}; repeatable.", "--check", metavar="NAME")
    ] = None,
    votes: Annotated[Path | None, infile("Pairwise votes: model_a, model_b, winner, perhaps judge and prompt.")] = None,
    scale: Scale = None,
    at: Annotated[float | None, opt("With --scale: what this capability means, benchmark by benchmark.")] = None,
    settings: Settings = None,
    unit: ScoreUnit = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Put models, people and benchmarks on one scale, with uncertainty.

    Without SCORES the embedded evidence is used. --votes fits pairwise votes instead, with ties, judges and sides, and
    joins them to the scale through models that have a capability.

    The check residuals shows measured minus predicted scores, by benchmark, family and domain. The check batteries
    takes other domains of tests, and influence leaves out each benchmark.
    """
    from mensura.intake.own_scores import read_own_scores

    rare = read_settings(settings, StitchSettings)
    for name in checks or ():
        check_choice("--check", name, CHECKS)
    if not bootstrap:
        for name in changed(rare, "ray", "seed"):
            raise MensuraError(f"--set {name}: of no use here, because --bootstrap is not given. Leave it out")
    if at is not None:
        _explain_capability(scale, at)
        return
    if votes is not None:
        _show_votes(votes, None if scores is not None else load_evidence(evidence, add))
        return
    data = read_own_scores(scores, unit=unit) if scores is not None else load_evidence(evidence, add)
    if scale is not None:
        _show_frozen(scale, data)
        return
    chosen = changed(rare, "duplicates", "dimensions", "ridge", "parts", "fewest_benchmarks")
    pairs = read_pairs("--anchor", anchor or [], "SUBJECT=VALUE, for example 'gpt-5=150'") or None
    fit = _fitted(data, {"method": method, **_by_id(data, anchor_benchmark, pairs), **chosen})
    warnings = list(fit.warnings)
    tables = {"capabilities": fit.capabilities, "benchmarks": fit.benchmarks, "ranks": fit.laplace.ranks}
    if fit.method == "pooled":
        tables |= {"suspicious": fit.suspicious, "dimensions": fit.dimensions, "floors": fit.floors}
    if bootstrap:
        with progress_bar("bootstrap", bootstrap) as advance:
            draws = fit.bootstrap(bootstrap, seed=rare.seed, advance=advance, ray=rare.ray)
        tables |= {"capabilities": draws.capabilities, "ranks": draws.ranks}
        warnings += draws.warnings
    tables |= _further(fit, data, people, checks or ())
    end = {name: getattr(fit.convergence, name) for name in ("converged", "iterations", "gradient")}
    emit(tables, settings=fit.settings, convergence=end, warnings=warnings, notes=fit.notes)
    for text in fit.notes:
        console.print(text)
    print_notes(warnings, "warning")
    basis = f"bootstrap, {bootstrap} replicates" if bootstrap else "Laplace"
    _print(tables, f"Capabilities ({fit.method}; 90% intervals: {basis})", added_subjects() if scores is None else ())


def _show_votes(path: Path, evidence: Evidence | None) -> None:
    """Fit votes; contestants whom the evidence knows join them to the stitched scale."""
    from mensura.intake.votes import read_votes
    from mensura.stitching.place import FEWEST_LINKS, join_scale
    from mensura.stitching.votes import fit_votes

    table = read_votes(path)
    placed = None
    if evidence is not None:
        names = pl.concat([table["first"], table["second"]]).unique()
        ids = {name: ident for name in names if (ident := evidence.names["model"].ident(name)) is not None}
        table = table.with_columns(pl.col("first", "second").replace(ids))
    fit = fit_votes(table)
    if evidence is not None and len(ids) >= FEWEST_LINKS:
        placed = join_scale(fit, _fitted(evidence, {"method": "pooled"}).capabilities)
    tables = fit.tables() | ({"placed": placed} if placed is not None else {})
    emit(tables, clusters=fit.clusters, warnings=list(fit.warnings))
    print_notes(fit.warnings, "warning")
    links = 0 if placed is None else placed.filter("linked").height
    show(tables, "stitch votes", heading=fit.heading, links=counted(links, "model"))
    if placed is None:
        console.print(f"Fewer than {FEWEST_LINKS} contestants have a capability, so the votes stand alone.")
    best, *others = fit.contestants.with_columns(pl.col("low", "high").fill_null(float("inf"))).rows(named=True)
    rival = max(others, key=lambda other: float(other["high"]))
    behind = f"ahead; its interval reaches that of {rival['contestant']}, so who is strongest cannot be told"
    console.print(f"{best['contestant']} is {'strongest' if best['low'] > rival['high'] else behind}.")


def _fitted(data: object, settings: dict[str, Any]) -> Stitch:
    """Fit scores of one's own; the fit of an evidence is kept."""
    from mensura.stitching import stitch as fit_scores

    def compute() -> Stitch:
        fit = fit_scores(data, **settings)
        _ = fit.capabilities, fit.benchmarks, fit.laplace.ranks  # kept with it
        return fit

    return keep("stitch", data, settings, compute) if isinstance(data, Evidence) else compute()


def _by_id(data: object, benchmark: str | None, subjects: dict[str, float] | None) -> dict[str, object]:
    """Return the anchors under the ids that the evidence has for their names; names of a file stay as they are."""
    if isinstance(data, Evidence):
        subjects = None if subjects is None else {require_subject(data, name): at for name, at in subjects.items()}
        benchmark = benchmark and (data.names["benchmark"].match(benchmark).id or benchmark)
    return {"anchor_benchmark": benchmark, "anchor_subjects": subjects}


def _residuals(fit: Stitch, data: object) -> dict[str, pl.DataFrame]:
    """Residuals in groups: families and domains are columns of the score table, or the evidence's own."""
    from mensura.stitching import residual_tables
    from mensura.stitching.scores import read_scores

    if isinstance(data, Evidence):
        families = data.models.select("subject", "provider")
        domains = data.benchmarks.select("benchmark", "dimension")
        return residual_tables(fit.residuals, families=_labels(families), domains=_labels(domains))
    table = read_scores(data)
    labels = (("families", "subject", "family"), ("domains", "benchmark", "domain"))
    groups = {name: _labels(table.select(of, by)) for name, of, by in labels if by in table.columns}
    return residual_tables(fit.residuals, **groups)


def _labels(pairs: pl.DataFrame) -> dict[str, str]:
    return dict(pairs.drop_nulls().iter_rows())


def _further(fit: Stitch, data: object, people: bool, checks: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Work out the tables that were asked for beside the fit."""
    from mensura import stitching
    from mensura.baseline.human_results import grade_references

    tables: dict[str, pl.DataFrame] = {}
    if people:
        placed = stitching.place_people(fit, data if isinstance(data, Evidence) else None)
        tests = placed.tests
        if isinstance(data, Evidence):
            grades = grade_references(data).select("benchmark", "group", "grade")
            tests = tests.join(grades, on=["benchmark", "group"], how="left", maintain_order="left")
        tables |= {"people": tests, "people_classes": placed.table}
    if "batteries" in checks:
        if not isinstance(data, Evidence):
            raise MensuraError("--check batteries: a file of scores names no domains. Use --add FILE instead")
        tables["batteries"] = stitching.battery_intervals(
            fit, _labels(data.benchmarks.select("benchmark", "dimension"))
        )
    if "influence" in checks:
        tables["influence"] = stitching.benchmark_influence(fit)
    if "residuals" in checks:
        tables |= {"residuals": fit.residuals} | _residuals(fit, data)
    return tables


def _print(tables: Mapping[str, pl.DataFrame], title: str, own: Collection[str]) -> None:
    """Print the tables for people, ``own`` subjects first, and the finding; ``title`` is that of the capabilities."""
    from mensura.stitching.people import SHOWN

    print_own_first(tables["capabilities"], own, title=title, rows=30)
    tests = sort_highest(tables["benchmarks"], "difficulty", "benchmark")
    mine = tests["benchmark"].is_in(new_names("benchmark")) if own else pl.repeat(False, tests.height, eager=True)
    first = "yours first, then the hardest" if mine.any() else "hardest first"
    print_table(pl.concat([tests.filter(mine), tests.filter(~mine)]), title=f"Benchmarks, {first}")
    if tables["ranks"]["rank"].count():
        print_own_first(tables["ranks"], own, title="Ranks (p_first: chance of being first)", rows=15, digits=3)
    show({**tables, "people": tables["people"].select(SHOWN)} if "people" in tables else tables, "stitch")
    console.print(_finding(tables, own))
    for row in tests.filter(mine).head(_NAMED).iter_rows(named=True):
        harder = tests.filter(tests["difficulty"] > row["difficulty"]).height
        place = f"{row['benchmark']}: difficulty {row['difficulty']:.2f}, slope {row['slope']:.2f}"
        console.print(f"{place}; {harder} of {counted(tests.height, 'benchmark')} are harder.")
    print_trust("stitch")


def _finding(tables: Mapping[str, pl.DataFrame], own: Collection[str]) -> str:
    """Say where one's own subject is, who leads, or which people the best model is above, and how sure that is."""
    from mensura.evidence.passing import PASSED, say_passed, say_solid
    from mensura.scale.ranking import say_chance

    people = tables.get("people")
    if people is not None:
        measured = people.filter(status="measured").drop_nulls("verdict")
        passed = measured.filter(verdict=PASSED)
        solid = f" {say_solid(passed['grade'].to_list())}" if "grade" in passed.columns and passed.height else ""
        return f"{say_passed(measured['verdict'].to_list())}{solid}"
    named = new_names("model") if own and new_names("model") else own
    mine = [row for row in tables["capabilities"].iter_rows(named=True) if row["subject"] in named]
    if 0 < len(mine) <= _NAMED:
        places = (f"{row['subject']} {row['capability']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in mine)
        return f"Capability, with its 90% interval: {'; '.join(places)}."
    ranked = tables["ranks"].drop_nulls("rank")
    if not ranked.height:
        return "No interval is narrow enough for a rank. More scores of each subject narrow it."
    best = ranked.row(0, named=True)
    chance = "" if best["p_first"] is None else f", with a chance of {say_chance(best['p_first'])}"
    return f"{best['subject']} has the highest capability{chance} among {counted(ranked.height, 'model')}."


def _explain_capability(name: str | None, capability: float) -> None:
    """Print what a capability means on a frozen scale."""
    from mensura.stitching import load_scale

    if name is None:
        raise MensuraError("--at goes with --scale NAME: a number has a meaning on a scale that stands still")
    frozen = load_scale(name)
    tables = {"expected": frozen.expected_at(capability), "neighbours": frozen.neighbours_of(capability)}
    emit(tables, scale=frozen.name, capability=capability)
    show(tables, "stitch at", capability=capability, scale=frozen.name)
    near = tables["neighbours"].sort((tables["neighbours"]["capability"] - capability).abs())["subject"][0]
    console.print(f"The model nearest to {capability:g} is {near}.")


def _show_frozen(name: str, data: object) -> None:
    """Print or write everybody's place on a frozen scale."""
    from mensura.stitching import load_scale

    frozen = load_scale(name)
    tables = {"capabilities": frozen.place(data), "benchmarks": frozen.benchmarks}
    emit(tables, scale=frozen.name, settings=frozen.settings)
    placed = tables["capabilities"].filter(tables["capabilities"]["status"] == "placed")
    if placed.height:
        print_table(placed, title=f"Placed on the scale {frozen.name} (90% intervals)")
    title = f"Everybody on the scale {frozen.name}"
    print_own_first(tables["capabilities"], placed["subject"].to_list(), title=title, rows=30)
    print_table(sort_highest(tables["benchmarks"], "difficulty", "benchmark"), title="Benchmarks, hardest first")
    best = sort_highest(tables["capabilities"], "capability", "subject").row(0, named=True)
    top = f"{best['subject']} is highest on the scale {frozen.name}: {best['capability']:.2f} {interval(best)}"
    console.print(f"{top}; {counted(placed.height, 'model')} placed without moving the others.")
