"""Whether a fit arrived: part of every fit's result and of its print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Convergence:
    """How an iteration ended.

    ``gradient`` is what must vanish at the optimum, named by ``measure`` (the largest component of the projected
    gradient, or the largest change of any η in the last sweep), and ``tolerance`` what it had to come below.
    """

    converged: bool
    iterations: int
    gradient: float
    tolerance: float
    measure: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say about it: nothing when it arrived."""
        if self.converged:
            return ()
        return (
            f"the fit did not converge: after {self.iterations} iterations the {self.measure} is {self.gradient:.2g} "
            f"(below {self.tolerance:g} is asked for), so there are no numbers",
        )


def warn_unconverged(lost: int, fits: int, what: str) -> tuple[str, ...]:
    """Say how many of many fits did not arrive: nothing when all did."""
    if not lost:
        return ()
    return (f"{lost} of {fits} {what} did not converge; they are kept, as they stood at the last iteration",)
