"""Demands: the level that each item asks for in 18 dimensions.

In: items, rubrics, and readings by language models or people. Out: demand levels with agreement and checks.
Read first: ``rubrics`` (dimensions and definitions), ``plan`` and ``annotation`` (ask a language model), ``protocols``
(the prompts and their answers), ``readings``, ``aggregation`` and ``agreement`` (several readers), ``checking`` (do
demands predict human success).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.demands.aggregation import pool_readings as pool_readings
    from mensura.demands.agreement import Agreement as Agreement, measure_agreement as measure_agreement
    from mensura.demands.annotation import Annotation as Annotation, annotate as annotate, carry_out as carry_out
    from mensura.demands.checking import DemandsCheck as DemandsCheck, check_demands as check_demands
    from mensura.demands.plan import plan_annotation as plan_annotation
    from mensura.demands.readings import combine as combine, read_demands as read_demands
    from mensura.demands.rubrics import (
        Rubric as Rubric,
        boundary_table as boundary_table,
        dimension_table as dimension_table,
        load_rubrics as load_rubrics,
    )
    from mensura.demands.views import (
        annotation_sheet as annotation_sheet,
        pool_rates as pool_rates,
        unguessability as unguessability,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
