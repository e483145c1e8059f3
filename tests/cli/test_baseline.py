"""``mensura baseline``: known scores, estimates offline, cards, plans, and what goes wrong."""

import json
import re

import polars as pl
import pytest

from mensura import MensuraError
from mensura.baseline.challenge import SIMULATED
from mensura.cli.baseline import _read_scores, _target


@pytest.fixture
def mine(tmp_path):
    """A benchmark of one's own, and estimates for it."""
    rows = [f"q{n},What is {n}+{n}?,{2 * n}" for n in range(1, 51)]
    (tmp_path / "items.csv").write_text("\n".join(["id,question,answer", *rows]), encoding="utf-8")
    said = [f"q{n},{0.3 + n / 100:.2f},{0.2 + n / 100:.2f},{0.45 + n / 100:.2f}" for n in range(1, 51)]
    (tmp_path / "said.csv").write_text("\n".join(["item,rate,low,high", *said]), encoding="utf-8")
    return tmp_path


def test_a_newcomer_gets_a_card_for_items_of_their_own(mensura_command, mine):
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", "world")
    run = mensura_command(*asked, "--out", mine / "card")
    assert run.code == 0, run.err
    assert "estimated, not measured" in run.out
    names = {path.name for path in (mine / "card").iterdir()}
    assert {"items.csv", "baseline.csv", "models.csv", "card.md", "card.svg", "card.json"} <= names
    table = pl.read_csv(mine / "card" / "items.csv")
    assert table.height == 50
    assert table["level"].null_count() == 0
    card = json.loads((mine / "card" / "card.json").read_text(encoding="utf-8"))
    assert card["status"] == "Estimated, not measured."
    assert card["people"][0]["population"] == "world"


def test_the_world_table_calibrates(mensura_command, mine):
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", "world", "--people", "DEU")
    assert mensura_command(*asked, "--out", mine / "card").code == 0
    levels = [f"q{n},{5 - n // 10}" for n in range(1, 51)]
    (mine / "demands.csv").write_text("\n".join(["item,KNn", *levels]), encoding="utf-8")
    rates = ("--rates", mine / "card" / "items.csv", "--demands", mine / "demands.csv", "--method", "means", "--json")
    run = mensura_command("calibrate", *rates)
    assert run.code == 0, run.err
    assert json.loads(run.out)["items"] == 50


def test_known_scores_come_with_groups_sources_and_the_models_that_passed(mensura_command):
    told = json.loads(mensura_command("baseline", "gpqa diamond", "--json").out)
    groups = {row["group"]: row for row in told["people"]}
    assert groups["expert validators"]["score"] == 81.3
    assert groups["expert validators"]["n"] == "not stated"
    assert groups["expert validators"]["source"]
    first = next(row for row in told["passed"] if row["group"] == "expert validators")
    assert first["passed_by"] > 0
    assert first["date"]
    assert 0.5 < first["chance"] <= 1


@pytest.mark.parametrize(("name", "shown"), [("hcast", "1 to 480"), ("cybench", "2 to 1494")])
def test_people_who_were_timed_are_shown_in_minutes(mensura_command, tmp_path, name, shown):
    run = mensura_command("baseline", name, "--out", tmp_path / "card")
    assert run.code == 0, run.err
    assert shown in run.out
    assert "minutes" in run.out
    assert f"| {shown} minutes |" in (tmp_path / "card" / "card.md").read_text(encoding="utf-8")
    assert "no model scores on this benchmark in minutes" in run.err + run.out
    assert json.loads(mensura_command("baseline", name, "--json").out)["people"][0]["low"] < 3


def test_a_benchmark_without_people_says_so(mensura_command):
    told = json.loads(mensura_command("baseline", "SWE-bench", "--json").out)
    assert told["people"] == []
    assert "no study measured people" in told["warnings"][0]


