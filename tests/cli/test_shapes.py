"""What each command prints: its lines and tables, their columns, rows and digits, as they were approved.

``APPROVE=1 pytest tests/cli/test_shapes.py`` takes over what is printed now.
"""

import os
import re
from itertools import groupby
from pathlib import Path

import pytest

from tests.cli.every_command import COMMANDS, FILE_OUT, filled

pytestmark = pytest.mark.slow

APPROVED = Path(__file__).parent / "approved"
ELSEWHERE = {"report", "figure", "responses draw", "exam new", "export"}
"""Commands that print no table, or that print one only after more than a test may take."""
FURTHER = {
    "add many": "add {many} --unit percent",
    "annotate twice": "annotate example --model recorded/example --repeats 2",
    "cost of all": "cost --evidence {evidence}",
    "cost at least": "cost --evidence {evidence} --at-least 100 --by sticker_price",
    "demands merge": "demands agreement {readings} {readings} --merge median",
    "demands merged": "demands agreement {raters} --merge ordinal",
    "evidence models": "evidence summary --models all",
    "evidence check": "evidence check {store}",
    "evidence captures": "evidence log --captures --store {store}",
    "evidence diff": "evidence diff 0 --store {store}",
    "evidence differs": "evidence diff embedded --store {store}",
    "evidence entry": "evidence log --entry 1 --store {store}",
    "evidence history": "evidence log big-1 --store {store}",
    "evidence log": "evidence log --store {store}",
    "evidence mappings": "evidence mappings",
    "evidence policy": "evidence policy --store {store}",
    "extrapolate pool": "extrapolate {pool} --from DEU --domain reading --set draws=20 --by age",
    "extrapolate asked": "extrapolate example --model recorded/example-rates",
    "iq of one": "iq gpt-5.5 --set draws=20 --evidence {evidence}",
    "iq changes": "iq --method published --against ladders=recut",
    "iq sensitivity": "iq --method published --check sensitivity --evidence {evidence}",
    "iq validate": "iq --method published --check imputation --evidence {evidence}",
    "people pools": "people summary",
    "responses form": "responses next {fitted} --form 42",
    "people import thin": "people import {answers} --items ^q --person who --set min_answers=150 --out {out}",
    "stitch at": "stitch --scale 2026-12 --at 1.5",
    "stitch on scale": "stitch --scale 2026-12 --evidence {evidence}",
    "stitch residuals": "stitch {scores} --check residuals",
    "trends published": "trends {scores} --method rosetta --anchor-benchmark b0",
    "validate asked": "validate example --model recorded/example-rates",
    "validate countries": "validate {countries}",
    "validate linked": "validate {pool} --situation linked --set draws=2",
}
CALLS = {name: [*name.split(), *words] for name, words in COMMANDS.items() if name not in ELSEWHERE}
CALLS |= {name: words.split() for name, words in FURTHER.items()}
NUMBER = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.(\d+))?(?:e[-+]\d+)?")


@pytest.fixture
def near(inputs, tmp_path, monkeypatch):
    """The same files under short names in the working directory: how a title breaks hangs on the length of a path."""
    monkeypatch.chdir(tmp_path)
    base = Path(inputs["pool"]).parent
    (tmp_path / "inputs").symlink_to(base)

    def short(place):
        return [short(one) for one in place] if isinstance(place, list) else place.replace(str(base), "inputs")

    return {name: short(place) for name, place in inputs.items()}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_printed_has_the_shape_that_was_approved(name, near, mensura_command):
    run = mensura_command(*filled(CALLS[name], near, FILE_OUT.get(name, "out")), width=1000)
    assert run.code == 0, run.err
    told = "\n".join(shapes(run.out)) + "\n"
    file = APPROVED / f"{name.replace(' ', '-')}.txt"
    if os.environ.get("APPROVE"):
        file.write_text(told, encoding="utf-8")
    assert told == file.read_text(encoding="utf-8")


def shapes(printed):
    """Lines by their first and last words; a table by its columns, order, and cut."""
    lines = [
        line.rstrip() for line in printed.splitlines() if line.strip() and not line.startswith(("warning", "check"))
    ]
    height = 0
    for is_table, part in groupby(lines, key=lambda line: line[0] in "┏┃┡│└"):
        if is_table:
            head, *rows = (re.split("[┃│]", line)[1:-1] for line in part if line[0] in "┃│")
            height = len(rows)
            columns = list(zip(head, *rows, strict=True))
            yield f"  {' | '.join(f'{name.strip()} {form(cells)}'.strip() for name, *cells in columns)}"
            yield from order(columns)
        else:
            text = masked(" ".join(" ".join(part).split()))
            if text.startswith("… and # more row"):
                yield f"  {height} rows"
            yield text if len(text) < 240 else f"{text[:160]} … {text[-60:]}"


def form(cells):
    """How the numbers of a column are written; nothing of a column of texts."""
    forms = {masked(cell.strip()) for cell in cells} - {"–", ""}
    return " or ".join(sorted(forms)) if all(set(found) <= set("#.") for found in forms) else ""


def order(columns):
    """The first column of numbers or dates that falls or rises: what the rows are sorted by."""
    for name, *cells in columns:
        told = [cell.strip() for cell in cells if cell.strip() not in ("–", "")]
        values = [float(cell.replace(",", "")) if NUMBER.fullmatch(cell) else cell for cell in told]
        if form(cells) and len(set(values)) > 3:  # a few stand in some order by chance
            if values == sorted(values, reverse=True):
                yield f"  {name.strip()} falls"
                return
            if values == sorted(values):
                yield f"  {name.strip()} rises"
                return


def masked(text):
    """A text with # for every number, and its decimals: how it is written, not what it is."""
    return NUMBER.sub(lambda found: "#" if found[1] is None else "#." + "#" * len(found[1]), text)
