"""The pictures for shared links: collects them, keeps those drawn before, and draws the rest in other processes.

A picture depends only on its drawing and the versions of the code, so it is kept between builds like any other result
(:mod:`mensura.core.cache`). A report that is built again draws only what changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from mensura.charts.render import to_png
from mensura.core.cache import DRAWING, find_kept, keep_results
from mensura.core.processes import Processes

SHARE_SCALE = 0.5
"""Of the pictures for shared links: 600 × 315, which every reader of links takes."""
CHART_SCALE = 1.0
"""Of those that show a chart, whose words are small."""
_BATCH = 100
"""Pictures that one process draws: it takes a second to start."""

Order = tuple[str, float]
"""A drawing, and how large it becomes."""


class ShareCards:
    """Takes orders while the pages are written, and returns the pictures once :meth:`finish` has run."""

    def __init__(self, processes: Processes) -> None:
        """Draw in these processes."""
        self._processes = processes
        self._made: dict[Order, bytes] = {}
        self._waiting: list[Order] = []
        self._running: list[tuple[list[Order], Future[list[bytes]]]] = []

    def order(self, svg: str, scale: float) -> Order:
        """Order a picture; return its key for :meth:`made`."""
        key = (svg, scale)
        if key not in self._made and key not in self._waiting:
            kept = find_kept(DRAWING, [svg, str(scale)])
            if kept is not None:
                self._made[key] = kept[0]
            else:
                self._waiting.append(key)
                if len(self._waiting) >= _BATCH:
                    self.start()
        return key

    def start(self) -> None:
        """Start a process that draws the orders that wait."""
        if self._waiting:
            self._running.append((self._waiting, self._processes.submit(draw_all, self._waiting)))
            self._waiting = []

    def finish(self) -> None:
        """Wait until every order is drawn, and keep the pictures for the next build."""
        self.start()
        for keys, future in self._running:
            made = dict(zip(keys, future.result(), strict=True))
            self._made.update(made)
            keep_results(DRAWING, [([svg, str(scale)], picture) for (svg, scale), picture in made.items()])
        self._running.clear()

    def made(self, key: Order) -> bytes:
        """Return a finished picture by its key."""
        return self._made[key]


def draw_all(orders: Sequence[Order]) -> list[bytes]:
    """Draw one picture after the other as PNG."""
    return [to_png(svg, scale) for svg, scale in orders]