def test_own_baselines_join_the_known_ones(mensura_command, tmp_path):
    own = tmp_path / "own.csv"
    rows = "Nobody,me,0.5,1,\nGPQA Diamond,my students,0.41,30,closed book\n"
    own.write_text(f"benchmark,group,score,n,conditions\n{rows}", encoding="utf-8")
    run = mensura_command("add", "--people", own, "--out", tmp_path / "evidence")
    assert run.code == 0, run.err
    assert "1 human baseline understood" in run.out
    assert "left out 1 of 2 rows: the evidence has no benchmark Nobody" in run.err + run.out
    assert 'next: mensura baseline "GPQA Diamond"' in run.out
    told = json.loads(mensura_command("baseline", "GPQA Diamond", "--evidence", tmp_path / "evidence", "--json").out)
    mine = next(row for row in told["people"] if row["group"] == "my students")
    assert (mine["score"], mine["unit"], mine["n"]) == (41.0, "percent", "30")
    assert mine["conditions"] == "closed book"
    assert mensura_command("evidence", "check", tmp_path / "evidence").code == 0


def test_measured_people_have_a_card_too(mensura_command, tmp_path):
    assert mensura_command("baseline", "GPQA Diamond", "--out", tmp_path / "card").code == 0
    card = (tmp_path / "card" / "card.md").read_text(encoding="utf-8")
    assert "| expert validators | 81.3 percent | C | measured | not stated |" in card
    assert "| people | models above | first | date | best | chance to be above |" in card


def test_a_recorded_pool_needs_nothing_else(mensura_command):
    told = json.loads(mensura_command("baseline", "recorded/spisa", "--json").out)
    assert len(told["items"]) == 24
    assert "students in Bavaria" in told["baseline"][0]["population"]


def test_a_plan_costs_what_it_says(mensura_command):
    told = json.loads(
        mensura_command("baseline", "plan", "recorded/viqt", "--set", "pay=36", "--set", "seconds=100", "--json").out
    )
    assert all(row["cost"] == pytest.approx(row["answers"]) for row in told["plan"])
    assert any(row["halved"] for row in told["plan"])


def test_a_card_shows_rate_and_time_and_the_plan_costs_that_time(mensura_command, mine):
    judged = pl.read_csv(mine / "said.csv").with_columns(minutes=pl.int_range(1, 51).cast(pl.Float64))
    judged.write_csv(mine / "both.csv")
    asked = (mine / "items.csv", "--estimates", mine / "both.csv", "--people", "world", "--minutes")
    run = mensura_command("baseline", *asked, "--out", mine / "card")
    assert run.code == 0, run.err
    items = pl.read_csv(mine / "card" / "items.csv")
    assert {"rate", "minutes", "minutes_low", "minutes_high"} <= set(items.columns)
    assert "minutes for the middle item" in (mine / "card" / "card.md").read_text(encoding="utf-8")
    plan = json.loads(mensura_command("baseline", "plan", *asked, "--json").out)["plan"]
    assert plan[0]["hours"] == pytest.approx(plan[0]["answers"] * items["minutes"].mean() / 60)


def test_a_plan_for_four_items_asks_about_all_of_them(mensura_command, mine):
    for name in ("items.csv", "said.csv"):
        lines = (mine / name).read_text(encoding="utf-8").splitlines()[:5]
        (mine / f"few-{name}").write_text("\n".join(lines), encoding="utf-8")
    asked = ("baseline", "plan", mine / "few-items.csv", "--estimates", mine / "few-said.csv", "--people", "world")
    told = json.loads(mensura_command(*asked, "--json").out)
    assert {row["items"] for row in told["plan"]} == {4}
    assert mensura_command(*asked).code == 0


def test_scores_place_models_among_people(mensura_command, mine):
    (mine / "scores.csv").write_text("model,score\nbest,99\nworst,5\n", encoding="utf-8")
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", "adults in Sweden")
    told = json.loads(mensura_command(*asked, "--scores", mine / "scores.csv", "--json").out)
    best, worst = told["models"]
    assert best["score"] == 0.99
    assert best["percentile"] > 95 > 10 > worst["percentile"]


