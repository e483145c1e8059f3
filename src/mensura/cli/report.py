"""``mensura report``: the product's main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.frozen_iq import Scale
from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.iq_method import Method
from mensura.cli.output import Json, console, notices, print_json
from mensura.cli.paths import check_output
from mensura.cli.progress import progress_bar
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = """
[bold]Examples[/]

  mensura report --out report --add mine.csv
  mensura report --method published --out published
"""


def report(
    out: Annotated[Path, typer.Option("--out", help="Folder to write the report into.", callback=check_output)] = Path(
        "report"
    ),
    scale: Scale = None,
    method: Method = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    calibration: Annotated[
        str | None,
        typer.Option(
            help="What levels are read with: open, published, or a file of mensura calibrate.", metavar="NAME|FILE"
        ),
    ] = None,
    url: Annotated[
        str,
        typer.Option(
            help="Where the report will stand (https://…/), for canonical links, feeds, sitemap and shared pictures; "
            "relative when not given.",
            metavar="ADDRESS",
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Write the report, a static site that works from its folder, and print its headline table."""
    if scale is not None and method is not None:
        raise MensuraError(f"--scale {scale}: a frozen scale has its own method; leave out --method")
    from mensura.calibration import chosen_lines
    from mensura.iq import frozen_evidence, left_out, new_subjects
    from mensura.site import build_report, count_pages, log_of

    loaded = load_evidence(evidence, add, released)
    lines = chosen_lines(calibration, loaded.calibration)
    placed = [] if scale is None else new_subjects(frozen_evidence(scale), loaded)
    for said in () if scale is None else left_out(loaded, scale):
        notices.print(f"warning: {said}")
    with progress_bar("Pages", count_pages(loaded) + len(placed)) as advance:
        headline = build_report(
            loaded, out, lines=lines, advance=advance, address=url, log=log_of(evidence), scale=scale, method=method
        )
    if as_json:
        print_json({"report": out / "index.html", "headline": headline.to_dicts()})
        return
    print_table(_for_people(headline), title="Composite IQ and capability on the stitched scale", rows=15)
    if headline.height:
        best = headline.row(0, named=True)
        span = f" ({best['iq_low']:.0f} to {best['iq_high']:.0f}, 90%)" if best["iq_low"] is not None else ""
        console.print(f"{best['name']} has the highest IQ: {best['iq']}{span}. The page iq.html says how sure that is.")
    console.print(f"The report is at {out / 'index.html'}")


def _for_people(headline: pl.DataFrame) -> pl.DataFrame:
    """Return the headline table in the width of a terminal."""
    import polars as pl

    interval = pl.format(
        "{} to {}", pl.col("iq_low").round(0).cast(pl.Int64), pl.col("iq_high").round(0).cast(pl.Int64)
    )
    return headline.select(
        "rank", model="name", IQ="iq", interval=interval, measured="measured", capability="capability"
    )
