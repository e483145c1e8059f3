"""``mensura report``, ``figure``, ``serve``, ``mcp``, ``record`` and ``brief``: sites, pictures, agents, own claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl

from mensura.cli.inputs import load_evidence
from mensura.cli.options import AddedScores, EvidencePath, Json, Method, Out, arg, infile, opt, outfile
from mensura.cli.output import console, emit, notices, progress_bar, waiting
from mensura.cli.tables import print_table, show
from mensura.core.cache import keep
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, load

if TYPE_CHECKING:
    from mensura.serve import ReviewerSecret


def report(
    target: Annotated[Path, outfile("Folder to write the report into.", "--out")] = Path("report"),
    method: Method = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    calibration: Annotated[str | None, opt("Calibration of levels: open, published or a file.")] = None,
    url: Annotated[str, opt("Address of the report, for canonical links, feeds and sitemap.")] = "",
    as_json: Json = False,
) -> None:
    """Write the report, a static site that works from its folder, and print its headline table."""
    from mensura.calibration import chosen_lines
    from mensura.site import build_report, count_pages, log_of

    loaded = load_evidence(evidence, add)
    lines = chosen_lines(calibration, loaded.calibration)
    with progress_bar("Pages", count_pages(loaded)) as advance:
        headline = build_report(
            loaded, target, lines=lines, advance=advance, address=url, log=log_of(evidence), method=method
        )
    emit({"headline": headline}, report=target / "index.html")
    print_table(_for_people(headline), title="Composite IQ and capability on the stitched scale", rows=15)
    if headline.height:
        best = headline.row(0, named=True)
        span = f" ({best['iq_low']:.0f} to {best['iq_high']:.0f}, 90%)" if best["iq_low"] is not None else ""
        console.print(f"{best['name']} has the highest IQ: {best['iq']}{span}. The page iq.html says how sure that is.")
    console.print(f"The report is at {target / 'index.html'}")


def _for_people(headline: pl.DataFrame) -> pl.DataFrame:
    """Return the headline table in the width of a terminal."""
    ends = [pl.col(name).round(0).cast(pl.Int64) for name in ("iq_low", "iq_high")]
    interval = pl.format("{} to {}", *ends).alias("interval")
    return headline.select(
        "rank", pl.col("name").alias("model"), pl.col("iq").alias("IQ"), interval, "measured", "capability"
    )


def figure(
    words: Annotated[
        list[str] | None, arg("Which picture, and of what; --list names them all.", metavar="NAME")
    ] = None,
    target: Annotated[Path | None, outfile("File to write: .svg, .png or .pdf.", "--out")] = None,
    width: Annotated[str, opt("Width in millimetres; columns are usually 89 or 183.")] = "89mm",
    dpi: Annotated[int, opt("Dots per inch of a PNG.")] = 300,
    show_list: Annotated[bool, opt("List the pictures.", "--list")] = False,
    method: Method = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    as_json: Json = False,
) -> None:
    """Draw one picture of the report, sized and lettered for a paper, without a browser."""
    if show_list:
        from mensura.site.pictures import picture_table

        listed = {"figures": picture_table()}
        emit(listed)
        show(listed, "figure")
        return
    if not words or target is None:
        raise MensuraError("figure: give a NAME and --out FILE.svg (or .png); mensura figure --list names them all")
    from mensura.charts.render import check_figure, write_drawing

    try:
        millimetres = float(width.removesuffix("mm"))
    except ValueError:
        raise MensuraError(f"width: got {width!r}; expected millimetres, such as 89 or 89mm") from None
    check_figure(target, millimetres, dpi)
    drawing = _drawing(load_evidence(evidence, add), "-".join(words), millimetres, method)
    write_drawing(drawing["svg"], target, dpi)
    about = {key: drawing[key] for key in ("figure", "title", "caption")}
    emit({}, **about, file=target)
    console.print(f"wrote {target}: {drawing['title']}")


def _drawing(evidence: Evidence, name: str, width_mm: float, method: str | None) -> dict[str, str]:
    """Return a picture's SVG and its words; a picture drawn before is kept."""

    def compute() -> dict[str, str]:
        from mensura.site.pictures import find_picture
        from mensura.study.study import open_piecewise

        build = find_picture(evidence, name)  # a name that is not known is refused before anything is computed
        picture = build(open_piecewise(evidence, method))
        words = {"figure": picture.name, "title": picture.title, "caption": picture.caption}
        return {**words, "svg": picture.drawing.svg(width_mm)}

    return keep("figure", evidence, {"name": name, "width": width_mm, "method": method}, compute)


