"""``mensura stitch``: subjects and benchmarks on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, Released, ScoreUnit, added_subjects, load_evidence
from mensura.cli.options import CHECKS, Ray, Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_input
from mensura.cli.progress import progress_bar
from mensura.cli.stitch_out import explain_capability, print_stitch, show_frozen
from mensura.core.cache import keep
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

    from mensura.stitching import Robustness, Stitch
    from mensura.trends import Inclusion

EXAMPLES = """
[bold]Examples[/]

  mensura stitch
  mensura stitch scores.csv --method rosetta --anchor-benchmark Winogrande --out fit
  mensura stitch --people
  mensura stitch scores.csv --anchor 'claude-3-5-sonnet=130' --anchor 'gpt-5=150'
"""


@dataclass(frozen=True, kw_only=True)
class StitchSettings:
    """The rarer settings of ``mensura stitch``."""

    duplicates: Annotated[str | None, "Several scores of one cell: max (rosetta), mean (pooled) or all."] = None
    dimensions: Annotated[int, "Latent dimensions of the pooled method, capability included."] = 4
    ridge: Annotated[float, "Strength of the published penalty (rosetta)."] = 0.1
    fewest_benchmarks: Annotated[int, "Benchmarks a subject needs (published: 4)."] = 1
    kind: Annotated[str, "Bootstrap over scores within subjects, subjects or benchmarks."] = "within"
    seed: Annotated[int, "Seed of the bootstrap."] = 0


EXAMPLES += list_settings(StitchSettings)


def stitch(
    scores: Annotated[
        Path | None,
        typer.Argument(
            help="CSV with model (or subject), benchmark, score in [0, 1]; the embedded evidence if absent.",
            callback=check_input,
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="pooled (default), or rosetta: as published.")] = "pooled",
    anchor_benchmark: Annotated[
        str | None, typer.Option(help="Benchmark with difficulty 0 and slope 1.", metavar="NAME")
    ] = None,
    anchor: Annotated[
        list[str] | None, typer.Option(help="Subject and its value, given twice.", metavar="SUBJECT=VALUE")
    ] = None,
    parts: Annotated[
        str, typer.Option(help="Parts no score connects: refuse them, keep the largest, or keep all.")
    ] = "refuse",
    bootstrap: Annotated[int, typer.Option(help="Bootstrap replicates for the intervals; 0: Laplace.", min=0)] = 0,
    ray: Ray = None,
    settings: Settings = None,
    people: Annotated[
        bool, typer.Option("--people", help="Human groups test by test, and classes of people on the scale.")
    ] = False,
    residuals: Annotated[
        bool,
        typer.Option(
            "--residuals", help="Measured minus predicted, by benchmark, family and domain.", rich_help_panel=CHECKS
        ),
    ] = False,
    batteries: Annotated[
        bool,
        typer.Option(
            "--batteries", help="Add intervals over other domains of tests (evidence only).", rich_help_panel=CHECKS
        ),
    ] = False,
    influence: Annotated[
        bool, typer.Option("--influence", help="Refit without each benchmark in turn.", rich_help_panel=CHECKS)
    ] = False,
    robustness: Annotated[
        bool,
        typer.Option(
            "--robustness",
            help="Anchor change, dropped benchmarks, link, optimised benchmarks.",
            rich_help_panel=CHECKS,
        ),
    ] = False,
    five_percent: Annotated[
        bool,
        typer.Option(
            "--sens5",
            help="Published bars: how far a parameter moves for 5% more squared error (rosetta).",
            rich_help_panel=CHECKS,
        ),
    ] = False,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out", help="Held-out error by method, dimensions and pooling (minutes).", rich_help_panel=CHECKS
        ),
    ] = False,
    forward: Annotated[
        bool,
        typer.Option(
            "--forward", help="Error forward in time, by method and dimensions (minutes).", rich_help_panel=CHECKS
        ),
    ] = False,
    scale: Annotated[
        str | None,
        typer.Option(
            help="Frozen scale, such as 2026-11: new subjects are placed on it and nobody else moves.", metavar="NAME"
        ),
    ] = None,
    at: Annotated[
        float | None, typer.Option(help="With --scale: what this capability means, benchmark by benchmark.")
    ] = None,
    unit: ScoreUnit = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Put models, people and benchmarks on one scale, with uncertainty."""
    from mensura.intake.own_scores import read_own_scores
    from mensura.stitching import forward_errors, held_out_errors, sens5

    rare = read_settings(settings, StitchSettings)
    if ray is not None and not bootstrap:
        raise MensuraError("--ray: of no use here, because --bootstrap is not given. Leave it out")
    if at is not None:
        explain_capability(scale, at, out, as_json)
        return
    data = read_own_scores(scores, unit=unit) if scores is not None else load_evidence(evidence, add, released)
    if scale is not None:
        show_frozen(scale, data, out, as_json)
        return
    how = {
        "method": method,
        **_by_id(data, anchor_benchmark, _anchors(anchor)),
        "duplicates": rare.duplicates,
        **{name: getattr(rare, name) for name in ("dimensions", "ridge") if _is_set(name, settings)},
        "parts": parts,
        "fewest_benchmarks": rare.fewest_benchmarks,
    }
    fit = _fitted(data, how)
    warnings = list(fit.warnings)
    tables = {"capabilities": fit.capabilities, "benchmarks": fit.benchmarks, "ranks": fit.laplace.ranks}
    if fit.method == "pooled":
        tables |= {"suspicious": fit.suspicious, "dimensions": fit.dimensions, "floors": fit.floors}
    if bootstrap:
        with progress_bar("bootstrap", bootstrap) as advance:
            draws = fit.bootstrap(bootstrap, seed=rare.seed, kind=rare.kind, advance=advance, ray=ray)  # type: ignore[arg-type]
        tables |= {"capabilities": draws.capabilities, "ranks": draws.ranks}
        warnings += draws.warnings
    more, about = _further(fit, data, people=people, batteries=batteries, influence=influence, robustness=robustness)
    tables, warnings = tables | more, [*warnings, *about]
    if residuals:
        tables |= {"residuals": fit.residuals} | _residuals(fit, data)
    if five_percent:
        tables |= dict(zip(("capability_bars", "difficulty_bars"), sens5(fit), strict=True))
    if held_out:
        tables["held_out"] = held_out_errors(data)
    if forward:
        tables["forward"] = forward_errors(data)
    end = {"converged": fit.convergence.converged, "iterations": fit.convergence.iterations}
    facts = {"settings": fit.settings, "convergence": end | {"gradient": fit.convergence.gradient}}
    if emit(tables, out=out, as_json=as_json, **facts, warnings=warnings, notes=fit.notes):
        return
    for text in fit.notes:
        console.print(text)
    for warning in warnings:
        print_note(warning, kind="warning")
    basis = f"bootstrap {rare.kind}, {bootstrap} replicates" if bootstrap else "Laplace"
    title = f"Capabilities ({fit.method}; 90% intervals: {basis})"
    print_stitch(tables, title, added_subjects() if scores is None else ())


