"""``mensura baseline``: what people score on a benchmark, known or estimated."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mensura.cli.asking import Asking, AskingSettings, BaseUrl, DryRun, MaxCost, Models
from mensura.cli.inputs import EvidencePath, load_evidence
from mensura.cli.options import Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, notices, print_note, write_tables
from mensura.cli.paths import check_input
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from mensura.baseline import Baseline, BaselineItems

PLAN, RECORDED = "plan", "recorded/"
LONGEST_ANSWER = 8192
"""Tokens an answer may have: 75 items with intervals take about 3,500, and some models reason before."""
USUAL_ANSWER = 3500
EXAMPLES = """
[bold]Examples[/]

  mensura baseline gpqa                                                   known human scores, offline
  mensura baseline recorded/naep                                          recorded estimates, offline
  mensura baseline items.csv --people world --estimates said.csv --out card
  mensura baseline items.csv --people "university students in Germany" --model openai/NAME --runs 2 --out card
  mensura baseline items.csv --people DEU --model openai/NAME --base-url http://localhost:8000/v1 --sample 200
  mensura baseline items.csv --people world --estimates said.csv --anchors rates.csv --scores models.csv
  mensura baseline plan items.csv --people world --estimates said.csv --set pay=15
"""


@dataclass(frozen=True, kw_only=True)
class BaselineSettings(AskingSettings):
    """The rarer settings of ``mensura baseline``."""

    domain: Annotated[str | None, "Domain of items without one, such as mathematics."] = None
    pay: Annotated[float, "Pay per person and hour in US dollars (plan)."] = 12.0
    seconds: Annotated[float, "Seconds per answer (plan)."] = 45.0
    seed: Annotated[int, "Seed of sample and draws."] = 0


EXAMPLES += list_settings(BaselineSettings)


def baseline(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[plan] NAME|ITEMS",
            help="A benchmark with known human scores; or items: CSV, JSON lines, Parquet, an Inspect log, harness "
            "samples, a pool's folder, recorded/POOL. With 'plan' before it: the panel that would halve the interval.",
        ),
    ],
    people: Annotated[
        list[str] | None,
        typer.Option(help="A named population, a country, or a sentence about the people; repeatable."),
    ] = None,
    estimates: Annotated[
        str | None, typer.Option(help="Estimates that exist: item, rate, low, high (model, run, remembered).")
    ] = None,
    runs: Annotated[int, typer.Option(help="How often each model is asked.", min=1)] = 1,
    anchors: Annotated[
        Path | None, typer.Option(help="CSV of human rates on some items: item, rate, n.", callback=check_input)
    ] = None,
    mean: Annotated[float | None, typer.Option(help="Known mean score of the people, 0 to 1; with --n.")] = None,
    n: Annotated[int | None, typer.Option(help="How many people are behind --mean.")] = None,
    scores: Annotated[
        Path | None, typer.Option(help="CSV of models to place among the people: subject, score.", callback=check_input)
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Estimate a stratified sample of so many items.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of the people, where the sentence is misread.", metavar="experts|pupils|students|crowd|people"
        ),
    ] = None,
    timed: Annotated[
        bool | None,
        typer.Option("--timed/--untimed", help="Whether the people answer under time pressure.", show_default=False),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--map",
            help="Columns of the items, where their names do not say it: text=stem,key=answer:1.",
            metavar="FIELD=COLUMN",
        ),
    ] = None,
    model: Models = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    evidence: EvidencePath = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show known human scores of a benchmark, or estimate what described people would score on its items."""
    rare = read_settings(settings, BaselineSettings)
    planning, target = _target(words)
    recorded = target.startswith(RECORDED)
    if not (people or estimates or model or recorded or Path(target).exists()):
        _known(target, evidence, out=out, as_json=as_json)
        return
    items, described, source = _items(target, people, estimates, columns)
    work: dict[str, Any] = {
        "anchors": anchors,
        "known_mean": _known_mean(mean, n),
        "scores": None if scores is None else _read_scores(scores),
        "domain": rare.domain,
        "kind": kind,
        "timed": timed,
        "sample": sample,
        "seed": rare.seed,
    }
    if model and source is not None:
        raise MensuraError("--model and --estimates: give one of them. Estimates that exist need no model")
    askings = Asking(model, base_url, max_cost, dry_run, rare).each(out, LONGEST_ANSWER)
    if dry_run:
        _print_cost(items, described, askings, runs, sample, rare.seed)
        return
    result = _estimate(items, described, source, askings, runs, work)
    if planning:
        _plan(result, rare.pay, rare.seconds, out=out, as_json=as_json)
        return
    _emit(result, out=out, as_json=as_json)


