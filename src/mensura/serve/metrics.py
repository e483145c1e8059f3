"""Counts and times of the live site, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest

from mensura import __version__
from mensura.serve.press import Press

_BOUNDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Upper ends of the classes of answering times, in seconds."""
_KINDS = ("api", "data", "static", "review")


class Metrics:
    """What happened since the start. Labels come from fixed lists, so that no visitor can make them grow."""

    def __init__(self) -> None:
        """Start at zero, in a registry of this server's own."""
        own = CollectorRegistry()
        self._registry = own
        self._info = Info("mensura", "The program and the evidence version it shows.", registry=own)
        self._answers = Counter(
            "mensura_answers", "Answers by kind of address and status.", ("kind", "status"), registry=own
        )
        self._seconds = Histogram(
            "mensura_answer_seconds",
            "Time from request to answer, by kind of address.",
            ("kind",),
            buckets=_BOUNDS,
            registry=own,
        )
        self.refused_secrets = Counter("mensura_refused_secrets", "Wrong reviewer's secrets.", registry=own)
        self._editions = {
            name: Gauge(f"mensura_{name}", about, registry=own)
            for name, about in (
                ("editions_built", "Editions built."),
                ("editions_failed", "Editions that could not be built."),
                ("edition_build_seconds", "How long the last took."),
                ("edition_bytes", "Bytes of the current edition."),
                ("edition_stale", "1 where the store cannot be shown."),
            )
        }
        ProcessCollector(registry=own)

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count one answer."""
        kind = _kind(path)
        self._answers.labels(kind, str(status)).inc()
        self._seconds.labels(kind).observe(seconds)

    def text(self, press: Press) -> str:
        """Return everything as text."""
        edition = press.current
        self._info.info({"version": __version__, "evidence": edition.evidence if edition else ""})
        found = {
            "editions_built": press.built,
            "editions_failed": press.failed,
            "edition_build_seconds": press.build_seconds,
            "edition_bytes": edition.size if edition else 0,
            "edition_stale": press.fault is not None,
        }
        for name, value in found.items():
            self._editions[name].set(float(value))
        return generate_latest(self._registry).decode()


def _kind(path: str) -> str:
    if path == "/" or (path.endswith(".html") and not path.startswith("/review/")):
        return "page"
    first, slash, _ = path[1:].partition("/")
    return first if slash and first in _KINDS else "other"
