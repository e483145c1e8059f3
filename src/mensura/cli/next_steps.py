"""What a user can do next: the last sentence on a terminal, after the finding and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

NEXT = {
    "report": "open its index.html, or run mensura where MODEL for one model.",
    "where": "mensura iq MODEL --explain shows every step behind the IQ.",
    "add": "mensura add FILE --out clean.csv keeps this reading; mensura where MODEL --add clean.csv uses it.",
    "baseline": "mensura exam new FOLDER starts a test that measures people.",
    "benchmarks": "write a score on one of them into a CSV file, then run mensura add FILE.",
    "figure": "mensura figure --list names all pictures.",
    "scale": "mensura extrapolate carries a rate from one group of people to another.",
    "extrapolate": "mensura validate POOL checks the method on the groups of a pool.",
    "annotate": "mensura demands agreement compares annotators, and mensura calibrate uses their levels.",
    "calibrate": "mensura profile places models and people on these dimensions.",
    "equate": "mensura people pools lists the tests that can be compared.",
    "profile": "mensura calibrate shows how fast success falls on each dimension.",
    "iq": "mensura where MODEL shows one model's neighbours, the people it passed and the best next test.",
    "cost": "mensura where MODEL compares one model with those about as good.",
    "stitch": "mensura trends shows the pace, and mensura stitch --people adds groups of people.",
    "validate": "mensura extrapolate POOL --to world carries the rates to the world.",
    "trends": "mensura acceleration watch tests whether the pace has changed.",
    "acceleration watch": "mensura acceleration simulate shows how soon the test sees a real change.",
    "acceleration slopes": "mensura acceleration watch is a test with a stated rate of false alarms.",
    "acceleration simulate": "mensura acceleration watch runs the test on the real releases.",
    "demands dimensions": "mensura annotate ITEMS --model NAME rates items on them.",
    "demands sheet": "let people fill in the sheet, then run mensura demands agreement FILE.",
    "demands agreement": "mensura demands merge joins annotators, and mensura calibrate uses the levels.",
    "demands merge": "mensura calibrate --rates CSV --demands CSV uses these levels.",
    "demands protocols": "mensura annotate --protocol NAME uses the one that you choose.",
    "demands check": "mensura calibrate turns the levels into scales.",
    "evidence summary": "mensura evidence models lists the models, and mensura benchmarks lists the tests.",
    "evidence models": "mensura where MODEL shows one of them.",
    "evidence check": "mensura report --evidence FILE builds a site from it.",
    "evidence export": "mensura evidence check FILE checks an edited copy.",
    "evidence schema": "mensura evidence check FOLDER checks your own tables against it.",
    "cite": "mensura cite --format bibtex prints the entry alone.",
    "people summary": "mensura people rates POOL prints the success rate of every item.",
    "people pools": "mensura equate ONE OTHER reads the levels of one in another.",
    "people rates": "mensura extrapolate POOL --to world carries the rates to the world.",
    "people import": "mensura people rates POOL prints success rates, and mensura responses fit POOL abilities.",
    "people populations": "mensura extrapolate --to NAME carries rates to one of them.",
    "people strata": "mensura extrapolate --tables FOLDER uses them.",
    "exam new": "edit its items.csv, then run mensura exam serve FOLDER.",
    "exam export": "run the tasks, then mensura exam report FOLDER LOGS.",
    "exam sit": "mensura exam report FOLDER RUNS compares the model with people.",
    "exam report": "mensura exam plan FOLDER shows how many more people narrow the intervals.",
    "exam plan": "mensura exam serve FOLDER gives the exam to people.",
    "llm status": "mensura llm cost JOURNAL shows the cost of the calls.",
    "llm cost": "mensura llm export JOURNAL FILE writes every call.",
    "llm export": "mensura llm status JOURNAL shows the calls that are missing.",
    "responses read": "mensura responses fit FILES --out FOLDER puts subjects and items on one scale.",
    "responses draw": "mensura responses place FOLDER shows where each subject is among people.",
    "responses fit": "mensura responses place FOLDER shows where each subject is among people.",
    "responses surprises": "mensura responses fit FILES fits the scale behind them.",
    "responses link": "mensura responses place FOLDER shows where each subject is among people.",
    "responses place": "mensura responses next FOLDER names the items that narrow an interval most.",
    "responses select": "mensura responses next FOLDER chooses items one by one instead.",
    "responses next": "run these items, then mensura responses next FOLDER FILE.",
}
"""The next step after each command."""


def next_step(words: Sequence[str]) -> str | None:
    """Return the sentence for a call, None for help, for JSON and for a call that no sentence fits."""
    if {"--json", "--help", "-h", "--dry-run"} & set(words):
        return None
    found = NEXT.get(" ".join(words[:2])) or NEXT.get(" ".join(words[:1]))
    return f"Next: {found}" if found else None