def _is_set(name: str, settings: list[str] | None) -> bool:
    """Whether a rarer setting was given: what the method does not use is refused, so defaults are not handed on."""
    return any(word.partition("=")[0].strip() == name for word in settings or ())


def _fitted(data: object, settings: dict[str, Any]) -> Stitch:
    """Fit scores of one's own; the fit of an evidence is kept."""
    from mensura.evidence import Evidence
    from mensura.stitching import stitch as fit_scores

    def compute() -> Stitch:
        fit = fit_scores(data, **settings)
        _ = fit.capabilities, fit.benchmarks, fit.laplace.ranks  # kept with it
        return fit

    return keep("stitch", data, settings, compute) if isinstance(data, Evidence) else compute()


def _by_id(data: object, benchmark: str | None, subjects: dict[str, float] | None) -> dict[str, object]:
    """Return the anchors under the ids that the evidence has for their names; names of a file stay as they are."""
    from mensura.evidence import Evidence, require_subject
    from mensura.intake.names import KnownNames

    if isinstance(data, Evidence):
        subjects = None if subjects is None else {require_subject(data, name): at for name, at in subjects.items()}
        known = KnownNames(data.benchmarks.select("benchmark", "name").iter_rows())
        benchmark = benchmark and (known.match(benchmark).id or benchmark)
    return {"anchor_benchmark": benchmark, "anchor_subjects": subjects}


def _anchors(given: list[str] | None) -> dict[str, float] | None:

    if not given:
        return None
    pairs = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            pairs[name] = float(value)
        except ValueError:
            raise MensuraError(f"--anchor: {text!r} is not SUBJECT=VALUE, for example 'gpt-5=150'") from None
    return pairs


def _residuals(fit: Stitch, data: object) -> dict[str, pl.DataFrame]:
    """Residuals in groups: families and domains are columns of the score table, or the evidence's own."""
    from mensura.evidence import Evidence
    from mensura.stitching import residual_tables
    from mensura.stitching.scores import read_scores

    if isinstance(data, Evidence):
        families = data.models.select("subject", "provider")
        domains = data.benchmarks.select("benchmark", "dimension")
        return residual_tables(fit.residuals, families=_labels(families), domains=_labels(domains))
    table = read_scores(data)
    known = {
        name: _labels(table.select(of, column))
        for name, of, column in (("families", "subject", "family"), ("domains", "benchmark", "domain"))
        if column in table.columns
    }
    return residual_tables(fit.residuals, **known)


def _labels(pairs: pl.DataFrame) -> dict[str, str]:
    return dict(pairs.drop_nulls().iter_rows())


def _further(
    fit: Stitch, data: object, *, people: bool, batteries: bool, influence: bool, robustness: bool
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Work out the tables that were asked for beside the fit, and what is to be said about them."""
    from mensura.core.errors import MensuraError
    from mensura.evidence import Evidence
    from mensura.stitching import battery_intervals, benchmark_influence, check_robustness, place_people
    from mensura.trends import check_inclusion, mark_passed
    from mensura.trends.capabilities import FEWEST_SUBJECTS

    tables: dict[str, pl.DataFrame] = {}
    warnings: list[str] = []
    if people:
        placed = place_people(fit, data if isinstance(data, Evidence) else None)
        tables |= {"people": placed.tests, "people_classes": mark_passed(placed)}
    if batteries:
        if not isinstance(data, Evidence):
            raise MensuraError("--batteries: scores.csv names no domains; expected evidence. Use --add FILE instead.")
        known = data.benchmarks.select("benchmark", "dimension").drop_nulls()
        tables["batteries"] = battery_intervals(fit, dict(known.iter_rows()))
    if influence:
        tables["influence"] = benchmark_influence(fit)
    if robustness:
        anchor = cast("str | None", fit.settings["anchor_benchmark"])
        checks: list[Robustness | Inclusion] = [check_robustness(data, anchor_benchmark=anchor)]
        if fit.dated["released"].count() >= FEWEST_SUBJECTS:
            checks.append(check_inclusion(data, anchor_benchmark=anchor))
        for check in checks:
            tables |= check.tables()
            warnings += check.warnings
    return tables, warnings
