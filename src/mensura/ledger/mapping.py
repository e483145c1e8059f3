"""Mappings: one TOML file per source says which columns are which figures, whose, in what unit, and what to leave out.

The rules of the index method stand in every mapping as data, and ``guards.toml`` says what no mapping may do whoever
wrote it. A mapping holds no patterns and no code: texts are compared, so hostile rows cannot make it run for long.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mensura.core.errors import MensuraError
from mensura.evidence.checks import require_id
from mensura.evidence.evidence import EMBEDDED
from mensura.evidence.schema import TABLES, UNIT_RANGES
from mensura.intake.source_rows import LAYOUTS, SEPARATORS, RowLayout
from mensura.ledger.policy import TomlPart

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
    """How captures of one source are read.

    ``names``: written names and the ids they stand for. ``source_only``: what the source lists that is no model of the
    evidence and never will be. ``efforts``, ``least``: how long a model thought, most first, and how little may stand
    for the model; ``effort_after``: the sign after which a name says so. ``single``: signs that a cell names several
    models. ``best``: the column by which one row per model is chosen, ``named`` the column that says whose row it is.
    ``new``: columns that say something of new models.
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
        found = {self.model, self.effort, self.best, self.named, *self.also, *self.new.values()}
        found |= {rule.column for rule in (*self.keep, *self.skip)} | {rule.column for rule in self.figures}
        found |= {column for rule in self.figures for column in rule.note_columns}
        return frozenset(found - {""})


class Guard(NamedTuple):
    """What no mapping may do with a benchmark: ``never`` words of its column, ``needs`` rules it must have."""

    benchmark: str
    never: tuple[str, ...]
    needs: tuple[str, ...]
    why: str


def read_mapping(source: str | Path) -> SourceMapping:
    """Read a mapping: a TOML file, or one that is shipped, by its name."""
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
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as fault:
        raise MensuraError(f"{path}: not UTF-8 ({fault}); save the file as UTF-8") from fault
    return parse_mapping(text, name=str(path))


def shipped_names() -> list[str]:
    """Return the names of the mappings that come with Mensura."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml") if path.name != _GUARDS)


def mapping_file(name: str) -> Path:
    """Return the file of a shipped mapping."""
    if name not in shipped_names():
        raise MensuraError(f"mapping: {name!r} is unknown; expected one of {', '.join(shipped_names())}")
    return SHIPPED / f"{name}.toml"


def parse_mapping(text: str, *, name: str = "mapping") -> SourceMapping:
    """Read a mapping from its text; anything unknown, or against a guard, is refused."""
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise MensuraError(f"{name}: not a TOML file: {fault}; correct that line") from fault
    part = TomlPart(found, name)
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
        efforts=tuple(effort.casefold() for effort in model.texts("efforts") or EFFORTS),
        least=model.text("least", "high").casefold(),
        names=model.pairs("names"),
        source_only=model.texts("source_only"),
        single=model.texts("single"),
        best=best.text("by", ""),
        named=best.text("named", ""),
        keep=tuple(_condition(row) for row in part.rows("keep")),
        skip=tuple(_condition(row) for row in part.rows("skip")),
        new={key: new.text(key) for key in new.found},
        figures=tuple(_figure(row) for row in part.rows("figures")),
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12],
    )
    if not mapping.figures:
        raise MensuraError(f"{name}: no [[figures]]; a mapping reads at least one column")
    if mapping.least not in mapping.efforts:
        raise MensuraError(
            f"{name}: model.least = {mapping.least!r} is unknown; expected one of {', '.join(mapping.efforts)}"
        )
    _refuse_guarded(mapping, name)
    return mapping


@cache
def guards() -> tuple[Guard, ...]:
    """Return what no mapping may do."""
    rows = tomllib.loads((SHIPPED / _GUARDS).read_text(encoding="utf-8"))["guards"]
    return tuple(
        Guard(row["benchmark"], tuple(row.get("never", ())), tuple(row.get("needs", ())), row["why"]) for row in rows
    )


def _refuse_guarded(mapping: SourceMapping, name: str) -> None:
    given = {"best": mapping.best and mapping.named, "single": mapping.single, "keep": mapping.keep}
    for rule in mapping.figures:
        for guard in guards():
            if rule.into != "scores" or rule.target != guard.benchmark:
                continue
            said = " ".join((rule.column, mapping.name, mapping.source["source"], mapping.source["name"])).casefold()
            for word in guard.never:
                if word in said:
                    raise MensuraError(
                        f"{name}: {rule.column!r} may not go into {rule.target}: {guard.why}; remove this figure"
                    )
            missing = [need for need in guard.needs if not given[need]]
            if missing:
                raise MensuraError(f"{name}: {rule.target} needs the rule {', '.join(missing)}: {guard.why}")


def _layout(part: TomlPart) -> RowLayout:
    form = part.one_of("reads", tuple(LAYOUTS))
    rows = part.table("rows")
    rows.only(*LAYOUTS[form])
    lines = rows.texts("lines")
    separator = rows.one_of("separator", SEPARATORS, "tab") if form == "text" else ""
    if lines and "separator" in rows.found:
        raise MensuraError(
            f"{part.name}: rows has both lines and separator; remove separator if a row takes several lines, else lines"
        )
    said = {key: rows.text(key, "") for key in ("path", "after", "until", "numbered")}
    return RowLayout(form=form, separator=separator, lines=lines, **said)


def _source(part: TomlPart) -> dict[str, str]:
    columns = [column.name for column in TABLES["sources"].columns]
    part.only(*columns)
    require_id(part.text("source"), f"{part.name}: source.source")
    part.text("name")
    return {column: part.text(column) for column in columns if column in part.found}


def _condition(part: TomlPart) -> Condition:
    part.only("column", "why", *_TESTS)
    tests = [test for test in _TESTS if test in part.found]
    if len(tests) != 1:
        raise MensuraError(f"{part.name}: expected one of {', '.join(_TESTS)}, got {', '.join(tests) or 'none'}")
    [test] = tests
    if test in ("at_least", "below"):
        return Condition(part.text("column"), test, (repr(part.number(test)),), part.text("why"))
    value = part.found[test]
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
