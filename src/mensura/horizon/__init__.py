"""How long a task a subject can do: success against the minutes that people need.

In: runs of subjects on tasks, and human times of these tasks with their kind. Out: the lengths at which a subject
succeeds half (p50) and four fifths (p80) of the time, with intervals that contain the error of the times.
Read first: ``reading`` (runs and times), ``lengths`` (a task's length from uncertain times), ``fitting`` (success
against length), ``horizons`` (from draws to horizons), ``result`` (the verb and its tables), ``metr`` (the published
method), ``people`` (people's own curve), ``minutes`` (times from
estimates), ``totals`` (benchmarks without item results), ``embedded`` (data that come with the package).
"""

from mensura.horizon.embedded import load_runs
from mensura.horizon.minutes import estimate_minutes
from mensura.horizon.result import HorizonFit, fit_horizons
from mensura.horizon.totals import fit_totals

__all__ = ["HorizonFit", "estimate_minutes", "fit_horizons", "fit_totals", "load_runs"]
