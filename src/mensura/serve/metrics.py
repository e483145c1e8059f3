"""Counts and times of the live site, in the text format that Prometheus reads."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from pathlib import Path

from mensura import __version__
from mensura.serve.press import Press

_BOUNDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Upper ends of the classes of answering times, in seconds."""
_KINDS = {"api": "api", "data": "data", "static": "static", "review": "review"}
_STATUS = Path("/proc/self/status")


class Metrics:
    """What happened since the start. Labels come from fixed lists, so that no visitor can make them grow."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, int]] = Counter()
        self._classes: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, float] = {}
        self.refused_secrets = 0

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count one answer."""
        kind = _kind(path)
        self._answers[kind, status] += 1
        self._seconds[kind] = self._seconds.get(kind, 0.0) + seconds
        self._classes[kind, bisect_left(_BOUNDS, seconds)] += 1

    def text(self, press: Press) -> str:
        """Return everything as text."""
        edition = press.current
        evidence = edition.evidence if edition is not None else ""
        lines = [
            *_header("mensura_info", "gauge", "The program and the evidence version it shows."),
            f'mensura_info{{version="{__version__}",evidence="{evidence}"}} 1',
            *_header("mensura_answers_total", "counter", "Answers by kind of address and status."),
            *(
                f'mensura_answers_total{{kind="{kind}",status="{status}"}} {count}'
                for (kind, status), count in sorted(self._answers.items())
            ),
            *self._histogram(),
            *_single("mensura_editions_built_total", "counter", "Editions built.", press.built),
            *_single("mensura_editions_failed_total", "counter", "Editions that could not be built.", press.failed),
            *_single(
                "mensura_edition_build_seconds", "gauge", "How long the last took.", round(press.build_seconds, 3)
            ),
            *_single("mensura_edition_bytes", "gauge", "Bytes of the current edition.", edition.size if edition else 0),
            *_single(
                "mensura_edition_stale", "gauge", "1 where the store cannot be shown.", int(press.fault is not None)
            ),
            *_single("mensura_refused_secrets_total", "counter", "Wrong reviewer's secrets.", self.refused_secrets),
            *_single("process_resident_memory_bytes", "gauge", "Memory of the server.", _resident()),
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "mensura_answer_seconds"
        lines = _header(name, "histogram", "Time from request to answer, by kind of address.")
        for kind in sorted(self._seconds):
            ends = [*(f"{bound:g}" for bound in _BOUNDS), "+Inf"]
            upto = list(accumulate(self._classes[kind, at] for at in range(len(ends))))
            lines += [
                f'{name}_bucket{{kind="{kind}",le="{end}"}} {count}' for end, count in zip(ends, upto, strict=True)
            ]
            lines.append(f'{name}_sum{{kind="{kind}"}} {self._seconds[kind]:.6f}')
            lines.append(f'{name}_count{{kind="{kind}"}} {upto[-1]}')
        return lines


def _kind(path: str) -> str:
    if path == "/" or (path.endswith(".html") and not path.startswith("/review/")):
        return "page"
    first, slash, _ = path[1:].partition("/")
    return _KINDS.get(first, "other") if slash else "other"


def _header(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _single(name: str, kind: str, about: str, value: float) -> list[str]:
    return [*_header(name, kind, about), f"{name} {value}"]


def _resident() -> int:
    """Return the memory of this process in bytes; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)
