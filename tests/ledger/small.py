"""Updates of a small store: three models, two benchmarks, a few scores."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from mensura.ledger import CellChange, Ledger, Update, init_ledger, open_ledger

WHEN = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ANN = {"by": "Ann", "when": WHEN}
BOB = {"by": "Bob", "when": WHEN.replace(hour=13)}

TABLES = {
    "models": """\
subject,name,provider,released,reasoning,line,tier
big-1,Big 1,Acme,2025-01-01,yes,big,0
big-2,Big 2,Acme,2026-01-01,yes,big,0
small-1,Small 1,Acme,2026-01-01,no,small,-1
""",
    "benchmarks": """\
benchmark,name,kind,unit,in_composite
swe_marathon,SWE Marathon,frontier,percent,yes
hle,Humanity's Last Exam,frontier,percent,yes
""",
    "sources": "source,name\nboard,The board\nlab,A lab\n",
    "scores": """\
subject,benchmark,score,unit,primary,source,date,note
big-1,swe_marathon,12,percent,yes,board,2026-01,
big-1,hle,30.5,percent,yes,lab,2025-02,
big-2,hle,41,percent,yes,lab,2026-02,"with a comma, a ""quote"", and"
""",
}

MAPPING = """\
name = "board"
reads = "csv"
[source]
source = "board"
name = "The board"
[model]
column = "Model"
[best]
by = "Score"
named = "Agent"
[[figures]]
benchmark = "swe_marathon"
column = "Score"
unit = "percent"
"""
"""How a board of SWE Marathon is read: a CSV file of Model, Agent, Score."""


def write_small(folder: Path) -> Path:
    """Write the tables as a folder of evidence."""
    folder.mkdir()
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


@cache
def _store() -> bytes:
    with TemporaryDirectory() as folder:
        made = init_ledger(Path(folder) / "store.sqlite", write_small(Path(folder) / "small"), **ANN)
        return made.path.read_bytes()


def small_ledger(path: Path) -> Ledger:
    """A store of the tables, by Ann: made once by each process of the tests, of which this is a copy."""
    path.write_bytes(_store())
    return open_ledger(path)


def score(subject, benchmark, old, new, source="board", line=None):
    """The change of one score."""
    return CellChange("scores", (subject, benchmark, source), "score", old, new, line)


def new_score(subject, benchmark, value, source="board", primary="yes", line=None):
    """The cells of a new score."""
    row = (subject, benchmark, source)
    cells = {"score": value, "unit": "percent", "primary": primary}
    return tuple(CellChange("scores", row, field, None, cell, line) for field, cell in cells.items())


def update(*changes, title="an update"):
    return Update(title=title, source="board", changes=changes)
