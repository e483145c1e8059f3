"""``mensura record`` and ``brief``: how often Mensura's own claims came true, and half a page for a policy reader."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from mensura.cli.inputs import load_evidence
from mensura.cli.options import AddedScores, EvidencePath, Json, Out, opt
from mensura.cli.output import console, emit, print_json, progress_bar
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

_TITLES = {
    "summary": "Claims, and the Brier score of their chances (0 is perfect) beside that of one chance for all",
    "calibration": "Chances: said, and how often it came true (90% interval)",
    "intervals": "90% intervals of new models' IQ, by the number of tests measured then",
    "forecasts": "Forecasts of the best capability, and the error of saying that nothing changes",
    "misses": "Where Mensura was most wrong",
}


def record(
    rebuild: Annotated[bool, opt("Make and grade all claims again from the evidence; takes minutes.")] = False,
    evidence: EvidencePath = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show how often Mensura's own claims came true, as known then and reconstructed, never mixed."""
    from mensura.study.grading import grade_record, shipped_record
    from mensura.study.record import FIRST_KNOWN, FIRST_RECONSTRUCTED, build_record, month_ends

    if evidence is not None and not rebuild:
        raise MensuraError("The shipped record rests on the shipped evidence; add --rebuild to grade claims from yours")
    graded = shipped_record()
    if rebuild:
        loaded = load_evidence(evidence)
        last = date.fromisoformat(str(loaded.scores["date"].max()))
        months = sum(len(month_ends(first, last)) for first in (FIRST_KNOWN, FIRST_RECONSTRUCTED))
        with progress_bar("Months", months) as advance:
            graded = grade_record(build_record(loaded, advance))
    tables = {name: getattr(graded, name) for name in graded.TABLES}
    emit(tables, out, as_json, sentence=graded.sentence)
    for name, title in _TITLES.items():
        print_table(tables[name], title=title, digits=2, rows=12)
    console.print(graded.heading)


def brief(evidence: EvidencePath = None, add: AddedScores = None, as_json: Json = False) -> None:
    """Write half a page in Markdown: every sentence with its number, interval, source and command."""
    from mensura.study import Study
    from mensura.study.brief import brief_sentences, write_brief
    from mensura.study.outlook import next_year_words

    study = Study.open(load_evidence(evidence, add))
    if as_json:
        rows = [{"about": head, "text": text, "command": command} for head, text, command in brief_sentences(study)]
        print_json({"sentences": rows, "next_year": next_year_words(study)})
        return
    print(write_brief(study), end="")
