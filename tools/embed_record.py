"""Build the record of Mensura's own claims and seal those of this edition: ``python -m tools.embed_record``.

The record takes some minutes. Seals of earlier editions stay as they are; ``--seal-only`` leaves the record alone.
"""

from __future__ import annotations

import argparse
import json
import secrets
from datetime import date

import polars as pl

import mensura
from mensura.core.files import write_csv, write_text
from mensura.study.grading import FILE, SEALS, seal, sealed_claims
from mensura.study.record import FORECAST, IQ, LEAD, PASSED, build_record, claims_of
from mensura.study.study import Study


def sealed_now(day: date) -> list[dict[str, object]]:
    """Return what this edition claims about the time to come, one sealed list per subject and day of opening."""
    claims = list(claims_of(Study.open(mensura.load()), day, "sealed"))
    kept = ("kind", "subject", "claim", "chance", "expected", "low", "high", "scores", "months", "due", "made")
    lists: dict[tuple[str, date], list[dict[str, object]]] = {}
    titles = {LEAD: "Who leads", IQ: "The IQ of the newest models", PASSED: "Which people are passed"}
    titles |= {FORECAST: "How high the best model is"}
    for claim in claims:
        plain = {key: _plain(claim[key]) for key in kept if claim.get(key) is not None}
        due = claim.get("due") or date(day.year + 1, day.month, 1)
        lists.setdefault((titles[claim["kind"]], due), []).append(plain)
    sealed = []
    for (subject, due), own in sorted(lists.items(), key=lambda pair: (pair[0][1], pair[0][0])):
        salt = secrets.token_hex(16)
        facts = {"edition": mensura.__version__, "made": day.isoformat(), "opens": due.isoformat(), "subject": subject}
        sealed.append({**facts, "sha256": seal(own, salt), "salt": salt, "claims": own})
    return sealed


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seal-only", action="store_true")
    parser.add_argument("--day", type=date.fromisoformat, default=date.today())
    given = parser.parse_args()
    if not given.seal_only:
        skipped: list[str] = []
        table = build_record(mensura.load(), skipped=skipped, sealed=sealed_claims())
        print(*skipped, sep="\n")
        write_csv(table.with_columns(pl.col(pl.Float64).round(4)), FILE)
        print(f"{FILE.name}: {table.height} claims")
    before = json.loads(SEALS.read_text(encoding="utf-8")) if SEALS.exists() else []
    kept = [one for one in before if one["made"] != given.day.isoformat()]
    write_text(SEALS, json.dumps([*kept, *sealed_now(given.day)], indent=1, ensure_ascii=False) + "\n")
    print(f"{SEALS.name}: sealed on {given.day}")


if __name__ == "__main__":
    main()
