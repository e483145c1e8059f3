"""A public test of estimators: pools whose rates are sealed until a date, submissions, and the standing of methods.

An organiser seals the true rates: the pool states a hash of salt and rates, and the key with both stays secret until
the date. Whoever estimates writes a submission, with its own hash and date, before that. Then the key opens the pool,
and every submission is scored alike.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.baseline.kinds import PEOPLE_KINDS, kind_of_people
from mensura.baseline.recordings import read_anchors, read_estimates
from mensura.core.arrays import rank_correlation
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.core.folders import whole_folder
from mensura.core.frames import neutral_cells
from mensura.intake.tables import read_table

SIMULATED = Path(__file__).parent / "data" / "challenge"
"""The pool that ships: simulated rates, so that everybody can try the challenge."""
METHODS = {
    "direct": "direct asking",
    "persons": "simulated persons",
    "demands": "calibrated demands",
    "crowd": "the crowd's own guess",
    "other": "another method",
}
"""Ways to estimate, by the name that a submission states."""
POOL, KEY, SUBMISSION = "pool.json", "key.json", "submission.json"
WRITER = "baseline challenge"
_ID = ("item", "population")
STANDING = {
    "people": pl.String,
    "method": pl.String,
    "estimator": pl.String,
    "date": pl.String,
    "items": pl.Int64,
    "error": pl.Float64,
    "rank_correlation": pl.Float64,
    "held": pl.Float64,
    "width": pl.Float64,
    "late": pl.Boolean,
}
"""Columns of the standing of methods."""


@dataclass(frozen=True, eq=False)
class SealedPool:
    """A pool of the challenge: its items and people, when it opens, and the hash of its salt and rates."""

    folder: Path
    name: str
    opens: date
    seal: str
    items: pl.DataFrame

    def rates(self, today: date) -> pl.DataFrame:
        """Return the true rates; refuse before the date, without the key, and where the key is not the sealed one."""
        file = self.folder / KEY
        if today < self.opens:
            raise MensuraError(f"{self.name}: sealed until {self.opens}; submissions are scored from then on")
        if not file.is_file():
            raise MensuraError(f"{self.name}: open since {self.opens}, but there is no {KEY}. Ask the organiser for it")
        key = _read(file)
        table = pl.DataFrame(
            key["rates"], schema={**dict.fromkeys(_ID, pl.String), "rate": pl.Float64, "n": pl.Float64}
        )
        if _hash(key["salt"], _lines(table, "n")) != self.seal:
            raise MensuraError(f"{file}: these rates are not the sealed ones; ask the organiser for the right key")
        return table


def seal_pool(rates: Path, folder: Path, opens: date, salt: str = "") -> SealedPool:
    """Write a pool from a table of item, population, rate and n; other columns, such as text, are shown to everybody.

    The key stays beside the pool. The organiser must keep it apart until the date.
    """
    frame = read_table(rates)
    table = read_anchors(frame).with_columns(pl.col("population").fill_null("people"))
    shown = frame.drop("rate", "n", strict=False).with_columns(pl.col("item").cast(pl.String))
    shown = shown if "population" in shown.columns else shown.with_columns(population=pl.lit("people"))
    salt = salt or secrets.token_hex(16)
    pool = {"name": folder.name, "opens": str(opens), "seal": _hash(salt, _lines(table, "n")), "items": table.height}
    texts = {POOL: _text(pool), KEY: _text({"salt": salt, "rates": table.select(*_ID, "rate", "n").to_dicts()})}
    with whole_folder(folder, WRITER) as stage:
        neutral_cells(shown).write_csv(stage / "items.csv")
        for name, text in texts.items():
            (stage / name).write_text(text, encoding="utf-8")
    return read_sealed(folder)


def read_sealed(folder: Path) -> SealedPool:
    """Read a pool of the challenge."""
    if not (folder / POOL).is_file():
        raise MensuraError(
            f"{folder}: no {POOL} in it; expected a pool of the challenge. Make one: mensura baseline challenge seal "
            "RATES.csv --set opens=2027-06-01 --out FOLDER"
        )
    facts = _read(folder / POOL)
    items = read_table(folder / "items.csv").with_columns(pl.col(name).cast(pl.String) for name in _ID)
    return SealedPool(folder, facts["name"], date.fromisoformat(facts["opens"]), facts["seal"], items)


def write_submission(
    pool: SealedPool, estimates: Any, folder: Path, *, method: str, estimator: str, made: date
) -> dict[str, Any]:
    """Write a submission for a pool: its estimates, who made them, how and when, and a hash of all that."""
    check_choice("method", method, tuple(METHODS))
    table = read_estimates(estimates).select(*_ID, "rate", "low", "high")
    people = pool.items["population"].unique().to_list()
    if table["population"].null_count() == table.height and len(people) == 1:
        table = table.with_columns(population=pl.lit(people[0]))
    missing = pool.items.join(table, on=list(_ID), how="anti")["item"].to_list()
    if missing:
        raise MensuraError(
            f"{pool.name}: {len(missing)} of {pool.items.height} items have no estimate ({listed_names(missing)}); "
            "expected one row per item and population"
        )
    table = table.join(pool.items.select(_ID), on=list(_ID), how="semi").unique(list(_ID), keep="first")
    table = table.sort(*_ID).with_columns(pl.col("low", "high").fill_null(pl.col("rate")))
    facts = {"pool": pool.name, "method": method, "estimator": estimator, "date": str(made)}
    entry = {**facts, "hash": _hash(_text(facts), _lines(table, "low", "high")), "estimates": table.to_dicts()}
    with whole_folder(folder, WRITER) as stage:
        (stage / SUBMISSION).write_text(_text(entry), encoding="utf-8")
    return entry


def score_submissions(pool: SealedPool, files: Sequence[Path], today: date) -> pl.DataFrame:
    """Return the standing of methods, the smallest error first: for all people, and for each kind of them."""
    truth = pool.rates(today).with_columns(
        people=pl.col("population").map_elements(lambda who: kind_of_people(who) or PEOPLE_KINDS[-1], pl.String)
    )
    rows = []
    for file in files:
        entry = _read_submission(file / SUBMISSION if file.is_dir() else file, pool)
        table = truth.join(pl.DataFrame(entry["estimates"]), on=list(_ID), suffix="_estimated")
        kinds = table["people"].unique().sort().to_list()
        for people in ["all", *(kinds if len(kinds) > 1 else [])]:
            part = table if people == "all" else table.filter(people=people)
            late = date.fromisoformat(entry["date"]) >= pool.opens
            about = (people, METHODS[entry["method"]], entry["estimator"], entry["date"])
            rows.append((*about, part.height, *_scored(part), late))
    return pl.DataFrame(rows, schema=STANDING, orient="row").sort(
        pl.col("people") != "all", "people", "late", "error", maintain_order=True
    )


def standing_page(pool: SealedPool, standing: pl.DataFrame) -> str:
    """Return the page with the standing of methods, as Markdown."""
    titles = ["people", "method", "estimator", "date", "error", "rank correlation", "90% intervals hold", "mean width"]
    lines = [
        f"# Standing of methods: {pool.name}",
        "",
        f"{pool.items.height} items, open since {pool.opens}. The seal is `{pool.seal[:16]}`. Errors are mean absolute "
        "errors of rates. Entries made after the opening are marked late.",
        "",
        f"| {' | '.join(titles)} |",
        f"|{'---|' * len(titles)}",
    ]
    for row in standing.iter_rows(named=True):
        made = f"{row['date']}{' (late)' if row['late'] else ''}"
        cells = (row["people"], row["method"], row["estimator"].replace("|", "/"), made, f"{row['error']:.3f}")
        rank = "–" if row["rank_correlation"] is None else f"{row['rank_correlation']:.2f}"
        share, width = f"{row['held']:.0%}", f"{row['width']:.2f}"
        lines.append(f"| {' | '.join((*cells, rank, share, width))} |")
    return "\n".join(lines) + "\n"


def _scored(table: pl.DataFrame) -> tuple[float, float | None, float, float]:
    """Return error, rank correlation (of items, mean over populations), share of held intervals and mean width."""
    truth, guess = table["rate"].to_numpy(), table["rate_estimated"].to_numpy()
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    ranks = []
    for _, part in table.group_by("population"):
        ranks.append(float(rank_correlation(part["rate"].to_numpy(), part["rate_estimated"].to_numpy())))
    coverage = float(np.mean((truth >= low) & (truth <= high)))
    return (
        float(np.abs(truth - guess).mean()),
        None if np.isnan(ranks).all() else float(np.nanmean(ranks)),
        coverage,
        float((high - low).mean()),
    )


def _read_submission(file: Path, pool: SealedPool) -> dict[str, Any]:
    """Read a submission; refuse one for another pool, and one that was changed after its hash."""
    entry = _read(file)
    facts = {name: entry[name] for name in ("pool", "method", "estimator", "date")}
    if entry["pool"] != pool.name:
        raise MensuraError(f"{file}: made for {entry['pool']!r}; expected a submission for {pool.name!r}")
    if _hash(_text(facts), _lines(pl.DataFrame(entry["estimates"]), "low", "high")) != entry["hash"]:
        raise MensuraError(f"{file}: changed after it was made, because its hash differs. Submit again")
    return entry


def _lines(table: pl.DataFrame, *more: str) -> Iterable[str]:
    """Return one line per item and population, in a fixed order and with fixed digits."""
    rows = table.select(*_ID, "rate", *more).sort(*_ID).iter_rows()
    return ["\t".join([str(row[0]), str(row[1]), *(f"{value:.6f}" for value in row[2:])]) for row in rows]


def _hash(salt: str, lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join([salt, *lines]).encode()).hexdigest()


def _text(facts: Mapping[str, object]) -> str:
    return json.dumps(facts, ensure_ascii=False, indent=1) + "\n"


def _read(file: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise MensuraError(f"{file}: not readable as JSON ({fault}); expected a file of the challenge") from None
    return facts
