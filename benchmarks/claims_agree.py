"""Do all fronts say the same? ``python -m benchmarks.claims_agree [--report FOLDER]``.

Every claim (who leads and how surely, the IQ and the chance of being first of every ranked model, which people were
passed and when, what an IQ costs, how long a task, what comes next, how often Mensura was right) is read from the
command line, its JSON, the interface of the report, its pages, the cards that a press opens, and its captions.
The table has one row per claim and front; the last line counts the differences, which must be 0.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import re
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import run
from mensura.charts.lengths import say_minutes
from mensura.evidence import load, slug
from mensura.horizon import load_runs
from mensura.study.units import show, show_range

Front = tuple[str, str, bool]
"""A claim, a front, and whether the front says the same."""


def printed(*words: str) -> str:
    """Return what a command prints, in one line."""
    call = [sys.executable, "-m", "mensura", *words]
    return " ".join(subprocess.run(call, capture_output=True, text=True, check=True).stdout.split())


def page_words(report: Path, page: str) -> str:
    """Return the words of a page without its marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", (report / page).read_text(encoding="utf-8"))).split())


def compare(report: Path) -> list[Front]:
    """Compare all fronts with the report's own interface and the commands' JSON."""
    pages = {name: page_words(report, name) for name in ("index.html", "iq.html", "stitched.html", "people.html")}
    pages |= {
        name: page_words(report, name) for name in ("cost.html", "horizon.html", "record.html", "charts/first.html")
    }
    lead = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["lead"]["sentence"]
    brief: dict[str, Any] = json.loads(printed("brief", "--json"))
    texts = {row["about"]: row["text"] for row in brief["sentences"]}
    fronts: list[Front] = [("leader and chance", "mensura iq", lead in printed("iq"))]
    fronts.append(("leader and chance", "mensura brief", texts["Who leads"].startswith(lead)))
    for page in ("index.html", "iq.html", "stitched.html", "charts/first.html"):
        fronts.append(("leader and chance", page, lead in pages[page]))
    exported = " ".join(re.sub(r"<[^>]*>", " ", (report / "charts/first.svg").read_text(encoding="utf-8")).split())
    fronts.append(("leader and chance", "charts/first.svg", lead in html.unescape(exported)))
    captioned = json.loads((report / "api/v1/charts/iq-bell.json").read_text(encoding="utf-8"))["points"][0]
    composites = {row["subject"]: row for row in json.loads(printed("iq", "--json"))["composites"]}
    own = composites[captioned["subject"]]
    same = all(abs(captioned[end] - own[end]) < 0.01 for end in ("low", "high"))
    fronts.append(("leader and chance", "api/v1/charts/iq-bell.json", same))
    fronts += _every_iq(report)
    fronts += _passed(texts["Which people were passed"], pages, report)
    fronts += _costs(texts["What it costs"], pages, report)
    fronts += _lengths(texts["How long a task"], pages, report)
    ahead = brief["next_year"]
    for page in ("index.html", "stitched.html"):
        fronts.append(("next year", page, ahead["sentence"] in pages[page] and ahead["groups"] in pages[page]))
    fronts.append(("next year", "mensura brief", ahead["sentence"] in texts["What next"]))
    fronts.append(("pace", "index.html", texts["How fast"] in pages["index.html"]))
    right = json.loads(printed("record", "--json"))["sentence"]
    fronts.append(("record", "record.html", right in pages["record.html"]))
    fronts.append(("record", "mensura brief", right == texts["How often Mensura was right"]))
    return fronts


def _every_iq(report: Path) -> list[Front]:
    """Compare IQ, interval and chance of being first of every ranked model: command, interface, cards, pages."""
    told = json.loads(printed("iq", "--json"))
    composites = {row["subject"]: row for row in told["composites"]}
    chances = {row["subject"]: row["p_first"] for row in told["ranking"]}
    ranked = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["rankings"]
    cards = read_script(report, "models")
    same = dict.fromkeys(("api/v1/rankings.json", "cards (data/models.js)", "models/*.html"), True)
    for row in ranked:
        own = composites[row["subject"]]
        for front, other in (("api/v1/rankings.json", row), ("cards (data/models.js)", cards[row["subject"]])):
            pairs = [(other["iq"][end], own[key]) for end, key in (("value", "iq"), ("low", "low"), ("high", "high"))]
            pairs.append((other["p_first"], chances[row["subject"]]))
            same[front] &= all(abs(shown - value) <= 1e-5 * max(1.0, value) for shown, value in pairs)
        words = f"IQ {own['iq']:.0f} (90%: {show_range(own['low'], own['high'], 'iq')})"
        same["models/*.html"] &= words in page_words(report, f"models/{slug(row['subject'])}.html")
    return [(f"IQ of {len(ranked)} models", front, value) for front, value in same.items()]


def _lengths(text: str, pages: dict[str, str], report: Path) -> list[Front]:
    """Compare how long a task the best system does, and the pace, with the command and the pages."""
    told = json.loads(printed("horizon", "--json"))
    every = [row for row in told["horizons"] if row["suite"] == "all"]
    best = max(every, key=lambda row: row["p50"] or row["p50_low"] or 0.0)
    length = say_minutes(best["p50_low"] if best["p50_high"] is None else best["p50"])
    pace = next(row for row in told["trend"] if row["domain"] == "security" and row["since"] != "all")
    numbers = f"every {pace['doubling_months']:.1f} months (90%: {pace['low']:.1f} to {pace['high']:.1f})"
    fronts = [("how long a task", "mensura horizon", length in text and best["subject"] in text and numbers in text)]
    drawn = {row["name"]: row for row in read_table(report, "horizon") if row["kind of work"] == "security"}
    called = dict(load_runs().models.select("subject", "name").iter_rows())
    agree = all(
        f"{row['p50']:.6g}" == drawn[called[row["subject"]]]["minutes, half of the time"] for row in every if row["p50"]
    )
    fronts.append((f"how long, {len(every)} systems", "charts/horizon.csv", agree))
    sentence, _, rest = text.partition(". In ")
    for page in ("index.html", "horizon.html"):
        fronts.append(("how long a task", page, sentence in pages[page] and rest.rstrip(".") in pages[page]))
    return fronts


