"""Evidence: scores and facts about models, benchmarks and people, each with its source.

In: the embedded tables, a folder or store of the user, files of scores in any usual form. Out: a checked
:class:`Evidence`.
Read first: ``schema`` and ``schema.csv`` (every table once), ``evidence`` (the result, :func:`load`, rows of users
join the tables), ``checks`` and ``consistency`` (ids and errors, all at once), ``additions`` (what is assumed of
added scores), ``store`` (reading, writing and fingerprints), ``measurements`` (what stands behind scores, and who is
above people).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.core.errors import EvidenceError as EvidenceError, Fault as Fault
    from mensura.evidence.checks import require_id as require_id, slug as slug
    from mensura.evidence.evidence import EMBEDDED as EMBEDDED, Evidence as Evidence, load as load
    from mensura.evidence.measurements import (
        benchmark_coverage as benchmark_coverage,
        distinct_scores as distinct_scores,
        far_below_predecessor as far_below_predecessor,
        require_subject as require_subject,
        source_coverage as source_coverage,
        source_disagreement as source_disagreement,
        trials as trials,
        used_scores as used_scores,
        with_tries as with_tries,
    )
    from mensura.evidence.schema import LADDER_LEVELS as LADDER_LEVELS, TABLES as TABLES
    from mensura.evidence.store import read_calibration as read_calibration
    from mensura.intake.figures import RATE_UNITS as RATE_UNITS
    from mensura.intake.scores import NewModel as NewModel, ScoreReading as ScoreReading

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
