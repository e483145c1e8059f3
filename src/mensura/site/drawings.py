"""Drawings for the pages: collects what is to be drawn, keeps what was drawn before, draws the rest in other processes.

A drawing depends only on its specification and the versions of the code, so it is kept between builds like any other
result (:mod:`mensura.core.cache`). A report that is built again draws only what changed.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import Future
from typing import Any

from mensura.charts.canvas import themed
from mensura.charts.theme import LIGHT, config
from mensura.core.cache import DRAWING, find_kept, keep_results
from mensura.core.drawings import draw_jobs
from mensura.core.processes import Processes

SHARE_SCALE = 0.5
"""Of the pictures for shared links: 600 × 315, which every reader of links takes."""
_BATCH = 100
"""Drawings that one process makes: it takes most of a second to start."""
_MARGIN = {"left": 18, "right": 18, "top": 5, "bottom": 5}
"""Around a static drawing, pixels: a reader's font may be a tenth wider than the one its names were measured in."""
_FONT = re.compile(r' font-family="[^"]*"')
_GEOMETRY = re.compile(r' (?:d|transform|x|y|x1|x2|y1|y2|dx|dy|cx|cy|r|width|height)="[^"]*"')
"""Attributes that hold pixels. Words and labels keep their digits: an axis from 0.85 to 0.93 has no 0.8 on it."""
_DIGITS = re.compile(r"(\d+\.\d)\d+")


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
                if len(self._waiting) >= _BATCH:
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
    drawn = {**spec, "config": config(LIGHT), "padding": _MARGIN}
    if "facet" in drawn:
        panels = drawn["usermeta"]["panels"]
        room = width - _MARGIN["left"] - _MARGIN["right"] - panels["frame"] + panels["gap"]
        columns = max(1, int(room / (panels["least"] + panels["gap"])))
        drawn["columns"] = columns
        drawn["spec"] = {**drawn["spec"], "width": int(room / columns) - panels["gap"]}
    else:
        drawn["width"] = max(width, drawn.get("usermeta", {}).get("min_width", 0))
        drawn["autosize"] = {"type": "fit-x", "contains": "padding"}
    return {"kind": "svg", "spec": drawn}


def page_svg(svg: str) -> str:
    """Return a drawing for a page: colours as variables, one font, a tenth of a pixel."""
    return _GEOMETRY.sub(lambda found: _DIGITS.sub(r"\1", found[0]), _FONT.sub("", themed(svg)))