def test_scores_are_written_as_people_write_them(mensura_command, mine):
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", "adults in Sweden")
    for cells in ("88%\n0.5", "88\n50", "0.88\n0.5", "88 %\n50%"):
        rows = "\n".join(f"m{place},{cell}" for place, cell in enumerate(cells.split("\n")))
        (mine / "scores.csv").write_text(f"model,score\n{rows}\n", encoding="utf-8")
        run = mensura_command(*asked, "--scores", mine / "scores.csv", "--json")
        assert [row["score"] for row in json.loads(run.out)["models"]] == [0.88, 0.5], run.err
    (mine / "scores.csv").write_text("model,score\nm,140\n", encoding="utf-8")
    assert "140 is missing or outside" in mensura_command(*asked, "--scores", mine / "scores.csv").err
    (mine / "scores.csv").write_text("model,score\nm,66.5\nn,0.5\n", encoding="utf-8")
    assert "0.5 stands among percentages" in mensura_command(*asked, "--scores", mine / "scores.csv").err


def test_no_scores_at_all_are_refused(mensura_command, mine):
    (mine / "scores.csv").write_text("model,score\n", encoding="utf-8")
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", "adults in Sweden")
    assert "score: nothing is missing" in mensura_command(*asked, "--scores", mine / "scores.csv").err


def test_a_known_mean_may_be_written_as_a_percentage(mensura_command, mine):
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", "world", "--json")
    share, percent = (mensura_command(*asked, "--set", f"mean={mean}", "--set", "n=60") for mean in ("0.345", "34.5%"))
    assert share.code == 0
    assert json.loads(share.out)["baseline"] == json.loads(percent.out)["baseline"]


@pytest.mark.parametrize("file", ["leaderboard.jsonl", "questions.xlsx", "test-00000-of-00001.parquet"])
def test_the_files_of_three_authors_give_a_card_without_editing(mensura_command, tmp_path, file):
    rows = [
        {"id": f"q{n}", "question": f"What is {n} + {n}?", "choices": ["1", str(2 * n), "0", "-1"], "answer": 1}
        for n in range(2, 12)
    ]
    path = tmp_path / file
    if file.endswith(".jsonl"):
        stems = [
            {
                "id": row["id"],
                "question": {
                    "stem": row["question"],
                    "choices": [{"text": t, "label": x} for t, x in zip(row["choices"], "ABCD", strict=True)],
                },
                "answerKey": "B",
            }
            for row in rows
        ]
        path.write_text("\n".join(map(json.dumps, stems)), encoding="utf-8")
    elif file.endswith(".xlsx"):
        pytest.importorskip("xlsxwriter")
        cells = [
            {
                "id": row["id"],
                "Question": row["question"],
                **dict(zip("ABCD", row["choices"], strict=True)),
                "Answer": "B",
            }
            for row in rows
        ]
        pl.DataFrame(cells).write_excel(path)
    else:
        pl.DataFrame(rows).write_parquet(path)
    said = pl.DataFrame({"item": [row["id"] for row in rows], "rate": [0.5 + n / 25 for n in range(10)]})
    said.write_csv(tmp_path / "said.csv")
    asked = ("baseline", path, "--people", "crowd workers")
    cost = mensura_command(*asked, "--model", "openai/gpt-4o", "--dry-run")
    assert cost.code == 0, cost.err
    run = mensura_command(*asked, "--estimates", tmp_path / "said.csv", "--out", tmp_path / "card")
    assert run.code == 0, run.err
    card = (tmp_path / "card" / "card.md").read_text(encoding="utf-8")
    assert "Items used: 10 of 10" in card
    assert "answering for a benchmark" in card


