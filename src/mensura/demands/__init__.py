"""Demands: the level that each item asks for in 18 dimensions.

In: items, rubrics, and readings by language models or people. Out: demand levels with agreement and checks.
Read first: ``dimensions`` and ``rubrics`` (definitions), ``annotate`` (ask a language model), ``protocols`` (the
prompts), ``aggregation`` and ``agreement`` (several readers), ``checking`` (do demands predict human success).
"""

from mensura.demands.aggregation import pool_readings
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.annotate import Annotation, annotate, carry_out
from mensura.demands.checking import DemandsCheck, check_demands, pool_rates
from mensura.demands.comparison import ProtocolComparison, compare_protocols
from mensura.demands.dimensions import Dimension, boundary_table, dimension_table
from mensura.demands.plan import plan_annotation
from mensura.demands.readings import combine, read_demands
from mensura.demands.rubrics import Rubric, load_rubrics, read_rubric
from mensura.demands.sheet import annotation_sheet
from mensura.demands.views import ItemView, unguessability

__all__ = [
    "Agreement",
    "Annotation",
    "DemandsCheck",
    "Dimension",
    "ItemView",
    "ProtocolComparison",
    "Rubric",
    "annotate",
    "annotation_sheet",
    "boundary_table",
    "carry_out",
    "check_demands",
    "combine",
    "compare_protocols",
    "dimension_table",
    "load_rubrics",
    "measure_agreement",
    "plan_annotation",
    "pool_rates",
    "pool_readings",
    "read_demands",
    "read_rubric",
    "unguessability",
]
