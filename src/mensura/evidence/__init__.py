"""Evidence: scores and facts about models, benchmarks and people, each with its source.

In: the embedded tables, a folder or store of the user, files of scores in any usual form. Out: a checked
:class:`Evidence`.
Read first: ``schema`` and ``schema.csv`` (every table once), ``evidence`` (the result, :func:`load`, rows of users
join the tables), ``checks`` and ``consistency`` (ids and errors, all at once), ``additions`` (what is assumed of
added scores), ``store`` (reading, writing and fingerprints), ``measurements`` (what stands behind scores, and who is
above people).
"""

from mensura.core.errors import EvidenceError, Fault
from mensura.evidence.checks import require_id, slug
from mensura.evidence.evidence import EMBEDDED, Evidence, load
from mensura.evidence.measurements import (
    benchmark_coverage,
    distinct_scores,
    far_below_predecessor,
    require_subject,
    source_coverage,
    source_disagreement,
    trials,
    used_scores,
    with_tries,
)
from mensura.evidence.schema import LADDER_LEVELS, TABLES
from mensura.evidence.store import read_calibration
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
