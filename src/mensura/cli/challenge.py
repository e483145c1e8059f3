"""``mensura baseline challenge``: seal a pool, submit estimates, score submissions."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from mensura.cli.output import console, emit
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError, check_choice

STEPS = ("seal", "submit", "score")
SIMULATED = "simulated"
"""The pool that ships."""


def take_part(
    words: list[str],
    opens: str | None,
    method: str,
    estimates: str | None,
    estimator: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run one step of the challenge; ``words`` are the step, the pool, and submissions to score."""
    from mensura.baseline import challenge

    step, *places = words or [""]
    check_choice("baseline challenge", step, STEPS)
    if not places:
        raise MensuraError(f"baseline challenge {step}: expected a {'table of rates' if step == 'seal' else 'pool'}")
    if step == "seal":
        if out is None:
            raise MensuraError("baseline challenge seal: --out is missing; give the folder of the new pool")
        pool = challenge.seal_pool(Path(places[0]), out, _day(opens))
        console.print(
            f"wrote {out}: {pool.items.height} items, sealed until {pool.opens}. Publish all but key.json, and keep "
            "that file apart until then."
        )
        return
    pool = challenge.read_sealed(challenge.SIMULATED if places[0] == SIMULATED else Path(places[0]))
    if step == "submit":
        if estimates is None or estimator is None or out is None:
            raise MensuraError("baseline challenge submit: give --estimates FILE, --estimator NAME and --out FOLDER")
        entry = challenge.write_submission(pool, estimates, out, method=method, estimator=estimator, made=date.today())
        console.print(f"wrote {out / challenge.SUBMISSION}: {pool.items.height} estimates, hash {entry['hash'][:16]}.")
        return
    standing = challenge.score_submissions(pool, [Path(place) for place in places[1:]], date.today())
    emit({"standing": standing}, out, as_json, texts={"standing.md": challenge.standing_page(pool, standing)})
    print_table(standing, title=f"Standing of methods on {pool.name}, smallest error first", rows=40, digits=3)
    best = standing.row(0, named=True)
    console.print(f"{best['method']} by {best['estimator']} has the smallest error: {best['error']:.3f}.")


def _day(text: str | None) -> date:
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        raise MensuraError(
            f"baseline challenge seal: --set opens={text or ''} is no day; expected one such as 2027-06-01"
        ) from None
