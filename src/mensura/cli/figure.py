"""``mensura figure``: any picture of the report as a file for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.iq_method import Method
from mensura.cli.output import Json, console, emit
from mensura.cli.paths import check_output
from mensura.cli.tables import print_table
from mensura.core.cache import keep
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.evidence import Evidence

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
        Path | None, typer.Option("--out", help="File to write: .svg, .png, .pdf or .html.", callback=check_output)
    ] = None,
    width: Annotated[str, typer.Option(help="Width in millimetres; columns are usually 89 or 183.")] = "89mm",
    dpi: Annotated[int, typer.Option(help="Dots per inch of a PNG.")] = 300,
    show_list: Annotated[bool, typer.Option("--list", help="List the pictures.")] = False,
    method: Method = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    as_json: Json = False,
) -> None:
    """Draw one picture of the report, sized and lettered for a paper, without a browser."""
    if show_list:
        from mensura.site.pictures import picture_table

        listed = picture_table()
        if not emit({"figures": listed}, out=None, as_json=as_json):
            print_table(listed, title="Pictures")
        return
    if name is None or out is None:
        raise MensuraError(
            "figure: give a NAME and --out FILE (.svg, .png, .pdf or .html); mensura figure --list names them all"
        )
    from mensura.charts.render import check_figure, write_drawing

    millimetres = _millimetres(width)
    check_figure(out, millimetres, dpi)
    millimetres = 0.0 if out.suffix.lower() == ".html" else millimetres
    drawing = _drawing(load_evidence(evidence, add, released), name, millimetres, method)
    write_drawing(drawing["svg"], out, dpi)
    words = {key: drawing[key] for key in ("figure", "title", "caption")}
    if not emit({}, out=None, as_json=as_json, **words, file=out):
        console.print(f"wrote {out}: {drawing['title']}")


def _drawing(evidence: Evidence, name: str, width_mm: float, method: str | None) -> dict[str, str]:
    """Return a picture's SVG (without a width: its page) and its words; a picture drawn before is kept."""

    def compute() -> dict[str, str]:
        from mensura.site.pictures import find_picture
        from mensura.study.study import open_piecewise

        build = find_picture(evidence, name)  # a name that is not known is refused before anything is computed
        found = build(open_piecewise(evidence, method))
        drawn = {"svg": found.drawing.svg(width_mm) if width_mm else found.drawing.page()}
        return {"figure": found.name, "title": found.title, "caption": found.caption, **drawn}

    return keep("figure", evidence, {"name": name, "width": width_mm, "method": method}, compute)


def _millimetres(width: str) -> float:
    try:
        return float(width.removesuffix("mm"))
    except ValueError:
        raise MensuraError(f"width: got {width!r}; expected millimetres, such as 89 or 89mm") from None
