"""Pictures by name: a chart with the words that go with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from mensura import charts
from mensura.charts import Drawing
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, load, slug
from mensura.intake.names import KnownNames
from mensura.study.frozen import open_piecewise
from mensura.study.study import Study

EVIDENCE = "Scores of the evidence, each credited to its source on the data page"
ADELE = "Derived from the ADeLe project page, CC BY-SA 4.0"
OPEN = "Open pool of items with human rates; world rates extrapolated by Mensura"
STATIC_WIDTH = 1100
"""Of a static drawing, pixels; a page on a narrower screen has it drawn anew for its width."""
_DRAWING_ONLY = frozenset(
    (
        *("spots", "aria", "label", "lab", "rank", "row", "end", "text", "lane", "dy", "lift", "lifts", "share"),
        *("legend", "curve", "when", "panel", "beyond", "named"),
    )
)
"""Columns of the points that serve the drawing alone; a picture that names one of them shows it."""


_DATA = Path(__file__).parents[1] / "data"
_END = re.compile(r"(?<=[a-z0-9)%”][.!?]) (?=[A-Z])")


@cache
def _sentences(kind: str) -> dict[str, str]:
    return tomllib.loads((_DATA / f"{kind}.toml").read_text(encoding="utf-8"))


def sentence_of(kind: str, name: str, otherwise: str) -> str:
    """Return the sentence of a kind (``sights``, ``doubts``) about a picture; ``otherwise`` where nobody wrote one."""
    known = [start for start in _sentences(kind) if name.startswith(start)]
    return _sentences(kind)[max(known, key=len)] if known else otherwise


def first_sentence(text: str) -> str:
    """Return the first sentence of a caption."""
    return _END.split(text, maxsplit=1)[0]


class Figure(NamedTuple):
    """A picture as a page shows it.

    Either ``spec`` (Vega-Lite; it carries its data, the page supplies the theme, and a static drawing of it is made
    with the page) or ``drawing``. ``title`` is what the picture is of, ``finding`` what it shows, ``caption`` how to
    read it, ``source`` and ``limit`` where its data come from and which part of the method's limits speaks of it.
    ``width`` is that of the static drawing. ``columns`` says what the table calls columns whose own name says too
    little; ``rows`` is the table where it is not what the marks show.
    """

    name: str
    title: str
    caption: str
    spec: dict[str, Any] | None = None
    finding: str = ""
    drawing: Drawing | None = None
    rows: tuple[dict[str, Any], ...] = ()
    source: str = EVIDENCE
    limit: str = "limits"
    paged: bool = False
    columns: Mapping[str, str] = {}
    width: int = STATIC_WIDTH

    @property
    def voice(self) -> tuple[tuple[str, str], ...]:
        """What the picture shows, what to see, what to doubt: one sentence each; the heading has the finding."""
        seen, doubted = "Compare the marks with the people.", "Sources run tests in different ways."
        return (
            ("What it shows", first_sentence(self.caption)),
            ("What to see", sentence_of("sights", self.name, seen)),
            ("What to doubt", sentence_of("doubts", self.name, doubted)),
        )

    @property
    def picture(self) -> Picture:
        """The drawing as a picture of its own, for print."""
        return Picture(self.name, self.title, self.caption, self.drawing, finding=self.finding, rows=self.rows)

    @property
    def points(self) -> list[dict[str, Any]]:
        """The rows behind the marks, for tables and downloads."""
        if self.rows or self.spec is None:
            return list(self.rows)
        found: list[dict[str, Any]] = self.spec.get("datasets", {}).get("points", [])
        return found

    @property
    def description(self) -> str:
        """What the picture shows, in words."""
        return str((self.spec or {}).get("description") or self.finding or self.title)

    @property
    def table(self) -> tuple[list[str], list[list[Any]]]:
        """The points as columns and rows of plain values, without what only drawing needs."""
        shown, points = self.shown_columns, self.points
        return [name for _, name in shown], [[row.get(key) for key, _ in shown] for row in points]

    @property
    def shown_columns(self) -> list[tuple[str, str]]:
        """The columns of the points that a table shows: key, and what it is called."""
        keys = dict.fromkeys(key for row in self.points for key in row)
        return [(key, self.columns.get(key, key)) for key in keys if key in self.columns or key not in _DRAWING_ONLY]


@dataclass(frozen=True)
class Picture:
    """A chart or drawing with its title and caption; ``finding`` says what it shows, in a sentence from the numbers.

    ``columns`` and ``rows`` as of a :class:`Figure`.
    """

    name: str
    title: str
    caption: str
    chart: Any
    finding: str = ""
    source: str = EVIDENCE
    limit: str = "limits"
    columns: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[dict[str, Any], ...] = ()

    @property
    def figure(self) -> Figure:
        """The picture for a page, which also gets a page of its own."""
        return Figure(
            self.name,
            self.title,
            self.caption,
            None if isinstance(self.chart, Drawing) else page_spec(self.chart),
            finding=self.finding,
            drawing=self.chart if isinstance(self.chart, Drawing) else None,
            source=self.source,
            limit=self.limit,
            paged=True,
            columns=self.columns,
            rows=self.rows,
        )


def page_spec(chart: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a chart's specification without the theme, which is the same for every chart of a page."""
    spec = charts.web_spec(chart)
    spec.pop("config")
    return spec


