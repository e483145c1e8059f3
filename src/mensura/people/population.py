"""Populations: described groups of people, in prose for prompts and in structure for arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mensura.core.errors import MensuraError

OLDEST = 120


@dataclass(frozen=True)
class Ability:
    """A population's mean and SD on the learning scale: 0 = 500, 1 unit = 100 points of PISA or HLO.

    ``low`` and ``high`` are the range within which the mean is taken to lie.
    """

    mean: float
    sd: float
    low: float
    high: float
    source: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.mean <= self.high:
            raise MensuraError(f"ability: low ≤ mean ≤ high is needed, got {self.low}, {self.mean}, {self.high}")
        if not self.sd > 0:
            raise MensuraError(f"ability: sd must be above 0, got {self.sd}")


@dataclass(frozen=True)
class Population:
    """A described group of people.

    ``prose`` is the description for readers and prompts. The rest is structure; a field left out says
    nothing is restricted: ``ages`` in completed years, both ends included; ``countries`` as ISO 3166
    alpha-3 codes, weighted by ``shares`` (when empty, by how many people of those ages live there);
    ``attainment`` the levels of schooling completed; ``in_school`` whether everyone is a pupil. ``ability``
    overrides what the world tables would say of the group, for samples whose mean is known.
    """

    name: str
    prose: str
    ages: tuple[int, int] = (0, OLDEST)
    countries: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    attainment: tuple[str, ...] = ()
    in_school: bool = False
    year: int | None = None
    language: str | None = None
    ability: Ability | None = None

    def __post_init__(self) -> None:
        low, high = self.ages
        if not 0 <= low <= high <= OLDEST:
            raise MensuraError(
                f"population {self.name!r}: ages must satisfy 0 ≤ low ≤ high ≤ {OLDEST}, got {self.ages}"
            )
        if self.shares and (len(self.shares) != len(self.countries) or min(self.shares) < 0 or not sum(self.shares)):
            raise MensuraError(
                f"population {self.name!r}: one share ≥ 0 per country is needed, "
                f"got {len(self.shares)} for {len(self.countries)} countries"
            )

    def with_(self, **changes: object) -> Population:
        """Return a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.name}: {self.prose}"


WORLD = Population(
    name="world",
    prose="All people alive in the middle of 2025, of every age, country, state of health and amount of "
    "schooling, answering under the same conditions in a language they speak.",
    year=2025,
)