def test_the_card_says_how_the_people_were_read_and_options_say_it_outright(mensura_command, mine):
    people = "adults who speak English as a second language, without time limit"
    asked = ("baseline", mine / "items.csv", "--estimates", mine / "said.csv", "--people", people)
    run = mensura_command(*asked, "--out", mine / "card")
    assert "read as: people at large, no time limit, home language differs" in " ".join(run.out.split())
    assert "read as: people at large, no time limit, home language" in (mine / "card" / "card.md").read_text("utf-8")
    told = json.loads(mensura_command(*asked, "--set", "kind=crowd", "--set", "timed=true", "--json").out)
    assert told["read_as"] == {people: "crowd, time limit, home language differs"}
    plain = json.loads(mensura_command(*asked, "--json").out)
    assert told["baseline"][0]["mean"] < plain["baseline"][0]["mean"]
    assert "expected one of experts" in mensura_command(*asked, "--set", "kind=wizards").err


def test_columns_of_items_can_be_named(mensura_command, mine):
    lines = (mine / "items.csv").read_text(encoding="utf-8").replace("id,question,answer", "id,blurb,solved")
    (mine / "odd.csv").write_text(lines, encoding="utf-8")
    asked = ("baseline", mine / "odd.csv", "--estimates", mine / "said.csv", "--people", "world")
    assert mensura_command(*asked, "--map", "text=blurb,key=solved").code == 0
    assert "no such column" in mensura_command(*asked, "--map", "text=nothing").err


def test_unusual_columns_are_named_for_demands_too(mensura_command, mine):
    (mine / "odd.jsonl").write_text('{"blurb": "Capital of Peru?", "sol": "Lima"}\n', encoding="utf-8")
    assert "--map text=COLUMN" in mensura_command("demands", "sheet", mine / "odd.jsonl").err
    columns = ("--map", "text=blurb,key=sol")
    sheet = mensura_command("demands", "sheet", mine / "odd.jsonl", *columns, "--json")
    assert json.loads(sheet.out)["sheet"][0]["key"] == "Lima"
    cost = mensura_command("annotate", mine / "odd.jsonl", *columns, "--model", "openai/gpt-4o", "--dry-run")
    assert cost.code == 0, cost.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["{items}", "--people", "world", "--model", "openai/x", "--estimator", "me"], "only with --estimates"),
        (["{items}", "--estimates", "{said}"], "--people is missing"),
        (["{items}", "--people", "world"], "give --estimates FILE or --model NAME"),
        (["{items}", "--people", "atlantis", "--estimates", "{said}"], "nobody described"),
        (["{items}", "--people", "world", "--estimates", "{said}", "--model", "openai/x"], "give one of them"),
        (["{items}", "--people", "world", "--estimates", "{said}", "--set", "mean=0.4"], "give both"),
        (
            ["{items}", "--people", "world", "--estimates", "{said}", "--set", "mean=40", "--set", "n=3"],
            "between 0 and 1",
        ),
        (["{items}", "--people", "world", "--estimates", "{said}", "--dry-run"], "only with --model"),
        (["gpqqa"], "Did you mean"),
        (["recorded/nothing"], "recorded: got 'nothing'; expected one of"),
        (["plan"], "expected one NAME or ITEMS"),
        (["one", "two"], "in quotes"),
    ],
)
def test_what_is_wrong_is_said(mensura_command, mine, options, message):
    places = {"{items}": mine / "items.csv", "{said}": mine / "said.csv"}
    run = mensura_command("baseline", *(places.get(word, word) for word in options))
    assert run.code == 2
    assert message in run.err


def test_the_finding_says_whether_people_were_measured_or_judged(mensura_command):
    judged = " ".join(mensura_command("baseline", "swe_rebench").out.split())
    assert re.search(r"models passed strong senior engineers.* \(59, judged, not measured\)", judged)
    measured = " ".join(mensura_command("baseline", "aime").out.split())
    assert re.search(r"models passed about the top 500 in the United States.* \(92\.7\); the best", measured)


