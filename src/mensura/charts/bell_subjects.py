"""Who stands on the bell: a thousand people, landmarks of people, models; and the widths at which it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

CROWD = 1000
"""People drawn: one dot is one in a thousand."""
_HUMAN = NormalDist(100.0, 15.0)
QUANTILES = tuple(_HUMAN.inv_cdf((place + 0.5) / CROWD) for place in range(CROWD))


@dataclass(frozen=True)
class BellModel:
    """A model on the first picture; ``full``: mostly measured."""

    subject: str
    name: str
    provider: str
    iq: float
    low: float
    high: float
    full: bool
    href: str


@dataclass(frozen=True)
class Landmark:
    """People on the axis: who, what says so, and the IQ that their score on one test is read as."""

    name: str
    note: str
    iq: float
    subject: str = ""
    href: str = ""


@dataclass(frozen=True)
class BellLook:
    """What differs between a screen, a tablet and a phone."""

    width: float
    low: float
    pitch: float
    named: int
    legend: float
    labs: int


LOOKS = {
    "wide": BellLook(1200.0, 55.0, 9.2, 15, 236.0, 2),
    "mid": BellLook(704.0, 52.0, 6.0, 15, 142.0, 1),
    "narrow": BellLook(358.0, 60.0, 3.9, 10, 106.0, 0),
}
"""The widths at which the picture is drawn, by their names in the style sheet."""


def crowd_above(iq: float) -> int:
    """Return how many of a thousand people stand at or above an IQ."""
    return sum(one >= iq for one in QUANTILES)
