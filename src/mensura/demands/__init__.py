"""Demands: the level that each item asks for in 18 dimensions.

In: items, rubrics, and readings by language models or people. Out: demand levels with agreement and checks.
Read first: ``rubrics`` (dimensions and definitions), ``plan`` and ``annotate`` (ask a language model), ``protocols``
(the prompts and their answers), ``readings``, ``aggregation`` and ``agreement`` (several readers), ``checking`` (do
demands predict human success).
"""

from mensura.demands.aggregation import pool_readings
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.annotate import Annotation, annotate, carry_out
from mensura.demands.checking import DemandsCheck, check_demands
from mensura.demands.plan import plan_annotation
from mensura.demands.readings import combine, read_demands
from mensura.demands.rubrics import Rubric, boundary_table, dimension_table, load_rubrics
from mensura.demands.views import annotation_sheet, pool_rates, unguessability

__all__ = [
    "Agreement",
    "Annotation",
    "DemandsCheck",
    "Rubric",
    "annotate",
    "annotation_sheet",
    "boundary_table",
    "carry_out",
    "check_demands",
    "combine",
    "dimension_table",
    "load_rubrics",
    "measure_agreement",
    "plan_annotation",
    "pool_rates",
    "pool_readings",
    "read_demands",
    "unguessability",
]
