"""The study: every instrument run once on one evidence; it decides who is ranked and who leads.

In: an evidence. Out: a :class:`Study` of tables, which the site, the live site, figures, agents and commands read.
Read first: ``study`` (the whole), ``slow_parts`` (pace, watch, abilities), ``leaders`` (the best model on each test
that people took, and who led when), ``standing`` (one model), ``preview`` (the
effect of a change of the evidence), ``policy`` (which models a chart shows), ``units`` and ``headlines`` (how numbers
are written).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.study.standing import (
        Whereabouts as Whereabouts,
        find_whereabouts as find_whereabouts,
        list_benchmarks as list_benchmarks,
        say_uses as say_uses,
    )
    from mensura.study.study import Study as Study

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
