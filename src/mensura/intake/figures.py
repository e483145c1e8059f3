"""Figures as people write them: percent signs, decimal commas, errors behind them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

import polars as pl

from mensura.core.errors import MensuraError

_NUMBER = re.compile(
    r"(?P<sign>[-−+]?)(?P<digits>\d[\d ,.']*\d|\d|\.\d+|\d+\.)(?P<exponent>[eE][-+]?\d+)?\s*(?P<percent>%?)"
    r"\s*(?:(?:±|\+/-|\+-)\s*(?P<error>[\d.,]+)\s*%?|\(\s*±?\s*(?P<inside>[\d.,]+)\s*%?\s*\))?"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:([ ,'.])\d{3})(?:\1\d{3})*")


class WrittenFigure(NamedTuple):
    """One figure: its value, whether it carries a percent sign, and the error behind it, in the same unit."""

    value: float
    percent: bool
    error: float | None = None


def read_figure(text: str, *, decimal_comma: bool = False) -> WrittenFigure | None:
    """Return the figure a cell holds, None where it holds none; ``70.4 ± 1.2`` has an error of 1.2."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    digits = _plain_digits(match["digits"], decimal_comma=decimal_comma)
    if digits is None:
        return None
    sign = "-" if match["sign"] in ("-", "−") else ""
    error = _plain_digits((match["error"] or match["inside"] or "").strip(".,"), decimal_comma=decimal_comma)
    value = float(f"{sign}{digits}{match['exponent'] or ''}")
    return WrittenFigure(value, bool(match["percent"]), float(error) if error else None)


def _plain_digits(digits: str, *, decimal_comma: bool) -> str | None:
    """Return digits with a decimal point and nothing else, or None where they can be read in two ways."""
    if "," in digits and "." in digits:
        last = max(digits.rfind(","), digits.rfind("."))
        other = "," if digits[last] == "." else "."
        head, tail = digits[:last].replace(other, ""), digits[last + 1 :]
        return f"{head}.{tail}" if head.isdigit() and tail.isdigit() else None
    bare = digits.replace(" ", "").replace("'", "")
    if bare != digits and not _THOUSANDS.fullmatch(re.sub(r"[.,]\d*$", "", digits)):
        return None  # "70 4": two figures, or one with its point lost
    if "," in bare:
        if decimal_comma or not _THOUSANDS.fullmatch(digits):
            return bare.replace(",", ".") if bare.count(",") == 1 else None
        return bare.replace(",", "")
    return bare if bare.count(".") <= 1 else None


def uses_decimal_commas(cells: Iterable[str | None]) -> bool:
    """Return whether figures have decimal commas: some comma cannot part thousands, and no point is written."""
    written = [cell for cell in cells if cell]
    points = any("." in cell for cell in written)
    commas = any(re.fullmatch(r"[-−+]?\d+,(?:\d{1,2}|\d{4,})\s*%?", cell.strip()) for cell in written)
    return commas and not points


# Units of scores, converted once: at the edge where evidence is loaded.

RATE_UNITS = {"percent": 100.0, "fraction": 1.0}
"""Units that say a share, with the score of somebody who gets everything right."""

_FACTORS = {(unit, to): RATE_UNITS[to] / RATE_UNITS[unit] for unit, to in permutations(RATE_UNITS, 2)}


def convertible(unit: str, to: str) -> bool:
    """Say whether a score in ``unit`` can be expressed in ``to``."""
    return unit == to or (unit, to) in _FACTORS


def convert(score: pl.Expr, unit: pl.Expr, to: pl.Expr) -> pl.Expr:
    """Return scores in the unit ``to``; rounding takes away only what the factor 100 adds (12 digits)."""
    converted = score
    for (source, target), factor in _FACTORS.items():
        changed = (score * factor).round(12)
        converted = pl.when((unit == source) & (to == target)).then(changed).otherwise(converted)
    return converted


# Which unit scores are in: the one they say, the one their bringer says, the only one they can be; never a guess.

_WORDS = {"%": "percent", "percentage": "percent", "pct": "percent", "proportion": "fraction", "share": "fraction"}


@dataclass(frozen=True)
class ReadScore:
    """One score that was read: its row, the ids it is about, value, unit if stated, and what else its row says."""

    row: int
    subject: str
    benchmark: str
    value: float
    unit: str | None
    extras: Mapping[str, str]


def unit_word(written: str | None) -> str | None:
    """Return a unit by the name the evidence has for it."""
    return None if written is None else _WORDS.get(written.casefold(), written.casefold())


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
    units = {benchmark: _unit_of(benchmark, values, own_units, unit, name) for benchmark, values in silent.items()}
    unclear = [f"{benchmark}: {why}" for benchmark, (settled, why) in units.items() if settled is None]
    if unclear:
        raise MensuraError(
            f"{name}: fractions or percents? {'; '.join(unclear)}. Give a column unit, or say mensura add {name} "
            "--unit fraction or --unit percent (unit= in Python)"
        )
    settled = [replace(score, unit=score.unit or units[score.benchmark][0]) for score in scores]
    alike: dict[tuple[str | None, str], list[str]] = {}
    for benchmark, reason in units.items():
        alike.setdefault(reason, []).append(benchmark)
    return settled, [f"{', '.join(those)}: {settled_unit} ({why})" for (settled_unit, why), those in alike.items()]


def _unit_of(
    benchmark: str, values: Sequence[float], own_units: Mapping[str, str], unit: str | None, name: str
) -> tuple[str | None, str]:
    """Return the unit of one benchmark's figures and why, or no unit and why it has to be stated.

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
