"""Mappings: one TOML file per source says which columns are which figures, whose, in what unit, and what to leave out.

The rules of the index method stand in every mapping as data, and ``guards.toml`` says what no mapping may do whoever
wrote it. A mapping holds no patterns and no code: texts are compared, so hostile rows cannot make it run for long.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError, check_choice
from mensura.evidence.checks import require_id
from mensura.evidence.evidence import EMBEDDED
from mensura.evidence.schema import TABLES, UNIT_RANGES
from mensura.intake.documents import LAYOUTS, SEPARATORS, RowLayout
from mensura.ledger.toml_parts import TomlPart, read_utf8

SHIPPED = EMBEDDED / "mappings"
_GUARDS = "guards.toml"
_MOST_BYTES = 2**20
_TESTS = ("equals", "contains", "begins", "ends", "at_least", "below")
IN_BRACES = re.compile(r"\{([^{}]+)\}")
PRIMARY = ("always", "when-none", "never")
EFFORTS = ("max", "xhigh", "high", "medium", "low", "minimal", "none", "non-reasoning")
"""Words for how long a model thinks, most first, where a mapping gives no own list."""


class Condition(NamedTuple):
    """What a column holds in rows that are kept, or skipped; texts are compared without case."""

    column: str
    test: str
    values: tuple[str, ...]
    why: str


class FigureRule(NamedTuple):
    """One column of figures: where they go. ``target`` is a benchmark, a metric of cost or a field of models.

    ``note`` is kept with each figure; a column's name in braces stands for its cell.
    """

    into: str
    target: str
    column: str
    unit: str
    note: str

    @property
    def note_columns(self) -> list[str]:
        """The columns that the note puts in."""
        return IN_BRACES.findall(self.note)


@dataclass(frozen=True)
class SourceMapping:
    """Describe how captures of one source are read.

    Attributes
    ----------
    name, about, digest : str
        Id, description and hash of the mapping.
    layout, source, primary
        Layout of the rows, row of the table of sources, and when a score becomes the primary one.
    model, also : str, tuple of str
        Column of the model's name, and columns with other names of it.
    names, source_only
        Written names and the ids they stand for; what the source lists that is no model of the evidence.
    effort, effort_after, efforts, least
        Column of the effort, the sign after which a name has it, its words (most first), and the least that counts.
    single : tuple of str
        Signs that a cell names several models.
    best, named : str
        Column by which one row per model is chosen, and the column that says whose row it is.
    keep, skip, figures : tuple
        Rules on rows, and the columns of figures.
    new : Mapping[str, str]
        Columns with facts about new models.

    """

    name: str
    about: str
    layout: RowLayout
    source: Mapping[str, str]
    primary: str
    model: str
    also: tuple[str, ...]
    effort: str
    effort_after: str
    efforts: tuple[str, ...]
    least: str
    names: Mapping[str, str]
    source_only: tuple[str, ...]
    single: tuple[str, ...]
    best: str
    named: str
    keep: tuple[Condition, ...]
    skip: tuple[Condition, ...]
    new: Mapping[str, str]
    figures: tuple[FigureRule, ...]
    digest: str = field(default="")

    @property
    def columns(self) -> frozenset[str]:
        """Every column that the mapping reads."""
        columns = {self.model, self.effort, self.best, self.named, *self.also, *self.new.values()}
        columns |= {rule.column for rule in (*self.keep, *self.skip)} | {rule.column for rule in self.figures}
        columns |= {column for rule in self.figures for column in rule.note_columns}
        return frozenset(columns - {""})


def read_mapping(source: str | Path) -> SourceMapping:
    """Read a mapping.

    Parameters
    ----------
    source : str or Path
        A TOML file, or the name of a shipped mapping.

    Returns
    -------
    SourceMapping
        The mapping, checked.

    Raises
    ------
    MensuraError
        If there is no such mapping, or it contains something unknown or forbidden.

    Examples
    --------
    >>> read_mapping("swe_marathon").model
    'Model'

    """
    path = Path(source)
    if str(source) in shipped_names():
        path = SHIPPED / f"{source}.toml"
    elif not path.is_file():
        raise MensuraError(
            f"mapping: no file {source}, and none of {', '.join(shipped_names())} is called so; "
            "--mapping takes a file of yours or one of these"
        )
    if path.stat().st_size > _MOST_BYTES:
        raise MensuraError(f"{path}: more than {_MOST_BYTES:,} bytes is too large for a mapping; check --mapping")
    return parse_mapping(read_utf8(path), name=str(path))


def shipped_names() -> list[str]:
    """List the mappings that come with Mensura.

    Returns
    -------
    list[str]
        Their names, sorted.

    Examples
    --------
    >>> "swe_marathon" in shipped_names()
    True

    """
    return sorted(path.stem for path in SHIPPED.glob("*.toml") if path.name != _GUARDS)


def mapping_file(name: str) -> Path:
    """Find the file of a shipped mapping.

    Parameters
    ----------
    name : str
        One of :func:`shipped_names`.

    Returns
    -------
    Path
        The TOML file.

    Raises
    ------
    MensuraError
        If no mapping has the name.

    Examples
    --------
    >>> mapping_file("swe_marathon").name
    'swe_marathon.toml'

    """
    check_choice("mapping", name, shipped_names())
    return SHIPPED / f"{name}.toml"


def parse_mapping(text: str, *, name: str = "mapping") -> SourceMapping:
    """Read a mapping from its text.

    Parameters
    ----------
    text : str
        The TOML text.
    name : str
        What messages call it.

    Returns
    -------
    SourceMapping
        The mapping, checked.

    Raises
    ------
    MensuraError
        If it contains something unknown, or something that no mapping may do.

    Examples
    --------
    >>> parse_mapping(mapping_file("swe_marathon").read_text()).name
    'swe_marathon'

    """
    part = TomlPart.loads(text, name)
    part.only("name", "about", "reads", "primary", "source", "rows", "model", "best", "keep", "skip", "new", "figures")
    model, best = part.table("model"), part.table("best")
    model.only("column", "also", "effort", "effort_after", "efforts", "least", "names", "source_only", "single")
    best.only("by", "named")
    new = part.table("new")
    new.only("provider", "released", "reasoning", "open_weights")
    mapping = SourceMapping(
        name=require_id(part.text("name"), f"{name}: name"),
        about=part.text("about", ""),
        layout=_layout(part),
        source=_source(part.table("source")),
        primary=part.one_of("primary", PRIMARY, "when-none"),
        model=model.text("column"),
        also=model.texts("also"),
        effort=model.text("effort", ""),
        effort_after=model.text("effort_after", ""),
        source_only=model.texts("source_only"),
        single=model.texts("single"),
        efforts=tuple(effort.casefold() for effort in model.texts("efforts") or EFFORTS),
        least=model.text("least", "high").casefold(),
        names=model.pairs("names"),
        best=best.text("by", ""),
        named=best.text("named", ""),
        keep=tuple(_condition(row) for row in part.rows("keep")),
        skip=tuple(_condition(row) for row in part.rows("skip")),
        new={key: new.text(key) for key in new.keys},
        figures=tuple(_figure(row) for row in part.rows("figures")),
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12],
    )
    if not mapping.figures:
        raise MensuraError(f"{name}: no [[figures]]; a mapping reads at least one column")
    check_choice(f"{name}: model.least", mapping.least, mapping.efforts)
    _refuse_guarded(mapping, name)
    return mapping


@cache
def guards() -> list[dict[str, Any]]:
    """Return what no mapping may do with a benchmark: ``never`` words of its column, ``needs`` rules it must have."""
    rows: list[dict[str, Any]] = tomllib.loads((SHIPPED / _GUARDS).read_text(encoding="utf-8"))["guards"]
    return rows


def _refuse_guarded(mapping: SourceMapping, name: str) -> None:
    given = {"best": mapping.best and mapping.named, "single": mapping.single, "keep": mapping.keep}
    for rule in mapping.figures:
        words = " ".join((rule.column, mapping.name, mapping.source["source"], mapping.source["name"])).casefold()
        for guard in guards():
            if rule.into != "scores" or rule.target != guard["benchmark"]:
                continue
            if any(word in words for word in guard.get("never", ())):
                raise MensuraError(
                    f"{name}: {rule.column!r} may not go into {rule.target}: {guard['why']}; remove this figure"
                )
            if missing := [need for need in guard.get("needs", ()) if not given[need]]:
                raise MensuraError(f"{name}: {rule.target} needs the rule {', '.join(missing)}: {guard['why']}")


def _layout(part: TomlPart) -> RowLayout:
    form = part.one_of("reads", tuple(LAYOUTS))
    rows = part.table("rows")
    rows.only(*LAYOUTS[form])
    lines = rows.texts("lines")
    separator = rows.one_of("separator", SEPARATORS, "tab") if form == "text" else ""
    if lines and "separator" in rows.keys:
        raise MensuraError(
            f"{part.name}: rows has both lines and separator; remove separator if a row takes several lines, else lines"
        )
    texts = {key: rows.text(key, "") for key in ("path", "after", "until", "numbered")}
    return RowLayout(form=form, separator=separator, lines=lines, **texts)


def _source(part: TomlPart) -> dict[str, str]:
    columns = [column.name for column in TABLES["sources"].columns]
    part.only(*columns)
    require_id(part.text("source"), f"{part.name}: source.source")
    part.text("name")
    return {column: part.text(column) for column in columns if column in part.keys}


def _condition(part: TomlPart) -> Condition:
    part.only("column", "why", *_TESTS)
    tests = [test for test in _TESTS if test in part.keys]
    if len(tests) != 1:
        raise MensuraError(f"{part.name}: expected one of {', '.join(_TESTS)}, got {', '.join(tests) or 'none'}")
    [test] = tests
    if test in ("at_least", "below"):
        return Condition(part.text("column"), test, (repr(part.number(test)),), part.text("why"))
    value = part.keys[test]
    values = (part.text(test),) if isinstance(value, str) else part.texts(test)
    if not values:
        raise MensuraError(f"{part.name}: {test} is empty; give a value or remove it")
    return Condition(part.text("column"), test, tuple(value.casefold() for value in values), part.text("why"))


_FIGURES = {"scores": "benchmark", "costs": "metric", "models": "field"}
"""Tables that figures go into, and the key that says where in them."""


def _figure(part: TomlPart) -> FigureRule:
    into = part.one_of("into", tuple(_FIGURES), "scores")
    key = _FIGURES[into]
    part.only("into", key, "column", "unit", "note")
    if into == "scores":
        target, unit = require_id(part.text(key), f"{part.name}: {key}"), part.one_of("unit", tuple(UNIT_RANGES))
    elif into == "costs":
        target = part.one_of(key, TABLES["costs"].column("metric").one_of)
        unit = part.one_of("unit", TABLES["costs"].column("unit").one_of)
    else:
        fields = tuple(column.name for column in TABLES["models"].columns if column.kind in ("number", "integer"))
        target, unit = part.one_of(key, fields), ""
    return FigureRule(into, target, part.text("column"), unit, part.text("note", ""))