def read_script(report: Path, name: str) -> Any:  # noqa: ANN401
    """Return what a script of the report holds as data: the cards of models, the entries of the search."""
    text = (report / f"data/{name}.js").read_text(encoding="utf-8")
    text = text.removeprefix(f"mensura.{name} = JSON.parse('").rstrip().removesuffix("');")
    return json.loads(text.replace("\\'", "'").replace("\\\\", "\\"))


def read_table(report: Path, name: str) -> list[dict[str, str]]:
    """Return the download of a picture."""
    with (report / f"charts/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _passed(text: str, pages: dict[str, str], report: Path) -> list[Front]:
    """Compare who was passed, by whom and when: command, page, picture, download and search."""
    names = dict(load().models.select("subject", "name").iter_rows())
    titles = dict(load().benchmarks.select("benchmark", "name").iter_rows())
    tests = json.loads(printed("stitch", "--people", "--json"))["people"]
    measured = [row for row in tests if row["status"] == "measured" and row["verdict"] is not None]
    passed = sorted((row for row in measured if row["passed"]), key=lambda row: row["passed"])
    latest = passed[-text.count(" by ") :]
    same = all(f"by {names[row['first']]} in" in text for row in latest)
    fronts = [("passed", "mensura stitch --people", same and len(passed) > 1)]
    sentence = text.partition(" The latest:")[0]
    fronts.append(("passed", "people.html", sentence.rstrip(".").split(" of people")[0] in pages["people.html"]))
    drawn = {(row["test"], row["group"]): row for row in read_table(report, "passed")}
    own = [drawn.get((titles[row["benchmark"]], row["group"]), {}) for row in passed]
    pairs = [(row["first"], str(row["passed"])[:10]) for row in passed]
    agree = [(one.get("first above"), one.get("above since")) for one in own] == pairs
    fronts.append((f"passed, {len(passed)} groups", "charts/passed.csv", agree))
    entries = [entry for entry in read_script(report, "search") if entry[1] == "people"]
    states = {(entry[0].rpartition(" on ")[2], entry[5]) for entry in entries}
    days = [(titles[row["benchmark"]], date.fromisoformat(str(row["passed"])[:10])) for row in passed]
    agree = all((test, f"passed in {day:%B %Y}") in states for test, day in days)
    fronts.append((f"passed, {len(passed)} groups", "search (data/search.js)", agree))
    labels = [f"{names[row['first']]} {day:%b %Y}" for row, (_, day) in zip(passed, days, strict=True)]
    agree = all(label in pages["people.html"] for label in labels)
    return [*fronts, (f"passed, {len(passed)} groups", "people.html, picture", agree)]


def _costs(text: str, pages: dict[str, str], report: Path) -> list[Front]:
    """Compare the cheapest model at every IQ with the command, the pages and the cards."""
    fronts = []
    names = dict(load().models.select("subject", "name").iter_rows())
    cards = read_script(report, "models")
    for floor, dollars, name in re.findall(r"(\d+) from (\$[\d.,]+) \((.+?)\)(?=,|:)", text):
        first = json.loads(printed("cost", "--at-least", floor, "--json"))["cheapest"][0]
        fronts.append((f"cost of IQ {floor}", "mensura cost", names[first["subject"]] == name))
        fronts.append((f"cost of IQ {floor}", "index.html", f"{floor} from {dollars} ({name})" in pages["index.html"]))
        fronts.append((f"cost of IQ {floor}", "cost.html", f"{floor} from {dollars} ({name})" in pages["cost.html"]))
        card = show(cards[first["subject"]]["effective_cost"], "dollars")
        fronts.append((f"cost of IQ {floor}", "cards (data/models.js)", card == dollars))
        model = page_words(report, f"models/{slug(first['subject'])}.html")
        fronts.append((f"cost of IQ {floor}", "models/*.html", f"Effective cost {dollars}" in model))
    rows = re.findall(r'id="cheapest".*?</table>', (report / "cost.html").read_text(encoding="utf-8"), re.DOTALL)[0]
    listed = re.findall(r'<tr><td[^>]*>(\d+)(?:</td>\s*)?<td[^>]*><a href="?models/([^">]+)\.html', rows)
    same = bool(listed)
    for floor, page in listed:
        first = json.loads(printed("cost", "--at-least", floor, "--json"))["cheapest"][0]
        same &= slug(first["subject"]) == page
    return [*fronts, (f"cost of {len(listed)} IQs", "cost.html, table", same)]


def main() -> None:
    """Print the table, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="a report of the embedded evidence; built when not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = given.report or Path(folder) / "report"
        if given.report is None:
            printed("report", "--out", str(report))
        fronts = compare(report)
    for claim, front, same in fronts:
        print(f"{claim:24} {front:28} {'same' if same else 'DIFFERS'}")
    differences = [f"{claim}: {front}" for claim, front, same in fronts if not same]
    print(json.dumps({"compared": len(fronts), "differences": len(differences), "which": differences}))


if __name__ == "__main__":
    run(main)
