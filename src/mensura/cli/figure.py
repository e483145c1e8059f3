"""``mensura figure``: any picture of the report as a file for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, load_evidence
from mensura.cli.output import Json, console, emit, print_table
from mensura.cli.paths import check_output
from mensura.errors import MensuraError

EXAMPLES = """
[bold]Examples[/]

  mensura figure --list
  mensura figure iq-bell --out bell.svg
  mensura figure capability-time --out capability.png --width 183
  mensura figure profile-gpt-5.5 --out profile.pdf
"""


def figure(
    name: Annotated[str | None, typer.Argument(help="Which picture; --list names them all.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write: .svg, .png or .pdf.", callback=check_output)
    ] = None,
    width: Annotated[str, typer.Option(help="Width in millimetres; columns are usually 89 or 183.")] = "89mm",
    dpi: Annotated[int, typer.Option(help="Dots per inch of a PNG.")] = 300,
    show_list: Annotated[bool, typer.Option("--list", help="List the pictures.")] = False,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    as_json: Json = False,
) -> None:
    """Draw one picture of the report, sized and lettered for a paper, without a browser."""
    from mensura.charts import check_figure, save
    from mensura.site.pictures import draw, picture_table
    from mensura.site.study import Study

    if show_list:
        listed = picture_table()
        if not emit({"figures": listed}, out=None, as_json=as_json):
            print_table(listed, title="Pictures")
        return
    if name is None or out is None:
        raise MensuraError(
            "figure: give a NAME and --out FILE (.svg, .png or .pdf); mensura figure --list names them all"
        )
    millimetres = _millimetres(width)
    check_figure(out, millimetres, dpi)
    drawn = draw(Study.open(load_evidence(evidence, add)), name)
    save(drawn.chart, out, width_mm=millimetres, dpi=dpi)
    if not emit({}, out=None, as_json=as_json, figure=drawn.name, title=drawn.title, caption=drawn.caption, file=out):
        console.print(f"wrote {out}: {drawn.title}", soft_wrap=True)


def _millimetres(width: str) -> float:
    try:
        return float(width.removesuffix("mm"))
    except ValueError:
        raise MensuraError(f"width: got {width!r}; expected millimetres, such as 89 or 89mm") from None
