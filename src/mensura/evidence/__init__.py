"""Evidence: scores and facts about models, benchmarks and people, each with its source.

In: the embedded tables, a folder or store of the user, files of scores in any usual form. Out: a checked
:class:`Evidence`.
Read first: ``schema`` (every table once), ``evidence`` (the result and :func:`load`), ``checks`` and ``consistency``
(errors, all at once), ``siblings`` (scores to look at again), ``intake/`` (files that users bring), ``additions``
(their rows join the tables), ``samples/`` (evaluation logs item by item), ``store`` (reading and writing), ``above``
(how surely a model scores above people).
"""

from mensura.evidence.checks import require_id, slug
from mensura.evidence.evidence import EMBEDDED, Evidence, load, read_calibration, require_subject
from mensura.evidence.measurements import (
    benchmark_coverage,
    distinct_scores,
    far_below_predecessor,
    source_coverage,
    source_disagreement,
    trials,
    used_scores,
    with_tries,
)
from mensura.evidence.schema import LADDER_LEVELS, TABLES
from mensura.intake.faults import EvidenceError, Fault
from mensura.intake.figures import RATE_UNITS
from mensura.intake.scores import NewModel, ScoreReading

__all__ = [
    "EMBEDDED",
    "LADDER_LEVELS",
    "RATE_UNITS",
    "TABLES",
    "Evidence",
    "EvidenceError",
    "Fault",
    "NewModel",
    "ScoreReading",
    "benchmark_coverage",
    "distinct_scores",
    "far_below_predecessor",
    "load",
    "read_calibration",
    "require_id",
    "require_subject",
    "slug",
    "source_coverage",
    "source_disagreement",
    "trials",
    "used_scores",
    "with_tries",
]
