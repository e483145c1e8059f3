"""Pictures by name: a chart with the words that go with it."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from mensura.charts import Drawing, Mark
from mensura.charts.theme import ROOT
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, load, slug
from mensura.intake.names import KnownNames
from mensura.study.study import Study, open_piecewise

EVIDENCE = "Scores of the evidence, each credited to its source on the data page"
_FILE = Path(__file__).parents[1] / "data" / "pictures.toml"
_END = re.compile(r"(?<=[a-z0-9)%”][.!?]) (?=[A-Z])")


@cache
def picture_words() -> dict[str, dict[str, Any]]:
    """Return the words of pictures by name, or by how the names of a family begin."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def sentence_of(kind: str, name: str, otherwise: str) -> str:
    """Return the sentence of a kind (``see``, ``doubt``) about a picture; ``otherwise`` where nobody wrote one."""
    starts = [start for start, words in picture_words().items() if name.startswith(start) and kind in words]
    return str(picture_words()[max(starts, key=len)][kind]) if starts else otherwise


@dataclass(frozen=True)
class Figure:
    """A picture with its words.

    ``title`` is what the picture is of, ``finding`` what it shows, ``caption`` how to read it, ``source`` where its
    data come from. ``paged``: it has a page of its own. ``columns`` says what the table calls columns whose own name
    says too little; ``rows`` is the table where it is not what the marks show.
    """

    name: str
    title: str
    caption: str
    drawing: Drawing
    finding: str = ""
    rows: tuple[dict[str, Any], ...] = ()
    source: str = EVIDENCE
    paged: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    see: str = ""

    @property
    def voice(self) -> tuple[tuple[str, str], ...]:
        """What the picture shows, what to see, what to doubt: one sentence each; the heading has the finding."""
        return (
            ("What it shows", _END.split(self.caption, maxsplit=1)[0]),
            ("What to see", self.see or sentence_of("see", self.name, "Compare the marks with the people.")),
            ("What to doubt", sentence_of("doubt", self.name, "Sources run tests in different ways.")),
        )

    @property
    def licence(self) -> str:
        """Terms of reuse: those of the data where they ask for the same, else credit alone."""
        return "CC BY-SA 4.0" if "CC BY-SA" in self.source else "CC BY 4.0"

    @property
    def points(self) -> list[dict[str, Any]]:
        """The rows behind the marks, for tables and downloads."""
        return list(self.rows or self.drawing.rows)

    @property
    def description(self) -> str:
        """What the picture shows, in words."""
        return self.drawing.description or self.finding or self.title

    @property
    def table(self) -> tuple[list[str], list[list[Any]]]:
        """The points as columns and rows of plain values."""
        shown, points = self.shown_columns, self.points
        return [name for _, name in shown], [[row.get(key) for key, _ in shown] for row in points]

    @property
    def shown_columns(self) -> list[tuple[str, str]]:
        """The columns of the points that a table shows: key, and what it is called."""
        keys = dict.fromkeys(key for row in self.points for key in row)
        return [(key, self.columns.get(key, key)) for key in keys]


def worded(
    name: str,
    drawing: Drawing,
    finding: str = "",
    *,
    of: str = "",
    rows: Iterable[dict[str, Any]] = (),
    paged: bool = False,
    **facts: object,
) -> Figure:
    """Return a picture with its words from ``data/pictures.toml``, their braces filled in by ``facts``.

    ``name``: of the picture, or of its family, whose member ``of`` then names.
    """
    words = picture_words()[name]
    title, caption, source = (
        text.format(**facts) for text in (words["title"], words["caption"], words.get("source", EVIDENCE))
    )
    columns = {key: head.format(**facts) for key, head in words.get("columns", {}).items()}
    see = str(words.get("see", "")).format(**facts)
    return Figure(f"{name}{of}", title, caption, drawing, finding, tuple(rows), source, paged, columns, see)


Builder = Callable[[Study], Figure]
PICTURES: dict[str, Builder] = {}


class Family(NamedTuple):
    """Pictures that exist once per key: their builder, the keys with their names for people, and how a key looks."""

    build: Callable[[Study, str], Figure | None]
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
                return lambda study: _made(family.build(study, key), key)
            near = tuple(prefix + one for one in near)
    families = ", ".join(f"{prefix}{family.example}" for prefix, family in FAMILIES.items())
    hint = f"did you mean {', '.join(near)}? There are" if near else "choose one of"
    raise MensuraError(f"figure: {name!r} is not known; {hint} {', '.join(PICTURES)}, and the families {families}")


def _made(figure: Figure | None, key: str) -> Figure:
    """Return a picture of a family; refuse one that its data do not allow."""
    if figure is None:
        raise MensuraError(
            f"figure: {key} has too little for this picture; choose another one (mensura figure --list), or add scores "
            "(mensura add)"
        )
    return figure


def draw(study: Study, name: str) -> Figure:
    """Build one picture by name."""
    return find_picture(study.evidence, name)(study)


@check_arguments
def figure(name: str, evidence: Evidence | None = None) -> Drawing:
    """Return a picture of the report by its name, as ``mensura figure NAME`` draws it.

    ``mensura figure --list`` names all pictures.

    Parameters
    ----------
    name : str
        The name of the picture.
    evidence : Evidence, optional
        Whose scores are drawn; the embedded ones when not given.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If no picture has this name.

    Examples
    --------
    >>> import mensura
    >>> mensura.figure("iq-bell").description[:27]  # doctest: +SKIP
    'Bell curve of 1,000 people '

    """
    evidence = evidence or load()
    build = find_picture(evidence, name)
    return build(open_piecewise(evidence)).drawing


def picture_table() -> pl.DataFrame:
    """Return the names of all pictures and what each shows."""
    named = {**PICTURES, **{prefix + family.example: family.build for prefix, family in FAMILIES.items()}}
    rows = [(name, _shown(build.__doc__ or "")) for name, build in named.items()]
    return pl.DataFrame(rows, schema=["figure", "shows"], orient="row")


def _shown(text: str) -> str:
    """Return what a picture shows, from what its function does: without the verb and what happens without data."""
    words = text.strip().removeprefix("Return ").removeprefix("Draw ").partition("; nothing ")[0].rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."


def _find_key(keys: list[tuple[str, str]], wanted: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the key that is wanted, by itself, as it stands in addresses or by its name; else those like it."""
    for key, _ in keys:
        if wanted in (key, slug(key)):
            return key, ()
    match = KnownNames(keys).match(wanted)
    return match.id, tuple(match.near)


def labelled(points: pl.DataFrame, value: str, most: int) -> pl.DataFrame:
    """Mark the ``most`` highest models for a direct label; the chart drops those that do not fit."""
    return points.with_columns(label=pl.col(value).rank("ordinal", descending=True) <= most)


def model_link(subject: str) -> str:
    """Return the address of a model's page, as drawings write it."""
    return f"{ROOT}models/{slug(subject)}.html"


def linked(points: pl.DataFrame) -> pl.DataFrame:
    """Give every model the address of its page."""
    pages = [model_link(subject) for subject in points["subject"]]
    return points.with_columns(href=pl.Series(pages, dtype=pl.String))


def iq_mark(row: dict[str, Any]) -> Mark:
    """Return the mark of a model by its IQ across, full where it is mostly measured."""
    return Mark(
        row["name"],
        row["provider"],
        row["exact_iq"],
        status="measured" if row["well_measured"] else "estimated",
        subject=row["subject"],
        href=model_link(row["subject"]),
        low=row["iq_low"],
        high=row["iq_high"],
    )
