"""Drawings for the pages: collects what is to be drawn, keeps what was drawn before, draws the rest in other processes.

A drawing depends only on its specification and the versions of the code, so it is kept between builds like any other
result (:mod:`mensura.core.cache`). A report that is built again draws only what changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from concurrent.futures import Future
from typing import Any
from urllib.parse import quote, unquote

from markupsafe import escape

from mensura.charts.canvas import ROOT, themed
from mensura.charts.theme import LIGHT, config
from mensura.core.cache import DRAWING, find_kept, keep_results
from mensura.core.drawings import draw_jobs
from mensura.core.processes import Processes
from mensura.evidence import slug

SHARE_SCALE = 0.5
"""Of the pictures for shared links: 600 × 315, which every reader of links takes."""
CHART_SCALE = 1.0
"""Of those that show a chart, whose words are small."""
_BATCH = 300
"""Work of one process, in small pictures: it takes two processor seconds to start."""
_WORK = {"svg": 7, "png": 1}
"""What a drawing takes, in small pictures."""
_MARGIN = {"left": 18, "right": 18, "top": 5, "bottom": 5}
"""Around a static drawing, pixels: a reader's font may be a tenth wider than the one its names were measured in."""
_SLIM = {"left": 10, "right": 8, "top": 5, "bottom": 5}
_FONT = re.compile(r' font-family="[^"]*"')
_GEOMETRY = re.compile(r' (?:d|transform|x|y|x1|x2|y1|y2|dx|dy|cx|cy|r|width|height)="[^"]*"')
"""Attributes that hold pixels. Words and labels keep their digits: an axis from 0.85 to 0.93 has no 0.8 on it."""
_DIGITS = re.compile(r"(\d+\.\d)\d+")
_NOWHERE = "https://mensura.invalid/"
"""Marks of a specification lead to their subject and provider under this address, which the page's own replaces."""
_LINK = re.compile(rf'<a xlink:href="{re.escape(_NOWHERE)}([^"/]*)/([^"]*)"[^>]*>(<\w+(?: aria-label="([^"]*)")?)')
_PRESSED = frozenset(("point", "text", "rule", "rect", "bar", "tick", "circle", "square"))
NARROW = 358
"""Width of a drawing for a phone, pixels."""
_SCREEN = 1000
"""Width from which a drawing is one for a screen, pixels."""
_WIDTH = re.compile(r'^<svg [^>]*?width="([\d.]+)"')
_SIDEWAYS = 420
"""Width from which a drawing for a phone scrolls sideways, pixels."""


class Drawings:
    """Takes orders while the pages are written, and returns the drawings once :meth:`finish` has run."""

    def __init__(self, processes: Processes) -> None:
        """Draw in these processes."""
        self._processes = processes
        self._made: dict[str, bytes] = {}
        self._waiting: dict[str, dict[str, Any]] = {}
        self._running: list[tuple[list[str], Future[list[bytes]]]] = []
        self._ordered: set[str] = set()

    def order(self, job: dict[str, Any]) -> str:
        """Order the drawing of a job (:func:`mensura.core.drawings.draw_jobs`); return its key for :meth:`made`."""
        key = json.dumps(job, sort_keys=True)
        if key not in self._ordered:
            self._ordered.add(key)
            kept = find_kept(DRAWING, [key])
            if kept is not None:
                self._made[key] = kept[0]
            else:
                self._waiting[key] = job
                if sum(_WORK[one["kind"]] for one in self._waiting.values()) >= _BATCH:
                    self.start()
        return key

    def start(self) -> None:
        """Start a process that draws the orders that wait."""
        if self._waiting:
            jobs = list(self._waiting.values())
            self._running.append((list(self._waiting), self._processes.submit(draw_jobs, jobs)))
            self._waiting.clear()

    def finish(self) -> None:
        """Wait until every order is drawn, and keep the drawings for the next build."""
        self.start()
        for keys, future in self._running:
            made = dict(zip(keys, future.result(), strict=True))
            self._made.update(made)
            keep_results(DRAWING, [([key], drawing) for key, drawing in made.items()])
        self._running.clear()

    def made(self, key: str) -> bytes:
        """Return a finished drawing by its key."""
        return self._made[key]