def _target(words: list[str]) -> tuple[bool, str]:
    planning = words[0] == PLAN and not Path(PLAN).exists()
    rest = words[1:] if planning else words
    if len(rest) != 1:
        told = f"got {len(rest)}: {' '.join(rest)[:60]}" if rest else "got none"
        raise MensuraError(f"baseline: expected one NAME or ITEMS, {told}. Put a name of several words in quotes")
    return planning, rest[0]


def _items(
    target: str, people: list[str] | None, estimates: str | None, columns: str | None
) -> tuple[BaselineItems, list[str], pl.DataFrame | str | None]:
    """Return the items, the people and the estimates; a recorded pool brings all three."""
    from mensura.baseline import read_items, read_recorded

    if target.startswith(RECORDED):
        said = read_recorded(target.removeprefix(RECORDED))
        items = replace(read_items(said.unique("item", maintain_order=True)), name=target)
        own = said["population"].mode().sort()[0]
        return items, people or [own], (estimates or said.drop("population"))
    if not people:
        raise MensuraError(
            f"{target}: --people is missing; give a population (world), a country (DEU) or a sentence such as "
            "--people 'university students in Germany'"
        )
    return read_items(target, columns=columns), people, estimates


def _known_mean(mean: float | None, n: int | None) -> Any:  # noqa: ANN401
    from mensura.baseline import KnownMean

    if mean is None and n is None:
        return None
    if mean is None or n is None:
        raise MensuraError("--mean and --n: give both, such as --mean 0.345 --n 60")
    return KnownMean(mean, n)


def _read_scores(path: Path) -> pl.DataFrame:
    """Read subject and score; percentages become shares."""
    import polars as pl

    from mensura.core.frames import require_columns
    from mensura.intake.tables import read_table

    frame = read_table(path)
    if "subject" not in frame.columns and "model" in frame.columns:
        frame = frame.rename({"model": "subject"})
    require_columns(frame, ["subject", "score"], name=str(path))
    table = frame.select(pl.col("subject").cast(pl.String), pl.col("score").cast(pl.Float64, strict=False))
    if table["score"].null_count() or not table["score"].is_between(0, 100).all():
        raise MensuraError(
            f"{path}, score: a value is missing or outside 0 to 100; expected shares or percentages. Correct it"
        )
    return table.with_columns(pl.col("score") / 100) if (table["score"] > 1).any() else table


def _estimate(
    items: BaselineItems,
    people: list[str],
    source: pl.DataFrame | str | None,
    askings: list[Asking],
    runs: int,
    work: dict[str, Any],
) -> Baseline:
    from mensura.baseline import estimate_baseline

    if source is not None:
        return estimate_baseline(items, people, estimates=source, **work)
    items.refuse_unaskable()
    with ExitStack() as stack:
        askers = [stack.enter_context(asking.open("estimating")) for asking in askings]
        return estimate_baseline(items, people, askers=askers, runs=runs, **work)


def _print_cost(
    items: BaselineItems, people: list[str], askings: list[Asking], runs: int, sample: int | None, seed: int
) -> None:
    from mensura.baseline import find_people, list_people, plan_questions
    from mensura.people import World

    if not askings:
        raise MensuraError("--dry-run: only with --model, because nobody else is asked")
    items.refuse_unaskable()
    world = World.load()
    chosen = items if sample is None else items.sample(sample, seed)
    questions = plan_questions(chosen, [find_people(who, world) for who in list_people(people, world)], runs)
    for asking in askings:
        asking.print_estimate(questions, USUAL_ANSWER)


