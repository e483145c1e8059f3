"""The studio: programs beside the build that draw charts without a browser, and the folder that keeps what they drew.

A drawing depends on nothing but its specification and the version of the drawing library, so it is kept under the hash
of both; a report built again draws only what changed. Without a cache (``MENSURA_CACHE=off``) everything is drawn anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mensura.cache import cache_folder
from mensura.charts.theme import LIGHT, config
from mensura.drawings import undrawn
from mensura.site.drawing.canvas import themed

WORKERS = 2
SHARE_SCALE = 0.5
"""Of the pictures for shared links: 600 × 315, which every reader of links takes."""
_UNUSED = 90 * 24 * 3600
"""Seconds after which a kept drawing that nobody used goes."""
_MARGIN = {"left": 18, "right": 18, "top": 5, "bottom": 5}
"""Around a static drawing, pixels: a reader's font may be a tenth wider than the one its names were measured in."""
_FONT = re.compile(r' font-family="[^"]*"')
_GEOMETRY = re.compile(r' (?:d|transform|x|y|x1|x2|y1|y2|dx|dy|cx|cy|r|width|height)="[^"]*"')
"""Attributes that hold pixels. Words and labels keep their digits: an axis from 0.85 to 0.93 has no 0.8 on it."""
_DIGITS = re.compile(r"(\d+\.\d)\d+")
_WORKER = """
import json, os, sys, vl_convert
for line in sys.stdin:
    with open(line.rstrip("\\n"), encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(line.rstrip("\\n"))
    if job["kind"] == "svg":
        made = vl_convert.vegalite_to_svg(job["spec"]).encode()
    elif job["kind"] == "png":
        made = vl_convert.svg_to_png(job["svg"], scale=job["scale"], ppi=72)
    else:
        made = ("(function () {\\n" + vl_convert.javascript_bundle(None) + "\\n})();\\n").encode()
    with open(job["out"] + ".part", "wb") as file:
        file.write(made)
    os.replace(job["out"] + ".part", job["out"])
"""


class Studio:
    """Takes orders, has them drawn by other processes, and hands over the results when all are done."""

    def __init__(self, folder: Path) -> None:
        """Work in a folder, which is there."""
        self._folder = folder
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed with the studio
        self._spool = tempfile.TemporaryDirectory(prefix="mensura-orders-")
        self._workers: list[subprocess.Popen[str]] = []
        self._orders, self._waiting = 0, list[Path]()
        self._held = False
        self._library = version("vl-convert-python")

    def order(self, job: dict[str, Any], suffix: str) -> Path:
        """Return where the result of a job will lie once :meth:`finish` has returned."""
        text = json.dumps(job, sort_keys=True)
        key = hashlib.sha256(f"{self._library}\n{text}".encode()).hexdigest()[:40]
        target = self._folder / f"{key}{suffix}"
        if target.is_file():
            with suppress(OSError):
                os.utime(target)
            return target
        self._waiting.append(self._spooled(job, target))
        if not self._held:
            self.release()
        return target

    def hold(self) -> None:
        """Keep orders back until :meth:`release`: each of the processes that draw takes memory."""
        self._held = True

    def release(self) -> None:
        """Hand out the orders that wait."""
        self._held = False
        for order in self._waiting:
            worker = self._next(order)
            if worker.stdin is not None:
                with suppress(BrokenPipeError):
                    worker.stdin.write(f"{order}\n")
                    worker.stdin.flush()
        self._waiting.clear()

    def _spooled(self, job: dict[str, Any], target: Path) -> Path:
        """Write an order to a file of its own: a pipe holds so little that the build would wait for the drawing."""
        self._orders += 1
        order = Path(self._spool.name) / str(self._orders)
        order.write_text(json.dumps({**job, "out": str(target)}), encoding="utf-8")
        return order

    def _next(self, order: Path) -> subprocess.Popen[str]:
        """Return the worker for an order: they take turns."""
        if len(self._workers) < WORKERS:
            command = [sys.executable, "-c", _WORKER]
            self._workers.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stderr=self._said, text=True, encoding="utf-8")
            )
        return self._workers[int(order.name) % len(self._workers)]

    def finish(self) -> None:
        """Wait until everything ordered is drawn."""
        self.release()
        for worker in self._workers:
            _hang_up(worker)
        failed = [worker.wait() for worker in self._workers]
        self._workers = []
        if any(failed):
            self._said.seek(0)
            raise undrawn(self._said.read())

    def close(self) -> None:
        """End what is still running."""
        for worker in self._workers:
            worker.kill()
            _hang_up(worker)
            worker.wait()
        self._said.close()
        self._spool.cleanup()


def _hang_up(worker: subprocess.Popen[str]) -> None:
    """Tell a worker that no more orders come; one that has died hears it no more."""
    if worker.stdin is not None:
        with suppress(BrokenPipeError):
            worker.stdin.close()


@contextmanager
def open_studio() -> Iterator[Studio]:
    """Open a studio over the cache, or over a folder of its own where nothing is to be kept."""
    folder = cache_folder()
    kept = None if folder is None else folder / "drawings"
    if kept is not None:
        try:
            kept.mkdir(parents=True, exist_ok=True, mode=0o700)
            _sweep(kept)
        except OSError:
            kept = None
    passing = None if kept is not None else Path(tempfile.mkdtemp(prefix="mensura-drawings-"))
    studio = Studio(kept or passing)  # type: ignore[arg-type]
    try:
        yield studio
    finally:
        studio.close()
        if passing is not None:
            shutil.rmtree(passing, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for file in folder.iterdir():
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _UNUSED:
                file.unlink()


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
