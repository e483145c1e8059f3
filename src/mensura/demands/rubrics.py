"""The dimensions in which items make demands, and their rubrics: what each level asks for, ours or a user's own.

One file ``CODE.txt`` per dimension, UTF-8, in the layout of the published ADeLe rubrics::

    # Title                                (optional)
    What the dimension is about, in one or more lines.

    Level 0: None. One paragraph.
    Examples:                              (optional, also at the end of the paragraph)
    * an example
    …
    Level 5: Very high. One paragraph.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv, require_columns
from mensura.intake.tables import read_table

DATA = Path(__file__).parent / "data"
UNGUESSABILITY = "UG"
HIGHEST = 5
LEVELS = tuple(range(HIGHEST + 1))
_LEVEL = re.compile(r"^[#*\s]*Level\s+(\d+)\s*[:.]\**\s*(.*)$", re.IGNORECASE)
_LABEL = re.compile(r"^((?:[\w-]+\s+){0,2}[\w-]+)\.\s+(?=\S)")
_BULLET = re.compile(r"^[*•–-]\s+(.*)$")
_EXAMPLES = re.compile(r"^(.*?)\s*\bExamples?\s*:\s*$", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,15}")


@dataclass(frozen=True)
class Dimension:
    """One dimension: its code, the group it belongs to, and what it means.

    ``kind``: primordial, knowledge or extraneous, as the published framework sorts them, or what a user's own table
    says.
    """

    code: str
    group: str
    group_name: str
    name: str
    kind: str
    meaning: str


@cache
def dimension_table() -> pl.DataFrame:
    """Return the eighteen dimensions that are annotated, and UG, which is computed.

    Returns
    -------
    polars.DataFrame
        dimension, group, group_name, name, kind, meaning.

    Examples
    --------
    >>> from mensura.demands import dimension_table
    >>> dimension_table().height
    19

    """
    return read_csv(DATA / "dimensions.csv")


@cache
def boundary_table() -> pl.DataFrame:
    """Return the rules for subjects that annotators have put in different dimensions.

    Returns
    -------
    polars.DataFrame
        topic, dimensions, rule.

    Examples
    --------
    >>> from mensura.demands import boundary_table
    >>> boundary_table().columns
    ['topic', 'dimensions', 'rule']

    """
    return read_csv(DATA / "boundaries.csv")


@cache
def annotated_dimensions() -> dict[str, Dimension]:
    """Return the eighteen dimensions by code, in the published order; Unguessability is computed and not among them."""
    rows = dimension_table().filter(pl.col("dimension") != UNGUESSABILITY).iter_rows()
    return {row[0]: Dimension(*row) for row in rows}


@dataclass(frozen=True)
class RubricLevel:
    """One level of a rubric: its number, a short label, a paragraph, examples."""

    level: int
    label: str
    text: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Rubric:
    """The six levels of one dimension, and what the dimension is about.

    Attributes
    ----------
    dimension
        Code, group, name and meaning.
    about
        The introduction.
    levels
        Six levels: number, label, text and examples.

    """

    dimension: Dimension
    about: str
    levels: tuple[RubricLevel, ...]

    @property
    def code(self) -> str:
        """The dimension's code, such as ``QLl``."""
        return self.dimension.code

    def as_text(self) -> str:
        """Return the rubric as an annotator reads it."""
        parts = [f"{self.code} {self.dimension.name}", self.about]
        for level in self.levels:
            label = f"{level.label}. " if level.label else ""
            shown = [f"Level {level.level}: {label}{level.text}"]
            if level.examples:
                shown += ["Examples:", *(f"* {example}" for example in level.examples)]
            parts.append("\n".join(shown))
        return "\n\n".join(part for part in parts if part)


def load_rubrics(folder: str | Path | None = None, dimensions: Iterable[str] | None = None) -> dict[str, Rubric]:
    """Load the rubrics by code: Mensura's, and on top of them those of a folder, which replace or extend them.

    Parameters
    ----------
    folder
        Folder with files CODE.txt, such as PLp.txt.
    dimensions
        Codes to pick, in this order; all when not given.

    Returns
    -------
    dict
        The rubric of each code.

    Raises
    ------
    MensuraError
        If a file is not understood, or a code has no rubric.

    Examples
    --------
    >>> from mensura.demands import load_rubrics
    >>> load_rubrics(dimensions=["KNc"])["KNc"].dimension.group
    'KN'

    """
    rubrics = dict(_own_rubrics())
    if folder is not None:
        own = _read_folder(Path(folder))
        _refuse_near_names(own, rubrics, Path(folder))
        rubrics |= own
    if dimensions is None:
        return rubrics
    chosen = list(dict.fromkeys(dimensions))
    unknown = [code for code in chosen if code not in rubrics]
    if unknown or not chosen:
        named = f"no rubric for {', '.join(map(repr, unknown))}" if unknown else "none named"
        raise MensuraError(f"dimensions: {named}; expected {', '.join(rubrics)} (capital letters matter)")
    return {code: rubrics[code] for code in chosen}


@cache
def _own_rubrics() -> dict[str, Rubric]:
    return _read_folder(DATA / "rubrics")


