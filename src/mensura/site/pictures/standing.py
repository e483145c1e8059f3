"""The pictures of one model's page: where it stands among people, what it does best, whom it passed, what it costs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from mensura.charts import Mark
from mensura.charts.standing import Duel, draw_among, draw_duels, draw_kinds, draw_price
from mensura.evidence import slug
from mensura.evidence.passing import verdict_of
from mensura.site.pictures.registry import Figure, iq_mark, worded
from mensura.study.headlines import short_name
from mensura.study.standing import find_people
from mensura.study.study import Study
from mensura.study.units import dollars, show

_LEADERS = 6
"""Leading models that stand behind a model's own strips."""
_DUELS = 10
"""Groups of people drawn; the table has all."""
_SHARES = ("percent", "fraction")


def among_people(study: Study, row: dict[str, Any]) -> Figure:
    """Return the bell of people with one model's mark."""
    others = study.rows.ranked_iqs.copy()
    if row["rank"] is not None:
        others.remove(row["exact_iq"])
    drawing = draw_among(iq_mark(row), others, f"{row['name']}, IQ {row['iq']}, among 1,000 people.")
    above = sum(one > row["exact_iq"] for one in others)
    return worded("among-", drawing, of=slug(row["subject"]), above=above or "none", others=len(others))


def profile(study: Study, row: dict[str, Any]) -> Figure:
    """Return the profile of one model: its IQ in each kind of work."""
    rows = study.rows.profile_rows[row["subject"]]
    leaders = [one["subject"] for one in study.rows.ranked_rows[:_LEADERS] if one["subject"] != row["subject"]]
    others: dict[str, list[tuple[str, float]]] = {}
    for leader in leaders:
        for one in study.rows.profile_rows[leader]:
            others.setdefault(one["dimension"], []).append((one["provider"], one["value"]))
    kinds = []
    for one in rows:
        status = "measured" if one["status"] == "measured" else "estimated"
        ends: dict[str, Any] = {"status": status, "low": one["low"], "high": one["high"]}
        own = Mark(one["dimension"], one["provider"], one["value"], **ends)
        kinds.append((own, others.get(one["dimension"], [])))
    best, worst = max(rows, key=lambda one: one["value"]), min(rows, key=lambda one: one["value"])
    finding = ", ".join(f"{show(one['value'], 'iq')} in {one['dimension']}" for one in (worst, best))
    drawing = draw_kinds(kinds, f"IQ by dimension of {row['name']}: {finding}.")
    ahead = sum(own.x > max((iq for _, iq in least), default=0.0) for own, least in kinds)
    facts: dict[str, Any] = {"leaders": len(leaders), "ahead": ahead or "none", "kinds": len(kinds)}
    return worded("profile-", drawing, finding, of=slug(row["subject"]), rows=rows, **facts)


def against_people(study: Study, row: dict[str, Any]) -> Figure | None:
    """Return people and one model on the tests both took."""
    tested = people_rows(study, row["subject"])
    own = study.rows.own_scores.get(row["subject"], {})
    duels = []
    for one in reversed(tested):
        people = study.rows.printed_people[one["benchmark"], one["group"]]
        if people["unit"] not in _SHARES or one["chance_above"] is None:
            continue
        factor = 100.0 if people["unit"] == "fraction" else 1.0
        scores = factor * people["score"], factor * own[one["benchmark"]]
        words = show(one["chance_above"], "chance"), one["verdict"]
        group, measured = short_name(one["benchmark"], one["group"]), one["status"].startswith("measured")
        duels.append(Duel(group, one["test"], *scores, *words, measured))
    duels = sorted(duels, key=lambda one: not one.measured)[:_DUELS]
    if not duels:
        return None
    left = len(tested) - len(duels)
    finding = f"It passed {passed_said(tested)}{f'; {left} only in the table below' if left else ''}"
    drawing = draw_duels(duels, row["provider"], f"{row['name']} and {len(duels)} groups of people, test by test.")
    ends = (pick(duels, key=lambda one: one.own - one.people) for pick in (max, min))
    said = dict.fromkeys(f"{one.own:.0f}% against {one.people:.0f}% of {one.group} ({one.test})" for one in ends)
    return worded("against-", drawing, finding, of=slug(row["subject"]), ends=" and, at the other end, ".join(said))


