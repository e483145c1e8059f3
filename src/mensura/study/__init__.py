"""The study: every instrument run once on one evidence; it decides who is ranked and who leads.

In: an evidence. Out: a :class:`Study` of tables, which the site, the live site, figures, agents and commands read.
Read first: ``study`` (the whole), ``parts`` (its slow parts), ``ranking`` (who is ranked), ``leaders`` (the best
model on each test that people took), ``whereabouts`` (one model), ``frozen`` (a study on a frozen scale), ``preview``
(the effect of a change of the evidence), ``policy`` (which models a chart shows), ``units`` and ``sentences`` (how
numbers are written).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.study.standing import Whereabouts as Whereabouts, find_whereabouts as find_whereabouts
    from mensura.study.study import Study as Study
    from mensura.study.uses import list_benchmarks as list_benchmarks, say_uses as say_uses

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
