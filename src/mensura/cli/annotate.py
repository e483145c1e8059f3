"""``mensura annotate``: the demand levels of a pool's items, by a language model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.asking import Asking, AskingSettings, BaseUrl, DryRun, MaxCost, Models, money
from mensura.cli.findings import say_levels
from mensura.cli.options import Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_input
from mensura.cli.tables import print_table
from mensura.core.errors import counted

if TYPE_CHECKING:
    import polars as pl

    from mensura.demands import Annotation

EXAMPLES = """
[bold]Examples[/]

  mensura annotate example --model recorded/example --repeats 2 --out out        offline, no key
  mensura annotate pools/mine --model openai/NAME --max-cost 5 --set price_in=2 --set price_out=8 --out out
  mensura annotate pools/mine --model mine --base-url http://localhost:8000/v1 --protocol item --out out
  mensura annotate pools/mine --model openai/NAME --set batch=true --out out     half price; run again to collect
  mensura annotate pools/mine --model openai/NAME --dry-run
"""


@dataclass(frozen=True, kw_only=True)
class BundleSettings(AskingSettings):
    """The rarer settings of commands that ask for levels."""

    items_per_call: Annotated[int, "Items in one call (bundle)."] = 25
    seed: Annotated[int, "Seed of the intervals."] = 0


@dataclass(frozen=True, kw_only=True)
class AnnotateSettings(BundleSettings):
    """The rarer settings of ``mensura annotate``."""

    aggregate: Annotated[str, "One level from several readings: median or ordinal."] = "median"


EXAMPLES += list_settings(AnnotateSettings)

Pool = Annotated[str, typer.Argument(help="Folder or items file with texts, or 'example' for the shipped pool.")]
ProtocolName = Annotated[
    str, typer.Option(help="bundle (several items a call), item (one) or cell (item and dimension).")
]
Rubrics = Annotated[
    Path | None,
    typer.Option(help="Folder of rubrics CODE.txt that replace or extend ours.", file_okay=False, callback=check_input),
]
Dimensions = Annotated[str, typer.Option(help="Dimensions to annotate, separated by commas; all when left out.")]


def annotate(
    pool: Pool,
    model: Models = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    protocol: ProtocolName = "bundle",
    repeats: Annotated[int, typer.Option(help="How often everything is asked.")] = 1,
    rubrics: Rubrics = None,
    dimensions: Dimensions = "",
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Annotate the items of a pool with demand levels, 0 to 5 in eighteen dimensions."""
    from mensura.demands import carry_out, plan_annotation

    rare = read_settings(settings, AnnotateSettings)
    plan = plan_annotation(
        pool,
        protocol=protocol,
        repeats=repeats,
        items_per_call=rare.items_per_call,
        rubrics=rubrics,
        dimensions=split_codes(dimensions),
    )
    asking = Asking(model, base_url, max_cost, dry_run, rare).one(out, plan.max_tokens)
    if asking.dry_run:
        asking.print_estimate(plan.questions, plan.usual_tokens)
        return
    with asking.open("annotating") as asker:
        result = carry_out(plan, [asker], aggregate=rare.aggregate, seed=rare.seed)
    facts = {"protocol": result.protocol, "calls": result.calls, "stored": result.stored, "cost": result.cost}
    if not emit(result.tables(), out=out, as_json=as_json, **facts, warnings=list(result.warnings)):
        _print(result)


def split_codes(text: str) -> list[str] | None:
    """Return the dimensions named, None where none is."""
    codes = [code.strip() for code in text.split(",") if code.strip()]
    return codes or None


def shown_agreement(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row per dimension: each statistic, kappa with its interval, and the notes."""
    import polars as pl

    wide = table.pivot("statistic", index="dimension", values="value", maintain_order=True)
    kappa = table.filter(pl.col("statistic") == "kappa")
    return wide.join(
        kappa.select("dimension", kappa_low="low", kappa_high="high", n="n", note="note"), on="dimension", how="left"
    )


def _print(result: Annotation) -> None:
    import polars as pl

    told = pl.concat_str("dimension", pl.col("level").cast(pl.String), separator=" ")
    asked = result.demands.filter(pl.col("level") > 0).sort("level", descending=True, maintain_order=True)
    levels = asked.group_by("item").agg(levels=told.str.join(", "))
    items = result.demands.select("item").unique(maintain_order=True)
    table = items.join(levels, on="item", how="left", maintain_order="left").with_columns(
        pl.col("levels").fill_null("")
    )
    print_table(table, title=f"{result.heading}; levels above 0", rows=40)
    if result.agreement.height:
        title = "Agreement of the readings (kappa with 90% interval over items)"
        print_table(shown_agreement(result.agreement), title=title)
    if result.unparsed.height:
        counts = result.unparsed.group_by("reason", maintain_order=True).agg(
            cells=pl.len(), items=pl.col("item").n_unique(), first=pl.col("item").first()
        )
        print_table(counts.sort("cells", descending=True), title="Cells without a level", rows=10)
    console.print(
        f"{counted(result.calls, 'call')}, {counted(result.stored, 'answer')} from the journal, {money(result.cost)}"
    )
    for warning in result.warnings:
        print_note(warning)
    if result.demands.height:
        console.print(say_levels(result.demands))
