"""Methods behind the one contract: tables and populations in, rates with intervals and sensitivity out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.extrapolation.facts import country_ability, country_of, logits_per_unit
from mensura.extrapolation.line import Case, Floats, fit_line
from mensura.extrapolation.methods import LEVEL, ConstantShift, Described, Ensemble, Identity, Linked, Method
from mensura.extrapolation.observed import observe
from mensura.extrapolation.priors import TRANSFER, prior_for
from mensura.extrapolation.protocol import Extrapolation
from mensura.frames import as_frame, require_columns

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mensura.people import Population

_WITHOUT_LINKS = ("identity", "described")
STATISTICAL = ("identity", "shift", "described", "linked", "ensemble")
_SENSITIVITY = ("assumption", "value", "low", "high", "rate_low", "rate_high", "swing", "share")


@dataclass(frozen=True)
class Statistical:
    """A statistical method as an extrapolator.

    ``links``: item, rate (and n) of the reference population on some of the items. ``kind``: what sets the
    two groups apart (``country``, ``education``, … as in ``descriptions.KINDS``), which chooses the prior.
    Focal rates may carry ``share``: the focal group's part of the reference's answers (0 when not given).
    """

    method: Method
    links: pl.DataFrame | None = None
    kind: str = "country"

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.name

    def predict(
        self, items: pl.DataFrame, focal_rates: pl.DataFrame, focal: Population, reference: Population
    ) -> Extrapolation:
        """Return the reference population's rate for each item, links as measured."""
        case, known = self._case(items, focal_rates, focal, reference)
        rates = self.method.carry(case, known[None])
        measured = known & np.isfinite(case.reference)
        table = pl.DataFrame(
            {
                "item": list(case.items),
                "rate": np.where(measured, case.reference, rates.rate[0]),
                "low": np.where(measured, case.reference, rates.low[0]),
                "high": np.where(measured, case.reference, rates.high[0]),
                "status": np.where(measured, "measured", "extrapolated"),
                "method": [self.name] * len(case.items),
            }
        )
        warnings = (
            () if case.basis != "none" else ("no public fact tells the two populations apart: no shift expected",)
        )
        return Extrapolation(
            table=table,
            focal=focal,
            reference=reference,
            method=self.name,
            level=LEVEL,
            interval="prior or posterior of shift, slope and item-by-group interaction, with sampling error",
            sensitivity=_sensitivity(case, known & (self.name not in _WITHOUT_LINKS)),
            settings={"kind": self.kind, "basis": case.basis, "links": int(known.sum())},
            warnings=warnings,
        )

    def _case(
        self, items: pl.DataFrame, focal_rates: pl.DataFrame, focal: Population, reference: Population
    ) -> tuple[Case, np.ndarray]:
        seen = observe(items, focal_rates)
        offset, basis = _expected_shift(focal, reference, seen.domains)
        known, rate, n = self._links(seen.items)
        share = np.zeros(seen.size)
        if "share" in focal_rates.columns:
            share = focal_rates["share"].cast(pl.Float64).fill_null(0.0).to_numpy()
            if not np.all((share >= 0) & (share < 1)):
                raise MensuraError("focal rates: share must be at least 0 and below 1")
        case = Case(
            items=tuple(seen.items),
            rate=seen.rate,
            n=np.where(np.isfinite(seen.n), seen.n, 1e6),
            share=share,
            rest=n * (1 - share),
            reference=rate,
            offset=offset,
            group=focal.name,
            kind=self.kind,
            basis=basis,
            concentration=_concentration(reference),
            prior=prior_for(self.kind, basis).widened(1 + _concentration(reference)),
        )
        return case, known

    def _links(self, names: list[str]) -> tuple[np.ndarray, Floats, Floats]:
        rate, n = np.full(len(names), np.nan), np.full(len(names), np.inf)
        if self.links is not None:
            require_columns(self.links, ["item", "rate"], name="links")
            where = {name: k for k, name in enumerate(names)}
            for row in self.links.iter_rows(named=True):
                if row["item"] not in where:
                    raise MensuraError(f"links: item {row['item']!r} has no focal rate")
                if row["rate"] is None or not 0 <= row["rate"] <= 1:
                    raise MensuraError(f"links: rate of {row['item']!r} must lie between 0 and 1, got {row['rate']}")
                rate[where[row["item"]]] = row["rate"]
                n[where[row["item"]]] = row.get("n") or np.inf
        return np.isfinite(rate), rate, n


