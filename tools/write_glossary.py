"""Ship the glossary of the documents with the package: ``python -m tools.write_glossary``."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from mensura.core.files import write_csv
from mensura.site.texts import FILE

GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"
_LINE = re.compile(r"- \*\*(?P<term>.+?)\*\*(?P<also>[^:]*): (?P<meaning>.+)")


def read_glossary(text: str) -> pl.DataFrame:
    """Return term and meaning of each line, without marks and links to other documents."""
    joined = re.sub(r"\n +", " ", text)
    found = [_LINE.fullmatch(line) for line in joined.splitlines()]
    rows = [(one["term"], _plain(one["also"].strip() + " " + one["meaning"])) for one in found if one]
    return pl.DataFrame(rows, schema=["term", "meaning"], orient="row")


def _plain(text: str) -> str:
    """Return the text without emphasis; a sentence that only points to another document goes."""
    text = re.sub(r" ?See (also )?\[[^\]]*\]\([^)]*\)\.", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*`]([^*`]+)[*`]", r"\1", text).strip()


def main() -> None:
    """Write the file."""
    table = read_glossary(GLOSSARY.read_text(encoding="utf-8"))
    write_csv(table, FILE)
    print(f"{FILE.name}: {table.height} terms")


if __name__ == "__main__":
    main()