def _known(name: str, evidence: Path | None, *, out: Path | None, as_json: bool) -> None:
    import polars as pl

    from mensura.baseline import find_known, known_markdown
    from mensura.baseline.registry import score_words
    from mensura.core.frames import sort_highest
    from mensura.scale.ranking import say_chance

    found = find_known(name, load_evidence(evidence, None))
    _write(out, found.tables(), {"card.md": known_markdown(found)})
    if emit(found.tables(), out=None, as_json=as_json, benchmark=found.benchmark, warnings=list(found.warnings)):
        return
    for warning in found.warnings:
        print_note(warning)
    columns = ["part", "group", "score", "unit", "status", "n", "conditions", "year", "source", "seen"]
    people = found.people.select(columns)
    if people["score"].null_count():
        scores = pl.Series(map(score_words, found.people.to_dicts()), dtype=pl.String)
        people = people.with_columns(score=scores).drop("unit")
    print_table(people, title=found.heading, rows=30, spare=("seen", "year", "unit", "conditions"))
    if found.passed.height:
        title = "Models above these people: how many, the first and when, the best and its chance to be above"
        spare = ("iq", "status", "best_score", "best", "score")
        told = found.passed.with_columns(pl.col("chance").map_elements(say_chance, return_dtype=pl.String))
        print_table(told, title=title, rows=30, digits=2, keys=2, spare=spare)
        measured = found.passed.filter(status="measured")
        top = sort_highest(measured if measured.height else found.passed, "score").row(0, named=True)
        judged = "" if measured.height else ", judged, not measured"
        console.print(
            f"{top['passed_by']} of {top['of']} models score above {top['group']} ({top['score']:g}{judged}); "
            f"the best, {top['best']}, is above them with a chance of {say_chance(top['chance'])}."
        )
    else:
        unit = "minutes" if "minutes" in found.people["unit"] else "percent"
        print_note(f"the evidence has no model scores on this benchmark in {unit}, so none can be compared")


def _plan(result: Baseline, pay: float, seconds: float, *, out: Path | None, as_json: bool) -> None:
    import math

    import polars as pl

    from mensura.baseline import PanelCost, plan_panel, shipped

    sd = math.exp(shipped()["persons"]["log_sd"])
    panels = [
        plan_panel(part.estimate, sd, PanelCost(pay, seconds)).select(
            pl.lit(part.who.name).alias("population"), pl.all()
        )
        for part in result.parts
    ]
    table = pl.concat(panels)
    if emit({"plan": table}, out=out, as_json=as_json):
        return
    for part, panel in zip(result.parts, panels, strict=True):
        print_table(panel.drop("population"), title=f"Panels for {part.who.name}, cheapest first", rows=30, digits=2)
        enough = panel.filter("halved")
        if enough.height:
            best = enough.row(0, named=True)
            console.print(
                f"{best['people']} people × {best['items']} items would halve the interval of the mean "
                f"({best['width_now']:.2f} to {best['width']:.2f}): {best['hours']:.0f} hours, ${best['cost']:,.0f}."
            )
        else:
            print_note("no panel of this table halves the interval; more people and items would be needed")


def _emit(result: Baseline, *, out: Path | None, as_json: bool) -> None:
    from mensura.baseline import card_json, card_markdown, card_svg

    texts = {"card.md": card_markdown(result), "card.svg": card_svg(result), "card.json": card_json(result)}
    facts = {
        "benchmark": result.name,
        "status": "estimated",
        "read_as": {part.who.name: part.kind.read for part in result.parts},
        "span": result.spans,
        "warnings": list(result.warnings),
    }
    tables = {name: result.tables()[name] for name in ("items", "baseline", "models")}
    _write(out, tables, texts)
    if emit(tables, out=None, as_json=as_json, **facts):
        return
    console.print(result.heading)
    for part in result.parts:
        console.print(f"{part.who.name}, read as: {part.kind.read}. If that is wrong: --kind, --timed, --untimed.")
    for warning in result.warnings:
        print_note(warning)
    shown = ["population", "mean", "low", "high", "items", "remembered", "median", "top_10", "top_1", "top_01"]
    print_table(
        result.baseline.select(shown),
        title="Scores of people, estimated, not measured (top_10: the best tenth reach it)",
        digits=3,
        spare=("items", "remembered", "top_01", "top_1"),
    )
    if result.models.height:
        print_table(result.models, title="Models among these people", rows=30, digits=3)
    alone = ["population"] if len(result.parts) == 1 else []
    print_table(
        result.items.drop("level_low", "level_high", *alone), title="Items", rows=12, digits=3, spare=("remembered",)
    )
    for row in result.baseline.iter_rows(named=True):
        mean, who = f"{row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%}, 90%)", row["population"]
        span = f"; items {result.spans[who]}" if who in result.spans else ""
        console.print(f"{who} would score {mean}{span}.")
    print_trust("baseline")


def _write(out: Path | None, tables: Mapping[str, pl.DataFrame], texts: Mapping[str, str]) -> None:
    """Write the tables and the card into a folder, where one is asked for."""
    if out is not None:
        write_tables(out, tables, writer="baseline", texts=texts)
        notices.print(f"wrote {', '.join([*(f'{name}.csv' for name in tables), *texts])} to {out}", style="dim")