def passed_said(tested: Sequence[dict[str, Any]]) -> str:
    """Say how many groups of people a model passed; measured and judged ones are never added up."""
    parts = []
    for kind, is_measured in (("measured", True), ("judged", False)):
        groups = [one for one in tested if one["status"].startswith("measured") is is_measured]
        passed = sum(one["verdict"] == "passed" for one in groups)
        if groups:
            parts.append(f"{passed or 'none'} of {len(groups)} {kind} group{'s' if len(groups) > 1 else ''} of people")
    return " and ".join(parts)


def what_it_costs(study: Study, row: dict[str, Any]) -> Figure | None:
    """Return IQ against effective cost with one model named."""
    if row["effective_cost"] is None:
        return None
    own, *others = (_priced(one) for one in [row, *study.rows.by_iq] if one["effective_cost"] is not None)
    others = [one for one in others if one.subject != own.subject]
    cheaper = [one for one in others if one.x < own.x and one.y >= own.y]
    fewer = f"{len(cheaper) or 'none'} {'are' if len(cheaper) > 1 else 'is'} cheaper and at least as high"
    finding = f"Of {len(others)} others with an effective cost, {fewer}"
    drawing = draw_price(own, others, dollars, f"IQ against effective cost; {row['name']} costs {own.detail}.")
    least = min(cheaper, key=lambda one: one.x, default=own)
    return worded("price-", drawing, finding, of=slug(row["subject"]), models=len(others) + 1, least=least)


def _priced(row: dict[str, Any]) -> Mark:
    """Return a model by cost and IQ."""
    cost, iq = dollars(row["effective_cost"]), row["exact_iq"]
    label = f"{row['name']}, {cost}, IQ {iq:.0f}"
    return replace(iq_mark(row), x=row["effective_cost"], y=iq, label=label, detail=cost, low=None, high=None, href="")


def people_rows(study: Study, subject: str) -> list[dict[str, Any]]:
    """Return the groups with test, status, n, both scores and the chance; those not passed first."""
    tested = find_people(study, subject).rows
    printed = study.rows.printed_people
    scores = study.rows.printed_scores.get(subject, {})
    with_chance, without = (
        [one for one in tested if (one["chance_above"] is None) == lacks] for lacks in (False, True)
    )
    rows = []
    for row in (*with_chance[::-1], *without):
        group, n = printed[row["benchmark"], row["group"]], printed[row["benchmark"], row["group"]]["n"]
        both = {"theirs": show(group["score"], group["unit"]), "own": scores.get(row["benchmark"], "")}
        known = {"test": study.benchmark_names[row["benchmark"]], "verdict": verdict_of(row["chance_above"])}
        rows.append({**row, **both, **known, "status": row["status"] + (f", n = {n:,}" if n is not None else "")})
    return rows


def model_picture(build: Callable[[Study, dict[str, Any]], Figure | None]) -> Callable[[Study, str], Figure | None]:
    """Return what builds one kind of picture of a model for print, under the name of the model."""

    def drawn(study: Study, subject: str) -> Figure | None:
        row = study.rows.by_subject[subject]
        made = None if row["exact_iq"] is None else build(study, row)
        return made and replace(made, title=f"{row['name']}: {made.title}")

    drawn.__doc__ = build.__doc__
    return drawn


def known_tests(study: Study, subject: str) -> list[dict[str, Any]]:
    """Return the tests of each kind of work, with whether the model was measured on them."""
    matrix = study.iq.matrix
    measured = matrix.measured[matrix.row(subject)]
    groups: dict[str, list[dict[str, Any]]] = {key: [] for key in matrix.dimensions}
    for place, (benchmark, dimension) in enumerate(zip(matrix.benchmarks, matrix.dimension_of, strict=True)):
        groups[matrix.dimensions[dimension]].append(
            {"benchmark": benchmark, "name": study.benchmark_names[benchmark], "measured": bool(measured[place])}
        )
    return [{"name": study.dimension_names[key], "tests": tests} for key, tests in groups.items()]