def extrapolator(
    name: str,
    *,
    links: Any = None,  # noqa: ANN401
    difference: float | None = None,
    kind: str = "country",
) -> Statistical:
    """Return a statistical extrapolator by name: identity, shift, described, linked or ensemble.

    ``links``: the reference's rates on some items (item, rate and, where known, n), as a table or a file.
    ``difference``: a known difference of the two groups in logits, for ``shift``.
    """
    methods: dict[str, Method] = {
        "identity": Identity(),
        "shift": ConstantShift(difference=difference),
        "described": Described(),
        "linked": Linked(),
        "ensemble": Ensemble((Linked(), Described(), ConstantShift(difference=difference))),
    }
    if name not in methods:
        raise MensuraError(f"unknown method {name!r}; statistical ones are {', '.join(methods)}")
    table = None if links is None else as_frame(links, name="links")
    if table is None and (name in {"linked", "ensemble"} or (name == "shift" and difference is None)):
        needs = "linking items or a known difference" if name == "shift" else "linking items"
        raise MensuraError(f"method {name!r} needs {needs}: rates of the reference population on some of the items")
    return Statistical(methods[name], table, kind)


def factory(name: str) -> Callable[..., Statistical]:
    """Return a maker of the method ``name`` that takes the settings of all extrapolators and uses its own."""

    def make(
        *,
        links: Any = None,  # noqa: ANN401
        difference: float | None = None,
        kind: str = "country",
        **_other: object,
    ) -> Statistical:
        return extrapolator(name, links=links, difference=difference, kind=kind)

    return make


def _expected_shift(focal: Population, reference: Population, domains: list[str | None]) -> tuple[Floats, str]:
    """Return the logit shift that public facts predict, and the basis of those facts."""
    gap = _ability(reference) - _ability(focal)
    if not np.isfinite(gap):
        return np.zeros(len(domains)), "none"
    basis = "matched" if focal.ability is not None and reference.ability is not None else "general"
    return np.full(len(domains), TRANSFER[basis] * logits_per_unit() * gap), basis


def _concentration(population: Population) -> float:
    """Return the Σ of squared shares of a population's countries; 0 for one of very many."""
    if not population.countries:
        return 0.0
    shares = np.array(population.shares or (1.0,) * len(population.countries))
    return float((shares**2).sum() / shares.sum() ** 2)


def _ability(population: Population) -> float:
    """Return a population's mean ability: its own, else that of its countries by share; NaN where unknown."""
    if population.ability is not None:
        return population.ability.mean
    if not population.countries:
        return np.nan
    shares = population.shares or (1.0,) * len(population.countries)
    scores = [country_ability(country_of(country), None, None)[0] for country in population.countries]
    return float(np.average(scores, weights=shares))


def _sensitivity(case: Case, known: np.ndarray) -> pl.DataFrame:
    """Return how the mean predicted rate moves when each part of the line goes to the ends of its 90% range.

    Shift and interaction move all items by their reach (for the interaction: as if every item departed alike, so
    it speaks of one item rather than of the mean); the slope turns the line about the focal mean. Ranges are those
    after the links, where there are any. ``share`` is the part of the squared swings.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    line = fit_line(case, known[None], case.prior)
    tau, centred = float(line.interaction[0]), case.x - case.x.mean()
    own = line.variance[0] - tau**2 - case.x_noise - case.y_noise(line.logit[0])
    shift_sd = float(np.sqrt(max(own.min(), 0.0)))
    parts = {
        "shift": (float(line.shift[0]), shift_sd, np.full(len(centred), shift_sd)),
        "slope": (float(line.slope[0]), case.prior.slope_sd, case.prior.slope_sd * centred),
        "item-by-group interaction": (0.0, tau, np.full(len(centred), tau)),
    }
    rows = []
    for name, (value, sd, reach) in parts.items():
        low, high = (float(case.mix(line.logit[0] + sign * z * reach).mean()) for sign in (-1, 1))
        rows.append((name, value, value - z * sd, value + z * sd, low, high, abs(high - low)))
    table = pl.DataFrame(rows, schema=list(_SENSITIVITY[:-1]), orient="row")
    squares = pl.col("swing") ** 2
    return table.with_columns(share=squares / pl.max_horizontal(squares.sum(), 1e-12)).sort("swing", descending=True)