def static_job(spec: dict[str, Any], width: int) -> dict[str, Any]:
    """Return the order for a page's specification as a drawing so many pixels wide, in the light theme."""
    drawn = {**_linked(spec), "config": config(LIGHT), "padding": _MARGIN if width > _SIDEWAYS else _SLIM}
    margin = drawn["padding"]
    if "facet" in drawn:
        panels = drawn["usermeta"]["panels"]
        room = width - margin["left"] - margin["right"] - panels["frame"] + panels["gap"]
        columns = max(1, int(room / (panels["least"] + panels["gap"])))
        drawn["columns"] = columns
        drawn["spec"] = {**drawn["spec"], "width": int(room / columns) - panels["gap"]}
    else:
        drawn["width"] = max(width, drawn.get("usermeta", {}).get("min_width", 0))
        drawn["autosize"] = {"type": "fit-x", "contains": "padding"}
    return {"kind": "svg", "spec": drawn}


def _linked(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose marks lead to their subjects, so that the first press on a drawing finds them."""
    tables = {name: [_with_link(row) for row in rows] for name, rows in spec.get("datasets", {}).items()}
    known = {name for name, rows in tables.items() if any("href" in row for row in rows)}
    return {**_link_marks(spec, None, known), "datasets": tables}


def _with_link(row: dict[str, Any]) -> dict[str, Any]:
    subject = row.get("subject")
    if not isinstance(subject, str):
        return row
    return {**row, "href": f"{_NOWHERE}{quote(subject, safe='')}/{quote(str(row.get('provider') or ''), safe='')}"}


def _link_marks(part: Mapping[str, Any], data: str | None, known: set[str]) -> dict[str, Any]:
    made = dict(part)
    data = made.get("data", {}).get("name", data)
    if "layer" in made:
        made["layer"] = [_link_marks(one, data, known) for one in made["layer"]]
    if "spec" in made:
        made["spec"] = _link_marks(made["spec"], data, known)
    mark = made.get("mark")
    kind = mark.get("type") if isinstance(mark, Mapping) else mark
    if kind in _PRESSED and data in known and "aggregate" not in json.dumps(made.get("transform", [])):
        made["encoding"] = {**made.get("encoding", {}), "href": {"field": "href", "type": "nominal"}}
    return made


def page_svg(svg: str, models: Container[str] = ()) -> str:
    """Return a drawing for a page: colours as variables, one font, a tenth of a pixel, marks that open their card.

    ``models``: those that have a page; a mark of another subject leads nowhere.
    """
    drawn = _GEOMETRY.sub(lambda found: _DIGITS.sub(r"\1", found[0]), _FONT.sub("", themed(svg)))
    width = _WIDTH.search(drawn)
    if width and _SIDEWAYS < float(width[1]) < _SCREEN:  # on a phone it keeps its size and scrolls
        drawn = drawn.replace("<svg ", '<svg data-sideways="" ', 1)
    return _LINK.sub(lambda found: _mark_link(found, models), drawn)


def _mark_link(found: re.Match[str], models: Container[str]) -> str:
    subject, provider, label = unquote(found[1]), unquote(found[2]), found[4]
    kind, colon, key = subject.partition(":")
    if not colon and subject not in models:
        return f"<a>{found[3]}"
    page = {
        "people": "people.html",
        "benchmark": f"benchmarks/{slug(key)}.html",
    }.get(kind if colon else "", f"models/{slug(subject)}.html")
    said = f' aria-label="{label}"' if label else ' tabindex="-1"'
    made_by = f' data-provider="{escape(provider)}"' if provider else ""
    return f'<a class="mark-link" href="{ROOT}{page}" data-subject="{escape(subject)}"{made_by}{said}>{found[3]}'