Builder = Callable[[Study], Picture]
PICTURES: dict[str, Builder] = {}


class Family(NamedTuple):
    """Pictures that exist once per key: their builder, the keys with their names for people, and how a key looks."""

    build: Callable[[Study, str], Picture]
    keys: Callable[[Evidence], Iterable[tuple[str, str]]]
    example: str


FAMILIES: dict[str, Family] = {}
"""Families by the prefix of their pictures' names."""


def picture(name: str) -> Callable[[Builder], Builder]:
    """Register a builder under its name."""

    def register(build: Builder) -> Builder:
        PICTURES[name] = build
        return build

    return register


def find_picture(evidence: Evidence, name: str) -> Builder:
    """Return what builds a picture: a registered one, or one of a family such as ``benchmark-hle``; compute nothing."""
    if name in PICTURES:
        return PICTURES[name]
    near: tuple[str, ...] = ()
    for prefix, family in FAMILIES.items():
        if name.startswith(prefix):
            key, near = _find_key(list(family.keys(evidence)), name.removeprefix(prefix))
            if key is not None:
                return lambda study: family.build(study, key)
            near = tuple(prefix + one for one in near)
    families = ", ".join(f"{prefix}{family.example}" for prefix, family in FAMILIES.items())
    hint = f"did you mean {', '.join(near)}? There are" if near else "choose one of"
    raise MensuraError(f"figure: {name!r} is not known; {hint} {', '.join(PICTURES)}, and the families {families}")


def draw(study: Study, name: str) -> Picture:
    """Build one picture by name."""
    return find_picture(study.evidence, name)(study)


@check_arguments
def figure(name: str, evidence: Evidence | None = None) -> Any:  # noqa: ANN401
    """Return a picture of the report by its name, as ``mensura figure NAME`` draws it.

    A notebook shows it. ``mensura.charts.save(picture, "picture.svg")`` writes it. Without ``evidence`` the embedded
    scores are used. ``mensura figure --list`` names all pictures.

    >>> import mensura
    >>> bell = mensura.figure("iq-bell")
    """
    evidence = evidence or load()
    build = find_picture(evidence, name)
    return build(open_piecewise(evidence)).chart


def picture_table() -> pl.DataFrame:
    """Return the names of all pictures and what each shows."""
    named = {**PICTURES, **{prefix + family.example: family.build for prefix, family in FAMILIES.items()}}
    rows = [(name, _shown(build.__doc__ or "")) for name, build in named.items()]
    return pl.DataFrame(rows, schema=["figure", "shows"], orient="row")


def _shown(said: str) -> str:
    """Return what a picture shows, from what its function does: without the verb and what happens without data."""
    words = said.strip().removeprefix("Return ").removeprefix("Draw ").partition("; nothing ")[0].rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."


def _find_key(keys: list[tuple[str, str]], wanted: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the key that is wanted, by itself, as it stands in addresses or by its name; else those like it."""
    for key, _ in keys:
        if wanted in (key, slug(key)):
            return key, ()
    found = KnownNames(keys).match(wanted)
    return found.id, tuple(found.near)


def labelled(points: pl.DataFrame, value: str, most: int) -> pl.DataFrame:
    """Mark the ``most`` highest models for a direct label; the chart drops those that do not fit."""
    return points.with_columns(label=pl.col(value).rank("ordinal", descending=True) <= most)
