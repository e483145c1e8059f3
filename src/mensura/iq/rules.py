"""The rules of the method as data: read from a file a user can copy, edit and give back."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from mensura.core.arrays import Ints, Mask
from mensura.core.errors import MensuraError
from mensura.evidence import require_id

IMPUTATIONS = ("waterfall", "joint")
DATA = Path(__file__).parent / "data"
_Block = TypeVar("_Block")


@dataclass(frozen=True)
class DimensionRule:
    """One dimension: its name, how many usable benchmarks it needs, and whether assumed zeros score it alone."""

    name: str
    minimum: int
    zeros_suffice: bool


@dataclass(frozen=True)
class ImputationRule:
    """How missing benchmarks are filled: the method's waterfall, or draws from one model of all scores."""

    method: str
    minimum_scores: int
    own_mask: bool

    @property
    def is_joint(self) -> bool:
        """Whether the joint model fills the gaps."""
        return self.method == "joint"

    def suffices(self, scored: Ints) -> Mask:
        """Say which models have scores enough for the joint model, given how many tell of each."""
        return np.asarray(scored >= self.minimum_scores)


@dataclass(frozen=True)
class PeerRule:
    """Lower-tail estimate from comparable models: percentile, how many, and the fewest that will do."""

    percentile: float
    count: int
    minimum: int


@dataclass(frozen=True)
class CorrelationRule:
    """Estimate of one benchmark from others: shrinkage for small overlap, penalty and margin for caution."""

    minimum_overlap: int
    shrinkage: float
    penalty: float
    penalty_single: float
    margin: float
    margin_single: float
    up_to: int


@dataclass(frozen=True)
class WithinRule:
    """Cap of the within-dimension estimate, as a percentile of the benchmark."""

    percentile: float


@dataclass(frozen=True)
class MissingDimensionRule:
    """A missing dimension: percentile, width of the band, how many models must be alike, scored dimensions needed."""

    percentile: float
    band: float
    comparable: int
    minimum_scored: int


@dataclass(frozen=True)
class StatusRule:
    """Shares of the benchmarks that must be measured for a composite to count as Full or Partial."""

    full: float
    partial: float

    def of(self, share: float, *, composite: bool) -> str:
        """Return the rank status of a model with this share of benchmarks measured, and a composite or none."""
        if not composite:
            return "Unranked"
        if share >= self.full:
            return "Full"
        return "Partial" if share >= self.partial else "Provisional"


@dataclass(frozen=True)
class EmotionalRule:
    """Emotional reasoning: components needed, and the adjustment of one component for one provider."""

    minimum: int
    adjusted: str
    provider: str
    adjustment: float


@dataclass(frozen=True)
class ErrorRule:
    """Standard deviations, in IQ points, of values whose error cannot be computed from the evidence."""

    measured: float
    predecessor: float
    peers: float
    zero: float
    within: float
    dimension: float


@dataclass(frozen=True)
class CostRule:
    """Cost: the metric of direct token use, models needed for a fit, and signals needed without direct use."""

    tokens: str
    minimum_models: int
    minimum_signals: int


@dataclass(frozen=True)
class IqRules:
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
        kept = {name: rule for name, rule in self.dimensions.items() if name in dimensions}
        return replace(self, dimensions=MappingProxyType(kept))


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
    wanted = [field.name for field in fields(IqRules)]
    if set(blocks) != set(wanted):
        missing, extra = sorted(set(wanted) - set(blocks)), sorted(set(blocks) - set(wanted))
        raise MensuraError(f"{file}: expected the blocks {', '.join(wanted)}; missing {missing}, not known {extra}")
    for name in _require_table(blocks["dimensions"], f"{file}, dimensions"):
        require_id(name, f"{file}, dimensions")
    rules = IqRules(
        dimensions=MappingProxyType(
            {
                name: _block(DimensionRule, block, f"{file}, dimensions.{name}")
                for name, block in blocks["dimensions"].items()
            }
        ),
        imputation=_block(ImputationRule, blocks["imputation"], f"{file}, imputation"),
        peers=_block(PeerRule, blocks["peers"], f"{file}, peers"),
        correlation=_block(CorrelationRule, blocks["correlation"], f"{file}, correlation"),
        within=_block(WithinRule, blocks["within"], f"{file}, within"),
        dimension=_block(MissingDimensionRule, blocks["dimension"], f"{file}, dimension"),
        status=_block(StatusRule, blocks["status"], f"{file}, status"),
        emotional=_block(EmotionalRule, blocks["emotional"], f"{file}, emotional"),
        error=_block(ErrorRule, blocks["error"], f"{file}, error"),
        cost=_block(CostRule, blocks["cost"], f"{file}, cost"),
    )
    if len(rules.dimensions) < rules.dimension.minimum_scored:
        raise MensuraError(
            f"{file}, dimensions: expected at least {rules.dimension.minimum_scored}, got {len(rules.dimensions)}"
        )
    return rules


_KINDS: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float), "bool": bool}
_SHARES = ("full", "partial")
_AT_LEAST_ONE = ("count", "comparable", "factors", "rounds", "minimum_scored", "minimum_scores")


def _block(kind: type[_Block], block: Mapping[str, Any], where: str) -> _Block:
    """Build one block of rules; every value is checked for presence, type and range."""
    wanted = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    for name in _require_table(block, where):
        if name not in wanted:
            raise MensuraError(f"{where}: unknown setting {name!r}; expected {', '.join(wanted)}")
    for name, type_name in wanted.items():
        if name not in block:
            raise MensuraError(f"{where}: missing setting {name!r}; expected {', '.join(wanted)}")
        _check(name, block[name], type_name, where)
    return kind(**block)


def _require_table(block: Any, where: str) -> Mapping[str, Any]:  # noqa: ANN401
    if not isinstance(block, Mapping):
        raise MensuraError(f"{where}: got {block!r}; expected a block of settings, as in {DATA}/rules.toml")
    return block


def _check(name: str, value: Any, type_name: str, where: str) -> None:  # noqa: ANN401
    fits = isinstance(value, _KINDS[type_name]) and (type_name == "bool" or not isinstance(value, bool))
    if not fits:
        raise MensuraError(f"{where}: {name} = {value!r}; expected {type_name}")
    if isinstance(value, int | float) and not isfinite(value):
        raise MensuraError(f"{where}: {name} = {value}; expected a finite number")
    if isinstance(value, int | float) and name != "adjustment" and value < 0:
        raise MensuraError(f"{where}: {name} = {value}; expected zero or more")
    if name in _AT_LEAST_ONE and value < 1:
        raise MensuraError(f"{where}: {name} = {value}; expected one or more")
    if name == "method" and value not in IMPUTATIONS:
        raise MensuraError(f"{where}: method = {value!r}; expected {' or '.join(IMPUTATIONS)}")
    if name in _SHARES and value > 1:
        raise MensuraError(f"{where}: {name} = {value}; expected a share from 0 to 1")
    if name == "percentile" and value > 100:
        raise MensuraError(f"{where}: percentile = {value}; expected 0 to 100")
