"""The report: pages built from the evidence, static and offline; and where one model stands.

Names are imported on first use: saying where a model stands needs no page and no chart.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mensura.site.pages import count_pages
    from mensura.site.report import build_report
    from mensura.site.revisions import EvidenceLog, log_of
    from mensura.site.study import Study
    from mensura.site.whereabouts import Whereabouts, find_whereabouts

__all__ = ["EvidenceLog", "Study", "Whereabouts", "build_report", "count_pages", "find_whereabouts", "log_of"]

_HOMES = {
    "EvidenceLog": "mensura.site.revisions",
    "Study": "mensura.site.study",
    "Whereabouts": "mensura.site.whereabouts",
    "build_report": "mensura.site.report",
    "count_pages": "mensura.site.pages",
    "find_whereabouts": "mensura.site.whereabouts",
    "log_of": "mensura.site.revisions",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mensura.site' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