def test_minutes_are_estimates_corrected_by_their_bias(mensura_command, tmp_path):
    (tmp_path / "items.csv").write_text("item,text\na,one\nb,two\nc,three\n")
    (tmp_path / "said.csv").write_text("item,minutes\na,1\nb,30\n")
    (tmp_path / "timed.csv").write_text("item,minutes\nb,60\n")
    asked = ("baseline", tmp_path / "items.csv", "--minutes", "--estimates", tmp_path / "said.csv")
    plain = json.loads(mensura_command(*asked, "--json").out)["items"]
    assert [row["item"] for row in plain] == ["a", "b", "c"]
    assert plain[2]["minutes"] is None
    for row, given in zip(plain, (1.0, 30.0), strict=False):
        assert row["minutes_low"] < given < row["minutes"] < row["minutes_high"], "models say too little"
    tied = json.loads(mensura_command(*asked, "--anchors", tmp_path / "timed.csv", "--json").out)["items"]
    assert tied[1]["status"] == "measured"
    assert tied[0]["minutes_high"] / tied[0]["minutes_low"] < plain[0]["minutes_high"] / plain[0]["minutes_low"]
    price = mensura_command("baseline", "plan", *asked[1:], "--set", "pay=60").out
    hours = sum(row["minutes"] for row in plain if row["minutes"]) / 60
    assert f"One person needs {hours:.1f} hours for all items" in price and f": ${60 * hours:,.0f} (" in price
    (tmp_path / "rates.csv").write_text("item,rate,low,high\na,0.5,0.4,0.6\n")
    rates = mensura_command(*asked[:-1], tmp_path / "rates.csv")
    assert "no column minutes; it has item, rate" in rates.err, "an interval of rates is no range of minutes"
    refused = mensura_command("baseline", tmp_path / "items.csv", "--minutes")
    assert refused.code == 2 and "--estimates is missing" in refused.err


