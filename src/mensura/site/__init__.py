"""The report: pages built from the evidence, static and offline; and where one model stands.

Names are imported on first use: saying where a model stands needs no page and no chart.
"""

from typing import TYPE_CHECKING

from mensura.exports import on_first_use

if TYPE_CHECKING:
    from mensura.site.pages import count_pages
    from mensura.site.report import build_report
    from mensura.site.revisions import EvidenceLog, log_of
    from mensura.site.study import Study
    from mensura.site.uses import list_benchmarks, say_uses
    from mensura.site.whereabouts import Whereabouts, find_whereabouts

__all__ = [
    "EvidenceLog",
    "Study",
    "Whereabouts",
    "build_report",
    "count_pages",
    "find_whereabouts",
    "list_benchmarks",
    "log_of",
    "say_uses",
]

_HOMES = {
    "EvidenceLog": "revisions",
    "Study": "study",
    "Whereabouts": "whereabouts",
    "build_report": "report",
    "count_pages": "pages",
    "find_whereabouts": "whereabouts",
    "list_benchmarks": "uses",
    "log_of": "revisions",
    "say_uses": "uses",
}

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
