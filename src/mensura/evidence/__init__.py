"""What was observed: evidence tables with their checks, embedded data, reading, adding and writing."""

from mensura.evidence.coverage import benchmark_coverage, source_coverage, source_disagreement
from mensura.evidence.evidence import EMBEDDED, Evidence, load, read_calibration, require_subject
from mensura.evidence.faults import EvidenceError, Fault
from mensura.evidence.ids import require_id, slug
from mensura.evidence.importer import import_facts
from mensura.evidence.intake import NewModel, ScoreReading
from mensura.evidence.measurements import distinct_scores, trials
from mensura.evidence.schema import LADDER_LEVELS, TABLES
from mensura.evidence.units import RATE_UNITS

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
    "import_facts",
    "load",
    "read_calibration",
    "require_id",
    "require_subject",
    "slug",
    "source_coverage",
    "source_disagreement",
    "trials",
]
