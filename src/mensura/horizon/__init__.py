"""How long a task a subject can do: success against the minutes that people need.

In: runs of subjects on tasks, and human times of these tasks with their kind. Out: the lengths at which a subject
succeeds half (p50) and four fifths (p80) of the time, with intervals that contain the error of the times.
Read first: ``reading`` (runs and times), ``lengths`` (a task's length from uncertain times), ``fitting`` (success
against length), ``horizons`` (from draws to horizons), ``result`` (the verb and its tables), ``metr`` (the published
method), ``people`` (people's own curve).
"""

from mensura.horizon.result import HorizonFit, fit_horizons

__all__ = ["HorizonFit", "fit_horizons"]
