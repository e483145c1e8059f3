"""The page on world rates names what the code has."""

from pathlib import Path

from mensura.extrapolation.poststratification import BREAKDOWNS
from mensura.extrapolation.protocol import SENSITIVITY_COLUMNS
from mensura.people import World

ROOT = Path(__file__).parents[2]


def test_page_names_tables_columns_and_breakdowns():
    page = (ROOT / "docs" / "extrapolation-world.md").read_text(encoding="utf-8")
    wanted = [
        "item",
        "rate",
        "low",
        "high",
        "status",
        "method",
        *SENSITIVITY_COLUMNS,
        *BREAKDOWNS,
        "strata.csv",
        "assumptions.csv",
        "curves.csv",
    ]
    assert [word for word in wanted if word not in page] == []


def test_table_notes_count_their_rows():
    notes = (ROOT / "src/mensura/people/data/world/README.md").read_text(encoding="utf-8")
    world = World.load()
    for name in ("strata", "countries", "links", "assumptions", "curves", "domains", "populations"):
        assert f"| `{name}.csv` | {getattr(world, name).height:,} |" in notes
