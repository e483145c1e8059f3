"""Which unit scores are in: the one they say, the one their bringer says, the only one they can be; never a guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mensura.core.errors import MensuraError
from mensura.evidence.units import RATE_UNITS

_WORDS = {"%": "percent", "percentage": "percent", "pct": "percent", "proportion": "fraction", "share": "fraction"}


@dataclass(frozen=True)
class ReadScore:
    """One score that was read: its row, the ids it is about, value, unit if said, and what else its row says."""

    row: int
    subject: str
    benchmark: str
    value: float
    unit: str | None
    extras: Mapping[str, str]


def unit_word(said: str | None) -> str | None:
    """Return a unit by the name the evidence has for it."""
    return None if said is None else _WORDS.get(said.casefold(), said.casefold())


def settle_units(
    scores: Sequence[ReadScore], own_units: Mapping[str, str], unit: str | None, name: str
) -> tuple[list[ReadScore], list[str]]:
    """Give every score a unit and say in words which; ``own_units`` of the benchmarks, ``unit`` as the bringer says.

    Raises where the shares of some benchmark could be fractions or percents, and where the two units differ.
    """
    silent: dict[str, list[float]] = {}
    for score in scores:
        if unit is not None and score.unit in RATE_UNITS and score.unit != unit:
            raise MensuraError(
                f"{name}, row {score.row}: the table says {score.unit}, but --unit says {unit}. Leave --unit out"
            )
        if score.unit is None:
            silent.setdefault(score.benchmark, []).append(score.value)
    found = {benchmark: _unit_of(benchmark, values, own_units, unit, name) for benchmark, values in silent.items()}
    unclear = [f"{benchmark}: {why}" for benchmark, (settled, why) in found.items() if settled is None]
    if unclear:
        raise MensuraError(
            f"{name}: fractions or percents? {'; '.join(unclear)}. Give a column unit, or say mensura add {name} "
            "--unit fraction or --unit percent (unit= in Python)"
        )
    settled = [replace(score, unit=score.unit or found[score.benchmark][0]) for score in scores]
    alike: dict[tuple[str | None, str], list[str]] = {}
    for benchmark, reason in found.items():
        alike.setdefault(reason, []).append(benchmark)
    return settled, [f"{', '.join(those)}: {settled_unit} ({why})" for (settled_unit, why), those in alike.items()]


def _unit_of(
    benchmark: str, values: Sequence[float], own_units: Mapping[str, str], unit: str | None, name: str
) -> tuple[str | None, str]:
    """Return the unit of one benchmark's figures and why, or no unit and why it has to be said.

    A value beyond 1 can only be a percent. Values within 0 to 1 are fractions where that is the benchmark's own unit;
    where its own unit is the percent they could be either. Zero is zero in both.
    """
    own = own_units.get(benchmark)
    if own is None and unit is None:
        raise MensuraError(f"{name}: {benchmark!r} is new; say the unit of its scores (--unit, or a column unit)")
    if own is not None and own not in RATE_UNITS:
        return own, "its own unit"
    if unit is not None:
        return unit, "as said"
    if any(value > 1 for value in values):
        return "percent", "0–100: a fraction is at most 1"
    if own == "fraction" or not any(values):
        return own, "its own unit"
    return None, f"all values lie within 0 to 1 (the largest is {max(values):g})"
