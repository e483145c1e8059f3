"""A half-page brief in Markdown: every sentence with its number, interval, source and the command that prints it."""

from mensura.evidence.passing import say_passed
from mensura.study.grading import shipped_record
from mensura.study.headlines import cheapest_said, passed_people, say_lead, year_sentence
from mensura.study.horizons import horizon_sentence, pace_words
from mensura.study.lead import newest_score
from mensura.study.outlook import next_year_words
from mensura.study.study import Study
from mensura.study.units import show

_SCORES = "scores of the evidence"
_PRICES = "prices and token counts of the evidence"
_RUNS = "Offensive Cyber Task Horizons (Lyptus Research, CC BY 4.0)"
_LATEST = 3  # groups that half a page has room for; the command prints all
_CLAIMS = "claims graded by today's scores"


def write_brief(study: Study) -> str:
    """Write the brief.

    Parameters
    ----------
    study : Study
        What is known.

    Returns
    -------
    str
        Markdown: who leads, which people were passed and when, how fast, what it costs, what is sure, what nobody
        knows.

    Examples
    --------
    >>> import mensura
    >>> from mensura.study import Study
    >>> from mensura.study.brief import write_brief
    >>> write_brief(Study.open(mensura.load()))[:15]  # doctest: +SKIP
    '# AI and people'

    """
    newest, sentences = newest_score(study.evidence), brief_sentences(study)
    day = f"{newest.day} {newest:%B %Y}" if newest else "no known day"
    lines = [
        f"# AI and people, by evidence of {day}",
        "",
        "Intervals are 90%. Where no source is named, it is the scores of the evidence.",
        "",
        *(
            f"- **{head}.** {text} {'' if source == _SCORES else f'Source: {source}. '}`{command}`"
            for head, text, source, command in sentences
        ),
    ]
    return "\n".join(lines) + "\n"


def brief_sentences(study: Study) -> list[tuple[str, str, str, str]]:
    """Return the sentences of the brief: heading, text, source, and the command that prints the same number."""
    return [
        ("Who leads", _leads(study), _SCORES, "mensura iq"),
        ("Which people were passed", _passed(study), _SCORES, "mensura stitch --people"),
        ("How long a task", f"{horizon_sentence()} {pace_words()}.", _RUNS, "mensura horizon"),
        ("How fast", year_sentence(study), _SCORES, "mensura trends"),
        ("What next", _next(study), _SCORES, "mensura brief --json"),
        ("What it costs", _costs(study), _PRICES, "mensura cost --at-least 125"),
        ("How often Mensura was right", shipped_record().sentence, _CLAIMS, "mensura record"),
        (
            "What nobody knows",
            "Nobody gave these tests to people of known IQ, so the step from score to IQ was judged. A score describes "
            "test performance, not what a model or a person can do at work.",
            "ladders of the evidence",
            "mensura iq --explain MODEL",
        ),
    ]


def _leads(study: Study) -> str:
    headline, _ = say_lead(study)
    if study.lead is None:
        return headline
    best = study.ranked.row(0, named=True)
    tests = best["measured"] + best["inherited"] + best["estimated"]
    return (
        f"{headline} Its IQ is {show(best['iq'], 'iq')} ({best['iq_low']:.0f} to {best['iq_high']:.0f}); "
        f"{best['measured']} of its {tests} tests are measured."
    )


def _passed(study: Study) -> str:
    groups = passed_people(study)
    names = dict(study.evidence.models.select("subject", "name").iter_rows())
    latest = [
        f"{one.short} on {study.benchmark_names[one.benchmark]} by {names[one.first[0]]} in {one.first[1]:%B %Y}"
        for one in groups
        if one.first is not None
    ][-_LATEST:]
    return (
        f"{say_passed([one.verdict for one in groups])} The latest: {'; '.join(latest)}." if latest else say_passed([])
    )


def _next(study: Study) -> str:
    ahead = next_year_words(study)
    return f"{ahead['sentence']} {ahead['groups']}".strip()


def _costs(study: Study) -> str:
    prices = cheapest_said(study)
    return f"{prices}: effective cost of a million tokens in and out, an estimate." if prices else "Not known."
