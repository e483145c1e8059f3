"""The rules of the method as data: read from a file a user can copy, edit and give back."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from mensura.core.arrays import Ints, Mask
from mensura.core.errors import MensuraError
from mensura.evidence import require_id

DATA = Path(__file__).parent / "data"
Imputation = Literal["waterfall", "joint"]
_SHOWN = 3  # errors of a file that are named
Flag = Annotated[bool, Field(strict=True)]
Whole = Annotated[int, Field(ge=0, strict=True)]
AtLeastOne = Annotated[int, Field(ge=1, strict=True)]
Number = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Percentile = Annotated[float, Field(ge=0, le=100, strict=True)]


class _Block:
    """A block of rules: every value is there, of its type, and nothing else is."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class DimensionRule(_Block):
    """One dimension: its name, how many usable benchmarks it needs, and whether assumed zeros score it alone."""

    name: str
    minimum: Whole
    zeros_suffice: Flag


@dataclass(frozen=True)
class ImputationRule(_Block):
    """How missing benchmarks are filled: the method's waterfall, or draws from one model of all scores."""

    method: Imputation
    minimum_scores: AtLeastOne
    same_gaps: Flag

    @property
    def is_joint(self) -> bool:
        """Whether the joint model fills the gaps."""
        return self.method == "joint"

    def suffices(self, scored: Ints) -> Mask:
        """Say which models have scores enough for the joint model, given how many tell of each."""
        return np.asarray(scored >= self.minimum_scores)


@dataclass(frozen=True)
class PeerRule(_Block):
    """Lower-tail estimate from comparable models: percentile, how many, and the fewest that will do."""

    percentile: Percentile
    count: AtLeastOne
    minimum: Whole


@dataclass(frozen=True)
class CorrelationRule(_Block):
    """Estimate of one benchmark from others: shrinkage for small overlap, penalty and margin for caution."""

    minimum_overlap: Whole
    shrinkage: Number
    penalty: Number
    penalty_single: Number
    margin: Number
    margin_single: Number
    up_to: Whole


@dataclass(frozen=True)
class WithinRule(_Block):
    """Cap of the within-dimension estimate, as a percentile of the benchmark."""

    percentile: Percentile


@dataclass(frozen=True)
class MissingDimensionRule(_Block):
    """A missing dimension: percentile, width of the band, how many models must be alike, scored dimensions needed."""

    percentile: Percentile
    band: Number
    comparable: AtLeastOne
    minimum_scored: AtLeastOne


@dataclass(frozen=True)
class StatusRule(_Block):
    """Shares of the benchmarks that must be measured for a composite to count as Full or Partial."""

    full: Share
    partial: Share

    def of(self, share: float, *, composite: bool) -> str:
        """Return the rank status of a model with this share of benchmarks measured, and a composite or none."""
        if not composite:
            return "Unranked"
        if share >= self.full:
            return "Full"
        return "Partial" if share >= self.partial else "Provisional"


@dataclass(frozen=True)
class EmotionalRule(_Block):
    """Emotional reasoning: components needed, and the adjustment of one component for one provider."""

    minimum: Whole
    adjusted: str
    provider: str
    adjustment: Annotated[float, Field(strict=True, allow_inf_nan=False)]


@dataclass(frozen=True)
class ErrorRule(_Block):
    """Standard deviations, in IQ points, of values whose error cannot be computed from the evidence."""

    measured: Number
    predecessor: Number
    peers: Number
    zero: Number
    within: Number
    dimension: Number


@dataclass(frozen=True)
class CostRule(_Block):
    """Cost: the metric of direct token use, models needed for a fit, and signals needed without direct use."""

    tokens: str
    minimum_models: Whole
    minimum_signals: Whole


@dataclass(frozen=True)
class IqRules(_Block):
    """Every rule and constant of the method; the file says which are stated and which are fitted."""

    dimensions: Mapping[str, DimensionRule]
    imputation: ImputationRule
    peers: PeerRule
    correlation: CorrelationRule
    within: WithinRule
    dimension: MissingDimensionRule
    status: StatusRule
    emotional: EmotionalRule
    error: ErrorRule
    cost: CostRule

    def keep(self, dimensions: Collection[str]) -> IqRules:
        """Return the same rules for only these dimensions."""
        return replace(self, dimensions={name: rule for name, rule in self.dimensions.items() if name in dimensions})


def read_rules(path: str | Path | None = None) -> IqRules:
    """Read the rules of scoring.

    Parameters
    ----------
    path : str or Path, optional
        A TOML file in the form of Mensura's own rules, which are read when it is not given.

    Returns
    -------
    IqRules
        The rules.

    Examples
    --------
    >>> from mensura.iq import read_rules
    >>> len(read_rules().dimensions)
    7

    """
    if path is None:
        return _own_rules()
    file = Path(path)
    try:
        blocks = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as fault:
        raise MensuraError(
            f"{file}: cannot be read ({fault.strerror}); give a TOML file like {DATA}/rules.toml"
        ) from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise MensuraError(f"{file}: not a readable TOML file: {fault}; correct that line") from fault
    return _rules(blocks, str(file))


def as_rules(rules: IqRules | str | Path | None) -> IqRules:
    """Return rules as they are, or read them from the file that is named (nothing: Mensura's own)."""
    return rules if isinstance(rules, IqRules) else read_rules(rules)


@cache
def _own_rules() -> IqRules:
    file = DATA / "rules.toml"
    return _rules(tomllib.loads(file.read_text(encoding="utf-8")), file.name)


def _rules(blocks: Mapping[str, Any], file: str) -> IqRules:
    try:
        rules = TypeAdapter(IqRules).validate_python(blocks)
    except ValidationError as fault:
        wrong = "; ".join(_said(error) for error in fault.errors()[:_SHOWN])
        raise MensuraError(f"{file}, {wrong}; write it as in {DATA}/rules.toml") from fault
    for name in rules.dimensions:
        require_id(name, f"{file}, dimensions")
    if len(rules.dimensions) < rules.dimension.minimum_scored:
        raise MensuraError(
            f"{file}, dimensions: expected at least {rules.dimension.minimum_scored}, got {len(rules.dimensions)}"
        )
    return rules


def _said(error: ErrorDetails) -> str:
    """Say where a setting is wrong, what it is, and what it should be."""
    given = "" if isinstance(error["input"], Mapping) else f" = {error['input']!r}"
    return f"{'.'.join(map(str, error['loc']))}{given}: {error['msg']}"
