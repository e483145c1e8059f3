"""How long a task a subject can do: success against the minutes that people need.

In: runs of subjects on tasks, and human times of these tasks with their kind. Out: the lengths at which a subject
succeeds half (p50) and four fifths (p80) of the time, with intervals that contain the error of the times.
Read first: ``reading`` (runs and times), ``lengths`` (a task's length from uncertain times), ``fitting`` (success
against length), ``horizons`` (from draws to horizons; people's own curve), ``result`` (the verb and its tables),
``metr`` (the published method), ``minutes`` (embedded data, times from estimates), ``totals`` (benchmarks without item
results).
"""

from mensura.horizon.minutes import estimate_minutes, load_runs
from mensura.horizon.result import HorizonFit, fit_horizons
from mensura.horizon.totals import fit_totals

__all__ = ["HorizonFit", "estimate_minutes", "fit_horizons", "fit_totals", "load_runs"]