def test_one_name_is_wanted_and_the_word_plan_before_it_plans(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _target(["plan", "items.csv"]) == (True, "items.csv")
    assert _target(["items.csv"]) == (False, "items.csv")
    for words, got in ((["plan"], "got none"), (["a", "b"], "got 2: a b"), (["plan", "a", "b"], "got 2: a b")):
        with pytest.raises(MensuraError, match=f"expected one NAME or ITEMS, {got}. Put a name of several words"):
            _target(words)
    (tmp_path / "plan").touch()
    assert _target(["plan"]) == (False, "plan"), "a file of this name is no word"


def test_scores_are_shares_or_percentages_and_never_both(tmp_path):
    file = tmp_path / "scores.csv"

    def read(*cells):
        rows = [f"m{at},{cell}" for at, cell in enumerate(cells)]
        file.write_text("\n".join(["subject,score", *rows]), encoding="utf-8")
        return _read_scores(file).rows()

    assert read("1", "0", "0.25") == [("m0", 1.0), ("m1", 0.0), ("m2", 0.25)]
    assert read("100", "0", "1", "25") == [("m0", 1.0), ("m1", 0.0), ("m2", 0.01), ("m3", 0.25)]
    for cells, message in (
        (("-1", "50"), "score: -1 is missing or outside 0 to 100"),
        (("100.5",), "score: 100.5 is missing or outside"),
        (("0.999", "2"), "score: 0.999 stands among percentages"),
    ):
        with pytest.raises(MensuraError, match=message):
            read(*cells)


def test_a_plan_of_minutes_costs_the_hours_of_one_person_and_unknown_items_are_counted(mensura_command, tmp_path):
    (tmp_path / "items.csv").write_text("item,text\na,one\nb,two\n")
    (tmp_path / "said.csv").write_text("item,minutes\na,60\n")
    asked = (tmp_path / "items.csv", "--minutes", "--estimates", tmp_path / "said.csv", "--estimator", "people")
    [row, _] = json.loads(mensura_command("baseline", *asked, "--json").out)["items"]
    run = mensura_command("baseline", "plan", *asked)
    mean, low, high = (row[name] / 60 for name in ("minutes", "minutes_low", "minutes_high"))
    assert "note: 1 of 2 items have no estimate and get no minutes\n" in run.out
    said = f"One person needs {mean:.1f} hours for all items ({low:.1f} to {high:.1f}): ${12 * mean:,.0f}"
    assert f"{said} (${12 * low:,.0f} to ${12 * high:,.0f}).\n" in run.out, (
        "12 dollars an hour unless another pay is set"
    )
    assert "One person needs" not in mensura_command("baseline", *asked).out
    model = json.loads(mensura_command("baseline", *asked[:-2], "--json").out)["items"][0]
    assert 60 < model["minutes"] < row["minutes"], "both say too little, and experts by more"
    (tmp_path / "said.csv").write_text("item,minutes\nz,60\n")
    assert "no item of" in mensura_command("baseline", *asked).err


def test_a_challenge_from_seal_to_standing(mensura_command, tmp_path):
    rates = "\n".join(
        ["item,population,rate,n,text", *(f"q{n},crowd workers,0.{n},60,What is {n}?" for n in range(1, 9))]
    )
    (tmp_path / "rates.csv").write_text(rates, encoding="utf-8")
    (tmp_path / "said.csv").write_text(
        "\n".join(["item,population,rate,low,high", *(f"q{n},crowd workers,0.5,0.2,0.8" for n in range(1, 9))])
    )
    step = ("baseline", "challenge")
    sealed = mensura_command(
        *step, "seal", tmp_path / "rates.csv", "--set", "opens=2099-06-01", "--out", tmp_path / "pool"
    )
    assert f"wrote {tmp_path / 'pool'}: 8 items, sealed until 2099-06-01. Publish all but key.json" in sealed.out
    entry = ("--estimates", tmp_path / "said.csv", "--estimator", "us", "--out", tmp_path / "entry")
    sent = mensura_command(*step, "submit", tmp_path / "pool", *entry)
    assert sent.code == 0, sent.err
    assert re.search(r"submission.json: 8 estimates, hash [0-9a-f]{16}\.", sent.out)
    for words, message in (
        ((), "expected one of seal, submit, score"),
        (("win",), "expected one of seal, submit, score"),
        (("seal",), "challenge seal: expected a table of rates"),
        (("score",), "challenge score: expected a pool"),
        (("seal", tmp_path / "rates.csv"), "--out is missing"),
        (("seal", tmp_path / "rates.csv", "--out", tmp_path / "x"), "--set opens= is no day"),
        (("submit", tmp_path / "pool", *entry[:4]), "give --estimates FILE, --estimator NAME and --out FOLDER"),
        (("submit", tmp_path / "pool", *entry[2:]), "give --estimates FILE"),
        (("score", tmp_path / "pool"), "expected submissions after the pool"),
        (("score", tmp_path / "pool", tmp_path / "entry"), "sealed until 2099-06-01"),
    ):
        run = mensura_command(*step, *words)
        assert (run.code, message in " ".join(run.err.split())) == (2, True), (words, run.err)
    entry = ("--estimates", tmp_path / "mine.csv", "--estimator", "me", "--out", tmp_path / "mine")
    items = pl.read_csv(SIMULATED / "items.csv").select("item", "population")
    items.with_columns(rate=0.5, low=0.1, high=0.9).write_csv(tmp_path / "mine.csv")
    assert mensura_command(*step, "submit", "simulated", *entry).code == 0
    scored = mensura_command(*step, "score", "simulated", tmp_path / "mine", "--out", tmp_path / "standing")
    assert re.search(r"direct asking by me has the smallest error: 0\.\d{3}\.\n$", scored.out), scored.err
    assert (tmp_path / "standing" / "standing.md").is_file()