Port = Annotated[int, opt("Port to listen on.", min=1, max=65535)]
Host = Annotated[str, opt("Address to listen on; the default is reached from this machine only.")]
HostNames = Annotated[list[str] | None, opt("A host name of the site, such as that of a proxy; repeatable.", "--name")]


def read_secret(command: str, host: str, names: list[str] | None, file: Path | None) -> ReviewerSecret | None:
    """Return the secret in a file, and warn of what others on this machine or in the network can read."""
    try:
        from mensura.serve import ReviewerSecret, is_loopback, is_open_to_others
    except ModuleNotFoundError as fault:
        raise MensuraError(f"{command}: {fault.name} is not installed; run pip install 'mensura[serve]'") from fault
    if file is not None and is_open_to_others(file):
        notices.print(f"warning: others on this machine can read {file}")
    if not is_loopback(host) and (file is not None or command == "exam serve"):
        notices.print("warning: without TLS before it, secrets, codes and answers cross the network unprotected")
    if not is_loopback(host) and not names:
        notices.print(
            f"warning: --host {host} answers to any host name, so a page elsewhere may read it through a visitor's "
            "browser; --name HOST names the ones that are right"
        )
    return None if file is None else ReviewerSecret.read(file)


def serve(
    port: Port = 8000,
    host: Host = "127.0.0.1",
    store: Annotated[Path | None, infile("Store (mensura evidence init) or folder of CSV files.")] = None,
    method: Method = None,
    reviewer_secret_file: Annotated[Path | None, infile("File with the secret that opens /review.")] = None,
    names: HostNames = None,
) -> None:
    """Serve the report live: the same pages and files, renewed whole when the evidence changes."""
    secret = read_secret("serve", host, names, reviewer_secret_file)
    from mensura.serve import serve_site

    notices.print(f"http://{host}:{port}/ (the pages are there in a minute; Ctrl-C ends)")
    with waiting.paused():
        serve_site(store, host=host, port=port, names=names or [], secret=secret, method=method)


def mcp(
    store: Annotated[Path | None, infile("Store or folder of evidence instead of the embedded one.")] = None,
    http: Annotated[int | None, opt("Port for HTTP (at /mcp); by default stdio.", min=1, max=65535)] = None,
) -> None:
    """Answer agents by the Model Context Protocol, over standard input and output or HTTP; read-only."""
    try:
        from mensura.serve.agent_server import agent_server
    except ModuleNotFoundError as fault:
        raise MensuraError(f"mcp: {fault.name} is not installed; run pip install 'mensura[mcp]'") from fault

    server = agent_server(lambda: load(store))
    if http is None:
        with waiting.paused():
            server.run("stdio")
        return
    try:
        from mensura.serve.serving import run_app
    except ModuleNotFoundError as fault:
        raise MensuraError(f"mcp: {fault.name} is not installed; run pip install 'mensura[mcp,serve]'") from fault
    notices.print(f"http://127.0.0.1:{http}/mcp (Ctrl-C ends)")
    with waiting.paused():
        run_app(server.streamable_http_app(stateless_http=True, json_response=True), port=http)


def record(evidence: EvidencePath = None, out: Out = None, as_json: Json = False) -> None:
    """Show how often Mensura's own claims came true, as known then and reconstructed, never mixed.

    With ``--evidence`` it makes and grades all claims again from that evidence, which takes minutes.
    """
    from mensura.study.grading import grade_record, shipped_record
    from mensura.study.record import FIRST_KNOWN, FIRST_RECONSTRUCTED, build_record, month_ends

    graded = shipped_record()
    if evidence is not None:
        loaded = load_evidence(evidence)
        months = sum(len(month_ends(first, loaded.newest)) for first in (FIRST_KNOWN, FIRST_RECONSTRUCTED))
        with progress_bar("Months", months) as advance:
            graded = grade_record(build_record(loaded, advance))
    tables = {name: getattr(graded, name) for name in graded.TABLES}
    emit(tables, sentence=graded.sentence)
    show(tables, "record")
    console.print(graded.heading)


def brief(evidence: EvidencePath = None, add: AddedScores = None, as_json: Json = False) -> None:
    """Write half a page in Markdown: every sentence with its number, interval, source and command."""
    from mensura.study import Study
    from mensura.study.brief import brief_sentences, write_brief
    from mensura.study.outlook import next_year_words

    study = Study.open(load_evidence(evidence, add))
    keys = ("about", "text", "source", "command")
    rows = [dict(zip(keys, sentence, strict=True)) for sentence in brief_sentences(study)]
    emit({}, sentences=rows, next_year=next_year_words(study))
    print(write_brief(study), end="")
