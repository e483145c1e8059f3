"""Every command with the least it needs, and small files of every kind that one reads."""

WRITES_NOTHING = {"evidence check", "evidence cite", "brief"}
FILE_OUT = {"figure": "f.svg", "export": "records"}
"""Commands that write one file, and a name for it; all others write a folder."""
COMMANDS = {
    "report": ["--evidence", "{evidence}", "--out", "{out}"],
    "where": ["gpt-5.5", "--evidence", "{evidence}", "--out", "{out}"],
    "add": ["{added}", "--out", "{out}"],
    "baseline": ["recorded/directions", "--out", "{out}"],
    "benchmarks": ["--out", "{out}"],
    "figure": ["iq-bell", "--evidence", "{evidence}", "--out", "{out}"],
    "scale": ["0.1", "--out", "{out}"],
    "extrapolate": ["--rate", "0.5", "--n", "100", "--from", "pisa", "--set", "draws=20", "--out", "{out}"],
    "annotate": ["example", "--model", "recorded/example", "--dimensions", "KNc", "--out", "{out}"],
    "calibrate": ["--rates", "{rates}", "--demands", "{demands}", "--method", "means", "--out", "{out}"],
    "equate": ["enem", "naep", "--draws", "5", "--out", "{out}"],
    "profile": ["gpt4o", "--draws", "5", "--out", "{out}"],
    "iq": ["--method", "published", "--set", "draws=0", "--out", "{out}"],
    "cost": ["--frontier", "--evidence", "{evidence}", "--out", "{out}"],
    "stitch": ["{scores}", "--out", "{out}"],
    "validate": ["{pool}", "--out", "{out}"],
    "trends": ["{scores}", "--no-watch", "--out", "{out}"],
    "horizon": ["--out", "{out}"],
    "acceleration watch": ["{scores}", "--set", "streams=19", "--out", "{out}"],
    "demands dimensions": ["--out", "{out}"],
    "demands sheet": ["example", "--dimensions", "KNc", "--out", "{out}"],
    "demands agreement": ["{readings}", "--out", "{out}"],
    "demands check": ["{pools}", "{levels}", "--draws", "5", "--out", "{out}"],
    "evidence summary": ["--out", "{out}"],
    "evidence check": ["{evidence}"],
    "evidence cite": [],
    "brief": ["--evidence", "{evidence}"],
    "record": ["--out", "{out}"],
    "people summary": ["{pool}", "--out", "{out}"],
    "people rates": ["{pool}", "--out", "{out}"],
    "people import": ["{answers}", "--items", "^q", "--person", "who", "--set", "min_answers=1", "--out", "{out}"],
    "exam new": ["{out}"],
    "exam sit": ["example", "--model", "recorded/exam-example", "--out", "{out}"],
    "exam report": ["example", "{runs}", "--out", "{out}"],
    "exam plan": ["example", "--out", "{out}"],
    "llm status": ["{journal}", "--out", "{out}"],
    "export": ["baselines", "--to", "human-results", "--out", "{out}"],
    "responses read": ["{outcomes}", "--out", "{out}"],
    "responses draw": ["{fitted}", "--out", "{out}"],
    "responses fit": ["{outcomes}", "--model", "rasch", "--out", "{out}"],
    "responses compare": ["{fitted}", "{fitted}", "--out", "{out}"],
    "responses compare-subjects": ["{outcomes}", "--out", "{out}"],
    "responses surprises": ["{outcomes}", "--model", "rasch", "--out", "{out}"],
    "responses link": ["{fitted}", "{fitted}", "--out", "{out}"],
    "responses place": ["{fitted}", "--rates", "{item_rates}", "--out", "{out}"],
    "responses next": ["{fitted}", "--out", "{out}"],
}
"""Every command with the least it needs; a new command without a line here fails the first test."""


def arguments(command, inputs, out):
    """The words of one call of a command."""
    return filled([*command.split(), *COMMANDS.get(command, ())], inputs, out)


def filled(words, inputs, out):
    """The words of a call, with the places of its files filled in."""
    for word in words:
        value = {**inputs, "out": str(out)}.get(word.strip("{}"), word) if word.startswith("{") else word
        yield from value if isinstance(value, list) else [value]