def read_rubric(path: Path, dimension: Dimension | None = None) -> Rubric:
    """Read one rubric file; a fault names the file, the line and what was expected there."""
    if not _CODE.fullmatch(path.stem) or path.stem.upper() == UNGUESSABILITY:
        reason = "is computed, not annotated" if path.stem.upper() == UNGUESSABILITY else "is no code of a dimension"
        raise MensuraError(
            f"{path}: {path.stem!r} {reason}; name the file CODE.txt, up to 16 letters and digits, such as PLp.txt"
        )
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (UnicodeDecodeError, OSError) as fault:
        raise MensuraError(f"{path}: not a readable UTF-8 text file ({fault}); save it as UTF-8") from fault
    headings = [(at, match) for at, line in enumerate(lines) if (match := _LEVEL.match(line.strip()))]
    _check_headings(path, headings, len(lines))
    head = [line.strip() for line in lines[: headings[0][0]] if line.strip()]
    title = head.pop(0).lstrip("#").strip() if head and head[0].startswith("#") else ""
    ends = [*(at for at, _ in headings[1:]), len(lines)]
    levels = [
        _read_level(path, at + 1, number, [match[2], *lines[at + 1 : end]])
        for number, ((at, match), end) in enumerate(zip(headings, ends, strict=True))
    ]
    name = title or path.stem
    return Rubric(dimension or Dimension(path.stem, path.stem, name, name, "own", ""), " ".join(head), tuple(levels))


def _check_headings(path: Path, headings: list[tuple[int, re.Match[str]]], lines: int) -> None:
    """Refuse levels that are not 0 to 5, in order."""
    if not headings:
        raise MensuraError(f"{path}, line {max(lines, 1)}: no level found; expected a line 'Level 0: …'")
    for expected, (at, match) in enumerate(headings):
        if int(match[1]) != expected or expected > HIGHEST:
            wanted = f"'Level {expected}: …'" if expected <= HIGHEST else f"the end of the file after level {HIGHEST}"
            raise MensuraError(
                f"{path}, line {at + 1}: expected {wanted}, got 'Level {match[1]}' (levels 0 to {HIGHEST}, in order)"
            )
    if len(headings) != len(LEVELS):
        raise MensuraError(
            f"{path}, line {lines}: the file ends after level {len(headings) - 1}; "
            f"expected 'Level {len(headings)}: …' (levels 0 to {HIGHEST}, in order)"
        )


def _read_level(path: Path, number: int, level: int, lines: list[str]) -> RubricLevel:
    """Read one level, from line ``number`` on: a paragraph, then examples behind bullets or the word "Examples"."""
    words: list[str] = []
    examples: list[str] | None = None
    for line in filter(None, map(str.strip, lines)):
        bullet, opening = _BULLET.match(line), _EXAMPLES.match(line)
        if opening and examples is None:
            examples = []
            words += [opening[1]] if opening[1] else []
        elif bullet and (examples is not None or words):
            examples = [*(examples or []), bullet[1]]
        elif examples:
            examples[-1] += f" {line}"
        else:
            words.append(line)
    text = " ".join(words)
    label = _LABEL.match(text)
    rest = text[label.end() :] if label else text
    if len(rest.split()) < 2:
        raise MensuraError(
            f"{path}, line {number}: level {level} has no description; "
            f"expected 'Level {level}: Label. What this level asks for.'"
        )
    return RubricLevel(level, label[1] if label else "", rest, tuple(examples or ()))


def _read_folder(folder: Path) -> dict[str, Rubric]:
    """Read every rubric of a folder, in the order of its dimension table, else of ours, else by name."""
    if not folder.is_dir():
        raise MensuraError(f"rubrics {folder}: no such folder; expected one with files CODE.txt such as PLp.txt")
    named = _own_dimensions(folder)
    files = {path.stem: path for path in sorted(folder.glob("*.txt")) if path.stem.lower() != "readme"}
    if not files:
        raise MensuraError(f"rubrics {folder}: no rubric in it; expected files CODE.txt such as PLp.txt")
    if lacking := [code for code in named if code not in files]:
        raise MensuraError(
            f"{folder / 'dimensions.csv'}: {lacking[0]!r} is named there, but {lacking[0]}.txt is missing; add the "
            "file or remove the row"
        )
    table = {**annotated_dimensions(), **named}
    order = [code for code in table if code in files] + [code for code in files if code not in table]
    return {code: read_rubric(files[code], table.get(code)) for code in order}


def _own_dimensions(folder: Path) -> dict[str, Dimension]:
    """Read a folder's own dimension table, where it has one: dimension and name, else optional."""
    path = folder / "dimensions.csv"
    if not path.is_file():
        return {}
    frame = read_table(path)
    require_columns(frame, ["dimension", "name"], name=str(path))
    dimensions: dict[str, Dimension] = {}
    for line, row in enumerate(frame.iter_rows(named=True), 2):
        cells = {key: "" if value is None else str(value) for key, value in row.items()}
        code, name = cells["dimension"], cells["name"]
        if not _CODE.fullmatch(code) or not name or code in dimensions:
            raise MensuraError(f"{path}, line {line}: expected a code of its own and a name, got {code!r}, {name!r}")
        group = cells.get("group") or code
        dimensions[code] = Dimension(
            code, group, cells.get("group_name") or name, name, cells.get("kind") or "own", cells.get("meaning") or ""
        )
    return dimensions


def _refuse_near_names(own: Mapping[str, Rubric], ours: Mapping[str, Rubric], folder: Path) -> None:
    """Refuse a code that differs from one of ours in capitals only: it would stand beside it, not replace it."""
    capitals = {code.upper(): code for code in ours}
    for code in own:
        near = capitals.get(code.upper(), code)
        if near != code:
            raise MensuraError(
                f"{folder / code}.txt: differs from {near} in capitals only; name it {near}.txt to replace it"
            )
